/* The rules of bytes and values, and the lookup of rules. See rule.h. */
#include "tensor/rule.h"

#include <assert.h>
#include "core/host.h"

#define RULE_MX "zTensor 2, profile zt.mx/1"
#define RULE_QUANT "zTensor 2, profile zt.quant_group/1"
#define RULE_PROFILES "zTensor 2, profiles zt.mx/1 and zt.quant_group/1"
#define RULE_GGML "ggml, enum ggml_type and ggml-common.h"

static const zt_rule rule_bytes[] = {
  ZT_ERROR("Y1", "encoding",
           "every stored byte belongs to a frame that decodes without a dictionary", "RFC 8878"),
  ZT_ERROR("Y2", "seek-table",
           "frames have equal content sizes, and the places and sizes that the seek table "
           "states (2)", ZT_SPEC_ZTENSOR_2),
  ZT_SAME("Y3", "seek-table"),
  ZT_SAME("Y4", "seek-table"),
  ZT_ERROR("CH1", "chunk-size", "a chunk decodes to exactly its size", ZT_SPEC_SENSE),
  ZT_ERROR("CH2", "chunk-checksum", "checksums of chunks are right", ZT_SPEC_SENSE),
  ZT_WARNING("E1", "unknown-encoding", "the encoding is known", ZT_SPEC_ZTENSOR_1("1")),
  ZT_SAME("E2", "encoding"),
  ZT_ERROR("E3", "decoded-length", "the bytes decode to the length that the manifest states",
           ZT_SPEC_ZTENSOR_1("1")),
  ZT_SAME("E4", "decoded-length"),
  ZT_WARNING("E5", "unknown-length", "the length of a component is known", ZT_SPEC_SENSE),
  ZT_ERROR("E6", "stored-number",
           "a type can express numbers that are stored as another type, without rounding (MATLAB)",
           ZT_SPEC_SENSE),
  ZT_WARNING("W5", "missing-digest", "a component has a digest", ZT_SPEC_SENSE),
  ZT_WARNING("W6", "unknown-digest",
             "the digest's algorithm is known: crc32c or sha256 (0.1 to 1.2)",
             ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("W7", "malformed-digest",
           "a digest is algorithm:hex, with the number of digits of its algorithm",
           ZT_SPEC_ZTENSOR_1("1")),
  ZT_ERROR("W8", "digest-mismatch",
           "the bytes have the digest that the manifest states: stored bytes, in 2 decoded bytes",
           ZT_SPEC_ZTENSOR_1("1")),
  ZT_WARNING("W13", "missing-decoded-length",
             "a compressed component states its uncompressed_length", ZT_SPEC_ZTENSOR_1("1")),
  ZT_RULES_END
};

static const zt_rule rule_values[] = {
  ZT_NOTE("L11", "no-values", "a tensor's elements are numbers that the file contains",
          ZT_SPEC_SENSE),
  ZT_WARNING("L1", "unknown-format", "the object's format is known", ZT_SPEC_ZTENSOR_1("3")),
  ZT_WARNING("L2", "unknown-dtype", "a component's dtype is known", ZT_SPEC_ZTENSOR_1("2")),
  ZT_WARNING("L5", "unknown-type", "a component's logical type is known", ZT_SPEC_ZTENSOR_1("2")),
  ZT_ERROR("L6", "type-storage", "a logical type has its own storage type", ZT_SPEC_ZTENSOR_1("2")),
  ZT_ERROR("L8", "byte-order", "data_endianness is little or big",
           "zTensor 0.1.0, tensor metadata"),
  ZT_ERROR("L4", "missing-component", "every component that the format needs is present",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("L3", "length", "a component has the length that shape and type demand",
           ZT_SPEC_ZTENSOR_1("2")),
  ZT_SAME("D1", "length"),
  ZT_ERROR("L9", "invalid-value",
           "a bool is 0 or 1, and the spare bits of a last byte of packed elements are 0 (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("L10", "repeated-cell", "no two stored elements lie in one cell (2)", ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("P7", "unsorted-columns", "columns ascend within a row (2)", ZT_SPEC_ZTENSOR_2),
  ZT_WARNING("W9", "bool-byte", "a byte of type bool is 0 or 1", ZT_SPEC_ZTENSOR_1("2")),
  ZT_ERROR("P1", "sparse-shape", "sparse_csr has two dimensions", ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("P8", "sparse-blocks", "blocks of stored elements fill the matrix (pytorch)",
           ZT_SPEC_TORCH),
  ZT_ERROR("P2", "indptr",
           "indptr has rows + 1 entries, begins with 0, never falls and ends with the number of"
           " values", ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("P3", "sparse-length", "the number of indices matches the values",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_SAME("P6", "sparse-length"),
  ZT_SAME("K1", "sparse-length"),
  ZT_SAME("K4", "sparse-length"),
  ZT_ERROR("P4", "index-range", "every index lies within its dimension", ZT_SPEC_ZTENSOR_1("3")),
  ZT_SAME("K2", "index-range"),
  ZT_SAME("L7", "index-range"),
  ZT_ERROR("P5", "index-type", "indices are integers", ZT_SPEC_ZTENSOR_1("3")),
  ZT_SAME("K3", "index-type"),
  ZT_WARNING("W12", "index-dtype", "index components are u64 (1.2)", ZT_SPEC_ZTENSOR_1("3")),
  ZT_WARNING("W10", "unsorted-indices",
             "stored elements ascend: row-major, or by columns or blocks in formats of these",
             ZT_SPEC_SENSE),
  ZT_WARNING("W11", "duplicate-indices", "no two stored elements lie in one cell", ZT_SPEC_SENSE),
  ZT_ERROR("Q1", "quantized-attributes", "bits, group_size and packing are present and valid",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("Q2", "quantized-packing", "packing fills words of packed_weight's dtype with codes",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("Q3", "quantized-shape", "the last dimension is a whole number of words and of groups",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_ERROR("Q4", "quantized-length", "there are as many words, scales and zeros as the shape needs",
           ZT_SPEC_ZTENSOR_1("3")),
  ZT_SAME("Q5", "quantized-length"),
  ZT_ERROR("V1", "mx-attributes",
           "block_size is present and at least 2, and scale_form is e8m0_exponent", RULE_MX),
  ZT_ERROR("V2", "mx-shape", "axis is a dimension that is a whole number of blocks", RULE_MX),
  ZT_ERROR("V3", "mx-type", "data has an MX element type, and scales has f8_e8m0", RULE_MX),
  ZT_ERROR("V4", "mx-length", "there are as many elements and scales as the shape needs", RULE_MX),
  ZT_ERROR("V5", "extra-component", "the object has only the components of its format",
           RULE_PROFILES),
  ZT_ERROR("U1", "quant-group-attributes",
           "bits, group_size, axis, packing, scale_form and zero_point are present and known",
           RULE_QUANT),
  ZT_ERROR("U2", "quant-group-packing", "codes fill words of data's dtype, in a known order",
           RULE_QUANT),
  ZT_ERROR("U3", "quant-group-shape",
           "axis is a dimension that is a whole number of groups, and codes fill whole words",
           RULE_QUANT),
  ZT_ERROR("U4", "quant-group-length",
           "there are as many words, scales and zeros as the shape needs", RULE_QUANT),
  ZT_SAME("U5", "quant-group-length"),
  ZT_SAME("U6", "extra-component"),
  ZT_WARNING("GB1", "ggml-undefined", "the format defines the elements of this block type",
             RULE_GGML),
  ZT_ERROR("GB2", "ggml-shape", "the last dimension is a whole number of blocks", RULE_GGML),
  ZT_ERROR("GB3", "ggml-attributes", "elems_per_block and block_bytes are those of the type (2)",
           ZT_SPEC_ZTENSOR_2),
  ZT_ERROR("GB4", "ggml-type", "data has dtype u8", RULE_GGML),
  ZT_WARNING("GB5", "ggml-byte-order",
             "the byte order within blocks, and of bf16 in GGUF, is known", ZT_SPEC_SENSE),
  ZT_ERROR("GB6", "ggml-length", "data has the length that the shape demands", RULE_GGML),
  ZT_SAME("GB7", "extra-component"),
  ZT_RULES_END
};

/* Bytes that belong to no tensor, and the places of tensors in the file. */
static const zt_rule rule_layout[] = {
  ZT_WARNING("W1", "unknown-version", "the version is a known one: 0.1, 1.0 to 1.2, 2",
             ZT_SPEC_VERSIONS),
  ZT_WARNING("W2", "nonzero-padding", "bytes that belong to no component are zero (1.x, 2, GGUF)",
             ZT_SPEC_ZTENSOR_1("4")),
  ZT_WARNING("W3", "overlapping-blobs", "two components share all of their bytes, or none",
             ZT_SPEC_SENSE),
  ZT_WARNING("W4", "gap",
             "unused bytes in one place are no more than alignment needs: 64, in zTensor 2 "
             "65,536, or the number that all blobs are aligned to, in GGUF general.alignment",
             ZT_SPEC_ZTENSOR_1("4")),
  ZT_RULES_END
};

/* Return list i of rules: those of any file, of each format, and those above. NULL: the end. */
static const zt_rule *const *rule_lists(int i){
  static const zt_rule *const any[] = { zt_rules_file, NULL };
  static const zt_rule *const own[] = { rule_bytes, rule_values, rule_layout, NULL };
  const int formats = zt_driver_count();
  return i==0 ? any : i<=formats ? zt_driver_rules(i-1) : i==formats+1 ? own : NULL;
}

/* True if an earlier format has the same list. */
static bool rule_had(int format, const zt_rule *list){
  while( --format>0 ){
    for(const zt_rule *const *p=rule_lists(format); *p; p++) if( *p==list ) return true;
  }
  return false;
}

/* Move to the beginning of the next list; false at the end. */
static bool rule_next_list(zt_rule_walk *w){
  const zt_rule *const *lists = rule_lists(w->format);
  if( w->rule ) w->list++;
  while( lists && (!lists[w->list] || rule_had(w->format, lists[w->list])) ){
    if( lists[w->list] ){
      w->list++;
      continue;
    }
    w->list = 0;
    lists = rule_lists(++w->format);
  }
  if( lists ) w->rule = lists[w->list];
  return lists!=NULL;
}

bool zt_rule_next(zt_rule_walk *w){
  if( w->rule ) w->rule++;
  while( !w->rule || !w->rule->meaning ){
    if( w->rule && w->rule->number ) w->rule++;
    else if( !rule_next_list(w) ) return false;
  }
  return true;
}

/* Find the row with the number; or, if number is NULL, the full row of the slug. The search begins
** with the rules of bytes and values, which are the most frequent in findings. */
static const zt_rule *rule_find(const char *number, const char *slug){
  for(int i=zt_driver_count()+1; i>=0; i--){
    const zt_rule *const *list = rule_lists(i);
    assert( list );
    for(; *list; list++){
      for(const zt_rule *r=*list; r->number; r++){
        if( number ? r->number[0]==number[0] && strcmp(r->number, number)==0
                   : r->meaning && strcmp(r->slug, slug)==0 ) return r;
      }
    }
  }
  return NULL;
}

const zt_rule *zt_rule_numbered(const char *number){ return rule_find(number, NULL); }

const zt_rule *zt_rule_of(const zt_error *e){
  const char *number = e->rule ? e->rule : e->rc==SQLITE_TOOBIG ? "F2" : "F1";
  const zt_rule *rule = zt_rule_numbered(number);
  if( rule && !rule->meaning ) rule = rule_find(NULL, rule->slug);
  return rule ? rule : zt_rules_file;
}

const char *zt_rule_error_kind(const zt_error *e){
  const char *kind = zt_error_kind(e);
  return kind ? kind : zt_rule_of(e)->kind;
}
