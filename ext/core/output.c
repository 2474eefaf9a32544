/*
** Files in the making. See output.h.
**
** Bytes wait in a window until it is full. Many at once go to the file without a copy. In memory
** the window is all there is, and grows.
*/
#include "core/output.h"

#include <assert.h>
#include <errno.h>
#include "core/host.h"
#include "core/os_write.h"

#define OUTPUT_NAME 200                    /* Bytes of the target's name in a hidden one, at most */
#define OUTPUT_ZEROS ((size_t)4096)        /* So many zeros, or more, become a hole */
#define OUTPUT_DIRECT ((size_t)64<<10)     /* So many bytes, or more, are not copied first */
#define OUTPUT_MEMORY_LEAST ((size_t)4096)
#define OUTPUT_TRIES 8                     /* Names that are taken, or targets that come and go */
#ifdef EDQUOT
# define OUTPUT_QUOTA EDQUOT
#else
# define OUTPUT_QUOTA ENOSPC               /* Windows has one for both */
#endif
#define OUTPUT_TOO_BIG (-1)                /* Beside errno values: more than memory may have */

struct zt_output {
  zt_output_mode mode;
  bool sync;
  char *path;              /* Of the target as the caller gave it; NULL: in memory. Owned, as the
                           ** next three are */
  char *target;            /* Absolute, symbolic links followed; NULL: in memory */
  char *partial;           /* A hidden name: the new file's, or if unnamed, one to be had; NULL once
                           ** the file is placed */
  char *old;               /* The hidden name of the file that was replaced; NULL: none */
  zt_file file;
  zt_identity id;          /* The new file's; only device and inode stay */
  bool unnamed;
  bool synced;
  bool placed;             /* And neither kept nor undone */
  int broken;              /* The first failure, which all later calls repeat: an errno value, or
                           ** OUTPUT_TOO_BIG; 0: none */
  const char *doing;       /* Its step, static */
  uint64_t written;        /* Offset of the window in the file */
  uint64_t extent;         /* Size that the system knows of: less than written behind a hole, more
                           ** if that was expected */
  uint64_t end;            /* Of the bytes in the file that may be others than 0 */
  uint8_t *p;              /* The window. Owned */
  size_t n, capacity;
  uint64_t most;           /* Bytes, at most */
};

/* --- Failures --- */

/* rc: the result code, if neither memory nor the disk is short. */
static int output_fail_os(const char *doing, int n, int rc, zt_error *err){
  char buffer[ZT_OS_MESSAGE];
  const bool full = n==ENOSPC || n==OUTPUT_QUOTA || n==EFBIG;
  if( n==ENOMEM ) return zt_fail_nomem(err);
  if( !err->rc ) err->system = n;
  return zt_fail(err, full ? SQLITE_FULL : rc, "%s: %s", doing, zt_os_message(n, buffer));
}

/* Fails for a target that cannot be. After SQLITE_IOERR, SQLite would undo the whole transaction,
** not the statement alone, and commit the statements after it one by one. */
static int output_fail_target(const char *doing, int n, zt_error *err){
  return output_fail_os(doing, n, SQLITE_ERROR, err);
}

/* Fails as the first failure did, if there was one. Its place is the target: a caller that copies
** bytes has the place that they come from. */
static int output_usable(const zt_output *o, zt_error *err){
  const zt_error place = *err;
  if( o->broken==0 ) return SQLITE_OK;
  if( o->broken==OUTPUT_TOO_BIG ){
    return zt_fail(err, SQLITE_TOOBIG, "more than %llu bytes", o->most);
  }
  if( o->path ){
    err->path = o->path;
    err->object.z = err->component.z = err->shard = NULL;
  }
  output_fail_os(o->doing, o->broken, SQLITE_IOERR, err);
  err->path = place.path;
  err->object = place.object;
  err->component = place.component;
  return err->rc;
}

/* Records the first failure. */
static int output_break(zt_output *o, const char *doing, int n, zt_error *err){
  if( o->broken==0 ){
    o->broken = n;
    o->doing = doing;
  }
  return output_usable(o, err);
}

static int output_fail_exists(zt_error *err){
  return zt_fail(err, SQLITE_ERROR,
                 "there is a file already; mode='replace' replaces it");
}

static int output_fail_kind(zt_kind kind, zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "is %s, and no file can be written there", zt_kind_name(kind));
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

