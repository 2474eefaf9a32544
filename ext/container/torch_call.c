/* Calls that torch.save writes. See torch_call.h. Calls with unusual arguments have no meaning. */
#include "container/torch_call.h"

#include "container/pickle_calls.h"
#include "core/host.h"

#define CALL_NESTED 8   /* Nesting of calls around a tensor */
#define CALL_ARGUMENTS 16   /* Arguments of a tensor's call */
#define CALL_LAZY 16    /* Entries of a tensor's dict of flags */
#define CALL_ROW(module, name, meaning) ZT_PICKLE_NAME(module, name, ZT_TORCH_##meaning)

static const zt_pickle_name call_meanings[] = {
  CALL_ROW("torch._utils", "_rebuild_tensor_v2", TENSOR_V2),
  CALL_ROW("torch._utils", "_rebuild_tensor_v3", TENSOR_V3),
  CALL_ROW("torch._utils", "_rebuild_tensor", TENSOR),
  CALL_ROW("torch._utils", "_rebuild_parameter", PARAMETER),
  CALL_ROW("torch._utils", "_rebuild_parameter_with_state", PARAMETER),
  CALL_ROW("torch.nn.parameter", "Parameter", PARAMETER),
  CALL_ROW("torch.autograd.variable", "Variable", VARIABLE),
  CALL_ROW("torch._utils", "_rebuild_qtensor", QTENSOR),
  CALL_ROW("torch._utils", "_rebuild_sparse_tensor", SPARSE),
  CALL_ROW("torch._utils", "_rebuild_sparse_csr_tensor", SPARSE),
  CALL_ROW("torch._utils", "_rebuild_nested_tensor", NESTED),
  CALL_ROW("torch._utils", "_rebuild_meta_tensor_no_storage", META),
  CALL_ROW("torch._utils", "_rebuild_wrapper_subclass", WRAPPER),
  CALL_ROW("torch.nn.parameter", "UninitializedParameter", UNINITIALIZED),
  CALL_ROW("torch.nn.parameter", "UninitializedBuffer", UNINITIALIZED_BUFFER),
  CALL_ROW("torch._tensor", "_rebuild_from_type_v2", FROM_TYPE),
  CALL_ROW("torch._tensor", "_rebuild_from_type", FROM_TYPE),
  CALL_ROW("torch.tensor", "_rebuild_from_type", FROM_TYPE),
  CALL_ROW("fastai.torch_core", "_rebuild_from_type", FROM_TYPE),
  CALL_ROW("torch", "Size", SIZE),
  CALL_ROW("collections", "OrderedDict", DICT),
  CALL_ROW("collections", "Counter", DICT),
  CALL_ROW("builtins", "set", SAME),
  CALL_ROW("builtins", "frozenset", SAME),
  CALL_ROW("__builtin__", "set", SAME),
  CALL_ROW("__builtin__", "frozenset", SAME),
  CALL_ROW("tensorflow.python.framework.ops", "convert_to_tensor", SAME),
  CALL_ROW("torch.jit._pickle", "build_intlist", SAME),
  CALL_ROW("torch.jit._pickle", "build_tensorlist", SAME),
  CALL_ROW("torch.jit._pickle", "build_doublelist", SAME),
  CALL_ROW("torch.jit._pickle", "build_boollist", SAME),
  CALL_ROW("torch.jit._pickle", "restore_type_tag", SAME),
  { .meaning = 0 }
};

/* The class in a persistent id ('module', class, ...), as written before 1.6. Other nodes are
** returned unchanged. */
static zt_pickle_node call_class(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value id;
  zt_text word;
  zt_pickle_get(p, node, &id);
  if( id.kind!=ZT_PICKLE_PERSISTENT
   || !zt_pickle_text(p, zt_pickle_child(p, id.args, 0), &word) ) return node;
  return zt_text_is(word, "module") ? zt_pickle_child(p, id.args, 1) : node;
}

/* The meaning of a call of a global with a tuple. */
static zt_torch_meaning call_meaning(const zt_pickle *p, const zt_pickle_value *call){
  zt_pickle_value callee;
  if( zt_pickle_kind_of(p, call->args)!=ZT_PICKLE_TUPLE ) return ZT_TORCH_OPAQUE;
  zt_pickle_get(p, call_class(p, call->callee), &callee);
  if( callee.kind!=ZT_PICKLE_GLOBAL ) return ZT_TORCH_OPAQUE;
  return (zt_torch_meaning)zt_pickle_name_find(call_meanings, &callee);
}

