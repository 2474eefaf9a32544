/*
** The values in a pickle of torch.save. See torch_tree.h.
**
**   PT4  values are nested at most TREE_DEPTH_MAX deep
**   PT6  a path has at most ZT_TORCH_PATH_MAX bytes
**   PT7  keys of dicts take at most TREE_KEYS_SIZE and TREE_KEYS_TIMES times the pickle's bytes
**   PT13 no key stands twice in a dict: Python would keep only the last value
**
** A path consists of keys of dicts and indices of lists, tuples and sets, joined by dots. Other
** keys than texts are written as Python shows them: 1, 0.5, True, None, (1, 2); bytes as
** hexadecimal digits. U+0000 in a text is \x00. A cycle is followed once. A key that holds a tensor
** is walked before its value, at the same path.
**
** Tensors, arrays, sets, OrderedDict and Counter have a meaning. Any other call is opaque. Its
** arguments are shown with it, or stand below it by index if they hold a tensor or are too many.
** Items, entries and state of its result stand below it, too:
**
**   state := dict | (dict | None, dict | None)     ; by their keys, the second being slots
**          | tuple | list                          ; by indices
**          | anything else                         ; in the place of the result itself
**
** A module's state has the dicts _parameters, _buffers and _modules. Paths leave out these words,
** so that they are those of its state_dict().
**
** A storage that is not read is an object without values, beside its leaf; in a plain pickle, so is
** each tensor whose call is not understood. The tensors of a quantizer stand below its attribute.
**
** A shared value is shown in each place, up to a bound on all of them. Beyond it, an array or map
** is shown once, and its other places say so. If it holds tensors, such a place is an object
** without values.
*/
#include "container/torch_tree.h"

#include <assert.h>
#include "container/torch_dict.h"
#include "container/torch_hidden.h"
#include "container/torch_path.h"
#include "container/torch_reach.h"
#include "core/host.h"
#include "core/utf8.h"

#define TREE_DEPTH_MAX 1000
/* Nothing is repeated after so many values, plus one per byte of the pickle, or so many bytes. */
#define TREE_VISITS 256u
#define TREE_AGAIN ((uint64_t)8 << 20)
#define TREE_REPEATED ((uint64_t)256 << 10)   /* Bytes that tell what is not repeated */
/* After this many bytes, and more per byte of the pickle, calls are shown in TREE_LITTLE. */
#define TREE_SIZE ((uint64_t)8 << 20)
#define TREE_SIZE_TIMES 8
#define TREE_LITTLE 256
#define TREE_KEY_BYTES 32        /* Bytes of a path that count as a value, for their time */
/* The bytes of all dicts' keys, plus some per byte of the pickle. */
#define TREE_KEYS_SIZE ((uint64_t)1 << 29)
#define TREE_KEYS_TIMES 64
#define TREE_POLL 0xFFFF         /* Visits between checks for an interrupt, less 1 */
#define TREE_SAME_MAX 8          /* Nesting of calls that return their argument */
#define TREE_CYCLES 4096         /* Cycles whose beginning is looked up */
#define TREE_PLAIN 32            /* Values that are checked before torch_reach is used */
#define TREE_ARRAY 5             /* Items of an array's state; more are not numpy's */
#define TREE_PARTS (2*ZT_TORCH_STATES+8)   /* A call's: callee, arguments, keywords, items, entries,
                                           ** and states with two parts; a tensor's quantizers */

/* --- The walk --- */

typedef enum tree_keys {
  TREE_INDICES, TREE_KEYS, TREE_PAIRS,
  TREE_STATE,                    /* Keys, perhaps of a module */
  TREE_MODULE,                   /* Keys, without a module's three words */
  TREE_PLACE                     /* The node itself, at the current path */
} tree_keys;

/* A container that is being walked. */
typedef struct tree_level {
  zt_pickle_cursor cursor;
  zt_pickle_node node, owner;   /* Itself, and its call; owner 0: none, or another level has it */
  tree_keys keys;
  uint32_t index;
  uint32_t path;                /* Bytes of its path */
  bool dotted;                  /* A dot follows the path */
  bool cycle;                   /* It was told that the node contains itself, */
  bool repeated;                /* and that something is not repeated */
  bool again;                   /* It, or a level around it, was shown before */
  bool silent;                  /* Only tensors and arrays in it are visited */
} tree_level;

typedef struct tree_walk {
  const zt_pickle *p;
  const zt_torch_visitor *visitor;
  const zt_interrupt *interrupt;
  zt_error *err;
  size_t bytes;                 /* The pickle's */
  uint8_t *open;                /* A bit for each node: being walked, */
  uint8_t *walked;              /* entered, */
  uint8_t *reach;               /* holding a tensor, */
  uint8_t *hiding;              /* holding bytes that have no row (both NULL until needed) */
  tree_level *levels;           /* TREE_DEPTH_MAX of them */
  uint32_t depth;
  zt_torch_path path;
  bool inside;                  /* A dot precedes the next part of the path */
  uint64_t visits, size;        /* Values met again; kept bytes: all, */
  uint64_t again, repeated;     /* of values met again, of places that tell so */
  uint64_t keys;                /* Bytes of compared keys */
  uint32_t cycles;              /* Cycles met, up to TREE_CYCLES */
} tree_walk;