/* Refuses what cannot be a target. n: what examining it gave. */
static int output_refuse(const char *path, zt_output_mode mode, zt_kind kind, int n,
                         zt_error *err){
  if( n && !zt_os_absent(n) ) return output_fail_target("looking at the target", n, err);
  if( n==0 && kind!=ZT_KIND_FILE ) return output_fail_kind(kind, err);
  if( n==0 && mode==ZT_OUTPUT_CREATE ) return output_fail_exists(err);
  if( n && mode==ZT_OUTPUT_UPDATE ){
    return zt_fail(err, SQLITE_ERROR, "there is no such file to update");
  }
  if( n && zt_os_exists(path)==0 ){
    return zt_fail(err, SQLITE_ERROR, "is a symbolic link that leads to no file; remove it, or"
                   " write to the path that it names");
  }
  if( n && *zt_path_name(path)==0 ) return zt_fail(err, SQLITE_ERROR, "is not a file's name");
  return SQLITE_OK;
}

int zt_output_find(const char *path, zt_output_mode mode, char **target, zt_error *err){
  zt_stat s;
  int n = zt_os_stat(path, &s);
  *target = NULL;
  if( output_refuse(path, mode, s.kind, n, err) ) return err->rc;
  *target = n ? output_resolve_missing(path, &n) : zt_os_resolve(path, &n);
  return *target ? SQLITE_OK : output_fail_target("looking at its directory", n ? n : ENOMEM, err);
}

int zt_output_check(const char *target, zt_error *err){
  const int n = zt_os_may_create(target);
  return n ? output_fail_target("making a file in its directory", n, err) : SQLITE_OK;
}

/* A hidden name beside the target, owned. A long name is cut between characters. */
static char *output_hidden(const char *target){
  const char *name = zt_path_name(target);
  int n = (int)strlen(name);
  if( n>OUTPUT_NAME ) for(n = OUTPUT_NAME; n>0 && ((uint8_t)name[n] & 0xC0)==0x80; n--){}
  return sqlite3_mprintf("%.*s.%.*s.%016llx.partial", (int)(name-target), target, n, name,
                         zt_os_random());
}

/* --- Opening --- */

static zt_output *output_new(uint64_t most, zt_error *err){
  zt_output *o = sqlite3_malloc64(sizeof(*o));
  if( o ) *o = (zt_output){ .file = -1, .most = most };
  else zt_fail_nomem(err);
  return o;
}

/* Makes the file, and its hidden name. Returns 0 or the errno value. */
static int output_make(zt_output *o){
  zt_stat s = { .kind = ZT_KIND_MISSING };
  int n = EEXIST;
  for(int i=0; n==EEXIST && i<OUTPUT_TRIES; i++){
    sqlite3_free(o->partial);
    o->partial = output_hidden(o->target);
    if( !o->partial ) return ENOMEM;
    n = zt_os_create(o->partial, o->mode==ZT_OUTPUT_CREATE ? NULL : o->target, &o->unnamed,
                     &o->file);
  }
  if( n==0 ) n = zt_os_fstat(o->file, &s);
  o->id = s.id;
  return n;
}

int zt_output_open(const char *path, const char *target, zt_output_mode mode, bool sync,
                   zt_output **out, zt_error *err){
  zt_output *o = output_new(zt_os_size_limit(), err);
  int n;
  *out = NULL;
  if( !o ) return err->rc;
  o->mode = mode;
  o->sync = sync;
  o->path = sqlite3_mprintf("%s", path);
  if( !o->path ) zt_fail_nomem(err);
  else zt_output_find(target ? target : path, mode, &o->target, err);
  if( o->target && zt_output_check(o->target, err)==SQLITE_OK ){
    o->p = sqlite3_malloc64(ZT_OUTPUT_WINDOW);
    o->capacity = ZT_OUTPUT_WINDOW;
    n = o->p ? output_make(o) : ENOMEM;
    if( n ) output_fail_target("making a file in its directory", n, err);
  }
  if( err->rc ) zt_output_close(o);
  else *out = o;
  return err->rc;
}

int zt_output_open_memory(uint64_t most, zt_output **out, zt_error *err){
  *out = output_new(most, err);
  return err->rc;
}

uint64_t zt_output_size(const zt_output *o){
  return o->written+o->n;
}

/* --- Bytes --- */

/* Fails unless n more bytes may be appended. */
static int output_may_append(zt_output *o, uint64_t n, zt_error *err){
  assert( !o->synced );
  if( n>o->most-zt_output_size(o) ){
    return output_break(o, "writing", o->target ? EFBIG : OUTPUT_TOO_BIG, err);
  }
  return output_usable(o, err);
}