zt_torch_meaning zt_torch_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call){
  zt_pickle_get(p, node, call);
  return call->kind==ZT_PICKLE_CALL ? call_meaning(p, call) : ZT_TORCH_OPAQUE;
}

/* --- Tensors --- */

/* A tuple of at most ZT_MAX_RANK integers, or a torch.Size of one. */
static bool call_get_ints(const zt_pickle *p, zt_pickle_node node, uint32_t *n, int64_t *out){
  zt_pickle_value call;
  if( zt_torch_call(p, node, &call)==ZT_TORCH_SIZE ){
    node = zt_pickle_child(p, call.args, 0);
  }
  return zt_pickle_integers(p, node, ZT_MAX_RANK, n, out);
}

/* Storage classes without "Storage", and their dtypes. */
static const struct { zt_text storage, dtype; } call_storages[] = {
  { ZT_TEXT_INIT("Float"), ZT_TEXT_INIT("float32") },
  { ZT_TEXT_INIT("Double"), ZT_TEXT_INIT("float64") },
  { ZT_TEXT_INIT("Half"), ZT_TEXT_INIT("float16") },
  { ZT_TEXT_INIT("BFloat16"), ZT_TEXT_INIT("bfloat16") },
  { ZT_TEXT_INIT("Long"), ZT_TEXT_INIT("int64") },
  { ZT_TEXT_INIT("Int"), ZT_TEXT_INIT("int32") },
  { ZT_TEXT_INIT("Short"), ZT_TEXT_INIT("int16") },
  { ZT_TEXT_INIT("Char"), ZT_TEXT_INIT("int8") },
  { ZT_TEXT_INIT("Byte"), ZT_TEXT_INIT("uint8") },
  { ZT_TEXT_INIT("Bool"), ZT_TEXT_INIT("bool") },
  { ZT_TEXT_INIT("ComplexFloat"), ZT_TEXT_INIT("complex64") },
  { ZT_TEXT_INIT("ComplexDouble"), ZT_TEXT_INIT("complex128") },
  { ZT_TEXT_INIT("QInt8"), ZT_TEXT_INIT("qint8") },
  { ZT_TEXT_INIT("QUInt8"), ZT_TEXT_INIT("quint8") },
  { ZT_TEXT_INIT("QInt32"), ZT_TEXT_INIT("qint32") },
  { ZT_TEXT_INIT("QUInt4x2"), ZT_TEXT_INIT("quint4x2") },
  { ZT_TEXT_INIT("QUInt2x4"), ZT_TEXT_INIT("quint2x4") },
};

/* Formats of quantized dtypes, and the types of their integers. */
static const struct { zt_text format; const char *dtype; } call_quantized[] = {
  { ZT_TEXT_INIT("torch.qint8"), "int8" },
  { ZT_TEXT_INIT("torch.quint8"), "uint8" },
  { ZT_TEXT_INIT("torch.qint32"), "int32" },
  { ZT_TEXT_INIT("torch.quint4x2"), "" },   /* Several in a byte */
  { ZT_TEXT_INIT("torch.quint2x4"), "" },
};

/* Set the dtype from torch's name. */
static void call_set_dtype(zt_text name, zt_torch_view *out){
  const size_t torch = sizeof("torch.")-1;
  out->dtype_name = name;
  out->dtype = zt_dtype_long(name);
  /* Each element of torch.int4 has a byte, whose other bits no specification defines */
  if( out->dtype && zt_dtype_is_packed(out->dtype) ) out->dtype = NULL;
  out->quantized.z = NULL;
  for(size_t i=0; i<sizeof(call_quantized)/sizeof(*call_quantized); i++){
    zt_text format = call_quantized[i].format;
    if( !zt_text_equal(name, (zt_text){ format.z+torch, format.n-torch }) ) continue;
    out->quantized = format;
    out->dtype = zt_dtype_long((zt_text){ call_quantized[i].dtype,
                                          strlen(call_quantized[i].dtype) });
  }
}

