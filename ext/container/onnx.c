/*
** ONNX: a ModelProto of onnx.proto, in protobuf's wire format (core/protobuf.h).
**
**   model    := fields                ; OX1: one of them is graph
**   graph    := initializer* sparse_initializer* node*      ; in any order
**   node     := name output* op_type attribute*
**   attribute:= name (t | tensors | sparse_tensor | sparse_tensors | g | graphs)*
**             | name (f | i | s | floats | ints | strings)      ; of a Constant: value_float ...
**                                     ; OX2: graphs are nested at most ONNX_DEPTH_MAX deep
**   sparse   := values indices dims*  ; tensors; OX3: indices are [n] or [n, rank]
**   tensor   := name data_type dims* data
**                                     ; OX4: a name is UTF-8 without U+0000
**                                     ; OX5: at most ZT_MAX_RANK dimensions, whose product fits 64
**                                     ; bits; OX6: none is negative
**                                     ; OX7: it is a whole tensor, not a segment
**   data     := external_data | raw_data | the type's own field
**                                     ; the first that is there. OX8: external data have a location
**                                     ; (container/shard.h), and numbers as offset and length.
**                                     ; Without a length, they are the bytes that type and
**                                     ; dimensions need; if that is not known, all up to the end
**
**   OX9   names, dimensions and texts take at most 1 GiB, and not much more than the file
**   OX10  values in several pieces are all in one message
**
** As in protobuf, unknown fields, fields of a wrong wire type and unknown numbers of enums are
** ignored; the last value of a repeated field counts, and repeated messages are merged. data_type
** and data_location use only their low 32 bits. Objects have these names:
**
**   initializers                  their own
**   tensors of a Constant         the node's output
**   tensors of other nodes        "node.attribute"; a node without a name has that of its first
**                                 output, or else of its operator
**   graph of an attribute         "node.attribute/" precedes its names
**   functions                     "function/" precedes them
**   training_info                 "training_info.initialization/" or "training_info.algorithm/"
**   repeated names                "#2", "#3" ... follow
**
** Objects come in the order of the grammar above, depth first; then training_info, then functions.
** Defaults of a function's attributes precede its nodes.
*/
#include "container/onnx.h"

#include "container/dtype.h"
#include "container/manifest.h"
#include "container/shard.h"
#include "core/host.h"

#define ONNX_DEPTH_MAX 64
#define ONNX_PROBE_FIELDS 65536                /* Fields that a probe reads */
#define ONNX_IR_MAX 255                        /* Accepted versions; 13 is the highest in 2026 */

static const zt_rule onnx_rules[] = {
  ZT_ERROR("OX1", "onnx-graph", "a model has a graph (ONNX)", ZT_SPEC_ONNX("ModelProto")),
  ZT_ERROR("OX2", "onnx-depth", "graphs are nested at most 64 deep (ONNX)", ZT_SPEC_OURS),
  ZT_ERROR("OX3", "onnx-indices",
           "a sparse tensor's indices are positions, or rows with an index for each dimension "
           "(ONNX)", ZT_SPEC_ONNX("SparseTensorProto")),
  ZT_ERROR("OX4", "onnx-name", "names of tensors and nodes are UTF-8 without U+0000 (ONNX)",
           ZT_SPEC_ONNX("TensorProto")),
  ZT_ERROR("OX5", "onnx-dimensions",
           "a tensor has at most 64 dimensions, whose product fits 64 bits (ONNX)", ZT_SPEC_OURS),
  ZT_ERROR("OX6", "onnx-negative-dimension", "no dimension is negative (ONNX)",
           ZT_SPEC_ONNX("TensorProto")),
  ZT_WARNING("OX7", "onnx-segment", "a tensor is not split into segments (ONNX)",
             ZT_SPEC_ONNX("TensorProto.Segment")),
  ZT_ERROR("OX8", "onnx-external",
           "external data have a path below the model's directory, and decimal offset and length"
           " (ONNX)", ZT_SPEC_EXTERNAL),
  ZT_ERROR("OX9", "onnx-size",
           "names and values shown as text take at most 1 MiB plus 32 times the file's bytes,"
           " and 1 GiB (ONNX)",
           ZT_SPEC_OURS),
  ZT_WARNING("OX10", "onnx-split-values", "values in several pieces lie in the same message "
                                          "(ONNX)", ZT_SPEC_OURS),
  ZT_RULES_END
};

