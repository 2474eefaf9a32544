/* What a source argument names. See paths.h. */
#include "core/paths.h"

#include <errno.h>
#include <stdlib.h>
#include "core/host.h"
#include "core/json.h"
#include "core/list.h"
#include "core/sort.h"

#define PATHS_POLL 256   /* Entries of directories between two questions whether to go on */
#define PATHS_ABOVE_MAX 128   /* Directories above a pattern's first one that are looked at,
                              ** for cycles */

/* A directory that the walk goes through. */
typedef struct paths_level {
  const struct paths_level *parent;
  uint64_t device, inode;
} paths_level;

/* A directory that a link led to, and the rest of the pattern that was tried there. */
typedef struct paths_link_place {
  uint64_t device, inode;
  const char *pattern;
} paths_link_place;

/* One name in a directory. */
typedef struct paths_entry {
  char *name;
  zt_kind kind;        /* ZT_KIND_UNKNOWN until somebody needs to know */
} paths_entry;

typedef struct paths_entries {
  paths_entry *a;
  size_t n;
  bool loaded;
  bool listed;         /* The directory has them; else the only path wanted does */
} paths_entries;

/* A walk over directories. */
typedef struct paths_walker {
  const zt_paths_filter *filter;
  char *path;                /* The path so far; owned */
  size_t n, capacity;
  char separator;            /* Between the names that are found: the source's last, a slash if it
                             ** has none */
  zt_paths *out;
  size_t room;               /* Allocated members of out->a */
  paths_link_place *links;   /* Directories entered through a symbolic link: each once for what
                             ** follows in the pattern, or a farm of links has no end. Owned */
  size_t nLinks;
  const char *files;         /* Names of the files that are wanted, as in the filter; NULL: any */
  size_t nSource;            /* Length of the source's path, if that is a directory: it was there,
                             ** and must be; else 0 */
  unsigned steps;            /* For questions whether to go on */
  zt_error *err;
} paths_walker;

static void paths_walk(paths_walker *w, const paths_level *parent, const char *pattern);

/* --- The path so far --- */

/* Append name, with a separator before it where one is needed. Returns the length before,
** for truncate(). */
static size_t paths_push(paths_walker *w, const char *name, size_t n){
  size_t before = w->n;
  size_t need = before + 1 + n + 1;
  if( !w->path || need>w->capacity ){
    char *path = sqlite3_realloc64(w->path, need*2);
    if( !path ){
      zt_fail_nomem(w->err);
      return before;
    }
    w->path = path;
    w->capacity = need*2;
  }
  if( w->n>0 && !zt_is_separator(w->path[w->n-1]) ) w->path[w->n++] = w->separator;
  if( n>0 ) memcpy(w->path+w->n, name, n);
  w->n += n;
  w->path[w->n] = 0;
  return before;
}

static void paths_truncate_to(paths_walker *w, size_t n){
  w->n = n;
  if( w->path ) w->path[n] = 0;
}

static const char *paths_directory(const paths_walker *w){
  return w->n>0 ? w->path : ".";
}

/* --- Results --- */

/* Add a copy of the path to the results, with what is known of it. */
static void paths_append(paths_walker *w, const char *found, zt_path as){
  if( w->err->rc ) return;
  if( w->out->n==ZT_PATHS_MAX ){
    zt_fail(w->err, SQLITE_TOOBIG, "the source has more than %d paths", ZT_PATHS_MAX);
    return;
  }
  if( w->out->n==w->room ){
    size_t room = w->room ? w->room*2 : 16;
    zt_path *a = sqlite3_realloc64(w->out->a, room*sizeof(*a));
    if( !a ){
      zt_fail_nomem(w->err);
      return;
    }
    w->out->a = a;
    w->room = room;
  }
  as.z = sqlite3_mprintf("%s", found);
  if( as.z ) w->out->a[w->out->n++] = as;
  else zt_fail_nomem(w->err);
}

/* The same, if the filter wants it. */
static void paths_add_path(paths_walker *w, const char *found, zt_path as){
  const zt_paths_filter *f = w->filter;
  if( f->only && strcmp(f->only, found)!=0 ) return;
  if( !f->keep || f->keep(f->context, found) ) paths_append(w, found, as);
}

static void paths_add_found(paths_walker *w, const char *found, bool regular){
  paths_add_path(w, found, (zt_path){ .regular = regular });
}

