/* What may be reached. See origins.h. */
#include "core/origins.h"

#include "core/grow.h"
#include "core/json.h"

#define ORIGINS_HTTPS 443

typedef enum origins_kind {
  ORIGINS_ANY, ORIGINS_URL, ORIGINS_S3, ORIGINS_HF
} origins_kind;

typedef struct origins_entry {
  origins_kind kind;
  char *text;          /* As written; owned */
  zt_url url;          /* ORIGINS_URL; borrows text */
  char *prefix;        /* What names or decoded paths begin with, no slash at its end; owned */
  size_t n;            /* Its length */
} origins_entry;

struct zt_origins {
  origins_entry *a;    /* Owned */
  size_t n, room;
};

void zt_origins_free(zt_origins *o){
  if( !o ) return;
  for(size_t i=0; i<o->n; i++){
    sqlite3_free(o->a[i].text);
    sqlite3_free(o->a[i].prefix);
  }
  sqlite3_free(o->a);
  sqlite3_free(o);
}

/* --- Entries --- */

/* Sets the decoded prefix of an entry, without slashes at its end. */
static void origins_set_prefix(origins_entry *e, zt_text prefix, bool decode, zt_error *err){
  e->prefix = sqlite3_malloc64(prefix.n+1);
  if( !e->prefix ){
    zt_fail_nomem(err);
    return;
  }
  e->n = prefix.n;
  if( decode ) e->n = zt_url_decode(prefix, false, e->prefix);
  else if( prefix.n>0 ) memcpy(e->prefix, prefix.z, prefix.n);
  while( e->n>0 && e->prefix[e->n-1]=='/' ) e->n--;
}

static bool origins_is_scheme(const char *z, const char *scheme){
  return sqlite3_strnicmp(z, scheme, (int)strlen(scheme))==0;
}

static void origins_parse(origins_entry *e, zt_error *err){
  zt_error bad = ZT_ERROR_NONE;
  const char *z = e->text;
  if( strcmp(z, "*")==0 ){
    e->kind = ORIGINS_ANY;
  }else if( origins_is_scheme(z, "s3://") || origins_is_scheme(z, "hf://") ){
    e->kind = origins_is_scheme(z, "s3") ? ORIGINS_S3 : ORIGINS_HF;
    origins_set_prefix(e, (zt_text){ z+5, strlen(z+5) }, false, err);
  }else if( zt_url_parse(z, &e->url, &bad)==SQLITE_OK && !e->url.query.z && !strchr(z, '#') ){
    e->kind = ORIGINS_URL;
    origins_set_prefix(e, e->url.path, true, err);
  }else{
    zt_fail(err, SQLITE_ERROR, "'%.*s' is no origin or prefix that may be allowed: write"
            " https://host/path, http://host:port, s3://bucket/prefix/, hf://org/ or *",
            zt_shown((zt_text){ z, strlen(z) }), z);
  }
  zt_error_clear(&bad);
}

static void origins_add(zt_origins *o, zt_text text, zt_error *err){
  origins_entry *a = zt_grow(o->a, &o->room, o->n+1, sizeof(*a), err);
  if( !a ) return;
  o->a = a;
  a[o->n] = (origins_entry){ .text = sqlite3_mprintf("%.*s", (int)text.n, text.z) };
  if( a[o->n++].text ) origins_parse(&a[o->n-1], err);
  else zt_fail_nomem(err);
}

int zt_origins_new(zt_text list, zt_origins **out, zt_error *err){
  zt_origins *o = sqlite3_malloc64(sizeof(*o));
  size_t i = 0;
  *out = NULL;
  if( !o ) return zt_fail_nomem(err);
  *o = (zt_origins){ 0 };
  while( i<list.n && !err->rc ){
    size_t from = i;
    while( i<list.n && list.z[i]!=' ' ) i++;
    if( i>from ) origins_add(o, (zt_text){ list.z+from, i-from }, err);
    i++;
  }
  if( err->rc ) zt_origins_free(o);
  else *out = o;
  return err->rc;
}

/* --- Deciding --- */

/* Returns whether the text is the entry's prefix, or continues it behind a slash. */
static bool origins_begins(const origins_entry *e, const char *z, size_t n){
  if( e->n==0 ) return true;
  return n>=e->n && memcmp(z, e->prefix, e->n)==0 && (n==e->n || z[e->n]=='/');
}

