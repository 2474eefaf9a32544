/* The table of rules. See rule.h. */
#include "tensor/rule.h"

#include "core/host.h"

#define E ZT_SEVERITY_ERROR
#define W ZT_SEVERITY_WARNING
#define RFC(section) "RFC 7049 section " section
#define V12(section) "zTensor 1.2.0 section " section
#define V2 "zTensor 2"
#define RFC8949 "RFC 8949 section 4.2.1"
#define MX "zTensor 2, profile zt.mx/1"
#define QUANT "zTensor 2, profile zt.quant_group/1"
#define PROFILES "zTensor 2, profiles zt.mx/1 and zt.quant_group/1"
#define VERSIONS "zTensor 1.2.0, version policy"
#define OURS "none: a bound of ztensor"
#define SENSE "none: common sense"

const zt_rule zt_rules[] = {   /* The first is what stands for a number that is missing here */
  /* The file */
  { "F1", "unreadable", E, "the file can be opened and read, and stays as it is meanwhile", SENSE },
  { "F2", "limit", E, "what has to be decoded stays within the limits", OURS },
  { "T1", "magic", E, "the file begins with the magic number of a known generation", V12("4") },
  { "M1", "footer", E, "header, manifest size and footer fit the file", V12("4") },
  { "M2", "manifest-size", E, "the manifest has at least 1 byte, at most 1 GiB, and fits the file", V12("5") },
  /* CBOR */
  { "C1", "cbor-reserved", E, "additional information 28 to 30 is not used", RFC("2.1") },
  { "C2", "cbor-indefinite", E, "only strings, arrays and maps have indefinite lengths", RFC("2.2") },
  { "C3", "cbor-break", E, "a break stands only where an indefinite item may end", RFC("2.2.1") },
  { "C4", "cbor-chunk", E, "chunks are definite strings of the string's own type", RFC("2.2.2") },
  { "C5", "cbor-simple", E, "no simple value below 32 takes two bytes", RFC("2.3") },
  { "C6", "cbor-length", E, "no declared length goes beyond the manifest's end", RFC("3.1") },
  { "C7", "cbor-utf8", E, "text is UTF-8", RFC("2.1") },
  { "C8", "cbor-depth", E, "arrays, maps and tags are nested at most 64 levels deep, 32 in zTensor 2", OURS },
  { "C9", "cbor-trailing", E, "the manifest is one CBOR item and nothing else", V12("1") },
  { "Z1", "footer", E, "header, manifest size and footer fit the file", V12("4") },
  { "Z2", "footer-magic", E, "the file ends with its magic number (2)", V2 },
  { "Z3", "version", E, "the major version is that of the container: 1, or 2", VERSIONS },
  { "Z4", "manifest-size", E, "the manifest has at least 1 byte, at most 1 GiB, and fits the file", V12("5") },
  { "Z5", "manifest-hash", E, "the manifest has the hash that the footer states (2)", V2 },
  { "G1", "not-deterministic", E, "the manifest is in deterministic encoding (2)", RFC8949 },
  { "G2", "not-deterministic", E, "the manifest is in deterministic encoding (2)", RFC8949 },
  { "G3", "not-deterministic", E, "the manifest is in deterministic encoding (2)", RFC8949 },
  { "G4", "not-deterministic", E, "the manifest is in deterministic encoding (2)", RFC8949 },
  { "G5", "not-deterministic", E, "the manifest is in deterministic encoding (2)", RFC8949 },
  { "G6", "cbor-depth", E, "arrays, maps and tags are nested at most 64 levels deep, 32 in zTensor 2", OURS },
  /* The manifest */
  { "A1", "root-type", E, "the manifest is an array of tensors (0.1) or a map (1.x)", V12("1") },
  { "B1", "root-type", E, "the manifest is an array of tensors (0.1) or a map (1.x)", V12("1") },
  { "B2", "version", E, "the major version is that of the container: 1, or 2", VERSIONS },
  { "S1", "field-name", E, "the keys of the manifest's own maps are text", V12("1") },
  { "S2", "duplicate-field", E, "no key of a map occurs twice", RFC("3.7") },
  { "S3", "missing-field", E, "required fields are there", V12("1") },
  { "S6", "field-type", E, "a field has the type that the specification gives it", V12("1") },
  { "B3", "duplicate-field", E, "no key of a map occurs twice", RFC("3.7") },
  { "N1", "name", E, "the name of an object or component is text without U+0000, in zTensor 2 of 1 to 1024 bytes", OURS },
  { "A3", "duplicate-object", E, "no two objects have the same name", RFC("3.7") },
  { "B4", "duplicate-object", E, "no two objects have the same name", RFC("3.7") },
  { "A2", "object-type", E, "an object is a map", V12("1") },
  { "B5", "object-type", E, "an object is a map", V12("1") },
  { "B6", "duplicate-component", E, "no two components of an object have the same role", RFC("3.7") },
  { "B7", "component-type", E, "a component is a map", V12("1") },
  { "H1", "shape", E, "a shape is an array of at most 64 unsigned integers", V12("1") },
  { "H2", "shape-overflow", E, "the product of the dimensions fits 64 bits", OURS },
  { "R1", "alignment", E, "offsets are multiples of 64", V12("4") },
  { "R2", "range", E, "components lie between header and manifest, in zTensor 2 between header and footer", V12("5") },
  { "R3", "range", E, "components lie between header and manifest, in zTensor 2 between header and footer", V12("5") },
  { "Z7", "range", E, "components lie between header and manifest, in zTensor 2 between header and footer", V12("5") },
  { "Z8", "name", E, "the name of an object or component is text without U+0000, in zTensor 2 of 1 to 1024 bytes", OURS },
  { "Z9", "no-parts", E, "an object has at least one part (2)", V2 },
  { "Z11", "unknown-dtype", E, "a component's dtype is one of its generation", V12("2") },
  { "Z12", "decoded-length", E, "the bytes decode to as many as the manifest tells", V12("1") },
  { "Z13", "blob-overlap", E, "two blobs of a file share all of their bytes, or none (2)", V2 },
  { "Z14", "layout", E, "an object has the parts that its layout has, and they the lengths that shape and types make (2)", V2 },
  { "Z15", "malformed-digest", E, "a digest is algorithm:hex, with as many digits as that algorithm makes", V12("1") },
  /* Shards */
  { "Z6", "shard-name", E, "a shard's name is 1 to 64 of A-Z a-z 0-9 . _ -, not beginning with a dot (2)", V2 },
  { "Z10", "unknown-shard", E, "a part's shard is in the table of shards (2)", V2 },
  { "X1", "missing-shard", E, "a shard lies beside its file (2)", V2 },
  { "X4", "shard-format", E, "a shard has the magic number and footer of its format (2)", V2 },
  { "X2", "shard-size", E, "a shard has the size that the table tells (2)", V2 },
  { "X3", "shard-digest", E, "a shard has the digest that the table tells (2)", V2 },
  /* Bytes */
  { "Y1", "encoding", E, "every stored byte belongs to a frame that decodes, without dictionary", "RFC 8878" },
  { "Y2", "seek-table", E, "frames are of equal content, and where and as large as the seek table tells (2)", V2 },
  { "Y3", "seek-table", E, "frames are of equal content, and where and as large as the seek table tells (2)", V2 },
  { "Y4", "seek-table", E, "frames are of equal content, and where and as large as the seek table tells (2)", V2 },
  { "E1", "unknown-encoding", E, "the encoding is known", V12("1") },
  { "E2", "encoding", E, "every stored byte belongs to a frame that decodes, without dictionary", "RFC 8878" },
  { "E3", "decoded-length", E, "the bytes decode to as many as the manifest tells", V12("1") },
  { "E4", "decoded-length", E, "the bytes decode to as many as the manifest tells", V12("1") },
  { "W5", "missing-digest", W, "a component has a digest", SENSE },
  { "W6", "unknown-digest", W, "the digest's algorithm is known: crc32c or sha256 (0.1 to 1.2), xxh3 or sha256 (2)", V12("1") },
  { "W7", "malformed-digest", E, "a digest is algorithm:hex, with as many digits as that algorithm makes", V12("1") },
  { "W8", "digest-mismatch", E, "the bytes have the digest that the manifest states: the stored ones, in 2 the decoded ones", V12("1") },
  { "W13", "missing-decoded-length", W, "a compressed component states its uncompressed_length", V12("1") },
  /* Values */
  { "L1", "unknown-format", E, "the object's format is known", V12("3") },
  { "L2", "unknown-dtype", E, "a component's dtype is one of its generation", V12("2") },
  { "L5", "unknown-type", W, "a component's logical type is one of its generation", V12("2") },
  { "L6", "type-storage", E, "a logical type stands on its own storage type", V12("2") },
  { "L8", "byte-order", E, "data_endianness is little or big", "zTensor 0.1.0, tensor metadata" },
  { "L4", "missing-component", E, "every component that the format needs is there", V12("3") },
  { "L3", "length", E, "a component is as long as shape and type make it", V12("2") },
  { "D1", "length", E, "a component is as long as shape and type make it", V12("2") },
  { "L9", "invalid-value", E, "a bool is 0 or 1, and the spare half of a last byte of f4_e2m1 is 0 (2)", V2 },
  { "L10", "repeated-cell", E, "no two stored elements lie in one cell (2)", V2 },
  { "P7", "unsorted-columns", E, "columns ascend within a row (2)", V2 },
  { "W9", "bool-byte", W, "a byte of type bool is 0 or 1", V12("2") },
  { "P1", "sparse-shape", E, "sparse_csr has two dimensions", V12("3") },
  { "P2", "indptr", E, "indptr has rows + 1 entries, begins with 0, never falls and ends with the number of values", V12("3") },
  { "P3", "sparse-length", E, "there are as many indices as the values need", V12("3") },
  { "P6", "sparse-length", E, "there are as many indices as the values need", V12("3") },
  { "K1", "sparse-length", E, "there are as many indices as the values need", V12("3") },
  { "K4", "sparse-length", E, "there are as many indices as the values need", V12("3") },
  { "P4", "index-range", E, "every index lies within its dimension", V12("3") },
  { "K2", "index-range", E, "every index lies within its dimension", V12("3") },
  { "L7", "index-range", E, "every index lies within its dimension", V12("3") },
  { "P5", "index-type", E, "indices are integers", V12("3") },
  { "K3", "index-type", E, "indices are integers", V12("3") },
  { "W12", "index-dtype", W, "index components are u64 (1.2)", V12("3") },
  { "W10", "unsorted-indices", W, "stored elements come in row-major order of their cells", SENSE },
  { "W11", "duplicate-indices", W, "no two stored elements lie in one cell", SENSE },
  { "Q1", "quantized-attributes", E, "bits, group_size and packing are there and make sense", V12("3") },
  { "Q2", "quantized-packing", E, "packing fills words of packed_weight's dtype with codes", V12("3") },
  { "Q3", "quantized-shape", E, "the last dimension is a whole number of words and of groups", V12("3") },
  { "Q4", "quantized-length", E, "there are as many words, scales and zeros as the shape needs", V12("3") },
  { "Q5", "quantized-length", E, "there are as many words, scales and zeros as the shape needs", V12("3") },
  { "V1", "mx-attributes", E, "block_size is there and at least 2, scale_form is e8m0_exponent", MX },
  { "V2", "mx-shape", E, "axis is a dimension, and a whole number of blocks", MX },
  { "V3", "mx-type", E, "data is of an MX element type, scales of f8_e8m0", MX },
  { "V4", "mx-length", E, "there are as many elements and scales as the shape needs", MX },
  { "V5", "extra-component", E, "the object has no component but those of its format", PROFILES },
  { "U1", "quant-group-attributes", E, "bits, group_size, axis, packing, scale_form and zero_point are there and known", QUANT },
  { "U2", "quant-group-packing", E, "codes fill words of data's dtype, in a known order", QUANT },
  { "U3", "quant-group-shape", E, "axis is a dimension, and a whole number of groups; codes are a whole number of words", QUANT },
  { "U4", "quant-group-length", E, "there are as many words, scales and zeros as the shape needs", QUANT },
  { "U5", "quant-group-length", E, "there are as many words, scales and zeros as the shape needs", QUANT },
  { "U6", "extra-component", E, "the object has no component but those of its format", PROFILES },
  /* The file's layout */
  { "W1", "unknown-version", W, "the version is one that is known: 0.1, 1.0 to 1.2, 2", VERSIONS },
  { "W2", "nonzero-padding", W, "bytes that belong to no component are zero (1.x, 2)", V12("4") },
  { "W3", "overlapping-blobs", W, "two components share all of their bytes, or none", SENSE },
  { "W4", "gap", W, "no more bytes in one place belong to no component than alignment needs: 64, in zTensor 2 65,536", V12("4") },
  { NULL, NULL, NULL, NULL, NULL }
};

const zt_rule *zt_rule_of(const zt_error *e){
  const char *number = e->rule ? e->rule : e->rc==SQLITE_TOOBIG ? "F2" : "F1";
  const zt_rule *rule = zt_rules;
  while( rule->number && strcmp(rule->number, number)!=0 ) rule++;
  return rule->number ? rule : zt_rules;
}
