/*
** HTTP by the system's libcurl, which is loaded when the first request is sent, through its multi
** interface. The only file that knows libcurl is http.c.
**
** A zt_http belongs to one connection to SQLite, and keeps network connections. Requests come from
** any thread. There is no thread of its own: among the threads that wait for their requests, one at
** a time drives all of them. A process that forked makes connections of its own.
*/
#ifndef ZT_CORE_HTTP_H
#define ZT_CORE_HTTP_H

#include "core/interrupt.h"
#include "core/span.h"

typedef struct zt_http zt_http;

#define ZT_HTTP_HEADERS 12
#define ZT_HTTP_ETAG 1024        /* Most bytes of an ETag; a longer one counts as none */
#define ZT_HTTP_WORD 64          /* Most bytes of a server's short code */
#define ZT_HTTP_HEADER_BYTES ((size_t)256 << 10)   /* Most bytes of headers and trailers */
#define ZT_HTTP_ERROR_BODY ((size_t)16 << 10)   /* Most bytes of an error's body that are read */

/* How a try ended. */
typedef enum zt_http_outcome {
  ZT_HTTP_ANSWERED,          /* With a status and all of its body, or as much as was asked for */
  ZT_HTTP_NO_LIBRARY,        /* There is no libcurl of 7.66 or later */
  ZT_HTTP_NO_MEMORY,
  ZT_HTTP_REFUSED_ADDRESS,   /* The name leads to an address that is not public */
  ZT_HTTP_BAD_CERTIFICATE,
  ZT_HTTP_BAD_CA,            /* The file of CA certificates cannot be read */
  ZT_HTTP_NO_NAME,           /* The name does not resolve */
  ZT_HTTP_NO_CONNECTION,
  ZT_HTTP_TIMEOUT,
  ZT_HTTP_CUT,               /* Reset, or a body that is cut short */
  ZT_HTTP_TOO_LONG,          /* A body longer than it may be */
  ZT_HTTP_ENCODED,           /* A body with an encoding that was not asked for */
  ZT_HTTP_WRONG_RANGE,       /* Other bytes than those that were asked for */
  ZT_HTTP_NOT_HTTP,          /* The answer is no HTTP */
  ZT_HTTP_CANCELLED,
  ZT_HTTP_LEFT               /* It was under way in another process, which forked this one */
} zt_http_outcome;

typedef struct zt_http_answer {
  zt_http_outcome outcome;
  int status;                /* 0: none came */
  bool ranged;               /* 206: the body is [first, first+n) of total bytes */
  uint64_t first;
  uint64_t total;            /* Of the whole; UINT64_MAX: unknown */
  int64_t modified;          /* Last-Modified in seconds since 1970; INT64_MIN: none */
  int retry_after;           /* Seconds; -1: none */
  char etag[ZT_HTTP_ETAG];   /* As stated; "": none */
  char linked_etag[ZT_HTTP_ETAG];   /* X-Linked-Etag of the hub */
  char region[ZT_HTTP_WORD]; /* x-amz-bucket-region */
  char word[ZT_HTTP_WORD];   /* The server's short code, of letters and digits; "": none */
  char *location;            /* Owned; NULL: none */
  char *next;                /* The Link of rel="next"; owned, NULL: none */
  uint8_t *body;             /* What came, owned; or the caller's buffer */
  size_t n;                  /* Bytes of it */
} zt_http_answer;

/* A request. All zeros but what is set before it begins. */
typedef struct zt_http_request {
  /* Set by the caller, and borrowed until it ended: */
  const char *url;           /* http or https, percent-encoded as it is sent */
  const char *header[ZT_HTTP_HEADERS];   /* `Name: value`; NULL ends them */
  const char *ca;            /* File of CA certificates; NULL: the system's */
  const char *proxy;         /* NULL: none */
  bool any_address;          /* Any address may be connected to, not only public ones */
  uint64_t first, n;         /* The bytes to ask for, if n>0 */
  bool suffix;               /* The last n bytes instead */
  uint8_t *buffer;           /* Room for n bytes, or NULL: memory is allocated as they come */
  uint64_t most;             /* Most bytes of a body that is no range; 0: it is not read, and is
                             ** wrong in place of a range */
  int64_t timeout;           /* Nanoseconds without a byte */

  zt_http_answer answer;     /* Valid once it ended */
  struct http_transfer *transfer;   /* Private to http.c; NULL before it began and once it was
                                    ** cleared */
} zt_http_request;

/* Returns NULL if memory is short. Loads nothing yet. */
zt_http *zt_http_new(void);

/* Closes all connections. There must be no request under way. */
void zt_http_free(zt_http *h);

/* Most requests that are under way at once; others wait for their turn. */
void zt_http_set_connections(zt_http *h, int n);

/* Sends a request. It makes progress while any thread is in zt_http_wait(). */
void zt_http_begin(zt_http *h, zt_http_request *r);

/* Waits until it ended. Returns SQLITE_OK, or SQLITE_INTERRUPT (recorded): it was cancelled. */
int zt_http_wait(zt_http *h, zt_http_request *r, const zt_interrupt *interrupt, zt_error *err);

/* Lets requests that are under way make progress, if no thread does, without waiting: for a thread
** that computes between its reads. */
void zt_http_poke(zt_http *h);

/* Ends a request that began, and waits for that. */
void zt_http_cancel(zt_http *h, zt_http_request *r);

/* Frees what the answer owns. The caller's buffer stays. */
void zt_http_clear(zt_http_request *r);

/* Waits for that long. Returns as zt_http_wait() does. */
int zt_http_pause(zt_http *h, int64_t nanoseconds, const zt_interrupt *interrupt, zt_error *err);

/* Requests that were sent and bytes of bodies that came, so far. */
void zt_http_counts(zt_http *h, uint64_t *requests, uint64_t *bytes);

/* Returns the library's name and version; NULL until it is loaded. */
const char *zt_http_library(void);

#endif