static void tree_mark(tree_walk *w, zt_pickle_node node){
  if( node ) w->open[node/8] ^= (uint8_t)(1u<<(node%8));
}

/* True if it consists of at most *remaining values, without calls and ids, and without bytes if
** those count. */
static bool tree_is_plain(const zt_pickle *p, zt_pickle_node node, bool bytes, int *remaining){
  const zt_pickle_kind kind = zt_pickle_kind_of(p, node);
  zt_pickle_cursor c;
  if( kind==ZT_PICKLE_CALL || kind==ZT_PICKLE_PERSISTENT || (bytes && kind==ZT_PICKLE_BYTES)
   || --*remaining<0 ) return false;
  c = zt_pickle_begin(p, node);
  while( (node = zt_pickle_next(p, &c))!=0 ){
    if( !tree_is_plain(p, node, bytes, remaining) ) return false;
  }
  return true;
}

/* True if it holds a tensor. */
static bool tree_reaches(tree_walk *w, zt_pickle_node node){
  int remaining = TREE_PLAIN;
  if( w->err->rc || tree_is_plain(w->p, node, false, &remaining) ) return false;
  if( !w->reach ) w->reach = zt_torch_reach(w->p, &zt_torch_tensors, w->interrupt, w->err);
  return w->reach && zt_torch_has_bit(w->reach, node);
}

/* True if the current level was shown before. */
static bool tree_is_again(const tree_walk *w){
  return w->depth && w->levels[w->depth-1].again;
}

/* The path grew since it had n bytes: long ones count as values. */
static void tree_path_grown(tree_walk *w, size_t n){
  if( tree_is_again(w) ) w->visits += (w->path.n-n)/TREE_KEY_BYTES;
}

static void tree_path_add(tree_walk *w, const char *z, size_t n){
  const size_t before = w->path.n;
  zt_torch_path_add(&w->path, z, n, w->err);
  tree_path_grown(w, before);
}

static void tree_path_add_key(tree_walk *w, zt_pickle_node node){
  const size_t before = w->path.n;
  zt_torch_path_add_key(&w->path, w->p, node, w->err);
  tree_path_grown(w, before);
}

/* PT7: comparing keys takes time in each dict. */
static bool tree_count_keys(tree_walk *w){
  const uint64_t most = TREE_KEYS_SIZE+TREE_KEYS_TIMES*(uint64_t)w->bytes;
  if( w->keys<=most ) return true;
  zt_break(w->err, "PT7", "keys take more than %llu bytes, for a pickle of %llu",
           (unsigned long long)most, (unsigned long long)w->bytes);
  return false;
}

/* PT13 */
static bool tree_check_keys(tree_walk *w, zt_pickle_node dict){
  const zt_pickle_node key = zt_torch_duplicate_key(w->p, dict, w->bytes, &w->keys, w->interrupt,
                                                    w->err);
  sqlite3_str *text;
  char *z;
  if( w->err->rc || !tree_count_keys(w) || !key ) return !w->err->rc;
  text = sqlite3_str_new(NULL);
  zt_torch_show_key(w->p, key, (int)ZT_TORCH_PATH_MAX, text);
  z = sqlite3_str_finish(text);
  if( z ){
    zt_break(w->err, "PT13", "a dict has the key '%.*s' twice",
             zt_shown((zt_text){ z, strlen(z) }), z);
  }else{
    zt_fail_nomem(w->err);
  }
  sqlite3_free(z);
  return false;
}

/* --- Values --- */

/* Visit a value at the current path; the empty path is a text, too. */
static void tree_found(const tree_walk *w, zt_torch_found found){
  found.path = (zt_text){ w->path.z ? w->path.z : "", w->path.n };
  w->visitor->visit(w->visitor->context, &found);
}

/* Count the bytes that are kept of a value. */
static void tree_count(tree_walk *w, zt_pickle_node node, uint64_t size){
  w->size += size;
  if( tree_is_again(w) || zt_torch_has_bit(w->walked, node) ) w->again += size;
}

/* Visit a value that is not a tensor. False if it is too large, and shown by name alone. */
static bool tree_leaf(tree_walk *w, zt_pickle_node node, zt_torch_shown shown){
  bool fits;
  const bool over = w->size>TREE_SIZE+TREE_SIZE_TIMES*(uint64_t)w->bytes;
  const uint64_t most = over ? TREE_LITTLE : ZT_TORCH_SHOWN_MAX;
  uint64_t size;
  if( w->depth && w->levels[w->depth-1].silent ) return true;
  size = w->path.n+zt_torch_size(w->p, node, shown, most, &fits);
  tree_count(w, node, size);
  tree_found(w, (zt_torch_found){
    .size = size, .node = node, .shown = fits ? shown : ZT_TORCH_NAMED
  });
  return fits;
}

