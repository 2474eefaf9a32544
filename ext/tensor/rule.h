/*
** All rules: those of formats (container/rule.h), and those of bytes and values, which are in
** rule.c. Several numbers may share one rule. Interface to code in rule.c.
*/
#ifndef ZT_TENSOR_RULE_H
#define ZT_TENSOR_RULE_H

#include "container/rule.h"

/* A walk through the rules that have rows of their own, each once: first those of any file, then of
** the formats in the order of their drivers, then of bytes and values. It starts as zeros. */
typedef struct zt_rule_walk {
  int format, list;      /* The place of the current rule */
  const zt_rule *rule;   /* NULL: before the first rule */
} zt_rule_walk;

/* Move to the next rule; false at the end. */
bool zt_rule_next(zt_rule_walk *w);

/* Return the row with the number; NULL if there is none. */
const zt_rule *zt_rule_numbered(const char *number);

/* Return the rule that an error breaks. System errors and limits have rules too. */
const zt_rule *zt_rule_of(const zt_error *e);

/* Return zt_files.error_kind for an error: that of zt_error_kind(); or `broken`, the file breaks a
** rule of its format; `unsupported`, its format is known but not read; `unknown`, it is no tensor
** file. Static. */
const char *zt_rule_error_kind(const zt_error *e);

#endif
