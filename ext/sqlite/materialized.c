/* Materialized rows of a table. See materialized.h. */
#include "sqlite/materialized.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MATERIALIZED_BLOCK ((size_t)64 << 10)   /* Bytes allocated at once */
#define MATERIALIZED_SLOTS 64                   /* Initial number for texts; a power of two */

/* A text or BLOB, kept once for all values equal to it. */
typedef struct materialized_bytes {
  struct materialized_bytes *next;   /* In the same slot */
  uint64_t hash;
  size_t n;
  char z[];
} materialized_bytes;

typedef union materialized_value {
  sqlite3_int64 i;
  double r;
  const materialized_bytes *bytes;
} materialized_value;

/* A row consists of its rowid, its values, a type byte and a subtype byte for each, and the
** caller's bytes. */
struct zt_materialized {
  int values;
  size_t size, at_types, at_extra;   /* Of a row; offsets of the types and the caller's bytes */
  uint32_t n, room;                  /* Number of rows; room in `block` */
  int shift;                         /* Log2 of the number of rows in each block */
  char **block;                      /* Owned, and so is each block */
  char *rest;                        /* Free bytes of the current block for texts */
  size_t nRest;
  char *texts;                       /* The last of these blocks, each beginning with a pointer to
                                     ** the previous one; all owned */
  materialized_bytes **slot;         /* Owned */
  size_t nSlot, nText;
  uint64_t used;                     /* Bytes counted so far */
};

/* --- Memory --- */

static size_t materialized_round(size_t n){
  return (n+7) & ~(size_t)7;
}

static size_t materialized_row_size(int values, size_t extra){
  return sizeof(sqlite3_int64) + (size_t)values*sizeof(materialized_value)
       + materialized_round((size_t)values*2) + materialized_round(extra);
}

bool zt_materialized_charge(zt_materialized *m, uint64_t bytes){
  if( bytes>ZT_MATERIALIZED_BYTES-m->used ) return false;
  m->used += bytes;
  return true;
}

/* Allocate memory that counts. NULL: *rc is the reason. */
static void *materialized_malloc(zt_materialized *m, size_t n, int *rc){
  void *p;
  *rc = SQLITE_FULL;
  if( !zt_materialized_charge(m, n) ) return NULL;
  p = sqlite3_malloc64(n);
  if( !p ) m->used -= n;
  *rc = p ? SQLITE_OK : SQLITE_NOMEM;
  return p;
}

zt_materialized *zt_materialized_new(int values, size_t extra){
  zt_materialized *m = sqlite3_malloc64(sizeof(*m));
  if( !m ) return NULL;
  *m = (zt_materialized){ .values = values, .size = materialized_row_size(values, extra) };
  m->at_types = sizeof(sqlite3_int64) + (size_t)values*sizeof(materialized_value);
  m->at_extra = m->at_types + materialized_round((size_t)values*2);
  while( m->size<<(m->shift+1)<=MATERIALIZED_BLOCK ) m->shift++;
  return m;
}

void zt_materialized_free(zt_materialized *m){
  if( !m ) return;
  for(uint32_t i=0; (uint64_t)i<<m->shift<m->n; i++) sqlite3_free(m->block[i]);
  sqlite3_free(m->block);
  while( m->texts ){
    char *before;
    memcpy(&before, m->texts, sizeof(before));
    sqlite3_free(m->texts);
    m->texts = before;
  }
  sqlite3_free(m->slot);
  sqlite3_free(m);
}

/* --- Texts and BLOBs --- */

/* Room for n bytes, aligned. */
static void *materialized_take(zt_materialized *m, size_t n, int *rc){
  const size_t need = materialized_round(n), head = materialized_round(sizeof(char*));
  const size_t block = head + (need>MATERIALIZED_BLOCK/4 ? need : MATERIALIZED_BLOCK);
  char *p;
  if( need<=m->nRest ){
    p = m->rest;
    m->rest += need;
    m->nRest -= need;
    return p;
  }
  p = materialized_malloc(m, block, rc);
  if( !p ) return NULL;
  memcpy(p, &m->texts, sizeof(m->texts));
  m->texts = p;
  if( block-head-need>m->nRest ){
    m->rest = p+head+need;
    m->nRest = block-head-need;
  }
  return p+head;
}

static int materialized_grow_slots(zt_materialized *m){
  const size_t n = m->nSlot ? m->nSlot*2 : MATERIALIZED_SLOTS;
  materialized_bytes **slot;
  int rc;
  slot = materialized_malloc(m, n*sizeof(slot[0]), &rc);   /* NOLINT: of pointers */
  if( !slot ) return rc;
  memset(slot, 0, n*sizeof(slot[0]));                      /* NOLINT: same */
  for(size_t i=0; i<m->nSlot; i++){
    for(materialized_bytes *b=m->slot[i], *next; b; b=next){
      next = b->next;
      b->next = slot[b->hash & (n-1)];
      slot[b->hash & (n-1)] = b;
    }
  }
  sqlite3_free(m->slot);
  m->used -= m->nSlot*sizeof(slot[0]);                     /* NOLINT: same */
  m->slot = slot;
  m->nSlot = n;
  return SQLITE_OK;
}

