/*
** The hub. See hub.h.
**
**   page     := array of objects with "type" ("file", "directory", ...), "path", "size", "oid", and
**               for large files "lfs" with "oid", their digest
*/
#include "core/remote.h"

#if ZT_REMOTE
#include "core/hub.h"

#include <stdlib.h>
#include "core/json_read.h"
#include "core/s3_config.h"

#define HUB_ENDPOINT "https://huggingface.co"
#define HUB_PAGE ((uint64_t)16 << 20)      /* Most bytes of a page of a listing */
#define HUB_REVISION ((uint64_t)16 << 20)  /* Most bytes of what is said of a revision */
#define HUB_TEXT 4096                      /* Most bytes of a path */
#define HUB_PAGES 10000                    /* Most pages of a listing */
#define HUB_COMMIT 40                      /* Digits of a commit */
#define HUB_HINTS 10000                    /* Most names that are looked at before a listing */

/* --- Sources --- */

/* Takes the text up to a slash, which it passes. */
static zt_text hub_part(const char **z){
  const zt_text part = { *z, strcspn(*z, "/") };
  *z += part.n;
  if( **z ) ++*z;
  return part;
}

static bool hub_is_name(zt_text name){
  if( name.n==0 || *name.z=='.' ) return false;
  for(size_t i=0; i<name.n; i++){
    const char ch = name.z[i];
    if( !((ch>='a' && ch<='z') || (ch>='A' && ch<='Z') || (ch>='0' && ch<='9')
          || strchr("._-", ch)) ) return false;
  }
  return true;
}

static bool hub_is_revision(zt_text revision){
  for(size_t i=0; i<revision.n; i++){
    if( (unsigned char)revision.z[i]<=' ' || strchr("?#\\\"<>", revision.z[i]) ) return false;
  }
  return revision.n>0 && !zt_url_has_dots(revision);
}

bool zt_hub_split(const char *source, zt_hub_place *out){
  const char *z = source+5, *at;
  zt_text org = hub_part(&z), name;
  out->type = ZT_TEXT("models");
  out->revision = ZT_TEXT("main");
  if( zt_text_is(org, "datasets") || zt_text_is(org, "spaces") || zt_text_is(org, "models") ){
    out->type = org;
    org = hub_part(&z);
  }
  name = hub_part(&z);
  at = name.n ? memchr(name.z, '@', name.n) : NULL;
  if( at ){
    out->revision = (zt_text){ at+1, name.n-(size_t)(at-name.z)-1 };
    name.n = (size_t)(at-name.z);
  }
  if( !hub_is_name(org) || !hub_is_name(name) || !hub_is_revision(out->revision) ) return false;
  out->repo = (zt_text){ org.z, org.n+1+name.n };
  out->path = (zt_text){ z, strlen(z) };
  return true;
}

static bool hub_is_models(const zt_hub_place *place){
  return zt_text_is(place->type, "models");
}

char *zt_hub_name(const zt_hub_place *place){
  return sqlite3_mprintf("hf://%.*s%s%.*s/%.*s", hub_is_models(place) ? 0 : (int)place->type.n,
                         place->type.z, hub_is_models(place) ? "" : "/", (int)place->repo.n,
                         place->repo.z, (int)place->path.n, place->path.z);
}

/* --- URLs --- */

void zt_hub_put_endpoint(sqlite3_str *out){
  const char *z = getenv("HF_ENDPOINT");
  size_t n;
  if( !z || !*z ) z = HUB_ENDPOINT;
  n = strlen(z);
  while( n>0 && z[n-1]=='/' ) n--;
  sqlite3_str_append(out, z, (int)n);
}

static bool hub_is_commit(zt_text text){
  size_t i = 0;
  while( i<text.n && zt_hex_digit(text.z[i])>=0 ) i++;
  return text.n==HUB_COMMIT && i==text.n;
}

