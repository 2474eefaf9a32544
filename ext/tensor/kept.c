/*
** The encoding of bytes that the container keeps in decoded form, because its driver has read them
** from another form in the file.
*/
#include "core/host.h"
#include "tensor/encoding.h"

typedef struct kept_decoder {
  const uint8_t *p;
  uint64_t n, at;
} kept_decoder;

static int kept_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  kept_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = d;
  if( !d ) return zt_fail_nomem(err);
  *d = (kept_decoder){ .p = p->component->kept, .n = p->component->decoded_length };
  return SQLITE_OK;
}

static int kept_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  kept_decoder *d = decoder;
  (void)err;
  *got = d->n-d->at<n ? (size_t)(d->n-d->at) : n;
  if( *got ) memcpy(out, d->p+d->at, *got);
  d->at += *got;
  return SQLITE_OK;
}

static int kept_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  kept_decoder *d = decoder;
  (void)err;
  *position = d->at = offset<d->n ? offset : d->n;
  return SQLITE_OK;
}

static void kept_close(zt_decoder *d){
  sqlite3_free(d);
}

const zt_encoding zt_encoding_kept = {
  .name = "kept", .open = kept_open, .next = kept_next, .close = kept_close, .seek = kept_seek
};