/* Numbers of fields in onnx.proto. */
enum {
  ONNX_MODEL_IR = 1, ONNX_MODEL_PRODUCER = 2, ONNX_MODEL_PRODUCER_VERSION = 3,
  ONNX_MODEL_DOMAIN = 4, ONNX_MODEL_VERSION = 5, ONNX_MODEL_DOC = 6, ONNX_MODEL_GRAPH = 7,
  ONNX_MODEL_OPSETS = 8, ONNX_MODEL_METADATA = 14, ONNX_MODEL_TRAINING = 20,
  ONNX_MODEL_FUNCTIONS = 25, ONNX_MODEL_CONFIGURATION = 26
};
enum {
  ONNX_GRAPH_NODE = 1, ONNX_GRAPH_NAME = 2, ONNX_GRAPH_INITIALIZER = 5, ONNX_GRAPH_SPARSE = 15,
  ONNX_GRAPH_METADATA = 16
};
enum {
  ONNX_NODE_OUTPUT = 2, ONNX_NODE_NAME = 3, ONNX_NODE_OPERATOR = 4, ONNX_NODE_ATTRIBUTE = 5
};
enum {
  ONNX_ATTRIBUTE_NAME = 1, ONNX_ATTRIBUTE_T = 5, ONNX_ATTRIBUTE_G = 6, ONNX_ATTRIBUTE_TENSORS = 10,
  ONNX_ATTRIBUTE_GRAPHS = 11, ONNX_ATTRIBUTE_REFERENCE = 21, ONNX_ATTRIBUTE_SPARSE = 22,
  ONNX_ATTRIBUTE_SPARSES = 23
};
enum { ONNX_TRAINING_INITIALIZATION = 1, ONNX_TRAINING_ALGORITHM = 2 };
enum { ONNX_FUNCTION_NAME = 1, ONNX_FUNCTION_NODE = 7, ONNX_FUNCTION_ATTRIBUTE = 11 };

typedef struct onnx_state {
  char version[24];
  size_t items;          /* Position of objects' items */
} onnx_state;

static const struct { zt_text format; zt_layout_id layout; const char *no_values; } onnx_kinds[] = {
  { ZT_TEXT_INIT("dense"), ZT_LAYOUT_DENSE, NULL },
  { ZT_TEXT_INIT("onnx.string"), ZT_LAYOUT_UNKNOWN, "its elements are text" },
  { ZT_TEXT_INIT("onnx.unknown"), ZT_LAYOUT_UNKNOWN, NULL },
  { ZT_TEXT_INIT("sparse_coo"), ZT_LAYOUT_COO_LINEAR, NULL },
  { ZT_TEXT_INIT("sparse_coo"), ZT_LAYOUT_COO_ROWS, NULL },
};

static const zt_text onnx_roles[] = {
  ZT_TEXT_INIT("data"), ZT_TEXT_INIT("values"), ZT_TEXT_INIT("indices")
};

/* --- Graphs --- */

static bool onnx_graph(zt_onnx_scan *s, zt_onnx_cursor c);

typedef struct onnx_node {
  zt_message name, output, operator;
  bool constant;           /* Of the operator Constant */
} onnx_node;

