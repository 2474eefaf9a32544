/* Resolution of a source argument. See paths.h. */
#include "core/paths.h"

#include <errno.h>
#include "core/host.h"
#include "core/json.h"
#include "core/list.h"
#include "core/remote.h"
#include "core/remote_search.h"
#include "core/search.h"
#include "core/sort.h"

static int paths_compare(const void *unused, const void *a, const void *b){
  (void)unused;
  return strcmp(((const zt_path*)a)->z, ((const zt_path*)b)->z);
}

/* Sorts the paths from index `from` on and drops duplicates. */
static void paths_sort(zt_paths *p, size_t from, const zt_interrupt *interrupt, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(zt_path), .compare = paths_compare, .interrupt = interrupt
  };
  size_t n = from;
  if( p->n==from ) return;
  zt_sort(p->a+from, p->n-from, &by, err);
  for(size_t i=from+1; i<p->n; i++){
    if( strcmp(p->a[n].z, p->a[i].z)==0 ) zt_search_free_path(&p->a[i]);
    else p->a[++n] = p->a[i];
  }
  p->n = n+1;
}

int zt_paths_sort(zt_paths *p, const zt_interrupt *interrupt, zt_error *err){
  if( !p->sorted ) paths_sort(p, 0, interrupt, err);
  p->sorted = err->rc==SQLITE_OK;
  return err->rc;
}

static bool paths_ascend(const zt_paths *p){
  for(size_t i=1; i<p->n; i++) if( strcmp(p->a[i-1].z, p->a[i].z)>=0 ) return false;
  return true;
}

static int paths_compare_places(const void *unused, const void *a, const void *b){
  return paths_compare(unused, *(zt_path*const*)a, *(zt_path*const*)b);
}

/* Keeps only the first of equal paths. Their order stays, because the sort is stable. */
static void paths_drop_repeated(zt_paths *p, const zt_interrupt *interrupt, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(zt_path*), .compare = paths_compare_places, .interrupt = interrupt
  };
  zt_path **places = sqlite3_malloc64(p->n*sizeof(zt_path*)), *first;
  size_t n = 0;
  if( !places ){
    zt_fail_nomem(err);
    return;
  }
  for(size_t i=0; i<p->n; i++) places[i] = &p->a[i];
  if( zt_sort(places, p->n, &by, err)==SQLITE_OK ){
    first = places[0];
    for(size_t i=1; i<p->n; i++){
      if( strcmp(first->z, places[i]->z)!=0 ){
        first = places[i];
        continue;
      }
      zt_search_free_path(places[i]);
    }
    for(size_t i=0; i<p->n; i++) if( p->a[i].z ) p->a[n++] = p->a[i];
    p->n = n;
  }
  sqlite3_free(places);
}

void zt_paths_clear(zt_paths *p){
  zt_search_drop(p, 0);
  sqlite3_free(p->a);
  *p = (zt_paths){ 0 };
}

/* Finds and sorts the files that the pattern names below base. */
static void paths_expand(zt_search *w, const char *base, size_t nBase, const char *pattern){
  const size_t from = w->out->n;
  zt_search_below(w, base, nBase, pattern);
  paths_sort(w->out, from, &w->filter->interrupt, w->err);
}

/* --- Sources --- */

/* Returns whether a URL has wildcards. Web servers cannot list files, and `?` begins a query
** there. */
static bool paths_is_url_pattern(const char *url){
  return sqlite3_strnicmp(url, "http:", 5)!=0 && sqlite3_strnicmp(url, "https:", 6)!=0
      && zt_glob_is_pattern(url);
}

#if ZT_REMOTE
/* Returns the scheme of a URL whose files another name reads; *hint says how. NULL for others. */
static const char *paths_other_scheme(const char *url, const char **hint){
  static const struct { const char *scheme, *hint; } others[] = {
    { "gs://", "use s3:// with AWS_ENDPOINT_URL=https://storage.googleapis.com and HMAC keys" },
    { "az://", "use https:// with a signed URL" }
  };
  for(size_t i=0; i<sizeof(others)/sizeof(*others); i++){
    *hint = others[i].hint;
    if( sqlite3_strnicmp(url, others[i].scheme, 5)==0 ) return others[i].scheme;
  }
  return NULL;
}
#endif

