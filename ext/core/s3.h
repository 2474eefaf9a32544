/*
** S3: where objects are, signatures of requests, and listings. Interface to code in s3.c.
**
**   source   := "s3://" bucket [ "/" key ]
**   listing  := ListBucketResult of ListObjectsV2 (XML), with encoding-type=url
*/
#ifndef ZT_CORE_S3_H
#define ZT_CORE_S3_H

#include "core/fetch.h"

/* Splits a source. False if it has no valid bucket. key is "" for the bucket itself. */
bool zt_s3_split(const char *source, zt_text *bucket, zt_text *key);

extern const zt_fetch_scheme zt_s3_scheme;

/* Receives an object of a listing; the key is borrowed. The state is sqlite3_malloc64()'s, and
** taken. Returns false to end the listing. */
typedef bool zt_s3_object(void *context, zt_text key, zt_remote_state *state);

/* Lists the objects whose keys begin with the prefix, in order. */
int zt_s3_list(zt_remote *r, zt_text bucket, zt_text prefix, zt_s3_object *object, void *context,
               zt_error *err);

/* Reads one page of a listing. *next is the token of the next page, from sqlite3_malloc64(), or
** NULL at the end. For tests. */
int zt_s3_read_page(zt_span xml, zt_s3_object *object, void *context, char **next, zt_error *err);

#endif
