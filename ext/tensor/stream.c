/* A component's decoded bytes. See stream.h. */
#include "tensor/stream.h"

#include "container/shard.h"
#include "core/host.h"
#include "tensor/encoding.h"

#define STREAM_SCRATCH ((size_t)256 << 10)   /* Bytes skipped at once */
#define STREAM_KEPT_MAX ((uint64_t)32 << 20)   /* Largest content kept for random reads */

struct zt_stream {
  zt_payload payload;      /* Its component is the next field */
  zt_component component;
  zt_source *shard;        /* The shard with its bytes, once opened, owned; NULL: none */
  const zt_encoding *encoding;
  bool known;              /* `total` is known, before or after decoding */
  uint64_t total;          /* Decoded length; like all offsets below, it includes skipped bytes */
  bool ended;              /* The decoder is at the end, and all is sound */
  zt_decoder *decoder;     /* NULL before the first byte */
  uint64_t position;       /* The decoder's */
  uint64_t polled;         /* Raw bytes read since the last check for an interrupt */
  uint8_t *scratch;        /* NULL until needed */
  bool unkept;             /* Keeping the content has failed */
  uint8_t *kept;           /* The whole content for random reads, owned; else NULL */
};

int zt_stream_open(const zt_payload *p, zt_stream **out, zt_error *err){
  const zt_component *component = p->component;
  const zt_encoding *encoding = zt_encoding_of(component);
  uint64_t total = 0;
  zt_length_state state = zt_payload_length(p->object, component, &total);
  bool fits = state!=ZT_LENGTH_KNOWN || (zt_add64(total, component->skip, &total)
                                         && zt_add64(total, component->behind, &total));
  *out = NULL;
  if( component->fault ) return zt_break(err, component->fault_rule, "%s", component->fault);
  if( !encoding ){
    return zt_break(err, "E1", "encoding '%.*s' is not known", zt_shown(component->encoding),
                    component->encoding.z);
  }
  if( component->unsized && !component->scattered && !component->to_end ){
    return zt_break(err, "E5", "the number of its bytes is not known");
  }
  if( state==ZT_LENGTH_OVERFLOW || !fits ){
    return zt_fail(err, SQLITE_TOOBIG, "shape and dtype make more than 2^64 bytes");   /* E3 */
  }
  *out = sqlite3_malloc64(sizeof(**out));
  if( !*out ) return zt_fail_nomem(err);
  **out = (zt_stream){
    .payload = *p, .component = *component, .encoding = encoding, .known = state==ZT_LENGTH_KNOWN,
    .total = total
  };
  (*out)->payload.component = &(*out)->component;
  return SQLITE_OK;
}

size_t zt_stream_piece(const zt_stream *s){
  return s->known && s->total<ZT_STREAM_PIECE ? (size_t)s->total+1 : ZT_STREAM_PIECE;
}

static void stream_end_decoder(zt_stream *s){
  if( s->decoder ) s->encoding->close(s->decoder);
  s->decoder = NULL;
  s->position = 0;
  s->ended = false;
}

void zt_stream_close(zt_stream *s){
  if( !s ) return;
  stream_end_decoder(s);
  zt_source_close(s->shard);
  sqlite3_free(s->scratch);
  sqlite3_free(s->kept);
  sqlite3_free(s);
}

/* Return the end of its own bytes; UINT64_MAX if unknown. */
static uint64_t stream_end(const zt_stream *s){
  return s->known ? s->total-s->component.behind : UINT64_MAX;
}

static int stream_fail_long(const zt_stream *s, zt_error *err){
  return zt_payload_fail_long(s->total, s->encoding->name, err);
}

static int stream_fail_short(const zt_stream *s, uint64_t n, zt_error *err){
  return zt_break(err, "E3", "%s: decodes to %llu bytes, the manifest states %llu",
                  s->encoding->name, n, s->total);
}

static int stream_charge(const zt_stream *s, uint64_t n, zt_error *err){
  zt_budget *budget = s->payload.budget;
  if( n>budget->decode-budget->decoded ){
    return zt_fail(err, SQLITE_TOOBIG, "%s: more than %llu bytes would have to be decoded",
                   s->encoding->name, budget->decode);
  }
  budget->decoded += n;
  return SQLITE_OK;
}

static int stream_read_raw(zt_stream *s, uint64_t offset, uint8_t *buffer, size_t n, size_t *got,
                           zt_error *err){
  const zt_payload *p = &s->payload;
  for(size_t done=0; done<n;){
    /* Reads of remote files are interrupted where they wait, and are several at once */
    size_t piece = n-done<ZT_POLL_BYTES || zt_source_is_remote(p->source) ? n-done
                 : (size_t)ZT_POLL_BYTES;
    if( zt_source_read(p->source, p->component->offset+offset+done, buffer+done, piece, err) ){
      return err->rc;
    }
    done += piece;
    s->polled += piece;
    if( s->polled>=ZT_POLL_BYTES ){
      s->polled = 0;
      if( zt_interrupt_check(&p->budget->interrupt, err) ) return err->rc;
    }
  }
  *got = n;
  return zt_source_unchanged(p->source, err);
}

