/* A tensor file behind another one in the same file. See behind.h. */
#include "container/behind.h"

#include "container/dtype.h"
#include "container/within.h"

#define BEHIND_UNLISTED "another tensor file behind its own bytes"

/* True if the last bytes of the file, from there on, begin as a tensor file does. More may follow
** that: a pickle need not end with the file. */
static bool behind_is_file(zt_builder *b, uint64_t at){
  uint8_t first[ZT_WITHIN_LEAST];
  const uint64_t size = b->container->file_size;
  if( at>=size || size-at<sizeof(first) ) return false;
  return zt_source_read(b->source, at, first, sizeof(first), b->err)==SQLITE_OK
      && zt_within_is_file(first, size-at, '.');
}

/* Add the object by the first free name: empty, or #2, #3 ... */
static int behind_add_object(zt_builder *b){
  bool taken = true;
  for(uint32_t i=1; taken && !b->err->rc; i++){
    char name[16] = "";
    uint32_t at;
    if( i>1 ) sqlite3_snprintf(sizeof(name), name, "#%u", i);
    if( zt_builder_keep(b, name, strlen(name), &at)==SQLITE_OK ){
      const zt_text text = { (const char*)b->container->kept.p+at, strlen(name) };
      zt_builder_object(b, text, 0, &taken);
    }
  }
  if( b->err->rc ) return b->err->rc;
  b->container->behind = b->container->objects.n;
  return zt_builder_component(b, 0);
}

/* Where it begins: at the end of the container's own bytes, or of their padding; 0: nowhere. */
static uint64_t behind_find(zt_builder *b){
  const zt_container *c = b->container;
  uint64_t padded = c->own_end;
  if( c->own_end==0 ) return 0;
  if( behind_is_file(b, c->own_end) ) return c->own_end;
  if( c->gap>1 && c->gap<UINT32_MAX ) padded += (c->gap-c->own_end%c->gap)%c->gap;
  return padded>c->own_end && !b->err->rc && behind_is_file(b, padded) ? padded : 0;
}

int zt_behind_add(zt_builder *b){
  zt_container *c = b->container;
  const uint64_t at = behind_find(b);
  if( at==0 ) return b->err->rc;
  c->own_end = at;
  /* It would be a gap if it had no row; other drivers have noted bytes behind their end */
  if( c->gap!=UINT64_MAX && c->end==c->file_size
   && zt_builder_note_file(b, "W4", "the last %llu bytes are another tensor file",
                           c->file_size-at) ) return b->err->rc;
  if( c->unlisted.n==0 ){
    c->unlisted.n = (uint32_t)strlen(BEHIND_UNLISTED);
    if( zt_builder_keep(b, BEHIND_UNLISTED, c->unlisted.n, &c->unlisted.at) ) return b->err->rc;
  }
  return behind_add_object(b);
}

void zt_behind_object(zt_object *out){
  out->format = ZT_TEXT("file.unread");
  out->rank = 0;
  out->elements = 1;
  out->unshaped = true;
  out->no_values = ZT_BEHIND_REASON;
}

void zt_behind_component(const zt_container *c, zt_component *out){
  out->role = ZT_TEXT("data");
  out->dtype = ZT_TEXT("u8");
  zt_dtype_decide(out);
  out->offset = c->own_end;
  out->length = c->file_size-c->own_end;
}
