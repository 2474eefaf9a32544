/* Rules of any file, and of grammars that are no format's. See rule.h. */
#include "container/rule.h"

#define RULE_DETERMINISTIC "RFC 8949 section 4.2.1"
#define RULE_JSON(section) "RFC 8259 section " section
#define RULE_PROTOBUF "protobuf, encoding"

const zt_rule zt_rules_file[] = {
  ZT_ERROR("F1", "unreadable", "the file can be opened and read, and stays as it is meanwhile",
           ZT_SPEC_SENSE),
  ZT_ERROR("F2", "limit", "what has to be decoded stays within the limits", ZT_SPEC_OURS),
  ZT_UNKNOWN("T1", "magic", "the file is of a format that is known", ZT_SPEC_ZTENSOR_1("4")),
  ZT_UNSUPPORTED("T2", "unsupported-format", "the file's format is one that is read", ZT_SPEC_OURS),
  ZT_RULES_END
};

const zt_rule zt_rules_cbor[] = {
  ZT_ERROR("C1", "cbor-reserved", "additional information 28 to 30 is not used",
           ZT_SPEC_CBOR("2.1")),
  ZT_ERROR("C2", "cbor-indefinite", "only strings, arrays and maps have indefinite lengths",
           ZT_SPEC_CBOR("2.2")),
  ZT_ERROR("C3", "cbor-break", "a break stands only where an indefinite item may end",
           ZT_SPEC_CBOR("2.2.1")),
  ZT_ERROR("C4", "cbor-chunk", "chunks are definite strings of the string's own type",
           ZT_SPEC_CBOR("2.2.2")),
  ZT_ERROR("C5", "cbor-simple", "no simple value below 32 takes two bytes", ZT_SPEC_CBOR("2.3")),
  ZT_ERROR("C6", "cbor-length", "no declared length goes beyond the manifest's end",
           ZT_SPEC_CBOR("3.1")),
  ZT_ERROR("C7", "cbor-utf8", "text is UTF-8", ZT_SPEC_CBOR("2.1")),
  ZT_ERROR("C8", "cbor-depth",
           "arrays, maps and tags are nested at most 64 levels deep, 32 in zTensor 2",
           ZT_SPEC_OURS),
  ZT_ERROR("C9", "cbor-trailing", "the manifest is one CBOR item and nothing else",
           ZT_SPEC_ZTENSOR_1("1")),
  ZT_RULES_END
};

const zt_rule zt_rules_cbor_strict[] = {
  ZT_ERROR("G1", "not-deterministic", "the manifest is in deterministic encoding (2)",
           RULE_DETERMINISTIC),
  ZT_SAME("G2", "not-deterministic"),
  ZT_SAME("G3", "not-deterministic"),
  ZT_SAME("G4", "not-deterministic"),
  ZT_SAME("G5", "not-deterministic"),
  ZT_SAME("G6", "cbor-depth"),
  ZT_RULES_END
};

const zt_rule zt_rules_json[] = {
  ZT_ERROR("J1", "json-syntax", "the header is JSON", RULE_JSON("2 to 6")),
  ZT_SAME("J2", "json-syntax"),
  ZT_SAME("J3", "json-syntax"),
  ZT_SAME("J4", "json-syntax"),
  ZT_ERROR("J5", "json-text", "control characters are escaped, and escapes are those of JSON",
           RULE_JSON("7")),
  ZT_SAME("J6", "json-text"),
  ZT_ERROR("J7", "json-surrogate", "escaped surrogates come in pairs", RULE_JSON("8.2")),
  ZT_ERROR("J8", "json-utf8", "the header is UTF-8", RULE_JSON("8.1")),
  ZT_ERROR("J9", "json-depth", "arrays and objects are nested at most 64 levels deep",
           ZT_SPEC_OURS),
  ZT_ERROR("J10", "json-trailing", "nothing but white space stands behind the header's value",
           RULE_JSON("2")),
  ZT_ERROR("J11", "json-cut", "all that is begun in the header is ended there", RULE_JSON("2")),
  ZT_RULES_END
};

const zt_rule zt_rules_protobuf[] = {
  ZT_ERROR("PB1", "protobuf-varint", "a varint has at most 10 bytes and 64 bits (ONNX)",
           RULE_PROTOBUF),
  ZT_ERROR("PB2", "protobuf-field", "a field has a number and a type that there are (ONNX)",
           RULE_PROTOBUF),
  ZT_ERROR("PB3", "protobuf-length", "no field goes beyond the message that it is in (ONNX)",
           RULE_PROTOBUF),
  ZT_ERROR("PB4", "protobuf-value", "a number is one that the tensor's type holds (ONNX)",
           ZT_SPEC_ONNX("TensorProto")),
  ZT_ERROR("PB5", "protobuf-packed", "floats that are packed are whole ones (ONNX)", RULE_PROTOBUF),
  ZT_RULES_END
};

const zt_rule zt_rules_name[] = {
  ZT_ERROR("N1", "name",
           "the name of an object or component is text without U+0000, in zTensor 2 of 1 to 1024"
           " bytes",
           ZT_SPEC_OURS),
  ZT_RULES_END
};