static int paths_fail_url(const char *url, zt_error *err){
#if ZT_REMOTE
  const char *hint;
#endif
  if( !err->rc ) err->system = EACCES;   /* It may exist */
#if ZT_REMOTE
  if( zt_remote_is_read(url) ){
    return zt_fail(err, SQLITE_ERROR, "a URL of scheme '%.*s' is read only by the entry point"
                   " sqlite3_ztensor_remote_init, which is not loaded",
                   (int)zt_path_scheme(url), url);
  }
  if( paths_other_scheme(url, &hint) ){
    return zt_fail(err, SQLITE_ERROR, "a URL of scheme '%.*s' is not read: %s",
                   (int)zt_path_scheme(url), url, hint);
  }
#endif
  return zt_fail(err, SQLITE_ERROR,
                 "a URL of scheme '%.*s' is not read: sources are files of this machine, copy it"
                 " here first", zt_shown((zt_text){ url, zt_path_scheme(url) }), url);
}

static int paths_fail_url_target(const char *url, zt_error *err){
  return zt_fail(err, SQLITE_ERROR,
                 "a URL of scheme '%.*s' is not written: targets are files of this machine",
                 zt_shown((zt_text){ url, zt_path_scheme(url) }), url);
}

int zt_path_fail(const zt_path *path, zt_error *err){
  if( path->error_number==0 ) return SQLITE_OK;
  if( zt_path_is_url(path->z) ) return paths_fail_url(path->z, err);
  return zt_fail_os(err, path->action, path->error_number);
}

/* Returns the local path of a file: URI (RFC 8089), owned by the caller. */
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

/* Returns the path of `~` or `~/...`, owned by the caller. *fixed is the length of the home
** directory's part. */
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

/* Returns the path of `~`, `~/...` or a file: URI, owned by the caller. NULL for any other text,
** and after a failure. *fixed is as above. */
static char *paths_local(const char *text, size_t *fixed, zt_error *err){
  if( text[0]=='~' && (!text[1] || zt_is_separator(text[1])) ){
    return paths_from_home(text, fixed, err);
  }
  return sqlite3_strnicmp(text, "file:", 5)==0 ? paths_path_from_uri(text, err) : NULL;
}

typedef enum paths_source_kind {
  PATHS_SOURCE_FAILED, PATHS_SOURCE_LITERAL, PATHS_SOURCE_DIRECTORY, PATHS_SOURCE_PATTERN,
  PATHS_SOURCE_LIST
} paths_source_kind;

/* A classified source. */
typedef struct paths_source {
  const char *path;    /* Its path, pattern or list: the text itself or */
  char *owned;
  size_t fixed;        /* Length of a prefix that is literal, even with wildcards */
  zt_stat stat;
  bool missing;        /* A literal path that does not exist */
  int error_number;    /* errno value of a literal path */
} paths_source;

/* A URL is never taken for a path, even if one exists. */
static paths_source_kind paths_classify_url(paths_source *s, zt_error *err){
  if( paths_is_url_pattern(s->path) ){
    paths_fail_url(s->path, err);
    return PATHS_SOURCE_FAILED;
  }
  s->error_number = EACCES;
  s->missing = true;
  return PATHS_SOURCE_LITERAL;
}

