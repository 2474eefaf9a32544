/* Failures and their place. See error.h. */
#include "core/error.h"

#include <errno.h>
#include "core/host.h"
#include "core/interrupt.h"
#include "core/os.h"
#include "core/path.h"
#include "core/utf8.h"

#define ERROR_PATH 4096   /* Most bytes of a path in a message: the limit of systems; a list of
                          ** sources may be longer */

/* Returns how many of n bytes to show, at most max, without cutting a character. */
static size_t error_cut(const char *z, size_t n, size_t max){
  if( n<=max ) return n;
  n = max;
  while( n>0 && ((unsigned char)z[n] & 0xC0)==0x80 ) n--;
  return n;
}

int zt_shown(zt_text text){
  return (int)error_cut(text.z, text.n, ZT_SHOWN_MAX);
}

/* Ranges of characters that are escaped. */
static const struct { uint32_t first, last; } error_unseen[] = {
  { 0x00, 0x1F }, { 0x7F, 0x9F },   /* Controls, which terminals obey */
  { 0x2028, 0x2029 },               /* Ends of lines and paragraphs */
  /* Writing direction, no width */
  { 0x061C, 0x061C }, { 0x200B, 0x200F }, { 0x202A, 0x202E }, { 0x2060, 0x206F },
  { 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE007F }
};

static bool error_is_unseen(uint32_t u){
  for(size_t i=0; i<sizeof(error_unseen)/sizeof(*error_unseen); i++){
    if( u>=error_unseen[i].first && u<=error_unseen[i].last ) return true;
  }
  return false;
}

/* Appends the escape of a character that has n bytes of UTF-8, or of a byte that is not UTF-8. */
static void error_append_unseen(sqlite3_str *out, uint32_t u, size_t n){
  if( u=='\n' ) sqlite3_str_appendall(out, "\\n");
  else if( u=='\r' ) sqlite3_str_appendall(out, "\\r");
  else if( u=='\t' ) sqlite3_str_appendall(out, "\\t");
  else if( n==1 ) sqlite3_str_appendf(out, "\\x%02x", u);
  else sqlite3_str_appendf(out, u>0xFFFF ? "\\U%08x" : "\\u%04x", u);
}

/* Returns the length of the printable ASCII prefix. Nearly all text is all prefix. */
static size_t error_plain(const char *z, size_t n){
  size_t i = 0;
  while( i<n && (unsigned char)z[i]>=0x20 && (unsigned char)z[i]<0x7F ) i++;
  return i;
}

/* Appends a text and escapes where necessary. Text between escapes is appended in one piece. */
static void error_append(sqlite3_str *out, const char *z, size_t n){
  size_t plain = 0, i = error_plain(z, n);
  while( i<n ){
    size_t length = zt_utf8_length((const uint8_t*)z+i, n-i);
    uint32_t u = (unsigned char)z[i];
    bool bad = length==1 && u>=0x80;
    if( length>1 ) u &= 0x7Fu>>length;
    for(size_t k=1; k<length; k++) u = u<<6 | ((unsigned char)z[i+k] & 0x3F);
    if( bad || error_is_unseen(u) ){
      sqlite3_str_append(out, z+plain, (int)(i-plain));
      error_append_unseen(out, u, length);
      plain = i+length;
    }
    i += length;
    i += error_plain(z+i, n-i);
  }
  sqlite3_str_append(out, z+plain, (int)(n-plain));
}

/* Appends "WHAT'NAME': ". */
static void error_append_name(sqlite3_str *out, const char *what, zt_text name){
  size_t n = (size_t)zt_shown(name);
  sqlite3_str_appendall(out, what);
  error_append(out, name.z, n);
  sqlite3_str_appendall(out, n<name.n ? "...': " : "': ");
}

/* Appends "PATH: ", or "'': " for an empty one. The query of a URL may be a secret, like its user,
** and messages go to logs. */
static void error_append_path(sqlite3_str *out, const char *path){
  const bool url = zt_path_is_url(path);
  const size_t scheme = url ? zt_path_scheme(path)+3 : 0;
  const size_t host = scheme+strcspn(path+scheme, "/?#");
  const char *at = NULL;
  size_t open;
  for(size_t i=scheme; url && i<host; i++) if( path[i]=='@' ) at = path+i;
  if( at && sqlite3_strnicmp(path, "http", 4)==0 ){
    error_append(out, path, scheme);
    sqlite3_str_appendall(out, "...");
    path = at;
  }
  open = url ? strcspn(path, "?") : strlen(path);
  size_t n = path[open] ? open+1 : open, shown;
  shown = error_cut(path, n, ERROR_PATH);
  error_append(out, path[0] ? path : "''", path[0] ? shown : 2);
  sqlite3_str_appendall(out, shown<n || path[n] ? "...: " : ": ");
}

/* Appends a name for zt_parts. Returns its position. */
static int error_keep(sqlite3_str *out, zt_text name){
  int at = sqlite3_str_length(out);
  sqlite3_str_append(out, name.z ? name.z : "", name.z ? zt_shown(name) : 0);
  return at;
}

static zt_text error_part(const char *message, int at, zt_text name){
  return name.z ? (zt_text){ message+at, (size_t)zt_shown(name) } : name;
}

