/*
** Failures and their place. One zt_error goes down through a call. Code that enters a file, an
** object or a component sets the place once, and the failing check states only the fault. The
** message then reads
**
**   ztensor: PATH: object 'NAME': component 'ROLE': shard PATH: what is wrong
**
** as far as these parts apply. The first failure wins. Interface to code in error.c.
**
** Messages contain text from files and go to terminals and logs. So control characters, characters
** that change the writing direction or have no width, and bytes that are not UTF-8 are escaped: \n,
** \x1b, \u202e. A backslash is not escaped, because messages are not parsed. The query of a URL is
** shown as `?...`.
*/
#ifndef ZT_CORE_ERROR_H
#define ZT_CORE_ERROR_H

#include <stdarg.h>
#include "core/span.h"

/* The parts of a message, borrowed from it. z is NULL where the place has no such name. */
typedef struct zt_parts {
  zt_text object, component;   /* Unescaped, cut as shown; behind the message's NUL */
  const char *fault;           /* The end of the message: shard and fault */
} zt_parts;

typedef struct zt_error {
  int rc;             /* SQLite result code; SQLITE_OK until something fails */
  char *message;      /* The whole message, owned. NULL while rc is SQLITE_OK, and for SQLITE_NOMEM
                      ** and SQLITE_INTERRUPT, which have SQLite's own messages */
  zt_parts parts;     /* Parts of the message, if there is one */
  const char *rule;   /* Number of the rule that the file breaks, static. NULL: none, or the fault
                      ** is not the file's */
  int system;         /* The system's errno value; 0: the system reported none */
  bool changing;      /* The file was written to meanwhile, and may be sound the next time */
  const char *kind;   /* Of a failure of a remote file, as zt_error_kind() returns it; static. NULL:
                      ** the other members tell */
  const char *path;   /* Place: the file, borrowed; NULL: none */
  zt_text object;     /* Place: the object, borrowed; z NULL: none */
  zt_text component;  /* Place: the component, borrowed; z NULL: none */
  const char *shard;  /* Place of the next failure only: the shard's path, borrowed; NULL: none */
} zt_error;

/* Returns how many bytes of a text from a file a message shows, as the precision of %.*s. Longer
** texts are cut between characters. */
#define ZT_SHOWN_MAX 512
int zt_shown(zt_text text);

/* No error, in no place. Every zt_error starts as this and ends in zt_error_clear(). */
#define ZT_ERROR_NONE ((zt_error){ 0 })

/* Records a failure: rc is an SQLite error code, format is as in sqlite3_mprintf(). No effect if a
** failure is recorded already. Returns the recorded code. */
ZT_FORMAT(3, 4) int zt_fail(zt_error *e, int rc, const char *format, ...);

/* Records SQLITE_ERROR because a file breaks a rule. Rules are numbered above the decoders that
** check them, such as "C7". */
ZT_FORMAT(3, 4) int zt_break(zt_error *e, const char *rule, const char *format, ...);

/* The same for a decoder of a file's bytes; the fault begins with "WHAT byte AT: ". */
#define ZT_NO_POSITION UINT64_MAX   /* It begins with "WHAT: " */
int zt_break_at(zt_error *e, const char *rule, const char *what, uint64_t at, const char *format,
                va_list ap);

/* Records SQLITE_NOMEM or SQLITE_INTERRUPT, which have no place. */
int zt_fail_nomem(zt_error *e);
int zt_fail_interrupt(zt_error *e);

/* Records SQLITE_ERROR with the operating system's text for the errno value n: "cannot WHAT: No
** such file or directory". ENOMEM becomes SQLITE_NOMEM. */
int zt_fail_os(zt_error *e, const char *what, int n);

/* Records SQLITE_ERROR because a file changed while it was read. */
ZT_FORMAT(2, 3) int zt_fail_changing(zt_error *e, const char *format, ...);

/* Records SQLITE_ERROR of a remote file: kind is `missing`, `denied` or `transient`. */
ZT_FORMAT(3, 4) int zt_fail_remote(zt_error *e, const char *kind, const char *format, ...);

/* Returns the kind of a failure that is not a fault in the file's bytes, as a static text:
**   `missing`    nothing is there
**   `denied`     the system does not allow it
**   `transient`  the system may allow it the next time, or the file was being written to
**   `unknown`    it is not a file that has bytes
** NULL: the broken rule tells the kind. */
const char *zt_error_kind(const zt_error *e);

/* Returns whether the fault is the file's, and not the system's or a lack of memory. */
bool zt_error_is_of_file(const zt_error *e);

/* Clears the failure and frees its message. The place stays. */
void zt_error_clear(zt_error *e);

#endif