static paths_source_kind paths_classify(paths_source *s, zt_error *err){
  int error_number;
  bool denied;
  if( zt_path_is_url(s->path) ) return paths_classify_url(s, err);
  error_number = zt_os_stat(s->path, &s->stat);
  /* Many patterns have these errors */
  denied = error_number==EACCES || error_number==ENAMETOOLONG;
  s->error_number = error_number;
  if( error_number==0 ){
    return s->stat.kind==ZT_KIND_DIRECTORY ? PATHS_SOURCE_DIRECTORY : PATHS_SOURCE_LITERAL;
  }
  if( zt_os_exists(s->path)==0 ) return PATHS_SOURCE_LITERAL;
  if( !s->owned ){
    s->owned = paths_local(s->path, &s->fixed, err);
    if( err->rc ) return PATHS_SOURCE_FAILED;
    if( !s->owned && zt_list_is(s->path) ) return PATHS_SOURCE_LIST;
    if( s->owned ){
      s->path = s->owned;
      return paths_classify(s, err);
    }
  }
  if( denied || zt_os_absent(error_number) ){
    if( zt_glob_is_pattern(s->path+s->fixed) ) return PATHS_SOURCE_PATTERN;
  }
  s->missing = zt_search_absent(error_number);
  return PATHS_SOURCE_LITERAL;
}

/* Adds a literal path. A missing path passes every filter, because it might have been a file or a
** directory of wanted files. A path that cannot be examined might be such a directory, too. */
static void paths_add_literal(zt_search *w, const paths_source *s){
  const zt_path path = {
    .literal = true, .regular = s->stat.kind==ZT_KIND_FILE, .error_number = s->error_number,
    .action = "open"
  };
  const char *only = w->filter->only;
  bool above = s->error_number!=0 && only && zt_path_is_below(only, s->path);
  if( s->error_number==ENOMEM ) zt_fail_nomem(w->err);   /* Whatever the filter says */
  else if( s->missing ) zt_search_append(w, s->path, path);
  else if( above ) zt_search_add_failed(w, s->path, "open", s->error_number);
  else zt_search_add(w, s->path, path);
}

static void paths_add_directory(zt_search *w, const char *path){
  w->nSource = strlen(path);
  w->files = w->filter->files;
  paths_expand(w, path, w->nSource, "**/*");
  w->files = NULL;
}

/* Returns the length of a pattern up to the name with the first wildcard. */
static size_t paths_base_length(const paths_source *s){
  size_t n = s->fixed + strcspn(s->path+s->fixed, "*?[");
  while( n>0 && !zt_is_separator(s->path[n-1]) ) n--;
  return n;
}

static void paths_add_pattern(zt_search *w, const paths_source *s){
  const size_t n = paths_base_length(s);
  const bool directories = zt_is_separator(s->path[strlen(s->path)-1]);
  char *below = directories ? sqlite3_mprintf("%s**/*", s->path+n) : NULL;
  w->nSource = 0;
  if( directories && !below ){
    zt_fail_nomem(w->err);
    return;
  }
  if( directories ) w->files = w->filter->files;
  paths_expand(w, s->path, n, below ? below : s->path+n);
  w->files = NULL;
  sqlite3_free(below);
}

static void paths_add_list(zt_search *w, const char *text);

static void paths_fail_nested(zt_error *err){
  zt_fail(err, SQLITE_ERROR, "a list of sources cannot be an element of a list");
}

/* Adds remote files. */
static void paths_add_remote(zt_search *w, const char *url, bool element){
#if ZT_REMOTE
  const size_t from = w->out->n;
  bool literal;
  zt_remote_search(w, url, &literal);
  if( !literal ) paths_sort(w->out, from, &w->filter->interrupt, w->err);
  if( !element && literal ) w->out->literal = true;
#else
  (void)w;
  (void)url;
  (void)element;
#endif
}

static bool paths_is_remote(const zt_search *w, const char *text){
#if ZT_REMOTE
  return w->filter->remote && zt_remote_is_read(text);
#else
  (void)w;
  (void)text;
  return false;
#endif
}