/* True if it was shown, and nothing is repeated. */
static bool tree_is_repeated(const tree_walk *w, zt_pickle_node node){
  return zt_torch_has_bit(w->walked, node)
      && (w->visits>TREE_VISITS+(uint64_t)w->bytes || w->again>TREE_AGAIN);
}

/* A value that holds tensors is an object without values. Files that differ in these tensors have
** no fingerprint. */
static void tree_repeated_tensor(tree_walk *w){
  static const zt_torch_tensor elsewhere = { .layout = ZT_TORCH_ELSEWHERE };
  const uint64_t size = w->path.n+TREE_KEY_BYTES;
  w->size += size;
  if( !w->err->rc ) tree_found(w, (zt_torch_found){ .size = size, .tensor = &elsewhere });
}

/* Tell that a node is not repeated. Beyond a bound on that as well, its container tells it once. */
static void tree_tell_repeated(tree_walk *w, zt_pickle_node node){
  const size_t path = w->path.n;
  if( w->depth && w->repeated>TREE_REPEATED ){
    tree_level *level = &w->levels[w->depth-1];
    if( level->repeated ) return;
    level->repeated = true;
    w->path.n = level->path;
  }
  w->repeated += w->path.n+TREE_KEY_BYTES;
  if( tree_reaches(w, node) ) tree_repeated_tensor(w);
  else tree_leaf(w, node, ZT_TORCH_REPEATED);
  w->path.n = path;
}

/* --- Entering --- */

/* PT4: begin to walk a container at the current path. */
static bool tree_enter(tree_walk *w, zt_pickle_node node, tree_keys keys, zt_pickle_node owner){
  bool again;
  if( w->depth==TREE_DEPTH_MAX ){
    zt_break(w->err, "PT4", "values are nested more than %d deep", TREE_DEPTH_MAX);
    return false;
  }
  again = tree_is_again(w) || (keys!=TREE_PLACE && zt_torch_has_bit(w->walked, node));
  if( (keys==TREE_KEYS || keys==TREE_MODULE) && !tree_check_keys(w, node) ) return false;
  w->depth++;
  w->levels[w->depth-1] = (tree_level){
    .cursor = keys==TREE_PLACE ? (zt_pickle_cursor){ 0 } : zt_pickle_begin(w->p, node),
    .node = node, .owner = owner, .keys = keys, .path = (uint32_t)w->path.n, .dotted = w->inside,
    .again = again, .silent = w->depth>1 && w->levels[w->depth-2].silent
  };
  if( keys!=TREE_PLACE ){
    tree_mark(w, node);
    zt_torch_set_bit(w->walked, node);
  }
  tree_mark(w, owner);
  return true;
}

/* A node to enter. */
typedef struct tree_part {
  zt_pickle_node node;
  tree_keys keys;
  uint32_t first;               /* The first of a tuple's children to walk */
  bool silent;
  zt_text word;                 /* Behind the path; n 0: nothing */
} tree_part;

typedef struct tree_parts {
  tree_part a[TREE_PARTS];
  uint32_t n;
} tree_parts;

static void tree_add_part(tree_parts *parts, zt_pickle_node node, tree_keys keys){
  assert( parts->n<TREE_PARTS );
  if( node ) parts->a[parts->n++] = (tree_part){ .node = node, .keys = keys };
}

static bool tree_are_empty(const tree_walk *w, const tree_parts *parts){
  for(uint32_t i=0; i<parts->n; i++){
    if( !zt_pickle_is_empty(w->p, parts->a[i].node) ) return false;
  }
  return true;
}

/* Add arguments of a call. */
static void tree_add_arguments(const tree_walk *w, zt_pickle_node node, tree_keys keys,
                               tree_parts *parts){
  tree_add_part(parts, node, keys);
  if( node ) parts->a[parts->n-1].silent = w->visitor->plain;
}

/* How a node's kind is walked; TREE_PLACE if it is not a container. */
static tree_keys tree_keys_of(const zt_pickle *p, zt_pickle_node node){
  switch( zt_pickle_kind_of(p, node) ){
    case ZT_PICKLE_TUPLE: case ZT_PICKLE_LIST: case ZT_PICKLE_SET: return TREE_INDICES;
    case ZT_PICKLE_DICT: return TREE_KEYS;
    default: return TREE_PLACE;
  }
}

static const zt_text tree_module_words[] = {
  ZT_TEXT_INIT("_parameters"), ZT_TEXT_INIT("_buffers"), ZT_TEXT_INIT("_modules")
};

/* The number of a module's dict, from 1 on; 0: none. */
static unsigned tree_module_word(const zt_pickle *p, zt_pickle_node key, zt_pickle_node node){
  zt_pickle_value call;
  zt_text word;
  unsigned i = 0;
  if( !zt_pickle_text(p, key, &word) ) return 0;
  while( i<3 && !zt_text_equal(tree_module_words[i], word) ) i++;
  return i<3 && (zt_pickle_kind_of(p, node)==ZT_PICKLE_DICT
                 || zt_torch_call(p, node, &call)==ZT_TORCH_DICT) ? i+1 : 0;
}

