/* The files that a remote source names. See remote_search.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include "core/remote_search.h"

#include "core/hub.h"
#include "core/remote_file.h"
#include "core/s3.h"

#define REMOTE_SEARCH_KEY 4096     /* Most bytes of a key: listings refuse longer ones */
#define REMOTE_SEARCH_POLL 1024    /* Files of a listing between checks for an interrupt */

bool zt_remote_is_read(const char *url){
  return sqlite3_strnicmp(url, "https://", 8)==0 || sqlite3_strnicmp(url, "http://", 7)==0
      || sqlite3_strnicmp(url, "s3://", 5)==0 || sqlite3_strnicmp(url, "hf://", 5)==0;
}

/* --- Matching --- */

static size_t search_far_part(const char *z){
  return strcspn(z, "/");
}

static bool search_far_is_any_depth(const char *pattern){
  return strncmp(pattern, "**", 2)==0 && (pattern[2]=='/' || !pattern[2]);
}

/* Returns whether the key's part of n bytes matches the pattern's part. */
static bool search_far_match_part(const char *pattern, const char *key, size_t n){
  char name[REMOTE_SEARCH_KEY+1];   /* Nothing is missed where memory is short */
  if( n>REMOTE_SEARCH_KEY || (*key=='.' && *pattern!='.') ) return false;
  memcpy(name, key, n);
  name[n] = 0;
  return zt_glob_match(pattern, search_far_part(pattern), name);
}

static const char *search_far_next(const char *z, size_t n){
  return z[n] ? z+n+1 : NULL;
}

/* Both are walked part by part. NULL is their end; behind a `**` the key's parts are passed over
** one after the other until the rest matches. */
bool zt_remote_match(const char *pattern, const char *key){
  const char *rest = NULL, *from = NULL;   /* The pattern behind the last `**`, and the key there */
  while( key ){
    const size_t n = search_far_part(key);
    if( pattern && search_far_is_any_depth(pattern) ){
      rest = search_far_next(pattern, 2);
      from = key;
      if( !rest ) rest = "*";   /* A `**` at the end is every file below */
      pattern = rest;
    }else if( pattern && search_far_match_part(pattern, key, n) ){
      pattern = search_far_next(pattern, search_far_part(pattern));
      key = search_far_next(key, n);
      if( key || !pattern ) continue;
    }else if( rest && *from!='.' && search_far_next(from, search_far_part(from)) ){
      from = search_far_next(from, search_far_part(from));
      key = from;
      pattern = rest;
    }else{
      return false;
    }
  }
  return !pattern;
}

/* --- Listings --- */

/* A search among the files of a bucket or a repository. */
typedef struct remote_search {
  zt_search *w;
  const char *url;           /* The source */
  char *base;                /* What stands before keys: `s3://bucket/`; owned */
  size_t from;               /* Paths that other sources of a list have */
  const char *pattern;       /* Of keys; NULL: all files below */
  bool directories;          /* It matches files below directories, whose names tell */
  const char *below;         /* this beginning of a key */
  bool found_itself;         /* The source is a key: nothing else counts */
  bool any;                  /* Something is below it, */
  bool only_any;             /* which is all that is asked */
  uint32_t steps;
} remote_search;

/* Adds a path if the filter wants it; takes the state. */
static void search_far_add(zt_search *w, const char *path, bool literal, zt_remote_state *state){
  const zt_paths_filter *filter = w->filter;
  const size_t before = w->out->n;
  if( (!filter->only || strcmp(filter->only, path)==0)
   && (!filter->keep || filter->keep(filter->context, path)) ){
    zt_search_append(w, path, (zt_path){ .literal = literal, .regular = true, .remote = state });
  }
  if( w->out->n==before ) sqlite3_free(state);
}

static bool search_far_is_hidden(const char *key){
  while( key && *key!='.' ) key = search_far_next(key, search_far_part(key));
  return key!=NULL;
}

static bool search_far_is_below(const remote_search *s, const char *key){
  return strncmp(key, s->below, strlen(s->below))==0;
}

/* Returns whether the search wants a key. */
static bool search_far_wants(const remote_search *s, const char *key){
  const char *name = strrchr(key, '/');
  name = name ? name+1 : key;
  if( !*name ) return false;   /* A mark for a directory */
  if( s->pattern ? !zt_remote_match(s->pattern, key)
    : !search_far_is_below(s, key) || search_far_is_hidden(key+strlen(s->below)) ) return false;
  return (s->pattern && !s->directories) || !s->w->filter->files || s->w->filter->files(name);
}