/* Adds the paths of a source or of a list's element. */
static void paths_add(zt_search *w, const char *text, bool element){
  paths_source s = { .path = text };
  if( paths_is_remote(w, text) ){
    paths_add_remote(w, text, element);
    return;
  }
  switch( paths_classify(&s, w->err) ){
    case PATHS_SOURCE_LITERAL:
      w->out->literal = !element;
      w->out->stat = s.stat;
      paths_add_literal(w, &s);
      break;
    case PATHS_SOURCE_DIRECTORY: paths_add_directory(w, s.path); break;
    case PATHS_SOURCE_PATTERN:   paths_add_pattern(w, &s); break;
    case PATHS_SOURCE_LIST:
      if( element ) paths_fail_nested(w->err);
      else paths_add_list(w, text);
      break;
    case PATHS_SOURCE_FAILED:    break;
  }
  sqlite3_free(s.owned);
}

/* Adds the paths of a list's elements. A failure belongs to the query: its place is the element,
** not a file. */
static void paths_add_list(zt_search *w, const char *text){
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
  paths_drop_repeated(w->out, &w->filter->interrupt, w->err);
  w->out->sorted = paths_ascend(w->out);
}

int zt_paths_find(const char *source, const zt_paths_filter *filter, zt_paths *out, zt_error *err){
  zt_search w = { .filter = filter, .out = out, .err = err };
  *out = (zt_paths){ .sorted = true };
  paths_add(&w, source, false);
  zt_search_clear(&w);
  if( err->rc ) zt_paths_clear(out);
  return err->rc;
}

int zt_paths_one(const char *source, char **out, zt_stat *stat, zt_error *err){
  static const char refused[] = "no such file; exactly one file is needed, not a %s";
  paths_source s = { .path = source };
  *out = NULL;
  if( zt_path_is_url(source) ) return paths_fail_url(source, err);
  switch( paths_classify(&s, err) ){
    case PATHS_SOURCE_LITERAL: case PATHS_SOURCE_DIRECTORY:   /* Opening it reports any fault */
      *out = s.owned ? s.owned : sqlite3_mprintf("%s", source);
      s.owned = NULL;
      if( !*out ) zt_fail_nomem(err);
      break;
    case PATHS_SOURCE_PATTERN: zt_fail(err, SQLITE_ERROR, refused, "pattern"); break;
    case PATHS_SOURCE_LIST:    zt_fail(err, SQLITE_ERROR, refused, "list"); break;
    case PATHS_SOURCE_FAILED:  break;
  }
  *stat = s.stat;
  sqlite3_free(s.owned);
  return err->rc;
}

int zt_paths_target(const char *text, char **out, zt_error *err){
  size_t fixed = 0;
  *out = NULL;
  if( zt_path_is_url(text) ) return paths_fail_url_target(text, err);
  if( zt_os_exists(text)!=0 ) *out = paths_local(text, &fixed, err);
  if( !*out && !err->rc ) *out = sqlite3_mprintf("%s", text);
  return *out ? SQLITE_OK : zt_fail_nomem(err);
}

/* --- Sources that do not depend on the current directory --- */

