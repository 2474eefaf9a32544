/* Walking over directories. See search.h. */
#include "core/search.h"

#include <errno.h>
#include "core/dirents.h"
#include "core/grow.h"
#include "core/host.h"
#include "core/prefetch.h"

#define SEARCH_POLL 256   /* Directory entries between two checks for an interrupt */
#define SEARCH_ABOVE_MAX 128   /* Directories above the walk's first that are checked for cycles */

/* A directory that the walk goes through. */
typedef struct search_level {
  const struct search_level *parent;
  uint64_t device, inode;
} search_level;

/* A directory that a link led to, and the rest of the pattern there. */
typedef struct search_place {
  uint64_t device, inode;
  const char *pattern;
} search_place;

/* The names in a directory. */
typedef struct search_names {
  zt_dirents dirents;
  bool listed;         /* False: they come from the only wanted path */
} search_names;

/* A directory that is prefetched. */
typedef struct search_reading {
  zt_job job;          /* First */
  zt_stat stat;        /* Valid, like dirents, if error_number is 0 */
  zt_dirents dirents;
  int error_number;
  zt_error err;
  char path[];
} search_reading;

/* A segment of n bytes of the pattern, and the names that it is matched with. next is the rest of
** the pattern; for `**`, which also continues in every directory below, it begins with the `**`. */
typedef struct search_trial {
  zt_search *w;
  const search_level *here;
  const search_names *names;
  const char *segment;
  size_t n;
  const char *next;
  struct search_trial *above;
  size_t remaining;    /* Directories to prefetch that the walk has not reached; 0 without
                       ** prefetching */
  zt_prefetch prefetch;
} search_trial;

static void search_walk(zt_search *w, const search_level *parent, const char *pattern,
                        search_reading *read);

/* --- The path so far --- */

/* Appends a name, with a separator if necessary. Returns the length before, for
** search_truncate_to(). */
static size_t search_push(zt_search *w, const char *name, size_t n){
  size_t before = w->n;
  char *path = zt_grow(w->path, &w->capacity, (uint64_t)before+1+n+1, 1, w->err);
  if( !path ) return before;
  w->path = path;
  if( w->n>0 && !zt_is_separator(w->path[w->n-1]) ) w->path[w->n++] = w->separator;
  if( n>0 ) memcpy(w->path+w->n, name, n);
  w->n += n;
  w->path[w->n] = 0;
  return before;
}

static void search_truncate_to(zt_search *w, size_t n){
  w->n = n;
  if( w->path ) w->path[n] = 0;
}

static const char *search_directory(const zt_search *w){
  return w->n>0 ? w->path : ".";
}

/* --- Results --- */

void zt_search_free_path(zt_path *path){
  sqlite3_free(path->z);
  sqlite3_free(path->remote);
  *path = (zt_path){ 0 };
}

void zt_search_drop(zt_paths *p, size_t n){
  while( p->n>n ) zt_search_free_path(&p->a[--p->n]);
}

void zt_search_append(zt_search *w, const char *z, zt_path path){
  const size_t n = strlen(z)+1;
  zt_path *a;
  if( w->err->rc ) return;
  if( w->out->n==ZT_PATHS_MAX ){
    zt_fail(w->err, SQLITE_TOOBIG, "the source has more than %d paths", ZT_PATHS_MAX);
    return;
  }
  a = zt_grow(w->out->a, &w->room, w->out->n+1, sizeof(*a), w->err);
  if( !a ) return;
  w->out->a = a;
  path.z = sqlite3_malloc64(n);
  if( !path.z ){
    zt_fail_nomem(w->err);
    return;
  }
  memcpy(path.z, z, n);
  a[w->out->n++] = path;
}

void zt_search_add(zt_search *w, const char *z, zt_path path){
  const zt_paths_filter *f = w->filter;
  if( f->only && strcmp(f->only, z)!=0 ) return;
  if( !f->keep || f->keep(f->context, z) ) zt_search_append(w, z, path);
}

