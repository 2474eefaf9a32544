/*
** msgpack as flax and msgpack-numpy write it (core/msgpack_read.h): a tree of maps and lists, whose
** leaves are arrays of numbers and other values.
**
**   file    := tree                     ; a map, or an array of numbers. MP4: nothing follows it
**   tree    := array | chunked | numpy | map | list | leaf
**   map     := (key tree)*              ; MP5: a key is UTF-8 without U+0000, or an integer
**   list    := [tree*]
**   array   := extension 1: [[dimension*] dtype data]
**                                       ; dtype: numpy's name; data: bytes, row-major,
**                                       ; little-endian. MP6. MP7: at most ZT_MAX_RANK dimensions,
**                                       ; whose product fits 64 bits
**   chunked := {"__msgpack_chunked_array__": true,
**               "shape": {"0": dimension ...}, "chunks": {"0": array ...}}
**                                       ; MP8: the chunks, and all dimensions, are there; the
**                                       ; chunks are of one dtype, and have their bytes. MP10:
**                                       ; a map with that key elsewhere is a map, and further keys
**                                       ; are not read: warnings
**   numpy   := {"nd": true, "type": descr, "kind": text, "shape": [dimension*], "data": bytes}
**                                       ; descr: numpy's text, or its list of records. Older
**                                       ; writers have no kind. In any order; a map with other
**                                       ; keys or values is a map
**   leaf    := nil | bool | number | text | bytes | extension 2: [real imaginary]
**            | extension 3: the array of a scalar | any other extension
**
**   MP9  names and values shown as text take at most 1 GiB, and not much more than the file
**
** Arrays are objects; all other leaves, and empty maps and lists in the tree, are attributes of the
** file. Their names are the keys on the way, joined by `/`; in a list, an index is the key. Names
** that repeat are followed by "#2", "#3" ... There is no magic number: a file is msgpack if it
** parses to its last byte, or has an array before the place where it does not.
*/
#include "container/msgpack_array.h"

#include "container/manifest.h"
#include "container/within.h"
#include "core/host.h"
#include "core/utf8.h"

#define MSGPACK_SHOWN_MAX ((uint64_t)1 << 20)   /* Bytes of a leaf that are shown */
#define MSGPACK_ARRAY_LEAST 6                   /* Bytes of an array: list, shape, dtype, data */
#define MSGPACK_ARRAY 1                         /* Types of extensions */
#define MSGPACK_COMPLEX 2
#define MSGPACK_SCALAR 3
#define MSGPACK_WITHIN 8                        /* Levels of msgpack in bytes that are looked at */

static const zt_rule msgpack_rules[] = {
  ZT_ERROR("MP1", "msgpack-head", "no item begins with 0xC1 (msgpack)", ZT_SPEC_MSGPACK),
  ZT_ERROR("MP2", "msgpack-length", "items lie within what they are in (msgpack)", ZT_SPEC_MSGPACK),
  ZT_ERROR("MP3", "msgpack-depth", "arrays and maps are at most 64 levels deep (msgpack)",
           ZT_SPEC_OURS),
  ZT_ERROR("MP4", "msgpack-trailing", "nothing follows the first item (msgpack)", ZT_SPEC_FLAX),
  ZT_ERROR("MP5", "msgpack-key", "keys are UTF-8 without U+0000, or integers (msgpack)",
           ZT_SPEC_FLAX),
  ZT_ERROR("MP6", "msgpack-array", "extension 1 is a shape, a dtype and bytes (msgpack)",
           ZT_SPEC_FLAX),
  ZT_ERROR("MP7", "msgpack-shape",
           "an array has at most 64 dimensions, whose product fits 64 bits (msgpack)",
           ZT_SPEC_OURS),
  ZT_ERROR("MP8", "msgpack-chunks",
           "an array in chunks has its shape, and all chunks, of one dtype and with their bytes"
           " (msgpack)",
           ZT_SPEC_FLAX),
  ZT_ERROR("MP9", "msgpack-size",
           "names and values shown as text take at most 1 MiB plus 32 times the file's bytes,"
           " and 1 GiB (msgpack)", ZT_SPEC_OURS),
  ZT_WARNING("MP10", "msgpack-mark",
             "the mark of an array in chunks is the first key of its map, which has no keys but"
             " those of flax (msgpack)", ZT_SPEC_FLAX),
  ZT_RULES_END
};

