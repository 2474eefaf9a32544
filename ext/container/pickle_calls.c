/*
** Calls that have a meaning in any pickle, and those that make bytes. See pickle_calls.h.
**
**   bytes     := codecs.encode(text, "latin1") | bytes(bytes?) | bytearray(bytes?)
**              | bytearray(text, "latin-1")
*/
#include "container/pickle_calls.h"

#include "core/host.h"

#define CALLS_NESTED 4    /* Nesting of calls that make bytes of bytes */

#define CALLS_ROW(module, name, meaning) ZT_PICKLE_NAME(module, name, ZT_CALL_##meaning)

/* scikit-learn had a joblib of its own, up to 0.22. */
#define CALLS_JOBLIB(module, name, meaning) \
  CALLS_ROW("joblib." module, name, meaning), \
  CALLS_ROW("sklearn.externals.joblib." module, name, meaning)

static const zt_pickle_name calls_meanings[] = {
  CALLS_ROW("_codecs", "encode", ENCODE),
  CALLS_ROW("builtins", "bytes", BYTES),
  CALLS_ROW("__builtin__", "bytes", BYTES),
  CALLS_ROW("builtins", "bytearray", BYTEARRAY),
  CALLS_ROW("__builtin__", "bytearray", BYTEARRAY),
  CALLS_ROW("datetime", "datetime", DATETIME),
  CALLS_ROW("datetime", "date", DATE),
  CALLS_ROW("datetime", "time", TIME),
  CALLS_ROW("numpy", "dtype", NUMPY_DTYPE),
  CALLS_ROW("numpy.core.multiarray", "scalar", NUMPY_SCALAR),
  CALLS_ROW("numpy._core.multiarray", "scalar", NUMPY_SCALAR),
  CALLS_ROW("numpy.core.multiarray", "_reconstruct", NUMPY_ARRAY),
  CALLS_ROW("numpy._core.multiarray", "_reconstruct", NUMPY_ARRAY),
  CALLS_ROW("numpy.core.numeric", "_frombuffer", NUMPY_BUFFER),
  CALLS_ROW("numpy._core.numeric", "_frombuffer", NUMPY_BUFFER),
  CALLS_ROW("numpy.ma.core", "_mareconstruct", NUMPY_MASKED),
  CALLS_ROW("jax._src.array", "_reconstruct_array", NUMPY_PARTS),
  CALLS_ROW("jax._src.device_array", "reconstruct_device_array", NUMPY_PARTS),
  CALLS_ROW("dill._dill", "_create_array", NUMPY_PARTS),
  CALLS_ROW("dill.dill", "_create_array", NUMPY_PARTS),
  CALLS_JOBLIB("numpy_pickle", "NumpyArrayWrapper", JOBLIB_ARRAY),
  CALLS_JOBLIB("numpy_pickle", "NDArrayWrapper", JOBLIB_FILE),
  CALLS_JOBLIB("numpy_pickle", "ZNDArrayWrapper", JOBLIB_FILE),
  CALLS_JOBLIB("numpy_pickle_compat", "NDArrayWrapper", JOBLIB_FILE),
  CALLS_JOBLIB("numpy_pickle_compat", "ZNDArrayWrapper", JOBLIB_FILE),
  CALLS_ROW("numpy", "array", ARRAY_UNREAD),
  CALLS_ROW("numpy", "asarray", ARRAY_UNREAD),
  CALLS_ROW("numpy", "frombuffer", ARRAY_UNREAD),
  CALLS_ROW("numpy", "fromstring", ARRAY_UNREAD),
  CALLS_ROW("array", "array", ARRAY_UNREAD),
  CALLS_ROW("array", "_array_reconstructor", ARRAY_UNREAD),
  CALLS_ROW("pyarrow.lib", "_restore_array", ARRAY_UNREAD),
  CALLS_ROW("polars.series.series", "Series", ARRAY_UNREAD),
  CALLS_ROW("polars.dataframe.frame", "DataFrame", ARRAY_UNREAD),
  { .meaning = 0 }
};

int zt_pickle_name_find(const zt_pickle_name *table, const zt_pickle_value *global){
  while( table->meaning && !(zt_text_equal(global->name, table->name)
                             && zt_text_equal(global->module, table->module)) ) table++;
  return table->meaning;
}

zt_pickle_meaning zt_pickle_call(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call){
  zt_pickle_value callee;
  if( zt_pickle_kind_of(p, node)!=ZT_PICKLE_CALL ) return ZT_CALL_OTHER;
  zt_pickle_get(p, node, call);
  if( zt_pickle_kind_of(p, call->args)!=ZT_PICKLE_TUPLE
   || zt_pickle_kind_of(p, call->callee)!=ZT_PICKLE_GLOBAL ) return ZT_CALL_OTHER;
  zt_pickle_get(p, call->callee, &callee);
  return (zt_pickle_meaning)zt_pickle_name_find(calls_meanings, &callee);
}

static bool calls_is_latin1(const zt_pickle *p, zt_pickle_node node){
  zt_text name;
  return zt_pickle_text(p, node, &name)
      && (zt_text_is(name, "latin1") || zt_text_is(name, "latin-1")
          || zt_text_is(name, "iso-8859-1"));
}

bool zt_pickle_read_bytes(const zt_pickle *p, zt_pickle_node node, size_t most,
                          zt_pickle_bytes *out){
  zt_pickle_value value;
  bool encoded = false;
  for(int i=0; i<CALLS_NESTED; i++){
    zt_pickle_value call;
    zt_pickle_node first;
    const zt_pickle_meaning meaning = zt_pickle_call(p, node, &call);
    if( meaning<ZT_CALL_BYTES || meaning>ZT_CALL_ENCODE ) break;
    if( call.keywords || call.state || call.list || call.dict ) return false;
    first = zt_pickle_child(p, call.args, 0);
    if( zt_pickle_child(p, call.args, 1) ){
      encoded = calls_is_latin1(p, zt_pickle_child(p, call.args, 1));
      if( !encoded || zt_pickle_child(p, call.args, 2) || meaning==ZT_CALL_BYTES ) return false;
    }else if( meaning==ZT_CALL_ENCODE ){
      return false;
    }
    if( !first ){
      *out = (zt_pickle_bytes){ { (const uint8_t*)"", 0 }, false, 0 };
      return true;
    }
    node = first;
    if( encoded ) break;
  }
  zt_pickle_get(p, node, &value);
  *out = (zt_pickle_bytes){ value.bytes, false, value.bytes.n };
  if( value.bytes.n/2>most ) return false;
  if( value.kind==ZT_PICKLE_BYTES ) return !encoded;
  if( value.kind!=ZT_PICKLE_TEXT ) return false;
  out->latin1 = encoded;
  return encoded ? zt_pickle_latin1(p, node, &out->n) : value.string;
}

void zt_pickle_copy_bytes(const zt_pickle_bytes *b, uint8_t *out, size_t n){
  const uint8_t *p = b->span.p;
  if( !b->latin1 ){
    if( n ) memcpy(out, p, n);
    return;
  }
  for(size_t i=0; i<n; i++){
    if( *p<0x80 ){
      out[i] = *p++;
    }else{
      out[i] = (uint8_t)(p[0]<<6 | (p[1] & 0x3F));
      p += 2;
    }
  }
}
