/* S3. See s3.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include "core/s3.h"

#include "core/os_net.h"
#include "core/s3_config.h"
#include "core/sigv4.h"
#include "core/url.h"

#define S3_BUCKET_MAX 255
#define S3_PAGE_BYTES ((uint64_t)16 << 20)   /* Most bytes of a page of 1,000 keys */
#define S3_EMPTY 1000              /* Most pages without a key, one after the other */

bool zt_s3_split(const char *source, zt_text *bucket, zt_text *key){
  const char *z = source+5;
  const size_t n = strcspn(z, "/");
  *bucket = (zt_text){ z, n };
  *key = (zt_text){ z[n] ? z+n+1 : z+n, 0 };
  key->n = strlen(key->z);
  if( n==0 || n>S3_BUCKET_MAX || *z=='.' ) return false;
  for(size_t i=0; i<n; i++){
    const char ch = z[i];
    if( !((ch>='a' && ch<='z') || (ch>='A' && ch<='Z') || (ch>='0' && ch<='9')
          || strchr("._-", ch)) ) return false;
  }
  return true;
}

/* --- Where a bucket is --- */

static bool s3_is_region(const char *z){
  const size_t n = strlen(z);
  return n>0 && n==strspn(z, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

/* Replaces the region by the one that the bucket was found to be in. */
static int s3_find_region(const zt_fetch *f, zt_s3_config *config, zt_error *err){
  char *bucket = sqlite3_mprintf("%.*s", (int)f->bucket.n, f->bucket.z), *learned;
  bool nomem = bucket==NULL;
  learned = bucket ? zt_remote_learned(f->remote, "region", bucket, false, &nomem) : NULL;
  sqlite3_free(bucket);
  if( nomem ) return zt_fail_nomem(err);
  if( learned ){
    sqlite3_free(config->region);
    config->region = learned;
  }
  if( s3_is_region(config->region) ) return SQLITE_OK;
  return zt_fail_remote(err, "denied", "AWS_REGION is no region");
}

static bool s3_learn_region(zt_fetch *f, zt_error *err){
  const char *region = f->http.answer.region;
  zt_s3_config config;
  char *bucket;
  bool other = false;
  if( !s3_is_region(region) || zt_s3_config_get(&config, err) ) return false;
  if( s3_find_region(f, &config, err)==SQLITE_OK && strcmp(region, config.region)!=0 ){
    bucket = sqlite3_mprintf("%.*s", (int)f->bucket.n, f->bucket.z);
    other = bucket && zt_remote_learn(f->remote, "region", bucket, region);
    if( !other ) zt_fail_nomem(err);
    sqlite3_free(bucket);
  }
  zt_s3_config_clear(&config);
  return other;
}

/* Appends the origin of a bucket and, with path style, the bucket's part of the path. */
static void s3_put_place(sqlite3_str *out, const zt_fetch *f, const zt_s3_config *config){
  const char *end = strncmp(config->region, "cn-", 3)==0 ? "amazonaws.com.cn" : "amazonaws.com";
  const bool dotted = memchr(f->bucket.z, '.', f->bucket.n)!=NULL;
  if( config->endpoint ){
    size_t n = strlen(config->endpoint);
    while( n>0 && config->endpoint[n-1]=='/' ) n--;
    sqlite3_str_append(out, config->endpoint, (int)n);
  }else if( dotted ){
    sqlite3_str_appendf(out, "https://s3.%s.%s", config->region, end);
  }else{
    sqlite3_str_appendf(out, "https://%.*s.s3.%s.%s", (int)f->bucket.n, f->bucket.z, config->region,
                        end);
  }
  if( config->endpoint || dotted ){
    sqlite3_str_appendf(out, "/%.*s", (int)f->bucket.n, f->bucket.z);
  }
}

static char *s3_url(const zt_fetch *f, const zt_s3_config *config){
  sqlite3_str *out = sqlite3_str_new(NULL);
  s3_put_place(out, f, config);
  sqlite3_str_appendchar(out, 1, '/');
  zt_url_put_encoded(out, f->key, true);
  if( f->query ) sqlite3_str_appendf(out, "?%s", f->query);
  return sqlite3_str_finish(out);
}

/* --- Signing --- */

/* Writes seconds since 1970 as 20130524T000000Z. */
static void s3_time(int64_t seconds, char out[17]){
  const int64_t days = seconds/86400, rest = seconds%86400;
  const int64_t z = days+719468, era = z/146097, of_era = z-era*146097;
  const int64_t year_of_era = (of_era-of_era/1460+of_era/36524-of_era/146096)/365;
  const int64_t of_year = of_era-(365*year_of_era+year_of_era/4-year_of_era/100);
  const int64_t shifted = (5*of_year+2)/153, day = of_year-(153*shifted+2)/5+1;
  const int64_t month = shifted<10 ? shifted+3 : shifted-9;
  const int64_t year = year_of_era+era*400+(month<=2);
  sqlite3_snprintf(17, out, "%04d%02d%02dT%02d%02d%02dZ", (int)year, (int)month, (int)day,
                   (int)(rest/3600), (int)(rest/60%60), (int)(rest%60));
}

static int s3_sign(zt_fetch *f, const zt_s3_config *config, const char *url, zt_error *err){
  sqlite3_str *host = sqlite3_str_new(NULL);
  char *origin, *headers[ZT_SIGV4_HEADERS];
  zt_sigv4 request = { .requester_pays = config->requester_pays };
  zt_url parsed;
  int n = 0;
  if( zt_url_parse(url, &parsed, err) ){
    sqlite3_free(sqlite3_str_finish(host));
    return err->rc;
  }
  zt_url_put_origin(host, &parsed);
  origin = sqlite3_str_finish(host);
  if( !origin ) return zt_fail_nomem(err);
  request.host.z = strstr(origin, "://")+3;
  request.host.n = strlen(request.host.z);
  request.path = parsed.path;
  request.query = parsed.query.z ? parsed.query : (zt_text){ "", 0 };
  request.region = (zt_text){ config->region, strlen(config->region) };
  request.service = ZT_TEXT("s3");
  request.key_id = (zt_text){ config->key_id, strlen(config->key_id) };
  request.secret = (zt_text){ config->secret, strlen(config->secret) };
  if( config->token ) request.token = (zt_text){ config->token, strlen(config->token) };
  s3_time(zt_net_now(), request.time);
  if( zt_sigv4_sign(&request, headers, &n, err)==SQLITE_OK ){
    for(int i=0; i<n; i++){
      if( err->rc ) sqlite3_free(headers[i]);
      else zt_fetch_add_header(f, headers[i], err);
    }
  }
  sqlite3_free(origin);
  return err->rc;
}

static int s3_prepare(zt_fetch *f, char **url, zt_error *err){
  zt_s3_config config;
  *url = NULL;
  if( zt_s3_config_get(&config, err) ) return err->rc;
  if( s3_find_region(f, &config, err)==SQLITE_OK ){
    *url = s3_url(f, &config);
    if( !*url ) zt_fail_nomem(err);
  }
  if( !err->rc && config.key_id && config.secret ) s3_sign(f, &config, *url, err);
  zt_s3_config_clear(&config);
  return err->rc;
}

const zt_fetch_scheme zt_s3_scheme = { .sign = s3_prepare, .move = s3_learn_region,
  .anonymous = "and it was not signed (AWS_ACCESS_KEY_ID, AWS_PROFILE)" };

/* --- Listings --- */

/* A listing on its way. */
typedef struct s3_listing {
  zt_remote *remote;
  zt_text bucket, prefix;
  char *name;                /* As what may be reached lists it; owned */
  char *token;               /* Of this page; owned, NULL: the first */
  char *next;                /* Of the next one; owned, NULL: none */
  char *last;                /* The last key so far; owned */
  bool circular, foreign, ended, nomem;
  bool first;                /* A key of this page was seen */
  int empty;                 /* Pages without one so far */
  zt_s3_object *object;
  void *context;
} s3_listing;

static char *s3_query(const s3_listing *l){
  sqlite3_str *out = sqlite3_str_new(NULL);
  if( l->token ){
    sqlite3_str_appendall(out, "continuation-token=");
    zt_url_put_encoded(out, (zt_text){ l->token, strlen(l->token) }, false);
    sqlite3_str_appendchar(out, 1, '&');
  }
  sqlite3_str_appendall(out, "encoding-type=url&list-type=2&max-keys=1000&prefix=");
  zt_url_put_encoded(out, l->prefix, false);
  return sqlite3_str_finish(out);
}

/* Checks that a page goes on behind the one before, and has keys of the prefix alone. */
static bool s3_check_object(void *context, zt_text key, zt_remote_state *state){
  s3_listing *l = context;
  sqlite3_free(state);
  if( !l->first && l->last && zt_text_compare(key, (zt_text){ l->last, strlen(l->last) })<=0 ){
    l->circular = true;
  }
  l->first = true;
  if( key.n<l->prefix.n || memcmp(key.z, l->prefix.z, l->prefix.n)!=0 ) l->foreign = true;
  return !l->circular && !l->foreign;
}

static bool s3_take_object(void *context, zt_text key, zt_remote_state *state){
  s3_listing *l = context;
  char *last = sqlite3_mprintf("%.*s", (int)key.n, key.z);
  if( !last || !state ){
    sqlite3_free(last);
    sqlite3_free(state);
    l->nomem = true;
    return false;
  }
  sqlite3_free(l->last);
  l->last = last;
  if( !l->object(l->context, key, state) ) l->ended = true;
  return !l->ended;
}

/* Checks a page, before anything of it is taken. */
static int s3_accept_page(zt_fetch *f, zt_error *err){
  s3_listing *l = f->context;
  l->circular = l->foreign = l->first = false;
  sqlite3_free(l->next);
  if( zt_s3_read_page(zt_fetch_body(f), s3_check_object, l, &l->next, err) ) return err->rc;
  if( l->foreign ){
    return zt_fail_remote(err, "transient", "the listing is no listing: a key of another prefix");
  }
  if( l->next && l->token && strcmp(l->next, l->token)==0 ) l->circular = true;
  if( l->next && !l->first && l->empty+1>=S3_EMPTY ) l->circular = true;
  if( l->circular ) zt_fail_remote(err, "transient", "the listing goes in circles");
  return err->rc;
}

/* Asks for a page and delivers its objects. */
static int s3_page(s3_listing *l, zt_error *err){
  char *query = s3_query(l), *unused = NULL;
  zt_fetch f = {
    .remote = l->remote, .kind = ZT_FETCH_S3, .scheme = &zt_s3_scheme, .name = l->name,
    .bucket = l->bucket, .key = { "", 0 }, .what = "list", .query = query, .most = S3_PAGE_BYTES,
    .accept = s3_accept_page, .context = l
  };
  if( !query ) return zt_fail_nomem(err);
  if( zt_fetch_end(&f, err)==SQLITE_OK ){
    zt_s3_read_page(zt_fetch_body(&f), s3_take_object, l, &unused, err);
    if( l->nomem ) zt_fail_nomem(err);
    sqlite3_free(unused);
    sqlite3_free(l->token);
    l->token = l->next;
    l->next = NULL;
    l->empty = l->first ? 0 : l->empty+1;
  }
  zt_fetch_clear(&f);
  sqlite3_free(query);
  return err->rc;
}

int zt_s3_list(zt_remote *r, zt_text bucket, zt_text prefix, zt_s3_object *object, void *context,
               zt_error *err){
  s3_listing l = {
    .remote = r, .bucket = bucket, .prefix = prefix, .object = object, .context = context,
    .name = sqlite3_mprintf("s3://%.*s/%.*s", (int)bucket.n, bucket.z, (int)prefix.n, prefix.z)
  };
  if( !l.name ) zt_fail_nomem(err);
  while( !err->rc && !l.ended && s3_page(&l, err)==SQLITE_OK && l.token ){}
  sqlite3_free(l.name);
  sqlite3_free(l.token);
  sqlite3_free(l.next);
  sqlite3_free(l.last);
  return err->rc;
}
#else
typedef int zt_s3_is_left_out;   /* A file of C has a declaration */
#endif