/* A map or list that the walk is in. */
typedef struct msgpack_level {
  uint64_t left, index;    /* Items or pairs to come; the number of the next one */
  size_t path;             /* Bytes of its own path */
  bool map;
} msgpack_level;

typedef struct msgpack_walk {
  zt_msgpack_scan scan;
  zt_msgpack_range rest;   /* Of the file */
  msgpack_level level[ZT_MSGPACK_DEPTH];
  int depth;               /* Levels */
  zt_cbor_out leaves;      /* Pairs of attributes */
  uint32_t nLeaves;
  zt_cbor_out names;       /* Bytes of their names, not CBOR */
  zt_keys keys;            /* The names */
  zt_renamed repeats;
} msgpack_walk;

/* --- Leaves --- */

static void msgpack_put_key(zt_cbor_out *o, const char *key){
  zt_cbor_put_text(o, (zt_text){ key, strlen(key) });
}

/* A value that is not shown. bytes UINT64_MAX: unknown. */
static void msgpack_put_opaque(zt_cbor_out *o, const char *what, uint64_t bytes){
  zt_cbor_put_head(o, ZT_CBOR_MAP, bytes==UINT64_MAX ? 1 : 2);
  msgpack_put_key(o, "$opaque");
  msgpack_put_key(o, what);
  if( bytes==UINT64_MAX ) return;
  msgpack_put_key(o, "bytes");
  zt_cbor_put_uint(o, bytes);
}

/* A text, or bytes; a text that is not UTF-8 is shown as bytes. */
static void msgpack_put_bytes(msgpack_walk *w, const zt_msgpack_item *item){
  const bool text = item->type==ZT_MSGPACK_TEXT;
  zt_cbor_out *o = &w->leaves;
  zt_cbor_out bytes = { .err = w->scan.err };
  if( item->n>MSGPACK_SHOWN_MAX ){
    msgpack_put_opaque(o, text ? "msgpack text" : "msgpack bytes", item->n);
  }else if( zt_msgpack_may_keep(&w->scan, item->n)
         && zt_msgpack_push(&w->scan, item->bytes, &bytes) ){
    const zt_span span = { bytes.n ? bytes.p : (const uint8_t*)"", bytes.n };
    if( text ) zt_cbor_put_name(o, span);
    else zt_cbor_put_bytes(o, span);
  }
  zt_cbor_out_clear(&bytes);
}

/* True for a number, which is appended. */
static bool msgpack_put_number(zt_cbor_out *o, const zt_msgpack_item *item){
  if( item->type==ZT_MSGPACK_UINT ) zt_cbor_put_uint(o, item->n);
  else if( item->type==ZT_MSGPACK_INT ) zt_cbor_put_int(o, (int64_t)item->n);
  else if( item->type==ZT_MSGPACK_REAL ) zt_cbor_put_shortest(o, item->real);
  else return false;
  return true;
}

/* Extension 2, if it is two numbers. False: it is not, and nothing was appended. */
static bool msgpack_put_complex(msgpack_walk *w, zt_msgpack_range in){
  zt_msgpack_item pair, part;
  zt_cbor_out *o = &w->leaves;
  const size_t before = o->n;
  zt_msgpack_trial trial;
  bool sound;
  zt_msgpack_try(&w->scan.in, &trial);
  sound = zt_msgpack_next(&w->scan.in, &in, &pair) && pair.type==ZT_MSGPACK_ARRAY && pair.n==2;
  if( sound ) zt_cbor_put_head(o, ZT_CBOR_ARRAY, 2);
  for(int i=0; i<2 && sound; i++){
    sound = zt_msgpack_next(&w->scan.in, &in, &part) && msgpack_put_number(o, &part);
  }
  sound &= in.at==in.end;
  zt_msgpack_tried(&w->scan.in, &trial);
  if( !sound ) o->n = before;
  return sound;
}

