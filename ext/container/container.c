/* Opening a container, and decoding from its manifest. See container.h. */
#include "container/driver.h"

#include <assert.h>
#include "core/host.h"

#define CONTAINER_HEAD 8
#define CONTAINER_PIECE ((size_t)16 << 20)   /* Bytes of a manifest that are read at once */
#define CONTAINER_TAIL 48   /* Longest footer of any format, rounded up; short enough to stay clear
                            ** of the blobs before a manifest */

/* Read the two ends of a source into buffer, CONTAINER_HEAD+CONTAINER_TAIL bytes. */
static int container_read_ends(zt_source *source, uint8_t *buffer, zt_ends *out, zt_error *err){
  uint64_t size = zt_source_size(source);
  size_t nHead = size<CONTAINER_HEAD ? (size_t)size : CONTAINER_HEAD;
  size_t nTail = size<CONTAINER_TAIL ? (size_t)size : CONTAINER_TAIL;
  if( zt_source_read(source, 0, buffer, nHead, err) ) return err->rc;
  if( zt_source_read(source, size-nTail, buffer+CONTAINER_HEAD, nTail, err) ) return err->rc;
  *out = (zt_ends){ size, { buffer, nHead }, { buffer+CONTAINER_HEAD, nTail } };
  return SQLITE_OK;
}

static void container_clear_index(zt_container *c){
  zt_keys_clear(&c->shards);
  zt_keys_clear(&c->names);
  zt_positions_clear(&c->first);
  zt_positions_clear(&c->components);
}

/* Walk the manifest. If strings in chunks were met, join them and walk again: what the first walk
** found wrong may be a consequence of not knowing them. */
static int container_walk(zt_container *c, const zt_interrupt *interrupt, zt_error *err){
  zt_cbor cbor;
  for(;;){
    container_clear_index(c);
    zt_keys_init(&c->shards, zt_container_manifest(c));
    zt_keys_init(&c->names, zt_container_manifest(c));
    c->shards.interrupt = c->names.interrupt = interrupt;
    zt_cbor_init(&cbor, c->manifest, c->nManifest, err);
    zt_cbor_set_interrupt(&cbor, interrupt);
    cbor.rewritten = c->nManifest!=c->extent.length;
    c->driver->walk(c, &cbor);
    if( !cbor.chunked || (err->rc && err->rc!=SQLITE_ERROR) ) break;
    zt_error_clear(err);
    err->object.z = err->component.z = NULL;
    c->nManifest = zt_cbor_join(c->manifest, c->nManifest, interrupt, err);
    if( err->rc ) break;
  }
  c->shards.interrupt = c->names.interrupt = NULL;
  zt_positions_trim(&c->shards.at);
  zt_positions_trim(&c->names.at);
  zt_positions_trim(&c->first);
  zt_positions_trim(&c->components);
  return err->rc;
}

/* No driver claims the file: say what it is, if that is plain. */
static int container_fail_magic(const zt_ends *ends, zt_error *err){
  if( ends->size==0 ) return zt_break(err, "T1", "the file is empty");
  if( ends->head.n==8 && memcmp(ends->head.p, "version ", 8)==0 ){
    return zt_break(err, "T1",
                    "not a zTensor file, but text like a git-lfs pointer's: was it pulled?");
  }
  return zt_break(err, "T1", "not a zTensor file: unknown magic number");
}

/* Read the manifest, in pieces between which it is asked whether to go on. */
static int container_read_manifest(zt_container *c, zt_source *source,
                                   const zt_interrupt *interrupt, zt_error *err){
  for(size_t at=0, n; at<c->nManifest; at+=n){
    n = c->nManifest-at<CONTAINER_PIECE ? c->nManifest-at : CONTAINER_PIECE;
    if( at>0 && zt_interrupt_check(interrupt, err) ) return err->rc;
    if( zt_source_read(source, c->extent.offset+at, c->manifest+at, n, err) ) return err->rc;
  }
  return SQLITE_OK;
}