/* The key under which a revision's commit is remembered. */
static char *hub_revision_key(const zt_hub_place *place){
  return sqlite3_mprintf("%.*s/%.*s@%.*s", (int)place->type.n, place->type.z, (int)place->repo.n,
                         place->repo.z, (int)place->revision.n, place->revision.z);
}

/* Appends the commit of a revision, if it is known, or the revision. False: memory is short. */
static bool hub_put_revision(sqlite3_str *out, zt_remote *r, const zt_hub_place *place){
  char *key = hub_revision_key(place);
  bool nomem = key==NULL;
  char *commit = key ? zt_remote_learned(r, "commit", key, true, &nomem) : NULL;
  if( commit ) sqlite3_str_appendall(out, commit);
  else sqlite3_str_append(out, place->revision.z, (int)place->revision.n);
  sqlite3_free(commit);
  sqlite3_free(key);
  return !nomem;
}

char *zt_hub_url(zt_remote *r, const zt_hub_place *place){
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_hub_put_endpoint(out);
  if( !hub_is_models(place) ) sqlite3_str_appendf(out, "/%.*s", (int)place->type.n, place->type.z);
  sqlite3_str_appendf(out, "/%.*s/resolve/", (int)place->repo.n, place->repo.z);
  if( !hub_put_revision(out, r, place) ){
    sqlite3_free(sqlite3_str_finish(out));
    return NULL;
  }
  sqlite3_str_appendchar(out, 1, '/');
  zt_url_put_encoded(out, place->path, true);
  return sqlite3_str_finish(out);
}

/* --- Credentials --- */