/* Append the name of an attribute's tensor, or the prefix of its graph's names. node NULL: a
** function's. */
static void onnx_push_value(zt_onnx_scan *s, const onnx_node *node, zt_message name, bool graph){
  const bool output = node && node->output.at<node->output.end;
  if( output && node->constant && !graph ){
    zt_onnx_push_text(s, node->output);
    return;
  }
  if( node ){
    zt_onnx_push_text(s, node->name.at<node->name.end ? node->name
                         : output ? node->output : node->operator);
    zt_onnx_push(s, ".");
  }
  zt_onnx_push_text(s, name);
  if( graph ) zt_onnx_push(s, "/");
}

/* Add all tensors and graphs of an attribute. The path is the prefix of the node's name. */
static bool onnx_attribute_values(zt_onnx_scan *s, const onnx_node *node, zt_onnx_cursor c,
                                  zt_message name, uint32_t present){
  const zt_onnx_place place = { node && node->constant ? "constant" : "attribute", true };
  static const struct { uint32_t field; bool merged, graph, sparse; } kinds[] = {
    { ONNX_ATTRIBUTE_T, true, false, false }, { ONNX_ATTRIBUTE_TENSORS, false, false, false },
    { ONNX_ATTRIBUTE_SPARSE, true, false, true }, { ONNX_ATTRIBUTE_SPARSES, false, false, true },
    { ONNX_ATTRIBUTE_G, true, true, false }, { ONNX_ATTRIBUTE_GRAPHS, false, true, false }
  };
  const size_t n = s->path.n;
  for(size_t i=0; i<sizeof(kinds)/sizeof(*kinds) && !s->err->rc; i++){
    zt_onnx_cursor each = c;
    zt_message m;
    if( !(present>>kinds[i].field & 1) ) continue;
    onnx_push_value(s, node, name, kinds[i].graph);
    while( kinds[i].merged || zt_onnx_find(s, &each, kinds[i].field, &m) ){
      const zt_onnx_cursor value = kinds[i].merged ? zt_onnx_into(c, kinds[i].field)
                                                   : zt_onnx_at(m);
      if( s->err->rc ) return false;
      if( kinds[i].graph ? !onnx_graph(s, value) : kinds[i].sparse
        ? !zt_onnx_add_sparse(s, place, value) : !zt_onnx_add(s, place, value) ) return false;
      if( kinds[i].merged ) break;
    }
    s->path.n = n;
  }
  return !s->err->rc;
}

/* Add a Constant's numbers or texts, if the attribute has such a name. */
static bool onnx_constant(zt_onnx_scan *s, const onnx_node *node, zt_onnx_cursor c,
                          zt_message name){
  const zt_onnx_place place = { "constant", true };
  const int value = zt_onnx_value(s, name);
  const size_t n = s->path.n;
  bool added;
  if( value<0 ) return !s->err->rc;
  onnx_push_value(s, node, name, false);
  added = !s->err->rc && zt_onnx_add_value(s, place, c, value);
  s->path.n = n;
  return added;
}

/* node NULL: the attribute is a function's, and has a default. */
static bool onnx_attribute(zt_onnx_scan *s, const onnx_node *node, zt_message m){
  const uint32_t wanted = 1u<<ONNX_ATTRIBUTE_T | 1u<<ONNX_ATTRIBUTE_TENSORS
                        | 1u<<ONNX_ATTRIBUTE_SPARSE | 1u<<ONNX_ATTRIBUTE_SPARSES
                        | 1u<<ONNX_ATTRIBUTE_G | 1u<<ONNX_ATTRIBUTE_GRAPHS;
  const zt_onnx_cursor c = zt_onnx_at(m);
  zt_message name = { 0, 0 };
  uint32_t present = 0;
  bool refers = false;
  zt_wire_field f;
  while( zt_protobuf_next(&s->in, &m, &f) ){
    if( f.type!=ZT_WIRE_BYTES || f.number>ONNX_ATTRIBUTE_SPARSES ) continue;
    if( f.number==ONNX_ATTRIBUTE_NAME ) name = f.bytes;
    refers |= f.number==ONNX_ATTRIBUTE_REFERENCE && f.bytes.at<f.bytes.end;
    present |= 1u<<f.number & wanted;
  }
  if( !s->err->rc && present==0 && node && node->constant && !refers ){
    return onnx_constant(s, node, c, name);
  }
  return !s->err->rc && (present==0 || onnx_attribute_values(s, node, c, name, present));
}

