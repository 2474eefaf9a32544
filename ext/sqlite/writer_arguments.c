/* The arguments of a writer. See writer_arguments.h. */
#include "sqlite/writer_arguments.h"

#include "core/paths.h"
#include "sqlite/draft_rows.h"
#include "sqlite/module.h"

enum {
  WRITER_FORMAT, WRITER_MODE, WRITER_ORDER, WRITER_ALIGN, WRITER_ENCODING, WRITER_LEVEL,
  WRITER_DIGEST, WRITER_DROP, WRITER_SYNC, WRITER_ARGUMENTS
};

static const char *const writer_names[WRITER_ARGUMENTS] = {
  "format", "mode", "order", "align", "encoding", "level", "digest", "drop", "sync"
};

#define WRITER_LIST "path, format, mode, order, align, encoding, level, digest, drop, sync"

typedef struct writer_given {
  char *z[WRITER_ARGUMENTS];     /* Owned; NULL: not given */
} writer_given;

/* Take one argument: the path first, the others by name. */
static int writer_take(const char *argument, bool first, writer_given *v,
                       zt_writer_arguments *out, zt_error *err){
  const char *value;
  const size_t n = zt_module_argument_name(argument, &value);
  char **place = NULL;
  if( n==0 && !first ){
    return zt_fail(err, SQLITE_ERROR, "zt_writer: arguments behind the path have names: %s",
                   argument);
  }
  if( n==0 || (n==4 && sqlite3_strnicmp(argument, "path", 4)==0) ) place = &out->path;
  for(int i=0; i<WRITER_ARGUMENTS && !place; i++){
    if( strlen(writer_names[i])==n && sqlite3_strnicmp(argument, writer_names[i], (int)n)==0 ){
      place = &v->z[i];
    }
  }
  if( !place ){
    return zt_fail(err, SQLITE_ERROR, "zt_writer has no argument '%.*s'; it takes " WRITER_LIST,
                   (int)n, argument);
  }
  if( *place ){
    return zt_fail(err, SQLITE_ERROR, "zt_writer: the argument %.*s is given twice", (int)n,
                   argument);
  }
  *place = zt_module_dequote(n ? value : argument);
  return *place ? SQLITE_OK : zt_fail_nomem(err);
}

/* The index of a value among the words, which end with NULL. */
static int writer_choose(const char *name, const char *value, const char *const *words, int *out,
                         zt_error *err){
  sqlite3_str *list;
  char *z;
  *out = 0;
  if( !value ) return SQLITE_OK;
  for(int i=0; words[i]; i++){
    if( strcmp(value, words[i])==0 ){
      *out = i;
      return SQLITE_OK;
    }
  }
  list = sqlite3_str_new(NULL);
  for(int i=0; words[i]; i++) zt_rows_list(list, words[i], words[i+1] ? NULL : " or ");
  z = sqlite3_str_finish(list);
  if( !z ) return zt_fail_nomem(err);
  zt_fail(err, SQLITE_ERROR, "%s must be %s, not '%s'", name, z, value);
  sqlite3_free(z);
  return err->rc;
}

/* Read an integer of at most 18 digits. False if it is none. */
static bool writer_integer(const char *value, int64_t *out){
  const bool negative = value[0]=='-';
  const char *digits = value+negative;
  const size_t n = strlen(digits);
  *out = 0;
  if( n==0 || n>18 || strspn(digits, "0123456789")<n ) return false;
  for(size_t i=0; i<n; i++) *out = *out*10 + (digits[i]-'0');
  if( negative ) *out = -*out;
  return true;
}

/* --- Format and what depends on it --- */

static int writer_take_align(const zt_encoder *e, const char *value, zt_encoder_options *out,
                             zt_error *err){
  const int64_t most = ZT_ENCODER_ALIGN_MOST;
  int64_t align;
  if( !value ) return SQLITE_OK;
  if( e->least_align==0 ){
    return zt_fail(err, SQLITE_ERROR, "%s has no use for align", e->name);
  }
  if( writer_integer(value, &align) && align>=(int64_t)e->least_align && align<=most
   && (align & (align-1))==0 ){
    out->align = (uint64_t)align;
    out->align_given = true;
    return SQLITE_OK;
  }
  return zt_fail(err, SQLITE_ERROR, "align must be a power of two from %llu to %llu, not '%s'",
                 (unsigned long long)e->least_align, (unsigned long long)ZT_ENCODER_ALIGN_MOST,
                 value);
}

static int writer_take_drop(const zt_writer_arguments *a, zt_error *err){
  if( !a->drop_attributes || !a->encoder->object_attributes ) return SQLITE_OK;
  return zt_fail(err, SQLITE_ERROR, "%s has no use for drop: its objects have attributes",
                 a->encoder->name);
}

