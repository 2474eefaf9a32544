/* A component's bytes. See payload.h. */
#include "tensor/payload.h"

#include "core/digest.h"
#include "core/host.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

#define WINDOW ((size_t)256 << 10)   /* Bytes that a digest takes in at once; they stay in the processor's cache */
#define FIRST_ROOM ((size_t)64 << 10)

static bool is_raw(const zt_component *component){
  return zt_text_is(component->encoding, "raw");
}

zt_length_state zt_payload_length(const zt_object *object, const zt_component *component, uint64_t *out){
  const zt_dtype *dtype;
  *out = component->length;
  if( is_raw(component) ) return ZT_LENGTH_KNOWN;
  if( !zt_encoding_of(component->encoding) ) return ZT_LENGTH_UNKNOWN;
  *out = component->decoded_length;
  if( component->has_decoded_length ) return ZT_LENGTH_KNOWN;
  dtype = zt_dtype_of(component);
  if( !dtype || object->foreign || !zt_text_is(object->format, "dense") || !zt_text_is(component->role, "data") ){
    return ZT_LENGTH_UNKNOWN;
  }
  return zt_dtype_size(dtype, object->elements, out) ? ZT_LENGTH_KNOWN : ZT_LENGTH_OVERFLOW;
}

zt_text zt_payload_byte_order(const zt_component *component){
  const zt_dtype *dtype = component->foreign ? NULL : zt_dtype_storage(component->dtype);
  bool big = zt_text_is(component->byte_order, "big");
  if( big && (!is_raw(component) || (dtype && dtype->unit==1)) ) return ZT_TEXT("little");
  return component->byte_order;
}

/* Fail with SQLITE_TOOBIG if a result of n bytes exceeds the budget. */
static int check_result(const zt_payload *p, uint64_t n, zt_error *err){
  if( n<=p->budget->result ) return SQLITE_OK;
  return zt_fail(err, SQLITE_TOOBIG, "%llu bytes are more than the limit of %llu on a result", n, p->budget->result);
}

static int allocate(zt_buffer *out, uint64_t n, zt_error *err){
  *out = (zt_buffer){ NULL, n };
  if( n==0 ) return SQLITE_OK;
  out->p = sqlite3_malloc64(n);
  if( !out->p ){
    out->n = 0;
    return zt_fail_nomem(err);
  }
  zt_os_advise_large(out->p, (size_t)n);
  return SQLITE_OK;
}

static int finish(const zt_payload *p, zt_buffer *out, zt_error *err){
  if( !err->rc ) zt_source_unchanged(p->source, err);
  if( err->rc ){
    sqlite3_free(out->p);
    *out = (zt_buffer){ NULL, 0 };
  }
  return err->rc;
}

/* n stored bytes from `start` of the component on, in pieces between which an interrupt can come. */
static int read_stored(const zt_payload *p, uint64_t start, uint64_t n, zt_buffer *out, zt_error *err){
  if( check_result(p, n, err) ) return err->rc;
  allocate(out, n, err);
  for(uint64_t done=0; done<n && !err->rc;){
    size_t piece = n-done<ZT_WHOLE_MAX ? (size_t)(n-done) : (size_t)ZT_WHOLE_MAX;
    zt_source_read(p->source, p->component->offset+start+done, out->p+done, piece, err);
    done += piece;
    if( done<n ) zt_interrupt_check(&p->budget->interrupt, err);
  }
  return finish(p, out, err);
}

int zt_payload_stored(const zt_payload *p, zt_buffer *out, zt_error *err){
  *out = (zt_buffer){ NULL, 0 };
  return read_stored(p, 0, p->component->length, out, err);
}

/* --- A buffer as a sink --- */

typedef struct buffer_sink {
  zt_sink sink;            /* First, so that one is the other */
  zt_buffer *out;
  uint64_t capacity;       /* Bytes that out->p has room for */
  const zt_payload *payload;
  bool grows;              /* The length is not known */
} buffer_sink;

static uint8_t *buffer_room(zt_sink *sink, size_t *n, zt_error *err){
  buffer_sink *s = (buffer_sink*)sink;
  if( s->grows && s->out->n==s->capacity ){
    uint64_t capacity = s->capacity ? s->capacity*2 : FIRST_ROOM;
    uint64_t most = s->payload->budget->result;
    uint8_t *p;
    if( most<UINT64_MAX ) most++;   /* The byte too many shows that there is one */
    if( capacity>most ) capacity = most;
    if( check_result(s->payload, s->out->n, err) ) return NULL;
    p = sqlite3_realloc64(s->out->p, capacity);
    if( !p ){
      zt_fail_nomem(err);
      return NULL;
    }
    s->out->p = p;
    s->capacity = capacity;
  }
  *n = (size_t)(s->capacity - s->out->n);
  return s->out->p + s->out->n;
}

