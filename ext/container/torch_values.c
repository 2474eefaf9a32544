/*
** The values of a file's pickles, put into a container. See torch_values.h.
**
**   PT7  paths and values take at most 16 MiB and 16 times the pickle's bytes, and at most
**        ZT_MAX_MANIFEST
*/
#include "container/torch_values.h"

#include "container/manifest.h"
#include "container/torch_dropped.h"
#include "container/torch_object.h"
#include "core/host.h"
#include "core/renamed_duplicates.h"
#include "core/utf8.h"

const zt_rule zt_rules_values[] = {
  ZT_ERROR("PT4", "torch-depth", "values are nested at most 1000 deep (pickle)", ZT_SPEC_OURS),
  ZT_ERROR("PT6", "torch-path", "a path has at most 1 MiB (pickle)", ZT_SPEC_OURS),
  ZT_ERROR("PT7", "torch-size",
           "paths and values take at most 16 MiB plus 16 times the pickle's bytes, and 1 GiB",
           ZT_SPEC_OURS),
  ZT_ERROR("PT8", "torch-shape",
           "no dimension is negative, and their product fits 64 bits (pickle)", ZT_SPEC_TORCH),
  ZT_ERROR("PT13", "torch-key-twice", "a dict has no key twice (pickle)", ZT_SPEC_TORCH),
  ZT_RULES_END
};

#define VALUES_TEXT ((uint64_t)16 << 20)
#define VALUES_TEXT_TIMES 16
#define VALUES_LITTLE ((uint64_t)8 << 20)   /* Bytes that are appended before measuring, */
#define VALUES_LITTLE_TIMES 8               /* and for each byte of the pickle: real ones take 4 */

typedef struct values_reader {
  zt_builder *b;
  zt_torch_file *file;
  zt_torch_objects objects;
  const zt_torch_pickle *read;   /* The current pickle */
  zt_text prefix;            /* Of its paths */
  uint64_t text;             /* Bytes that were appended, or will be */
  bool measured;             /* PT7 was checked for the whole pickle */
  bool noted;                /* PF6 was */
  zt_cbor_out values;        /* Each leaf's path and value */
  zt_keys paths;             /* Distinct paths in `values` */
  uint64_t n;                /* Leaves */
  zt_renamed leaves;         /* Duplicate paths */
} values_reader;

static uint64_t values_most(const values_reader *r){
  const uint64_t most = VALUES_TEXT+VALUES_TEXT_TIMES*(uint64_t)r->read->bytes.n;
  return most<ZT_MAX_MANIFEST ? most : ZT_MAX_MANIFEST;
}

/* PT7 */
static void values_measure(void *context, const zt_torch_found *found){
  values_reader *r = context;
  r->text += found->size;
  if( r->text<=values_most(r) ) return;
  zt_break(r->b->err, "PT7", "paths and values take more than %llu bytes, for a pickle of %llu",
           (unsigned long long)values_most(r), (unsigned long long)r->read->bytes.n);
}

/* The bytes to append before measuring. */
static uint64_t values_little(const values_reader *r){
  const uint64_t n = VALUES_LITTLE_TIMES*((uint64_t)r->read->bytes.n+1024);
  return n<VALUES_LITTLE ? n : VALUES_LITTLE;
}

static int values_walk(values_reader *r, const zt_torch_visitor *visitor){
  return zt_torch_walk(r->read->pickle, r->prefix, r->read->bytes.n, visitor, r->b->interrupt,
                       r->b->err);
}

/* PT7: if the pickle appends more than a little, as few files do, measure all of it first. */
static bool values_has_room(values_reader *r, uint64_t size){
  const zt_torch_visitor measure = {
    .visit = values_measure, .context = r, .no_paths = true, .plain = r->file->plain
  };
  r->text += size;
  if( r->measured || r->text<=values_little(r) ) return true;
  r->measured = true;
  r->text = 0;
  return values_walk(r, &measure)==SQLITE_OK;
}

/* Append a path; false if another leaf has it. */
static bool values_put_path(values_reader *r, zt_text path){
  const size_t before = r->values.n;
  bool duplicate = false;
  zt_key key;
  zt_cbor_put_text(&r->values, path);
  if( r->b->err->rc ) return true;
  key = (zt_key){ (uint32_t)(r->values.n-path.n), (uint32_t)path.n };
  zt_keys_add(&r->paths, r->values.p, key, &duplicate, r->b->err);
  if( duplicate ) r->values.n = before;
  return !duplicate;
}

/* PF6: the first tensor whose storage is not the file's is noted. */
static void values_note_tensor(values_reader *r, const zt_torch_found *found){
  const zt_text path = found->path;
  bool elsewhere;
  if( r->noted || !r->file->plain || found->tensor->layout!=ZT_TORCH_UNREAD ) return;
  r->noted = true;
  elsewhere = zt_torch_is_described(r->read->pickle, found->node);
  zt_builder_note_file(r->b, "PF6", "'%.*s' is a tensor of PyTorch, %s", zt_shown(path), path.z,
                       elsewhere ? "whose elements are in other files, as"
                                   " torch.distributed.checkpoint writes them"
                                 : "which is not read in a plain pickle");
}