static bool search_far_take(void *context, zt_text key, zt_remote_state *state){
  remote_search *s = context;
  char *path = sqlite3_mprintf("%s%.*s", s->base, (int)key.n, key.z);
  if( !path || !state ) zt_fail_nomem(s->w->err);
  else if( s->pattern && strcmp(path, s->url)==0 ){
    s->found_itself = true;
    zt_search_drop(s->w->out, s->from);
    search_far_add(s->w, path, true, state);
    state = NULL;
  }else if( !s->found_itself && search_far_wants(s, path+strlen(s->base)) ){
    s->any = true;
    search_far_add(s->w, path, false, state);
    state = NULL;
  }
  s->any = s->any || !s->pattern;
  sqlite3_free(state);
  sqlite3_free(path);
  if( ++s->steps%REMOTE_SEARCH_POLL==0 ) zt_interrupt_check(&s->w->filter->interrupt, s->w->err);
  return s->w->err->rc==SQLITE_OK && !(s->only_any && s->any);
}

/* Asks for a file that the listing is likely to have. One that it does not have is no row. */
static void search_far_begin(void *context, zt_text key){
  remote_search *s = context;
  const zt_paths_filter *filter = s->w->filter;
  char *path = sqlite3_mprintf("%s%.*s", s->base, (int)key.n, key.z);
  if( path && search_far_wants(s, path+strlen(s->base))
   && (!filter->keep || filter->keep(filter->context, path)) ){
    zt_remote_file_begin(filter->remote, path);
  }
  sqlite3_free(path);
}

/* Lists the keys that begin with a prefix of n bytes of the source's key. */
static void search_far_list(remote_search *s, const char *key, size_t n){
  zt_remote *r = s->w->filter->remote;
  zt_error *err = s->w->err;
  zt_text bucket, whole;
  zt_hub_place place;
  if( s->url[0]=='s' || s->url[0]=='S' ){
    if( zt_s3_split(s->url, &bucket, &whole) ){
      zt_s3_list(r, bucket, (zt_text){ key, n }, search_far_take, s, err);
    }
    return;
  }
  while( n>0 && key[n-1]!='/' ) n--;   /* A directory */
  if( n>0 ) n--;
  if( !zt_hub_split(s->url, &place) ) return;
  place.path = (zt_text){ key, n };
  zt_hub_list(r, &place, s->w->filter->opened && !s->w->filter->only ? search_far_begin : NULL,
              search_far_take, s, err);
  /* A pattern below a directory that is not there matches nothing */
  if( err->kind && s->pattern && strstr(err->message, "EntryNotFound") ) zt_error_clear(err);
}

/* --- Sources --- */

static void search_far_add_literal(zt_search *w, const char *url){
  zt_search_append(w, url, (zt_path){ .literal = true, .regular = true, .action = "open" });
}

/* Returns where the key of an s3 or hf source begins; 0: it is none. */
static size_t search_far_base(const char *url){
  zt_text bucket, key;
  zt_hub_place place;
  if( url[0]=='s' || url[0]=='S' ) return zt_s3_split(url, &bucket, &key) ? (size_t)(key.z-url) : 0;
  return zt_hub_split(url, &place) ? (size_t)(place.path.z-url) : 0;
}

/* Takes the first key of a listing, if it is the source itself. */
static bool search_far_take_itself(void *context, zt_text key, zt_remote_state *state){
  remote_search *s = context;
  const char *own = s->url+strlen(s->base);
  if( !state ) zt_fail_nomem(s->w->err);
  if( zt_text_equal(key, (zt_text){ own, strlen(own) }) && state ){
    s->found_itself = true;
    zt_search_append(s->w, s->url, (zt_path){ .literal = true, .regular = true, .remote = state });
    if( s->w->err->rc ) sqlite3_free(state);
  }else{
    sqlite3_free(state);
  }
  return false;
}

/* Returns whether a key of S3 exists: it is the first one that begins so. A bucket that may not be
** listed does not tell. */
static bool search_far_is_there(remote_search *s, const char *key){
  zt_error *err = s->w->err;
  zt_text bucket, whole;
  if( (s->url[0]!='s' && s->url[0]!='S') || !zt_s3_split(s->url, &bucket, &whole) ) return false;
  zt_s3_list(s->w->filter->remote, bucket, (zt_text){ key, strlen(key) }, search_far_take_itself, s,
             err);
  return s->found_itself;
}

/* Returns whether a key of S3 is the pattern itself, and thus all that it names. */
static bool search_far_is_literal(remote_search *s){
  zt_remote *r = s->w->filter->remote;
  char *known = zt_remote_learned(r, "literal", s->url, true, NULL);
  const bool literal = known ? *known=='1' : search_far_is_there(s, s->pattern);
  if( !known && !s->w->err->rc ) zt_remote_learn(r, "literal", s->url, literal ? "1" : "0");
  sqlite3_free(known);
  return literal;
}

