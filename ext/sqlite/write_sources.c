/* The files that rows of a writer name. See write_sources.h. */
#include "sqlite/write_sources.h"

#include <assert.h>
#include "core/digest.h"
#include "core/paths.h"
#include "sqlite/open.h"
#include "sqlite/target.h"
#include "sqlite/value.h"

#define WRITE_SOURCES_OPEN 8     /* Files that are open at the same time */
#define WRITE_SOURCES_LEAST 16u  /* A power of two */
#define WRITE_SOURCES_SPOOL ((uint64_t)INT64_MAX)
#define WRITE_SOURCES_COMPARED ((size_t)8 << 10)   /* Bytes that are compared at once */

typedef struct write_source {
  char *path;                    /* Owned; NULL: an image */
  zt_identity id;                /* Of the file */
  uint64_t offset, length;       /* Of an image in the spool */
  uint8_t digest[ZT_DIGEST_XXH3_128_BYTES];   /* Of the image, or of path and identity */
  uint32_t next;                 /* Of the same bucket, plus 1; 0: none */
} write_source;

typedef struct write_source_open {
  zt_container *container;       /* NULL: nothing is open here */
  zt_source *source;
  uint8_t *image;                /* Owned */
  uint32_t number;
  uint64_t used;                 /* When: a count of uses */
} write_source_open;

struct zt_write_sources {
  zt_connection *connection;
  const char *beside;
  zt_output *spool;
  write_source *a;               /* Owned */
  uint32_t *buckets;             /* By digest: the last source plus 1; 0: none. Owned */
  uint32_t n, capacity;          /* As many buckets */
  uint64_t uses;
  write_source_open open[WRITE_SOURCES_OPEN];
  char *last;                    /* The text of the last source that was a path; owned */
  uint32_t lastNumber;
};

zt_write_sources *zt_write_sources_new(zt_connection *connection, const char *beside,
                                       zt_error *err){
  zt_write_sources *s = sqlite3_malloc64(sizeof(*s));
  if( s ) *s = (zt_write_sources){ .connection = connection, .beside = beside };
  else zt_fail_nomem(err);
  return s;
}

static void write_sources_close(write_source_open *o){
  zt_source_close(o->source);
  zt_container_close(o->container);
  sqlite3_free(o->image);
  *o = (write_source_open){ .container = NULL };
}

void zt_write_sources_look_again(zt_write_sources *s){
  for(int i=0; i<WRITE_SOURCES_OPEN; i++) write_sources_close(&s->open[i]);
}

void zt_write_sources_free(zt_write_sources *s){
  if( !s ) return;
  zt_write_sources_look_again(s);
  for(uint32_t i=0; i<s->n; i++) sqlite3_free(s->a[i].path);
  zt_output_close(s->spool);
  sqlite3_free(s->a);
  sqlite3_free(s->buckets);
  sqlite3_free(s->last);
  sqlite3_free(s);
}

/* --- The spool --- */

zt_output *zt_write_sources_spooled(const zt_write_sources *s){
  return s->spool;
}

int zt_write_sources_spool(zt_write_sources *s, zt_span bytes, uint64_t *offset, zt_error *err){
  if( !s->spool && (s->beside
     ? zt_output_open(s->beside, NULL, ZT_OUTPUT_REPLACE, false, &s->spool, err)
     : zt_output_open_memory(WRITE_SOURCES_SPOOL, &s->spool, err)) ) return err->rc;
  *offset = zt_output_size(s->spool);
  return zt_output_append(s->spool, bytes, err);
}

/* --- Opening --- */

/* The identity of a file, which any source of a path has. */
static const zt_identity *write_sources_identity(const zt_source *source){
  const zt_identity *id = zt_source_identity(source);
  assert( id );
  return id;
}

static bool write_sources_is_same(const zt_identity *a, const zt_identity *b){
  return a->device==b->device && a->inode==b->inode && zt_same_state(a, b);
}

/* The open file of that number; NULL: it is not open. */
static write_source_open *write_sources_opened(zt_write_sources *s, uint32_t number){
  for(int i=0; i<WRITE_SOURCES_OPEN; i++){
    if( s->open[i].container && s->open[i].number==number ) return &s->open[i];
  }
  return NULL;
}

/* A place for another open file: a free one, or that of the one that was used first. */
static write_source_open *write_sources_place(zt_write_sources *s, uint32_t number){
  write_source_open *oldest = &s->open[0];
  for(int i=0; i<WRITE_SOURCES_OPEN; i++){
    if( s->open[i].used<oldest->used ) oldest = &s->open[i];
  }
  write_sources_close(oldest);
  oldest->number = number;
  return oldest;
}