static void msgpack_put_extension(msgpack_walk *w, const zt_msgpack_item *item){
  char what[32];
  if( item->ext==MSGPACK_COMPLEX && msgpack_put_complex(w, item->bytes) ) return;
  if( item->ext==MSGPACK_SCALAR
   && zt_msgpack_put_scalar(&w->scan, item->bytes, &w->leaves) ) return;
  sqlite3_snprintf(sizeof(what), what, "msgpack ext %d", item->ext);
  msgpack_put_opaque(&w->leaves, what, UINT64_MAX);
}

static void msgpack_put_leaf(msgpack_walk *w, const zt_msgpack_item *item){
  zt_cbor_out *o = &w->leaves;
  if( msgpack_put_number(o, item) ) return;
  switch( item->type ){
    case ZT_MSGPACK_FALSE: case ZT_MSGPACK_TRUE:
      zt_cbor_put_bool(o, item->type==ZT_MSGPACK_TRUE);
      break;
    case ZT_MSGPACK_TEXT: case ZT_MSGPACK_BYTES: msgpack_put_bytes(w, item); break;
    case ZT_MSGPACK_ARRAY: zt_cbor_put_head(o, ZT_CBOR_ARRAY, 0); break;
    case ZT_MSGPACK_MAP: zt_cbor_put_head(o, ZT_CBOR_MAP, 0); break;
    case ZT_MSGPACK_EXT: msgpack_put_extension(w, item); break;
    default: zt_cbor_put_null(o); break;
  }
}

static const uint8_t *msgpack_names(const msgpack_walk *w){
  return w->names.n ? w->names.p : (const uint8_t*)"";
}

/* Append the pair of a leaf, or of an empty map or list, named by the path. */
static bool msgpack_add_leaf(msgpack_walk *w, const zt_msgpack_item *item){
  zt_msgpack_scan *s = &w->scan;
  zt_text name = zt_msgpack_path(s);
  zt_key key = { (uint32_t)w->names.n, 0 };
  bool duplicate;
  if( !zt_msgpack_may_keep(s, 2*(uint64_t)name.n+64) ) return false;
  if( zt_keys_find(&w->keys, msgpack_names(w), name)>=0
   && zt_renamed_name(&w->repeats, &w->keys, msgpack_names(w), name, &name, s->err) ) return false;
  zt_cbor_put_items(&w->names, (zt_span){ (const uint8_t*)name.z, name.n });
  key.n = (uint32_t)name.n;
  if( s->err->rc || zt_keys_add(&w->keys, msgpack_names(w), key, &duplicate, s->err) ) return false;
  zt_cbor_put_text(&w->leaves, name);
  msgpack_put_leaf(w, item);
  w->nLeaves++;
  s->kept = w->leaves.n+w->names.n;
  return !s->err->rc;
}

/* --- What is in bytes --- */

typedef struct msgpack_items {
  bool sound;              /* They are a map, or an array of numbers, which ends where they end */
  bool array;              /* There is an array, before the place where they do not parse, */
  bool key;                /* and what stands where the first key does is one */
  bool file;               /* There are bytes with tensors, which were looked for */
} msgpack_items;

static bool msgpack_holds(zt_pages *p, const zt_msgpack_item *item, int level);

/* Items are read one after the other, whatever they are in. Translations of gettext begin as a map,
** too: its first key is a list. level 0: a file, in which no other files are looked for; else how
** deep in bytes it is, which may be a list. */
static msgpack_items msgpack_look(zt_pages *p, zt_msgpack_range rest, int level){
  msgpack_items out = { .key = true };
  zt_msgpack_item item;
  uint64_t expected = 1;   /* Items, at most as many as there are bytes */
  bool mark = false;
  for(uint64_t n=0; expected>0; n++){
    const bool sound = zt_msgpack_next(p, &rest, &item);
    out.array |= item.type==ZT_MSGPACK_EXT && item.ext==MSGPACK_ARRAY
              && item.n>=MSGPACK_ARRAY_LEAST;   /* Even if it goes beyond its end */
    if( !sound ) return out;
    out.array |= mark && item.type==ZT_MSGPACK_TRUE;
    mark = zt_msgpack_is_key(p, &item, ZT_MSGPACK_ND);
    expected--;
    if( item.type==ZT_MSGPACK_ARRAY ) expected += item.n;
    if( item.type==ZT_MSGPACK_MAP ) expected += 2*item.n;
    if( expected>rest.end-rest.at ) return out;
    if( n==0 && item.type!=ZT_MSGPACK_MAP && !(level>0 && item.type==ZT_MSGPACK_ARRAY)
     && !out.array ) return out;
    if( n==1 ) out.key = zt_msgpack_is_string(&item) || item.type==ZT_MSGPACK_UINT;
    if( level>0 && level<MSGPACK_WITHIN && !out.array && !out.file ){
      out.file = msgpack_holds(p, &item, level+1);
    }
  }
  out.sound = rest.at==rest.end && !p->err->rc;
  return out;
}

