/*
** The encoding of bytes that lie in several places of the file, one behind the other: the container
** keeps their list (pieces in container.h), which its driver has checked.
*/
#include "core/host.h"
#include "tensor/encoding.h"

typedef struct pieces_decoder {
  const zt_payload *payload;
  uint64_t at;             /* The next byte of the content */
  uint32_t next;           /* The piece that it is in */
} pieces_decoder;

/* The offset of a piece in the container's file, and its end in the content. */
static zt_piece pieces_get(const zt_component *component, uint32_t i){
  zt_piece piece;
  memcpy(&piece, component->kept+i*sizeof(piece), sizeof(piece));
  return piece;
}

static uint64_t pieces_begin(const zt_component *component, uint32_t i){
  return i ? pieces_get(component, i-1).end : 0;
}

static int pieces_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  pieces_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = d;
  if( !d ) return zt_fail_nomem(err);
  *d = (pieces_decoder){ .payload = p };
  return SQLITE_OK;
}

static int pieces_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  pieces_decoder *d = decoder;
  const zt_component *component = d->payload->component;
  *got = 0;
  while( *got<n && d->next<component->pieces ){
    const zt_piece piece = pieces_get(component, d->next);
    const uint64_t begin = pieces_begin(component, d->next);
    const size_t m = piece.end-d->at<n-*got ? (size_t)(piece.end-d->at) : n-*got;
    if( zt_interrupt_check(&d->payload->budget->interrupt, err)
     || zt_source_read(d->payload->source, component->base+piece.offset+(d->at-begin), out+*got, m,
                       err) ){
      return err->rc;
    }
    *got += m;
    d->at += m;
    if( d->at==piece.end ) d->next++;
  }
  return SQLITE_OK;
}

/* The first piece that ends behind the offset has its byte. */
static int pieces_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  pieces_decoder *d = decoder;
  const zt_component *component = d->payload->component;
  uint32_t low = 0, high = component->pieces;
  const uint64_t end = pieces_begin(component, high);
  (void)err;
  d->at = *position = offset<end ? offset : end;
  while( low<high ){
    const uint32_t middle = low+(high-low)/2;
    if( pieces_get(component, middle).end<=d->at ) low = middle+1;
    else high = middle;
  }
  d->next = low;
  return SQLITE_OK;
}

static void pieces_close(zt_decoder *d){
  sqlite3_free(d);
}

const zt_encoding zt_encoding_pieces = {
  .name = "pieces", .open = pieces_open, .next = pieces_next, .close = pieces_close,
  .seek = pieces_seek
};