bool zt_path_is_below(const char *path, const char *above){
  size_t n = strlen(above);
  if( strcmp(above, ".")==0 && !(path[0]=='.' && zt_is_separator(path[1])) ){
    return !zt_is_separator(*path);
  }
  return n>0 && strncmp(path, above, n)==0
      && (zt_is_separator(above[n-1]) || zt_is_separator(path[n]));
}

/* Whether there are results at that path, or below it, cannot be told: nor of the only one wanted,
** if it leads there. */
static void paths_add_failed(paths_walker *w, const char *found, const char *action,
                             int error_number){
  const char *only = w->filter->only;
  if( error_number==ENOMEM ) zt_fail_nomem(w->err);   /* Whatever the filter says */
  if( only && zt_path_is_below(only, found) ){
    found = only;
    action = "open";
  }
  paths_add_path(w, found, (zt_path){ .error_number = error_number, .action = action });
}

/* --- The names in a directory --- */

/* True if the error means that no path leads to anything. */
static bool paths_absent(int error_number){
  return zt_os_absent(error_number) || error_number==ENAMETOOLONG;
}

/* True if there is no directory at the path so far; the one that the source names must be there. */
static bool paths_is_absent(const paths_walker *w, int error_number){
  return paths_absent(error_number) && (w->nSource==0 || w->n!=w->nSource);
}

/* True if the walk shall go on. */
static bool paths_go_on(paths_walker *w){
  if( ++w->steps%PATHS_POLL==0 ) zt_interrupt_check(&w->filter->interrupt, w->err);
  return w->err->rc==SQLITE_OK;
}

/* Add the path so far: a directory that cannot be listed, or not all of it. */
static void paths_add_unlisted(paths_walker *w, int error_number){
  paths_add_failed(w, paths_directory(w), "list the directory", error_number);
}

static int paths_compare_entries(const void *a, const void *b){
  return strcmp(((const paths_entry*)a)->name, ((const paths_entry*)b)->name);
}

static void paths_entries_clear(paths_entries *e){
  for(size_t i=0; i<e->n; i++) sqlite3_free(e->a[i].name);
  sqlite3_free(e->a);
  *e = (paths_entries){ 0 };
}

static void paths_entries_add(paths_entries *e, size_t *room, const char *name, size_t n,
                              zt_kind kind, zt_error *err){
  if( e->n==*room ){
    size_t more = *room ? *room*2 : 32;
    paths_entry *a = sqlite3_realloc64(e->a, more*sizeof(*a));
    if( !a ){
      zt_fail_nomem(err);
      return;
    }
    e->a = a;
    *room = more;
  }
  e->a[e->n].name = sqlite3_malloc64(n+1);
  if( !e->a[e->n].name ){
    zt_fail_nomem(err);
    return;
  }
  memcpy(e->a[e->n].name, name, n);
  e->a[e->n].name[n] = 0;
  e->a[e->n].kind = kind;
  e->n++;
}

/* The one name of the directory that leads to the only path wanted. */
static void paths_entries_only(paths_walker *w, paths_entries *e){
  const char *only = w->filter->only;
  size_t room = 0, n;
  if( w->n>0 && strncmp(only, w->path, w->n)!=0 ) return;
  only += w->n;
  if( w->n>0 && !zt_is_separator(w->path[w->n-1]) && *only++!=w->separator ) return;
  n = strcspn(only, ZT_SEPARATORS);
  if( n>0 ) paths_entries_add(e, &room, only, n, ZT_KIND_UNKNOWN, w->err);
}

/* Read the directory, once. One that cannot be read, or not to its end, is a result of its own. */
static void paths_entries_load(paths_walker *w, paths_entries *e){
  zt_directory *d;
  const char *name;
  zt_kind kind;
  size_t room = 0;
  int error_number = 0;
  bool links = false;
  if( e->loaded || zt_interrupt_check(&w->filter->interrupt, w->err) ) return;
  e->loaded = true;
  /* The path wanted may be a directory that cannot be read */
  if( w->filter->only && strcmp(w->filter->only, paths_directory(w))!=0 ){
    paths_entries_only(w, e);
    return;
  }
  d = zt_os_opendir(paths_directory(w), &error_number);
  e->listed = true;
  while( d && paths_go_on(w) && (name = zt_os_readdir(d, &kind, &error_number))!=NULL ){
    if( kind==ZT_KIND_UNKNOWN ) links = true;
    paths_entries_add(e, &room, name, strlen(name), kind, w->err);
  }
  zt_os_closedir(d);
  if( error_number && !paths_is_absent(w, error_number) ) paths_add_unlisted(w, error_number);
  /* Of several links to one directory the first is followed: let that not depend on the
  ** file system. */
  if( links && e->n>1 ) qsort(e->a, e->n, sizeof(*e->a), paths_compare_entries);
}

