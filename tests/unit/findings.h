/*
** Findings of zt_check as a line of text, for tests to compare.
*/
#ifndef ZT_TESTS_UNIT_FINDINGS_H
#define ZT_TESTS_UNIT_FINDINGS_H

#include "tensors.h"
#include "tensor/check.h"

/* All findings of an opened file: their numbers, and the object's and component's name where there is one: "W4 W9:x.data".
** That there is no digest (W5) is left out: these files have none. `last`, if given: the words of the last one. */
static inline void list_findings(const opened *o, bool full, char *out, size_t room, char last[1000], const char *row){
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  zt_budget budget = { .result = 1000000000, .decode = UINT64_MAX };
  zt_check *check = NULL;
  size_t n = 0;
  out[0] = 0;
  assert_int_equal(zt_check_open(o->source, o->container, full, &budget, "m.zt", &check, &err), SQLITE_OK);
  while( zt_check_next(check, &found, &err) ){
    check( found.rc!=SQLITE_OK && found.message, "%s", row );
    check( strncmp(found.message, "ztensor: m.zt: ", 15)==0, "%s: %s", row, found.message );
    check( strcmp(found.message+strlen(found.message)-strlen(found.parts.fault), found.parts.fault)==0, "%s: %s", row, found.message );
    if( !found.rule || strcmp(found.rule, "W5")!=0 ){
      if( last ) snprintf(last, 1000, "%s", found.parts.fault);
      n += (size_t)snprintf(out+n, room-n, "%s%s", n ? " " : "", found.rule ? found.rule : "?");
      if( found.object.z ) n += (size_t)snprintf(out+n, room-n, ":%.*s", (int)found.object.n, found.object.z);
      if( found.component.z ) n += (size_t)snprintf(out+n, room-n, ".%.*s", (int)found.component.n, found.component.z);
      check( n<room, "%s", row );
    }
    zt_error_clear(&found);
    found = ZT_ERROR_NONE;
  }
  assert_succeeded(&err, row);
  check( !zt_check_next(check, &found, &err), "%s: more after the end", row );
  zt_check_close(check);
}

static inline void assert_findings(const opened *o, const char *quick, const char *full, const char *row){
  char got[4000];
  list_findings(o, false, got, sizeof(got), NULL, row);
  check( strcmp(got, quick)==0, "%s: quick: '%s', expected '%s'", row, got, quick );
  list_findings(o, true, got, sizeof(got), NULL, row);
  check( strcmp(got, full)==0, "%s: full: '%s', expected '%s'", row, got, full );
}

/* The same, and the last finding's words. */
static inline void assert_last(const opened *o, const char *full, const char *words, const char *row){
  char got[4000], last[1000] = "";
  list_findings(o, true, got, sizeof(got), last, row);
  check( strcmp(got, full)==0, "%s: '%s', expected '%s'", row, got, full );
  check( strcmp(last, words)==0, "%s: '%s', expected '%s'", row, last, words );
}

#endif