void zt_search_add_failed(zt_search *w, const char *z, const char *action, int error_number){
  const char *only = w->filter->only;
  if( error_number==ENOMEM ) zt_fail_nomem(w->err);   /* Whatever the filter says */
  if( only && zt_path_is_below(only, z) ){
    z = only;
    action = "open";
  }
  zt_search_add(w, z, (zt_path){ .error_number = error_number, .action = action });
}

/* --- The names in a directory --- */

bool zt_search_absent(int error_number){
  return zt_os_absent(error_number) || error_number==ENAMETOOLONG;
}

/* Returns whether the path so far leads to nothing. The source's own directory must exist. */
static bool search_is_absent(const zt_search *w, int error_number){
  return zt_search_absent(error_number) && (w->nSource==0 || w->n!=w->nSource);
}

static bool search_continues(zt_search *w){
  if( ++w->steps%SEARCH_POLL==0 ) zt_interrupt_check(&w->filter->interrupt, w->err);
  return w->err->rc==SQLITE_OK;
}

/* Adds the path so far, a directory that cannot be listed completely. */
static void search_add_unlisted(zt_search *w, int error_number){
  zt_search_add_failed(w, search_directory(w), "list the directory", error_number);
}

/* Adds the one name that leads to the only wanted path. */
static void search_load_only(zt_search *w, zt_dirents *e){
  const char *only = w->filter->only;
  size_t n;
  if( w->n>0 && strncmp(only, w->path, w->n)!=0 ) return;
  only += w->n;
  if( w->n>0 && !zt_is_separator(w->path[w->n-1]) && *only++!=w->separator ) return;
  n = strcspn(only, ZT_SEPARATORS);
  if( n>0 ) zt_dirents_add(e, only, n, ZT_KIND_UNKNOWN, w->err);
}

/* Stops prefetching, which takes memory and descriptors. False if nothing was prefetched. */
static bool search_stop_reading(zt_search *w){
  bool any = false;
  for(search_trial *t=w->trial; t; t=t->above){
    any = any || t->prefetch.n>0;
    zt_prefetch_stop(&t->prefetch);
  }
  return any;
}

/* Returns 0 or the errno value. */
static int search_read_now(zt_search *w, zt_dirents *e){
  int error_number = 0;
  zt_dirents_read(e, search_directory(w), &w->filter->interrupt, &error_number, w->err);
  return error_number;
}

/* Reads the directory unless it was prefetched. A directory that cannot be read completely becomes
** a result. */
static void search_load(zt_search *w, search_names *names, search_reading *read){
  int error_number = 0;
  if( zt_interrupt_check(&w->filter->interrupt, w->err) ) return;
  /* The wanted path may be this directory, as one that cannot be read */
  if( w->filter->only && strcmp(w->filter->only, search_directory(w))!=0 ){
    search_load_only(w, &names->dirents);
    return;
  }
  names->listed = true;
  if( read ){
    names->dirents = read->dirents;
    read->dirents = (zt_dirents){ 0 };
    return;
  }
  error_number = search_read_now(w, &names->dirents);
  if( (zt_os_exhausted(error_number) || w->err->rc==SQLITE_NOMEM) && search_stop_reading(w) ){
    zt_dirents_clear(&names->dirents);
    zt_error_clear(w->err);
    error_number = search_read_now(w, &names->dirents);
  }
  if( error_number && !search_is_absent(w, error_number) ) search_add_unlisted(w, error_number);
}

/* --- The walk --- */

/* Returns whether this directory was entered before, through a symbolic link and with this rest of
** the pattern. If not, that is recorded. */
static bool search_entered_before(zt_search *w, const search_level *here, const char *pattern){
  search_place *links;
  for(size_t i=0; i<w->nLinks; i++){
    const search_place *l = &w->links[i];
    if( l->device==here->device && l->inode==here->inode && l->pattern==pattern ) return true;
  }
  links = zt_grow(w->links, &w->linksRoom, w->nLinks+1, sizeof(*links), w->err);
  if( !links ) return true;
  w->links = links;
  links[w->nLinks++] = (search_place){ here->device, here->inode, pattern };
  return false;
}

/* How the walk reached a directory: by name; by a name that may be a symbolic link; by `.` or `..`
** in the pattern, which may lead back. */
typedef enum search_step { SEARCH_STEP_NAME, SEARCH_STEP_LINK, SEARCH_STEP_DOTS } search_step;