/* --- The walk --- */

/* True if this directory was entered through a symbolic link with that rest of the pattern before;
** else it is noted. */
static bool paths_entered_before(paths_walker *w, const paths_level *here, const char *pattern){
  for(size_t i=0; i<w->nLinks; i++){
    const paths_link_place *l = &w->links[i];
    if( l->device==here->device && l->inode==here->inode && l->pattern==pattern ) return true;
  }
  if( (w->nLinks & (w->nLinks-1))==0 ){   /* The room doubles at powers of two */
    paths_link_place *links = sqlite3_realloc64(w->links,
                                                (w->nLinks ? w->nLinks*2 : 1)*sizeof(*links));
    if( !links ){
      zt_fail_nomem(w->err);
      return true;
    }
    w->links = links;
  }
  w->links[w->nLinks++] = (paths_link_place){ here->device, here->inode, pattern };
  return false;
}

/* How a step of the path came about: by the name of a directory, which may be a symbolic link, or
** by a dot or two of the pattern's, which lead back because they are told to. */
typedef enum paths_step { PATHS_STEP_NAME, PATHS_STEP_LINK, PATHS_STEP_DOTS } paths_step;

/* Go on below the path so far if it is a directory that the path does not go through already, or
** goes back to. Returns what the system says of the path: 0, or the errno value. */
static int paths_descend(paths_walker *w, const paths_level *parent, paths_step how,
                         const char *pattern){
  paths_level here = { .parent = parent };
  zt_stat s;
  int error_number = zt_os_stat(paths_directory(w), &s);
  if( error_number && !paths_absent(error_number) ) paths_add_unlisted(w, error_number);
  if( error_number || s.kind!=ZT_KIND_DIRECTORY ) return error_number;
  here.device = s.id.device;
  here.inode = s.id.inode;
  for(const paths_level *p=parent; p; p=p->parent){
    if( p->device!=here.device || p->inode!=here.inode ) continue;
    if( how==PATHS_STEP_DOTS ) paths_walk(w, p, pattern);
    return 0;
  }
  if( how!=PATHS_STEP_LINK || !paths_entered_before(w, &here, pattern) ){
    paths_walk(w, &here, pattern);
  }
  return 0;
}

static bool paths_is_any_depth(const char *segment, size_t n){
  return n==2 && segment[0]=='*' && segment[1]=='*';
}

/* The names that a directory does not list. */
static bool paths_is_dots(const char *segment, size_t n){
  return segment[0]=='.' && (n==1 || (n==2 && segment[1]=='.'));
}

static const char *paths_after(const char *segment, size_t n){
  segment += n;
  while( zt_is_separator(*segment) ) segment++;
  return segment;
}

/* The path so far is a result, if there is such a file and it is no directory, or if that cannot be
** told. told: what the directory says that it is. Returns what the system says of the path: 0, or
** the errno value. */
static int paths_add_if_file(paths_walker *w, zt_kind told){
  zt_stat s = { .kind = told };
  int error_number = told==ZT_KIND_UNKNOWN ? zt_os_stat(w->path, &s) : 0;
  if( s.kind==ZT_KIND_DIRECTORY ) return 0;
  /* A link to nowhere is a result */
  if( zt_os_absent(error_number) ) error_number = zt_os_exists(w->path);
  if( error_number==0 ) paths_add_found(w, w->path, told==ZT_KIND_FILE);
  else if( !paths_absent(error_number) ) paths_add_failed(w, w->path, "open", error_number);
  return error_number;
}

/* True if a name matches one of the patterns of the files that are wanted. */
static bool paths_is_wanted(const paths_walker *w, const char *name){
  const char *p = w->files;
  for(size_t n; p && *p; p+=n+(p[n]==' ')){
    n = strcspn(p, " ");
    if( zt_glob_match(p, n, name) ) return true;
  }
  return p==NULL;
}

