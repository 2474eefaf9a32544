/* Memory for results. See buffer.h. */
#include "tensor/buffer.h"

#include <assert.h>
#include "core/host.h"

#define BUFFER_LARGE ((uint64_t)4 << 20)   /* Results of this size or more begin at a large page */
#define BUFFER_LARGE_PAGE ((uintptr_t)2 << 20)

/* The head directly before a buffer's bytes. */
typedef struct buffer_head {
  void *base;            /* From sqlite3_malloc64() */
  zt_spare *spare;       /* Takes the buffer after use; holds a reference; NULL: none */
  uint64_t capacity;     /* Bytes after the head */
  void *map;             /* Mapped pages that contain the buffer, instead of base; NULL: none */
  size_t nMap;
} buffer_head;

struct zt_spare {
  int references;
  bool open;             /* The connection exists and may reuse the buffer */
  uint8_t *kept;         /* A buffer, owned; NULL: none */
};

static buffer_head *buffer_head_of(void *p){
  return (buffer_head*)p - 1;
}

zt_spare *zt_spare_new(void){
  zt_spare *s = sqlite3_malloc64(sizeof(*s));
  if( s ) *s = (zt_spare){ .references = 1, .open = true };
  return s;
}

static void buffer_unref(zt_spare *s){
  if( --s->references==0 ) sqlite3_free(s);
}

void zt_spare_release(zt_spare *s){
  if( !s ) return;
  s->open = false;
  if( s->kept ) sqlite3_free(buffer_head_of(s->kept)->base);
  s->kept = NULL;
  buffer_unref(s);
}

/* Take the kept buffer if n bytes fit and use at least a quarter of it; else return NULL. */
static uint8_t *buffer_take(zt_spare *s, uint64_t n){
  uint8_t *p = s ? s->kept : NULL;
  if( !p || buffer_head_of(p)->capacity<n || n<buffer_head_of(p)->capacity/4 ) return NULL;
  s->kept = NULL;
  s->references++;
  return p;
}

/* Keep a buffer after use; false if the caller has to free it. */
static bool buffer_keep(uint8_t *p){
  buffer_head *h = buffer_head_of(p);
  zt_spare *s = h->spare;
  if( !s || !s->open || s->kept || h->capacity<BUFFER_LARGE || h->capacity>ZT_SPARE_MAX ){
    return false;
  }
  s->kept = p;
  buffer_unref(s);
  return true;
}

/* Return the first boundary of a large page with `room` bytes before it. */
static uint8_t *buffer_align(void *base, size_t room){
  uint8_t *p = (uint8_t*)base + room;
  return p + (BUFFER_LARGE_PAGE - (uintptr_t)p%BUFFER_LARGE_PAGE)%BUFFER_LARGE_PAGE;
}

static uint8_t *buffer_allocate(zt_spare *spare, uint64_t n){
  bool large = n>=BUFFER_LARGE;
  uint64_t extra = sizeof(buffer_head) + (large ? BUFFER_LARGE_PAGE : 0), size;
  uint8_t *base = zt_add64(n, extra, &size) ? sqlite3_malloc64(size) : NULL, *p;
  if( !base ) return NULL;
  p = large ? buffer_align(base, sizeof(buffer_head)) : base + sizeof(buffer_head);
  *buffer_head_of(p) = (buffer_head){ .base = base, .spare = spare, .capacity = n };
  if( spare ) spare->references++;
  if( large ) zt_os_advise_large(p, (size_t)n);
  return p;
}

/* Map pages for a buffer; NULL on failure. An untouched allocation of SQLite's stands for them, so
** that SQLite counts it and its limits hold. */
static uint8_t *buffer_map(uint64_t n){
  uint64_t size = n + sizeof(buffer_head) + BUFFER_LARGE_PAGE;
  void *base = sqlite3_malloc64(n);
  void *pages = base && size<=SIZE_MAX ? zt_os_map((size_t)size) : NULL;
  uint8_t *p;
  if( !pages ){
    sqlite3_free(base);
    return NULL;
  }
  p = buffer_align(pages, sizeof(buffer_head));
  *buffer_head_of(p) = (buffer_head){ base, NULL, n, pages, (size_t)size };
  zt_os_advise_large(p, (size_t)n);
  return p;
}

static int buffer_check_size(const zt_budget *budget, uint64_t n, zt_error *err){
  if( n<=budget->result ) return SQLITE_OK;
  return zt_fail(err, SQLITE_TOOBIG, "%llu bytes are more than the limit of %llu on a result", n,
                 budget->result);
}

int zt_buffer_new(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err){
  *out = (zt_buffer){ NULL, 0 };
  if( buffer_check_size(budget, n, err) || n==0 ) return err->rc;
  out->p = buffer_take(budget->spare, n);
  if( !out->p ) out->p = buffer_allocate(budget->spare, n);
  if( !out->p ) return zt_fail_nomem(err);
  out->n = n;
  return SQLITE_OK;
}

int zt_buffer_new_zeros(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err){
  *out = (zt_buffer){ NULL, 0 };
  if( buffer_check_size(budget, n, err) || n==0 ) return err->rc;
  if( n>=BUFFER_LARGE ) out->p = buffer_map(n);
  out->n = n;
  if( out->p ) return SQLITE_OK;
  if( zt_buffer_new(budget, n, out, err)==SQLITE_OK ) memset(out->p, 0, (size_t)n);
  return err->rc;
}

int zt_buffer_reserve(zt_buffer *b, uint64_t capacity, zt_error *err){
  buffer_head *h = b->p ? buffer_head_of(b->p) : NULL;
  uint64_t size;
  /* Only buffers of this function grow: they are not aligned */
  assert( !h || ((uint8_t*)(h+1)==b->p && h->base==(void*)h) );
  if( !zt_add64(capacity, sizeof(buffer_head), &size) || (h = sqlite3_realloc64(h, size))==NULL ){
    return zt_fail_nomem(err);
  }
  *h = (buffer_head){ .base = h, .capacity = capacity };
  b->p = (uint8_t*)(h+1);
  return SQLITE_OK;
}

void zt_buffer_free(void *p){
  buffer_head h;
  if( !p || buffer_keep(p) ) return;
  h = *buffer_head_of(p);
  if( h.spare ) buffer_unref(h.spare);
  if( h.map ) zt_os_unmap(h.map, h.nMap);
  sqlite3_free(h.base);
}

void zt_buffer_clear(zt_buffer *b){
  zt_buffer_free(b->p);
  *b = (zt_buffer){ NULL, 0 };
}