/* Continues below the path so far if it is a directory that the path does not contain yet, or if
** `..` leads back to it. read is the prefetched directory or NULL. Returns 0 or the errno value of
** the path. */
static int search_descend(zt_search *w, const search_level *parent, search_step how,
                          const char *pattern, search_reading *read){
  search_level here = { .parent = parent };
  zt_stat s;
  int error_number = 0;
  if( read ) s = read->stat;
  else error_number = zt_os_stat(search_directory(w), &s);
  if( error_number && !zt_search_absent(error_number) ) search_add_unlisted(w, error_number);
  if( error_number || s.kind!=ZT_KIND_DIRECTORY ) return error_number;
  here.device = s.id.device;
  here.inode = s.id.inode;
  for(const search_level *p=parent; p; p=p->parent){
    if( p->device!=here.device || p->inode!=here.inode ) continue;
    if( how==SEARCH_STEP_DOTS ) search_walk(w, p, pattern, NULL);
    return 0;
  }
  if( how!=SEARCH_STEP_LINK || !search_entered_before(w, &here, pattern) ){
    search_walk(w, &here, pattern, read);
  }
  return 0;
}

static bool search_is_any_depth(const char *segment, size_t n){
  return n==2 && segment[0]=='*' && segment[1]=='*';
}

/* `.` and `..`, which directories do not list. */
static bool search_is_dots(const char *segment, size_t n){
  return segment[0]=='.' && (n==1 || (n==2 && segment[1]=='.'));
}

static const char *search_after(const char *segment, size_t n){
  segment += n;
  while( zt_is_separator(*segment) ) segment++;
  return segment;
}

/* Adds the path so far if it is not a directory, or if the system cannot tell. reported is the kind
** in the directory's listing. Returns 0 or the errno value of the path. */
static int search_add_if_file(zt_search *w, zt_kind reported){
  zt_stat s = { .kind = reported };
  int error_number = reported==ZT_KIND_UNKNOWN ? zt_os_stat(w->path, &s) : 0;
  if( s.kind==ZT_KIND_DIRECTORY ) return 0;
  /* A dangling link is a result */
  if( zt_os_absent(error_number) ) error_number = zt_os_exists(w->path);
  if( error_number==0 ) zt_search_add(w, w->path, (zt_path){ .regular = reported==ZT_KIND_FILE });
  else if( !zt_search_absent(error_number) ) zt_search_add_failed(w, w->path, "open", error_number);
  return error_number;
}

/* Returns whether name i matches. */
static bool search_tries(const search_trial *t, size_t i){
  const char *name = zt_dirents_name(&t->names->dirents, i);
  const zt_kind kind = t->names->dirents.a[i].kind;
  if( (name[0]=='.' && t->segment[0]!='.') || (*t->next && kind==ZT_KIND_FILE) ) return false;
  return zt_glob_match(t->segment, t->n, name)
      && (*t->next || !t->w->files || t->w->files(name));
}

/* Returns whether this pattern makes the walk list a directory. */
static bool search_lists(const char *pattern){
  const size_t n = strcspn(pattern, ZT_SEPARATORS);
  return strcspn(pattern, "*?[")<n;
}

/* --- Prefetching of directories --- */

static bool search_is_prefetched(const search_trial *t, size_t i){
  return t->names->dirents.a[i].kind==ZT_KIND_DIRECTORY && search_tries(t, i);
}

/* Counts the directories to prefetch: those that the walk will list. */
static size_t search_count_prefetched(const search_trial *t){
  const zt_paths_filter *f = t->w->filter;
  size_t n = 0;
  if( !f->pool || f->only || !*t->next || !search_lists(t->next) ) return 0;
  for(size_t i=0; i<t->names->dirents.n; i++) n += search_is_prefetched(t, i);
  return n;
}

static bool search_next_prefetched(void *context, uint64_t *i){
  const search_trial *t = context;
  uint64_t k = *i+1;
  if( t->remaining==0 ) return false;
  while( k<t->names->dirents.n && !search_is_prefetched(t, (size_t)k) ) k++;
  *i = k;
  return k<t->names->dirents.n;
}