/* Appends the canonical path of the directory z of n bytes. A missing directory stays as written,
** below the current directory. */
static void paths_put_directory(sqlite3_str *out, const char *z, size_t n, zt_error *err){
  char *directory = sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? z : "."), *found = NULL;
  int error_number = 0;
  if( directory ) found = zt_os_resolve(directory, &error_number);
  if( found ){
    sqlite3_str_appendall(out, found);
  }else if( error_number==0 ){
    zt_fail_nomem(err);
  }else if( !zt_search_absent(error_number) ){
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

/* Appends a separator, if necessary, and the rest of a path. */
static void paths_put_rest(sqlite3_str *out, const char *rest){
  const int n = sqlite3_str_length(out);
  const char *z = sqlite3_str_value(out);
  if( !z || !zt_is_separator(z[n-1]) ) sqlite3_str_append(out, "/", 1);
  sqlite3_str_appendall(out, rest);
}

/* Appends a literal path in the form of a pattern, and frees it. */
static void paths_put_escaped(sqlite3_str *out, char *path){
  for(const char *z=path; z && *z; z++){
    if( strchr("*?[", *z) ) sqlite3_str_appendf(out, "[%c]", *z);
    else sqlite3_str_append(out, z, 1);
  }
  sqlite3_free(path);
}

/* Appends a path. Its last name stays, as it may be a symbolic link. */
static void paths_put_path(sqlite3_str *out, const char *path, zt_error *err){
  const char *name = zt_path_name(path);
  if( !*path ){
    zt_fail_os(err, "open", ENOENT);   /* Opening it gives this error */
    return;
  }
  paths_put_directory(out, path, (size_t)(name-path), err);
  paths_put_rest(out, name);
}

static void paths_put_pattern(sqlite3_str *out, const paths_source *s, zt_error *err){
  const size_t n = paths_base_length(s);
  sqlite3_str *directory = sqlite3_str_new(NULL);
  char *base;
  paths_put_directory(directory, s->path, n, err);
  base = sqlite3_str_finish(directory);
  if( !base ) zt_fail_nomem(err);   /* A canonical path is never empty */
  paths_put_escaped(out, base);
  paths_put_rest(out, s->path+n);
}

static void paths_put_list(sqlite3_str *out, const char *text, bool urls,
                           const zt_interrupt *interrupt, zt_error *err);

/* Appends a source or a list's element. */
static void paths_put(sqlite3_str *out, const char *text, bool urls, bool element,
                      const zt_interrupt *interrupt, zt_error *err){
  paths_source s = { .path = text };
  if( zt_path_is_url(text) && urls ) sqlite3_str_appendall(out, text);
  else if( zt_path_is_url(text) ) paths_fail_url(text, err);
  else switch( paths_classify(&s, err) ){
    case PATHS_SOURCE_LITERAL:   paths_put_path(out, s.path, err); break;
    case PATHS_SOURCE_DIRECTORY: paths_put_directory(out, s.path, strlen(s.path), err); break;
    case PATHS_SOURCE_PATTERN:   paths_put_pattern(out, &s, err); break;
    case PATHS_SOURCE_LIST:
      if( element ) paths_fail_nested(err);
      else paths_put_list(out, text, urls, interrupt, err);
      break;
    case PATHS_SOURCE_FAILED:    break;
  }
  sqlite3_free(s.owned);
}

/* Appends an element as JSON text. */
static void paths_put_element(sqlite3_str *out, const char *element, bool urls,
                              const zt_interrupt *interrupt, zt_error *err){
  sqlite3_str *text = sqlite3_str_new(NULL);
  char *z;
  int n;
  paths_put(text, element, urls, true, interrupt, err);
  n = sqlite3_str_length(text);
  z = sqlite3_str_finish(text);
  if( z ) zt_json_text(out, (zt_text){ z, (size_t)n });
  else zt_fail_nomem(err);
  sqlite3_free(z);
}

static void paths_put_list(sqlite3_str *out, const char *text, bool urls,
                           const zt_interrupt *interrupt, zt_error *err){
  const char *before = "[";
  zt_list list;
  char *element;
  err->path = NULL;   /* Only elements are places */
  zt_list_init(&list, text, err);
  while( !err->rc && zt_list_next(&list, &element) ){
    err->path = element;
    sqlite3_str_appendall(out, before);
    if( !zt_interrupt_check(interrupt, err) ) paths_put_element(out, element, urls, interrupt, err);
    before = ",";
    err->path = NULL;
    sqlite3_free(element);
  }
  sqlite3_str_appendall(out, *before=='[' ? "[]" : "]");
}

int zt_paths_absolute(const char *source, bool urls, const zt_interrupt *interrupt, char **out,
                      zt_error *err){
  sqlite3_str *text = sqlite3_str_new(NULL);
  err->path = source;
  paths_put(text, source, urls, false, interrupt, err);
  *out = sqlite3_str_finish(text);
  if( !*out ) zt_fail_nomem(err);
  if( !err->rc ) return SQLITE_OK;
  sqlite3_free(*out);
  *out = NULL;
  return err->rc;
}