/* Set a storage's class, such as torch.FloatStorage. An unknown one stands for its dtype. */
static bool call_set_storage(zt_text name, zt_torch_view *out){
  const size_t end = sizeof("Storage")-1;
  out->storage_class = name;
  if( name.n<=end || memcmp(name.z+name.n-end, "Storage", end)!=0 ) return false;
  name.n -= end;
  out->untyped = zt_text_is(name, "Untyped");
  if( out->untyped ) name = ZT_TEXT("uint8");
  for(size_t i=0; i<sizeof(call_storages)/sizeof(*call_storages) && !out->untyped; i++){
    if( !zt_text_equal(name, call_storages[i].storage) ) continue;
    name = call_storages[i].dtype;
    break;
  }
  call_set_dtype(name, out);
  /* Quantized elements that share a byte count as one */
  out->storage_width = out->dtype ? out->dtype->width : out->quantized.z!=NULL;
  return true;
}

static bool call_read_class(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value value;
  zt_pickle_get(p, node, &value);
  return value.kind==ZT_PICKLE_GLOBAL && call_set_storage(value.name, out);
}

/* --- Ids of protocol 0: Python's repr of a tuple --- */

/* line := ('storage', <class 'MODULE.CLASS'>, 'KEY', 'LOCATION', ELEMENTS[, None|, VIEW])
** VIEW := ('KEY', OFFSET, ELEMENTS)
** Take a prefix from the line. */
static bool call_take(zt_text *line, const char *z){
  const size_t n = strlen(z);
  if( line->n<n || memcmp(line->z, z, n)!=0 ) return false;
  line->z += n;
  line->n -= n;
  return true;
}

/* A quoted text without escapes. */
static bool call_take_text(zt_text *line, zt_text *out){
  const char *end;
  if( !call_take(line, "'") || line->n==0 ) return false;
  end = memchr(line->z, '\'', line->n);
  if( !end ) return false;
  *out = (zt_text){ line->z, (size_t)(end-line->z) };
  line->z += out->n+1;
  line->n -= out->n+1;
  return out->n==0 || !memchr(out->z, '\\', out->n);
}

/* A number of at most 18 digits. */
static bool call_take_int(zt_text *line, int64_t *out){
  const bool negative = call_take(line, "-");
  size_t n = 0;
  *out = 0;
  for(; n<line->n && n<18 && line->z[n]>='0' && line->z[n]<='9'; n++){
    *out = *out*10+(line->z[n]-'0');
  }
  if( negative ) *out = -*out;
  line->z += n;
  line->n -= n;
  return n>0 && (line->n==0 || line->z[0]<'0' || line->z[0]>'9');
}

static bool call_take_view(zt_text *line, zt_torch_view *out){
  return call_take(line, "(") && call_take_text(line, &out->view_key) && call_take(line, ", ")
      && call_take_int(line, &out->view_offset) && call_take(line, ", ")
      && call_take_int(line, &out->view_elements) && call_take(line, ")");
}

static bool call_read_repr(zt_text line, zt_torch_view *out){
  zt_text class;
  if( !call_take(&line, "('storage', <class ") || !call_take_text(&line, &class)
   || !call_take(&line, ">, ") || !call_take_text(&line, &out->key) || !call_take(&line, ", ")
   || !call_take_text(&line, &out->location) || !call_take(&line, ", ")
   || !call_take_int(&line, &out->storage_elements) ) return false;
  for(size_t i=class.n; i-->0; ){
    if( class.z[i]!='.' ) continue;
    class = (zt_text){ class.z+i+1, class.n-i-1 };
    break;
  }
  if( call_take(&line, ", ") && !call_take(&line, "None") && !call_take_view(&line, out) ){
    return false;
  }
  return call_take(&line, ")") && line.n==0 && call_set_storage(class, out);
}

/* --- Storages --- */

/* A view of a storage: (key, offset, elements), None or nothing. */
static bool call_read_storage_view(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  if( zt_pickle_kind_of(p, node)==ZT_PICKLE_NONE ) return true;
  return zt_pickle_text(p, zt_pickle_child(p, node, 0), &out->view_key)
      && zt_pickle_integer(p, zt_pickle_child(p, node, 1), &out->view_offset)
      && zt_pickle_integer(p, zt_pickle_child(p, node, 2), &out->view_elements);
}