/* A module's state has all three dicts. */
static tree_keys tree_state_keys(const zt_pickle *p, zt_pickle_node dict){
  zt_pickle_cursor c = zt_pickle_begin(p, dict);
  zt_pickle_node key;
  unsigned seen = 0;
  while( (key = zt_pickle_next(p, &c))!=0 ){
    seen |= 1u<<tree_module_word(p, key, zt_pickle_next(p, &c));
  }
  return (seen & 0xE)==0xE ? TREE_MODULE : TREE_KEYS;
}

/* Skip the first n children of the current level. */
static void tree_skip(tree_walk *w, uint32_t n){
  tree_level *level = &w->levels[w->depth-1];
  while( level->index<n && zt_pickle_next(w->p, &level->cursor) ) level->index++;
}

/* Add a word to the path. */
static void tree_add_word(tree_walk *w, zt_text word){
  if( word.n==0 ) return;
  if( w->inside ) tree_path_add(w, ".", 1);
  tree_path_add(w, word.z, word.n);
  w->inside = true;
}

/* Enter parts of a call, the last one first, so that the first is walked first. Parts that are
** being walked are skipped. */
static void tree_enter_parts(tree_walk *w, const tree_parts *parts, zt_pickle_node owner){
  const size_t path = w->path.n;
  const bool inside = w->inside;
  for(uint32_t i=parts->n; i-->0 && !w->err->rc; ){
    const tree_part *part = &parts->a[i];
    const bool own = part->keys!=TREE_PLACE;
    if( own && zt_torch_has_bit(w->open, part->node) ) continue;
    tree_add_word(w, part->word);
    if( own && tree_is_repeated(w, part->node) ){
      tree_tell_repeated(w, part->node);
    }else if( !w->err->rc
           && tree_enter(w, part->node, part->keys==TREE_STATE ? tree_state_keys(w->p, part->node)
                                                               : part->keys, owner) ){
      w->levels[w->depth-1].silent = part->silent;
      tree_skip(w, part->first);
      owner = 0;   /* The first entered part has it */
    }
    w->path.n = path;
    w->inside = inside;
  }
}

static bool tree_is_slots(const zt_pickle *p, zt_pickle_node node){
  const zt_pickle_kind kind = zt_pickle_kind_of(p, node);
  return kind==ZT_PICKLE_DICT || kind==ZT_PICKLE_NONE;
}

static void tree_add_state(const zt_pickle *p, zt_pickle_node state, tree_parts *parts){
  const zt_pickle_kind kind = zt_pickle_kind_of(p, state);
  const zt_pickle_node first = zt_pickle_child(p, state, 0), second = zt_pickle_child(p, state, 1);
  if( kind==ZT_PICKLE_DICT ){
    tree_add_part(parts, state, TREE_STATE);
  }else if( second && !zt_pickle_child(p, state, 2) && tree_is_slots(p, first)
         && tree_is_slots(p, second) ){
    if( zt_pickle_kind_of(p, first)==ZT_PICKLE_DICT ) tree_add_state(p, first, parts);
    if( zt_pickle_kind_of(p, second)==ZT_PICKLE_DICT ) tree_add_state(p, second, parts);
  }else if( kind!=ZT_PICKLE_NONE ){
    tree_add_part(parts, state, tree_keys_of(p, state));
  }
}

/* --- Visiting --- */

/* Tensors of a quantizer are listed below its attribute. */
static void tree_add_quantizers(tree_walk *w, const zt_torch_tensor *tensor, tree_parts *parts){
  for(uint32_t i=0; i<tensor->n; i++){
    const zt_pickle_node node = tensor->views[i].quantizer;
    if( !node || !tree_reaches(w, node) ) continue;
    tree_add_part(parts, node, tree_keys_of(w->p, node));
    parts->a[parts->n-1].word = ZT_TEXT("quantizer");
    parts->a[parts->n-1].silent = true;
  }
}

static void tree_tensor(tree_walk *w, zt_pickle_node node, const zt_torch_tensor *tensor){
  tree_parts parts;
  uint64_t size = w->path.n+256;
  parts.n = 0;
  for(uint32_t i=0; i<tensor->n; i++) size += zt_torch_view_size(w->p, &tensor->views[i]);
  tree_count(w, node, size);
  tree_found(w, (zt_torch_found){ .size = size, .tensor = tensor });
  tree_add_quantizers(w, tensor, &parts);
  for(uint32_t i=0; i<tensor->states; i++) tree_add_state(w->p, tensor->state[i], &parts);
  if( !w->err->rc ) tree_enter_parts(w, &parts, node);
}

/* Add a node without a meaning, if it holds a tensor. */
static void tree_add_reached(tree_walk *w, zt_pickle_node node, tree_parts *parts){
  if( tree_reaches(w, node) ) tree_add_part(parts, node, tree_keys_of(w->p, node));
}

