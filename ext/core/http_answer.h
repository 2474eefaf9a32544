/*
** The answer of a server, as its headers and its body come. Knows HTTP (RFC 9110), no network.
** Interface between http_answer.c and http.c.
*/
#ifndef ZT_CORE_HTTP_ANSWER_H
#define ZT_CORE_HTTP_ANSWER_H

#include "core/http.h"

/* A body that is coming. All zeros at first. */
typedef struct zt_http_body {
  bool begun;                /* Its first bytes came */
  bool stopped;              /* No more is wanted: `outcome` says why */
  zt_http_outcome outcome;
  bool encoded;              /* Content-Encoding is another than identity */
  bool has_range;            /* Content-Range states bytes, [first, last] of total, or the total */
  bool has_length;           /* Content-Length is there */
  uint64_t first, last, total, length;
  uint64_t most;             /* Most bytes that are wanted */
  bool exact;                /* All of them must come */
  bool failed;               /* It explains a failure, or a redirect */
  size_t room;               /* Allocated bytes of the answer's body; 0: it is the caller's */
  uint64_t came;             /* Bytes, for the bill */
  size_t headers;            /* Bytes of all headers and trailers */
} zt_http_body;

void zt_http_answer_init(zt_http_answer *a);

/* Frees what the answer owns; buffer is the request's. */
void zt_http_answer_clear(zt_http_answer *a, const uint8_t *buffer);

/* Takes a line of headers; the first of each answer is the status line. False: memory is short, or
** there are more than ZT_HTTP_HEADER_BYTES. */
bool zt_http_body_header(zt_http_body *b, zt_http_request *r, zt_text line);

/* The status is known, and the first bytes follow. */
void zt_http_body_begin(zt_http_body *b, zt_http_request *r, int status);

/* Takes bytes. False: no more are wanted. */
bool zt_http_body_add(zt_http_body *b, zt_http_request *r, const uint8_t *p, size_t n);

/* The transfer ended with that outcome: the answer becomes complete. */
void zt_http_body_end(zt_http_body *b, zt_http_request *r, int status, zt_http_outcome outcome);

/* Parses a date as HTTP writes it (RFC 9110, 5.6.7: IMF-fixdate), or S3's listings
** (2009-10-12T17:50:30.000Z), to seconds since 1970. False for other texts. */
bool zt_http_date(zt_text text, int64_t *out);

#endif
