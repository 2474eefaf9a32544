/* An open file or the image of one. See source.h. */
#include "core/source.h"

#include <assert.h>
#include "core/host.h"
#include "core/pool.h"
#include "core/url.h"

/* Bytes that are worth a thread. Tests are built with fewer. */
#ifndef ZT_SOURCE_PART
# define ZT_SOURCE_PART ((size_t)4 << 20)
#endif
#define SOURCE_PARTS 16                 /* Most threads of one read */

/* Allocates a source with a copy of the path behind it. */
static zt_source *source_named(zt_text path, zt_error *err){
  zt_source *s = sqlite3_malloc64(sizeof(*s)+path.n+1);
  char *copy;
  if( !s ){
    zt_fail_nomem(err);
    return NULL;
  }
  copy = (char*)(s+1);
  memcpy(copy, path.z, path.n);
  copy[path.n] = 0;
  *s = (zt_source){ .file = -1, .path = copy };
  return s;
}

static zt_source *source_new(const char *path, zt_error *err){
  return source_named((zt_text){ path, strlen(path) }, err);
}

int zt_source_begin(zt_source *s, const char *path, const zt_stat *known, zt_error *err){
  zt_stat state;
  *s = (zt_source){ .path = path };
  s->file = zt_os_open(path, known, &state, err);
  if( s->file<0 ) return err->rc;
  s->id = state.id;
  s->size = state.id.size;
  return SQLITE_OK;
}

void zt_source_end(zt_source *s){
  for(int i=0; i<ZT_RESUMABLES; i++){
    zt_resumable *state = atomic_load_explicit(&s->states[i], memory_order_acquire);
    if( !state ) continue;
    atomic_store_explicit(&s->states[i], NULL, memory_order_relaxed);
    state->free(state);
  }
  zt_os_close(s->file);
  zt_remote_file_close(s->remote);
  s->file = -1;
  s->remote = NULL;
}

#if ZT_REMOTE
int zt_source_begin_remote(zt_source *s, zt_remote *remote, const char *path,
                           const zt_remote_state *known, zt_remote_ask ask, zt_error *err){
  *s = (zt_source){ .file = -1, .path = path };
  if( zt_remote_file_open(remote, path, known, ask, &s->remote, err) ) return err->rc;
  if( !zt_remote_identity(path, zt_remote_file_state(s->remote), &s->id) ){
    return zt_fail_nomem(err);
  }
  s->size = s->id.size;
  return SQLITE_OK;
}
#endif

int zt_source_open(const char *path, const zt_stat *known, zt_source **out, zt_error *err){
  zt_source *s = source_new(path, err);
  *out = NULL;
  if( !s ) return err->rc;
  if( zt_source_begin(s, s->path, known, err)==SQLITE_OK ) *out = s;
  else zt_source_close(s);
  return err->rc;
}

static const char *source_plain_path(const zt_source *s){
  return zt_source_is_range(s) ? s->path : zt_source_path(s);
}

#if ZT_REMOTE
const char *zt_source_plain_path(const zt_source *s){
  return s->remote ? zt_remote_file_plain_path(s->remote) : source_plain_path(s);
}

int zt_source_open_remote(zt_remote *remote, const char *path, const zt_remote_state *known,
                          zt_remote_ask ask, zt_source **out, zt_error *err){
  zt_source *s = source_new(path, err);
  *out = NULL;
  if( !s ) return err->rc;
  if( zt_source_begin_remote(s, remote, s->path, known, ask, err)==SQLITE_OK ) *out = s;
  else zt_source_close(s);
  return err->rc;
}

int zt_source_open_beside(const zt_source *beside, const char *path, zt_source **out,
                          zt_error *err){
  zt_remote *remote = beside->remote ? zt_remote_file_remote(beside->remote) : NULL;
  if( !remote ) return zt_source_open(path, NULL, out, err);
  return zt_source_open_remote(remote, path, NULL, ZT_REMOTE_HEAD, out, err);
}

const char *zt_source_etag(const zt_source *s){
  const zt_remote_state *state = s->remote ? zt_remote_file_state(s->remote) : NULL;
  return state && state->nEtag ? state->etag : NULL;
}

bool zt_source_settled(const zt_source *s){
  if( s->remote ) return zt_remote_state_is_strong(zt_remote_file_state(s->remote));
  return zt_os_settled(&s->id);
}
#else
const char *zt_source_plain_path(const zt_source *s){
  return source_plain_path(s);
}

int zt_source_open_beside(const zt_source *beside, const char *path, zt_source **out,
                          zt_error *err){
  (void)beside;
  return zt_source_open(path, NULL, out, err);
}

const char *zt_source_etag(const zt_source *s){
  (void)s;
  return NULL;
}