static zt_supply_file write_sources_use(zt_write_sources *s, write_source_open *o){
  o->used = ++s->uses;
  return (zt_supply_file){ o->container, o->source };
}

static int write_sources_open_path(zt_write_sources *s, const write_source *source,
                                   write_source_open *o, zt_error *err){
  zt_opened opened;
  err->path = source->path;
  if( zt_open(s->connection, source->path, NULL, false, true, &opened, err) ) return err->rc;
  o->container = opened.container;
  o->source = opened.source;
  if( write_sources_is_same(write_sources_identity(o->source), &source->id) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "the file has changed since its row was inserted");
}

static int write_sources_open_image(zt_write_sources *s, const write_source *source,
                                    write_source_open *o, zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(s->connection);
  err->path = "<blob>";
  o->image = sqlite3_malloc64(source->length+1);
  if( !o->image ) return zt_fail_nomem(err);
  if( source->length
   && zt_output_read(s->spool, source->offset, o->image, (size_t)source->length, err) ){
    return err->rc;
  }
  if( zt_source_open_image((zt_span){ o->image, (size_t)source->length }, &o->source, err) ){
    return err->rc;
  }
  return zt_container_open(o->source, &interrupt, &o->container, err);
}

int zt_write_sources_open(void *sources, uint32_t number, zt_supply_file *out, zt_error *err){
  zt_write_sources *s = sources;
  const write_source *source = &s->a[number];
  const zt_error place = *err;
  write_source_open *o;
  o = write_sources_opened(s, number);
  if( o ){
    *out = write_sources_use(s, o);
    return SQLITE_OK;
  }
  o = write_sources_place(s, number);
  err->object.z = err->component.z = NULL;
  if( source->path ? write_sources_open_path(s, source, o, err)
    : write_sources_open_image(s, source, o, err) ){
    write_sources_close(o);
    return err->rc;
  }
  *err = place;
  *out = write_sources_use(s, o);
  return SQLITE_OK;
}

bool zt_write_sources_has_state(const zt_write_sources *s, uint32_t number,
                                const zt_identity *id){
  return write_sources_is_same(&s->a[number].id, id);
}

bool zt_write_sources_has(const zt_write_sources *s, uint32_t number){
  return number<s->n;
}

bool zt_write_sources_has_bytes(const zt_write_sources *s, uint64_t offset, uint64_t length){
  return s->spool && zt_claim(zt_output_size(s->spool), offset, length);
}

/* --- Adding --- */

static uint32_t *write_sources_bucket(const zt_write_sources *s, const write_source *source){
  return &s->buckets[zt_le32(source->digest) & (s->capacity-1)];
}

static void write_sources_link(zt_write_sources *s, uint32_t i){
  uint32_t *bucket = write_sources_bucket(s, &s->a[i]);
  s->a[i].next = *bucket;
  *bucket = i+1;
}

static int write_sources_grow(zt_write_sources *s, zt_error *err){
  const uint32_t capacity = s->capacity ? 2*s->capacity : WRITE_SOURCES_LEAST;
  write_source *a = sqlite3_realloc64(s->a, (uint64_t)capacity*sizeof(*a));
  uint32_t *buckets = a ? sqlite3_malloc64((uint64_t)capacity*sizeof(*buckets)) : NULL;
  if( a ) s->a = a;
  if( !buckets ) return zt_fail_nomem(err);
  memset(buckets, 0, capacity*sizeof(*buckets));
  sqlite3_free(s->buckets);
  s->buckets = buckets;
  s->capacity = capacity;
  for(uint32_t i=0; i<s->n; i++) write_sources_link(s, i);
  return SQLITE_OK;
}

static int write_sources_append(zt_write_sources *s, const write_source *source, uint32_t *number,
                                zt_error *err){
  if( s->n==s->capacity && write_sources_grow(s, err) ) return err->rc;
  s->a[s->n] = *source;
  write_sources_link(s, s->n);
  *number = s->n++;
  return SQLITE_OK;
}

static int write_sources_digest(zt_span a, zt_span b, uint8_t out[ZT_DIGEST_XXH3_128_BYTES],
                                zt_error *err){
  zt_digest *d = zt_digest_begin(ZT_DIGEST_XXH3_128, err);
  if( !d ) return err->rc;
  zt_digest_update(d, a);
  zt_digest_update(d, b);
  zt_digest_xxh3_128(d, out);
  zt_digest_close(d);
  return SQLITE_OK;
}

