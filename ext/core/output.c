/*
** Files in the making. See output.h.
**
** Bytes wait in a window until it is full. In memory the window is all there is, and grows.
*/
#include "core/output.h"

#include <assert.h>
#include <errno.h>
#include "core/host.h"
#include "core/os_write.h"

#define OUTPUT_NAME 200                    /* Bytes of the target's name in that of a partial file */
#define OUTPUT_ZEROS ((size_t)4096)        /* So many zeros, or more, may become a hole */
#define OUTPUT_MEMORY_LEAST ((size_t)4096)

struct zt_output {
  zt_output_mode mode;
  bool sync;
  char *target;            /* Absolute, symbolic links followed; NULL: in memory. Owned, as the next
                           ** two are */
  char *partial;           /* The file's own name until it is placed; with unnamed, one to be had */
  char *old;               /* The second name of the file that was replaced; NULL: none */
  zt_file file;
  bool unnamed;
  bool placed;
  uint64_t written;        /* Bytes in the file: offset of the window */
  uint64_t extent;         /* Size that the system knows of: less than written behind a hole */
  uint8_t *p;              /* The window. Owned */
  size_t n, capacity;
  uint64_t most;           /* Bytes of an output in memory, at most */
};

/* --- Failures --- */

static int output_fail(const zt_output *o, const char *doing, int n, zt_error *err){
  char buffer[ZT_OS_MESSAGE];
  const bool full = n==ENOSPC || n==EDQUOT || n==EFBIG;
  (void)o;
  if( n==ENOMEM ) return zt_fail_nomem(err);
  if( !err->rc ) err->system = n;
  return zt_fail(err, full ? SQLITE_FULL : SQLITE_IOERR, "%s: %s", doing,
                 zt_os_message(n, buffer));
}

static int output_fail_exists(zt_error *err){
  return zt_fail(err, SQLITE_ERROR,
                 "there is a file already; mode='replace' replaces it");
}

/* --- The target --- */

/* The absolute path of what does not exist yet, owned. */
static char *output_resolve_missing(const char *path, int *n){
  const char *name = zt_path_name(path);
  char *directory = sqlite3_mprintf("%.*s", name>path ? (int)(name-path) : 1,
                                    name>path ? path : ".");
  char *top, *out = NULL;
  *n = ENOMEM;
  if( !directory ) return NULL;
  top = zt_os_resolve(directory, n);
  sqlite3_free(directory);
  if( !top ) return NULL;
  out = sqlite3_mprintf("%s%s%s", top, zt_is_separator(top[strlen(top)-1]) ? "" : "/", name);
  sqlite3_free(top);
  if( !out ) *n = ENOMEM;
  return out;
}

/* Find the target, and refuse what cannot be one. *exists: there is a file. */
static char *output_resolve(const char *path, zt_output_mode mode, bool *exists, zt_error *err){
  zt_stat s;
  char *out;
  int n = zt_os_stat(path, &s);
  *exists = n==0;
  if( n && !zt_os_absent(n) ){
    output_fail(NULL, "looking at the target", n, err);
    return NULL;
  }
  if( n==0 && s.kind!=ZT_KIND_FILE ){
    zt_fail(err, SQLITE_ERROR, "is %s, and no file can be written there", zt_kind_name(s.kind));
    return NULL;
  }
  if( n==0 && mode==ZT_OUTPUT_CREATE ){
    output_fail_exists(err);
    return NULL;
  }
  if( n && mode==ZT_OUTPUT_UPDATE ){
    zt_fail(err, SQLITE_ERROR, "there is no such file to update");
    return NULL;
  }
  if( n && zt_os_exists(path)==0 ){
    zt_fail(err, SQLITE_ERROR, "is a symbolic link to a file that does not exist");
    return NULL;
  }
  out = n ? output_resolve_missing(path, &n) : zt_os_resolve(path, &n);
  if( !out ) output_fail(NULL, "looking at its directory", n ? n : ENOMEM, err);
  return out;
}

/* A hidden name beside the target, owned. */
static char *output_hidden(const char *target){
  const char *name = zt_path_name(target);
  return sqlite3_mprintf("%.*s.%.*s.%016llx.partial", (int)(name-target), target, OUTPUT_NAME,
                         name, (unsigned long long)zt_os_random());
}

int zt_output_check(const char *path, zt_output_mode mode, zt_error *err){
  bool exists;
  sqlite3_free(output_resolve(path, mode, &exists, err));
  return err->rc;
}

/* --- Opening --- */

static zt_output *output_new(zt_error *err){
  zt_output *o = sqlite3_malloc64(sizeof(*o));
  if( o ) *o = (zt_output){ .file = -1 };
  else zt_fail_nomem(err);
  return o;
}

