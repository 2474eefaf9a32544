/*
** A list of texts as a JSON array (RFC 8259), read one after the other. Interface to code in
** list.c.
**
**   list := ws "[" ws [ text ws { "," ws text ws } ] "]" ws         ; core/json_read.h
**
** U+0000 is no character here, and bytes that are no UTF-8 stay what they are. Elements are
** numbered from 0, and bytes of the list, too.
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

/* True if a text is meant as a list, if a broken one. Patterns may begin with `[`, too: `[a-z]*` is
** none, `["a` is one. */
bool zt_list_is(const char *text);

/* Begin to read the list, which is borrowed, as is err: failures go there. */
void zt_list_init(zt_list *list, const char *text, zt_error *err);

/* Read the next element, decoded, into memory of the caller's from sqlite3_malloc64(). False at the
** end of the list, and on a failure. */
bool zt_list_next(zt_list *list, char **out);

#endif
