/*
** Rules: what zt_check reports, under which name, and what zt_rules lists. They are numbered above
** the decoders that check them ("C7", core/error.h), and their rows stand beside that grammar: a
** format's in its driver's file, those of a grammar that several formats share with it, those of
** bytes and values in tensor/rule.c. A driver names the lists that its files may break (driver.h).
** Interface to code in rule.c, which has the rules of any file and of the grammars in core/.
*/
#ifndef ZT_CONTAINER_RULE_H
#define ZT_CONTAINER_RULE_H

#include "core/error.h"

typedef struct zt_rule {
  const char *number;          /* As the check that fails states it; NULL ends a list */
  const char *slug;            /* zt_check.rule: stable */
  const char *severity;        /* "error": the file breaks a rule, and something cannot be read or
                               ** interpreted; "note": nothing is wrong with it, and something has
                               ** no values; else "warning" */
  const char *meaning;         /* What is true of a sound file. NULL: this is another number of the
                               ** rule of that slug, whose row has all the rest */
  const char *specification;   /* What demands or advises it */
  const char *kind;            /* zt_files.error_kind of a file that is refused for it */
} zt_rule;

#define ZT_SEVERITY_ERROR "error"
#define ZT_SEVERITY_WARNING "warning"
#define ZT_SEVERITY_NOTE "note"

/* Rows of a list. */
#define ZT_ERROR(number, slug, meaning, specification) \
  { number, slug, ZT_SEVERITY_ERROR, meaning, specification, "broken" }
#define ZT_WARNING(number, slug, meaning, specification) \
  { number, slug, ZT_SEVERITY_WARNING, meaning, specification, "broken" }
#define ZT_NOTE(number, slug, meaning, specification) \
  { number, slug, ZT_SEVERITY_NOTE, meaning, specification, "broken" }
#define ZT_UNKNOWN(number, slug, meaning, specification) \
  { number, slug, ZT_SEVERITY_ERROR, meaning, specification, "unknown" }
#define ZT_UNSUPPORTED(number, slug, meaning, specification) \
  { number, slug, ZT_SEVERITY_ERROR, meaning, specification, "unsupported" }
#define ZT_SAME(number, slug) { number, slug, NULL, NULL, NULL, NULL }
#define ZT_RULES_END ZT_SAME(NULL, NULL)

/* Specifications that several lists cite. */
#define ZT_SPEC_CBOR(section) "RFC 7049 section " section
#define ZT_SPEC_ZTENSOR_1(section) "zTensor 1.2.0 section " section
#define ZT_SPEC_ZTENSOR_2 "zTensor 2"
#define ZT_SPEC_VERSIONS "zTensor 1.2.0, version policy"
#define ZT_SPEC_ZIP(section) "PKWARE APPNOTE.TXT " section
#define ZT_SPEC_TORCH "PyTorch, torch.serialization and torch._utils"
#define ZT_SPEC_ONNX(type) "onnx.proto, " type
#define ZT_SPEC_OURS "none: a bound of ztensor"
#define ZT_SPEC_SENSE "none: common sense"

/* Rules of any file. The first row stands for numbers that are in no list. */
extern const zt_rule zt_rules_file[];

/* Rules of the grammars in core/. */
extern const zt_rule zt_rules_cbor[];
extern const zt_rule zt_rules_cbor_strict[];   /* Deterministic encoding */
extern const zt_rule zt_rules_json[];
extern const zt_rule zt_rules_protobuf[];

/* N1, of several formats. */
extern const zt_rule zt_rules_name[];

/* How many drivers there are, and the lists of driver i in the order of their table, ended by NULL
** (in driver.c). */
int zt_driver_count(void);
const zt_rule *const *zt_driver_rules(int i);

#endif