/* The kept copy of these bytes, which is made if there is none. */
static const materialized_bytes *materialized_keep(zt_materialized *m, const void *z, size_t n,
                                                   int *rc){
  const uint64_t hash = n ? XXH3_64bits(z, n) : 0;
  materialized_bytes *b = m->nSlot ? m->slot[hash & (m->nSlot-1)] : NULL;
  while( b && (b->hash!=hash || b->n!=n || (n && memcmp(b->z, z, n)!=0)) ) b = b->next;
  if( b ) return b;
  if( m->nText==m->nSlot && (*rc = materialized_grow_slots(m))!=SQLITE_OK ) return NULL;
  if( n>ZT_MATERIALIZED_BYTES ){
    *rc = SQLITE_FULL;
    return NULL;
  }
  b = materialized_take(m, offsetof(materialized_bytes, z)+n, rc);
  if( !b ) return NULL;
  b->hash = hash;
  b->n = n;
  if( n ) memcpy(b->z, z, n);
  b->next = m->slot[hash & (m->nSlot-1)];
  m->slot[hash & (m->nSlot-1)] = b;
  m->nText++;
  return b;
}

/* --- Rows --- */

static char *materialized_row(const zt_materialized *m, uint32_t row){
  return m->block[row>>m->shift] + (row & ((1u<<m->shift)-1))*m->size;
}

/* Memory for one more row, zeroed. */
static char *materialized_new_row(zt_materialized *m, int *rc){
  const uint32_t block = m->n>>m->shift;
  if( m->n & ((1u<<m->shift)-1) ) return materialized_row(m, m->n);
  if( m->n>INT32_MAX ){
    *rc = SQLITE_FULL;
    return NULL;
  }
  if( block==m->room ){
    const uint32_t room = m->room ? m->room*2 : 4;
    char **grown = sqlite3_realloc64(m->block, room*sizeof(grown[0]));   /* NOLINT: of pointers */
    *rc = SQLITE_NOMEM;
    if( !grown ) return NULL;
    m->block = grown;
    m->room = room;
  }
  m->block[block] = materialized_malloc(m, m->size<<m->shift, rc);
  if( m->block[block] ) memset(m->block[block], 0, m->size<<m->shift);
  return m->block[block];
}

static int materialized_set(zt_materialized *m, sqlite3_value *from, char *type,
                            materialized_value *to){
  const void *z;
  int n;
  int rc = SQLITE_OK;
  type[0] = (char)sqlite3_value_type(from);
  type[1] = (char)sqlite3_value_subtype(from);
  switch( type[0] ){
    case SQLITE_NULL:    break;
    case SQLITE_INTEGER: to->i = sqlite3_value_int64(from); break;
    case SQLITE_FLOAT:   to->r = sqlite3_value_double(from); break;
    default:
      z = type[0]==SQLITE_TEXT ? (const void*)sqlite3_value_text(from) : sqlite3_value_blob(from);
      n = sqlite3_value_bytes(from);
      if( !z && (type[0]==SQLITE_TEXT || n!=0) ) return SQLITE_NOMEM;
      to->bytes = materialized_keep(m, z, (size_t)n, &rc);
      break;
  }
  return rc;
}

int zt_materialized_add(zt_materialized *m, sqlite3_int64 rowid, sqlite3_value **value){
  int rc = SQLITE_OK;
  char *row = materialized_new_row(m, &rc), *at;
  if( !row ) return rc;
  at = row+sizeof(rowid);
  m->n++;
  memcpy(row, &rowid, sizeof(rowid));
  for(int i=0; i<m->values && rc==SQLITE_OK; i++, at+=sizeof(materialized_value)){
    materialized_value kept = { 0 };
    rc = materialized_set(m, value[i], row+m->at_types+2*(size_t)i, &kept);
    memcpy(at, &kept, sizeof(kept));
  }
  return rc;
}

uint32_t zt_materialized_count(const zt_materialized *m){
  return m->n;
}

sqlite3_int64 zt_materialized_rowid(const zt_materialized *m, uint32_t row){
  sqlite3_int64 rowid;
  memcpy(&rowid, materialized_row(m, row), sizeof(rowid));
  return rowid;
}

void *zt_materialized_extra(const zt_materialized *m, uint32_t row){
  return materialized_row(m, row)+m->at_extra;
}

zt_text zt_materialized_text(const zt_materialized *m, uint32_t row, int i){
  const char *at = materialized_row(m, row);
  materialized_value v;
  if( at[m->at_types+2*(size_t)i]!=SQLITE_TEXT ) return (zt_text){ NULL, 0 };
  memcpy(&v, at+sizeof(sqlite3_int64)+(size_t)i*sizeof(v), sizeof(v));
  return (zt_text){ v.bytes->z, v.bytes->n };
}

void zt_materialized_result(const zt_materialized *m, uint32_t row, int i, sqlite3_context *ctx){
  const char *at = materialized_row(m, row), *type = at+m->at_types+2*(size_t)i;
  materialized_value v;
  memcpy(&v, at+sizeof(sqlite3_int64)+(size_t)i*sizeof(v), sizeof(v));
  switch( type[0] ){
    case SQLITE_INTEGER: sqlite3_result_int64(ctx, v.i); break;
    case SQLITE_FLOAT:   sqlite3_result_double(ctx, v.r); break;
    case SQLITE_TEXT:    zt_result_text(ctx, (zt_text){ v.bytes->z, v.bytes->n }); break;
    case SQLITE_BLOB:
      if( v.bytes->n==0 ) sqlite3_result_zeroblob(ctx, 0);
      else sqlite3_result_blob64(ctx, v.bytes->z, v.bytes->n, SQLITE_TRANSIENT);
      break;
  }
  if( type[1] ) sqlite3_result_subtype(ctx, (unsigned char)type[1]);
}