static bool onnx_node_at(zt_onnx_scan *s, zt_message m){
  onnx_node node = { 0 };
  zt_message rest = m;
  bool attributes = false;
  zt_span text;
  zt_wire_field f;
  while( zt_protobuf_next(&s->in, &rest, &f) ){
    if( f.type!=ZT_WIRE_BYTES ) continue;
    if( f.number==ONNX_NODE_OUTPUT && node.output.at==node.output.end ) node.output = f.bytes;
    if( f.number==ONNX_NODE_NAME ) node.name = f.bytes;
    if( f.number==ONNX_NODE_OPERATOR ) node.operator = f.bytes;
    attributes |= f.number==ONNX_NODE_ATTRIBUTE;
  }
  if( s->err->rc || !attributes ) return !s->err->rc;
  if( !zt_onnx_text(s, node.operator, &text) ) return false;
  node.constant = zt_text_is(((zt_text){ (const char*)text.p, text.n }), "Constant");
  while( zt_protobuf_next(&s->in, &m, &f) ){
    if( f.number!=ONNX_NODE_ATTRIBUTE || f.type!=ZT_WIRE_BYTES ) continue;
    if( !onnx_attribute(s, &node, f.bytes) ) return false;
  }
  return !s->err->rc;
}

/* Read and count the nodes in a field. */
static bool onnx_nodes(zt_onnx_scan *s, zt_onnx_cursor c, uint32_t field){
  zt_message m;
  while( zt_onnx_find(s, &c, field, &m) ){
    s->nodes++;
    if( !onnx_node_at(s, m) ) return false;
  }
  return !s->err->rc;
}

/* Read a graph. The path is the prefix of its names. */
static bool onnx_graph(zt_onnx_scan *s, zt_onnx_cursor c){
  const zt_onnx_place initializer = { "initializer", false };
  const zt_onnx_place sparse = { "sparse_initializer", false };
  zt_onnx_cursor each = c;
  zt_message m;
  if( ++s->depth>ONNX_DEPTH_MAX ){
    zt_break(s->err, "OX2", "graphs are nested more than %d deep", ONNX_DEPTH_MAX);
    return false;
  }
  while( zt_onnx_find(s, &each, ONNX_GRAPH_INITIALIZER, &m) ){
    if( !zt_onnx_add(s, initializer, zt_onnx_at(m)) ) return false;
  }
  each = c;
  while( zt_onnx_find(s, &each, ONNX_GRAPH_SPARSE, &m) ){
    if( !zt_onnx_add_sparse(s, sparse, zt_onnx_at(m)) ) return false;
  }
  if( !onnx_nodes(s, c, ONNX_GRAPH_NODE) ) return false;
  s->depth--;
  return true;
}

/* --- The model --- */

typedef struct onnx_model {
  zt_wire_field fields[ONNX_MODEL_DOC+1];   /* The last of each number or text; number 0: none */
  uint32_t present;        /* Bits of all fields */
} onnx_model;

static bool onnx_has(const onnx_model *model, unsigned field){
  return model->present>>field & 1;
}

static bool onnx_read_model(zt_onnx_scan *s, onnx_model *out){
  zt_message all = zt_protobuf_all(&s->in);
  zt_wire_field f;
  *out = (onnx_model){ 0 };
  while( zt_protobuf_next(&s->in, &all, &f) ){
    const bool number = f.number==ONNX_MODEL_IR || f.number==ONNX_MODEL_VERSION;
    if( f.type!=(number ? ZT_WIRE_VARINT : ZT_WIRE_BYTES) ) continue;
    if( f.number<32 ) out->present |= 1u<<f.number;
    if( f.number<=ONNX_MODEL_DOC ) out->fields[f.number] = f;
  }
  if( !s->err->rc && !onnx_has(out, ONNX_MODEL_GRAPH) ){
    zt_break(s->err, "OX1", "the model has no graph");
  }
  return !s->err->rc;
}

