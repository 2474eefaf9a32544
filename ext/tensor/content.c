/* A component's bytes as results. See content.h. */
#include "tensor/content.h"

#include "core/host.h"
#include "core/window.h"
#include "tensor/encoding.h"
#include "tensor/stream.h"

#define CONTENT_FIRST_ROOM ((size_t)64 << 10)

zt_component zt_content_as_stored(const zt_component *component){
  zt_component stored = *component;
  if( component->codec==ZT_CODEC_RAW ) return stored;
  stored.encoding = ZT_TEXT("raw");
  stored.codec = ZT_CODEC_RAW;
  stored.skip = stored.behind = 0;
  stored.has_decoded_length = false;
  return stored;
}

/* Return a component with all bytes that the digest covers. */
static zt_component content_as_digested(const zt_component *component){
  const bool decoded = (component->rules & ZT_RULE_DIGEST_OF_DECODED)!=0;
  zt_component all = decoded ? *component : zt_content_as_stored(component);
  all.decoded_length += all.skip+all.behind;
  all.skip = all.behind = 0;
  return all;
}

int zt_content_stored(const zt_payload *p, zt_buffer *out, zt_error *err){
  zt_component stored = zt_content_as_stored(p->component);
  zt_payload raw = *p;
  raw.component = &stored;
  if( stored.scattered && !stored.fault ){
    *out = (zt_buffer){ NULL, 0 };
    return zt_fail(err, SQLITE_ERROR, "%s", p->component->codec==ZT_CODEC_KEPT
                   ? "its bytes are in the pickle in another form"
                   : "its stored bytes are in several places");
  }
  return zt_content_read(&raw, 0, UINT64_MAX, out, err);
}

static int content_read_known(zt_stream *s, const zt_payload *p, uint64_t start, uint64_t n,
                              zt_buffer *out, zt_error *err){
  size_t got;
  if( zt_buffer_new(p->budget, n, out, err) ) return err->rc;
  return zt_stream_read(s, start, out->p, (size_t)n, &got, err);
}

/* Read content of unknown length to its end, or up to `most` bytes. */
static int content_read_growing(zt_stream *s, const zt_payload *p, uint64_t start, uint64_t most,
                                zt_buffer *out, zt_error *err){
  /* One byte beyond the limit shows that the content is too long */
  uint64_t capacity = 0, limit = p->budget->result<UINT64_MAX ? p->budget->result+1 : UINT64_MAX;
  size_t got = 1;
  if( limit>most ) limit = most;
  while( got && out->n<limit ){   /* got becomes 0 on failure */
    if( out->n==capacity ){
      capacity = capacity ? 2*capacity : CONTENT_FIRST_ROOM;
      if( capacity>limit ) capacity = limit;
      if( zt_buffer_reserve(out, capacity, err) ) return err->rc;
    }
    zt_stream_read(s, start+out->n, out->p+out->n, (size_t)(capacity-out->n), &got, err);
    out->n += got;
  }
  if( !err->rc && out->n>p->budget->result ){
    zt_fail(err, SQLITE_TOOBIG, "%llu bytes are more than the limit of %llu on a result", out->n,
            p->budget->result);
  }
  return err->rc;
}

/* Free the unused room of a buffer that grew. */
static void content_fit(zt_buffer *out){
  zt_error unused = ZT_ERROR_NONE;
  if( out->n==0 ) zt_buffer_clear(out);
  else zt_buffer_reserve(out, out->n, &unused);
  zt_error_clear(&unused);
}

int zt_content_read(const zt_payload *p, uint64_t start, uint64_t length, zt_buffer *out,
                    zt_error *err){
  zt_stream *s;
  uint64_t total;
  *out = (zt_buffer){ NULL, 0 };
  if( zt_stream_open(p, &s, err) ) return err->rc;
  if( zt_payload_length(p->object, p->component, &total)==ZT_LENGTH_KNOWN ){
    if( start>total ) start = total;
    if( length>total-start ) length = total-start;
    if( length>0 || total==0 ) content_read_known(s, p, start, length, out, err);
  }else if( content_read_growing(s, p, start, length, out, err)==SQLITE_OK ){
    content_fit(out);
  }
  if( err->rc ) zt_buffer_clear(out);
  zt_stream_close(s);
  return err->rc;
}

static int content_digest(const zt_payload *p, zt_digest *digest, zt_error *err){
  uint8_t *window = NULL;
  zt_stream *s = NULL;
  uint64_t done = 0;
  size_t n, got = 1;
  if( zt_stream_open(p, &s, err) ) return err->rc;
  n = zt_stream_piece(s);
  window = zt_window_new(n);
  if( !window ) zt_fail_nomem(err);
  else zt_payload_expect(p);
  while( !err->rc && got && zt_stream_read(s, done, window, n, &got, err)==SQLITE_OK ){
    zt_digest_update(digest, (zt_span){ window, got });
    done += got;
  }
  zt_stream_close(s);
  zt_window_free(window);
  return err->rc;
}

int zt_content_digest(const zt_payload *p, const char **out, zt_error *err){
  zt_component all = content_as_digested(p->component);
  zt_payload of_all = *p;
  zt_digest *digest = NULL;
  *out = NULL;
  if( !p->component->digest.z ) return SQLITE_OK;
  switch( zt_digest_open(p->component->digest, p->component->digests, &digest, err) ){
    case ZT_DIGEST_UNSUPPORTED: *out = "unsupported"; return SQLITE_OK;
    case ZT_DIGEST_MALFORMED: *out = "malformed"; return SQLITE_OK;
    case ZT_DIGEST_OK: break;
  }
  of_all.component = &all;
  if( !err->rc ) content_digest(&of_all, digest, err);
  if( !err->rc ) *out = zt_digest_matches(digest) ? "ok" : "mismatch";
  zt_digest_close(digest);
  return err->rc;
}

int zt_content_hash(const zt_payload *p, zt_text algorithm, char out[ZT_DIGEST_TEXT],
                    zt_error *err){
  zt_digest *digest = NULL;
  if( !zt_digest_new(algorithm, &digest, err) ){
    if( zt_has_nul(algorithm.z, algorithm.n) ){
      return zt_fail(err, SQLITE_ERROR, "the digest algorithm has U+0000 in it");
    }
    return zt_fail(err, SQLITE_ERROR,
                   "digest algorithm '%.*s' is not known: there are " ZT_DIGEST_ALGORITHMS,
                   zt_shown(algorithm), algorithm.z);
  }
  if( !err->rc && content_digest(p, digest, err)==SQLITE_OK ) zt_digest_text(digest, out);
  zt_digest_close(digest);
  return err->rc;
}
