/*
** Files of torch.save and torch.jit.save: a pickle of all values, in which tensors are views of
** storages. torch_archive.c and torch_legacy.c know the places of pickles and storages.
**
**   PT1  it is no file of torch before 0.1.10, which was a tar archive
**   PT2, PT3, PT14, PT20: torch_archive.c
**   PT15, PT16: torch_legacy.c
**   PT4, PT6, PT13: torch_tree.c
**   PT7  paths and values take at most 16 MiB and 16 times the pickle's bytes, and at most
**        ZT_MAX_MANIFEST
** Faults of one tensor, which is listed without its bytes:
**   PT8, PT10, PT11, PT12: torch_object.c
**   PT9, PT17, PT18, PT19: torch_archive.c, torch_legacy.c: its storage is there
*/
#include "container/manifest.h"
#include "container/pickle_opcodes.h"
#include "container/torch_dropped.h"
#include "container/torch_object.h"
#include "container/torch_probe.h"
#include "core/host.h"
#include "core/renamed_duplicates.h"

#define PYTORCH_TEXT ((uint64_t)16 << 20)
#define PYTORCH_TEXT_TIMES 16
#define PYTORCH_LITTLE ((uint64_t)8 << 20)   /* Bytes that are appended before measuring, */
#define PYTORCH_LITTLE_TIMES 8               /* and for each byte of the pickle: real ones take 4 */

static const zt_rule pytorch_rules[] = {
  ZT_UNSUPPORTED("PT1", "torch-legacy", "the file is not of PyTorch before 0.1.10", ZT_SPEC_OURS),
  ZT_ERROR("PT2", "torch-no-pickle", "an archive of PyTorch has a record data.pkl", ZT_SPEC_TORCH),
  ZT_ERROR("PT3", "torch-pickle",
           "a pickle is stored, or deflated to a 64th at least, not encrypted, and has at most"
           " 256 MiB", ZT_SPEC_TORCH),
  ZT_ERROR("PT4", "torch-depth", "values are nested at most 1000 deep (PyTorch)", ZT_SPEC_OURS),
  ZT_ERROR("PT6", "torch-path", "a path has at most 1 MiB, and no U+0000 (PyTorch)", ZT_SPEC_OURS),
  ZT_ERROR("PT7", "torch-size",
           "paths and values take at most 16 MiB plus 16 times the pickle's bytes, and 1 GiB",
           ZT_SPEC_OURS),
  ZT_ERROR("PT8", "torch-shape",
           "no dimension is negative, and their product fits 64 bits (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT14", "torch-byteorder", "a record byteorder is little or big (PyTorch)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT15", "torch-legacy-version",
           "a file before 1.6 has PyTorch's magic number, and version 1001", ZT_SPEC_TORCH),
  ZT_ERROR("PT16", "torch-keys",
           "a file before 1.6 has a list of storages, none of them twice (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT20", "torch-pickle-crc", "a deflated pickle has the CRC-32 of its record (PyTorch)",
           ZT_SPEC_ZIP("4.4.7")),
  ZT_ERROR("PT9", "torch-storage", "a tensor's storage is in the file (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT10", "torch-stride", "offset and strides are not negative, and fit 64 bits (PyTorch)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT11", "torch-view", "a view ends within its storage (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT13", "torch-key-twice", "a dict has no key twice (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT12", "torch-record",
           "a storage's record has as many bytes as the pickle states (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT17", "torch-width",
           "the classes of a tensor's storage and of all storages before it are known "
           "(PyTorch before 1.6)", ZT_SPEC_TORCH),
  ZT_ERROR("PT18", "torch-cut", "a storage ends within the file (PyTorch before 1.6)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT19", "torch-class", "a storage is of one class (PyTorch before 1.6)", ZT_SPEC_TORCH),
  ZT_RULES_END
};

typedef struct pytorch_reader {
  zt_builder *b;
  zt_torch_file *file;
  zt_torch_objects objects;
  const zt_torch_pickle *read;   /* The current pickle */
  zt_text prefix;            /* Of its paths */
  uint64_t text;             /* Bytes that were appended, or will be */
  bool measured;             /* PT7 was checked for the whole pickle */
  zt_cbor_out values;        /* Each leaf's path and value */
  zt_keys paths;             /* Distinct paths in `values` */
  uint64_t n;                /* Leaves */
  zt_renamed leaves;         /* Duplicate paths */
} pytorch_reader;

