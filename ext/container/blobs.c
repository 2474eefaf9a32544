/* Blobs in the order of their offsets. See blobs.h. */
#include "container/blobs.h"

#include "core/sort.h"

/* By shard, offset, length and component; no two blobs are equal. */
static int blobs_compare(const void *unused, const void *a, const void *b){
  const zt_blob *x = a, *y = b;
  (void)unused;
  if( x->shard!=y->shard ) return x->shard<y->shard ? -1 : 1;
  if( x->offset!=y->offset ) return x->offset<y->offset ? -1 : 1;
  if( x->length!=y->length ) return x->length<y->length ? -1 : 1;
  return x->component<y->component ? -1 : 1;
}

#define BLOBS_POLL_COMPONENTS 65536   /* Components between checks for an interrupt */
#define BLOBS_DIGIT 11   /* Bits of one pass of the sort */

/* Copy n blobs, stably sorted by one digit of their offset or shard. */
static void blobs_sort_digit(const zt_blob *from, zt_blob *to, uint32_t n, unsigned shift,
                             bool by_shard){
  uint32_t count[1<<BLOBS_DIGIT] = { 0 }, sum = 0;
#define BLOBS_DIGIT_OF(blob) \
  ((size_t)((by_shard ? (blob).shard : (blob).offset) >> shift & ((1<<BLOBS_DIGIT)-1)))
  for(uint32_t i=0; i<n; i++) count[BLOBS_DIGIT_OF(from[i])]++;
  for(size_t d=0; d<(size_t)1<<BLOBS_DIGIT; d++){
    uint32_t c = count[d];
    count[d] = sum;
    sum += c;
  }
  for(uint32_t i=0; i<n; i++) to[count[BLOBS_DIGIT_OF(from[i])]++] = from[i];
#undef BLOBS_DIGIT_OF
}

/* Radix sort, which skips digits that all blobs share. Blobs of one offset are rare, and are then
** sorted by comparison. */
static int blobs_sort(zt_blobs *b, const zt_interrupt *interrupt, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(zt_blob), .compare = blobs_compare, .interrupt = interrupt
  };
  zt_blob *other = sqlite3_malloc64((uint64_t)b->n*sizeof(*other)), *swap;
  uint64_t offsets = 0;
  uint32_t shards = 0, i = 0, k;
  if( !other ) return zt_fail_nomem(err);
  zt_os_advise_large(other, b->n*sizeof(*other));
  for(k=1; k<b->n; k++){
    offsets |= b->a[k].offset ^ b->a[0].offset;
    shards |= b->a[k].shard ^ b->a[0].shard;
  }
  for(unsigned shift=0; shift<96; shift+=BLOBS_DIGIT){
    bool by_shard = shift>=66;
    unsigned from = by_shard ? shift-66 : shift;
    if( ((by_shard ? shards : offsets) >> from & ((1<<BLOBS_DIGIT)-1))==0 ) continue;
    blobs_sort_digit(b->a, other, b->n, from, by_shard);
    swap = b->a; b->a = other; other = swap;
    if( zt_interrupt_check(interrupt, err) ) goto end;
  }
  for(; i<b->n; i=k){
    bool ascend = true;
    for(k=i+1; k<b->n && b->a[k].shard==b->a[i].shard && b->a[k].offset==b->a[i].offset; k++){
      ascend &= blobs_compare(NULL, &b->a[k-1], &b->a[k])<0;
    }
    if( !ascend && zt_sort(b->a+i, k-i, &by, err) ) goto end;
  }
end:
  sqlite3_free(other);
  return err->rc;
}

/* Append a blob; false if it is out of order. */
static bool blobs_add(zt_blobs *out, zt_blob blob){
  out->a[out->n] = blob;
  return out->n++==0 || blobs_compare(NULL, &out->a[out->n-2], &out->a[out->n-1])<0;
}