int zt_output_open(const char *path, zt_output_mode mode, bool sync, zt_output **out,
                   zt_error *err){
  zt_output *o = output_new(err);
  bool exists;
  int n, bits = -1;
  *out = NULL;
  if( !o ) return err->rc;
  o->mode = mode;
  o->sync = sync;
  o->target = output_resolve(path, mode, &exists, err);
  if( !err->rc && exists && (n = zt_os_mode(o->target, &bits))!=0 ){
    output_fail(o, "looking at the target", n, err);
  }
  if( !err->rc ){
    o->partial = output_hidden(o->target);
    o->p = sqlite3_malloc64(ZT_OUTPUT_WINDOW);
    o->capacity = ZT_OUTPUT_WINDOW;
    if( !o->partial || !o->p ) zt_fail_nomem(err);
  }
  if( !err->rc && (n = zt_os_create(o->partial, bits, &o->unnamed, &o->file))!=0 ){
    output_fail(o, "making a file in its directory", n, err);
  }
  if( err->rc ) zt_output_close(o);
  else *out = o;
  return err->rc;
}

int zt_output_open_memory(uint64_t most, zt_output **out, zt_error *err){
  *out = output_new(err);
  if( *out ) (*out)->most = most;
  return err->rc;
}

uint64_t zt_output_size(const zt_output *o){
  return o->written+o->n;
}

/* --- Bytes --- */

/* Write what waits in the window. */
static int output_flush(zt_output *o, zt_error *err){
  int n;
  if( o->file<0 || o->n==0 ) return SQLITE_OK;
  n = zt_os_write(o->file, o->written, o->p, o->n);
  if( n ) return output_fail(o, "writing", n, err);
  o->written += o->n;
  o->extent = o->written;
  o->n = 0;
  return SQLITE_OK;
}

/* Room for n more bytes in memory. */
static int output_grow(zt_output *o, uint64_t n, zt_error *err){
  uint64_t capacity = o->capacity ? o->capacity : OUTPUT_MEMORY_LEAST;
  uint8_t *p;
  if( n>o->most-o->n ) return zt_fail(err, SQLITE_TOOBIG, "more than %lld bytes", o->most);
  if( n<=o->capacity-o->n ) return SQLITE_OK;
  while( capacity<o->n+n ) capacity += capacity/2;
  if( capacity>o->most ) capacity = o->most;
  p = sqlite3_realloc64(o->p, capacity);
  if( !p ) return zt_fail_nomem(err);
  o->p = p;
  o->capacity = (size_t)capacity;
  return SQLITE_OK;
}

int zt_output_room(zt_output *o, size_t n, uint8_t **p, zt_error *err){
  if( o->file<0 ){
    if( output_grow(o, n, err) ) return err->rc;
  }else if( n>o->capacity-o->n && output_flush(o, err) ){
    return err->rc;
  }
  *p = o->p+o->n;
  return SQLITE_OK;
}

void zt_output_filled(zt_output *o, size_t n){
  o->n += n;
}

int zt_output_append(zt_output *o, zt_span bytes, zt_error *err){
  while( bytes.n>0 ){
    const size_t n = bytes.n<ZT_OUTPUT_WINDOW ? bytes.n : ZT_OUTPUT_WINDOW;
    uint8_t *p;
    if( zt_output_room(o, n, &p, err) ) return err->rc;
    memcpy(p, bytes.p, n);
    zt_output_filled(o, n);
    bytes.p += n;
    bytes.n -= n;
  }
  return SQLITE_OK;
}

int zt_output_append_zeros(zt_output *o, uint64_t n, zt_error *err){
  if( o->file>=0 && n>=OUTPUT_ZEROS ){
    if( output_flush(o, err) ) return err->rc;
    o->written += n;
    return SQLITE_OK;
  }
  while( n>0 ){
    const size_t some = n<ZT_OUTPUT_WINDOW ? (size_t)n : ZT_OUTPUT_WINDOW;
    uint8_t *p;
    if( zt_output_room(o, some, &p, err) ) return err->rc;
    memset(p, 0, some);
    zt_output_filled(o, some);
    n -= some;
  }
  return SQLITE_OK;
}

int zt_output_patch(zt_output *o, uint64_t offset, zt_span bytes, zt_error *err){
  int n;
  assert( zt_claim(zt_output_size(o), offset, bytes.n) );
  if( offset>=o->written ){
    memcpy(o->p+(offset-o->written), bytes.p, bytes.n);
    return SQLITE_OK;
  }
  if( output_flush(o, err) ) return err->rc;
  n = zt_os_write(o->file, offset, bytes.p, bytes.n);
  if( n ) return output_fail(o, "writing", n, err);
  if( offset+bytes.n>o->extent ) o->extent = offset+bytes.n;
  return SQLITE_OK;
}

/* Give the file the size that it has with a hole at its end. */
static int output_extend(zt_output *o, zt_error *err){
  int n;
  if( output_flush(o, err) ) return err->rc;
  if( o->file<0 || o->extent==o->written ) return SQLITE_OK;
  n = zt_os_truncate(o->file, o->written);
  if( n ) return output_fail(o, "writing", n, err);
  o->extent = o->written;
  return SQLITE_OK;
}

