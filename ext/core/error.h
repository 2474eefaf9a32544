/*
** What went wrong, and where. One zt_error goes down through a call; whoever descends into a file,
** an object or a component sets the place once, and the check that fails states only the fault. The
** message then reads
**
**   ztensor: PATH: object 'NAME': component 'ROLE': shard PATH: what is wrong
**
** as far as these parts apply. The first failure wins. Interface to code in error.c.
**
** Messages go to terminals and logs, and paths, names and other texts of files go into messages. So
** what a terminal obeys, what turns the direction of writing, what has no width, and bytes that are
** no UTF-8 are shown escaped: \n, \x1b, \u202e. A backslash stays one: nobody has to read the
** message back. Of a URL, the query is shown as `?...`.
*/
#ifndef ZT_CORE_ERROR_H
#define ZT_CORE_ERROR_H

#include "core/span.h"

/* The parts of a message, in its memory. z is NULL where the place has no such name. */
typedef struct zt_parts {
  zt_text object, component;   /* As they are, as far as they are shown: behind the message */
  const char *fault;           /* What is wrong, and with which shard: the message's end */
} zt_parts;

typedef struct zt_error {
  int rc;             /* SQLite result code; SQLITE_OK until something fails */
  char *message;      /* The whole message, owned; NULL while rc is SQLITE_OK, and for SQLITE_NOMEM
                      ** and SQLITE_INTERRUPT, which SQLite has its own words for */
  zt_parts parts;     /* Of the message, if there is one */
  const char *rule;   /* Number of the rule that the file breaks, static; NULL: none, or what is
                      ** wrong is no fault of the file */
  int system;         /* What the system said (errno), if it was that; 0: it was not */
  bool changing;      /* The file was written to meanwhile: it may be sound the next time */
  const char *path;   /* Place: the file, borrowed; NULL: none */
  zt_text object;     /* Place: the object, borrowed; z NULL: none */
  zt_text component;  /* Place: the component, borrowed; z NULL: none */
  const char *shard;  /* Place of the next failure alone: the shard's path, borrowed; NULL: none */
} zt_error;

/* How many bytes of a text from a file a message shows: the precision of a %.*s. Texts may be of
** any length; a long one is cut between characters. */
#define ZT_SHOWN_MAX 512
int zt_shown(zt_text text);

/* An error that has not happened, in no place. Every zt_error starts as this and ends in
** zt_error_clear(). */
#define ZT_ERROR_NONE ((zt_error){ 0 })

/* Record a failure: rc is an SQLite error code, format is as in sqlite3_mprintf(). Without effect
** if one is recorded already. Returns the recorded code. */
ZT_FORMAT(3, 4) int zt_fail(zt_error *e, int rc, const char *format, ...);

/* Record that a file breaks a rule: SQLITE_ERROR. Rules are numbered above the decoders that check
** them, "C7". */
ZT_FORMAT(3, 4) int zt_break(zt_error *e, const char *rule, const char *format, ...);

/* Record SQLITE_NOMEM, or SQLITE_INTERRUPT: neither has a place. */
int zt_fail_nomem(zt_error *e);
int zt_fail_interrupt(zt_error *e);

/* Record SQLITE_ERROR with the operating system's text for errno value n: "cannot WHAT: No such
** file or directory"; of ENOMEM, SQLITE_NOMEM. */
int zt_fail_os(zt_error *e, const char *what, int n);

/* Record that a file changed while it was read: SQLITE_ERROR. */
ZT_FORMAT(2, 3) int zt_fail_changing(zt_error *e, const char *format, ...);

/* What kind of failure is recorded, if it is none of the file: `missing`, nothing is there;
** `denied`, the system does not allow it; `transient`, the system may do it the next time, or the
** file was being written to; `unknown`, it is no file that has bytes. Static. NULL: the rule that
** was broken tells. */
const char *zt_error_kind(const zt_error *e);

/* What is wrong is the file, and not the system, or that memory is short. */
bool zt_error_is_of_file(const zt_error *e);

/* Forget the failure and free its message; the place stays. */
void zt_error_clear(zt_error *e);

#endif