/* A wanted path is looked up: a listing of what begins with it has it first. For a path elsewhere
** nothing is listed. */
static void remote_search_only(remote_search *s, const char *key){
  const char *only = s->w->filter->only;
  const size_t n = strlen(s->base);
  if( strncmp(only, s->base, n)!=0 ) return;
  only += n;
  if( !s->pattern && !search_far_is_below(s, only) ) return;
  if( s->url[0]!='s' && s->url[0]!='S' ){
    search_far_list(s, key, s->pattern ? strcspn(key, "*?[") : strlen(s->below));
    return;
  }
  search_far_list(s, only, strlen(only));
  if( s->pattern && !s->found_itself && s->w->out->n>s->from && search_far_is_literal(s) ){
    zt_search_drop(s->w->out, s->from);
  }
}

/* Adds all files below a directory. *any: something is there, whatever path is wanted; NULL: that
** does not matter. */
static void remote_search_below(remote_search *s, const char *key, bool *any){
  zt_error *err = s->w->err;
  const size_t n = strlen(key);
  char *below = n>0 && key[n-1]!='/' ? sqlite3_mprintf("%s/", key) : sqlite3_mprintf("%s", key);
  if( !below ){
    zt_fail_nomem(err);
    return;
  }
  s->pattern = NULL;
  s->below = below;
  if( s->w->filter->only ){
    remote_search_only(s, below);
    s->only_any = true;
  }
  if( !s->only_any || (any && !s->any && !err->rc) ) search_far_list(s, below, strlen(below));
  if( any ) *any = s->any;
  sqlite3_free(below);
}

static bool search_far_is_file_name(const zt_search *w, const char *key){
  const char *name = strrchr(key, '/');
  name = name ? name+1 : key;
  return *name && w->filter->files && w->filter->files(name);
}

/* A directory that may be a file without a name that tells. */
static void remote_search_either(remote_search *s, const char *key, bool *literal){
  zt_search *w = s->w;
  bool any = false;
  *literal = search_far_is_there(s, key);
  if( *literal || w->err->rc==SQLITE_NOMEM || w->err->rc==SQLITE_INTERRUPT ) return;
  if( !w->err->rc ) remote_search_below(s, key, &any);
  if( any && !w->err->rc ) return;
  /* Nothing is below: it is a file, or is missing */
  if( w->err->rc==SQLITE_ERROR && w->err->kind && strcmp(w->err->kind, "transient")!=0 ){
    zt_error_clear(w->err);
  }
  if( w->err->rc ) return;
  *literal = true;
  search_far_add_literal(w, s->url);
}

/* Adds the files that a pattern names. */
static void remote_search_matching(remote_search *s, const char *key){
  char *below = NULL;
  s->directories = key[strlen(key)-1]=='/';
  if( s->directories && (below = sqlite3_mprintf("%s**", key))==NULL ){
    zt_fail_nomem(s->w->err);
    return;
  }
  s->pattern = below ? below : key;
  if( s->w->filter->only ) remote_search_only(s, key);
  else search_far_list(s, key, strcspn(key, "*?["));
  sqlite3_free(below);
}

/* A source of s3 or hf, whose keys begin at nBase. */
static void remote_search_keys(remote_search *s, size_t nBase, bool *literal){
  const char *key = s->url+nBase;
  s->base = sqlite3_mprintf(s->url[nBase-1]=='/' ? "%.*s" : "%.*s/", (int)nBase, s->url);
  if( !s->base ){
    zt_fail_nomem(s->w->err);
  }else if( zt_glob_is_pattern(key) ){
    remote_search_matching(s, key);
  }else if( !*key || key[strlen(key)-1]=='/' ){
    remote_search_below(s, key, NULL);
  }else if( search_far_is_file_name(s->w, key) ){
    *literal = true;
    search_far_add_literal(s->w, s->url);
  }else{
    remote_search_either(s, key, literal);
  }
  sqlite3_free(s->base);
}

void zt_remote_search(zt_search *w, const char *url, bool *literal){
  const bool web = (url[0]=='h' || url[0]=='H') && (url[1]=='t' || url[1]=='T');
  const size_t nBase = web ? 0 : search_far_base(url);
  remote_search s = { .w = w, .url = url, .below = "", .from = w->out->n };
  *literal = nBase==0;
  if( nBase==0 ) search_far_add_literal(w, url);   /* Opening it reports any fault */
  else remote_search_keys(&s, nBase, literal);
}
#else
typedef int zt_remote_search_is_left_out;   /* A file of C has a declaration */
#endif