int zt_output_read(zt_output *o, uint64_t offset, void *p, size_t n, zt_error *err){
  int error_number = 0;
  assert( zt_claim(zt_output_size(o), offset, n) );
  if( offset>=o->written ){
    memcpy(p, o->p+(offset-o->written), n);
    return SQLITE_OK;
  }
  if( output_extend(o, err) ) return err->rc;
  if( zt_os_read(o->file, offset, p, n, &error_number)==(int64_t)n ) return SQLITE_OK;
  return output_fail(o, "reading back", error_number ? error_number : EIO, err);
}

int zt_output_truncate(zt_output *o, uint64_t size, zt_error *err){
  int n;
  assert( size<=zt_output_size(o) );
  if( size>=o->written ){
    o->n = (size_t)(size-o->written);
    return SQLITE_OK;
  }
  o->n = 0;
  n = zt_os_truncate(o->file, size);
  if( n ) return output_fail(o, "writing", n, err);
  o->written = o->extent = size;
  return SQLITE_OK;
}

uint8_t *zt_output_take(zt_output *o, uint64_t *n){
  uint8_t *p = o->p;
  assert( o->file<0 );
  *n = o->n;
  o->p = NULL;
  o->n = o->capacity = 0;
  return p;
}

/* --- Placing --- */

int zt_output_sync(zt_output *o, zt_error *err){
  int n;
  if( output_extend(o, err) || !o->sync ) return err->rc;
  n = zt_os_sync(o->file);
  return n ? output_fail(o, "writing", n, err) : SQLITE_OK;
}

/* The new file under the target's name, which must be free. */
static int output_place_new(zt_output *o, zt_error *err){
  int n = o->unnamed ? zt_os_name(o->file, o->target) : zt_os_link(o->partial, o->target);
  if( n==EEXIST ) return output_fail_exists(err);
  if( n ) return output_fail(o, "naming the file", n, err);
  if( !o->unnamed ) zt_os_remove(o->partial);
  return SQLITE_OK;
}

/* A second name for the old file, if there is one. */
static int output_keep_old(zt_output *o, zt_error *err){
  int n;
  char *old = output_hidden(o->target);
  if( !old ) return zt_fail_nomem(err);
  n = zt_os_link(o->target, old);
  if( n==0 ){
    o->old = old;
    return SQLITE_OK;
  }
  sqlite3_free(old);
  return zt_os_absent(n) ? SQLITE_OK : output_fail(o, "keeping the old file", n, err);
}

static int output_place_over(zt_output *o, zt_error *err){
  int n;
  if( output_keep_old(o, err) ) return err->rc;
  n = o->unnamed ? zt_os_name(o->file, o->partial) : 0;
  if( n ) return output_fail(o, "naming the file", n, err);
  o->unnamed = false;
  n = zt_os_rename(o->partial, o->target);
  return n ? output_fail(o, "naming the file", n, err) : SQLITE_OK;
}

int zt_output_place(zt_output *o, zt_error *err){
  int n;
  assert( !o->placed && o->file>=0 );
  if( o->mode==ZT_OUTPUT_CREATE ? output_place_new(o, err) : output_place_over(o, err) ){
    return err->rc;
  }
  o->placed = true;
  n = o->sync ? zt_os_sync_directory(o->target) : 0;
  return n ? output_fail(o, "writing its directory", n, err) : SQLITE_OK;
}

void zt_output_keep(zt_output *o){
  if( o->old ) zt_os_remove(o->old);
  sqlite3_free(o->old);
  o->old = NULL;
  o->placed = false;
}

/* True unless another process has put another file in the target's place. */
static bool output_is_target(const zt_output *o){
  zt_stat own, there;
  return zt_os_fstat(o->file, &own)==0 && zt_os_stat(o->target, &there)==0
      && own.id.device==there.id.device && own.id.inode==there.id.inode;
}

int zt_output_undo(zt_output *o, zt_error *err){
  int n = 0;
  if( !o->placed ) return SQLITE_OK;
  if( output_is_target(o) ){
    n = o->old ? zt_os_rename(o->old, o->target) : zt_os_remove(o->target);
  }else if( o->old ){
    n = zt_os_remove(o->old);
  }
  if( n==0 && o->sync ) n = zt_os_sync_directory(o->target);
  sqlite3_free(o->old);
  o->old = NULL;
  o->placed = false;
  return n ? output_fail(o, "putting the old file back", n, err) : SQLITE_OK;
}

void zt_output_close(zt_output *o){
  if( !o ) return;
  if( o->file>=0 ){
    if( o->old && !o->placed ) zt_os_remove(o->old);
    if( !o->unnamed && !o->placed && o->partial ) zt_os_remove(o->partial);
    zt_os_close(o->file);
  }
  sqlite3_free(o->target);
  sqlite3_free(o->partial);
  sqlite3_free(o->old);
  sqlite3_free(o->p);
  sqlite3_free(o);
}
