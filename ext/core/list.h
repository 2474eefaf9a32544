/*
** A list of texts as a JSON array (RFC 8259), read one after the other. Interface to code in
** list.c.
**
**   list   := ws "[" ws [ text ws { "," ws text ws } ] "]" ws
**   text   := '"' { character from U+0020 on, but for '"' and "\" | escape } '"'
**   escape := "\" ( '"' | "\" | "/" | "b" | "f" | "n" | "r" | "t" | "u" hex hex hex hex )
**   hex    := a digit, a to f, or A to F
**   ws     := { space | tab | line feed | carriage return }
**
** U+0000 and half a surrogate pair are no characters here. Elements are numbered from 0, and bytes
** of the list, too.
*/
#ifndef ZT_CORE_LIST_H
#define ZT_CORE_LIST_H

#include "core/error.h"

/* A list being read. Starts as { text }, which is borrowed. */
typedef struct zt_list {
  const char *text;
  size_t at;           /* Bytes read */
  size_t n;            /* Elements read */
  bool ended;
} zt_list;

/* True if a text is meant as a list, if a broken one. Patterns may begin with `[`, too: `[a-z]*` is
** none, `["a` is one. */
bool zt_list_is(const char *text);

/* Read the next element, decoded, into memory of the caller's from sqlite3_malloc64(). False at the
** end of the list, and on a failure, which is in err. */
bool zt_list_next(zt_list *list, char **out, zt_error *err);

#endif