/* Try the segment of n bytes on each name in the directory. next is the rest of the pattern;
** repeat, if not NULL, is the pattern that goes on in every directory below (what `**` stands in
** front of). A name that is there, and whose path is too long, is one that the directory cannot be
** listed for. */
static void paths_try_names(paths_walker *w, const paths_level *here, paths_entries *e,
                            const char *segment, size_t n, const char *next){
  paths_step link = w->filter->only ? PATHS_STEP_NAME : PATHS_STEP_LINK;
  for(size_t i=0; i<e->n && paths_go_on(w); i++){
    const char *name = e->a[i].name;
    zt_kind kind = e->a[i].kind;
    size_t before;
    int error_number = 0;
    if( (name[0]=='.' && segment[0]!='.') || (*next && kind==ZT_KIND_FILE) ) continue;
    if( !zt_glob_match(segment, n, name) || (!*next && !paths_is_wanted(w, name)) ) continue;
    before = paths_push(w, name, strlen(name));
    if( w->err->rc ) return;
    if( !*next ) error_number = paths_add_if_file(w, kind);
    else if( kind==ZT_KIND_DIRECTORY ) error_number = paths_descend(w, here, PATHS_STEP_NAME, next);
    else if( kind==ZT_KIND_UNKNOWN ) error_number = paths_descend(w, here, link, next);
    paths_truncate_to(w, before);
    if( error_number==ENAMETOOLONG && e->listed ) paths_add_unlisted(w, error_number);
  }
}

/* `**`, the pattern's next segment: the rest of it here, and all of it in every directory below. */
static void paths_any_depth(paths_walker *w, const paths_level *here, paths_entries *e,
                            const char *pattern){
  const char *rest = paths_after(pattern, 2);
  size_t n = strcspn(rest, ZT_SEPARATORS);
  /* Twice any depth is any depth */
  while( paths_is_any_depth(rest, n) && zt_is_separator(rest[n]) ){
    pattern = rest;
    rest = paths_after(rest, n);
    n = strcspn(rest, ZT_SEPARATORS);
  }
  if( !*rest ) paths_try_names(w, here, e, "*", 1, "");
  else if( zt_glob_is_pattern(rest) && !paths_is_any_depth(rest, n) && !paths_is_dots(rest, n) ){
    paths_try_names(w, here, e, rest, n, paths_after(rest, n));
  }else{
    paths_walk(w, here, rest);
  }
  paths_try_names(w, here, e, "*", 1, pattern);
}

/* A segment without a pattern's characters. */
static void paths_named(paths_walker *w, const paths_level *here, const char *segment, size_t n,
                        const char *next){
  size_t before = paths_push(w, segment, n);
  if( w->err->rc ) return;
  if( *next ){
    paths_descend(w, here, paths_is_dots(segment, n) ? PATHS_STEP_DOTS : PATHS_STEP_NAME, next);
  }else{
    paths_add_if_file(w, ZT_KIND_UNKNOWN);
  }
  paths_truncate_to(w, before);
}

/* Find what the pattern names below the path so far, which is the directory `here`. */
static void paths_walk(paths_walker *w, const paths_level *here, const char *pattern){
  size_t n = strcspn(pattern, ZT_SEPARATORS);
  const char *next = paths_after(pattern, n);
  bool any = paths_is_any_depth(pattern, n);
  paths_entries e = { 0 };
  if( w->err->rc ) return;
  if( !any && strcspn(pattern, "*?[")>=n ){
    paths_named(w, here, pattern, n, next);
    return;
  }
  paths_entries_load(w, &e);
  if( any ) paths_any_depth(w, here, &e, pattern);
  else paths_try_names(w, here, &e, pattern, n, next);
  paths_entries_clear(&e);
}

/* Walk from the path so far on. The directories above it count as gone through, too: a link to one
** of them is a cycle. They end where we may not look, or at a name too long. */
static void paths_walk_from_base(paths_walker *w, const char *pattern){
  paths_level above[PATHS_ABOVE_MAX];
  size_t n = w->n, i;
  int error_number = 0;
  zt_stat s;
  for(i=0; i<PATHS_ABOVE_MAX && !w->err->rc; i++){
    error_number = zt_os_stat(paths_directory(w), &s);
    if( !error_number && s.kind!=ZT_KIND_DIRECTORY ) error_number = ENOTDIR;
    if( error_number ) break;
    above[i] = (paths_level){ .device = s.id.device, .inode = s.id.inode };
    /* The root */
    if( i>0 && above[i].device==above[i-1].device && above[i].inode==above[i-1].inode ) break;
    if( i>0 ) above[i-1].parent = &above[i];
    paths_push(w, "..", 2);
  }
  paths_truncate_to(w, n);
  if( i>0 && (paths_absent(error_number) || error_number==EACCES) ) error_number = 0;
  if( error_number && !paths_is_absent(w, error_number) ) paths_add_unlisted(w, error_number);
  else if( i>0 ) paths_walk(w, &above[0], pattern);
}

