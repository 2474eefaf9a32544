/*
** All rules: those of formats (container/rule.h), and those of bytes and values. Several numbers
** may share one rule. Interface to code in rule.c, which has the rules of bytes and values.
*/
#ifndef ZT_TENSOR_RULE_H
#define ZT_TENSOR_RULE_H

#include "container/rule.h"

/* A walk through the rules that have rows of their own, each once: those of any file, then of the
** formats in the order of their drivers, then of bytes and of values. It begins with zeros. */
typedef struct zt_rule_walk {
  int format, list;      /* Where the current one is */
  const zt_rule *rule;   /* The current one; NULL: before the first one */
} zt_rule_walk;

/* Go on to the next one; false: there are no more. */
bool zt_rule_next(zt_rule_walk *w);

/* The row with that number, NULL if there is none. */
const zt_rule *zt_rule_numbered(const char *number);

/* The rule that a recorded failure is against. What the system refused, and limits, are
** rules, too. */
const zt_rule *zt_rule_of(const zt_error *e);

/* What kind of failure is recorded, as zt_files.error_kind shows it: as zt_error_kind(); `broken`,
** the file breaks a rule of its format; `unsupported`, its format is known and not read; `unknown`,
** it is no tensor file. Static. */
const char *zt_rule_error_kind(const zt_error *e);

#endif
