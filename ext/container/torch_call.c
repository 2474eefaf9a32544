/*
** Calls in a pickle of torch.save. See torch_call.h. A call that is not made as torch makes it has
** no meaning.
*/
#include "container/torch_call.h"

static const struct { zt_text module, name; zt_torch_meaning meaning; } call_meanings[] = {
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_tensor_v2"), ZT_TORCH_TENSOR_V2 },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_tensor_v3"), ZT_TORCH_TENSOR_V3 },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_tensor"), ZT_TORCH_TENSOR },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_parameter"), ZT_TORCH_PARAMETER },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_parameter_with_state"),
    ZT_TORCH_PARAMETER },
  { ZT_TEXT_INIT("torch.nn.parameter"), ZT_TEXT_INIT("Parameter"), ZT_TORCH_PARAMETER },
  { ZT_TEXT_INIT("torch.autograd.variable"), ZT_TEXT_INIT("Variable"), ZT_TORCH_VARIABLE },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_qtensor"), ZT_TORCH_QTENSOR },
  { ZT_TEXT_INIT("torch._utils"), ZT_TEXT_INIT("_rebuild_sparse_tensor"), ZT_TORCH_SPARSE },
  { ZT_TEXT_INIT("torch"), ZT_TEXT_INIT("Size"), ZT_TORCH_SIZE },
  { ZT_TEXT_INIT("collections"), ZT_TEXT_INIT("OrderedDict"), ZT_TORCH_DICT },
  { ZT_TEXT_INIT("builtins"), ZT_TEXT_INIT("set"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("builtins"), ZT_TEXT_INIT("frozenset"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("__builtin__"), ZT_TEXT_INIT("set"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("__builtin__"), ZT_TEXT_INIT("frozenset"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("torch.jit._pickle"), ZT_TEXT_INIT("build_intlist"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("torch.jit._pickle"), ZT_TEXT_INIT("build_tensorlist"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("torch.jit._pickle"), ZT_TEXT_INIT("build_doublelist"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("torch.jit._pickle"), ZT_TEXT_INIT("build_boollist"), ZT_TORCH_SAME },
  { ZT_TEXT_INIT("torch.jit._pickle"), ZT_TEXT_INIT("restore_type_tag"), ZT_TORCH_SAME },
};

static bool call_get_text(const zt_pickle *p, zt_pickle_node node, zt_text *out){
  zt_pickle_value value;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  *out = (zt_text){ (const char*)value.bytes.p, value.bytes.n };
  return value.kind==ZT_PICKLE_TEXT;
}

zt_torch_meaning zt_torch_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call){
  zt_pickle_value callee;
  zt_pickle_get(p, node, call);
  if( call->kind!=ZT_PICKLE_CALL || zt_pickle_kind_of(p, call->args)!=ZT_PICKLE_TUPLE ){
    return ZT_TORCH_OPAQUE;
  }
  zt_pickle_get(p, zt_torch_class(p, call->callee), &callee);
  if( callee.kind!=ZT_PICKLE_GLOBAL ) return ZT_TORCH_OPAQUE;
  for(size_t i=0; i<sizeof(call_meanings)/sizeof(*call_meanings); i++){
    if( zt_text_equal(callee.name, call_meanings[i].name)
     && zt_text_equal(callee.module, call_meanings[i].module) ) return call_meanings[i].meaning;
  }
  return ZT_TORCH_OPAQUE;
}

zt_pickle_node zt_torch_class(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value id;
  zt_text word;
  zt_pickle_get(p, node, &id);
  if( id.kind!=ZT_PICKLE_PERSISTENT || !zt_pickle_child(p, id.args, 1)
   || !call_get_text(p, zt_pickle_child(p, id.args, 0), &word) ) return node;
  return zt_text_is(word, "module") ? zt_pickle_child(p, id.args, 1) : node;
}

zt_pickle_node zt_torch_argument(const zt_pickle *p, const zt_pickle_value *call, uint32_t i){
  return zt_pickle_child(p, call->args, i);
}

/* --- Tensors --- */

static bool call_get_int(const zt_pickle *p, zt_pickle_node node, int64_t *out){
  zt_pickle_value value;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_INTEGER || value.bytes.p ) return false;
  *out = value.integer;
  return true;
}

/* A tuple of at most ZT_MAX_RANK integers, or a torch.Size of one. */
static bool call_get_ints(const zt_pickle *p, zt_pickle_node node, uint32_t *n, int64_t *out){
  zt_pickle_value call;
  zt_pickle_cursor c;
  if( node && zt_torch_call(p, node, &call)==ZT_TORCH_SIZE ) node = zt_torch_argument(p, &call, 0);
  if( !node || (zt_pickle_kind_of(p, node)!=ZT_PICKLE_TUPLE
                && zt_pickle_kind_of(p, node)!=ZT_PICKLE_LIST) ) return false;
  c = zt_pickle_begin(p, node);
  for(*n=0; (node = zt_pickle_next(p, &c))!=0; ++*n){
    if( *n==ZT_MAX_RANK || !call_get_int(p, node, &out[*n]) ) return false;
  }
  return true;
}

/* Storage classes, without "Storage", and torch's dtypes of them. */
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

/* Quantized dtypes, as formats, and the type of their integers. */
static const struct { zt_text format; const char *dtype; } call_quantized[] = {
  { ZT_TEXT_INIT("torch.qint8"), "int8" },
  { ZT_TEXT_INIT("torch.quint8"), "uint8" },
  { ZT_TEXT_INIT("torch.qint32"), "int32" },
  { ZT_TEXT_INIT("torch.quint4x2"), "" },   /* Several in a byte */
  { ZT_TEXT_INIT("torch.quint2x4"), "" },
};

/* Set what a dtype of torch's name is. */
static void call_set_dtype(zt_text name, zt_torch_view *out){
  const size_t torch = sizeof("torch.")-1;
  out->dtype_name = name;
  out->dtype = zt_dtype_long(name);
  out->quantized.z = NULL;
  for(size_t i=0; i<sizeof(call_quantized)/sizeof(*call_quantized); i++){
    zt_text format = call_quantized[i].format;
    if( !zt_text_equal(name, (zt_text){ format.z+torch, format.n-torch }) ) continue;
    out->quantized = format;
    out->dtype = zt_dtype_long((zt_text){ call_quantized[i].dtype,
                                          strlen(call_quantized[i].dtype) });
  }
}

/* The class of a storage, torch.FloatStorage or torch.cuda.FloatStorage; one that is not known
** stands for its dtype. */
static bool call_set_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  const size_t end = sizeof("Storage")-1;
  zt_pickle_value value;
  zt_text name;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_GLOBAL ) return false;
  name = out->storage_class = value.name;
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
  /* Of quantized ones that share a byte, that is an element */
  out->storage_width = out->dtype ? out->dtype->width : out->quantized.z!=NULL;
  return true;
}

/* (key, offset, elements), None or nothing: a view of a storage. */
static bool call_read_storage_view(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  if( !node || zt_pickle_kind_of(p, node)==ZT_PICKLE_NONE ) return true;
  return call_get_text(p, zt_pickle_child(p, node, 0), &out->view_key)
      && call_get_int(p, zt_pickle_child(p, node, 1), &out->view_offset)
      && call_get_int(p, zt_pickle_child(p, node, 2), &out->view_elements);
}

/* ("storage", class, key, location, elements), and before 1.6 a view or None. */
bool zt_torch_read_storage(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value value;
  zt_text word;
  if( !node ) return false;
  zt_pickle_get(p, node, &value);
  if( value.kind!=ZT_PICKLE_PERSISTENT ) return false;
  node = value.args;
  return call_get_text(p, zt_pickle_child(p, node, 0), &word) && zt_text_is(word, "storage")
      && call_set_storage(p, zt_pickle_child(p, node, 1), out)
      && call_get_text(p, zt_pickle_child(p, node, 2), &out->key)
      && call_get_text(p, zt_pickle_child(p, node, 3), &out->location)
      && call_get_int(p, zt_pickle_child(p, node, 4), &out->storage_elements)
      && call_read_storage_view(p, zt_pickle_child(p, node, 5), out);
}

/* The dict of what is lazily done to the elements. */
static bool call_read_metadata(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_cursor c;
  zt_pickle_node key;
  zt_text name;
  if( !node || zt_pickle_kind_of(p, node)!=ZT_PICKLE_DICT ){
    return !node || zt_pickle_kind_of(p, node)==ZT_PICKLE_NONE;
  }
  c = zt_pickle_begin(p, node);
  while( (key = zt_pickle_next(p, &c))!=0 ){
    bool is = zt_pickle_kind_of(p, zt_pickle_next(p, &c))==ZT_PICKLE_TRUE;
    if( !call_get_text(p, key, &name) ) return false;
    if( zt_text_is(name, "conj") ) out->conj = is;
    if( zt_text_is(name, "neg") ) out->neg = is;
  }
  return true;
}

/* A call of _rebuild_tensor and its like. */
static bool call_read_view(const zt_pickle *p, const zt_pickle_value *call,
                           zt_torch_meaning meaning, zt_torch_view *out){
  zt_pickle_value dtype;
  uint32_t strides;
  *out = (zt_torch_view){ 0 };
  if( !zt_torch_read_storage(p, zt_torch_argument(p, call, 0), out)
   || !call_get_int(p, zt_torch_argument(p, call, 1), &out->offset)
   || !call_get_ints(p, zt_torch_argument(p, call, 2), &out->rank, out->shape)
   || !call_get_ints(p, zt_torch_argument(p, call, 3), &strides, out->strides)
   || strides!=out->rank ) return false;
  if( meaning==ZT_TORCH_QTENSOR ){
    out->quantizer = zt_torch_argument(p, call, 4);
    out->requires_grad = zt_torch_argument(p, call, 5);
    return out->quantizer!=0;
  }
  if( meaning==ZT_TORCH_TENSOR ) return true;
  out->requires_grad = zt_torch_argument(p, call, 4);
  if( meaning==ZT_TORCH_TENSOR_V2 ){
    return call_read_metadata(p, zt_torch_argument(p, call, 6), out);
  }
  if( !zt_torch_argument(p, call, 6) ) return false;
  zt_pickle_get(p, zt_torch_argument(p, call, 6), &dtype);
  if( dtype.kind!=ZT_PICKLE_GLOBAL || !zt_text_is(dtype.module, "torch") ) return false;
  call_set_dtype(dtype.name, out);
  return call_read_metadata(p, zt_torch_argument(p, call, 7), out);
}

/* A node that makes a view, as parameters and sparse tensors have it. */
static bool call_read_inner(const zt_pickle *p, zt_pickle_node node, zt_torch_view *out){
  zt_pickle_value call;
  zt_torch_meaning meaning = node ? zt_torch_call(p, node, &call) : ZT_TORCH_OPAQUE;
  return meaning>=ZT_TORCH_TENSOR && meaning<=ZT_TORCH_QTENSOR
      && call_read_view(p, &call, meaning, out);
}

/* (layout, (indices, values, size)); layout is torch.serialization._get_layout("torch.sparse_coo"),
** and other layouts are opaque. */
static bool call_read_sparse(const zt_pickle *p, const zt_pickle_value *call,
                             zt_torch_tensor *out){
  zt_pickle_node layout = zt_torch_argument(p, call, 0), parts = zt_torch_argument(p, call, 1);
  zt_pickle_value get;
  zt_text name;
  if( !layout || !parts ) return false;
  zt_pickle_get(p, layout, &get);
  out->sparse = true;
  return get.kind==ZT_PICKLE_CALL && call_get_text(p, zt_torch_argument(p, &get, 0), &name)
      && zt_text_is(name, "torch.sparse_coo")
      && call_read_inner(p, zt_pickle_child(p, parts, 0), &out->indices)
      && call_read_inner(p, zt_pickle_child(p, parts, 1), &out->view)
      && call_get_ints(p, zt_pickle_child(p, parts, 2), &out->rank, out->shape);
}

bool zt_torch_read_tensor(const zt_pickle *p, const zt_pickle_value *call,
                          zt_torch_meaning meaning, zt_torch_tensor *out){
  out->sparse = false;
  switch( meaning ){
    case ZT_TORCH_TENSOR: case ZT_TORCH_TENSOR_V2: case ZT_TORCH_TENSOR_V3: case ZT_TORCH_QTENSOR:
      return call_read_view(p, call, meaning, &out->view);
    case ZT_TORCH_PARAMETER: case ZT_TORCH_VARIABLE:
      if( !call_read_inner(p, zt_torch_argument(p, call, 0), &out->view) ) return false;
      out->view.requires_grad = zt_torch_argument(p, call, 1);
      /* Before 0.4: Parameter(tensor), and (requires_grad, volatile, hooks) as its state */
      if( !out->view.requires_grad && call->state ){
        out->view.requires_grad = zt_pickle_child(p, call->state, 0);
      }
      out->view.parameter = meaning==ZT_TORCH_PARAMETER;
      return true;
    case ZT_TORCH_SPARSE: return call_read_sparse(p, call, out);
    default: return false;
  }
}