/* ("storage", class, key, location, elements); before 1.6 followed by a view or None. */
bool zt_torch_read_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value value;
  zt_text word;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_PERSISTENT ) return false;
  node = value.args;
  if( zt_pickle_text(p, node, &word) ) return call_read_repr(word, out);
  return zt_pickle_text(p, zt_pickle_child(p, node, 0), &word) && zt_text_is(word, "storage")
      && call_read_class(p, zt_pickle_child(p, node, 1), out)
      && zt_pickle_text(p, zt_pickle_child(p, node, 2), &out->key)
      && zt_pickle_text(p, zt_pickle_child(p, node, 3), &out->location)
      && zt_pickle_integer(p, zt_pickle_child(p, node, 4), &out->storage_elements)
      && call_read_storage_view(p, zt_pickle_child(p, node, 5), out);
}

/* The dict of flags that apply to the elements: conj and neg. */
static bool call_read_metadata(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_cursor c;
  zt_pickle_value dict;
  zt_pickle_node key;
  zt_text name;
  zt_pickle_get(p, node, &dict);
  if( dict.kind!=ZT_PICKLE_DICT || dict.n>2*CALL_LAZY ) return dict.kind==ZT_PICKLE_NONE;
  c = zt_pickle_begin(p, node);
  while( (key = zt_pickle_next(p, &c))!=0 ){
    bool is = zt_pickle_kind_of(p, zt_pickle_next(p, &c))==ZT_PICKLE_TRUE;
    if( !zt_pickle_text(p, key, &name) ) return false;
    if( zt_text_is(name, "conj") ) out->conj = is;
    if( zt_text_is(name, "neg") ) out->neg = is;
  }
  return true;
}

static bool call_read_dtype(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value dtype;
  zt_pickle_get(p, node, &dtype);
  if( dtype.kind!=ZT_PICKLE_GLOBAL || !zt_text_is(dtype.module, "torch") ) return false;
  call_set_dtype(dtype.name, out);
  return true;
}

/* A call of _rebuild_tensor or a variant. */
static bool call_read_view(const zt_pickle *p, const zt_pickle_value *call,
                           zt_torch_meaning meaning, zt_torch_view *out){
  uint32_t strides;
  *out = (zt_torch_view){ 0 };
  if( !zt_torch_read_storage(p, zt_pickle_child(p, call->args, 0), out)
   || !zt_pickle_integer(p, zt_pickle_child(p, call->args, 1), &out->offset)
   || !call_get_ints(p, zt_pickle_child(p, call->args, 2), &out->rank, out->shape)
   || !call_get_ints(p, zt_pickle_child(p, call->args, 3), &strides, out->strides)
   || strides!=out->rank ) return false;
  if( meaning==ZT_TORCH_QTENSOR ){
    out->quantizer = zt_pickle_child(p, call->args, 4);
    out->requires_grad = zt_pickle_child(p, call->args, 5);
    return out->quantizer!=0;
  }
  if( meaning==ZT_TORCH_TENSOR ) return true;
  out->requires_grad = zt_pickle_child(p, call->args, 4);
  if( meaning==ZT_TORCH_TENSOR_V2 ){
    return call_read_metadata(p, zt_pickle_child(p, call->args, 6), out);
  }
  return call_read_dtype(p, zt_pickle_child(p, call->args, 6), out)
      && call_read_metadata(p, zt_pickle_child(p, call->args, 7), out);
}

/* True for a dict of conj and neg alone. */
static bool call_is_lazy(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  zt_text name;
  if( zt_pickle_kind_of(p, node)!=ZT_PICKLE_DICT ) return false;
  while( (node = zt_pickle_next(p, &c))!=0 ){
    if( !zt_pickle_text(p, node, &name)
     || zt_pickle_kind_of(p, zt_pickle_next(p, &c))>ZT_PICKLE_TRUE
     || !(zt_text_is(name, "conj") || zt_text_is(name, "neg")) ) return false;
  }
  return true;
}

