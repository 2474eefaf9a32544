/*
** One request for bytes of a remote file, a listing or a description, whatever it takes: the check
** that it may be sent, credentials, redirects, repeated tries, and errors by their kind. Interface
** to code in fetch.c.
*/
#ifndef ZT_CORE_FETCH_H
#define ZT_CORE_FETCH_H

#include "core/http.h"
#include "core/remote.h"

typedef enum zt_fetch_kind { ZT_FETCH_WEB, ZT_FETCH_S3, ZT_FETCH_HUB } zt_fetch_kind;

#define ZT_FETCH_HEADERS 8

typedef struct zt_fetch zt_fetch;
struct zt_url;

/* What S3 and the hub have of their own. */
typedef struct zt_fetch_scheme {
  /* Makes the URL of a try, from sqlite3_malloc64(), and adds the headers that sign it. NULL: the
  ** URL is the request's. */
  int (*sign)(zt_fetch *f, char **url, zt_error *err);
  /* Adds credentials to a try at this URL. NULL: there are none. */
  int (*authorize)(zt_fetch *f, const struct zt_url *url, zt_error *err);
  /* Learns from an answer that it is elsewhere. False if it says nothing new. NULL: never. */
  bool (*move)(zt_fetch *f, zt_error *err);
  /* Learns from an answer of its own. NULL: nothing. */
  void (*learn)(zt_fetch *f);
  const char *anonymous;     /* For messages: why a try had no credentials, and whence they come */
} zt_fetch_scheme;

/* A request. All zeros but what is set before it begins, and borrowed until it is cleared. */
struct zt_fetch {
  zt_remote *remote;
  zt_fetch_kind kind;
  const zt_fetch_scheme *scheme;   /* Of S3 and the hub; else NULL */
  const char *url;           /* Of web and hub: where it goes */
  const char *name;          /* Of S3 and hub: the source's name, without a revision, as what may be
                             ** reached lists it */
  zt_text bucket, key;       /* Of S3 */
  const char *query;         /* Of S3: percent-encoded, names in order; NULL: none */
  const char *what;          /* For messages: "open", "read", "list" */
  const char *led;           /* Where `url` led before; NULL: unknown */
  uint64_t first, n;         /* The bytes to ask for, if n>0 */
  bool suffix;               /* The last n instead */
  uint8_t *buffer;           /* For n bytes; NULL: memory is allocated */
  uint64_t most;             /* Most bytes of a body that is no range */
  bool once;                 /* It is not tried again */
  const char *if_match, *if_none_match;   /* Entity tags; NULL: none */

  /* Judges a body that came as a whole; one that it refuses is asked for again. NULL: any will
  ** do. */
  int (*accept)(zt_fetch *f, zt_error *err);
  void *context;             /* For `accept` */

  zt_http_request http;      /* Its answer, after zt_fetch_end() */
  char etag[ZT_HTTP_ETAG];   /* Of the hub: what its own answer states of the file; "": nothing */
  bool linked;               /* That is the tag of the bytes that it leads to */
  char *hop;                 /* Where redirects led; owned, NULL: nowhere */

  /* Private: */
  char *sent;                /* The URL that is asked; owned */
  char *header[ZT_FETCH_HEADERS];   /* Owned */
  int nHeader;
  bool begun;
  int tries, redirects, regions;
  bool was_led;              /* `led` was tried */
};

/* Fails if it may not be sent. */
int zt_fetch_check(zt_fetch *f, zt_error *err);

/* Sends the first try. Nothing waits, and failures are zt_fetch_end()'s. */
void zt_fetch_begin(zt_fetch *f);

/* Waits for the answer, and repeats what may be repeated. SQLITE_OK: its status is 200, 206, 304
** (if if_none_match), or 416 of an empty file (its total is 0; without a buffer). A request that
** was under way in the parent of this process is sent again. */
int zt_fetch_end(zt_fetch *f, zt_error *err);

/* The body of its answer, which lives until it is cleared. */
static inline zt_span zt_fetch_body(const zt_fetch *f){
  const zt_http_answer *a = &f->http.answer;
  return (zt_span){ a->body ? a->body : (const uint8_t*)"", a->n };
}

/* Ends it, and frees what it owns, except the caller's buffer. */
void zt_fetch_clear(zt_fetch *f);

/* Adds a header from sqlite3_malloc64() to the try that is prepared, and takes it. It may be NULL,
** if memory is short. For the schemes. */
int zt_fetch_add_header(zt_fetch *f, char *header, zt_error *err);

/* Fails: the file changed. */
int zt_fetch_fail_changed(zt_error *err);

/* Returns whether a request that failed says that others for the same state will fail, too: the
** file is gone or another one, or no server answers. */
bool zt_fetch_is_lost(const zt_fetch *f);

#endif