bool zt_source_settled(const zt_source *s){
  return zt_os_settled(&s->id);
}
#endif

/* Appends a relative path to a URL, without its empty parts and those that are `.`, which are parts
** of keys there. */
static void source_put_parts(sqlite3_str *out, zt_text name, bool web){
  size_t from = 0, n = 0;
  for(size_t i=0; i<=name.n; i++){
    const size_t part = i-from;
    if( i<name.n && name.z[i]!='/' ) continue;
    if( part>1 || (part==1 && name.z[from]!='.') ){
      if( n++ ) sqlite3_str_appendchar(out, 1, '/');
#if ZT_REMOTE
      if( web ) zt_url_put_encoded(out, (zt_text){ name.z+from, part }, true);
      else
#endif
      sqlite3_str_append(out, name.z+from, (int)part);
    }
    from = i+1;
  }
  (void)web;
}

char *zt_source_beside(const zt_source *s, bool stem, zt_text name){
  const size_t end = zt_path_end(s->path);
  const bool web = end>0 && zt_path_is_url(s->path) && (s->path[0]=='h' || s->path[0]=='H')
                && (s->path[1]=='t' || s->path[1]=='T');
  sqlite3_str *out = sqlite3_str_new(NULL);
  size_t from = end, dot;
  while( from>0 && !zt_is_separator(s->path[from-1]) ) from--;
  dot = end;
  while( dot>from && s->path[dot-1]!='.' ) dot--;
  if( dot>from+1 ) dot--;   /* A dot that is not the first character */
  else dot = end;
  sqlite3_str_append(out, s->path, (int)(stem ? dot : from));
  if( zt_path_is_url(s->path) ) source_put_parts(out, name, web);
  else sqlite3_str_append(out, name.z, (int)name.n);
  return sqlite3_str_finish(out);
}

int zt_source_open_image(zt_span image, zt_source **out, zt_error *err){
  zt_source *s = source_new("", err);
  *out = s;
  if( !s ) return err->rc;
  s->image = image;
  s->size = image.n;
  return SQLITE_OK;
}

int zt_source_open_range(zt_source *outer, uint64_t offset, uint64_t n, zt_text name,
                         zt_source **out, zt_error *err){
  zt_source *s = source_named(name, err);
  *out = s;
  if( !s ) return err->rc;
  assert( !outer->outer && zt_claim(outer->size, offset, n) );
  s->outer = outer;
  s->base = offset;
  s->size = n;
  s->pool = outer->pool;
  if( outer->image.p ) s->image = (zt_span){ outer->image.p+offset, (size_t)n };
  return SQLITE_OK;
}

int zt_source_open_file(zt_file file, const char *path, zt_source **out, zt_error *err){
  zt_source *s = source_new(path, err);
  zt_stat state;
  int n;
  *out = NULL;
  if( !s ){
    zt_os_close(file);
    return err->rc;
  }
  s->file = file;
  n = zt_os_fstat(file, &state);
  if( n ){
    zt_source_close(s);
    return zt_fail_os(err, "read", n);
  }
  s->id = state.id;
  s->size = state.id.size;
  *out = s;
  return SQLITE_OK;
}

void zt_source_close(zt_source *s){
  if( !s ) return;
  zt_source_end(s);
  sqlite3_free(s);
}

zt_source zt_source_with(const zt_source *s, uint64_t offset, zt_span bytes){
  return (zt_source){
    .outer = s->outer, .base = s->base, .file = s->file, .image = s->image, .ahead = bytes,
    .ahead_at = offset, .remote = s->remote, .size = s->size, .id = s->id, .pool = s->pool,
    .shard = s->shard, .path = s->path
  };
}

void zt_source_leave_state(zt_source *s, zt_resumable *state){
  zt_resumable *none = NULL;
  for(int i=0; i<ZT_RESUMABLES; i++, none=NULL){
    if( atomic_compare_exchange_strong(&s->states[i], &none, state) ) return;
  }
  state->free(state);
}

zt_resumable *zt_source_take_state(zt_source *s, const void *context,
                                   uint64_t (*rank)(const void *context,
                                                    const zt_resumable *state)){
  zt_resumable *best = NULL;
  for(int i=0; i<ZT_RESUMABLES; i++){
    zt_resumable *other = atomic_exchange(&s->states[i], NULL);
    if( other && (!best || rank(context, other)>rank(context, best)) ){
      zt_resumable *before = best;
      best = other;
      other = before;
    }
    if( other ) zt_source_leave_state(s, other);
  }
  return best;
}

/* Sets the shard as the place of the next failure. */
static zt_error *source_in(const zt_source *s, zt_error *err){
  err->shard = s->shard ? s->path : NULL;
  return err;
}

/* --- Reading --- */