static void values_put_leaf(values_reader *r, const zt_torch_found *found){
  zt_text path = found->path;
  if( !values_put_path(r, path)
   && !zt_renamed_name(&r->leaves, &r->paths, r->values.p, path, &path, r->b->err) ){
    values_put_path(r, path);
  }
  zt_torch_put(r->read->pickle, found->node, found->shown, &r->values);
  r->n++;
}

static void values_put(void *context, const zt_torch_found *found){
  values_reader *r = context;
  if( !values_has_room(r, found->size) ) return;
  if( found->tensor ){
    values_note_tensor(r, found);
    zt_torch_add_tensor(&r->objects, found->path, found->tensor);
  }else if( found->array ) zt_torch_add_array(&r->objects, found->path, found->array);
  else values_put_leaf(r, found);
}

/* Read a pickle and all of its values. */
static int values_read(values_reader *r, zt_torch_which which, zt_text prefix){
  const zt_torch_visitor put = { .visit = values_put, .context = r, .plain = r->file->plain };
  zt_container *c = r->b->container;
  zt_torch_pickle read = { 0 };
  if( zt_torch_read(r->file, which, &read)==SQLITE_OK && read.pickle
   && zt_torch_set_dropped_states(read.pickle, r->b->interrupt, r->b->err)==SQLITE_OK ){
    if( which==ZT_TORCH_DATA ){
      c->manifest_offset = read.offset;
      c->manifest_length = read.length;
    }
    r->read = r->objects.read = &read;
    r->prefix = prefix;
    r->text = 0;
    r->measured = false;
    values_walk(r, &put);
    zt_torch_objects_reset(&r->objects);
  }
  zt_torch_pickle_clear(&read);
  return r->b->err->rc;
}

static void values_put_optional(zt_cbor_out *o, zt_text key, zt_text value){
  zt_cbor_put_text(o, key);
  if( value.z ) zt_cbor_put_text(o, value);
  else zt_cbor_put_null(o);
}

static void values_put_archive(const zt_torch_file *f, zt_cbor_out *out){
  zt_cbor_put_head(out, ZT_CBOR_MAP, 4);
  zt_cbor_put_text(out, ZT_TEXT("archive"));
  if( f->archive.z ){
    zt_cbor_put_name(out, (zt_span){ (const uint8_t*)f->archive.z, f->archive.n });
  }else{
    zt_cbor_put_null(out);
  }
  values_put_optional(out, ZT_TEXT("version"), f->version);
  values_put_optional(out, ZT_TEXT("byteorder"), f->byte_order);
}

/* The manifest: the file's own fields, and the leaves, which are also its attributes. */
static int values_keep_manifest(values_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  zt_cbor_out head = { .err = r->b->err };
  uint32_t at, values;
  size_t map;
  if( f->plain ){
    zt_cbor_put_head(&head, ZT_CBOR_MAP, 2);
    values_put_optional(&head, ZT_TEXT("protocol"), f->version);
  }else{
    values_put_archive(f, &head);
  }
  zt_cbor_put_text(&head, ZT_TEXT("leaves"));
  map = head.n;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, r->n);
  if( !r->b->err->rc && zt_builder_keep(r->b, head.p, head.n, &at)==SQLITE_OK
   && zt_builder_keep(r->b, r->values.p, r->values.n, &values)==SQLITE_OK ){
    zt_manifest_set_map(&c->manifest, at, 0);
    zt_manifest_set_map(&c->attributes, at+map, 0);
  }
  zt_cbor_out_clear(&head);
  return r->b->err->rc;
}

/* PT23: other tensor files in the file are objects, too. */
static int values_add_others(values_reader *r){
  zt_text name;
  uint32_t i = 0;
  while( zt_torch_next_other(r->file, &i, &name) ){
    if( !zt_utf8_valid((const uint8_t*)name.z, name.n) ) name = ZT_TEXT("");
    if( zt_torch_add_other(&r->objects, name) ) break;
  }
  return r->b->err->rc;
}

static int values_read_all(values_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  uint32_t at = 0;
  zt_builder_reserve(r->b, f->storages, f->storages);
  if( zt_builder_keep(r->b, "", 1, &at) ) return r->b->err->rc;   /* Position 0 means none */
  if( f->version.n ){
    if( zt_builder_keep(r->b, f->version.z, f->version.n, &at) ) return r->b->err->rc;
    c->version = (zt_text){ (const char*)c->kept.p+at, f->version.n };
  }
  if( values_read(r, ZT_TORCH_DATA, ZT_TEXT(""))
   || values_read(r, ZT_TORCH_CONSTANTS, ZT_TEXT("constants"))
   || values_add_others(r) ) return r->b->err->rc;
  return values_keep_manifest(r);
}

int zt_torch_open_values(zt_builder *b, zt_torch_file *file){
  values_reader r = {
    .b = b, .file = file, .objects = { .b = b, .file = file, .attributes = { .err = b->err } },
    .values = { .err = b->err }, .paths = { .interrupt = b->interrupt }
  };
  b->container->rules = ZT_RULE_VIEWS;
  /* Local headers, and records that are not storages. A plain pickle has nothing behind it */
  b->container->gap = file->plain ? 0 : UINT64_MAX;
  values_read_all(&r);
  zt_torch_objects_clear(&r.objects);
  zt_cbor_out_clear(&r.values);
  zt_keys_clear(&r.paths);
  zt_renamed_clear(&r.leaves);
  return b->err->rc;
}
