/*
** THE table of rules: what zt_check reports, under which name, and what zt_rules lists. The rules
** are numbered above the decoders that check them ("C7", core/error.h); several numbers may share a
** name, and all else then. A new rule is one row in rule.c. Interface to code in rule.c.
*/
#ifndef ZT_TENSOR_RULE_H
#define ZT_TENSOR_RULE_H

#include "core/error.h"

typedef struct zt_rule {
  const char *number;          /* As the check that fails states it */
  const char *slug;            /* zt_check.rule: stable */
  const char *severity;        /* "error": the file breaks a rule, and something cannot
                               ** be read or interpreted; "note": nothing is wrong with it, and
                               ** something has no values; else "warning" */
  const char *meaning;         /* What is true of a sound file */
  const char *specification;   /* What demands or advises it */
} zt_rule;

#define ZT_SEVERITY_ERROR "error"
#define ZT_SEVERITY_WARNING "warning"
#define ZT_SEVERITY_NOTE "note"

/* All rules; a NULL number ends them. */
extern const zt_rule zt_rules[];

/* The rule that a recorded failure is against. What the system refused, and limits, are
** rules, too. */
const zt_rule *zt_rule_of(const zt_error *e);

#endif