/* Add an array's state, if it holds a tensor: the items after numpy's own, or all of it if one of
** numpy's own, except the objects, holds a tensor. */
static void tree_add_array_state(tree_walk *w, zt_pickle_node state, zt_pickle_node items,
                                 tree_parts *parts){
  uint32_t n = 0;
  bool own = false;
  if( !tree_reaches(w, state) ) return;
  for(zt_pickle_node part; n<TREE_ARRAY && (part = zt_pickle_child(w->p, state, n))!=0; n++){
    own |= part!=items && tree_reaches(w, part);
  }
  if( !own && !zt_pickle_child(w->p, state, n) ) return;
  tree_add_part(parts, state, tree_keys_of(w->p, state));
  if( !own ) parts->a[parts->n-1].first = n;
}

/* The bytes of a type that is shown. */
static uint64_t tree_descr_size(tree_walk *w, const zt_numpy_array *array){
  zt_cbor_out out = { .err = w->err };
  uint64_t n;
  if( !w->visitor->plain || !array->dtype ) return 0;
  zt_numpy_put_descr(w->p, array->dtype, &out);
  n = out.n;
  zt_cbor_out_clear(&out);
  return n;
}

/* An array, and its objects. Bytes to keep are counted once. */
static void tree_array(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                       const zt_numpy_array *array){
  tree_parts parts;
  uint64_t size = w->path.n+512;
  parts.n = 0;
  if( array->has_data && !zt_torch_has_bit(w->walked, array->source) ){
    size += array->data.latin1 ? array->data.n : 0;
    zt_torch_set_bit(w->walked, array->source);
  }
  size += tree_descr_size(w, array);
  tree_count(w, node, size);
  if( !w->err->rc ) tree_found(w, (zt_torch_found){ .size = size, .array = array });
  tree_add_part(&parts, array->items, TREE_INDICES);
  if( call->state ) tree_add_array_state(w, call->state, array->items, &parts);
  tree_add_reached(w, call->args, &parts);
  tree_add_reached(w, call->keywords, &parts);
  tree_add_reached(w, call->list, &parts);
  tree_add_reached(w, call->dict, &parts);
  if( !w->err->rc ) tree_enter_parts(w, &parts, node);
}

/* Visit an opaque call by itself; a plain object by its class. False if it is too large. */
static bool tree_opaque_leaf(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                             bool reaches){
  const zt_pickle_node class = zt_pickle_child(w->p, call->args, 0);
  zt_pickle_value callee;
  if( !w->visitor->plain ) return tree_leaf(w, node, reaches ? ZT_TORCH_NAMED : ZT_TORCH_WHOLE);
  zt_pickle_get(w->p, call->callee, &callee);
  if( callee.kind==ZT_PICKLE_GLOBAL && zt_text_is(callee.name, "_reconstructor")
   && (zt_text_is(callee.module, "copyreg") || zt_text_is(callee.module, "copy_reg"))
   && zt_pickle_kind_of(w->p, class)==ZT_PICKLE_GLOBAL ) node = class;
  return tree_leaf(w, node, ZT_TORCH_NAMED);
}

/* A tensor that is not read is an object without values, beside what is shown of it. */
static void tree_unread(tree_walk *w, zt_pickle_node node, const zt_torch_tensor *tensor){
  const uint64_t size = w->path.n+256;
  tree_count(w, node, size);
  tree_found(w, (zt_torch_found){ .size = size, .tensor = tensor, .node = node });
}

/* A value that is not understood is one, too. */
static void tree_hidden(tree_walk *w, zt_pickle_node node, const char *reason){
  const zt_torch_tensor tensor = { .layout = ZT_TORCH_HIDDEN, .reason = reason };
  tree_unread(w, node, &tensor);
}

static void tree_unread_storage(tree_walk *w, zt_pickle_node node){
  const zt_torch_tensor tensor = { .layout = ZT_TORCH_UNREAD, .unshaped = true };
  tree_unread(w, node, &tensor);
}

/* True if a call's arguments, or its callee's, which are not shown, have bytes. */
static bool tree_hides(tree_walk *w, const zt_pickle_value *call){
  int remaining = TREE_PLAIN;
  if( !w->visitor->plain || w->err->rc
   || (tree_is_plain(w->p, call->args, true, &remaining)
       && tree_is_plain(w->p, call->callee, true, &remaining) && !call->keywords)
   || zt_torch_is_code(w->p, call) ) return false;
  if( !w->hiding ) w->hiding = zt_torch_reach(w->p, &zt_torch_hidden, w->interrupt, w->err);
  return w->hiding && (zt_torch_has_bit(w->hiding, call->args)
                       || zt_torch_has_bit(w->hiding, call->callee)
                       || zt_torch_has_bit(w->hiding, call->keywords));
}

/* A value that is shown whole, perhaps as a BLOB. */
static void tree_whole(tree_walk *w, zt_pickle_node node){
  if( zt_torch_is_file(w->p, node) ){
    tree_hidden(w, node, "its bytes begin as those of a tensor file do");
  }
  if( !w->err->rc ) tree_leaf(w, node, ZT_TORCH_WHOLE);
}