static int paths_compare(const void *unused, const void *a, const void *b){
  (void)unused;
  return strcmp(((const zt_path*)a)->z, ((const zt_path*)b)->z);
}

/* Sort the paths from that one on, and drop what two ways through the pattern found twice. */
static void paths_sort(paths_walker *w, size_t from){
  const zt_sort_by by = {
    .size = sizeof(zt_path), .compare = paths_compare, .interrupt = &w->filter->interrupt
  };
  zt_paths *p = w->out;
  size_t n = from;
  if( p->n==from ) return;
  zt_sort(p->a+from, p->n-from, &by, w->err);
  for(size_t i=from+1; i<p->n; i++){
    if( strcmp(p->a[n].z, p->a[i].z)==0 ) sqlite3_free(p->a[i].z);
    else p->a[++n] = p->a[i];
  }
  p->n = n+1;
}

int zt_paths_sort(zt_paths *p, const zt_interrupt *interrupt, zt_error *err){
  zt_paths_filter filter = { .interrupt = *interrupt };
  paths_walker w = { .filter = &filter, .out = p, .err = err };
  if( !p->sorted ) paths_sort(&w, 0);
  p->sorted = err->rc==SQLITE_OK;
  return err->rc;
}

static bool paths_ascend(const zt_paths *p){
  for(size_t i=1; i<p->n; i++) if( strcmp(p->a[i-1].z, p->a[i].z)>=0 ) return false;
  return true;
}

/* Where a path stands. */
typedef struct paths_place {
  char *z;
  size_t i;
} paths_place;

static int paths_compare_places(const void *a, const void *b){
  const paths_place *x = a, *y = b;
  int c = strcmp(x->z, y->z);
  return c ? c : (x->i>y->i) - (x->i<y->i);
}

/* Keep each path at its first place alone. */
static void paths_drop_repeated(zt_paths *p, zt_error *err){
  paths_place *places = sqlite3_malloc64(p->n*sizeof(*places));
  size_t n = 0;
  if( !places ){
    zt_fail_nomem(err);
    return;
  }
  for(size_t i=0; i<p->n; i++) places[i] = (paths_place){ p->a[i].z, i };
  qsort(places, p->n, sizeof(*places), paths_compare_places);
  for(size_t i=1; i<p->n; i++){
    if( strcmp(places[i-1].z, places[i].z)==0 ) p->a[places[i].i].z = NULL;
  }
  for(size_t i=1; i<p->n; i++){
    if( !p->a[places[i].i].z ) sqlite3_free(places[i].z);
  }
  for(size_t i=0; i<p->n; i++) if( p->a[i].z ) p->a[n++] = p->a[i];
  p->n = n;
  sqlite3_free(places);
}

void zt_paths_clear(zt_paths *p){
  for(size_t i=0; i<p->n; i++) sqlite3_free(p->a[i].z);
  sqlite3_free(p->a);
  *p = (zt_paths){ 0 };
}

static char paths_separator_of(const char *source){
  const char *name = zt_path_name(source);
  if( name>source ) return name[-1];
  return '/';
}

static void paths_expand(paths_walker *w, const char *base, size_t nBase, const char *pattern){
  size_t from = w->out->n;
  w->separator = paths_separator_of(base);
  w->nLinks = 0;   /* Those are by place in the pattern, and this one is another */
  paths_truncate_to(w, 0);
  paths_push(w, base, nBase);
  if( !w->err->rc ) paths_walk_from_base(w, pattern);
  paths_sort(w, from);
}

/* --- Sources --- */

