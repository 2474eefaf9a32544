/* The hosts that remote sources are requested from. Interface to code in endpoint.c. */
#ifndef ZT_CORE_ENDPOINT_H
#define ZT_CORE_ENDPOINT_H

#include "core/error.h"

/* Returns the name of the host that a URL of http, https, s3 or hf is requested from, as
** HOST[:PORT], from sqlite3_malloc64(). The port is left out if it is the scheme's. Amazon's own S3
** has one name for all regions, so that machines of different regions agree. NULL for other
** sources, and after a failure (recorded). Nothing is sent. */
char *zt_endpoint(const char *source, zt_error *err);

#endif