/* Writes bytes that are part of the file, or become its end. */
static int output_write(zt_output *o, uint64_t offset, zt_span bytes, zt_error *err){
  const int n = zt_os_write(o->file, offset, bytes.p, bytes.n);
  if( n ) return output_break(o, "writing", n, err);
  if( offset+bytes.n>o->end ) o->end = offset+bytes.n;
  if( o->end>o->extent ) o->extent = o->end;
  return SQLITE_OK;
}

/* Writes what waits in the window. */
static int output_flush(zt_output *o, zt_error *err){
  if( output_usable(o, err) || o->file<0 || o->n==0 ) return err->rc;
  if( output_write(o, o->written, (zt_span){ o->p, o->n }, err) ) return err->rc;
  o->written += o->n;
  o->n = 0;
  return SQLITE_OK;
}

/* Makes room for n more bytes in memory. */
static int output_grow(zt_output *o, uint64_t n, zt_error *err){
  uint64_t capacity = o->capacity ? o->capacity : OUTPUT_MEMORY_LEAST;
  uint8_t *p;
  if( n<=o->capacity-o->n ) return SQLITE_OK;
  while( capacity<o->n+n ) capacity += capacity/2;
  if( capacity>o->most ) capacity = o->most;
  p = sqlite3_realloc64(o->p, capacity);
  if( !p ) return output_break(o, "writing", ENOMEM, err);
  o->p = p;
  o->capacity = (size_t)capacity;
  return SQLITE_OK;
}

int zt_output_room(zt_output *o, size_t n, uint8_t **p, zt_error *err){
  int rc;
  assert( o->file<0 || n<=ZT_OUTPUT_WINDOW );
  rc = output_may_append(o, n, err);
  if( rc==SQLITE_OK && o->file<0 ) rc = output_grow(o, n, err);
  else if( rc==SQLITE_OK && n>o->capacity-o->n ) rc = output_flush(o, err);
  if( rc==SQLITE_OK ) *p = o->p+o->n;
  return rc;
}

void zt_output_filled(zt_output *o, size_t n){
  assert( n<=o->capacity-o->n );
  o->n += n;
}

int zt_output_append(zt_output *o, zt_span bytes, zt_error *err){
  uint8_t *p;
  if( bytes.n==0 ) return output_usable(o, err);
  if( o->file<0 || bytes.n<OUTPUT_DIRECT ){
    if( zt_output_room(o, bytes.n, &p, err) ) return err->rc;
    memcpy(p, bytes.p, bytes.n);
    zt_output_filled(o, bytes.n);
    return SQLITE_OK;
  }
  if( output_may_append(o, bytes.n, err) || output_flush(o, err)
   || output_write(o, o->written, bytes, err) ) return err->rc;
  o->written += bytes.n;
  return SQLITE_OK;
}

int zt_output_append_zeros(zt_output *o, uint64_t n, zt_error *err){
  uint8_t *p;
  if( output_may_append(o, n, err) || n==0 ) return err->rc;
  if( o->file>=0 && n>=OUTPUT_ZEROS ){
    if( output_flush(o, err) ) return err->rc;
    o->written += n;
    return SQLITE_OK;
  }
  if( zt_output_room(o, (size_t)n, &p, err) ) return err->rc;
  memset(p, 0, (size_t)n);
  zt_output_filled(o, (size_t)n);
  return SQLITE_OK;
}

int zt_output_patch(zt_output *o, uint64_t offset, zt_span bytes, zt_error *err){
  assert( !o->synced && zt_claim(zt_output_size(o), offset, bytes.n) );
  if( output_usable(o, err) || bytes.n==0 ) return err->rc;
  if( offset>=o->written ){
    memcpy(o->p+(offset-o->written), bytes.p, bytes.n);
    return SQLITE_OK;
  }
  if( bytes.n>o->written-offset && output_flush(o, err) ) return err->rc;
  return output_write(o, offset, bytes, err);
}

/* Gives the file that size, if it is another one. */
static int output_resize(zt_output *o, uint64_t size, zt_error *err){
  const int n = o->extent==size ? 0 : zt_os_truncate(o->file, size);
  if( n ) return output_break(o, "writing", n, err);
  o->extent = size;
  if( o->end>size ) o->end = size;
  return SQLITE_OK;
}

