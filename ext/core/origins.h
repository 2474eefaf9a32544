/*
** What may be reached: a list of origins and prefixes. Interface to code in origins.c.
**
**   list    := { space } [ entry { space { space } entry } { space } ]
**   entry   := "*" | ( "http" | "https" ) "://" host [ ":" port ] [ "/" path ]
**            | ( "s3" | "hf" ) "://" [ name [ "/" path ] ]
**
** `*` is any https URL, and any name of s3 and hf, on public addresses. A URL is allowed by an
** entry of equal scheme, host and port if its path begins with the entry's: both are
** percent-decoded, and the URL's has no part `.` or `..` then. A prefix ends at a `/`. An entry of
** s3 or hf allows names: they are reached through an https endpoint on public addresses, or through
** one whose origin another entry names, with any path. Only an entry of http or https names a host,
** and thereby allows addresses that are not public. A redirect of a name of hf may lead to the same
** origin, and to the hub's own stores, as far as an entry allows the name.
*/
#ifndef ZT_CORE_ORIGINS_H
#define ZT_CORE_ORIGINS_H

#include "core/url.h"

typedef struct zt_origins zt_origins;

/* Parses a list. *out is NULL after a failure, whose message names the entry. */
int zt_origins_new(zt_text list, zt_origins **out, zt_error *err);
void zt_origins_free(zt_origins *o);

/* A request that is to be sent. */
typedef struct zt_reach {
  const zt_url *url;     /* Where it goes */
  zt_text name;          /* The source as named, if its scheme is s3 or hf; else z NULL */
  const zt_url *from;    /* A redirect: from this URL; NULL: the source named it */
} zt_reach;

/* Returns whether the list allows it. *any_address: also on addresses that are not public. */
bool zt_origins_allow(const zt_origins *o, const zt_reach *reach, bool *any_address);

/* Appends the entries as a JSON array. */
void zt_origins_put_json(sqlite3_str *out, const zt_origins *o);

#endif
