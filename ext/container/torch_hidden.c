/* Values that may hold tensors, and are not understood. See torch_hidden.h. */
#include "container/torch_hidden.h"

#include "container/pickle_calls.h"
#include "container/torch_call.h"
#include "container/within.h"
#include "core/host.h"

#define HIDDEN_LOOKED 64     /* Arguments that are looked at */

/* Read enough bytes, also those that a call makes: before protocol 3 they are written as text, and
** before 5 a bytearray is a call. */
static bool hidden_read(const zt_pickle *p, zt_pickle_node node, zt_pickle_bytes *out){
  const zt_pickle_kind kind = zt_pickle_kind_of(p, node);
  return (kind==ZT_PICKLE_BYTES || kind==ZT_PICKLE_CALL)
      && zt_pickle_read_bytes(p, node, SIZE_MAX, out) && out->n>=ZT_WITHIN_LEAST;
}

static bool hidden_is_bytes(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_bytes bytes;
  return hidden_read(p, node, &bytes);
}

bool zt_torch_is_file(const zt_pickle *p, zt_pickle_node node){
  uint8_t first[ZT_WITHIN_LEAST];
  zt_pickle_bytes b;
  if( !hidden_read(p, node, &b) ) return false;
  zt_pickle_copy_bytes(&b, first, sizeof(first));
  return zt_within_is_file(first, b.n, b.span.p[b.span.n-1]);
}

static bool hidden_is_storage(const zt_pickle *p, zt_pickle_node node){
  zt_torch_view view;
  return zt_pickle_kind_of(p, node)==ZT_PICKLE_PERSISTENT && zt_torch_read_storage(p, node, &view);
}

bool zt_torch_has_storage(const zt_pickle *p, const zt_pickle_value *call){
  zt_pickle_cursor c = zt_pickle_begin(p, call->args);
  zt_pickle_node node;
  for(int i=0; i<HIDDEN_LOOKED && (node = zt_pickle_next(p, &c))!=0; i++){
    if( hidden_is_storage(p, node)
     || hidden_is_storage(p, zt_pickle_child(p, node, 0)) ) return true;
  }
  return false;
}

bool zt_torch_is_code(const zt_pickle *p, const zt_pickle_value *call){
  static const zt_text names[] = {
    ZT_TEXT_INIT("CodeType"), ZT_TEXT_INIT("code"), ZT_TEXT_INIT("_create_code")
  };
  zt_pickle_value callee;
  zt_text name = { NULL, 0 };
  zt_pickle_get(p, call->callee, &callee);
  if( callee.kind==ZT_PICKLE_GLOBAL ){
    name = callee.name;
  }else if( callee.kind==ZT_PICKLE_CALL ){   /* Of a type's name */
    zt_pickle_text(p, zt_pickle_child(p, callee.args, 0), &name);
  }
  for(size_t i=0; i<sizeof(names)/sizeof(names[0]); i++){
    if( name.z && zt_text_equal(name, names[i]) ) return true;
  }
  return false;
}

/* Bytes in an array have a row, and bytes in a code are no tensor. */
static bool hidden_ends(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_value call;
  if( zt_pickle_kind_of(p, node)!=ZT_PICKLE_CALL ) return false;
  zt_pickle_get(p, node, &call);
  return zt_torch_is_tensor(p, node) || zt_torch_is_code(p, &call);
}

const zt_torch_search zt_torch_hidden = { hidden_is_bytes, hidden_ends };