/* An opaque call whose arguments may become a tensor. */
static void tree_tell_hidden(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call){
  if( zt_torch_has_storage(w->p, call) ){
    tree_hidden(w, node, "a function that is not known makes it of a storage");
  }else if( tree_hides(w, call) ){
    tree_hidden(w, node, "a function that is not known makes it of bytes, which may hold tensors");
  }
}

/* An opaque call. Its arguments are shown with it or below it. Its callee may be the result of a
** call with tensors, and calls around it may have states. */
static void tree_opaque(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                        const zt_torch_tensor *around){
  tree_parts parts;
  const bool reaches = tree_reaches(w, call->args) || tree_reaches(w, call->keywords);
  parts.n = 0;
  tree_tell_hidden(w, node, call);
  if( tree_reaches(w, call->callee) ) tree_add_part(&parts, call->callee, TREE_PLACE);
  if( w->err->rc ) return;
  if( !tree_opaque_leaf(w, node, call, reaches) || reaches ){
    const uint32_t at = parts.n;
    tree_add_arguments(w, call->args, tree_keys_of(w->p, call->args), &parts);
    /* A plain tensor's object stands for its storage, too */
    if( around && w->visitor->plain
     && zt_torch_is_unread_storage(w->p, zt_pickle_child(w->p, call->args, 0)) ){
      parts.a[at].first = 1;
    }
    if( call->keywords ){
      tree_add_arguments(w, call->keywords, tree_keys_of(w->p, call->keywords), &parts);
    }
  }
  zt_torch_set_bit(w->walked, node);
  tree_add_part(&parts, call->list, TREE_INDICES);
  tree_add_part(&parts, call->dict, TREE_KEYS);
  for(uint32_t i=0; around && i<around->states; i++) tree_add_state(w->p, around->state[i], &parts);
  if( call->state ) tree_add_state(w->p, call->state, &parts);
  if( !w->err->rc ) tree_enter_parts(w, &parts, node);
}

/* A call whose tensor was refused, after its states were set, and what is in the call. The tensor
** is an object in a plain pickle. */
static void tree_refused(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                         const zt_pickle_value *made, zt_torch_tensor *tensor){
  const bool too_many = tensor->states>ZT_TORCH_STATES;
  if( too_many ) tensor->states = 0;   /* Its array has not all of them */
  if( w->visitor->plain ){
    zt_torch_read_unread(w->p, made, tensor);
    tree_unread(w, node, tensor);
  }
  if( w->err->rc ) return;
  if( too_many ) tree_opaque(w, node, call, NULL);
  else tree_opaque(w, node, made, tensor);
}

/* An OrderedDict or Counter: its argument (a dict or a list of pairs) and the items put into it.
** False for another argument. The state is walked only if it holds tensors: in a state_dict() it
** has the versions of modules. */
static bool tree_entries(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call){
  const zt_pickle_node from = zt_pickle_child(w->p, call->args, 0);
  tree_parts parts;
  zt_pickle_kind kind = from ? zt_pickle_kind_of(w->p, from) : ZT_PICKLE_LIST;
  parts.n = 0;
  if( (kind!=ZT_PICKLE_LIST && kind!=ZT_PICKLE_DICT) || call->keywords
   || zt_pickle_child(w->p, call->args, 1) ) return false;
  zt_torch_set_bit(w->walked, node);
  tree_add_part(&parts, from, kind==ZT_PICKLE_DICT ? TREE_KEYS : TREE_PAIRS);
  tree_add_part(&parts, call->dict, TREE_KEYS);
  tree_add_part(&parts, call->list, TREE_INDICES);
  if( tree_reaches(w, call->state) ) tree_add_state(w->p, call->state, &parts);
  if( w->err->rc ) return true;
  if( w->visitor->plain && w->depth && tree_are_empty(w, &parts) ){
    tree_leaf(w, node, ZT_TORCH_NAMED);
  }else{
    tree_enter_parts(w, &parts, node);
  }
  return true;
}

static void tree_call(tree_walk *w, zt_pickle_node node, const zt_pickle_value *call,
                      zt_torch_meaning meaning){
  zt_pickle_value made = *call;
  zt_torch_tensor tensor;
  zt_numpy_array array;
  zt_pickle_result result;
  if( meaning==ZT_TORCH_DICT && tree_entries(w, node, call) ) return;
  if( meaning>=ZT_TORCH_TENSOR ){
    if( zt_torch_read_tensor(w->p, &made, meaning, &tensor) ){
      tree_tensor(w, node, &tensor);
    }else{
      tree_refused(w, node, call, &made, &tensor);
    }
  }else if( zt_torch_is_rebuilt(w->p, node) ){
    tensor = (zt_torch_tensor){ .states = 0 };
    tree_refused(w, node, call, call, &tensor);
  }else if( zt_torch_is_unread_storage(w->p, node) ){
    tree_unread_storage(w, node);
    if( !w->err->rc ) tree_opaque(w, node, call, NULL);
  }else if( zt_numpy_read_array(w->p, node, &array) ){
    tree_array(w, node, call, &array);
  }else if( zt_pickle_read_result(w->p, node, SIZE_MAX, &result)
         && !tree_reaches(w, call->args) ){
    tree_whole(w, node);
  }else{
    tree_opaque(w, node, call, NULL);
  }
}