/* Decode the next bytes; *got is 0 at the end. */
static int stream_next(zt_stream *s, uint8_t *out, size_t n, size_t *got, zt_error *err){
  *got = 0;
  if( s->ended || s->encoding->next(s->decoder, out, n, got, err) ) return err->rc;
  s->position += *got;
  if( s->known && s->position>s->total ) return stream_fail_long(s, err);
  if( *got ) return stream_charge(s, *got, err);
  if( s->known && s->position<s->total ) return stream_fail_short(s, s->position, err);
  s->ended = s->known = true;
  s->total = s->position;
  return SQLITE_OK;
}

static int stream_open_decoder(zt_stream *s, uint64_t offset, zt_error *err){
  const zt_encoding *e = s->encoding;
  if( !e->go_on ) return e->open(&s->payload, &s->decoder, err);
  if( e->go_on(&s->payload, offset, &s->decoder, &s->position, err) ) return err->rc;
  return stream_charge(s, s->position, err);   /* As if they were decoded here: the bound is for a
                                               ** component, whatever was read before */
}

/* Skip to position `to`, or to the content's end. */
static int stream_pass_over(zt_stream *s, uint64_t to, zt_error *err){
  size_t got = 1;
  if( s->position<to && !s->scratch && (s->scratch = sqlite3_malloc64(STREAM_SCRATCH))==NULL ){
    return zt_fail_nomem(err);
  }
  while( s->position<to && got ){
    uint64_t n = to - s->position;
    if( stream_next(s, s->scratch, n<STREAM_SCRATCH ? (size_t)n : STREAM_SCRATCH, &got, err) ){
      return err->rc;
    }
  }
  return SQLITE_OK;
}

static int stream_read_whole(zt_stream *s, uint8_t *buffer, size_t n, zt_error *err){
  uint64_t decoded;
  if( stream_charge(s, n, err) || zt_encoding_whole(&s->payload, buffer, n, &decoded, err) ){
    return err->rc;
  }
  if( decoded>n ) return stream_fail_long(s, err);
  if( decoded<n ) return stream_fail_short(s, decoded, err);
  return SQLITE_OK;
}

/* Its own bytes, whose number is known, are read: what lies behind them must be sound, and no byte
** may follow. */
static int stream_finish(zt_stream *s, zt_error *err){
  uint8_t one;
  size_t got;
  if( s->encoding->sound && s->encoding->sound(s->decoder, s->total) ){
    if( stream_charge(s, s->total-s->position, err) ) return err->rc;
    s->position = s->total;
    s->ended = true;
    return SQLITE_OK;
  }
  return stream_pass_over(s, s->total, err) ? err->rc : stream_next(s, &one, 1, &got, err);
}

/* True for the first read, of the whole content. */
static bool stream_is_whole(const zt_stream *s, uint64_t offset, size_t n){
  return s->known && offset==0 && n==s->total && s->component.behind==0 && s->position==0
      && !s->kept;
}

static bool stream_may_read_whole(const zt_stream *s, size_t n){
  return n<=ZT_WHOLE_MAX && s->payload.component->length<=ZT_WHOLE_MAX;
}

/* Read the whole content by several threads, if they are there and can. */
static int stream_read_together(zt_stream *s, uint8_t *buffer, size_t n, bool *done, zt_error *err){
  zt_budget *budget = s->payload.budget;
  *done = false;
  if( !budget->pool || !s->encoding->together || n<ZT_TOGETHER_WORTH
   || n>budget->decode-budget->decoded || s->payload.side_by_side>1
   || zt_source_is_remote(s->payload.source) ) return SQLITE_OK;
  s->encoding->together(&s->payload, buffer, n, done, err);
  if( *done ) budget->decoded += n;
  return err->rc;
}

/* True if the content should be kept before a read at the offset: random reads would otherwise
** decode it again and again. */
static bool stream_should_keep(const zt_stream *s, uint64_t offset){
  unsigned shares = s->payload.side_by_side>1 ? s->payload.side_by_side : 1;
  return !s->kept && !s->unkept && !s->encoding->seek && offset<s->position && s->known
      && s->total<=STREAM_KEPT_MAX/shares && s->payload.component->length<=ZT_WHOLE_MAX;
}

