/* Shards. See shard.h. */
#include "container/shard.h"

#include "container/driver.h"
#include "core/host.h"

#define SHARD_SUFFIX ".zt"

extern const zt_driver zt_driver_zt2;

/* The path of a shard, owned; NULL if memory is short. A name's stem ends before its last dot,
** unless it begins with that. */
static char *shard_path_of(const char *path, zt_text name){
  const char *base = zt_path_name(path), *dot = strrchr(base, '.');
  size_t n = dot && dot>base ? (size_t)(dot-path) : strlen(path);
  return sqlite3_mprintf("%.*s-%.*s" SHARD_SUFFIX, (int)n, path, (int)name.n, name.z);
}

/* Hand on why a shard cannot be opened. It breaks the rule, unless the system refused: then that is
** all that is known. */
static void shard_fail(zt_error *err, const char *rule, const char *path, const zt_error *of_shard){
  if( of_shard->rc==SQLITE_NOMEM ){
    zt_fail_nomem(err);
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
  z = shard_path_of(path, name);
  if( !z ) return zt_fail_nomem(err);
  if( zt_source_open(z, NULL, out, &of_shard) ) shard_fail(err, "X1", z, &of_shard);
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
