/*
** What breaks a rule of the grammars above zTensor's decoders and is too large, too many or too odd to be kept as a file:
** test_layout.c makes it. What files break is in cases.json beside them. test_container.c proves that no rule is missing in these
** and rules_zt2.h.
*/
#ifndef ZT_TESTS_UNIT_RULES_H
#define ZT_TESTS_UNIT_RULES_H

#include <stddef.h>

typedef struct rule_made {
  const char *rule;
  const char *name;
  const char *message;   /* Behind the object's name */
} rule_made;

static const rule_made rules_made[] = {
  { "L2", "dtype-that-is-a-type", "component 'data': dtype 'complex64' is not known" },
  { "L2", "csr-indices-type", "component 'indices': dtype 'u128' is not known" },
  { "L3", "csr-values-length", "component 'values': 7 bytes are no whole number of f32 elements" },
  { "L3", "csr-indices-length", "component 'indices': 5 bytes are no whole number of u16 elements" },
  { "L3", "coo-coords-length", "component 'coords': 9 bytes are no whole number of i64 elements" },
  { "L3", "quant-words-length", "component 'packed_weight': 6 bytes are no whole number of i32 elements" },
  { "L4", "quant-no-words", "quantized_group needs a component 'packed_weight'" },
  { "L4", "quant-no-zeros", "quantized_group needs a component 'zeros'" },
  { "L5", "type-of-a-later-generation", "component 'data': type 'f4_e2m1' is not known" },
  { "L5", "coo-coords-type", "component 'coords': type 'i4' is not known" },
  { "L6", "quant-zeros-type", "component 'zeros': type 'complex64' is not stored as 'f64'" },
  { "L7", "csr-indptr-negative", "component 'indptr': entry 2 is negative" },
  { "L7", "csr-column-negative", "component 'indices': entry 1 is negative" },
  { "L7", "coo-negative", "component 'coords': entry 1 is negative" },
  { "L8", "old-byte-order", "component 'data': byte order 'middle' is not known" },
  { "L8", "old-byte-order-csr", "component 'data': byte order 'Big' is not known" },
  { "P1", "csr-scalar", "sparse_csr has two dimensions, not 0" },
  { "P2", "csr-rows-max", "indptr of 18446744073709551615 rows has 0 entries" },
  { "P2", "csr-indptr-falls-late", "indptr falls at row 5000: from 4 to 3" },
  { "P2", "csr-indptr-falls-between-windows", "indptr falls at row 4096: from 4 to 3" },
  { "P2", "old-csr-indptr-start", "indptr begins with 1, not 0" },
  { "P2", "old-csr-indptr-last", "indptr ends with 3, and there are 2 values" },
  { "P2", "csr-no-row-and-a-value", "indptr ends with 0, and there are 1 values" },
  { "P3", "csr-indices-long", "there are 3 indices and 2 values" },
  { "P4", "csr-no-column", "column 0 in row 0, of 0 columns" },
  { "P4", "old-csr-column", "column 3 in row 1, of 3 columns" },
  { "P5", "csr-indices-float", "indices and indptr are integers, not f32 and u64" },
  { "P5", "csr-indptr-float", "indices and indptr are integers, not u64 and f64" },
  { "P5", "csr-indices-bool", "indices and indptr are integers, not bool and u64" },
  { "P5", "csr-indices-complex", "indices and indptr are integers, not complex64 and u64" },
  { "P6", "old-csr-cut", "component 'data': 55 bytes are not indptr of 3 rows, indices and values of f32" },
  { "P6", "old-csr-no-indptr", "component 'data': 31 bytes are not indptr of 3 rows, indices and values of f32" },
  { "P6", "old-csr-rows-2-61", "component 'data': 44 bytes are not indptr of 2305843009213693951 rows, indices and values of f32" },
  { "P6", "old-csr-rows-max", "component 'data': 44 bytes are not indptr of 18446744073709551615 rows, indices and values of f32" },
  { "P6", "old-csr-cut-zstd", "component 'data': 55 bytes are not indptr of 3 rows, indices and values of f32" },
  { "K1", "coo-scalar-with-coords", "coords has 1 entries for 1 values in 0 dimensions" },
  { "K2", "coo-empty-dimension", "coordinate 0 of value 0 in dimension 1, which has 0" },
  { "K2", "old-coo-out", "coordinate 4 of value 1 in dimension 1, which has 4" },
  { "K2", "old-coo-max", "coordinate 18446744073709551615 of value 0 in dimension 0, which has 3" },
  { "K3", "coo-coords-float", "coords are integers, not f64" },
  { "K3", "coo-coords-bool", "coords are integers, not bool" },
  { "K3", "coo-coords-fp8", "coords are integers, not f8_e4m3fn" },
  { "K4", "old-coo-cut", "component 'data': 39 bytes are no whole number of values of f32 with 2 indices" },
  { "K4", "old-coo-of-another-type", "component 'data': 40 bytes are no whole number of values of f64 with 2 indices" },
  { "K4", "old-coo-cut-zstd", "component 'data': 39 bytes are no whole number of values of f32 with 2 indices" },
  { "Q1", "quant-bits-9", "bits is 9, not 1 to 8" },
  { "Q1", "quant-no-group", "quantized_group needs the attribute 'group_size'" },
  { "Q1", "quant-no-packing", "quantized_group needs the attribute 'packing'" },
  { "Q1", "quant-packing-int", "the attribute 'packing' must be text" },
  { "Q2", "quant-packing-float", "packing '8_per_f32' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-bool", "packing '2_per_bool' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-unknown", "packing '8_per_i33' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-empty", "packing '' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-no-number", "packing '_per_i32' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-no-word", "packing '8_per_' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-number-alone", "packing '8' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-long", "packing '0008_per_i32' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-too-many", "packing '9_per_i32' does not fill words with codes of 4 bits" },
  { "Q2", "quant-packing-uneven", "packing '10_per_i32' does not fill words with codes of 3 bits" },
  { "Q2", "quant-packing-other-word", "packing '8_per_i32' has words of i32, packed_weight has u32" },
  { "Q2", "quant-packing-other-data", "packing '8_per_i32' has words of i32, data has i64" },
  { "Q3", "quant-word-across-rows", "the last dimension, 12, is no multiple of 8 codes in a word and 4 in a group" },
  { "Q3", "quant-group-across-rows", "the last dimension, 16, is no multiple of 8 codes in a word and 5 in a group" },
  { "Q3", "quant-scalar", "the last dimension, 1, is no multiple of 8 codes in a word and 4 in a group" },
  { "Q3", "quant-group-max", "the last dimension, 16, is no multiple of 8 codes in a word and 18446744073709551615 in a group" },
  { "Q4", "quant-words-short", "32 codes are 4 words, and there are 3" },
  { "Q4", "quant-words-long", "32 codes are 4 words, and there are 5" },
  { "Q4", "quant-words-too-many-for-none", "0 codes are 0 words, and there are 1" },
  { "Q5", "quant-scales-short", "there are 8 groups, 7 scales and 8 zeros" },
  { "Q5", "quant-zeros-long", "there are 8 groups, 8 scales and 9 zeros" },
  { "Q5", "quant-scales-int", "scales of i32 and zeros of f16" },
  { "Q5", "quant-scales-complex", "scales of complex64 and zeros of f16" },
  { "Q5", "quant-zeros-complex", "scales of f16 and zeros of complex64" },
};

#endif