/* Add another node with values, unless it is empty. One beyond the bound is only counted. */
static void call_add_state(const zt_pickle *p, zt_pickle_node node, zt_torch_tensor *out){
  zt_pickle_value value;
  if( out->states>ZT_TORCH_STATES ) return;
  zt_pickle_get(p, node, &value);
  if( value.kind==ZT_PICKLE_NONE || zt_pickle_is_empty(p, node) || call_is_lazy(p, node)
   || (value.kind==ZT_PICKLE_CALL && call_meaning(p, &value)==ZT_TORCH_DICT && !value.dict
       && !value.state && zt_pickle_is_empty(p, value.args)) ) return;
  if( out->states<ZT_TORCH_STATES ) out->state[out->states] = node;
  out->states++;
}

/* Bits of the arguments that the tensor itself is made of. */
static const uint16_t call_own[] = {
  [ZT_TORCH_TENSOR] = 0xD, [ZT_TORCH_TENSOR_V2] = 0xD, [ZT_TORCH_TENSOR_V3] = 0x4D,
  [ZT_TORCH_QTENSOR] = 0x1D, [ZT_TORCH_SPARSE] = 0x3, [ZT_TORCH_NESTED] = 0xF,
  [ZT_TORCH_META] = 0x7, [ZT_TORCH_WRAPPER] = 0x7F, [ZT_TORCH_UNINITIALIZED] = 0,
  [ZT_TORCH_UNINITIALIZED_BUFFER] = 0, [ZT_TORCH_PARAMETER] = 0x1, [ZT_TORCH_VARIABLE] = 0x1,
  [ZT_TORCH_FROM_TYPE] = 0x7
};

/* Add other arguments except scalars, such as hooks, and the items put into the result. */
static void call_add_states(const zt_pickle *p, const zt_pickle_value *call,
                            zt_torch_meaning meaning, zt_torch_tensor *out){
  zt_pickle_node node;
  for(uint32_t i=0; (node = zt_pickle_child(p, call->args, i))!=0; i++){
    if( i==CALL_ARGUMENTS ) out->states = ZT_TORCH_STATES+1;
    if( out->states>ZT_TORCH_STATES ) return;
    if( call_own[meaning]>>i & 1 ) continue;
    if( zt_pickle_kind_of(p, node)>=ZT_PICKLE_TUPLE ) call_add_state(p, node, out);
  }
  call_add_state(p, call->keywords, out);
  call_add_state(p, call->list, out);
  call_add_state(p, call->dict, out);
}

/* A component of a tensor: a dense tensor without other values. */
static bool call_read_part(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value call;
  zt_torch_tensor beside;
  const zt_torch_meaning meaning = zt_torch_call(p, node, &call);
  if( meaning<ZT_TORCH_TENSOR || meaning>ZT_TORCH_QTENSOR
   || !call_read_view(p, &call, meaning, out) ) return false;
  beside.states = 0;
  call_add_states(p, &call, meaning, &beside);
  call_add_state(p, call.state, &beside);
  return beside.states==0;
}

static const zt_pickle_name call_layouts[] = {
  CALL_ROW("", "torch.sparse_csr", CSR),
  CALL_ROW("", "torch.sparse_csc", CSC),
  CALL_ROW("", "torch.sparse_bsr", BSR),
  CALL_ROW("", "torch.sparse_bsc", BSC),
  CALL_ROW("", "torch.sparse_coo", COO),
  { .meaning = 0 }
};

/* The layout in torch.serialization._get_layout("torch.sparse_coo") and similar calls. */
static bool call_get_layout(const zt_pickle *p, zt_pickle_node node, zt_torch_layout *out){
  zt_pickle_value call, name = { .module = ZT_TEXT_INIT("") };
  int found;
  zt_pickle_get(p, node, &call);
  if( call.kind!=ZT_PICKLE_CALL
   || !zt_pickle_text(p, zt_pickle_child(p, call.args, 0), &name.name) ) return false;
  found = zt_pickle_name_find(call_layouts, &name);
  *out = (zt_torch_layout)found;
  return found!=0;
}

