/*
** Files of torch.save from 0.1.10 up to 1.5, and of later versions on request. See torch_storage.h;
** the rules are those of pytorch.c.
**
**   file    := magic version system object keys storage*   ; the first five are pickles
**   magic   := 0x1950a86a20f9469cfc6c
**   version := 1001
**   system  := a dict about the machine, without effect
**   keys    := a list of texts
**   storage := elements element*    ; 8 bytes, then the elements of the key in that place; always
**                                   ; little-endian
**
**   PT15 the first pickle is the magic number, the second 1001
**   PT16 the fifth is a list of texts, each once
** Faults of one storage:
**   PT9  its key is in the list
**   PT17 its element width, and those of all storages before it, are known: ids name classes
**   PT18 its elements end within the file
**   PT19 all ids of it name one class: torch takes the first
** A warning:
**   PT22 the last storage ends the file
**
** Pickles have no length, so they are read in pieces up to a STOP. Bytes after the last storage may
** be another such file (behind.h): torch.load() can be called again for them.
*/
#include "container/torch_storage.h"

#include <assert.h>
#include "container/pickle_opcodes.h"
#include "container/within.h"
#include "core/cbor_write.h"
#include "core/host.h"

#define LEGACY_VERSION 1001
#define LEGACY_WINDOW ((size_t)64 << 10)   /* Bytes that are read first, and for close storages, */
#define LEGACY_NEAR 16384u                 /* within this distance */
#define LEGACY_POLL 0xFFFFu                /* Steps between checks for an interrupt, less 1 */

typedef struct legacy_storage {
  uint64_t offset, elements;
  zt_text class;             /* Borrowed from the object's pickle, while that is open; z NULL: no id
                             ** names the storage */
  const char *rule;          /* The fault's */
  uint32_t fault;            /* As in zt_torch_storage */
  unsigned width;            /* 0: unknown */
} legacy_storage;

typedef struct torch_legacy {
  zt_torch_file file;
  uint64_t size;             /* The file's */
  uint64_t at;               /* Position of the next byte, */
  uint8_t *window;           /* and what is read of the file from there; owned */
  size_t have;
  int pickles;               /* Pickles begun */
  zt_cbor_out texts;         /* Bytes of keys */
  zt_keys keys;
  legacy_storage *storages;  /* By key; owned */
} torch_legacy;

/* Read more of the file into the window: twice as much, at most `most` bytes. */
static int legacy_read_more(torch_legacy *l, size_t most){
  zt_builder *b = l->file.b;
  size_t room = l->have<LEGACY_WINDOW ? LEGACY_WINDOW : l->have<=most/2 ? 2*l->have : most;
  uint8_t *p;
  if( room>most ) room = most;
  if( zt_interrupt_check(b->interrupt, b->err) ) return b->err->rc;
  p = sqlite3_realloc64(l->window, room);
  if( !p ) return zt_fail_nomem(b->err);
  l->window = p;
  if( zt_source_read(b->source, l->at+l->have, p+l->have, room-l->have, b->err) ) return b->err->rc;
  l->have = room;
  return SQLITE_OK;
}

/* Move the first n bytes of the window to *out. */
static int legacy_hand_over(torch_legacy *l, size_t n, zt_torch_pickle *out){
  const size_t rest = l->have-n;
  uint8_t *window = sqlite3_malloc64(rest+1), *p;
  if( !window ) return zt_fail_nomem(l->file.b->err);
  memcpy(window, l->window+n, rest);
  p = sqlite3_realloc64(l->window, n);
  out->bytes = (zt_span){ p ? p : l->window, n };
  out->offset = l->at;
  out->length = n;
  out->stored = true;
  l->window = window;
  l->have = rest;
  l->at += n;
  return SQLITE_OK;
}