/* The last of a graph's names; false if there is none. */
static bool onnx_graph_name(zt_onnx_scan *s, zt_message *out){
  zt_onnx_cursor c = zt_onnx_into(zt_onnx_at(zt_protobuf_all(&s->in)), ONNX_MODEL_GRAPH);
  bool named = false;
  while( zt_onnx_find(s, &c, ONNX_GRAPH_NAME, out) ) named = true;
  return named;
}

static void onnx_put_entries(zt_onnx_scan *s, const onnx_model *model, unsigned field,
                             unsigned type, const char *key, zt_cbor_out *o){
  const zt_onnx_cursor all = zt_onnx_at(zt_protobuf_all(&s->in));
  if( !onnx_has(model, field) || !zt_onnx_read_map(s, all, field, type) ) return;
  zt_onnx_put_key(o, key);
  zt_onnx_put_map(s, o);
}

static void onnx_put_model(zt_onnx_scan *s, const onnx_model *model, zt_cbor_out *o){
  static const char *const names[ONNX_MODEL_DOC+1] = {
    NULL, "ir_version", "producer_name", "producer_version", "domain", "model_version", "doc_string"
  };
  zt_message name = { 0, 0 };
  const bool named = onnx_graph_name(s, &name);
  unsigned n = 0u+onnx_has(model, ONNX_MODEL_OPSETS)+onnx_has(model, ONNX_MODEL_METADATA)+named
             +(s->nodes>0);
  for(int i=ONNX_MODEL_IR; i<=ONNX_MODEL_DOC; i++) n += model->fields[i].number!=0;
  zt_cbor_put_head(o, ZT_CBOR_MAP, n);
  for(int i=ONNX_MODEL_IR; i<=ONNX_MODEL_DOC; i++){
    const zt_wire_field *f = &model->fields[i];
    if( f->number==0 ) continue;
    zt_onnx_put_key(o, names[i]);
    if( f->type==ZT_WIRE_VARINT ) zt_cbor_put_int(o, (int64_t)f->value);
    else zt_onnx_put_text(s, o, f->bytes);
  }
  onnx_put_entries(s, model, ONNX_MODEL_OPSETS, ZT_WIRE_VARINT, "opset_import", o);
  onnx_put_entries(s, model, ONNX_MODEL_METADATA, ZT_WIRE_BYTES, "metadata_props", o);
  if( s->nodes ){
    zt_onnx_put_key(o, "nodes");
    zt_cbor_put_uint(o, s->nodes);
  }
  if( named ){
    zt_onnx_put_key(o, "graph");
    zt_onnx_put_text(s, o, name);
  }
}

static bool onnx_training(zt_onnx_scan *s){
  static const struct { uint32_t field; const char *path; } graphs[] = {
    { ONNX_TRAINING_INITIALIZATION, "training_info.initialization/" },
    { ONNX_TRAINING_ALGORITHM, "training_info.algorithm/" }
  };
  zt_onnx_cursor all = zt_onnx_at(zt_protobuf_all(&s->in));
  zt_message m;
  while( zt_onnx_find(s, &all, ONNX_MODEL_TRAINING, &m) ){
    for(size_t i=0; i<sizeof(graphs)/sizeof(*graphs); i++){
      zt_onnx_push(s, graphs[i].path);
      if( s->err->rc || !onnx_graph(s, zt_onnx_into(zt_onnx_at(m), graphs[i].field)) ) return false;
      s->path.n = 0;
    }
  }
  return !s->err->rc;
}

