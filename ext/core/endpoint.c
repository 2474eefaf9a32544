/* Names of hosts. See endpoint.h. */
#include "core/endpoint.h"
#include "core/remote.h"

#if ZT_REMOTE
#include "core/hub.h"
#include "core/path.h"
#include "core/s3_config.h"

#define ENDPOINT_AWS "s3.amazonaws.com"

/* HOST[:PORT] of a URL. */
static char *endpoint_host(const char *text, zt_error *err){
  sqlite3_str *out = sqlite3_str_new(NULL);
  zt_url url;
  char *origin, *host;
  if( zt_url_parse(text, &url, err)==SQLITE_OK ) zt_url_put_origin(out, &url);
  origin = sqlite3_str_finish(out);
  if( err->rc ){
    sqlite3_free(origin);
    return NULL;
  }
  host = origin ? sqlite3_mprintf("%s", strstr(origin, "://")+3) : NULL;
  if( !host ) zt_fail_nomem(err);
  sqlite3_free(origin);
  return host;
}

static char *endpoint_s3(zt_error *err){
  zt_s3_config config;
  char *host = NULL;
  if( zt_s3_config_get(&config, err)==SQLITE_OK ){
    if( config.endpoint ) host = endpoint_host(config.endpoint, err);
    else if( (host = sqlite3_mprintf("%s", ENDPOINT_AWS))==NULL ) zt_fail_nomem(err);
    zt_s3_config_clear(&config);
  }
  return host;
}

static char *endpoint_hub(zt_error *err){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *text, *host = NULL;
  zt_hub_put_endpoint(out);
  text = sqlite3_str_finish(out);
  if( text ) host = endpoint_host(text, err);
  else zt_fail_nomem(err);
  sqlite3_free(text);
  return host;
}

char *zt_endpoint(const char *source, zt_error *err){
  const size_t n = zt_path_scheme(source);
  if( n==2 && sqlite3_strnicmp(source, "s3", 2)==0 ) return endpoint_s3(err);
  if( n==2 && sqlite3_strnicmp(source, "hf", 2)==0 ) return endpoint_hub(err);
  if( (n==4 || n==5) && sqlite3_strnicmp(source, "https", (int)n)==0 ){
    return endpoint_host(source, err);
  }
  return NULL;
}

#else

char *zt_endpoint(const char *source, zt_error *err){
  (void)source;
  (void)err;
  return NULL;
}

#endif