/* Read the next pickle's bytes, up to its STOP. */
static int legacy_read_bytes(torch_legacy *l, zt_torch_pickle *out){
  const uint64_t remaining = l->size-l->at;
  const size_t most = remaining<ZT_PICKLE_MAX ? (size_t)remaining : ZT_PICKLE_MAX;
  zt_builder *b = l->file.b;
  size_t at = 0;
  for(;;){
    const zt_span have = { l->window, l->have<most ? l->have : most };
    zt_error failed = { .path = b->err->path };
    if( zt_pickle_skip(have, &at, b->interrupt, &failed)==SQLITE_OK ){
      return legacy_hand_over(l, at, out);
    }
    if( have.n==most || !failed.rule || strcmp(failed.rule, "PK2")!=0 ){
      *b->err = failed;
      break;
    }
    zt_error_clear(&failed);
    if( legacy_read_more(l, most) ) return b->err->rc;
  }
  if( remaining>most && strcmp(b->err->rule ? b->err->rule : "", "PK2")==0 ){
    zt_error_clear(b->err);
    zt_break(b->err, "PT3", "it does not end within 256 MiB");
  }
  return b->err->rc;
}

/* Add the pickle's number to an error. */
static int legacy_fail(const torch_legacy *l){
  zt_error *err = l->file.b->err, failed = *err;
  if( failed.rule && failed.parts.fault ){
    *err = (zt_error){ .path = failed.path };
    zt_break(err, failed.rule, "pickle %d of 5: %s", l->pickles, failed.parts.fault);
    zt_error_clear(&failed);
  }
  return err->rc;
}

static int legacy_read_pickle(torch_legacy *l, zt_torch_pickle *out){
  l->pickles++;
  return legacy_read_bytes(l, out) ? legacy_fail(l) : SQLITE_OK;
}

/* Read and open the next pickle. */
static int legacy_open_pickle(torch_legacy *l, zt_torch_pickle *out){
  zt_builder *b = l->file.b;
  size_t used;
  if( legacy_read_pickle(l, out) ) return b->err->rc;
  if( zt_pickle_open(out->bytes, b->interrupt, &out->pickle, &used, b->err) ) legacy_fail(l);
  return b->err->rc;
}

/* PT15 */
static int legacy_read_head(torch_legacy *l){
  static const char magic[] = ZT_TORCH_MAGIC;
  zt_torch_pickle read = { 0 };
  zt_error *err = l->file.b->err;
  zt_pickle_value value;
  if( legacy_open_pickle(l, &read)==SQLITE_OK ){
    zt_pickle_get(read.pickle, zt_pickle_root(read.pickle), &value);
    if( value.kind!=ZT_PICKLE_INTEGER || value.bytes.n!=sizeof(magic)-1
     || memcmp(value.bytes.p, magic, sizeof(magic)-1)!=0 ){
      zt_break(err, "PT15", "the first pickle is not PyTorch's magic number");
    }
  }
  zt_torch_pickle_clear(&read);
  if( !err->rc && legacy_open_pickle(l, &read)==SQLITE_OK ){
    zt_pickle_get(read.pickle, zt_pickle_root(read.pickle), &value);
    if( value.kind!=ZT_PICKLE_INTEGER || value.bytes.p ){
      zt_break(err, "PT15", "the second pickle is not the number %d", LEGACY_VERSION);
    }else if( value.integer!=LEGACY_VERSION ){
      zt_break(err, "PT15", "version %lld, not %d", (long long)value.integer, LEGACY_VERSION);
    }
  }
  zt_torch_pickle_clear(&read);
  if( !err->rc ) legacy_read_pickle(l, &read);
  zt_torch_pickle_clear(&read);
  return err->rc;
}

/* PT16 */
static int legacy_add_key(torch_legacy *l, const zt_pickle_value *value){
  zt_error *err = l->file.b->err;
  const zt_text key = { (const char*)value->bytes.p, value->bytes.n };
  const size_t before = l->texts.n;
  bool duplicate;
  if( value->kind!=ZT_PICKLE_TEXT ){
    return zt_break(err, "PT16", "the fifth pickle is not a list of texts");
  }
  zt_cbor_put_items(&l->texts, value->bytes);
  if( err->rc || zt_keys_add(&l->keys, l->texts.p, (zt_key){ (uint32_t)before, (uint32_t)key.n },
                             &duplicate, err) || !duplicate ) return err->rc;
  return zt_break(err, "PT16", "the storage '%.*s' stands twice in the list", zt_shown(key), key.z);
}