/* Nodes of functions, and their attributes' defaults. */
static bool onnx_functions(zt_onnx_scan *s){
  zt_onnx_cursor all = zt_onnx_at(zt_protobuf_all(&s->in));
  zt_message function, m;
  while( zt_onnx_find(s, &all, ONNX_MODEL_FUNCTIONS, &function) ){
    zt_onnx_cursor c = zt_onnx_at(function);
    zt_message name = { 0, 0 };
    while( zt_onnx_find(s, &c, ONNX_FUNCTION_NAME, &m) ) name = m;
    zt_onnx_push_text(s, name);
    zt_onnx_push(s, "/");
    c = zt_onnx_at(function);
    while( zt_onnx_find(s, &c, ONNX_FUNCTION_ATTRIBUTE, &m) ){
      if( !onnx_attribute(s, NULL, m) ) return false;
    }
    if( s->err->rc || !onnx_nodes(s, zt_onnx_at(function), ONNX_FUNCTION_NODE) ) return false;
    s->path.n = 0;
  }
  return !s->err->rc;
}

/* Keep the model, and then each object's item. */
static void onnx_keep_items(zt_onnx_scan *s, const onnx_model *model){
  zt_container *c = s->b->container;
  onnx_state *state = c->state;
  zt_cbor_out o = { .err = s->err };
  size_t attributes;
  uint32_t at = 0, items = 0;
  zt_cbor_put_head(&o, ZT_CBOR_MAP, 2);
  zt_onnx_put_key(&o, "model");
  attributes = o.n;
  onnx_put_model(s, model, &o);
  zt_onnx_put_key(&o, "tensors");
  zt_cbor_put_head(&o, ZT_CBOR_ARRAY, c->objects.n);
  if( !s->err->rc && !zt_builder_keep(s->b, o.p, o.n, &at)
   && !zt_builder_keep(s->b, s->items.p, s->items.n, &items) ){
    state->items = at+o.n;
    zt_manifest_set_map(&c->attributes, at+attributes, 0);
    zt_manifest_set_map(&c->manifest, at, 0);
  }
  zt_cbor_out_clear(&o);
}

static void onnx_set_version(zt_container *c, const onnx_model *model){
  onnx_state *state = c->state;
  const zt_wire_field *ir = &model->fields[ONNX_MODEL_IR];
  if( ir->number==0 ) return;
  sqlite3_snprintf(sizeof(state->version), state->version, "%lld", (sqlite3_int64)ir->value);
  c->version = (zt_text){ state->version, strlen(state->version) };
}

static bool onnx_scan_model(zt_onnx_scan *s){
  const zt_onnx_cursor all = zt_onnx_at(zt_protobuf_all(&s->in));
  onnx_model model;
  uint64_t nodes;
  if( !onnx_read_model(s, &model) ) return false;
  if( !onnx_graph(s, zt_onnx_into(all, ONNX_MODEL_GRAPH)) ) return false;
  nodes = s->nodes;
  if( onnx_has(&model, ONNX_MODEL_TRAINING) && !onnx_training(s) ) return false;
  if( onnx_has(&model, ONNX_MODEL_FUNCTIONS) && !onnx_functions(s) ) return false;
  s->nodes = nodes;
  onnx_set_version(s->b->container, &model);
  onnx_keep_items(s, &model);
  return !s->err->rc;
}

static int onnx_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  onnx_state *state = sqlite3_malloc64(sizeof(*state));
  zt_onnx_scan s = {
    .b = b, .err = b->err, .items = { .err = b->err }, .path = { .err = b->err },
    .map = { .text = { .err = b->err }, .keys = { .interrupt = b->interrupt } },
    .most = zt_builder_most(input->size)
  };
  if( !state ) return zt_fail_nomem(b->err);
  *state = (onnx_state){ .items = 0 };
  c->state = state;
  c->state_size = sizeof(*state);
  c->rules = ZT_RULE_VIEWS;
  zt_protobuf_open(b->source, b->interrupt, &s.in, b->err);
  onnx_scan_model(&s);
  zt_protobuf_close(&s.in);
  zt_cbor_out_clear(&s.items);
  zt_cbor_out_clear(&s.path);
  zt_cbor_out_clear(&s.map.text);
  zt_keys_clear(&s.map.keys);
  sqlite3_free(s.map.values);
  zt_renamed_clear(&s.repeats);
  return b->err->rc;
}