/* True if a call has one argument, and perhaps a type's text. */
static bool tree_is_same(const zt_pickle *p, const zt_pickle_value *call){
  const zt_pickle_node type = zt_pickle_child(p, call->args, 1);
  return zt_pickle_child(p, call->args, 0) && !zt_pickle_child(p, call->args, 2) && !call->keywords
      && !call->list && !call->dict && !call->state
      && (!type || zt_pickle_kind_of(p, type)==ZT_PICKLE_TEXT);
}

/* The value that a node stands for. If it is a call, *call and *meaning are set. */
static zt_pickle_node tree_resolve(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *call,
                                   zt_torch_meaning *meaning){
  for(int i=0; zt_pickle_kind_of(p, node)==ZT_PICKLE_CALL; i++){
    *meaning = zt_torch_call(p, node, call);
    if( *meaning!=ZT_TORCH_SAME || i==TREE_SAME_MAX || !tree_is_same(p, call) ) break;
    node = zt_pickle_child(p, call->args, 0);
  }
  return node;
}

/* A bare storage is a tensor of one dimension. */
static bool tree_storage(tree_walk *w, zt_pickle_node node){
  zt_torch_tensor tensor = { .layout = ZT_TORCH_DENSE, .n = 1 };
  zt_torch_view *v = &tensor.views[0];
  if( !zt_torch_read_storage(w->p, node, v) ) return false;
  v->rank = 1;
  v->shape[0] = v->view_key.z ? v->view_elements : v->storage_elements;
  v->strides[0] = 1;
  tree_tensor(w, node, &tensor);
  return true;
}

/* A persistent id of anything else, or of a storage that is not read. */
static void tree_persistent(tree_walk *w, zt_pickle_node node){
  tree_parts parts = { .n = 0 };
  zt_pickle_value id;
  if( zt_torch_is_unread_storage(w->p, node) ) tree_unread_storage(w, node);
  if( w->err->rc ) return;
  tree_leaf(w, node, ZT_TORCH_WHOLE);
  zt_pickle_get(w->p, node, &id);
  tree_add_reached(w, id.args, &parts);
  if( !w->err->rc ) tree_enter_parts(w, &parts, node);
}

/* A value was met within itself. Tell it here and, the first time, at the value's own path. */
static void tree_cycle(tree_walk *w, zt_pickle_node node){
  const size_t path = w->path.n;
  uint32_t i = w->depth;
  tree_leaf(w, node, ZT_TORCH_CYCLE);
  if( w->cycles==TREE_CYCLES ) return;
  w->cycles++;
  while( i>0 && w->levels[i-1].node!=node && w->levels[i-1].owner!=node ) i--;
  if( i==0 || w->levels[i-1].cycle ) return;
  w->levels[i-1].cycle = true;
  w->path.n = w->levels[i-1].path;
  if( !w->err->rc ) tree_leaf(w, node, ZT_TORCH_CYCLE);
  w->path.n = path;
}

/* True for a container whose values are walked; a visitor of plain values sees an empty one. */
static bool tree_has_values(const tree_walk *w, zt_pickle_node node){
  const zt_pickle_kind kind = zt_pickle_kind_of(w->p, node);
  return kind>=ZT_PICKLE_TUPLE && kind<=ZT_PICKLE_DICT
      && !(w->visitor->plain && w->depth && zt_pickle_is_empty(w->p, node));
}

static void tree_visit(tree_walk *w, zt_pickle_node node){
  zt_torch_meaning meaning = ZT_TORCH_OPAQUE;
  zt_pickle_value call = { 0 };
  zt_pickle_kind kind;
  node = tree_resolve(w->p, node, &call, &meaning);
  kind = zt_pickle_kind_of(w->p, node);
  if( zt_torch_has_bit(w->open, node) ){
    tree_cycle(w, node);
  }else if( tree_is_repeated(w, node) ){
    tree_tell_repeated(w, node);
  }else if( tree_has_values(w, node) ){
    tree_enter(w, node, tree_keys_of(w->p, node), 0);
  }else if( kind==ZT_PICKLE_CALL ){
    tree_call(w, node, &call, meaning);
  }else if( kind!=ZT_PICKLE_PERSISTENT ){
    tree_whole(w, node);
  }else if( !tree_storage(w, node) ){
    tree_persistent(w, node);
  }
}

/* Add a key to the path, and return its value; or the key first, if it holds a tensor. */
static zt_pickle_node tree_keyed(tree_walk *w, zt_pickle_node key, zt_pickle_node node){
  tree_path_add_key(w, key);
  if( zt_pickle_kind_of(w->p, key)<ZT_PICKLE_TUPLE || !tree_reaches(w, key) ) return node;
  return tree_enter(w, node, TREE_PLACE, 0) ? key : 0;
}

