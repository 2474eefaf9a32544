/*
** Files on web servers, in S3 and on the hub, for one connection to SQLite: what may be reached,
** the settings, and what was seen of files. Used by source.c and paths.c; everything above them
** sees a source. Without a zt_remote no request is sent. A build with ZT_REMOTE=0 has none of it.
** Interface to code in remote.c.
*/
#ifndef ZT_CORE_REMOTE_H
#define ZT_CORE_REMOTE_H

#include "core/host.h"
#include "core/interrupt.h"
#include "core/os.h"

#ifdef _WIN32
# undef ZT_REMOTE
# define ZT_REMOTE 0     /* Not on Windows yet */
#elif !defined(ZT_REMOTE)
# define ZT_REMOTE 1
#endif

typedef struct zt_remote zt_remote;   /* Any thread may use it */

typedef struct zt_remote_settings {
  int connections;           /* 1 to 128 */
  int timeout;               /* Seconds without a byte that end a try */
  int retries;               /* Further tries of a request */
  int ttl;                   /* Seconds for which what was seen is taken as still so */
} zt_remote_settings;
#define ZT_REMOTE_CONNECTIONS_MAX 128
#define ZT_REMOTE_SECONDS_MAX 86400
#define ZT_REMOTE_RETRIES_MAX 20

typedef struct zt_remote_counts {
  uint64_t requests, bytes, retries;
} zt_remote_counts;

/* Makes one that may reach what `allow` lists (origins.h; NULL: `*`). The interrupt is that of the
** statement's thread, for reads outside of the pool's tasks. */
int zt_remote_new(const char *allow, zt_interrupt interrupt, zt_remote **out, zt_error *err);
void zt_remote_free(zt_remote *r);

/* Narrows what may be reached: both lists must allow it from now on. */
int zt_remote_narrow(zt_remote *r, zt_text list, zt_error *err);

void zt_remote_set(zt_remote *r, const zt_remote_settings *settings);
zt_remote_settings zt_remote_get(const zt_remote *r);
zt_remote_counts zt_remote_count(zt_remote *r);

/* Appends what may be reached as a JSON array: of entries, or of such arrays once it was
** narrowed. */
void zt_remote_put_allowed(sqlite3_str *out, const zt_remote *r);

/* A statement's first cursor opens, and its last one closes: meanwhile a revision of the hub stays
** the commit that it was first. */
void zt_remote_hold(zt_remote *r);
void zt_remote_release(zt_remote *r);


/* --- What was seen of files --- */

/* A state of a file. */
typedef struct zt_remote_state {
  uint64_t size;
  int64_t modified;          /* Seconds since 1970; INT64_MIN: not known */
  int64_t seen;              /* When (zt_os_elapsed()) */
  bool whole;                /* Its server does not read ranges */
  size_t nEtag;
  char etag[];               /* The entity tag as the server states it; "": none. Owned */
} zt_remote_state;

/* Returns a state from sqlite3_malloc64(), seen now. NULL if memory is short. */
zt_remote_state *zt_remote_state_new(uint64_t size, int64_t modified, zt_text etag);
zt_remote_state *zt_remote_state_copy(const zt_remote_state *state);

/* Returns whether its ETag tells two contents apart for certain. */
bool zt_remote_state_is_strong(const zt_remote_state *state);

/* Fills the identity of a remote file in this state: device and inode stand for the path, tag for
** the ETag; mtime is INT64_MIN if it is not known. False if memory is short. */
bool zt_remote_identity(const char *path, const zt_remote_state *state, zt_identity *out);

/* Returns a copy of what was last seen of a file, whose age is in `seen`. NULL: nothing, or memory
** is short (*nomem, which is not set otherwise). */
zt_remote_state *zt_remote_seen(zt_remote *r, const char *path, bool *nomem);

/* Remembers a state; forgets it: the file is asked again. */
void zt_remote_forget(zt_remote *r, const char *path);
void zt_remote_see(zt_remote *r, const char *path, const zt_remote_state *state);

/* Returns whether what was seen then is taken as still so. */
bool zt_remote_is_fresh(zt_remote *r, int64_t seen);

/* --- For fetch.c and the schemes --- */

/* Decides whether a request may be sent. Records a failure if not. */
struct zt_reach;
int zt_remote_check(zt_remote *r, const struct zt_reach *reach, bool *any_address, zt_error *err);

struct zt_http *zt_remote_http(zt_remote *r);
void zt_remote_count_retry(zt_remote *r);

/* The interrupt of the calling thread. */
const zt_interrupt *zt_remote_interrupt(const zt_remote *r);

/* A small text that was learned, such as a bucket's region or a revision's commit: kind and name
** say of what. Learning returns false if memory is short. Found is a copy from sqlite3_malloc64();
** NULL: nothing was learned, or with `still` not within ttl and not in this statement, or memory is
** short, which sets *nomem, unless that is NULL. */
bool zt_remote_learn(zt_remote *r, const char *kind, const char *name, const char *value);
char *zt_remote_learned(zt_remote *r, const char *kind, const char *name, bool still, bool *nomem);

/* Bytes that are read ahead of those who ask. Returns whether n more may be. */
bool zt_remote_take_ahead(zt_remote *r, uint64_t n);
void zt_remote_give_ahead(zt_remote *r, uint64_t n);

/* A file whose first bytes were asked for before it is opened; the first member of what
** remote_file.c knows of it. */
typedef struct zt_remote_early {
  struct zt_remote_early *next;
  const char *path;
} zt_remote_early;

/* Returns whether one of that path may be added: there are fewer than other connections, none is of
** that path, and nothing was seen of it. One thread adds. */
bool zt_remote_may_put_early(zt_remote *r, const char *path);
void zt_remote_put_early(zt_remote *r, zt_remote_early *early);

/* Takes the one of that path, or any for NULL. NULL: there is none. */
zt_remote_early *zt_remote_take_early(zt_remote *r, const char *path);

/* Of the files that are asked for, one at a time may be large and come as a whole, from a server
** that reads no ranges. False if another one may. */
bool zt_remote_take_whole(zt_remote *r);
void zt_remote_give_whole(zt_remote *r);

#endif