int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err){
  uint8_t buffer[CONTAINER_HEAD+CONTAINER_TAIL];
  zt_container *c = NULL;
  zt_ends ends = { 0 };
  *out = NULL;
  if( container_read_ends(source, buffer, &ends, err) ) goto end;
  c = sqlite3_malloc64(sizeof(*c));
  if( !c ){
    zt_fail_nomem(err);
    goto end;
  }
  *c = (zt_container){ .references = 1, .file_size = ends.size };
  c->is_file = zt_source_identity(source)!=NULL;
  if( c->is_file ) c->identity = *zt_source_identity(source);
  c->driver = zt_driver_for(&ends);
  if( !c->driver ){
    container_fail_magic(&ends, err);
    goto end;
  }
  if( c->driver->locate(&ends, &c->extent, err) ) goto end;
  assert( zt_claim(ends.size, c->extent.offset, c->extent.length)
       && c->extent.length<=ZT_MAX_MANIFEST );
  c->nManifest = (size_t)c->extent.length;
  c->manifest = sqlite3_malloc64(c->nManifest+1);
  if( !c->manifest ){
    zt_fail_nomem(err);
    goto end;
  }
  zt_os_advise_large(c->manifest, c->nManifest);
  if( container_read_manifest(c, source, interrupt, err) ) goto end;
  container_walk(c, interrupt, err);
end:
  err->object.z = err->component.z = NULL;
  if( err->rc ) zt_container_close(c);
  else *out = c;
  return err->rc;
}

int zt_container_check_format(zt_source *source, const char *generation, zt_error *err){
  uint8_t buffer[CONTAINER_HEAD+CONTAINER_TAIL];
  const zt_driver *driver;
  zt_extent extent;
  zt_ends ends;
  if( container_read_ends(source, buffer, &ends, err) ) return err->rc;
  driver = zt_driver_for(&ends);
  if( driver && strcmp(driver->name, generation)==0 ) return driver->locate(&ends, &extent, err);
  return zt_break(err, "T1", "not a file of zTensor %s: another magic number", generation);
}

zt_container *zt_container_ref(zt_container *c){
  c->references++;
  return c;
}

void zt_container_close(zt_container *c){
  if( !c || --c->references>0 ) return;
  container_clear_index(c);
  sqlite3_free(c->manifest);
  sqlite3_free(c);
}

bool zt_container_is_shared(const zt_container *c){ return c->references>1; }
const char *zt_container_format(const zt_container *c){ return c->driver->format; }
zt_text zt_container_version(const zt_container *c){ return c->version; }
unsigned zt_container_demands(const zt_container *c){ return c->demands; }
bool zt_container_is_newer(const zt_container *c){ return c->newer; }
uint64_t zt_container_gap(const zt_container *c){ return c->driver->gap; }
uint64_t zt_container_manifest_offset(const zt_container *c){ return c->extent.offset; }
uint64_t zt_container_footer_offset(const zt_container *c){ return c->file_size-c->driver->footer; }
zt_attributes zt_container_attributes(const zt_container *c){ return c->attributes; }
zt_span zt_container_manifest(const zt_container *c){
  return (zt_span){ c->manifest, c->nManifest };
}
uint64_t zt_container_manifest_length(const zt_container *c){ return c->extent.length; }
uint64_t zt_container_file_size(const zt_container *c){ return c->file_size; }
const zt_identity *zt_container_identity(const zt_container *c){
  return c->is_file ? &c->identity : NULL;
}
uint32_t zt_container_objects(const zt_container *c){ return c->names.at.n; }
uint32_t zt_container_components(const zt_container *c){ return c->components.n; }
int64_t zt_container_find(const zt_container *c, zt_text name){
  return zt_keys_find(&c->names, name);
}
zt_text zt_container_name(const zt_container *c, uint32_t i){ return zt_keys_text(&c->names, i); }