static int writer_take_encoding(const zt_encoder *e, const writer_given *v,
                                zt_encoder_options *out, zt_error *err){
  int64_t level;
  if( v->z[WRITER_ENCODING]
   && zt_rows_codec(e, zt_text_of(v->z[WRITER_ENCODING]), &out->codec, err) ) return err->rc;
  if( v->z[WRITER_DIGEST]
   && zt_rows_digest(e, zt_text_of(v->z[WRITER_DIGEST]), &out->digest, err) ) return err->rc;
  if( !v->z[WRITER_LEVEL] ) return SQLITE_OK;
  if( !writer_integer(v->z[WRITER_LEVEL], &level) ){
    return zt_fail(err, SQLITE_ERROR, "level must be an integer, not '%s'", v->z[WRITER_LEVEL]);
  }
  return zt_rows_level(e, out->codec, level, &out->level, err);
}

int zt_writer_arguments_fail_read_only(zt_error *err){
  return zt_fail(err, SQLITE_ERROR, "files of its format and version cannot be updated; write its"
                 " rows to another file");
}

/* The encoder of the file that is there; NULL: it is not there, cannot be read (*why), or cannot be
** written (*reads). */
static const zt_encoder *writer_encoder_of_file(const char *path, bool *reads, zt_error *why){
  const zt_encoder *out = NULL;
  zt_source *source = NULL;
  zt_container *c = NULL;
  if( zt_source_open(path, NULL, &source, why)==SQLITE_OK
   && zt_container_open(source, NULL, &c, why)==SQLITE_OK ) out = zt_encoder_of(c);
  *reads = c!=NULL;
  if( !source && why->rc!=SQLITE_NOMEM ) zt_error_clear(why);
  zt_container_close(c);
  zt_source_close(source);
  return out;
}

/* The encoder for the path, by the file that is updated or else by its name; NULL: failed. */
static const zt_encoder *writer_encoder_for(const zt_writer_arguments *a, zt_error *err){
  const zt_encoder *out = NULL;
  zt_error why = { .path = a->path };
  bool reads = false;
  if( a->mode==ZT_OUTPUT_UPDATE ) out = writer_encoder_of_file(a->path, &reads, &why);
  if( !out && why.rc!=SQLITE_NOMEM ) out = zt_encoder_for(a->path);
  if( !out && why.rc ){
    *err = why;
    return NULL;
  }
  zt_error_clear(&why);
  if( !out && reads ){
    zt_writer_arguments_fail_read_only(err);
  }else if( !out ){
    zt_rows_fail_formats("its name does not say the format: give the argument format", err);
  }
  return out;
}

static int writer_take_format(const writer_given *v, zt_writer_arguments *out, zt_error *err){
  const char *format = v->z[WRITER_FORMAT];
  bool by_row;
  if( format ) zt_rows_format(zt_text_of(format), &out->encoder, err);
  else out->encoder = writer_encoder_for(out, err);
  if( err->rc ) return err->rc;
  by_row = out->options.by_row;
  out->options = out->encoder->defaults;
  out->options.by_row = by_row;
  if( writer_take_align(out->encoder, v->z[WRITER_ALIGN], &out->options, err)
   || writer_take_drop(out, err) ) return err->rc;
  return writer_take_encoding(out->encoder, v, &out->options, err);
}

static int writer_take_choices(const writer_given *v, zt_writer_arguments *out, zt_error *err){
  static const char *const modes[] = { "create", "replace", "update", NULL };
  static const char *const orders[] = { "name", "row", NULL };
  static const char *const drops[] = { "nothing", "attributes", NULL };
  static const char *const syncs[] = { "full", "off", NULL };
  int mode, order, drop, sync;
  if( writer_choose("mode", v->z[WRITER_MODE], modes, &mode, err)
   || writer_choose("order", v->z[WRITER_ORDER], orders, &order, err)
   || writer_choose("drop", v->z[WRITER_DROP], drops, &drop, err)
   || writer_choose("sync", v->z[WRITER_SYNC], syncs, &sync, err) ) return err->rc;
  out->mode = (zt_output_mode)mode;
  out->options.by_row = order==1;
  out->drop_attributes = drop==1;
  out->sync = sync==0;
  return SQLITE_OK;
}

/* Put the path in place of the user's text for it. */
static int writer_take_path(zt_writer_arguments *out, zt_error *err){
  char *path;
  if( !out->path || !out->path[0] ){
    return zt_fail(err, SQLITE_ERROR, "zt_writer needs a path: zt_writer('model.zt')");
  }
  err->path = out->path;
  if( zt_paths_target(out->path, &path, err) ) return err->rc;
  sqlite3_free(out->path);
  err->path = out->path = path;
  return SQLITE_OK;
}

int zt_writer_arguments_read(int n, const char *const *arguments, zt_writer_arguments *out,
                             zt_error *err){
  writer_given v = { { NULL } };
  *out = (zt_writer_arguments){ .path = NULL };
  for(int i=0; i<n && !err->rc; i++) writer_take(arguments[i], i==0, &v, out, err);
  if( !err->rc && writer_take_path(out, err)==SQLITE_OK
   && writer_take_choices(&v, out, err)==SQLITE_OK ) writer_take_format(&v, out, err);
  for(int i=0; i<WRITER_ARGUMENTS; i++) sqlite3_free(v.z[i]);
  return err->rc;
}

void zt_writer_arguments_clear(zt_writer_arguments *a){
  sqlite3_free(a->path);
}
