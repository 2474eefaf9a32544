/* Where S3 is, and the credentials. See s3_config.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include "core/s3_config.h"

#include <stdlib.h>
#include "core/host.h"
#include "core/os.h"

#define CONFIG_FILE ((uint64_t)1 << 20)   /* Most bytes of a file */

static const char *config_env(const char *name){
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* --- Files --- */

char *zt_s3_read_file(const char *path, zt_error *err){
  zt_error unread = ZT_ERROR_NONE;
  zt_stat state;
  zt_file file = zt_os_open(path, NULL, &state, &unread);
  char *text = NULL;
  int64_t n = -1;
  int error_number;
  if( unread.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  zt_error_clear(&unread);
  if( file<0 ) return NULL;
  if( state.id.size<=CONFIG_FILE ){
    text = sqlite3_malloc64(state.id.size+1);
    if( text ) n = zt_os_read(file, 0, text, (size_t)state.id.size, &error_number);
    else zt_fail_nomem(err);
  }
  zt_os_close(file);
  if( n>=0 ){
    text[n] = 0;
    return text;
  }
  sqlite3_free(text);
  return NULL;
}

static zt_text config_trim(const char *z, size_t n){
  while( n>0 && strchr(" \t\r", *z) ){
    z++;
    n--;
  }
  while( n>0 && strchr(" \t\r", z[n-1]) ) n--;
  return (zt_text){ z, n };
}

static bool config_is(zt_text text, const char *z){
  return text.n==strlen(z) && memcmp(text.z, z, text.n)==0;
}

zt_text zt_s3_ini(zt_text file, const char *section, const char *key){
  zt_text found = { "", 0 };
  bool here = false;
  for(size_t i=0; i<file.n; ){
    const char *z = file.z+i, *end = memchr(z, '\n', file.n-i), *equals;
    const size_t n = end ? (size_t)(end-z) : file.n-i;
    const zt_text line = config_trim(z, n);
    i += n+1;
    if( line.n>1 && line.z[0]=='[' && line.z[line.n-1]==']' ){
      here = config_is(config_trim(line.z+1, line.n-2), section);
    }
    equals = line.n>0 && here && !strchr("#;[", *line.z) && !strchr(" \t", *z)
           ? memchr(line.z, '=', line.n) : NULL;
    if( !equals || !config_is(config_trim(line.z, (size_t)(equals-line.z)), key) ) continue;
    found = config_trim(equals+1, line.n-(size_t)(equals-line.z)-1);
  }
  return found;
}

/* --- The profile --- */

typedef struct config_profile {
  const char *name;
  char *credentials, *config;      /* The files; owned, NULL: not there */
  char *section;                   /* In config; owned */
} config_profile;

/* Reads the file that a variable names, or the one below the home directory. */
static char *config_read(const char *variable, const char *below_home, zt_error *err){
  const char *named = config_env(variable);
  zt_error homeless = ZT_ERROR_NONE;
  char *home = named ? NULL : zt_os_home(&homeless), *path, *text = NULL;
  if( homeless.rc==SQLITE_NOMEM ) zt_fail_nomem(err);
  zt_error_clear(&homeless);
  if( !named && !home ) return NULL;
  path = named ? sqlite3_mprintf("%s", named) : sqlite3_mprintf("%s/%s", home, below_home);
  if( path ) text = zt_s3_read_file(path, err);
  else zt_fail_nomem(err);
  sqlite3_free(path);
  sqlite3_free(home);
  return text;
}

static void config_open(config_profile *p, zt_error *err){
  const char *name = config_env("AWS_PROFILE");
  *p = (config_profile){ .name = name ? name : "default" };
  p->section = sqlite3_mprintf(strcmp(p->name, "default") ? "profile %s" : "%s", p->name);
  if( !p->section ) zt_fail_nomem(err);
  if( !err->rc ){
    p->credentials = config_read("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", err);
  }
  if( !err->rc ) p->config = config_read("AWS_CONFIG_FILE", ".aws/config", err);
}

static void config_free_secret(char *text){
  if( text ) memset(text, 0, strlen(text));
  sqlite3_free(text);
}

static void config_close(config_profile *p){
  config_free_secret(p->credentials);
  config_free_secret(p->config);
  sqlite3_free(p->section);
}

/* Returns a copy of a value of the profile; NULL: there is none, or memory is short (recorded). */
static char *config_value(const config_profile *p, const char *key, zt_error *err){
  zt_text value = { "", 0 };
  char *out;
  if( p->credentials ){
    value = zt_s3_ini((zt_text){ p->credentials, strlen(p->credentials) }, p->name, key);
  }
  if( value.n==0 && p->config ){
    value = zt_s3_ini((zt_text){ p->config, strlen(p->config) }, p->section, key);
  }
  if( value.n==0 ) return NULL;
  out = sqlite3_mprintf("%.*s", (int)value.n, value.z);
  if( !out ) zt_fail_nomem(err);
  return out;
}

/* --- All of it --- */

static char *config_copy(const char *value, zt_error *err){
  char *out = value ? sqlite3_mprintf("%s", value) : NULL;
  if( value && !out ) zt_fail_nomem(err);
  return out;
}

static const char *config_either(const char *first, const char *second){
  const char *value = config_env(first);
  return value ? value : config_env(second);
}

static bool config_is_unsigned(void){
  const char *value = config_env("AWS_NO_SIGN_REQUEST");
  return value && (sqlite3_stricmp(value, "yes")==0 || sqlite3_stricmp(value, "true")==0
                   || strcmp(value, "1")==0);
}

int zt_s3_config_get(zt_s3_config *out, zt_error *err){
  const char *id = config_env("AWS_ACCESS_KEY_ID"), *secret = config_env("AWS_SECRET_ACCESS_KEY");
  const char *payer = config_env("AWS_REQUEST_PAYER");
  const bool from_env = id && secret;
  config_profile p;
  *out = (zt_s3_config){ .requester_pays = payer && strcmp(payer, "requester")==0 };
  out->region = config_copy(config_either("AWS_REGION", "AWS_DEFAULT_REGION"), err);
  out->endpoint = config_copy(config_either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), err);
  config_open(&p, err);
  if( !out->region && !err->rc ) out->region = config_value(&p, "region", err);
  if( !out->region && !err->rc ) out->region = config_copy("us-east-1", err);
  if( !out->endpoint && !err->rc ) out->endpoint = config_value(&p, "endpoint_url", err);
  if( !config_is_unsigned() && !err->rc ){
    out->key_id = from_env ? config_copy(id, err) : config_value(&p, "aws_access_key_id", err);
    out->secret = from_env ? config_copy(secret, err)
                : config_value(&p, "aws_secret_access_key", err);
    out->token = from_env ? config_copy(config_env("AWS_SESSION_TOKEN"), err)
               : config_value(&p, "aws_session_token", err);
  }
  config_close(&p);
  if( err->rc ) zt_s3_config_clear(out);
  return err->rc;
}

void zt_s3_config_clear(zt_s3_config *c){
  config_free_secret(c->key_id);
  config_free_secret(c->secret);
  config_free_secret(c->token);
  sqlite3_free(c->region);
  sqlite3_free(c->endpoint);
  *c = (zt_s3_config){ 0 };
}
#else
typedef int zt_s3_config_is_left_out;   /* A file of C has a declaration */
#endif
