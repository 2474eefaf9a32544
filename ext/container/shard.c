/* Shards and external data. See shard.h. */
#include "container/shard.h"

#include "container/driver.h"
#include "core/paths.h"
#include "core/utf8.h"

#define SHARD_SUFFIX ".zt"

const zt_rule zt_rules_external[] = {
  ZT_ERROR("X5", "external-file",
           "a file of external data exists where it belongs (ONNX, TFLite, TensorFlow)",
           ZT_SPEC_EXTERNAL),
  ZT_ERROR("X6", "external-range",
           "a file of external data contains the tensor's bytes (ONNX, TFLite, TensorFlow)",
           ZT_SPEC_EXTERNAL),
  ZT_RULES_END
};

extern const zt_driver zt_driver_zt2;

/* The path of a shard, owned; NULL if memory is short. */
static char *shard_path_of(const zt_source *source, zt_text name){
  char *end = sqlite3_mprintf("-%.*s" SHARD_SUFFIX, (int)name.n, name.z), *path;
  if( !end ) return NULL;
  path = zt_source_beside(source, true, (zt_text){ end, strlen(end) });
  sqlite3_free(end);
  return path;
}

/* Pass on the failure of opening a shard. It breaks the rule unless the system or a server refused
** the access: then nothing is known about the file. */
static void shard_fail(zt_error *err, const char *rule, const char *path, const zt_error *of_shard){
  if( of_shard->rc==SQLITE_NOMEM ){
    zt_fail_nomem(err);
  }else if( of_shard->rc==SQLITE_INTERRUPT ){
    zt_fail_interrupt(err);
  }else if( of_shard->kind && strcmp(of_shard->kind, "missing")!=0 ){
    zt_fail_remote(err, of_shard->kind, "shard %s: %s", path, of_shard->parts.fault);
  }else if( of_shard->system==0 || zt_os_absent(of_shard->system) ){
    zt_break(err, rule, "shard %s: %s", path, of_shard->parts.fault);
  }else{
    zt_fail(err, SQLITE_ERROR, "shard %s: %s", path, of_shard->parts.fault);
    err->system = of_shard->system;
  }
}

int zt_shard_open(zt_source *source, zt_text name, uint64_t size, zt_source **out, zt_error *err){
  const char *path = zt_source_path(source);
  zt_error of_shard = ZT_ERROR_NONE;
  char *z;
  *out = NULL;
  if( !path ){
    return zt_break(err, "X1",
                    "its bytes are in shard '%.*s', a file beside this one; a BLOB has none",
                    (int)name.n, name.z);
  }
  z = shard_path_of(source, name);
  if( !z ) return zt_fail_nomem(err);
  if( zt_source_open_beside(source, z, out, &of_shard) ) shard_fail(err, "X1", z, &of_shard);
  else if( zt_source_size(*out)!=size ){
    zt_break(err, "X2", "shard %s has %llu bytes, and should have %llu", z, zt_source_size(*out),
             size);
  }else if( zt_driver_check(&zt_driver_zt2, *out, &of_shard) ){
    shard_fail(err, "X4", z, &of_shard);
  }else{
    zt_source_set_shard(*out);
  }
  if( err->rc ){
    zt_source_close(*out);
    *out = NULL;
  }
  zt_error_clear(&of_shard);
  sqlite3_free(z);
  return err->rc;
}

/* --- External data --- */

const char *zt_shard_location_fault(zt_text location){
  size_t part = 0;
  if( location.n==0 ) return "its external data have no location";
  if( !zt_utf8_without_nul(location) ){
    return "the location of its external data is not UTF-8, or has U+0000 in it";
  }
  if( zt_is_separator(*location.z) ) return "the location of its external data is not relative";
#ifdef _WIN32
  if( memchr(location.z, '\\', location.n) || memchr(location.z, ':', location.n) ){
    return "the location of its external data has a backslash or a colon in it";
  }
#endif
  for(size_t i=0; i<=location.n; i++){
    if( i<location.n && !zt_is_separator(location.z[i]) ) continue;
    /* Not resolved: behind a link, `..` may lead anywhere */
    if( i-part==2 && memcmp(location.z+part, "..", 2)==0 ){
      return "the location of its external data has a part that is '..'";
    }
    part = i+1;
  }
  return NULL;
}

/* The resolved path of a file of external data, owned; NULL unless it lies below the directory of
** the file that names it. */
static char *shard_resolve(const char *path, const char *wanted, zt_error *err){
  const size_t n = (size_t)(zt_path_name(path)-path);
  char *directory = sqlite3_mprintf("%.*s", n ? (int)n : 1, n ? path : ".");
  char *top = NULL, *found = NULL;
  int error_number = 0;
  if( directory ) top = zt_os_resolve(directory, &error_number);
  if( top ) found = zt_os_resolve(wanted, &error_number);
  if( !found ){
    if( error_number ) zt_fail_os(err, "open", error_number);
    else zt_fail_nomem(err);
    goto end;
  }
  if( !zt_path_is_below(found, top) ){
    zt_fail(err, SQLITE_ERROR, "leads out of the file's directory");
  }
end:
  sqlite3_free(directory);
  sqlite3_free(top);
  if( !err->rc ) return found;
  sqlite3_free(found);
  return NULL;
}

int zt_shard_open_external(zt_source *source, zt_text location, bool beside, zt_source **out,
                           zt_error *err){
  const char *path = zt_source_path(source);
  zt_error of_file = ZT_ERROR_NONE;
  char *wanted, *found = NULL;
  *out = NULL;
  if( !path ){
    return zt_break(err, "X5",
                    "its bytes are in '%.*s', a file beside this one; a BLOB has none",
                    zt_shown(location), location.z);
  }
  wanted = zt_source_beside(source, false, location);
  if( !wanted ) return zt_fail_nomem(err);
  if( !beside && !zt_source_is_remote(source) ) found = shard_resolve(path, wanted, &of_file);
  if( of_file.rc || zt_source_open_beside(source, found ? found : wanted, out, &of_file) ){
    shard_fail(err, "X5", wanted, &of_file);
  }else{
    zt_source_set_shard(*out);
  }
  zt_error_clear(&of_file);
  sqlite3_free(found);
  sqlite3_free(wanted);
  return err->rc;
}