/* True if the source is an image of these bytes. */
static bool write_sources_has_image(zt_write_sources *s, uint32_t number, zt_span image,
                                    zt_error *err){
  const write_source *source = &s->a[number];
  const write_source_open *o = write_sources_opened(s, number);
  uint8_t there[WRITE_SOURCES_COMPARED];
  bool same = !source->path && source->length==image.n;
  if( same && o ) return memcmp(o->image, image.p, image.n)==0;
  for(size_t at=0; same && at<image.n; at+=sizeof(there)){
    const size_t n = image.n-at<sizeof(there) ? image.n-at : sizeof(there);
    same = zt_output_read(s->spool, source->offset+at, there, n, err)==SQLITE_OK
        && memcmp(there, image.p+at, n)==0;
  }
  return same;
}

/* True if the source is the one that is looked for: an image of these bytes, or the file of that
** path in that state. */
static bool write_sources_is(zt_write_sources *s, uint32_t number, const write_source *wanted,
                             zt_span image, zt_error *err){
  const write_source *source = &s->a[number];
  if( !wanted->path ) return write_sources_has_image(s, number, image, err);
  return source->path && strcmp(source->path, wanted->path)==0
      && write_sources_is_same(&source->id, &wanted->id);
}

/* Find a source by its digest, which does not tell it from all others. */
static bool write_sources_find(zt_write_sources *s, const write_source *wanted, zt_span image,
                               uint32_t *number, zt_error *err){
  uint32_t i = s->n ? *write_sources_bucket(s, wanted) : 0;
  for(; i && !err->rc; i = s->a[i-1].next){
    *number = i-1;
    if( memcmp(s->a[i-1].digest, wanted->digest, sizeof(wanted->digest))==0
     && write_sources_is(s, i-1, wanted, image, err) ) return true;
  }
  return false;
}

/* Find the image, or copy it to the spool. The last one is compared without a digest: most often
** many rows have one source. */
static int write_sources_add_image(zt_write_sources *s, sqlite3_value *blob, uint32_t *number,
                                   zt_error *err){
  const uint8_t *p = sqlite3_value_blob(blob);
  const zt_span image = { p ? p : (const uint8_t*)"", (size_t)sqlite3_value_bytes(blob) };
  write_source source = { .length = image.n };
  *number = s->n-1;
  if( (s->n && write_sources_has_image(s, *number, image, err)) || err->rc
   || write_sources_digest(image, (zt_span){ NULL, 0 }, source.digest, err)
   || write_sources_find(s, &source, image, number, err) || err->rc
   || zt_write_sources_spool(s, image, &source.offset, err) ) return err->rc;
  return write_sources_append(s, &source, number, err);
}

/* Find the file of that path in that state, or add it. */
static int write_sources_add_opened(zt_write_sources *s, const zt_target *t, uint32_t *number,
                                    zt_error *err){
  const zt_identity *id = write_sources_identity(t->source);
  const uint64_t state[] = { id->device, id->inode, id->size, (uint64_t)id->mtime, id->tag };
  const zt_span path = { (const uint8_t*)t->path, strlen(t->path) };
  write_source source = { .path = sqlite3_mprintf("%s", t->path), .id = *id };
  if( !source.path ) return zt_fail_nomem(err);
  if( write_sources_digest(path, (zt_span){ (const uint8_t*)state, sizeof(state) }, source.digest,
                           err)
   || write_sources_find(s, &source, path, number, err) || err->rc
   || write_sources_append(s, &source, number, err) ) sqlite3_free(source.path);
  return err->rc;
}

static int write_sources_add_path(zt_write_sources *s, sqlite3_value *value, const char *path,
                                  uint32_t *number, zt_error *err){
  const zt_error place = *err;
  zt_target t;
  char *last;
  if( s->last && strcmp(s->last, path)==0 ){
    *number = s->lastNumber;
    return SQLITE_OK;
  }
  err->object.z = NULL;
  if( zt_target_open(s->connection, value, true, &t, err)==SQLITE_OK
   && write_sources_add_opened(s, &t, number, err)==SQLITE_OK ){
    last = sqlite3_mprintf("%s", path);
    sqlite3_free(s->last);
    s->last = last;
    s->lastNumber = *number;
    *err = place;
  }
  zt_target_close(&t);
  return err->rc;
}

int zt_write_sources_add(zt_write_sources *s, sqlite3_value *source, uint32_t *number,
                         zt_supply_file *out, zt_error *err){
  const char *path;
  if( zt_target_path(s->connection, source, &path, err) ) return err->rc;
  if( path ? write_sources_add_path(s, source, path, number, err)
    : write_sources_add_image(s, source, number, err) ) return err->rc;
  return zt_write_sources_open(s, *number, out, err);
}

const char *zt_write_sources_path(const zt_write_sources *s, uint32_t number, uint64_t *offset,
                                  uint64_t *length){
  *offset = s->a[number].offset;
  *length = s->a[number].length;
  return s->a[number].path;
}