int zt_output_expect(zt_output *o, uint64_t size, zt_error *err){
  if( output_usable(o, err) || o->file<0 || size<=o->extent || size>o->most ) return err->rc;
  return output_resize(o, size, err);
}

/* Gives the file all of its bytes, also those of a hole at its end. */
static int output_complete(zt_output *o, zt_error *err){
  if( output_flush(o, err) || o->file<0 ) return err->rc;
  return output_resize(o, o->written, err);
}

int zt_output_read(zt_output *o, uint64_t offset, void *p, size_t n, zt_error *err){
  int error_number = 0;
  assert( zt_claim(zt_output_size(o), offset, n) );
  if( output_usable(o, err) || n==0 ) return err->rc;
  if( offset>=o->written ){
    memcpy(p, o->p+(offset-o->written), n);
    return SQLITE_OK;
  }
  if( offset+n>o->written && output_flush(o, err) ) return err->rc;
  if( offset+n>o->extent && output_complete(o, err) ) return err->rc;
  if( zt_os_read(o->file, offset, p, n, &error_number)==(int64_t)n ) return SQLITE_OK;
  return output_break(o, "reading back", error_number ? error_number : EIO, err);
}

int zt_output_truncate(zt_output *o, uint64_t size, zt_error *err){
  assert( !o->synced && size<=zt_output_size(o) );
  if( output_usable(o, err) ) return err->rc;
  if( size>=o->written ){
    o->n = (size_t)(size-o->written);
    return SQLITE_OK;
  }
  o->n = 0;
  o->written = size;
  return size<o->end ? output_resize(o, size, err) : SQLITE_OK;
}

int zt_output_source(zt_output *o, zt_source **out, zt_error *err){
  zt_file again = -1;
  int n;
  *out = NULL;
  if( output_complete(o, err) ) return err->rc;
  if( o->file<0 ) return zt_source_open_image((zt_span){ o->p, o->n }, out, err);
  n = zt_os_duplicate(o->file, &again);
  if( n ) return output_fail_os("reading back", n, SQLITE_IOERR, err);
  return zt_source_open_file(again, o->target, out, err);
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
  if( output_complete(o, err) ) return err->rc;
  n = o->sync ? zt_os_sync(o->file) : zt_os_flush(o->file);
  if( n ) return output_break(o, "writing", n, err);
  o->synced = true;
  return SQLITE_OK;
}

/* Each of these returns 0 or the errno value. */

/* Puts the new file under the target's name, which must be free. */
static int output_place_new(zt_output *o){
  const int n = o->unnamed ? zt_os_name(o->file, o->target)
                           : zt_os_rename_new(o->partial, o->target);
  if( n ) return n;
  o->unnamed = false;
  sqlite3_free(o->partial);
  o->partial = NULL;
  return 0;
}

/* Gives an unnamed file its hidden name. */
static int output_name_partial(zt_output *o){
  int n = o->unnamed ? zt_os_name(o->file, o->partial) : 0;
  for(int i=1; n==EEXIST && i<OUTPUT_TRIES; i++){
    char *other = output_hidden(o->target);
    if( !other ) return ENOMEM;
    sqlite3_free(o->partial);
    o->partial = other;
    n = zt_os_name(o->file, o->partial);
  }
  if( n==0 ) o->unnamed = false;
  return n;
}

/* Gives the old file a hidden name beside its own. */
static int output_link_old(zt_output *o){
  int n = EEXIST;
  for(int i=0; n==EEXIST && i<OUTPUT_TRIES; i++){
    char *old = output_hidden(o->target);
    if( !old ) return ENOMEM;
    n = zt_os_link(o->target, old);
    if( n==0 ) o->old = old;
    else sqlite3_free(old);
  }
  return n;
}

/* Takes a hidden name from the disk, and forgets it. */
static void output_remove(char **name){
  if( *name ) zt_os_remove(*name);
  sqlite3_free(*name);
  *name = NULL;
}

/* Whether the file that is being replaced is a regular one: another process may have put something
** else there since the target was examined. */
static int output_examine_old(const zt_output *o, zt_kind *kind){
  zt_stat s;
  const int n = zt_os_stat(o->old, &s);
  *kind = s.kind;
  return n;
}