/* The same of a path that is percent-encoded. It needs no memory, whose lack would deny it. */
static bool origins_path_begins(const origins_entry *e, zt_text path){
  size_t k = 0;
  for(size_t i=0; i<path.n; k++){
    const bool encoded = path.z[i]=='%' && path.n-i>=3
                      && zt_url_is_encoded((zt_text){ path.z+i, 3 });
    char byte[3];
    zt_url_decode((zt_text){ path.z+i, encoded ? 3 : 1 }, false, byte);
    if( k==e->n ) return byte[0]=='/';
    if( byte[0]!=e->prefix[k] ) return false;
    i += encoded ? 3 : 1;
  }
  return k==e->n;
}

static bool origins_allow_url(const origins_entry *e, const zt_url *url){
  if( !zt_url_same_origin(&e->url, url) ) return false;
  if( e->n==0 ) return true;
  return !zt_url_has_dots(url->path) && origins_path_begins(e, url->path);
}

/* Returns whether a host is one of the hub's stores. */
static bool origins_is_store(const zt_url *url){
  static const char *const ends[] = { ".hf.co", ".huggingface.co" };
  if( !url->tls || url->port!=ORIGINS_HTTPS ) return false;
  for(size_t i=0; i<sizeof(ends)/sizeof(*ends); i++){
    const size_t n = strlen(ends[i]);
    if( url->host.n>n && sqlite3_strnicmp(url->host.z+url->host.n-n, ends[i], (int)n)==0 ){
      return true;
    }
  }
  return false;
}

/* named: an entry names the URL's origin, which allows what is not public and not https. */
static bool origins_allow_name(const origins_entry *e, const zt_reach *r, bool named){
  const bool hub = e->kind==ORIGINS_HF;
  zt_text name = r->name;
  if( (!r->url->tls && !named) || !name.z || name.n<5
   || !origins_is_scheme(name.z, hub ? "hf://" : "s3://") ) return false;
  if( r->from && !(hub && (origins_is_store(r->url) || zt_url_same_origin(r->from, r->url))) ){
    return false;
  }
  name = (zt_text){ name.z+5, name.n-5 };
  return !zt_url_has_dots(name) && origins_begins(e, name.z, name.n);
}

/* Returns whether an entry of the hub's origin lets a redirect reach the hub's stores. */
static bool origins_allow_store(const origins_entry *e, const zt_reach *r){
  return r->from && r->name.z && origins_is_scheme(r->name.z, "hf://")
      && e->url.tls && origins_allow_url(e, r->from) && origins_is_store(r->url);
}

/* Returns whether an entry names the origin, whatever its path. */
static bool origins_name(const zt_origins *o, const zt_url *url){
  for(size_t i=0; i<o->n; i++){
    if( o->a[i].kind==ORIGINS_URL && zt_url_same_origin(&o->a[i].url, url) ) return true;
  }
  return false;
}

bool zt_origins_allow(const zt_origins *o, const zt_reach *r, bool *any_address){
  const bool named = origins_name(o, r->url);
  bool allowed = false;
  *any_address = false;
  for(size_t i=0; i<o->n; i++){
    const origins_entry *e = &o->a[i];
    switch( e->kind ){
      case ORIGINS_ANY: allowed = allowed || r->url->tls; break;
      case ORIGINS_URL:
        if( origins_allow_url(e, r->url) ) allowed = *any_address = true;
        else if( origins_allow_store(e, r) ) allowed = true;
        break;
      case ORIGINS_S3:
      case ORIGINS_HF:
        if( !origins_allow_name(e, r, named) ) break;
        allowed = true;
        *any_address = *any_address || named;
        break;
    }
  }
  return allowed;
}

void zt_origins_put_json(sqlite3_str *out, const zt_origins *o){
  sqlite3_str_appendchar(out, 1, '[');
  for(size_t i=0; i<o->n; i++){
    if( i ) sqlite3_str_appendchar(out, 1, ',');
    zt_json_text(out, (zt_text){ o->a[i].text, strlen(o->a[i].text) });
  }
  sqlite3_str_appendchar(out, 1, ']');
}