static void search_read(zt_job *job, const zt_interrupt *interrupt){
  search_reading *r = (search_reading*)job;
  r->error_number = zt_os_stat(r->path, &r->stat);
  if( r->error_number || r->stat.kind!=ZT_KIND_DIRECTORY ) return;
  zt_dirents_read(&r->dirents, r->path, interrupt, &r->error_number, &r->err);
  job->memory = zt_dirents_memory(&r->dirents);
}

static zt_job *search_make_reading(void *context, uint64_t i){
  const search_trial *t = context;
  const char *name = zt_dirents_name(&t->names->dirents, (size_t)i);
  const size_t before = search_push(t->w, name, strlen(name));
  search_reading *r = t->w->err->rc ? NULL : sqlite3_malloc64(sizeof(*r)+t->w->n+1);
  if( r ){
    *r = (search_reading){ .job.work = search_read };
    memcpy(r->path, t->w->path, t->w->n+1);
  }
  search_truncate_to(t->w, before);
  return r ? &r->job : NULL;
}

static void search_drop_reading(zt_job *job){
  search_reading *r = (search_reading*)job;
  zt_dirents_clear(&r->dirents);
  zt_error_clear(&r->err);
  sqlite3_free(r);
}

static const zt_jobs search_readings = {
  search_next_prefetched, search_make_reading, search_drop_reading
};

/* Returns the prefetched directory i. NULL: the walk must read it. After a failure the walk reads
** it again, alone, and reports the fault. */
static search_reading *search_take_reading(search_trial *t, size_t i){
  zt_job *job = zt_prefetch_take(&t->prefetch, t, i, --t->remaining, &t->w->filter->interrupt,
                                 t->w->err);
  search_reading *r = (search_reading*)job;
  if( !r || (!r->error_number && !r->err.rc) ) return r;
  if( r->err.rc==SQLITE_INTERRUPT ) zt_fail_interrupt(t->w->err);
  search_drop_reading(job);
  search_stop_reading(t->w);
  return NULL;
}

/* --- Matching names --- */

/* Continues below the path so far, whose kind the directory reported. Returns 0 or the errno
** value. */
static int search_try_below(const search_trial *t, zt_kind kind, search_reading *read){
  const bool link = kind==ZT_KIND_UNKNOWN && !t->w->filter->only;
  if( kind!=ZT_KIND_DIRECTORY && kind!=ZT_KIND_UNKNOWN ) return 0;
  return search_descend(t->w, t->here, link ? SEARCH_STEP_LINK : SEARCH_STEP_NAME, t->next, read);
}

/* Tries name i. If it exists but its path is too long, the directory cannot be listed
** completely. */
static void search_try(search_trial *t, size_t i){
  zt_search *w = t->w;
  const char *name = zt_dirents_name(&t->names->dirents, i);
  const zt_kind kind = t->names->dirents.a[i].kind;
  search_reading *read = t->remaining>0 && kind==ZT_KIND_DIRECTORY ? search_take_reading(t, i)
      : NULL;
  const size_t before = search_push(w, name, strlen(name));
  int error_number = 0;
  if( !w->err->rc ){
    error_number = *t->next ? search_try_below(t, kind, read) : search_add_if_file(w, kind);
    search_truncate_to(w, before);
  }
  if( read ) search_drop_reading(&read->job);
  if( error_number==ENAMETOOLONG && t->names->listed ) search_add_unlisted(w, error_number);
}

/* Matches the segment of n bytes with each name in the directory. */
static void search_try_names(zt_search *w, const search_level *here, const search_names *names,
                             const char *segment, size_t n, const char *next){
  search_trial t = {
    .w = w, .here = here, .names = names, .segment = segment, .n = n, .next = next,
    .above = w->trial,
    .prefetch = { .jobs = &search_readings, .tasks.pool = w->filter->pool, .slow = true }
  };
  t.remaining = search_count_prefetched(&t);
  w->trial = &t;
  for(size_t i=0; i<names->dirents.n && search_continues(w); i++){
    if( search_tries(&t, i) ) search_try(&t, i);
  }
  w->trial = t.above;
  zt_prefetch_clear(&t.prefetch);
}