/* Escapes the text of *out from `at` on; usually there is nothing to escape. */
static void error_escape(sqlite3_str **out, int at){
  const char *z = sqlite3_str_value(*out);
  size_t n = z ? (size_t)(sqlite3_str_length(*out)-at) : 0;
  sqlite3_str *escaped;
  if( n==0 || error_plain(z+at, n)==n ) return;
  escaped = sqlite3_str_new(NULL);
  sqlite3_str_append(escaped, z, at);
  error_append(escaped, z+at, n);
  sqlite3_free(sqlite3_str_finish(*out));
  *out = escaped;
}

/* Makes the message and its parts. */
static void error_set_message(zt_error *e, const char *format, va_list ap){
  sqlite3_str *out = sqlite3_str_new(NULL);
  int fault, what, object, component;
  sqlite3_str_appendall(out, "ztensor: ");
  if( e->path ) error_append_path(out, e->path);
  if( e->object.z ) error_append_name(out, "object '", e->object);
  if( e->component.z ) error_append_name(out, "component '", e->component);
  fault = sqlite3_str_length(out);
  if( e->shard ){
    sqlite3_str_appendall(out, "shard ");
    error_append_path(out, e->shard);
  }
  what = sqlite3_str_length(out);
  sqlite3_str_vappendf(out, format, ap);
  error_escape(&out, what);
  sqlite3_str_append(out, "", 1);   /* The message's NUL */
  object = error_keep(out, e->object);
  component = error_keep(out, e->component);
  e->message = sqlite3_str_finish(out);
  if( !e->message ) return;
  e->parts.object = error_part(e->message, object, e->object);
  e->parts.component = error_part(e->message, component, e->component);
  e->parts.fault = e->message+fault;
}

static int error_fail_v(zt_error *e, int rc, const char *rule, const char *format, va_list ap){
  if( e->rc ) return e->rc;
  e->rc = rc;
  e->rule = rule;
  error_set_message(e, format, ap);
  e->shard = NULL;
  if( !e->message ) e->rc = SQLITE_NOMEM;
  return e->rc;
}

int zt_fail(zt_error *e, int rc, const char *format, ...){
  va_list ap;
  va_start(ap, format);
  rc = error_fail_v(e, rc, NULL, format, ap);
  va_end(ap);
  return rc;
}

int zt_break(zt_error *e, const char *rule, const char *format, ...){
  va_list ap;
  int rc;
  va_start(ap, format);
  rc = error_fail_v(e, SQLITE_ERROR, rule, format, ap);
  va_end(ap);
  return rc;
}

int zt_break_at(zt_error *e, const char *rule, const char *what, uint64_t at, const char *format,
                va_list ap){
  char *fault = sqlite3_vmprintf(format, ap);
  if( !fault ) zt_fail_nomem(e);
  else if( at==ZT_NO_POSITION ) zt_break(e, rule, "%s: %s", what, fault);
  else zt_break(e, rule, "%s byte %llu: %s", what, at, fault);
  sqlite3_free(fault);
  return e->rc;
}

int zt_fail_changing(zt_error *e, const char *format, ...){
  const bool first = e->rc==SQLITE_OK;
  va_list ap;
  int rc;
  va_start(ap, format);
  rc = error_fail_v(e, SQLITE_ERROR, NULL, format, ap);
  va_end(ap);
  if( first ) e->changing = true;
  return rc;
}

int zt_fail_remote(zt_error *e, const char *kind, const char *format, ...){
  const bool first = e->rc==SQLITE_OK;
  va_list ap;
  int rc;
  va_start(ap, format);
  rc = error_fail_v(e, SQLITE_ERROR, NULL, format, ap);
  va_end(ap);
  if( first ) e->kind = kind;
  return rc;
}

int zt_fail_nomem(zt_error *e){
  if( !e->rc ) e->rc = SQLITE_NOMEM;
  return e->rc;
}

int zt_fail_interrupt(zt_error *e){
  if( !e->rc ) e->rc = SQLITE_INTERRUPT;
  return e->rc;
}

int zt_fail_os(zt_error *e, const char *what, int n){
  char buffer[ZT_OS_MESSAGE];
  if( n==ENOMEM ) return zt_fail_nomem(e);   /* Not a fault of the file */
  if( !e->rc ) e->system = n;
  return zt_fail(e, SQLITE_ERROR, "cannot %s: %s", what, zt_os_message(n, buffer));
}

const char *zt_error_kind(const zt_error *e){
  if( e->kind ) return e->kind;
  if( e->system==EACCES || e->system==EPERM ) return "denied";
  if( zt_os_absent(e->system) || e->system==ENAMETOOLONG ) return "missing";
  if( e->system || e->changing ) return "transient";
  return !e->rule && e->rc==SQLITE_ERROR ? "unknown" : NULL;   /* A directory, a FIFO ... */
}

bool zt_error_is_of_file(const zt_error *e){
  return e->rc==SQLITE_ERROR && e->rule;
}

void zt_error_clear(zt_error *e){
  sqlite3_free(e->message);
  e->message = NULL;
  e->rule = NULL;
  e->system = 0;
  e->changing = false;
  e->kind = NULL;
  e->parts = (zt_parts){ 0 };
  e->rc = SQLITE_OK;
}

int zt_interrupt_check(const zt_interrupt *i, zt_error *err){
  if( !i || !i->interrupted || !i->interrupted(i->context) ) return SQLITE_OK;
  return zt_fail_interrupt(err);
}

static _Thread_local const zt_interrupt *error_interrupt;

const zt_interrupt *zt_interrupt_enter(const zt_interrupt *i){
  const zt_interrupt *before = error_interrupt;
  error_interrupt = i;
  return before;
}

const zt_interrupt *zt_interrupt_current(void){
  return error_interrupt;
}
