/* Failures and their place. See error.h. */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include "core/host.h"
#include "core/interrupt.h"
#include "core/os.h"

int zt_shown(zt_text text){
  size_t n = text.n;
  if( n<=ZT_SHOWN_MAX ) return (int)n;
  n = ZT_SHOWN_MAX;
  while( n>0 && ((unsigned char)text.z[n] & 0xC0)==0x80 ) n--;
  return (int)n;
}

/* Append "WHAT 'NAME': ". Returns the position of the name. */
static int append_name(sqlite3_str *out, const char *what, zt_text name){
  int n = zt_shown(name), at;
  sqlite3_str_appendf(out, "%s '", what);
  at = sqlite3_str_length(out);
  sqlite3_str_append(out, name.z, n);
  sqlite3_str_appendall(out, (size_t)n<name.n ? "...': " : "': ");
  return at;
}

static zt_text part(const char *message, int at, zt_text name){
  return name.z ? (zt_text){ message+at, (size_t)zt_shown(name) } : name;
}

static int fail_v(zt_error *e, int rc, const char *rule, const char *format, va_list ap){
  int object = 0, component = 0, fault;
  sqlite3_str *out;
  if( e->rc ) return e->rc;
  e->rc = rc;
  e->rule = rule;
  out = sqlite3_str_new(NULL);
  sqlite3_str_appendall(out, "ztensor: ");
  if( e->path ) sqlite3_str_appendf(out, "%s: ", e->path);
  if( e->object.z ) object = append_name(out, "object", e->object);
  if( e->component.z ) component = append_name(out, "component", e->component);
  fault = sqlite3_str_length(out);
  if( e->shard ) sqlite3_str_appendf(out, "shard %s: ", e->shard);
  e->shard = NULL;
  sqlite3_str_vappendf(out, format, ap);
  e->message = sqlite3_str_finish(out);
  if( e->message ) e->parts = (zt_parts){ part(e->message, object, e->object), part(e->message, component, e->component), e->message+fault };
  else e->rc = SQLITE_NOMEM;
  return e->rc;
}

int zt_fail(zt_error *e, int rc, const char *format, ...){
  va_list ap;
  va_start(ap, format);
  rc = fail_v(e, rc, NULL, format, ap);
  va_end(ap);
  return rc;
}

int zt_break(zt_error *e, const char *rule, const char *format, ...){
  va_list ap;
  int rc;
  va_start(ap, format);
  rc = fail_v(e, SQLITE_ERROR, rule, format, ap);
  va_end(ap);
  return rc;
}

int zt_fail_nomem(zt_error *e){
  if( !e->rc ) e->rc = SQLITE_NOMEM;
  return e->rc;
}

int zt_fail_os(zt_error *e, const char *what, int n){
  char buffer[ZT_OS_MESSAGE];
  if( n==ENOMEM ) return zt_fail_nomem(e);   /* No property of the file */
  if( !e->rc ) e->system = n;
  return zt_fail(e, SQLITE_ERROR, "cannot %s: %s", what, zt_os_message(n, buffer));
}

void zt_error_clear(zt_error *e){
  sqlite3_free(e->message);
  e->message = NULL;
  e->rule = NULL;
  e->system = 0;
  e->parts = (zt_parts){ 0 };
  e->rc = SQLITE_OK;
}

int zt_interrupt_check(const zt_interrupt *i, zt_error *err){
  if( !i || !i->asked || !i->asked(i->context) ) return SQLITE_OK;
  return zt_fail(err, SQLITE_INTERRUPT, "interrupted");
}
