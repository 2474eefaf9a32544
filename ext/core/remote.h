/*
** Files on web servers, in S3 and on the hub, for one connection to SQLite: what may be reached, the
** settings, what was seen of files, and requests with their redirects, signatures and repeated
** tries. Used by source.c and paths.c; everything above them sees a source. Without a zt_remote no
** request is sent. A build with ZT_REMOTE=0 has none of it. Interface to code in remote.c.
*/
#ifndef ZT_CORE_REMOTE_H
#define ZT_CORE_REMOTE_H

#include "core/interrupt.h"
#include "core/os.h"
#include "core/paths.h"

#ifndef ZT_REMOTE
# define ZT_REMOTE 1
#endif

typedef struct zt_remote zt_remote;

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

#endif