static void onnx_close(zt_container *c){
  sqlite3_free(c->state);
}

/* --- Probing: there is no magic number --- */

/* The wire type of a field of ModelProto; -1 if it has none. */
static int onnx_wire_type(uint32_t number){
  switch( number ){
    case ONNX_MODEL_IR: case ONNX_MODEL_VERSION: return ZT_WIRE_VARINT;
    case ONNX_MODEL_PRODUCER: case ONNX_MODEL_PRODUCER_VERSION: case ONNX_MODEL_DOMAIN:
    case ONNX_MODEL_DOC: case ONNX_MODEL_GRAPH: case ONNX_MODEL_OPSETS: case ONNX_MODEL_METADATA:
    case ONNX_MODEL_TRAINING: case ONNX_MODEL_FUNCTIONS: case ONNX_MODEL_CONFIGURATION:
      return ZT_WIRE_BYTES;
    default: return -1;
  }
}

/* True if all fields are a graph's, and one of them is typical. */
static bool onnx_is_graph(zt_protobuf *p, zt_message m){
  bool known = false;
  zt_wire_field f;
  for(int n=0; n<ONNX_PROBE_FIELDS && zt_protobuf_next(p, &m, &f); n++){
    if( f.number>ONNX_GRAPH_METADATA || f.type!=ZT_WIRE_BYTES ) return false;
    known |= f.number==ONNX_GRAPH_NODE || f.number==ONNX_GRAPH_NAME
          || f.number==ONNX_GRAPH_INITIALIZER;
  }
  return known && !p->err->rc;
}

/* Perhaps, if all known fields have their wire types, and a version or a sound graph comes first. A
** version and a producer alone are no model's: a SavedModel of TensorFlow has such fields. A file
** that is cut short after its version is a model, too. */
static zt_probe onnx_probe_fields(zt_protobuf *p){
  zt_message all = zt_protobuf_all(p), graph = { 0, 0 };
  bool version = false, known = true, more = false;
  int n = 0;
  zt_wire_field f;
  for(; n<ONNX_PROBE_FIELDS && zt_protobuf_next(p, &all, &f); n++){
    const int type = onnx_wire_type(f.number);
    if( type>=0 && (unsigned)type!=f.type ) return ZT_PROBE_NO;
    known &= type>=0;
    more |= f.number>ONNX_MODEL_PRODUCER;
    if( n==0 ) version = f.number==ONNX_MODEL_IR && f.value>0 && f.value<=ONNX_IR_MAX;
    if( f.number==ONNX_MODEL_GRAPH ) graph = f.bytes;
  }
  if( p->err->rc ){
    return p->err->rule && strcmp(p->err->rule, "PB3")==0 && version && known
         ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
  }
  if( version ) return (known && more) || graph.end ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
  return known && graph.end && onnx_is_graph(p, graph) ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
}

static zt_probe onnx_probe(const zt_head_tail *input, zt_error *err){
  zt_error of_file = *err;   /* Its path */
  zt_protobuf p;
  zt_probe found;
  /* Most files of other formats end here */
  if( input->head.n<2 || onnx_wire_type(input->head.p[0]>>3)!=(input->head.p[0] & 7) ){
    return ZT_PROBE_NO;
  }
  zt_protobuf_open(input->source, NULL, &p, &of_file);
  found = onnx_probe_fields(&p);
  zt_protobuf_close(&p);
  /* Faults of the file do not matter to a probe; errors of the system do */
  if( of_file.rc && !zt_error_is_of_file(&of_file) ) *err = of_file;
  else zt_error_clear(&of_file);
  return err->rc ? ZT_PROBE_NO : found;
}

