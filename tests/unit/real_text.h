/* The text of a real in JSON, for the tests of core/json.h. */
#ifndef ZT_TESTS_UNIT_REAL_TEXT_H
#define ZT_TESTS_UNIT_REAL_TEXT_H

#include "test.h"

#include "core/json.h"

/* Into the n bytes at z. */
static inline void real_text(double r, char *z, size_t n){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *text;
  zt_json_real(out, r);
  text = sqlite3_str_finish(out);
  assert_non_null(text);
  assert_true(strlen(text)<n);
  strcpy(z, text);
  sqlite3_free(text);
}

#endif