size_t zt_container_memory(const zt_container *c){
  return sizeof(*c) + (size_t)c->extent.length + zt_keys_memory(&c->shards)
         + zt_keys_memory(&c->names)
         + ((size_t)c->first.capacity + c->components.capacity)*sizeof(uint32_t);
}

void zt_container_decode(const zt_container *c, size_t at, int depth, zt_cbor *out){
  zt_cbor_init_trusted(out, zt_container_manifest(c), at, depth, out->err);
}

void zt_container_object(const zt_container *c, uint32_t i, zt_object *out){
  assert( i<c->names.at.n );
  out->index = i;
  out->format_prefix = "";
  out->foreign = out->one_blob = out->strict = false;
  out->attributes = (zt_attributes){ 0 };
  out->dtype = (zt_text){ NULL, 0 };
  c->driver->object(c, i, out);
}

uint32_t zt_container_first(const zt_container *c, uint32_t object){
  return object<c->first.n ? c->first.a[object] : c->components.n;
}

void zt_container_component(const zt_container *c, uint32_t object, uint32_t k, unsigned want,
                            zt_component *out){
  assert( k>=zt_container_first(c, object) && k<zt_container_first(c, object+1) );
  out->type.z = out->digest.z = out->shard.z = NULL;
  out->foreign = out->has_decoded_length = out->strict = out->digest_is_of_decoded = false;
  out->encoding = ZT_TEXT("raw");
  out->byte_order = ZT_TEXT("little");
  c->driver->component(c, object, k, want, out);
}

uint32_t zt_container_shards(const zt_container *c){ return c->shards.at.n; }

void zt_container_shard(const zt_container *c, uint32_t i, zt_shard *out){
  assert( i<c->shards.at.n );
  c->driver->shard(c, i, out);
}

uint32_t zt_container_shard_number(const zt_container *c, zt_text name){
  return name.z ? (uint32_t)(zt_keys_find(&c->shards, name)+1) : 0;
}

bool zt_container_shard_find(const zt_container *c, zt_text name, zt_shard *out){
  int64_t i = zt_keys_find(&c->shards, name);
  if( i>=0 ) zt_container_shard(c, (uint32_t)i, out);
  return i>=0;
}

bool zt_component_find(const zt_container *c, uint32_t object, zt_text role, zt_component *out){
  for(uint32_t k=zt_container_first(c, object), end=zt_container_first(c, object+1); k<end; k++){
    zt_container_component(c, object, k, ZT_COMPONENT_ROLE, out);
    if( !zt_text_equal(out->role, role) ) continue;
    zt_container_component(c, object, k, ZT_COMPONENT_ALL, out);
    return true;
  }
  return false;
}

bool zt_component_values(const zt_container *c, uint32_t object, zt_component *out){
  static const zt_text roles[] = {
    ZT_TEXT_INIT("data"), ZT_TEXT_INIT("values"), ZT_TEXT_INIT("packed_weight")
  };
  for(size_t i=0; i<sizeof(roles)/sizeof(*roles); i++){
    if( zt_component_find(c, object, roles[i], out) ) return true;
  }
  return false;
}

void zt_attributes_begin(const zt_container *c, const zt_attributes *a, zt_attribute_walk *it){
  it->attributes = *a;
  it->err = ZT_ERROR_NONE;
  it->cbor.err = &it->err;
  it->level = (zt_cbor_level){ 0 };
  zt_container_decode(c, a->at, a->depth, &it->cbor);
  if( a->at ) zt_cbor_open(&it->cbor, ZT_CBOR_MAP, &it->level);
}

bool zt_attributes_next(zt_attribute_walk *it){
  while( zt_cbor_more(&it->cbor, &it->level) ){
    zt_cbor here = it->cbor;
    zt_text key;
    if( !it->attributes.is_field || zt_cbor_peek(&here)!=ZT_CBOR_TEXT ) return true;
    zt_cbor_text(&here, &key);
    if( !it->attributes.is_field(key) ) return true;
    zt_cbor_skip(&it->cbor);
    zt_cbor_skip(&it->cbor);
  }
  return false;
}