/* PT16 */
static int legacy_read_keys(torch_legacy *l){
  zt_torch_pickle read = { 0 };
  zt_error *err = l->file.b->err;
  zt_pickle_value value;
  zt_pickle_cursor c;
  zt_pickle_node node;
  if( legacy_open_pickle(l, &read)==SQLITE_OK ){
    node = zt_pickle_root(read.pickle);
    if( zt_pickle_kind_of(read.pickle, node)!=ZT_PICKLE_LIST ){
      zt_break(err, "PT16", "the fifth pickle is not a list of texts");
    }
    c = zt_pickle_begin(read.pickle, node);
    while( !err->rc && (node = zt_pickle_next(read.pickle, &c))!=0 ){
      zt_pickle_get(read.pickle, node, &value);
      legacy_add_key(l, &value);
    }
  }
  zt_torch_pickle_clear(&read);
  return err->rc;
}

/* The storage of a key; NULL if it is not in the list. */
static legacy_storage *legacy_named(torch_legacy *l, zt_text key){
  const int64_t i = zt_keys_find(&l->keys, l->texts.p, key);
  return i<0 ? NULL : &l->storages[i];
}

/* Set the element widths of storages. The first id counts, in the order of nodes as in torch. */
static int legacy_read_classes(torch_legacy *l, const zt_pickle *p){
  const zt_interrupt *interrupt = l->file.b->interrupt;
  zt_error *err = l->file.b->err;
  for(zt_pickle_node node=1; node<=zt_pickle_nodes(p); node++){
    legacy_storage *s;
    zt_torch_view view = { 0 };
    if( (node & LEGACY_POLL)==0 && zt_interrupt_check(interrupt, err) ) return err->rc;
    if( zt_pickle_kind_of(p, node)!=ZT_PICKLE_PERSISTENT
     || !zt_torch_read_storage(p, node, &view) ) continue;
    s = legacy_named(l, view.key);
    if( !s || s->class.z ) continue;
    s->class = view.storage_class;
    s->width = view.storage_width;
  }
  return SQLITE_OK;
}

/* Read the number of elements at a position within the file. */
static int legacy_read_count(torch_legacy *l, uint64_t at, uint64_t *out){
  zt_builder *b = l->file.b;
  const uint64_t remaining = l->size-at;
  assert( at>=l->at );   /* Places go forward */
  if( !zt_claim(l->have, at-l->at, 8) ){
    size_t n = at-l->at<l->have+LEGACY_NEAR && remaining>LEGACY_WINDOW ? LEGACY_WINDOW : 8;
    uint8_t *p = sqlite3_realloc64(l->window, n);
    if( !p ) return zt_fail_nomem(b->err);
    l->window = p;
    l->have = 0;
    if( zt_source_read(b->source, at, p, n, b->err) ) return b->err->rc;
    l->at = at;
    l->have = n;
  }
  *out = zt_le64(l->window+(at-l->at));
  return SQLITE_OK;
}

/* PT17, PT18: place storage i at *at, which becomes the position of the next one. */
static int legacy_place(torch_legacy *l, uint32_t i, uint64_t *at, zt_torch_storage *fault){
  zt_builder *b = l->file.b;
  legacy_storage *s = &l->storages[i];
  const zt_text key = zt_keys_text(&l->keys, l->texts.p, i);
  if( s->width==0 ){
    return zt_torch_set_fault(b, fault, "PT17", "no class of storage '%.*s' is known, so that "
                              "its size and all later places are not known",
                              zt_shown(key), key.z);
  }
  if( l->size-*at<8 ){
    return zt_torch_set_fault(b, fault, "PT18", "the file ends where its storage should begin");
  }
  if( legacy_read_count(l, *at, &s->elements) ) return b->err->rc;
  *at += 8;
  if( s->elements>(l->size-*at)/s->width ){
    return zt_torch_set_fault(b, fault, "PT18", "storage '%.*s' has %llu elements of %u bytes, and "
                              "there are %llu bytes from there on", zt_shown(key), key.z,
                              (unsigned long long)s->elements, s->width,
                              (unsigned long long)(l->size-*at));
  }
  s->offset = *at;
  *at += s->elements*s->width;
  return SQLITE_OK;
}

