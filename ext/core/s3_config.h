/*
** Where S3 is, and the credentials for it, from the environment and the files of AWS's tools. They
** are looked up for each request and not kept. Interface to code in s3_config.c.
*/
#ifndef ZT_CORE_S3_CONFIG_H
#define ZT_CORE_S3_CONFIG_H

#include "core/error.h"

/* All texts are owned. */
typedef struct zt_s3_config {
  char *key_id, *secret;     /* NULL: requests are not signed */
  char *token;               /* NULL: none */
  char *region;
  char *endpoint;            /* NULL: AWS */
  bool requester_pays;
} zt_s3_config;

int zt_s3_config_get(zt_s3_config *out, zt_error *err);

/* Overwrites the credentials and frees all. */
void zt_s3_config_clear(zt_s3_config *c);

/* Returns the value of a key in a section of an INI file; n 0: none. The last one of equal keys.
** For tests. */
zt_text zt_s3_ini(zt_text file, const char *section, const char *key);

/* Reads a small file of text, from sqlite3_malloc64(). NULL if it cannot be read, or memory is
** short (recorded). */
char *zt_s3_read_file(const char *path, zt_error *err);

#endif