/* (layout, parts): parts are indices, values, size; or compressed indices, plain indices, values,
** size. */
static bool call_read_sparse(const zt_pickle *p, const zt_pickle_value *call,
                             zt_torch_tensor *out){
  const zt_pickle_node parts = zt_pickle_child(p, call->args, 1);
  uint32_t compressed;
  if( !call_get_layout(p, zt_pickle_child(p, call->args, 0), &out->layout) ) return false;
  compressed = out->layout!=ZT_TORCH_COO;
  out->n = 2+compressed;
  return (!compressed || call_read_part(p, zt_pickle_child(p, parts, 0), &out->views[2]))
      && call_read_part(p, zt_pickle_child(p, parts, compressed), &out->views[1])
      && call_read_part(p, zt_pickle_child(p, parts, compressed+1), &out->views[0])
      && call_get_ints(p, zt_pickle_child(p, parts, compressed+2), &out->rank, out->shape);
}

/* (values, sizes, strides, offsets) */
static bool call_read_nested(const zt_pickle *p, const zt_pickle_value *call,
                             zt_torch_tensor *out){
  out->layout = ZT_TORCH_RAGGED;
  out->n = 4;
  for(uint32_t i=0; i<out->n; i++){
    if( !call_read_part(p, zt_pickle_child(p, call->args, i), &out->views[i]) ) return false;
  }
  return true;
}

/* A dtype and a shape, from argument i on. */
static bool call_read_shape(const zt_pickle *p, const zt_pickle_value *call, uint32_t i,
                            zt_torch_tensor *out){
  return call_read_dtype(p, zt_pickle_child(p, call->args, i), &out->type)
      && call_get_ints(p, zt_pickle_child(p, call->args, i+1), &out->rank, out->shape);
}

static bool call_read_dense(const zt_pickle *p, const zt_pickle_value *call,
                            zt_torch_meaning meaning, zt_torch_tensor *out){
  zt_torch_view *v = &out->views[0];
  out->layout = ZT_TORCH_DENSE;
  out->n = 1;
  if( !call_read_view(p, call, meaning, v) ) return false;
  if( !out->requires_grad ) out->requires_grad = v->requires_grad;
  return true;
}

/* A call that makes a tensor by itself. */
static bool call_read_own(const zt_pickle *p, const zt_pickle_value *call,
                          zt_torch_meaning meaning, zt_torch_tensor *out){
  switch( meaning ){
    case ZT_TORCH_TENSOR: case ZT_TORCH_TENSOR_V2: case ZT_TORCH_TENSOR_V3: case ZT_TORCH_QTENSOR:
      return call_read_dense(p, call, meaning, out);
    case ZT_TORCH_SPARSE: return call_read_sparse(p, call, out);
    case ZT_TORCH_NESTED: return call_read_nested(p, call, out);
    case ZT_TORCH_META:
      out->layout = ZT_TORCH_NO_BYTES;
      if( !out->requires_grad ) out->requires_grad = zt_pickle_child(p, call->args, 3);
      return call_read_shape(p, call, 0, out);
    case ZT_TORCH_WRAPPER:
      out->layout = ZT_TORCH_WRAPPED;
      if( !out->requires_grad ) out->requires_grad = zt_pickle_child(p, call->args, 7);
      return call_read_shape(p, call, 1, out);
    case ZT_TORCH_UNINITIALIZED: case ZT_TORCH_UNINITIALIZED_BUFFER:
      out->layout = ZT_TORCH_NO_SHAPE;
      out->parameter |= meaning==ZT_TORCH_UNINITIALIZED;
      if( !out->requires_grad ) out->requires_grad = zt_pickle_child(p, call->args, 0);
      return true;
    default: return false;
  }
}

/* A parameter: *call becomes its tensor's. Before 0.4, its state begins with requires_grad. */
static bool call_read_parameter(const zt_pickle *p, zt_pickle_value *call,
                                zt_torch_meaning meaning, zt_torch_tensor *out){
  const zt_pickle_node tensor = zt_pickle_child(p, call->args, 0);
  zt_pickle_node grad = zt_pickle_child(p, call->args, 1);
  if( zt_pickle_kind_of(p, tensor)!=ZT_PICKLE_CALL ) return false;
  call_add_states(p, call, meaning, out);
  if( grad ) call_add_state(p, call->state, out);
  else grad = zt_pickle_child(p, call->state, 0);
  if( grad ) out->requires_grad = grad;
  out->parameter |= meaning==ZT_TORCH_PARAMETER;
  zt_pickle_get(p, tensor, call);
  return true;
}

