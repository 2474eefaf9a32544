/*
** URLs of http and https (RFC 3986), percent-encoding, and addresses of the internet. Knows no
** network. Interface to code in url.c.
**
**   url       := ( "http" | "https" ) "://" host [ ":" port ] target [ "#" any ]
**   host      := name | IPv4 | "[" IPv6 "]"
**   target    := [ "/" path ] [ "?" query ]
**
** A scheme and a host are of any case. A URL with a user, a password, an empty host or a byte below
** U+0020 is refused.
*/
#ifndef ZT_CORE_URL_H
#define ZT_CORE_URL_H

#include "core/error.h"
#include "core/host.h"

typedef struct zt_url {
  bool tls;            /* https */
  zt_text host;        /* Borrowed, as written, with the brackets of an IPv6 address */
  uint16_t port;       /* As written, or the scheme's */
  zt_text path;        /* Borrowed: "" or from its slash up to the query */
  zt_text query;       /* Borrowed: behind the `?`; z NULL: there is none */
} zt_url;

/* Parses a URL, which *out borrows. The message of a failure does not show it. */
int zt_url_parse(const char *url, zt_url *out, zt_error *err);

/* Returns whether scheme, host and port are equal. */
bool zt_url_same_origin(const zt_url *a, const zt_url *b);

/* Appends `scheme://host[:port]` in lower case, the port unless it is the scheme's. */
void zt_url_put_origin(sqlite3_str *out, const zt_url *url);

/* Appends path and query as a request states them: bytes that no URL may have are
** percent-encoded. */
void zt_url_put_target(sqlite3_str *out, const zt_url *url);

/* Appends bytes, percent-encoded except for A-Z a-z 0-9 - . _ ~ and, if slashes, `/`. */
void zt_url_put_encoded(sqlite3_str *out, zt_text bytes, bool slashes);

/* Decodes %XX, and `+` as a space if plus, to out, which has room for text.n bytes and may be
** text.z. Other characters stay. Returns the length. */
size_t zt_url_decode(zt_text text, bool plus, char *out);

/* Returns whether each `%` begins a %XX. */
bool zt_url_is_encoded(zt_text text);

/* Returns the URL that a redirect from `base` with this Location leads to, from
** sqlite3_malloc64(), without a fragment. NULL if memory is short. It may be of any scheme. */
char *zt_url_resolve(const zt_url *base, zt_text location);

/* Returns whether a path has a part `.` or `..`, also percent-encoded. */
bool zt_url_has_dots(zt_text path);

/* Returns whether an address of 4 or 16 bytes is public: not loopback, private, link-local,
** multicast, reserved or unspecified, nor an IPv6 address that stands for such an IPv4 one. */
bool zt_address_is_public(const uint8_t *address, size_t n);

#endif