/* The local path of a file: URI (RFC 8089), in memory of its own. */
static char *paths_path_from_uri(const char *uri, zt_error *err){
  const char *p = uri + strlen("file:");
  char *path, *w;
  if( p[0]=='/' && p[1]=='/' ){
    p += 2;
    if( sqlite3_strnicmp(p, "localhost/", 10)==0 ) p += 9;
    if( *p!='/' ){
      zt_fail(err, SQLITE_ERROR, "a file: URI with a host other than localhost");
      return NULL;
    }
  }
  path = w = sqlite3_malloc64(strlen(p)+1);
  if( !path ) zt_fail_nomem(err);
  for(; path && *p; p++){
    int hi = *p=='%' ? zt_hex_digit(p[1]) : 0;
    int lo = *p=='%' && hi>=0 ? zt_hex_digit(p[2]) : 0;
    if( *p=='?' || *p=='#' || hi<0 || lo<0 || (*p=='%' && hi==0 && lo==0) ){
      zt_fail(err, SQLITE_ERROR,
              *p=='%' ? "a file: URI with a bad percent-encoding"
              : "a file: URI with a query or fragment");
      sqlite3_free(path);
      return NULL;
    }
    if( *p=='%' ){
      *w++ = (char)(hi*16+lo);
      p += 2;
    }else{
      *w++ = *p;
    }
  }
  if( path ){
    *w = 0;
    zt_os_from_uri(path);
  }
  return path;
}

/* The path that `~` or `~/...` stands for, in memory of its own. *fixed: how much of it is the home
** directory's. */
static char *paths_from_home(const char *source, size_t *fixed, zt_error *err){
  char *home = zt_os_home(err), *path;
  size_t n = home ? strlen(home) : 0;
  if( !home || !source[1] ){
    *fixed = n;
    return home;
  }
  while( n>0 && zt_is_separator(home[n-1]) ) n--;
  path = sqlite3_mprintf("%.*s%s", (int)n, home, source+1);
  if( !path ) zt_fail_nomem(err);
  *fixed = n;
  sqlite3_free(home);
  return path;
}

typedef enum paths_source_kind {
  PATHS_SOURCE_FAILED, PATHS_SOURCE_LITERAL, PATHS_SOURCE_DIRECTORY, PATHS_SOURCE_PATTERN,
  PATHS_SOURCE_LIST
} paths_source_kind;

/* What a source text is, once. */
typedef struct paths_source {
  const char *path;    /* The path, pattern or list that it stands for: the text itself, or */
  char *owned;
  size_t fixed;        /* Bytes at its beginning that are no pattern, whatever they look like */
  zt_stat stat;
  bool missing;        /* A literal path, and nothing is there: */
  int error_number;    /* Of one: not 0 if it cannot be told what it leads to, and why */
} paths_source;

static paths_source_kind paths_classify(paths_source *s, zt_error *err){
  int error_number = zt_os_stat(s->path, &s->stat);
  /* Which is so of many a pattern */
  bool denied = error_number==EACCES || error_number==ENAMETOOLONG;
  s->error_number = error_number;
  if( error_number==0 ){
    return s->stat.kind==ZT_KIND_DIRECTORY ? PATHS_SOURCE_DIRECTORY : PATHS_SOURCE_LITERAL;
  }
  if( zt_os_exists(s->path)==0 ) return PATHS_SOURCE_LITERAL;
  if( !s->owned ){
    bool home = s->path[0]=='~' && (!s->path[1] || zt_is_separator(s->path[1]));
    if( home ) s->owned = paths_from_home(s->path, &s->fixed, err);
    else if( sqlite3_strnicmp(s->path, "file:", 5)==0 ){
      s->owned = paths_path_from_uri(s->path, err);
    }else if( zt_list_is(s->path) ){
      return PATHS_SOURCE_LIST;
    }
    if( err->rc ) return PATHS_SOURCE_FAILED;
    if( s->owned ){
      s->path = s->owned;
      return paths_classify(s, err);
    }
  }
  if( denied || zt_os_absent(error_number) ){
    if( zt_glob_is_pattern(s->path+s->fixed) ) return PATHS_SOURCE_PATTERN;
  }
  s->missing = paths_absent(error_number);
  return PATHS_SOURCE_LITERAL;
}

/* Add the path that the source names. If nothing is there, nobody can tell whether it was to be a
** file or a directory with the wanted ones in it, so no filter hides that. Where it cannot be told
** what is there, it may be such a directory. */
static void paths_add_literal(paths_walker *w, const paths_source *s){
  zt_path as = { .literal = true, .error_number = s->error_number, .action = "open" };
  const char *only = w->filter->only;
  bool above = s->error_number!=0 && only && zt_path_is_below(only, s->path);
  as.regular = s->stat.kind==ZT_KIND_FILE;
  if( s->error_number==ENOMEM ) zt_fail_nomem(w->err);   /* Whatever the filter says */
  else if( s->missing ) paths_append(w, s->path, as);
  else if( above ) paths_add_failed(w, s->path, "open", s->error_number);
  else paths_add_path(w, s->path, as);
}