int zt_blobs_sort(const zt_container *c, const zt_interrupt *interrupt, zt_blobs *out,
                  zt_error *err){
  bool sorted = true;
  uint64_t offsets = 0;
  *out = (zt_blobs){
    .a = sqlite3_malloc64(((uint64_t)zt_container_components(c)+1)*sizeof(*out->a)),
    .end = zt_container_begin(c)
  };
  if( !out->a ) return zt_fail_nomem(err);
  zt_os_advise_large(out->a, ((size_t)zt_container_components(c)+1)*sizeof(*out->a));
  for(uint32_t i=0; i<zt_container_objects(c); i++){
    for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++){
      zt_component component;
      uint32_t shard;
      if( k%BLOBS_POLL_COMPONENTS==BLOBS_POLL_COMPONENTS-1 && zt_interrupt_check(interrupt, err) ){
        return err->rc;
      }
      zt_container_component(c, i, k, ZT_COMPONENT_OFFSET|ZT_COMPONENT_LENGTH|ZT_COMPONENT_SHARD,
                             &component);
      /* The manifest has the bytes that are kept */
      out->unsized |= component.unsized && component.codec!=ZT_CODEC_KEPT;
      if( component.length==0 || component.scattered ) continue;
      /* Another file, behind an archive of which this one is a member */
      if( !component.shard.z && component.offset>=zt_container_end(c) ) continue;
      if( !component.shard.z ) offsets |= component.offset;
      shard = zt_container_shard_number(c, component.shard);
      if( component.shard.z && shard==0 ) continue;   /* An archive has no such file */
      sorted &= blobs_add(out, (zt_blob){ component.offset, component.length, shard, i, k });
    }
  }
  out->alignment = offsets & (~offsets+1);
  if( zt_container_manifest_length(c) ){
    sorted &= blobs_add(out,
                        (zt_blob){ zt_container_manifest_offset(c), zt_container_manifest_length(c),
                                   0, ZT_BLOB_MANIFEST, UINT32_MAX });
  }
  return sorted ? SQLITE_OK : blobs_sort(out, interrupt, err);
}

void zt_blobs_clear(zt_blobs *b){
  sqlite3_free(b->a);
  *b = (zt_blobs){ 0 };
}

bool zt_blobs_next(const zt_container *c, zt_blobs *b, zt_blob_step *out){
  const zt_blob *blob = &b->a[b->next];
  bool own = b->next==0 || b->a[b->next-1].shard==0;
  *out = (zt_blob_step){ .gap = b->end };
  /* All blobs of this file are done */
  if( own && b->end!=UINT64_MAX && (b->next==b->n || blob->shard>0) ){
    out->end = zt_container_end(c);
    b->end = UINT64_MAX;
    return true;
  }
  if( b->next==b->n ) return false;
  out->blob = blob;
  /* The first blob in a shard */
  if( b->end==UINT64_MAX || (b->next>0 && blob[-1].shard!=blob->shard) ) b->end = 0;
  if( blob->shard==0 ) out->end = blob->offset;
  if( b->next>0 && blob->offset<b->end
   && !(blob[-1].offset==blob->offset && blob[-1].length==blob->length) ){
    out->other = &b->a[b->furthest];
  }
  if( blob->offset+blob->length>b->end ){
    b->end = blob->offset+blob->length;
    b->furthest = b->next;
  }
  b->next++;
  return true;
}

/* "object 'w': component 'data'"; NULL if memory is short. */
static char *blobs_describe(const zt_container *c, const zt_blob *blob){
  zt_component component;
  zt_text name;
  if( blob->object==ZT_BLOB_MANIFEST ) return sqlite3_mprintf("the manifest");
  name = zt_container_name(c, blob->object);
  zt_container_component(c, blob->object, blob->component, ZT_COMPONENT_ROLE, &component);
  return sqlite3_mprintf("object '%.*s': component '%.*s'", zt_shown(name), name.z,
                         zt_shown(component.role), component.role.z);
}

int zt_blobs_fail(const zt_container *c, const zt_blob_step *step, const char *rule, zt_error *err){
  const zt_blob *blob = step->blob, *other = step->other;
  zt_component component = { 0 };
  char *z;
  if( blob->object==ZT_BLOB_MANIFEST ){   /* The manifest is no place of a message */
    blob = step->other;
    other = step->blob;
  }
  err->object = zt_container_name(c, blob->object);
  zt_container_component(c, blob->object, blob->component, ZT_COMPONENT_ROLE, &component);
  err->component = component.role;
  z = blobs_describe(c, other);
  if( !z ) return zt_fail_nomem(err);
  zt_break(err, rule, "bytes %llu to %llu overlap those of %s, %llu to %llu", blob->offset,
           blob->offset+blob->length, z, other->offset, other->offset+other->length);
  sqlite3_free(z);
  return err->rc;
}
