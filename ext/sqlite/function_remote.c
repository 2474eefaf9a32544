/*
** Remote sources: their settings for this connection, and what they cost.
**
**   zt_remote()
**     JSON object: the settings of remote sources, as below, and what was sent since they were
**     loaded: `requests`, `bytes` (of bodies that came) and `retried` (tries after the first)
**   zt_remote(json)
**     the same, after changing the settings that the JSON object has: `allow`, `connections`,
**     `timeout`, `retries`, `ttl`. Only with the entry point sqlite3_ztensor_remote_init
*/
#include "core/remote.h"

#if ZT_REMOTE
#include "core/json.h"
#include "core/json_read.h"
#include "sqlite/tables.h"

/* A setting that is a number. */
typedef struct remote_number {
  const char *name;
  uint64_t least, most;
  size_t offset;             /* In zt_remote_settings */
} remote_number;

static const remote_number remote_numbers[] = {
  { "connections", 1, ZT_REMOTE_CONNECTIONS_MAX, offsetof(zt_remote_settings, connections) },
  { "timeout", 1, ZT_REMOTE_SECONDS_MAX, offsetof(zt_remote_settings, timeout) },
  { "retries", 0, ZT_REMOTE_RETRIES_MAX, offsetof(zt_remote_settings, retries) },
  { "ttl", 0, ZT_REMOTE_SECONDS_MAX, offsetof(zt_remote_settings, ttl) }
};
#define REMOTE_NUMBERS (sizeof(remote_numbers)/sizeof(*remote_numbers))

static int *remote_setting(zt_remote_settings *settings, size_t i){
  return (int*)(void*)((uint8_t*)settings+remote_numbers[i].offset);
}

/* Reads the elements of `allow` into a list between spaces. */
static void remote_read_allow(zt_json_reader *r, sqlite3_str *list, zt_error *err){
  zt_json_level level;
  zt_json_string text;
  zt_json_read_open(r, ZT_JSON_ARRAY, &level);
  while( !err->rc && zt_json_read_more(r, &level) && zt_json_read_text(r, &text) ){
    char *entry = sqlite3_malloc64(text.raw.n+1);
    size_t n;
    if( !entry ){
      zt_fail_nomem(err);
      return;
    }
    n = zt_json_unescape(text, entry);
    if( n==0 || memchr(entry, ' ', n) || memchr(entry, 0, n) ){
      zt_fail(err, SQLITE_ERROR, "zt_remote(): an entry of 'allow' that is empty, or has a space");
    }
    sqlite3_str_append(list, entry, (int)n);
    sqlite3_str_appendchar(list, 1, ' ');
    sqlite3_free(entry);
  }
}

static void remote_read_number(zt_json_reader *r, zt_json_string key, zt_remote_settings *settings,
                               zt_error *err){
  zt_json_value value;
  for(size_t i=0; i<REMOTE_NUMBERS; i++){
    const remote_number *number = &remote_numbers[i];
    if( !zt_json_string_equal(key, (zt_text){ number->name, strlen(number->name) }) ) continue;
    if( !zt_json_read_next(r, &value) ) return;
    if( value.type==ZT_JSON_INTEGER && !value.negative && value.n>=number->least
     && value.n<=number->most ){
      *remote_setting(settings, i) = (int)value.n;
      return;
    }
    zt_fail(err, SQLITE_ERROR, "zt_remote(): '%s' must be an integer from %llu to %llu",
            number->name, number->least, number->most);
    return;
  }
  zt_fail(err, SQLITE_ERROR, "zt_remote(): no setting '%.*s'; there are 'allow', 'connections',"
          " 'timeout', 'retries', 'ttl'", zt_shown(key.raw), key.raw.z);
}

/* Changes the settings that the text has, or none after a failure. */
static void remote_change(zt_remote *remote, zt_text json, zt_error *err){
  zt_remote_settings settings = zt_remote_get(remote);
  sqlite3_str *list = sqlite3_str_new(NULL);
  zt_json_reader r;
  zt_json_level level;
  zt_json_string key;
  bool narrows = false;
  char *allow;
  zt_json_read_init(&r, "zt_remote():", (zt_span){ (const uint8_t*)json.z, json.n }, err);
  zt_json_read_open(&r, ZT_JSON_OBJECT, &level);
  while( !err->rc && zt_json_read_more(&r, &level) && zt_json_read_key(&r, &key) ){
    if( zt_json_string_is(key, "allow") ){
      narrows = true;
      remote_read_allow(&r, list, err);
    }else{
      remote_read_number(&r, key, &settings, err);
    }
  }
  if( !err->rc ) zt_json_read_finish(&r);
  err->rule = NULL;
  if( !err->rc && sqlite3_str_errcode(list) ) zt_fail_nomem(err);
  allow = sqlite3_str_finish(list);
  if( narrows && !err->rc ){
    zt_remote_narrow(remote, (zt_text){ allow ? allow : "", allow ? strlen(allow) : 0 }, err);
  }
  if( !err->rc ) zt_remote_set(remote, &settings);
  sqlite3_free(allow);
}

static void remote_result(sqlite3_context *ctx, zt_remote *remote){
  zt_remote_settings settings = zt_remote_get(remote);
  const zt_remote_counts counts = zt_remote_count(remote);
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
  sqlite3_str_appendall(out, "{\"allow\":");
  zt_remote_put_allowed(out, remote);
  for(size_t i=0; i<REMOTE_NUMBERS; i++){
    sqlite3_str_appendf(out, ",\"%s\":%d", remote_numbers[i].name, *remote_setting(&settings, i));
  }
  sqlite3_str_appendf(out, ",\"requests\":%llu,\"bytes\":%llu,\"retried\":%llu}", counts.requests,
                      counts.bytes, counts.retries);
  zt_result_str(ctx, out);
  sqlite3_result_subtype(ctx, 'J');
}

static void remote_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  const zt_connection *c = sqlite3_user_data(ctx);
  zt_error err = ZT_ERROR_NONE;
  zt_text json;
  if( n==1 && sqlite3_value_type(args[0])!=SQLITE_NULL ){
    json = zt_value_text(args[0]);
    if( sqlite3_value_type(args[0])!=SQLITE_TEXT ){
      zt_fail(&err, SQLITE_ERROR, "zt_remote(): the settings are a JSON object (TEXT)");
    }else if( !json.z ) zt_fail_nomem(&err);
    else remote_change(c->remote, json, &err);
  }
  if( err.rc ) zt_result_error(ctx, &err);
  else remote_result(ctx, c->remote);
}

const zt_function zt_function_remote[] = {
  { "zt_remote", 0, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, remote_function },
  { "zt_remote", 1, SQLITE_UTF8|SQLITE_DIRECTONLY|ZT_RESULT_SUBTYPE, remote_function },
  { NULL, 0, 0, NULL },
};
#else
typedef int zt_function_remote_is_left_out;   /* A file of C has a declaration */
#endif