static void paths_add_directory(paths_walker *w, const char *path){
  w->nSource = strlen(path);
  w->files = w->filter->files;
  paths_expand(w, path, w->nSource, "**/*");
  w->files = NULL;
}

/* The walk begins where the last name ends that has no pattern in or before it. */
static void paths_add_pattern(paths_walker *w, const paths_source *s){
  size_t n = s->fixed + strcspn(s->path+s->fixed, "*?[");
  while( n>0 && !zt_is_separator(s->path[n-1]) ) n--;
  w->nSource = 0;
  paths_expand(w, s->path, n, s->path+n);
}

static void paths_add_list(paths_walker *w, const char *text);

static void paths_fail_nested(zt_error *err){
  zt_fail(err, SQLITE_ERROR, "a list of sources is no element of one");
}

/* Add what a source names, or an element of one. */
static void paths_add(paths_walker *w, const char *text, bool element){
  paths_source s = { .path = text };
  switch( paths_classify(&s, w->err) ){
    case PATHS_SOURCE_LITERAL:
      w->out->literal = !element;
      w->out->stat = s.stat;
      paths_add_literal(w, &s);
      break;
    case PATHS_SOURCE_DIRECTORY:
      paths_add_directory(w, s.path);
      break;
    case PATHS_SOURCE_PATTERN:
      paths_add_pattern(w, &s);
      break;
    case PATHS_SOURCE_LIST:
      if( element ) paths_fail_nested(w->err);
      else paths_add_list(w, text);
      break;
    case PATHS_SOURCE_FAILED:
      break;
  }
  sqlite3_free(s.owned);
}

/* Add what the elements name, one after the other. A failure is the query's: its place is the
** element, and no file. */
static void paths_add_list(paths_walker *w, const char *text){
  const char *before = w->err->path;
  zt_list list;
  char *element;
  w->err->path = NULL;
  zt_list_init(&list, text, w->err);
  while( !w->err->rc && zt_list_next(&list, &element) ){
    w->err->path = element;
    if( !zt_interrupt_check(&w->filter->interrupt, w->err) ) paths_add(w, element, true);
    w->err->path = NULL;
    sqlite3_free(element);
  }
  if( w->err->rc ) return;
  w->err->path = before;
  w->out->sorted = paths_ascend(w->out);
  if( w->out->sorted ) return;
  paths_drop_repeated(w->out, w->err);
  w->out->sorted = paths_ascend(w->out);
}

int zt_paths_find(const char *source, const zt_paths_filter *filter, zt_paths *out, zt_error *err){
  paths_walker w = { .filter = filter, .out = out, .err = err };
  *out = (zt_paths){ .sorted = true };
  paths_add(&w, source, false);
  sqlite3_free(w.path);
  sqlite3_free(w.links);
  if( err->rc ) zt_paths_clear(out);
  return err->rc;
}

int zt_paths_one(const char *source, char **out, zt_stat *stat, zt_error *err){
  static const char refused[] = "no such file; a function takes exactly one file, not a %s";
  paths_source s = { .path = source };
  *out = NULL;
  switch( paths_classify(&s, err) ){
    case PATHS_SOURCE_LITERAL:     /* Opening it says what is wrong, */
    case PATHS_SOURCE_DIRECTORY:   /* and what it is */
      *out = s.owned ? s.owned : sqlite3_mprintf("%s", source);
      s.owned = NULL;
      if( !*out ) zt_fail_nomem(err);
      break;
    case PATHS_SOURCE_PATTERN:
      zt_fail(err, SQLITE_ERROR, refused, "pattern");
      break;
    case PATHS_SOURCE_LIST:
      zt_fail(err, SQLITE_ERROR, refused, "list");
      break;
    case PATHS_SOURCE_FAILED:
      break;
  }
  *stat = s.stat;
  sqlite3_free(s.owned);
  return err->rc;
}

/* --- The same source from everywhere --- */

/* Append the one path of a directory, which n bytes name. As it stands, below the directory of the
** process, if nobody finds it. */
static void paths_put_directory(sqlite3_str *out, const char *z, size_t n, zt_error *err){
  char *directory = sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? z : "."), *found = NULL;
  int error_number = 0;
  if( directory ) found = zt_os_resolve(directory, &error_number);
  if( found ){
    sqlite3_str_appendall(out, found);
  }else if( error_number==0 ){
    zt_fail_nomem(err);
  }else if( !paths_absent(error_number) ){
    zt_fail_os(err, "open", error_number);
  }else{
    if( !zt_is_separator(*z) && (found = zt_os_resolve(".", &error_number))!=NULL ){
      sqlite3_str_appendf(out, "%s/", found);
    }
    sqlite3_str_append(out, z, (int)n);
  }
  sqlite3_free(found);
  sqlite3_free(directory);
}

