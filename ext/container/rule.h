/*
** Rules, which zt_check reports and zt_rules lists. The number ("C7", core/error.h) stands above
** the decoder that checks the rule, and the row beside that grammar: in the driver's file for a
** format, beside the shared code for a grammar of several formats, in tensor/rule.c for bytes and
** values. A driver names the lists that its files may break (driver.h). Interface to code in
** rule.c, which has the rules of any file and of the grammars in core/.
*/
#ifndef ZT_CONTAINER_RULE_H
#define ZT_CONTAINER_RULE_H

#include "core/error.h"

typedef struct zt_rule {
  const char *number;          /* As the failing check states it; NULL ends a list */
  const char *slug;            /* zt_check.rule; never changes */
  const char *severity;        /* "error": a rule is broken, and something cannot be read or
                               ** interpreted; "note": the file is sound, but something has no
                               ** values; else "warning" */
  const char *meaning;         /* A sentence that is true of a sound file. NULL: another number of
                               ** the rule of that slug, whose row has the rest */
  const char *specification;   /* The text that demands or advises it */
  const char *kind;            /* zt_files.error_kind of a file refused for it */
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

/* Rules of any file. The first row serves for numbers in no list. */
extern const zt_rule zt_rules_file[];

/* Rules of the grammars in core/. */
extern const zt_rule zt_rules_cbor[];
extern const zt_rule zt_rules_cbor_strict[];   /* Deterministic encoding */
extern const zt_rule zt_rules_json[];
extern const zt_rule zt_rules_protobuf[];
extern const zt_rule zt_rules_flatbuffer[];

/* N1, which several formats share. */
extern const zt_rule zt_rules_name[];

/* The number of drivers, and the lists of driver i in the table's order, ended by NULL (in
** driver.c). */
int zt_driver_count(void);
const zt_rule *const *zt_driver_rules(int i);

#endif