/* (function, type, args, state): *call becomes the function's call. */
static bool call_read_from_type(const zt_pickle *p, zt_pickle_value *call, zt_torch_tensor *out){
  const zt_pickle_node function = zt_pickle_child(p, call->args, 0);
  const zt_pickle_node args = zt_pickle_child(p, call->args, 2);
  if( zt_pickle_kind_of(p, args)!=ZT_PICKLE_TUPLE ) return false;
  call_add_states(p, call, ZT_TORCH_FROM_TYPE, out);
  call_add_state(p, call->state, out);
  *call = (zt_pickle_value){ .kind = ZT_PICKLE_CALL, .callee = function, .args = args };
  return true;
}

bool zt_torch_read_tensor(const zt_pickle *p, zt_pickle_value *call, zt_torch_meaning meaning,
                          zt_torch_tensor *out){
  out->n = out->rank = out->states = 0;
  out->requires_grad = 0;
  out->parameter = false;
  for(int i=0; i<CALL_NESTED; i++){
    if( meaning==ZT_TORCH_PARAMETER || meaning==ZT_TORCH_VARIABLE ){
      if( !call_read_parameter(p, call, meaning, out) ) return false;
    }else if( meaning==ZT_TORCH_FROM_TYPE ){
      if( !call_read_from_type(p, call, out) ) return false;
    }else{
      if( !call_read_own(p, call, meaning, out) ) return false;
      call_add_states(p, call, meaning, out);
      call_add_state(p, call->state, out);
      return out->states<=ZT_TORCH_STATES;
    }
    meaning = call_meaning(p, call);
  }
  return false;
}

/* --- Tensors that are not read --- */

static bool call_begins(zt_text text, zt_text with){
  return text.n>=with.n && memcmp(text.z, with.z, with.n)==0;
}

/* Get the global that a node calls. False: it calls none. */
static bool call_get_global(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out){
  zt_pickle_get(p, node, out);
  if( out->kind!=ZT_PICKLE_CALL ) return false;
  zt_pickle_get(p, out->callee, out);
  return out->kind==ZT_PICKLE_GLOBAL;
}

bool zt_torch_is_unread_storage(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value value;
  zt_text word;
  zt_pickle_get(p, node, &value);
  if( value.kind==ZT_PICKLE_PERSISTENT ){
    return zt_pickle_text(p, zt_pickle_child(p, value.args, 0), &word)
        && zt_text_is(word, "storage");
  }
  return call_get_global(p, node, &value) && zt_text_is(value.module, "torch.storage")
      && zt_text_is(value.name, "_load_from_bytes");
}

bool zt_torch_is_described(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value value;
  return call_get_global(p, node, &value)
      && zt_text_is(value.module, "torch.distributed.checkpoint.metadata")
      && zt_text_is(value.name, "TensorStorageMetadata");
}

bool zt_torch_is_rebuilt(const zt_pickle *p, zt_pickle_node node){
  static const zt_text begin = ZT_TEXT_INIT("_rebuild_");
  zt_pickle_value value;
  if( zt_torch_is_described(p, node) ) return true;
  return call_get_global(p, node, &value) && call_begins(value.module, ZT_TEXT("torch"))
      && call_begins(value.name, begin) && value.name.n>begin.n;
}

void zt_torch_read_unread(const zt_pickle *p, const zt_pickle_value *call, zt_torch_tensor *out){
  const zt_torch_meaning meaning = call_meaning(p, call);
  out->layout = ZT_TORCH_UNREAD;
  out->n = out->rank = 0;
  out->unshaped = true;
  out->type = (zt_torch_view){ 0 };
  if( meaning<ZT_TORCH_TENSOR || meaning>ZT_TORCH_QTENSOR ) return;
  zt_torch_read_storage(p, zt_pickle_child(p, call->args, 0), &out->type);
  if( meaning==ZT_TORCH_TENSOR_V3 ){
    call_read_dtype(p, zt_pickle_child(p, call->args, 6), &out->type);
  }
  out->unshaped = !call_get_ints(p, zt_pickle_child(p, call->args, 2), &out->rank, out->shape);
  if( out->unshaped ) out->rank = 0;
}