/* Decode the content and keep it. If that fails, reading continues without it: the fault may lie
** behind all bytes that are read. */
static int stream_keep(zt_stream *s, zt_error *err){
  zt_error failed = ZT_ERROR_NONE;
  uint8_t *all = sqlite3_malloc64(s->total+1);
  if( !all ) return zt_fail_nomem(err);
  stream_end_decoder(s);
  if( stream_read_whole(s, all, (size_t)s->total, &failed)==SQLITE_OK ) s->kept = all;
  else sqlite3_free(all);
  s->unkept = failed.rc!=SQLITE_OK;
  if( failed.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  if( failed.rc==SQLITE_INTERRUPT ) zt_fail_interrupt(err);
  zt_error_clear(&failed);
  return err->rc;
}

/* The same as zt_stream_read(), but the offset includes skipped bytes; `remaining` own bytes follow
** it. */
static int stream_read_encoded(zt_stream *s, uint64_t offset, uint8_t *buffer, size_t n,
                               uint64_t remaining, size_t *got, zt_error *err){
  size_t done = 0, piece = 1;
  if( stream_should_keep(s, offset) && stream_keep(s, err) ) return err->rc;
  if( stream_is_whole(s, offset, n) ){
    bool whole;
    *got = n;
    if( stream_read_together(s, buffer, n, &whole, err) || whole ) return err->rc;
    if( stream_may_read_whole(s, n) ) return stream_read_whole(s, buffer, n, err);
  }
  if( n>remaining ) n = (size_t)remaining;
  if( s->kept ){
    if( n && buffer ) memcpy(buffer, s->kept+offset, n);
    *got = n;
    return SQLITE_OK;
  }
  if( offset<s->position && !s->encoding->seek ) stream_end_decoder(s);
  if( !s->decoder && stream_open_decoder(s, offset, err) ) return err->rc;
  if( s->encoding->seek && offset!=s->position ){
    s->ended = false;
    if( s->encoding->seek(s->decoder, offset, &s->position, err) ) return err->rc;
  }
  if( stream_pass_over(s, offset, err) ) return err->rc;
  while( done<n && piece ){
    if( stream_next(s, buffer+done, n-done, &piece, err) ) return err->rc;
    done += piece;
  }
  *got = done;
  if( s->position==stream_end(s) ) stream_finish(s, err);
  return err->rc;
}

/* Check X6, and set the length of bytes that end with the file. */
static int stream_open_external(zt_stream *s, zt_error *err){
  zt_component *component = &s->component;
  zt_source *shard = NULL;
  uint64_t size;
  if( zt_shard_open_external(s->payload.source, component->shard, component->beside, &shard, err) ){
    return err->rc;
  }
  size = zt_source_size(shard);
  if( component->to_end && component->offset<=size ){
    component->length = s->total = zt_component_behind(component, size);
    s->known = true;
  }
  if( !zt_claim(size, component->offset, component->length) ){
    zt_source_close(shard);
    return zt_break(err, "X6", "its %llu bytes from %llu on go beyond the %llu of '%.*s'",
                    component->length, component->offset, size, zt_shown(component->shard),
                    component->shard.z);
  }
  s->shard = shard;
  return SQLITE_OK;
}

static int stream_open_shard(zt_stream *s, zt_error *err){
  const zt_component *component = &s->component;
  if( component->external ? stream_open_external(s, err)
    : zt_shard_open(s->payload.source, component->shard, component->shard_size, &s->shard, err) ){
    return err->rc;
  }
  s->payload.source = s->shard;
  return SQLITE_OK;
}

int zt_stream_read(zt_stream *s, uint64_t offset, void *buffer, size_t n, size_t *got,
                   zt_error *err){
  uint64_t skip = s->component.skip;
  uint64_t remaining;
  *got = 0;
  if( s->payload.budget->manifest_only ){
    return zt_fail(err, SQLITE_ABORT, "its bytes would have to be read");
  }
  if( s->component.shard.z && !s->shard && stream_open_shard(s, err) ) return err->rc;
  offset = offset<UINT64_MAX-skip ? offset+skip : UINT64_MAX;
  remaining = offset<stream_end(s) ? stream_end(s)-offset : 0;
  if( !s->encoding->next ){
    return stream_read_raw(s, offset, buffer, n<remaining ? n : (size_t)remaining, got, err);
  }
  if( s->known && remaining==0 && stream_end(s)>skip ) return SQLITE_OK;
  if( stream_read_encoded(s, offset, buffer, n, remaining, got, err)==SQLITE_OK ){
    zt_source_unchanged(s->payload.source, err);
  }else{
    zt_source_explain(s->payload.source, err);
  }
  if( err->rc ) *got = 0;
  return err->rc;
}

bool zt_stream_is_known(const zt_stream *s){
  return s->known;
}

int zt_stream_length(zt_stream *s, uint64_t *out, zt_error *err){
  const uint64_t around = s->component.skip+s->component.behind;
  size_t got;
  if( !s->known ) zt_stream_read(s, UINT64_MAX, NULL, 0, &got, err);
  if( !err->rc && s->total<around ){
    zt_break(err, "E3", "%s: decodes to %llu bytes, and %llu lie around its own",
             s->encoding->name, s->total, around);
  }
  *out = s->total-around;
  return err->rc;
}