/* A part of a read, by one thread. */
typedef struct source_part {
  zt_task task;          /* First */
  zt_file file;
  uint64_t offset;
  uint8_t *buffer;
  size_t n;
  int64_t n_read;
  int error_number;
} source_part;

static void source_read_part(zt_task *task, const zt_interrupt *interrupt){
  source_part *p = (source_part*)task;
  (void)interrupt;
  p->n_read = zt_os_read(p->file, p->offset, p->buffer, p->n, &p->error_number);
}

/* Reads as zt_os_read() does, in parallel parts. The first write to new memory takes longer than
** the copy. */
static int64_t source_read_parallel(zt_source *s, uint64_t offset, uint8_t *buffer, size_t n,
                                    int *error_number){
  source_part part[SOURCE_PARTS];
  zt_tasks tasks = { .pool = s->pool };
  zt_error unused = ZT_ERROR_NONE;
  size_t k = (size_t)zt_pool_threads(s->pool);
  int64_t n_read = 0;
  if( k>n/ZT_SOURCE_PART ) k = n/ZT_SOURCE_PART;
  if( k>SOURCE_PARTS ) k = SOURCE_PARTS;
  for(size_t i=0; i<k; i++){
    const size_t from = n/k*i, to = i+1<k ? n/k*(i+1) : n;
    part[i] = (source_part){ .task.run = source_read_part, .file = s->file, .offset = offset+from,
                             .buffer = buffer+from, .n = to-from };
    zt_pool_add(&tasks, &part[i].task, true);
  }
  for(size_t i=0; i<k; i++) zt_pool_wait(&tasks, &part[i].task, NULL, &unused);
  for(size_t i=0; i<k; i++){
    *error_number = part[i].error_number;
    if( part[i].n_read<0 ) return -1;
    n_read += part[i].n_read;
    if( (size_t)part[i].n_read<part[i].n ) break;
  }
  return n_read;
}

#if ZT_REMOTE
/* The shard is the place of this read's failures alone. */
static int source_read_remote(zt_source *s, uint64_t offset, void *buffer, size_t n,
                              zt_error *err){
  const char *shard = err->shard;
  if( zt_remote_file_read(s->remote, offset, buffer, n, source_in(s, err))==SQLITE_OK ){
    err->shard = shard;
  }
  return err->rc;
}
#endif

int zt_source_read(zt_source *s, uint64_t offset, void *buffer, size_t n, zt_error *err){
  int64_t n_read;
  int error_number;
  if( !zt_claim(s->size, offset, n) ){
    return zt_fail(source_in(s, err), SQLITE_ERROR, "bytes %llu to %llu lie beyond the file's %llu",
                   offset, offset+n, s->size);
  }
  if( n==0 ) return SQLITE_OK;
  if( s->outer ) return zt_source_read(s->outer, s->base+offset, buffer, n, err);
  if( s->file<0 ){
#if ZT_REMOTE
    if( s->remote ) return source_read_remote(s, offset, buffer, n, err);
#endif
    memcpy(buffer, s->image.p+offset, n);
    return SQLITE_OK;
  }
  if( offset>=s->ahead_at && zt_claim(s->ahead.n, offset-s->ahead_at, n) ){
    memcpy(buffer, s->ahead.p+(offset-s->ahead_at), n);
    return SQLITE_OK;
  }
  if( s->pool && n>=2*ZT_SOURCE_PART ){
    n_read = source_read_parallel(s, offset, buffer, n, &error_number);
  }else{
    n_read = zt_os_read(s->file, offset, buffer, n, &error_number);
  }
  if( n_read<0 ) return zt_fail_os(source_in(s, err), "read", error_number);
  if( (uint64_t)n_read<n ){
    return zt_fail_changing(source_in(s, err),
                            "the file was cut short while it was read: byte %llu is missing",
                            offset+(uint64_t)n_read);
  }
  return SQLITE_OK;
}

int zt_source_unchanged(zt_source *s, zt_error *err){
  zt_stat now;
  int error_number;
  if( s->outer ) return zt_source_unchanged(s->outer, err);
  if( s->file<0 || s->ahead.n ) return SQLITE_OK;
  error_number = zt_os_fstat(s->file, &now);
  if( error_number ) return zt_fail_os(source_in(s, err), "read", error_number);
  if( !zt_same_state(&now.id, &s->id) ){
    return zt_fail_changing(source_in(s, err), "the file was written to while it was read");
  }
  return SQLITE_OK;
}

int zt_source_explain(zt_source *s, zt_error *err){
  zt_error changed = ZT_ERROR_NONE;
  if( err->rule && zt_source_unchanged(s, &changed) ){
    zt_error_clear(err);
    zt_source_unchanged(s, err);
  }
  zt_error_clear(&changed);
  return err->rc;
}