static uint64_t pytorch_most(const pytorch_reader *r){
  const uint64_t most = PYTORCH_TEXT+PYTORCH_TEXT_TIMES*(uint64_t)r->read->bytes.n;
  return most<ZT_MAX_MANIFEST ? most : ZT_MAX_MANIFEST;
}

/* PT7 */
static void pytorch_measure(void *context, const zt_torch_found *found){
  pytorch_reader *r = context;
  r->text += found->size;
  if( r->text<=pytorch_most(r) ) return;
  zt_break(r->b->err, "PT7", "paths and values take more than %llu bytes, for a pickle of %llu",
           (unsigned long long)pytorch_most(r), (unsigned long long)r->read->bytes.n);
}

/* The bytes to append before measuring. */
static uint64_t pytorch_little(const pytorch_reader *r){
  const uint64_t n = PYTORCH_LITTLE_TIMES*((uint64_t)r->read->bytes.n+1024);
  return n<PYTORCH_LITTLE ? n : PYTORCH_LITTLE;
}

static int pytorch_walk(pytorch_reader *r, const zt_torch_visitor *visitor){
  return zt_torch_walk(r->read->pickle, r->prefix, r->read->bytes.n, visitor, r->b->interrupt,
                       r->b->err);
}

/* PT7: if the pickle appends more than a little, as few files do, measure all of it first. */
static bool pytorch_has_room(pytorch_reader *r, uint64_t size){
  const zt_torch_visitor measure = { pytorch_measure, r, true };
  r->text += size;
  if( r->measured || r->text<=pytorch_little(r) ) return true;
  r->measured = true;
  r->text = 0;
  return pytorch_walk(r, &measure)==SQLITE_OK;
}

/* Append a path; false if another leaf has it. */
static bool pytorch_put_path(pytorch_reader *r, zt_text path){
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

static void pytorch_put_leaf(pytorch_reader *r, const zt_torch_found *found){
  zt_text path = found->path;
  if( !pytorch_put_path(r, path)
   && !zt_renamed_name(&r->leaves, &r->paths, r->values.p, path, &path, r->b->err) ){
    pytorch_put_path(r, path);
  }
  zt_torch_put(r->read->pickle, found->node, found->shown, &r->values);
  r->n++;
}

static void pytorch_put(void *context, const zt_torch_found *found){
  pytorch_reader *r = context;
  if( !pytorch_has_room(r, found->size) ) return;
  if( found->tensor ) zt_torch_add_tensor(&r->objects, found->path, found->tensor);
  else if( found->array ) zt_torch_add_array(&r->objects, found->path, found->array);
  else pytorch_put_leaf(r, found);
}

/* Read a pickle and all of its values. */
static int pytorch_read(pytorch_reader *r, zt_torch_which which, zt_text prefix){
  const zt_torch_visitor put = { pytorch_put, r, false };
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
    pytorch_walk(r, &put);
    zt_torch_objects_reset(&r->objects);
  }
  zt_torch_pickle_clear(&read);
  return r->b->err->rc;
}

static void pytorch_put_optional(zt_cbor_out *o, zt_text key, zt_text value){
  zt_cbor_put_text(o, key);
  if( value.z ) zt_cbor_put_text(o, value);
  else zt_cbor_put_null(o);
}

/* The manifest: the file's own fields, and the leaves, which are also its attributes. */
static int pytorch_keep_manifest(pytorch_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  zt_cbor_out head = { .err = r->b->err };
  uint32_t at, values;
  size_t map;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, 4);
  zt_cbor_put_text(&head, ZT_TEXT("archive"));
  if( f->archive.z ){
    zt_cbor_put_name(&head, (zt_span){ (const uint8_t*)f->archive.z, f->archive.n });
  }else{
    zt_cbor_put_null(&head);
  }
  pytorch_put_optional(&head, ZT_TEXT("version"), f->version);
  pytorch_put_optional(&head, ZT_TEXT("byteorder"), f->byte_order);
  zt_cbor_put_text(&head, ZT_TEXT("leaves"));
  map = head.n;
  zt_cbor_put_head(&head, ZT_CBOR_MAP, r->n);
  if( !r->b->err->rc && zt_builder_keep(r->b, head.p, head.n, &at)==SQLITE_OK
   && zt_builder_keep(r->b, r->values.p, r->values.n, &values)==SQLITE_OK ){
    c->manifest = zt_manifest_map(at, 0);
    c->attributes = zt_manifest_map(at+map, 0);
  }
  zt_cbor_out_clear(&head);
  return r->b->err->rc;
}

