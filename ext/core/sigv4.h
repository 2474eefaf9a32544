/*
** Signatures of requests to S3 (AWS Signature Version 4, header form, for GET without a body).
** Interface to code in sigv4.c.
*/
#ifndef ZT_CORE_SIGV4_H
#define ZT_CORE_SIGV4_H

#include "core/error.h"
#include "core/host.h"

/* A request to sign. Texts are borrowed. */
typedef struct zt_sigv4 {
  zt_text host;              /* As in the Host header */
  zt_text path;              /* Percent-encoded once, as it is sent, from its slash */
  zt_text query;             /* Percent-encoded, names in bytewise order; may be "" */
  zt_text region, service;
  zt_text key_id, secret;
  zt_text token;             /* Of a session; n 0: none */
  bool requester_pays;       /* x-amz-request-payer: requester */
  char time[17];             /* 20130524T000000Z */
} zt_sigv4;

#define ZT_SIGV4_HEADERS 5

/* Writes the headers to send, each `Name: value` from sqlite3_malloc64(), into out, and their
** number into *n: Authorization, x-amz-content-sha256, x-amz-date, and those of token and
** requester. */
int zt_sigv4_sign(const zt_sigv4 *request, char *out[ZT_SIGV4_HEADERS], int *n, zt_error *err);

#define ZT_HMAC_BYTES 32
/* HMAC-SHA256 (RFC 2104); out may be the key's place. False if memory is short. */
bool zt_hmac_sha256(zt_span key, zt_span message, uint8_t out[ZT_HMAC_BYTES]);

#endif