static int buffer_commit(zt_sink *sink, size_t n, zt_error *err){
  buffer_sink *s = (buffer_sink*)sink;
  (void)err;
  s->out->n += n;
  return SQLITE_OK;
}

/* Give back what a buffer that grew has too much. */
static void fit(zt_buffer *out){
  uint8_t *p = out->n ? sqlite3_realloc64(out->p, out->n) : NULL;
  if( p ){
    out->p = p;
  }else if( out->n==0 ){
    sqlite3_free(out->p);
    out->p = NULL;
  }
}

/* Decode the job's range into a buffer. */
static int decode(const zt_encoding *encoding, const zt_decode_job *job, zt_buffer *out, zt_error *err){
  const zt_payload *p = job->payload;
  buffer_sink s = { { buffer_room, buffer_commit }, out, 0, p, !job->known };
  if( !s.grows ){
    if( check_result(p, job->length, err) || allocate(out, job->length, err) ) return err->rc;
    if( job->known && job->length==job->total && job->total<=ZT_WHOLE_MAX && p->component->length<=ZT_WHOLE_MAX
     && job->total<=p->budget->decode ){
      encoding->whole(job, out->p, err);
      return finish(p, out, err);
    }
    s.capacity = job->length;
    out->n = 0;
  }
  encoding->stream(job, &s.sink, err);
  if( !err->rc ) check_result(p, out->n, err);
  if( s.grows && !err->rc ) fit(out);
  return finish(p, out, err);
}

int zt_payload_read(const zt_payload *p, uint64_t start, uint64_t length, zt_buffer *out, zt_error *err){
  const zt_component *component = p->component;
  const zt_encoding *encoding = zt_encoding_of(component->encoding);
  zt_decode_job job = { .payload = p, .start = start, .length = length };
  zt_length_state state = zt_payload_length(p->object, component, &job.total);
  *out = (zt_buffer){ NULL, 0 };
  if( !encoding ){
    return zt_fail(err, SQLITE_ERROR, "encoding '%.*s' is not known", zt_shown(component->encoding), component->encoding.z);   /* E1 */
  }
  if( state==ZT_LENGTH_OVERFLOW ){
    return zt_fail(err, SQLITE_TOOBIG, "shape and dtype make more than 2^64 bytes");   /* E3 */
  }
  job.known = state==ZT_LENGTH_KNOWN;
  if( job.known ){
    if( job.start>job.total ) job.start = job.total;
    if( job.length>job.total-job.start ) job.length = job.total-job.start;
    if( job.length==0 && job.total>0 ) return SQLITE_OK;
  }
  if( !encoding->stream ) return read_stored(p, job.start, job.length, out, err);
  return decode(encoding, &job, out, err);
}

int zt_payload_digest(const zt_payload *p, const char **out, zt_error *err){
  const zt_component *component = p->component;
  zt_span image = zt_source_image(p->source);
  zt_digest *digest = NULL;
  uint8_t *window = NULL;
  uint64_t done = 0, polled = 0;
  *out = NULL;
  if( !component->digest.z ) return SQLITE_OK;
  switch( zt_digest_open(component->digest, &digest, err) ){
    case ZT_DIGEST_UNSUPPORTED: *out = "unsupported"; return SQLITE_OK;
    case ZT_DIGEST_MALFORMED: *out = "malformed"; return SQLITE_OK;
    case ZT_DIGEST_OK: break;
  }
  if( !err->rc && !image.p ){
    window = sqlite3_malloc64(WINDOW);
    if( !window ) zt_fail_nomem(err);
  }
  while( done<component->length && !err->rc ){
    uint64_t left = component->length-done;
    size_t n = left<WINDOW ? (size_t)left : WINDOW;
    zt_span bytes = { image.p ? image.p+component->offset+done : window, n };
    if( !image.p && zt_source_read(p->source, component->offset+done, window, n, err) ) break;
    zt_digest_update(digest, bytes);
    done += n;
    if( done-polled>=ZT_POLL_BYTES ){
      polled = done;
      zt_interrupt_check(&p->budget->interrupt, err);
    }
  }
  if( !err->rc ) zt_source_unchanged(p->source, err);
  if( !err->rc ) *out = zt_digest_matches(digest) ? "ok" : "mismatch";
  sqlite3_free(window);
  zt_digest_close(digest);
  return err->rc;
}
