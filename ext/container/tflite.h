/* TensorFlow Lite: tflite.c walks a model and has the grammar, tflite_tensor.c makes objects of its
** tensors. */
#ifndef ZT_CONTAINER_TFLITE_H
#define ZT_CONTAINER_TFLITE_H

#include "container/builder.h"
#include "core/cbor_write.h"
#include "core/flatbuffer.h"
#include "core/renamed_duplicates.h"

#define ZT_SPEC_TFLITE(table) "TensorFlow Lite, schema.fbs, " table

typedef struct zt_tflite_scan {
  zt_builder *b;
  zt_error *err;
  zt_flatbuffer in;
  zt_flatbuffer_vector buffers;         /* Of the model */
  zt_flatbuffer_vector groups, external;
  uint64_t *ids;           /* Of external buffers, each above its index, sorted; owned. NULL until
                           ** needed */
  uint8_t *used;           /* A bit for each buffer, and then for each external buffer; owned */
  zt_cbor_out items;       /* A map for each object: name, shape, attributes */
  zt_cbor_out name;        /* Bytes, not CBOR: a subgraph's prefix of names, or a name */
  zt_renamed repeats;      /* Duplicate names */
  uint64_t operators;      /* Of all subgraphs */
  uint64_t most;           /* Bytes that may be kept */
} zt_tflite_scan;

/* Append a text that a field refers to, as it is, or as a value (null if it is absent). */
bool zt_tflite_push_text(zt_tflite_scan *s, const zt_flatbuffer_table *t, unsigned field,
                         zt_cbor_out *out);
void zt_tflite_put_text(zt_tflite_scan *s, const zt_flatbuffer_table *t, unsigned field,
                        zt_cbor_out *out);

/* True if n more bytes may be kept (TL5). */
bool zt_tflite_may_keep(zt_tflite_scan *s, uint64_t n);

/* Add a tensor as an object, if its buffer has bytes. s->name is the prefix of its name. */
bool zt_tflite_add(zt_tflite_scan *s, uint32_t subgraph, uint32_t index,
                   const zt_flatbuffer_table *tensor);

/* Makes the list of used buffers. False after a failure. */
bool zt_tflite_prepare_used(zt_tflite_scan *s);

/* Something refers to buffer i. */
void zt_tflite_use(zt_tflite_scan *s, uint64_t buffer);

/* Notes the buffers with bytes that nothing refers to (TL7). */
bool zt_tflite_note_unused(zt_tflite_scan *s);

/* Decode, for the driver; items is the position of the objects' items. */
void zt_tflite_object(const zt_container *c, uint32_t i, size_t items, zt_object *out);
void zt_tflite_component(const zt_container *c, uint32_t k, zt_component *out);

#endif