/* --- Decoding --- */

static zt_onnx_object onnx_object_at(const zt_container *c, uint32_t i){
  zt_onnx_object object;
  memcpy(&object, c->kept.p+c->objects.a[i], sizeof(object));
  return object;
}

static void onnx_decode_object(const zt_container *c, uint32_t i, zt_object *out){
  const onnx_state *state = c->state;
  const zt_onnx_object object = onnx_object_at(c, i);
  out->format = onnx_kinds[object.kind].format;
  out->layout = onnx_kinds[object.kind].layout;
  out->no_values = onnx_kinds[object.kind].no_values;
  out->rank = object.rank;
  memcpy(out->shape, c->kept.p+c->objects.a[i]+sizeof(object), 8*(size_t)object.rank);
  zt_object_count(out);
  zt_manifest_set_map(&out->attributes, state->items+object.attributes, 0);
}

static zt_text onnx_static_text(const char *z){
  return (zt_text){ z, z ? strlen(z) : 0 };
}

static void onnx_decode_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                                  zt_component *out){
  const zt_onnx_type *type;
  zt_onnx_part part;
  (void)i;
  (void)want;
  memcpy(&part, c->kept.p+c->components.a[k], sizeof(part));
  type = zt_onnx_type_of(part.type);
  out->role = onnx_roles[part.role];
  out->dtype = onnx_static_text(type->dtype);
  out->type = onnx_static_text(type->type);
  if( type->dtype ) zt_dtype_decide(out);
  out->codec = part.codec;
  if( part.codec==ZT_CODEC_PROTOBUF_VARINT ) out->encoding = ZT_TEXT("protobuf.varint");
  if( part.codec==ZT_CODEC_PROTOBUF_UNPACKED ) out->encoding = ZT_TEXT("protobuf.unpacked");
  if( part.codec==ZT_CODEC_UNKNOWN ) out->encoding = ZT_TEXT("onnx.string_data");
  out->offset = part.offset;
  out->length = part.length;
  out->field = part.field;
  out->unsized = part.unsized;
  out->to_end = part.to_end;
  out->most = part.decoded;
  out->scattered = part.scattered;
  out->fault_rule = part.rule;
  out->fault = part.fault;
  out->has_decoded_length = part.codec!=ZT_CODEC_RAW && part.codec!=ZT_CODEC_UNKNOWN
                         && part.decoded!=UINT64_MAX;
  out->decoded_length = part.decoded;
  if( !part.external ) return;
  out->external = true;
  out->shard = (zt_text){ (const char*)c->kept.p+part.shard, part.shard_length };
}

static void onnx_decode_shard(const zt_container *c, uint32_t i, zt_shard *out){
  (void)c;
  (void)i;
  out->external = true;
  out->size = 0;
  out->digest = (zt_text){ NULL, 0 };
  out->digests = 0;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         a ModelProto: all tensors in it, external data
**   known by     fields of a model, among them its graph
**   version      `ir_version`
**   manifest     the model's fields, and all tensors
**   attributes   `ir_version`, `producer_name`, ..., `opset_import`, `metadata_props`, `graph`,
**                `nodes`
**   objects      initializers, sparse initializers, then tensors of nodes, depth first
**   of objects   `role`, `field`, `data_type`, `external_data`
**   components   one, `data`. Sparse: `values` and `indices`. `shard`: the file of external data
*/
const zt_driver zt_driver_onnx = {
  .name = "onnx",
  .format = "onnx",
  .files = "*.onnx",
  .rules = { zt_rules_protobuf, onnx_rules, zt_rules_external },
  .probe = onnx_probe,
  .open = onnx_open,
  .object = onnx_decode_object,
  .component = onnx_decode_component,
  .steps = &zt_manifest_steps,
  .shard = onnx_decode_shard,
  .close = onnx_close,
};