/* True for UTF-8 without U+0000. */
static bool msgpack_is_utf8(zt_pages *p, zt_msgpack_range bytes){
  char piece[1024];
  bool sound = true;
  while( sound && bytes.at<bytes.end ){
    uint64_t n = bytes.end-bytes.at;
    if( n>sizeof(piece) ) n = sizeof(piece);
    if( !zt_pages_read(p, bytes.at, (size_t)n, piece) ) return false;
    if( bytes.at+n<bytes.end ){   /* The last character may be cut */
      for(int k=0; k<3 && (piece[n-1] & 0xC0)==0x80; k++) n--;
      n--;
    }
    sound = zt_utf8_without_nul((zt_text){ piece, (size_t)n });
    bytes.at += n;
  }
  return sound;
}

static bool msgpack_holds_bytes(zt_pages *p, const zt_msgpack_item *item, int level){
  uint8_t first[ZT_WITHIN_LEAST], last;
  msgpack_items items;
  if( !zt_pages_read(p, item->bytes.at, sizeof(first), first)
   || !zt_pages_read(p, item->bytes.end-1, 1, &last) ) return false;
  if( zt_within_is_file(first, item->n, last) ) return true;
  items = msgpack_look(p, item->bytes, level);
  return items.sound && (items.array || items.file || level==MSGPACK_WITHIN);
}

/* True for bytes that are a tensor file, or msgpack with arrays or such bytes in it. Bytes of the
** last level that are msgpack may have them. Before msgpack had bytes, they were texts. */
static bool msgpack_holds(zt_pages *p, const zt_msgpack_item *item, int level){
  zt_msgpack_trial trial;
  bool found;
  if( !zt_msgpack_is_string(item) || item->n<ZT_WITHIN_LEAST || p->err->rc ) return false;
  zt_msgpack_try(p, &trial);
  found = msgpack_holds_bytes(p, item, level)
       && (item->type==ZT_MSGPACK_BYTES || !msgpack_is_utf8(p, item->bytes));
  zt_msgpack_tried(p, &trial);
  return found;
}

/* --- The walk --- */

static bool msgpack_fail_key(msgpack_walk *w, uint64_t at){
  zt_break(w->scan.err, "MP5", "byte %llu: a key is not text or bytes of UTF-8 without U+0000, nor"
           " an integer", (unsigned long long)at);
  return false;
}

/* MP5. Read a key, and append it to the path. */
static bool msgpack_read_key(msgpack_walk *w){
  zt_msgpack_scan *s = &w->scan;
  zt_msgpack_item key;
  char number[24];
  const size_t before = s->path.n;
  zt_text name;
  if( !zt_msgpack_next(&s->in, &w->rest, &key) ) return zt_msgpack_fail_end(s, w->rest.at);
  if( key.type==ZT_MSGPACK_UINT || key.type==ZT_MSGPACK_INT ){
    sqlite3_snprintf(sizeof(number), number, key.type==ZT_MSGPACK_UINT ? "%llu" : "%lld", key.n);
    zt_cbor_put_items(&s->path, (zt_span){ (const uint8_t*)number, strlen(number) });
    return !s->err->rc;
  }
  if( !zt_msgpack_is_string(&key) ) return msgpack_fail_key(w, key.at);
  if( !zt_msgpack_may_keep(s, key.n) || !zt_msgpack_push(s, key.bytes, &s->path) ) return false;
  name = (zt_text){ s->path.n>before ? (const char*)s->path.p+before : "", s->path.n-before };
  if( !zt_utf8_without_nul(name) ) return msgpack_fail_key(w, key.at);
  /* flax takes such a map as an array, wherever its mark stands */
  return key.type!=ZT_MSGPACK_TEXT || !zt_text_equal(name, ZT_TEXT(ZT_MSGPACK_CHUNKED))
      || zt_msgpack_note_mark(s, &s->marked, "byte %llu: the mark of an array in chunks is not the"
                              " first key of its map", key.at);
}