static int pytorch_read_all(pytorch_reader *r){
  zt_container *c = r->b->container;
  const zt_torch_file *f = r->file;
  uint32_t at = 0;
  zt_builder_reserve(r->b, f->storages, f->storages);
  if( zt_builder_keep(r->b, "", 1, &at) ) return r->b->err->rc;   /* Position 0 means none */
  if( f->version.n ){
    if( zt_builder_keep(r->b, f->version.z, f->version.n, &at) ) return r->b->err->rc;
    c->version = (zt_text){ (const char*)c->kept.p+at, f->version.n };
  }
  if( pytorch_read(r, ZT_TORCH_DATA, ZT_TEXT(""))
   || pytorch_read(r, ZT_TORCH_CONSTANTS, ZT_TEXT("constants")) ) return r->b->err->rc;
  return pytorch_keep_manifest(r);
}

static int pytorch_open_file(zt_builder *b, zt_torch_file *file){
  pytorch_reader r = {
    .b = b, .file = file, .objects = { .b = b, .file = file, .attributes = { .err = b->err } },
    .values = { .err = b->err }, .paths = { .interrupt = b->interrupt }
  };
  b->container->rules = ZT_RULE_VIEWS;
  b->container->gap = UINT64_MAX;   /* Local headers, and records that are not storages */
  pytorch_read_all(&r);
  zt_torch_objects_clear(&r.objects);
  zt_cbor_out_clear(&r.values);
  zt_keys_clear(&r.paths);
  zt_renamed_clear(&r.leaves);
  return b->err->rc;
}

static zt_probe pytorch_probe(const zt_head_tail *input, zt_error *err){
  return zt_torch_kind_of(input, err)==ZT_TORCH_NONE ? ZT_PROBE_NO : ZT_PROBE_YES;
}

/* PT1 */
static int pytorch_open(zt_builder *b, const zt_head_tail *input){
  zt_torch_kind kind = zt_torch_kind_of(input, b->err);
  zt_torch_file *file = NULL;
  if( b->err->rc ) return b->err->rc;
  if( kind==ZT_TORCH_TAR ){
    return zt_break(b->err, "PT1", "a file of PyTorch before 0.1.10, which is a tar archive: it is "
                    "not read");
  }
  if( kind==ZT_TORCH_ZIP ) zt_torch_open_archive(b, input, &file);
  else zt_torch_open_legacy(b, input, &file);
  if( file ) pytorch_open_file(b, file);
  zt_torch_close(file);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         `torch.save`, `torch.jit.save`
**   known by     a zip archive with `data.pkl`; before 1.6 several
**                pickles in sequence
**   version      the archive's version; `1001`
**   manifest     the pickle's leaves and tensors
**   attributes   every leaf except tensors, by its dotted path
**   objects      in the pickle's order, by their dotted paths
**   of objects   `storage`, `storage_offset`, `stride`, `contiguous`, `requires_grad`, `parameter`,
**                `location`, `storage_elements`, `view`, `quantizer`, `conj`, `neg`
**   components   `data`: from the first to the last element of the view in its storage. Sparse:
**                `values`, `indices`, `indptr`. Nested: `values`, `sizes`, `strides`, `offsets`
*/
const zt_driver zt_driver_pytorch = {
  .name = "pytorch",
  .format = "pytorch",
  .files = "*.pt *.pth *.ckpt *.ptl *model*.bin",
  .rules = { zt_rules_zip, zt_rules_pickle, pytorch_rules },
  .probe = pytorch_probe,
  .open = pytorch_open,
  .object = zt_torch_object,
  .component = zt_torch_component,
  .steps = &zt_manifest_steps,
};