/* Returns the token, from sqlite3_malloc64(). NULL: none, or memory is short (recorded). */
static char *hub_token(zt_error *err){
  const char *token = getenv("HF_TOKEN"), *path = getenv("HF_TOKEN_PATH");
  const char *home = getenv("HF_HOME");
  zt_error homeless = ZT_ERROR_NONE;
  char *of_user = NULL, *named, *text = NULL;
  if( token && *token ){
    text = sqlite3_mprintf("%s", token);
    if( !text ) zt_fail_nomem(err);
    return text;
  }
  if( path && *path ) named = sqlite3_mprintf("%s", path);
  else if( home && *home ) named = sqlite3_mprintf("%s/token", home);
  else{
    of_user = zt_os_home(&homeless);
    named = of_user ? sqlite3_mprintf("%s/.cache/huggingface/token", of_user) : NULL;
  }
  if( named ) text = zt_s3_read_file(named, err);
  else if( !homeless.rc || homeless.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  if( text ) text[strcspn(text, " \t\r\n")] = 0;
  sqlite3_free(named);
  sqlite3_free(of_user);
  zt_error_clear(&homeless);
  return text;
}

/* Adds the token, if the URL is the hub's. */
static int hub_authorize(zt_fetch *f, const zt_url *url, zt_error *err){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *endpoint, *token = NULL;
  zt_url hub;
  zt_hub_put_endpoint(out);
  endpoint = sqlite3_str_finish(out);
  if( !endpoint ) return zt_fail_nomem(err);
  if( zt_url_parse(endpoint, &hub, err)==SQLITE_OK && zt_url_same_origin(&hub, url) ){
    token = hub_token(err);
  }
  if( token && *token ){
    zt_fetch_add_header(f, sqlite3_mprintf("Authorization: Bearer %s", token), err);
  }
  if( token ) memset(token, 0, strlen(token));
  sqlite3_free(token);
  sqlite3_free(endpoint);
  return err->rc;
}

/* Keeps the digest that the hub's own answer states of a file. */
static void hub_learn(zt_fetch *f){
  const zt_http_answer *a = &f->http.answer;
  if( *a->linked_etag ) memcpy(f->etag, a->linked_etag, sizeof(f->etag));
  else if( !f->linked && *a->etag ) memcpy(f->etag, a->etag, sizeof(f->etag));
  f->linked |= *a->linked_etag!=0;
}

const zt_fetch_scheme zt_hub_scheme = { .authorize = hub_authorize, .learn = hub_learn,
  .anonymous = "and no token was sent (HF_TOKEN)" };

/* --- Pages --- */

/* What is said of a file. */
typedef struct hub_entry {
  char path[HUB_TEXT+1], oid[HUB_TEXT+1];
  size_t nPath, nOid;
  bool file, has_path, has_size, large;
  uint64_t size;
} hub_entry;

/* Copies a text that is not too long. */
static bool hub_copy(zt_json_string text, char out[HUB_TEXT+1], size_t *n){
  if( text.raw.n>HUB_TEXT ) return false;
  *n = zt_json_unescape(text, out);
  out[*n] = 0;
  return strlen(out)==*n;
}

static void hub_read_text(zt_json_reader *r, char out[HUB_TEXT+1], size_t *n, bool *has){
  zt_json_string text;
  if( zt_json_read_peek(r)!=ZT_JSON_TEXT ) zt_json_read_skip(r);
  else if( zt_json_read_text(r, &text) ) *has = hub_copy(text, out, n);
}

/* Reads "lfs": the digest of a large file replaces its object's. */
static void hub_read_lfs(zt_json_reader *r, hub_entry *e){
  zt_json_level level;
  zt_json_string key;
  if( zt_json_read_peek(r)!=ZT_JSON_OBJECT ){
    zt_json_read_skip(r);
    return;
  }
  zt_json_read_open(r, ZT_JSON_OBJECT, &level);
  while( zt_json_read_more(r, &level) && zt_json_read_key(r, &key) ){
    if( zt_json_string_is(key, "oid") ) hub_read_text(r, e->oid, &e->nOid, &e->large);
    else zt_json_read_skip(r);
  }
}

static void hub_read_entry(zt_json_reader *r, hub_entry *e){
  zt_json_level level;
  zt_json_string key;
  char oid[HUB_TEXT+1], type[HUB_TEXT+1];
  size_t nOid = 0, nType = 0;
  bool has_oid = false, has_type = false;
  zt_json_read_open(r, ZT_JSON_OBJECT, &level);
  while( zt_json_read_more(r, &level) && zt_json_read_key(r, &key) ){
    if( zt_json_string_is(key, "path") ) hub_read_text(r, e->path, &e->nPath, &e->has_path);
    else if( zt_json_string_is(key, "type") ) hub_read_text(r, type, &nType, &has_type);
    else if( zt_json_string_is(key, "oid") ) hub_read_text(r, oid, &nOid, &has_oid);
    else if( zt_json_string_is(key, "lfs") ) hub_read_lfs(r, e);
    else if( zt_json_string_is(key, "size") && zt_json_read_peek(r)==ZT_JSON_INTEGER ){
      e->has_size = zt_json_read_uint(r, &e->size);
    }else zt_json_read_skip(r);
  }
  e->file = has_type && strcmp(type, "file")==0;
  if( e->large || !has_oid ) return;
  memcpy(e->oid, oid, nOid+1);
  e->nOid = nOid;
}

/* Makes the state of a file: its ETag is the quoted digest. */
static zt_remote_state *hub_state(const hub_entry *e){
  char *etag = e->nOid ? sqlite3_mprintf("\"%s\"", e->oid) : sqlite3_mprintf("");
  zt_remote_state *s = etag
      ? zt_remote_state_new(e->size, INT64_MIN, (zt_text){ etag, strlen(etag) }) : NULL;
  sqlite3_free(etag);
  return s;
}

int zt_hub_read_page(zt_span json, zt_hub_file *file, void *context, zt_error *err){
  zt_error bad = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_level level;
  hub_entry *e = sqlite3_malloc64(sizeof(*e));
  if( !e ) return zt_fail_nomem(err);
  zt_json_read_init(&r, "the listing:", json, &bad);
  zt_json_read_open(&r, ZT_JSON_ARRAY, &level);
  while( zt_json_read_more(&r, &level) ){
    *e = (hub_entry){ .size = 0 };
    hub_read_entry(&r, e);
    if( bad.rc ) break;
    if( !e->file ) continue;
    if( !e->has_path || !e->has_size || e->nPath==0 ){
      zt_fail(&bad, SQLITE_ERROR, "a file without a path or a size");
      break;
    }
    if( file && !file(context, (zt_text){ e->path, e->nPath }, hub_state(e)) ) file = NULL;
  }
  zt_json_read_finish(&r);
  if( bad.rc ) zt_fail_remote(err, "transient", "the listing is no listing");
  zt_error_clear(&bad);
  sqlite3_free(e);
  return err->rc;
}

/* --- Listings --- */

/* A page's file is below the directory that is listed, and has a path that stays there. */
typedef struct hub_check {
  zt_text directory;
  bool outside;
} hub_check;

static bool hub_check_file(void *context, zt_text path, zt_remote_state *state){
  hub_check *c = context;
  const size_t n = c->directory.n;
  sqlite3_free(state);
  if( zt_url_has_dots(path) || *path.z=='/' ) c->outside = true;
  if( n>0 && (path.n<=n || memcmp(path.z, c->directory.z, n)!=0 || path.z[n]!='/') ){
    c->outside = true;
  }
  return !c->outside;
}

/* Reads the commit from what the hub says of a revision. */
static void hub_read_commit(zt_span json, char out[HUB_COMMIT+1]){
  zt_error bad = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_level level;
  zt_json_string key, text;
  out[0] = 0;
  zt_json_read_init(&r, "the revision:", json, &bad);
  zt_json_read_open(&r, ZT_JSON_OBJECT, &level);
  while( zt_json_read_more(&r, &level) && zt_json_read_key(&r, &key) ){
    if( !zt_json_string_is(key, "sha") || zt_json_read_peek(&r)!=ZT_JSON_TEXT ){
      zt_json_read_skip(&r);
    }else if( zt_json_read_text(&r, &text) && !text.escaped && hub_is_commit(text.raw) ){
      memcpy(out, text.raw.z, HUB_COMMIT);
      out[HUB_COMMIT] = 0;
    }
  }
  zt_error_clear(&bad);
}

static int hub_accept_commit(zt_fetch *f, zt_error *err){
  char *commit = f->context;
  hub_read_commit(zt_fetch_body(f), commit);
  if( *commit ) return SQLITE_OK;
  return zt_fail_remote(err, "transient", "the hub's answer names no commit");
}

static char *hub_api(const zt_hub_place *place, const char *what){
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_hub_put_endpoint(out);
  sqlite3_str_appendf(out, "/api/%.*s/%.*s/%s/", (int)place->type.n, place->type.z,
                      (int)place->repo.n, place->repo.z, what);
  return sqlite3_str_finish(out);
}

/* A revision that is not there may be the first part of one with a slash, and the rest is in the
** path. */
static void hub_suggest_slash(const zt_fetch *f, zt_error *err){
  const zt_http_answer *a = &f->http.answer;
  if( !err->kind || strcmp(a->word, "RevisionNotFound")!=0 ) return;
  zt_error_clear(err);
  zt_fail_remote(err, "missing", "cannot %s: %d %s; a / in a revision is written %%2F:"
                 " hf://org/repo@refs%%2Fpr%%2F1/path", f->what, a->status, a->word);
}

/* The same as zt_hub_resolve(). If the hub is asked, its answer goes to *said, which is owned. If
** that is NULL, it is dropped. */
static int hub_resolve(zt_remote *r, const zt_hub_place *place, const char *name,
                       zt_http_answer *said, zt_error *err){
  char *key = hub_revision_key(place);
  char *known = key ? zt_remote_learned(r, "commit", key, true, NULL) : NULL;
  char *api = NULL, *url = NULL, commit[HUB_COMMIT+1];
  zt_fetch f = { .remote = r, .kind = ZT_FETCH_HUB, .scheme = &zt_hub_scheme, .name = name,
                 .what = "open", .most = HUB_REVISION, .accept = hub_accept_commit,
                 .context = commit };
  if( !key ) zt_fail_nomem(err);
  if( err->rc || known || hub_is_commit(place->revision) ) goto end;
  api = hub_api(place, "revision");
  url = api ? sqlite3_mprintf("%s%.*s", api, (int)place->revision.n, place->revision.z)
            : NULL;
  if( !url ){
    zt_fail_nomem(err);
    goto end;
  }
  f.url = url;
  if( zt_fetch_end(&f, err)==SQLITE_OK ){
    if( !zt_remote_learn(r, "commit", key, commit) ) zt_fail_nomem(err);
    if( said ){
      said->body = f.http.answer.body;
      said->n = f.http.answer.n;
      f.http.answer.body = NULL;
    }
  }else{
    hub_suggest_slash(&f, err);
  }
  zt_fetch_clear(&f);
end:
  sqlite3_free(key);
  sqlite3_free(known);
  sqlite3_free(api);
  sqlite3_free(url);
  return err->rc;
}

int zt_hub_resolve(zt_remote *r, const zt_hub_place *place, const char *name, zt_error *err){
  return hub_resolve(r, place, name, NULL, err);
}

/* Reads an element of "siblings". */
static void hub_read_sibling(zt_json_reader *r, zt_hub_hint *hint, void *context){
  zt_json_level level;
  zt_json_string key;
  char name[HUB_TEXT+1];
  size_t n = 0;
  bool has = false;
  if( zt_json_read_peek(r)!=ZT_JSON_OBJECT ){
    zt_json_read_skip(r);
    return;
  }
  zt_json_read_open(r, ZT_JSON_OBJECT, &level);
  while( zt_json_read_more(r, &level) && zt_json_read_key(r, &key) ){
    if( zt_json_string_is(key, "rfilename") ) hub_read_text(r, name, &n, &has);
    else zt_json_read_skip(r);
  }
  if( has && n>0 && *name!='/' && !zt_url_has_dots((zt_text){ name, n }) ){
    hint(context, (zt_text){ name, n });
  }
}

/* Reads the names of files from what the hub says of a revision: hints, and no more. */
static void hub_read_names(zt_span json, zt_hub_hint *hint, void *context){
  zt_error bad = ZT_ERROR_NONE;
  zt_json_reader r;
  zt_json_level level, siblings;
  zt_json_string key;
  zt_json_read_init(&r, "the revision:", json, &bad);
  zt_json_read_open(&r, ZT_JSON_OBJECT, &level);
  while( zt_json_read_more(&r, &level) && zt_json_read_key(&r, &key) ){
    if( !zt_json_string_is(key, "siblings") || zt_json_read_peek(&r)!=ZT_JSON_ARRAY ){
      zt_json_read_skip(&r);
      continue;
    }
    zt_json_read_open(&r, ZT_JSON_ARRAY, &siblings);
    for(int i=0; i<HUB_HINTS && zt_json_read_more(&r, &siblings); i++){
      hub_read_sibling(&r, hint, context);
    }
    break;
  }
  zt_error_clear(&bad);
}

static char *hub_tree_url(zt_remote *r, const zt_hub_place *place){
  char *api = hub_api(place, "tree");
  sqlite3_str *out = sqlite3_str_new(NULL);
  bool whole;
  sqlite3_str_appendall(out, api ? api : "");
  whole = hub_put_revision(out, r, place) && api;
  if( place->path.n ) sqlite3_str_appendchar(out, 1, '/');
  zt_url_put_encoded(out, place->path, true);
  sqlite3_str_appendall(out, "?recursive=true&limit=1000");
  sqlite3_free(api);
  if( whole ) return sqlite3_str_finish(out);
  sqlite3_free(sqlite3_str_finish(out));
  return NULL;
}

/* A listing on its way. */
typedef struct hub_listing {
  zt_remote *remote;
  zt_text directory;         /* Whose files it has */
  char *name;                /* As what may be reached lists it; owned, like all texts */
  char *url;                 /* Of this page */
  char *before;              /* Of an earlier one */
  char *next;                /* Of the next one; NULL: none */
  zt_http_answer revision;   /* The hub's answer about it, until the hints are read */
  zt_hub_hint *hint;         /* NULL: none are wanted */
} hub_listing;

/* Finds the URL of the next page: another one, at the same origin. */
static int hub_find_next(hub_listing *l, const char *link, zt_error *err){
  zt_url from, to;
  bool sound;
  if( zt_url_parse(l->url, &from, err) ) return err->rc;
  l->next = zt_url_resolve(&from, (zt_text){ link, strlen(link) });
  if( !l->next ) return zt_fail_nomem(err);
  sound = zt_url_parse(l->next, &to, err)==SQLITE_OK && zt_url_same_origin(&from, &to)
       && strcmp(l->next, l->url)!=0 && (!l->before || strcmp(l->next, l->before)!=0);
  zt_error_clear(err);
  return sound ? SQLITE_OK
               : zt_fail_remote(err, "transient", "the listing goes in circles, or elsewhere");
}

/* Checks a page, before anything of it is taken. */
static int hub_accept_page(zt_fetch *f, zt_error *err){
  hub_listing *l = f->context;
  hub_check check = { .directory = l->directory };
  sqlite3_free(l->next);
  l->next = NULL;
  if( zt_hub_read_page(zt_fetch_body(f), hub_check_file, &check, err) ) return err->rc;
  if( check.outside ) return zt_fail_remote(err, "transient", "the listing is no listing");
  return f->http.answer.next ? hub_find_next(l, f->http.answer.next, err) : SQLITE_OK;
}

/* Asks for a page, delivers its files, and goes to the next one. `kept`: each circle meets this
** page. */
static int hub_page(hub_listing *l, bool kept, zt_hub_file *file, void *context, zt_error *err){
  zt_fetch f = {
    .remote = l->remote, .kind = ZT_FETCH_HUB, .scheme = &zt_hub_scheme, .name = l->name,
    .url = l->url, .what = "list", .most = HUB_PAGE, .accept = hub_accept_page, .context = l
  };
  if( l->revision.body ){   /* The listing is asked for before its files */
    zt_fetch_begin(&f);
    hub_read_names((zt_span){ l->revision.body, l->revision.n }, l->hint, context);
    sqlite3_free(l->revision.body);
    l->revision.body = NULL;
  }
  if( zt_fetch_end(&f, err)==SQLITE_OK ) zt_hub_read_page(zt_fetch_body(&f), file, context, err);
  zt_fetch_clear(&f);
  if( kept ){
    sqlite3_free(l->before);
    l->before = l->url;
  }else{
    sqlite3_free(l->url);
  }
  l->url = l->next;
  l->next = NULL;
  return err->rc;
}

int zt_hub_list(zt_remote *r, const zt_hub_place *place, zt_hub_hint *hint, zt_hub_file *file,
                void *context, zt_error *err){
  hub_listing l = { .remote = r, .directory = place->path, .name = zt_hub_name(place),
                    .hint = hint };
  if( !l.name ) return zt_fail_nomem(err);
  if( hub_resolve(r, place, l.name, hint ? &l.revision : NULL, err)==SQLITE_OK ){
    l.url = hub_tree_url(r, place);
    if( !l.url ) zt_fail_nomem(err);
  }
  for(int i=0; l.url && !err->rc; i++){
    if( i==HUB_PAGES ) zt_fail_remote(err, "transient", "the listing has no end");
    else hub_page(&l, (i & (i+1))==0, file, context, err);   /* Pages 0, 1, 3, 7 ... are kept */
  }
  sqlite3_free(l.revision.body);
  sqlite3_free(l.before);
  sqlite3_free(l.next);
  sqlite3_free(l.url);
  sqlite3_free(l.name);
  return err->rc;
}
#else
typedef int zt_hub_is_left_out;   /* A file of C has a declaration */
#endif