/* The same for a pair; 0 if it is not one. */
static zt_pickle_node tree_next_pair(tree_walk *w, zt_pickle_node node){
  zt_pickle_cursor pair = zt_pickle_begin(w->p, node);
  const zt_pickle_node first = zt_pickle_next(w->p, &pair), second = zt_pickle_next(w->p, &pair);
  if( !first || !second || zt_pickle_next(w->p, &pair) ) return 0;
  return tree_keyed(w, first, second);
}

/* The next value of a level, and its path; 0: nothing to visit. */
static zt_pickle_node tree_step(tree_walk *w, tree_level *level, zt_pickle_node node){
  const bool keyed = level->keys==TREE_KEYS || level->keys==TREE_MODULE;
  const zt_pickle_node key = node;
  const uint32_t index = level->index++;
  if( keyed ) node = zt_pickle_next(w->p, &level->cursor);
  w->visits += tree_is_again(w);
  if( !w->visitor->plain && zt_pickle_is_empty(w->p, node)
   && (!keyed || zt_pickle_kind_of(w->p, key)<ZT_PICKLE_TUPLE) ) return 0;
  w->path.n = level->path;
  w->inside = level->dotted;
  if( level->keys==TREE_PLACE || (level->keys==TREE_MODULE && tree_module_word(w->p, key, node)) ){
    return node;
  }
  if( level->dotted ) tree_path_add(w, ".", 1);
  w->inside = true;
  if( level->keys==TREE_PAIRS ){
    const zt_pickle_node value = tree_next_pair(w, node);
    if( value ) return value;
  }
  if( keyed ) return tree_keyed(w, key, node);
  zt_torch_path_add_index(&w->path, index, w->err);
  return node;
}

/* The same for the innermost level, which ends after its last value. */
static zt_pickle_node tree_next(tree_walk *w){
  tree_level *level = &w->levels[w->depth-1];
  zt_pickle_node node = level->keys!=TREE_PLACE ? zt_pickle_next(w->p, &level->cursor)
                      : level->index==0 ? level->node : 0;
  if( node ) return tree_step(w, level, node);
  if( level->keys!=TREE_PLACE ) tree_mark(w, level->node);
  tree_mark(w, level->owner);
  w->depth--;
  return 0;
}

static void tree_run(tree_walk *w, zt_pickle_node node){
  uint64_t steps = 0;
  tree_visit(w, node);
  while( w->depth && !w->err->rc ){
    node = tree_next(w);
    if( (++steps & TREE_POLL)==0 && zt_interrupt_check(w->interrupt, w->err) ) return;
    if( node && !w->err->rc ) tree_visit(w, node);
  }
}

/* Walk dropped calls with tensors (torch_dropped.h). Paths begin with the function's name. */
static void tree_run_dropped(tree_walk *w){
  const size_t path = w->path.n;
  const bool inside = w->inside;
  zt_pickle_value call, callee;
  for(zt_pickle_node node=1; node<=zt_pickle_nodes(w->p) && !w->err->rc; node++){
    if( !zt_pickle_is_dropped(w->p, node) ) continue;
    zt_pickle_get(w->p, node, &call);
    zt_pickle_get(w->p, call.callee, &callee);
    if( inside ) tree_path_add(w, ".", 1);
    if( callee.kind==ZT_PICKLE_GLOBAL ) tree_path_add(w, callee.name.z, callee.name.n);
    w->inside = true;
    if( !w->err->rc ) tree_run(w, node);
    w->path.n = path;
    w->inside = inside;
  }
}

int zt_torch_walk(const zt_pickle *p, zt_text prefix, size_t bytes,
                  const zt_torch_visitor *visitor, const zt_interrupt *interrupt, zt_error *err){
  tree_walk w = {
    .p = p, .visitor = visitor, .interrupt = interrupt, .err = err, .bytes = bytes,
    .inside = prefix.n>0, .path.measured = visitor->no_paths
  };
  const size_t bits = zt_pickle_nodes(p)/8+1;
  w.open = sqlite3_malloc64(2*(uint64_t)bits);
  w.levels = sqlite3_malloc64(TREE_DEPTH_MAX*sizeof(*w.levels));
  if( w.open && w.levels ){
    memset(w.open, 0, 2*bits);
    w.walked = w.open+bits;
    tree_path_add(&w, prefix.z, prefix.n);
    if( !err->rc ) tree_run(&w, zt_pickle_root(p));
    w.path.n = prefix.n;
    w.inside = prefix.n>0;
    if( !err->rc && zt_pickle_has_dropped(p) ) tree_run_dropped(&w);
  }else{
    zt_fail_nomem(err);
  }
  sqlite3_free(w.open);
  sqlite3_free(w.reach);
  sqlite3_free(w.hiding);
  sqlite3_free(w.levels);
  sqlite3_free(w.path.z);
  return err->rc;
}
