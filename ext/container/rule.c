/* Rules of any file, and of grammars that several formats share. See rule.h. */
#include "container/rule.h"

#define RULE_DETERMINISTIC "RFC 8949 section 4.2.1"
#define RULE_JSON(section) "RFC 8259 section " section
#define RULE_PROTOBUF "protobuf, encoding"
#define RULE_FLATBUFFER "FlatBuffers, internals"

const zt_rule zt_rules_file[] = {
  ZT_ERROR("F1", "unreadable", "the file can be opened and read, and does not change meanwhile",
           ZT_SPEC_SENSE),
  ZT_ERROR("F2", "limit", "nothing that has to be decoded exceeds the limits", ZT_SPEC_OURS),
  ZT_UNKNOWN("T1", "magic", "the file is of a known format", ZT_SPEC_ZTENSOR_1("4")),
  ZT_UNSUPPORTED("T2", "unsupported-format", "the file's format is supported", ZT_SPEC_OURS),
  ZT_RULES_END
};

const zt_rule zt_rules_cbor[] = {
  ZT_ERROR("C1", "cbor-reserved", "additional information is not 28 to 30", ZT_SPEC_CBOR("2.1")),
  ZT_ERROR("C2", "cbor-indefinite", "only strings, arrays and maps have indefinite lengths",
           ZT_SPEC_CBOR("2.2")),
  ZT_ERROR("C3", "cbor-break", "a break only ends an indefinite item", ZT_SPEC_CBOR("2.2.1")),
  ZT_ERROR("C4", "cbor-chunk", "chunks are definite, of the string's type", ZT_SPEC_CBOR("2.2.2")),
  ZT_ERROR("C5", "cbor-simple", "simple values below 32 take one byte", ZT_SPEC_CBOR("2.3")),
  ZT_ERROR("C6", "cbor-length", "no length extends beyond the manifest", ZT_SPEC_CBOR("3.1")),
  ZT_ERROR("C7", "cbor-utf8", "text is UTF-8", ZT_SPEC_CBOR("2.1")),
  ZT_ERROR("C8", "cbor-depth", "arrays, maps and tags are at most 64 levels deep, 32 in zTensor 2",
           ZT_SPEC_OURS),
  ZT_ERROR("C9", "cbor-trailing", "the manifest is one CBOR item", ZT_SPEC_ZTENSOR_1("1")),
  ZT_RULES_END
};

const zt_rule zt_rules_cbor_strict[] = {
  ZT_ERROR("G1", "not-deterministic", "the manifest is deterministic CBOR (2)", RULE_DETERMINISTIC),
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
  ZT_ERROR("J5", "json-text", "control characters are escaped, by JSON's escapes", RULE_JSON("7")),
  ZT_SAME("J6", "json-text"),
  ZT_ERROR("J7", "json-surrogate", "escaped surrogates come in pairs", RULE_JSON("8.2")),
  ZT_ERROR("J8", "json-utf8", "the header is UTF-8", RULE_JSON("8.1")),
  ZT_ERROR("J9", "json-depth", "arrays and objects are at most 64 levels deep", ZT_SPEC_OURS),
  ZT_ERROR("J10", "json-trailing", "only white space follows the value", RULE_JSON("2")),
  ZT_ERROR("J11", "json-cut", "everything that begins in the header ends there", RULE_JSON("2")),
  ZT_RULES_END
};

const zt_rule zt_rules_protobuf[] = {
  ZT_ERROR("PB1", "protobuf-varint",
           "a varint has at most 10 bytes and 64 bits (ONNX, TensorFlow)", RULE_PROTOBUF),
  ZT_ERROR("PB2", "protobuf-field",
           "a field has a valid number and a valid wire type (ONNX, TensorFlow)", RULE_PROTOBUF),
  ZT_ERROR("PB3", "protobuf-length", "no field ends beyond its message (ONNX, TensorFlow)",
           RULE_PROTOBUF),
  ZT_ERROR("PB4", "protobuf-value", "a number fits the tensor's type (ONNX)",
           ZT_SPEC_ONNX("TensorProto")),
  ZT_ERROR("PB5", "protobuf-packed", "a packed field holds whole floats (ONNX)", RULE_PROTOBUF),
  ZT_RULES_END
};

const zt_rule zt_rules_flatbuffer[] = {
  ZT_ERROR("FB1", "flatbuffer-table", "tables and their vtables lie within the file (TFLite)",
           RULE_FLATBUFFER),
  ZT_ERROR("FB2", "flatbuffer-field", "fields lie within their table (TFLite)", RULE_FLATBUFFER),
  ZT_ERROR("FB3", "flatbuffer-reference", "references and vectors lie within the file (TFLite)",
           RULE_FLATBUFFER),
  ZT_ERROR("FB4", "flatbuffer-shared",
           "vectors of tables take no more bytes than the file, as if none were shared (TFLite)",
           ZT_SPEC_OURS),
  ZT_RULES_END
};

const zt_rule zt_rules_name[] = {
  ZT_ERROR("N1", "name",
           "names of objects and components are text without U+0000; zTensor 2: 1 to 1024 bytes",
           ZT_SPEC_OURS),
  ZT_RULES_END
};