/* MP3 */
static bool msgpack_enter(msgpack_walk *w, const zt_msgpack_item *item){
  if( w->depth==ZT_MSGPACK_DEPTH ) return zt_msgpack_fail_depth(&w->scan.in, item->at);
  w->level[w->depth++] = (msgpack_level){
    .left = item->n, .path = w->scan.path.n, .map = item->type==ZT_MSGPACK_MAP
  };
  return true;
}

/* Add what the next item is, or enter it. Its path is set. */
static bool msgpack_add(msgpack_walk *w){
  zt_msgpack_scan *s = &w->scan;
  zt_msgpack_item item;
  if( !zt_msgpack_next(&s->in, &w->rest, &item) ) return zt_msgpack_fail_end(s, w->rest.at);
  if( item.type==ZT_MSGPACK_EXT && item.ext==MSGPACK_ARRAY ){
    return zt_msgpack_add_array(s, item.bytes);
  }
  if( msgpack_holds(&s->in, &item, 1) ) return zt_msgpack_add_file(s, item.bytes);
  if( item.n==0 || (item.type!=ZT_MSGPACK_ARRAY && item.type!=ZT_MSGPACK_MAP) ){
    const bool empty_file = w->depth==0 && item.type==ZT_MSGPACK_MAP;
    return empty_file || msgpack_add_leaf(w, &item);
  }
  if( zt_msgpack_is_chunked(s, w->rest, &item) ){
    return zt_msgpack_add_chunked(s, &w->rest, &item, w->depth);
  }
  if( zt_msgpack_add_numpy(s, &w->rest, &item, w->depth) ) return true;
  return !s->err->rc && msgpack_enter(w, &item);
}

/* Go to the next item of the innermost level that has one. False: there is none. */
static bool msgpack_advance(msgpack_walk *w){
  msgpack_level *level;
  char number[24];
  while( w->depth>0 && w->level[w->depth-1].left==0 ) w->depth--;
  if( w->depth==0 ) return false;
  level = &w->level[w->depth-1];
  level->left--;
  w->scan.path.n = level->path;
  if( w->depth>1 ) zt_cbor_put_items(&w->scan.path, (zt_span){ (const uint8_t*)"/", 1 });
  if( level->map ) return msgpack_read_key(w);
  sqlite3_snprintf(sizeof(number), number, "%llu", level->index++);
  zt_cbor_put_items(&w->scan.path, (zt_span){ (const uint8_t*)number, strlen(number) });
  return !w->scan.err->rc;
}

static void msgpack_walk_file(msgpack_walk *w){
  if( !msgpack_add(w) ) return;
  while( msgpack_advance(w) && msgpack_add(w) ){}
  if( w->scan.err->rc || w->rest.at==w->rest.end ) return;
  zt_break(w->scan.err, "MP4", "byte %llu: bytes follow the first item",
           (unsigned long long)w->rest.at);
}

/* Keep the leaves, and then each array's item. */
static void msgpack_keep(msgpack_walk *w){
  zt_container *c = w->scan.b->container;
  zt_msgpack_state *state = c->state;
  zt_cbor_out o = { .err = w->scan.err };
  size_t attributes;
  uint32_t at = 0, items = 0;
  zt_cbor_put_head(&o, ZT_CBOR_MAP, 2);
  msgpack_put_key(&o, "leaves");
  attributes = o.n;
  zt_cbor_put_head(&o, ZT_CBOR_MAP, w->nLeaves);
  zt_cbor_put_items(&o, (zt_span){ w->leaves.p, w->leaves.n });
  msgpack_put_key(&o, "arrays");
  zt_cbor_put_head(&o, ZT_CBOR_ARRAY, c->objects.n);
  if( !w->scan.err->rc && !zt_builder_keep(w->scan.b, o.p, o.n, &at)
   && !zt_builder_keep(w->scan.b, w->scan.items.p, w->scan.items.n, &items) ){
    state->items = at+o.n;
    zt_manifest_set_map(&c->attributes, at+attributes, 0);
    zt_manifest_set_map(&c->manifest, at, 0);
  }
  zt_cbor_out_clear(&o);
}