/* Replaces the target by hard links: *kind is that of the old file. */
static int output_place_by_link(zt_output *o, zt_kind *kind){
  int n = output_link_old(o);
  if( n==0 ) n = output_examine_old(o, kind);
  if( n==0 && *kind==ZT_KIND_FILE ) n = zt_os_rename(o->partial, o->target);
  if( n==0 && *kind==ZT_KIND_FILE ){
    sqlite3_free(o->partial);
    o->partial = NULL;
  }else{
    output_remove(&o->old);
  }
  return n;
}

/* Replaces the target in one instant. */
static int output_place_over(zt_output *o, zt_kind *kind){
  int n = output_name_partial(o);
  if( n ) return n;
  n = zt_os_exchange(o->partial, o->target);
  if( n==ENOTSUP ) return output_place_by_link(o, kind);
  if( n ) return n;
  o->old = o->partial;
  n = output_examine_old(o, kind);
  if( n==0 && *kind==ZT_KIND_FILE ){
    o->partial = NULL;
    return 0;
  }
  o->old = NULL;
  if( zt_os_exchange(o->partial, o->target)==0 ) return n;
  o->old = o->partial;   /* The target is the new file, and stays it */
  o->partial = NULL;
  *kind = ZT_KIND_FILE;
  return 0;
}

/* Puts the old file back, or nothing if there was none. A file that another process has put into
** the target's place since then stays. */
static int output_put_back(zt_output *o){
  zt_stat there;
  int n = zt_os_stat(o->target, &there);
  if( n && !zt_os_absent(n) ) return n;
  if( n==0 && o->id.device==there.id.device && o->id.inode==there.id.inode ){
    n = o->old ? zt_os_rename(o->old, o->target) : zt_os_remove(o->target);
  }else{
    n = o->old ? zt_os_remove(o->old) : 0;
  }
  return n;
}

int zt_output_undo(zt_output *o, zt_error *err){
  char buffer[ZT_OS_MESSAGE];
  int n;
  if( !o->placed ) return SQLITE_OK;
  o->placed = false;
  n = output_put_back(o);
  if( n && o->old ){
    zt_fail(err, SQLITE_IOERR, "putting the old file back: %s; it is %s",
            zt_os_message(n, buffer), o->old);
  }else if( n ){
    output_fail_os("removing the new file", n, SQLITE_IOERR, err);
  }else if( o->sync && (n = zt_os_sync_directory(o->target))!=0 ){
    output_fail_os("writing its directory", n, SQLITE_IOERR, err);
  }
  sqlite3_free(o->old);
  o->old = NULL;
  return err->rc;
}

/* Says on the disk that the file is placed; else undoes that, and says why. */
static int output_settle(zt_output *o, zt_error *err){
  const int n = o->sync ? zt_os_sync_directory(o->target) : 0;
  o->placed = true;
  if( n==0 ) return SQLITE_OK;
  zt_output_undo(o, err);   /* A failure of this tells more */
  return output_break(o, "writing its directory", n, err);
}

zt_file zt_output_hold(const zt_output *o, const zt_interrupt *interrupt, zt_error *err){
  return zt_os_hold_directory(o->target, interrupt, err);
}

int zt_output_place(zt_output *o, zt_error *err){
  zt_kind kind = ZT_KIND_FILE;
  int n = ENOENT;
  assert( !o->placed && o->file>=0 );
  if( o->synced ? output_usable(o, err) : zt_output_sync(o, err) ) return err->rc;
  for(int i=0; n==ENOENT && i<OUTPUT_TRIES; i++){
    n = output_place_new(o);
    if( n!=EEXIST || o->mode==ZT_OUTPUT_CREATE ) break;
    n = output_place_over(o, &kind);   /* ENOENT: the target has gone meanwhile */
  }
  if( n==EEXIST ) return output_fail_exists(err);
  if( n ) return output_break(o, "naming the file", n, err);
  if( kind!=ZT_KIND_FILE ) return output_fail_kind(kind, err);
  return output_settle(o, err);
}

void zt_output_keep(zt_output *o){
  output_remove(&o->old);
  o->placed = false;
}

void zt_output_close(zt_output *o){
  zt_error undone = ZT_ERROR_NONE;
  if( !o ) return;
  if( o->placed ) zt_output_undo(o, &undone);
  zt_error_clear(&undone);
  if( o->file>=0 && !o->unnamed ) output_remove(&o->partial);
  zt_os_close(o->file);
  sqlite3_free(o->path);
  sqlite3_free(o->target);
  sqlite3_free(o->partial);
  sqlite3_free(o->old);
  sqlite3_free(o->p);
  sqlite3_free(o);
}