/* Append a separator where none is yet, and a name or more. */
static void paths_put_rest(sqlite3_str *out, const char *rest){
  const int n = sqlite3_str_length(out);
  const char *z = sqlite3_str_value(out);
  if( !z || !zt_is_separator(z[n-1]) ) sqlite3_str_append(out, "/", 1);
  sqlite3_str_appendall(out, rest);
}

/* Append what is a pattern's beginning and none itself. */
static void paths_put_escaped(sqlite3_str *out, char *path){
  for(const char *z=path; z && *z; z++){
    if( strchr("*?[", *z) ) sqlite3_str_appendf(out, "[%c]", *z);
    else sqlite3_str_append(out, z, 1);
  }
  sqlite3_free(path);
}

/* Append a path, the last name of which stays: it may be a link. */
static void paths_put_path(sqlite3_str *out, const char *path, zt_error *err){
  const char *name = zt_path_name(path);
  if( !*path ){
    zt_fail_os(err, "open", ENOENT);   /* As whoever opens it says: no file, and no directory */
    return;
  }
  paths_put_directory(out, path, (size_t)(name-path), err);
  paths_put_rest(out, name);
}

static void paths_put_pattern(sqlite3_str *out, const paths_source *s, zt_error *err){
  size_t n = s->fixed + strcspn(s->path+s->fixed, "*?[");
  sqlite3_str *directory = sqlite3_str_new(NULL);
  char *base;
  while( n>0 && !zt_is_separator(s->path[n-1]) ) n--;
  paths_put_directory(directory, s->path, n, err);
  base = sqlite3_str_finish(directory);
  if( !base ) zt_fail_nomem(err);   /* No directory has an empty path */
  paths_put_escaped(out, base);
  paths_put_rest(out, s->path+n);
}

static void paths_put_list(sqlite3_str *out, const char *text, zt_error *err);

static void paths_put(sqlite3_str *out, const char *text, bool element, zt_error *err){
  paths_source s = { .path = text };
  switch( paths_classify(&s, err) ){
    case PATHS_SOURCE_LITERAL:   paths_put_path(out, s.path, err); break;
    case PATHS_SOURCE_DIRECTORY: paths_put_directory(out, s.path, strlen(s.path), err); break;
    case PATHS_SOURCE_PATTERN:   paths_put_pattern(out, &s, err); break;
    case PATHS_SOURCE_LIST:
      if( element ) paths_fail_nested(err);
      else paths_put_list(out, text, err);
      break;
    case PATHS_SOURCE_FAILED:    break;
  }
  sqlite3_free(s.owned);
}

/* Append an element as JSON text. */
static void paths_put_element(sqlite3_str *out, const char *element, zt_error *err){
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *z;
  int n;
  paths_put(text, element, true, err);
  n = sqlite3_str_length(text);
  z = sqlite3_str_finish(text);
  if( z ) zt_json_text(out, (zt_text){ z, (size_t)n });
  else zt_fail_nomem(err);
  sqlite3_free(z);
}

static void paths_put_list(sqlite3_str *out, const char *text, zt_error *err){
  const char *before = "[";
  zt_list list;
  char *element;
  err->path = NULL;   /* A list is no file; its elements are */
  zt_list_init(&list, text, err);
  while( !err->rc && zt_list_next(&list, &element) ){
    err->path = element;
    sqlite3_str_appendall(out, before);
    paths_put_element(out, element, err);
    before = ",";
    err->path = NULL;
    sqlite3_free(element);
  }
  sqlite3_str_appendall(out, *before=='[' ? "[]" : "]");
}

int zt_paths_absolute(const char *source, char **out, zt_error *err){
  sqlite3_str *text = sqlite3_str_new(NULL);
  err->path = source;
  paths_put(text, source, false, err);
  *out = sqlite3_str_finish(text);
  if( !*out ) zt_fail_nomem(err);
  if( !err->rc ) return SQLITE_OK;
  sqlite3_free(*out);
  *out = NULL;
  return err->rc;
}
