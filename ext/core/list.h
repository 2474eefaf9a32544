/*
** Reader of a list of texts, a JSON array (RFC 8259). Interface to code in list.c.
**
**   list := ws "[" ws [ text ws { "," ws text ws } ] "]" ws         ; core/json_read.h
**
** U+0000 is refused, and bytes that are not UTF-8 are kept. Elements and bytes are numbered from 0.
*/
#ifndef ZT_CORE_LIST_H
#define ZT_CORE_LIST_H

#include "core/json_read.h"

typedef struct zt_list {
  zt_json_reader json;
  zt_json_level level;
  size_t n;            /* Elements read */
  bool ended;
} zt_list;

/* Returns whether a text is meant as a list, even a broken one. Patterns may begin with `[`, too:
** `[a-z]*` is not a list, `["a` is one. */
bool zt_list_is(const char *text);

/* Begins to read the list. The text and err, which receives failures, are borrowed. */
void zt_list_init(zt_list *list, const char *text, zt_error *err);

/* Reads the next element into memory that the caller frees by sqlite3_free(). False at the end of
** the list and after a failure. */
bool zt_list_next(zt_list *list, char **out);

#endif