/* Matches `**`: the rest of the pattern here, and all of it in every directory below. */
static void search_any_depth(zt_search *w, const search_level *here, const search_names *names,
                             const char *pattern){
  const char *rest = search_after(pattern, 2);
  size_t n = strcspn(rest, ZT_SEPARATORS);
  /* `**` twice is `**` */
  while( search_is_any_depth(rest, n) && zt_is_separator(rest[n]) ){
    pattern = rest;
    rest = search_after(rest, n);
    n = strcspn(rest, ZT_SEPARATORS);
  }
  if( !*rest ) search_try_names(w, here, names, "*", 1, "");
  else if( zt_glob_is_pattern(rest) && !search_is_any_depth(rest, n) && !search_is_dots(rest, n) ){
    search_try_names(w, here, names, rest, n, search_after(rest, n));
  }else{
    search_walk(w, here, rest, NULL);
  }
  search_try_names(w, here, names, "*", 1, pattern);
}

/* Matches a segment without wildcards. */
static void search_named(zt_search *w, const search_level *here, const char *segment, size_t n,
                         const char *next){
  size_t before = search_push(w, segment, n);
  if( w->err->rc ) return;
  if( *next ){
    search_descend(w, here, search_is_dots(segment, n) ? SEARCH_STEP_DOTS : SEARCH_STEP_NAME, next,
                   NULL);
  }else{
    search_add_if_file(w, ZT_KIND_UNKNOWN);
  }
  search_truncate_to(w, before);
}

/* Walks below the path so far, which is the directory `here`. read is the prefetched directory or
** NULL. */
static void search_walk(zt_search *w, const search_level *here, const char *pattern,
                        search_reading *read){
  size_t n = strcspn(pattern, ZT_SEPARATORS);
  const char *next = search_after(pattern, n);
  bool any = search_is_any_depth(pattern, n);
  search_names names = { .listed = false };
  if( w->err->rc ) return;
  if( !search_lists(pattern) ){
    search_named(w, here, pattern, n, next);
    return;
  }
  search_load(w, &names, read);
  if( any ) search_any_depth(w, here, &names, pattern);
  else search_try_names(w, here, &names, pattern, n, next);
  zt_dirents_clear(&names.dirents);
}

/* Walks from the path so far. The directories above it count as part of the path: a link to one of
** them is a cycle. The ascent ends where access is denied or the name becomes too long. */
static void search_from_base(zt_search *w, const char *pattern){
  search_level above[SEARCH_ABOVE_MAX];
  size_t n = w->n, i;
  int error_number = 0;
  zt_stat s;
  for(i=0; i<SEARCH_ABOVE_MAX && !w->err->rc; i++){
    error_number = zt_os_stat(search_directory(w), &s);
    if( !error_number && s.kind!=ZT_KIND_DIRECTORY ) error_number = ENOTDIR;
    if( error_number ) break;
    above[i] = (search_level){ .device = s.id.device, .inode = s.id.inode };
    /* The root */
    if( i>0 && above[i].device==above[i-1].device && above[i].inode==above[i-1].inode ) break;
    if( i>0 ) above[i-1].parent = &above[i];
    search_push(w, "..", 2);
  }
  search_truncate_to(w, n);
  if( i>0 && (zt_search_absent(error_number) || error_number==EACCES) ) error_number = 0;
  if( error_number && !search_is_absent(w, error_number) ) search_add_unlisted(w, error_number);
  else if( i>0 ) search_walk(w, &above[0], pattern, NULL);
}

static char search_separator_of(const char *source){
  const char *name = zt_path_name(source);
  return (char)(name>source ? name[-1] : '/');
}

void zt_search_below(zt_search *w, const char *base, size_t nBase, const char *pattern){
  w->separator = search_separator_of(base);
  w->nLinks = 0;   /* Links are recorded by place in the pattern, which is another one now */
  search_truncate_to(w, 0);
  search_push(w, base, nBase);
  if( !w->err->rc ) search_from_base(w, pattern);
}

void zt_search_clear(zt_search *w){
  sqlite3_free(w->path);
  sqlite3_free(w->links);
  w->path = NULL;
  w->links = NULL;
}