static int msgpack_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  msgpack_walk *w = sqlite3_malloc64(sizeof(*w));
  zt_msgpack_state *state = sqlite3_malloc64(sizeof(*state));
  c->state = state;
  if( !w || !state ){
    sqlite3_free(w);
    return zt_fail_nomem(b->err);
  }
  c->state_size = sizeof(*state);
  *state = (zt_msgpack_state){ 0 };
  *w = (msgpack_walk){
    .scan = { .b = b, .err = b->err, .items = { .err = b->err }, .path = { .err = b->err },
              .most = zt_builder_most(input->size) },
    .rest = { 0, input->size }, .leaves = { .err = b->err }, .names = { .err = b->err },
    .keys = { .interrupt = b->interrupt }
  };
  zt_pages_open(b->source, b->interrupt, &w->scan.in, b->err);
  msgpack_walk_file(w);
  if( !b->err->rc ) msgpack_keep(w);
  zt_pages_close(&w->scan.in);
  zt_cbor_out_clear(&w->scan.items);
  zt_cbor_out_clear(&w->scan.path);
  zt_renamed_clear(&w->scan.repeats);
  zt_cbor_out_clear(&w->leaves);
  zt_cbor_out_clear(&w->names);
  zt_keys_clear(&w->keys);
  zt_renamed_clear(&w->repeats);
  sqlite3_free(w);
  return b->err->rc;
}

static void msgpack_close(zt_container *c){
  sqlite3_free(c->state);
}

/* --- Probing --- */

/* True if all parses, or an array below a key comes before what does not. */
static bool msgpack_probe_items(zt_pages *p){
  const msgpack_items items = msgpack_look(p, (zt_msgpack_range){ 0, p->size }, 0);
  return items.sound || (items.array && items.key);
}

static zt_probe msgpack_probe(const zt_head_tail *input, zt_error *err){
  zt_error of_file = *err;   /* Its path */
  const uint8_t head = input->head.n ? *input->head.p : 0;
  zt_pages p;
  bool found;
  /* A map, or an extension: most files of other formats end here */
  if( !((head>=0x80 && head<=0x8F) || (head>=0xC7 && head<=0xC9) || (head>=0xD4 && head<=0xD8)
     || head==0xDE || head==0xDF) ) return ZT_PROBE_NO;
  zt_pages_open(input->source, input->interrupt, &p, &of_file);
  found = msgpack_probe_items(&p);
  zt_pages_close(&p);
  /* Faults of the file do not matter to a probe; errors of the system do */
  if( of_file.rc && !zt_error_is_of_file(&of_file) ) *err = of_file;
  else zt_error_clear(&of_file);
  return found && !err->rc ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         arrays of flax, also in chunks, and of msgpack-numpy
**   known by     a map, or an array, that parses to the last byte
**   version      NULL
**   manifest     all leaves and arrays
**   attributes   every leaf but the arrays, by its keys joined by `/`
**   objects      in the file's order, by their keys joined by `/`
**   of objects   `dtype`, the name in the file; `chunks`, their number; `descr` of msgpack-numpy
**   components   one, `data`: raw; of an array in chunks `msgpack.chunked`
*/
const zt_driver zt_driver_msgpack = {
  .name = "msgpack",
  .format = "msgpack",
  .files = "*.msgpack",
  .rules = { msgpack_rules },
  .probe = msgpack_probe,
  .open = msgpack_open,
  .object = zt_msgpack_object,
  .component = zt_msgpack_component,
  .steps = &zt_manifest_steps,
  .close = msgpack_close,
};