/* PT22 */
static int legacy_note_behind(const torch_legacy *l, uint64_t end){
  l->file.b->container->own_end = end;
  if( l->size==end ) return SQLITE_OK;
  return zt_builder_note_file(l->file.b, "PT22", "%llu bytes follow behind the last storage",
                              l->size-end);
}

/* After a storage with a fault, no other can be found. */
static int legacy_place_all(torch_legacy *l){
  zt_torch_storage fault = { 0 };
  zt_builder *b = l->file.b;
  uint64_t at = l->at;
  for(uint32_t i=0; i<l->keys.n; i++){
    if( (i & LEGACY_POLL)==LEGACY_POLL && zt_interrupt_check(b->interrupt, b->err) ) break;
    if( !fault.fault && legacy_place(l, i, &at, &fault) ) break;
    l->storages[i].rule = fault.rule;
    l->storages[i].fault = fault.fault;
  }
  return fault.fault || b->err->rc ? b->err->rc : legacy_note_behind(l, at);
}

static int legacy_read_storages(torch_legacy *l, const zt_pickle *p){
  const uint64_t bytes = (l->keys.n+(uint64_t)1)*sizeof(*l->storages);
  l->storages = sqlite3_malloc64(bytes);
  if( !l->storages ) return zt_fail_nomem(l->file.b->err);
  memset(l->storages, 0, (size_t)bytes);
  if( legacy_read_classes(l, p) ) return l->file.b->err->rc;
  return legacy_place_all(l);
}

static int legacy_read(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out){
  torch_legacy *l = (torch_legacy*)f;
  if( which!=ZT_TORCH_DATA ) return SQLITE_OK;
  if( legacy_open_pickle(l, out) || legacy_read_keys(l) ) return f->b->err->rc;
  return legacy_read_storages(l, out->pickle);
}

/* PT9, PT19 */
static int legacy_find(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out){
  torch_legacy *l = (torch_legacy*)f;
  const legacy_storage *s = legacy_named(l, v->key);
  *out = (zt_torch_storage){ .exact = true };
  if( !s ){
    return zt_torch_set_fault(f->b, out, "PT9", "the file has no storage '%.*s'", zt_shown(v->key),
                              v->key.z);
  }
  out->rule = s->rule;
  out->fault = s->fault;
  if( s->fault ) return SQLITE_OK;
  if( !zt_text_equal(s->class, v->storage_class) ){
    return zt_torch_set_fault(f->b, out, "PT19", "its storage is of class %.*s, and of %.*s "
                              "elsewhere", zt_shown(v->storage_class), v->storage_class.z,
                              zt_shown(s->class), s->class.z);
  }
  out->offset = s->offset;
  out->length = out->size = s->elements*s->width;
  return SQLITE_OK;
}

static void legacy_close(zt_torch_file *f){
  torch_legacy *l = (torch_legacy*)f;
  sqlite3_free(l->window);
  sqlite3_free(l->storages);
  zt_cbor_out_clear(&l->texts);
  zt_keys_clear(&l->keys);
  sqlite3_free(l);
}

static const zt_torch_kinds legacy_kind = {
  .read = legacy_read, .find = legacy_find, .close = legacy_close
};

int zt_torch_open_legacy(zt_builder *b, const zt_head_tail *input, zt_torch_file **out){
  torch_legacy *l = sqlite3_malloc64(sizeof(*l));
  *out = NULL;
  if( !l ) return zt_fail_nomem(b->err);
  *l = (torch_legacy){
    .file = { .kind = &legacy_kind, .b = b, .version = ZT_TEXT_INIT("1001") }, .size = input->size,
    .texts = { .err = b->err }, .keys = { .interrupt = b->interrupt }
  };
  if( legacy_read_head(l)==SQLITE_OK ) *out = &l->file;
  else legacy_close(&l->file);
  return b->err->rc;
}
