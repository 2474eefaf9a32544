/*
** Writing npz as numpy.savez and savez_compressed do (APPNOTE.TXT 4.3).
**
**   file    := { local array } { entry } end     ; an array is NAME.npy (npy_encoder.c), stored or
**                                                ; deflated
**   local   := a local header, always with the sizes of zip64. Sizes and CRC are filled in when the
**              array is written. Members of a file that is updated keep their bytes, as they are
**              stored, with CRC and sizes
**   entry   := of the central directory; zip64 for sizes and offsets beyond 2^31-1
**   end     := of the directory, after those of zip64 if there are more than 65,535 members, or the
**              directory is longer than 2^31-1 bytes or begins behind them
** All members are of 1980-01-01, and of mode 0600. Names beyond ASCII have the flag for UTF-8.
*/
#include "container/npy_encoder.h"

#include "container/encoder_checks.h"
#include "container/encoder_kept.h"
#include "container/zip.h"
#include "core/host.h"

#define NPZ_SUFFIX ".npy"
#define NPZ_SUFFIX_SIZE 4
#define NPZ_NAME_MAX (65535-NPZ_SUFFIX_SIZE)
#define NPZ_LEVEL 6                       /* zlib's default, which numpy takes */
#define NPZ_SMALL ((uint64_t)INT32_MAX)   /* zipfile takes zip64 beyond */
#define NPZ_LOCAL 30                      /* Bytes of the fixed parts */
#define NPZ_LOCAL_CRC 14
#define NPZ_EXTRA 20
#define NPZ_ENTRY 46
#define NPZ_END64 76
#define NPZ_END 22
#define NPZ_VERSION 45                    /* That of zip64 */
#define NPZ_UNIX 3
#define NPZ_UTF8 0x800                    /* A flag: the name is UTF-8 */
#define NPZ_DATE 0x21                     /* 1980-01-01 */
#define NPZ_MODE 0x01800000u               /* 0600 of Unix */

/* --- Checks --- */

static int npz_check_object(const zt_draft *draft, uint32_t object, zt_error *err){
  const zt_text name = zt_draft_name(draft, object);
  if( zt_encoder_check_name("npz", "object", name, NPZ_NAME_MAX, err) ) return err->rc;
  return zt_npy_check_object("npz", draft, object, err);
}

static int npz_check_attribute(const zt_draft_attribute *attribute, bool of_object,
                               zt_error *err){
  return zt_npy_fail_attribute("npz", attribute, of_object, err);
}

/* numpy takes the name of a member, too, as the name of an array, and first: of `a` and `a.npy` it
** would read the former twice. */
static int npz_check_draft(const zt_draft *draft, zt_error *err){
  for(uint32_t i=0; i<zt_draft_objects(draft); i++){
    zt_text name = zt_draft_name(draft, i);
    err->object = name;
    if( name.n<NPZ_SUFFIX_SIZE ) continue;
    name.n -= NPZ_SUFFIX_SIZE;
    if( memcmp(name.z+name.n, NPZ_SUFFIX, NPZ_SUFFIX_SIZE)==0 && zt_draft_find(draft, name)>=0 ){
      return zt_fail(err, SQLITE_ERROR, "numpy would read this name as that of '%.*s'; rename one",
                     zt_shown(name), name.z);
    }
  }
  err->object.z = NULL;
  return SQLITE_OK;
}

/* --- Headers --- */

/* Put numbers of 2, 4 or 8 bytes one after the other. */
static uint8_t *npz_put_le(uint8_t *p, uint64_t u, unsigned n){
  zt_put_le(p, u, n);
  return p+n;
}

/* The fields that a local header and an entry begin with behind their signatures: versions, flags,
** method, time, date and CRC. */
static uint8_t *npz_put_common(uint8_t *p, const zt_encoder_run *run, uint32_t object,
                               uint32_t crc){
  const zt_text name = zt_draft_name(run->draft, object);
  zt_draft_component data;
  bool ascii = true;
  zt_draft_data(run->draft, object, &data);
  for(size_t i=0; i<name.n && ascii; i++) ascii = (uint8_t)name.z[i]<0x80;
  p = npz_put_le(p, NPZ_VERSION, 2);
  p = npz_put_le(p, ascii ? 0 : NPZ_UTF8, 2);
  p = npz_put_le(p, data.codec==ZT_CODEC_DEFLATE ? ZT_ZIP_DEFLATE : ZT_ZIP_STORED, 2);
  p = npz_put_le(p, 0, 2);
  p = npz_put_le(p, NPZ_DATE, 2);
  return npz_put_le(p, crc, 4);
}

static int npz_append_name(zt_encoder_run *run, uint32_t object, zt_error *err){
  const zt_text name = zt_draft_name(run->draft, object);
  const zt_span suffix = { (const uint8_t*)NPZ_SUFFIX, NPZ_SUFFIX_SIZE };
  if( zt_output_append(run->output, (zt_span){ (const uint8_t*)name.z, name.n }, err) ){
    return err->rc;
  }
  return zt_output_append(run->output, suffix, err);
}

/* Append a local header without sizes and CRC. */
static int npz_append_local(zt_encoder_run *run, uint32_t object, zt_error *err){
  uint8_t bytes[NPZ_LOCAL], extra[NPZ_EXTRA] = { 1, 0, 16 };
  uint8_t *p = npz_put_le(bytes, 0x04034b50, 4);
  p = npz_put_common(p, run, object, 0);
  p = npz_put_le(p, UINT32_MAX, 4);
  p = npz_put_le(p, UINT32_MAX, 4);
  p = npz_put_le(p, zt_draft_name(run->draft, object).n+NPZ_SUFFIX_SIZE, 2);
  npz_put_le(p, NPZ_EXTRA, 2);
  if( zt_output_append(run->output, (zt_span){ bytes, sizeof(bytes) }, err)
   || npz_append_name(run, object, err) ) return err->rc;
  return zt_output_append(run->output, (zt_span){ extra, sizeof(extra) }, err);
}

/* Facts of a written member that the draft does not keep. */
typedef struct npz_written {
  uint64_t decoded;          /* Bytes of the array with its header, */
  uint32_t crc;              /* and theirs */
} npz_written;

/* The facts of a member that is kept, which its archive's directory states. */
static npz_written npz_kept(const zt_encoder_run *run, uint32_t kept){
  npz_written out = { .crc = 0 };
  zt_component c;
  zt_container_component(run->kept, kept, zt_container_first(run->kept, kept), ZT_COMPONENT_ALL,
                         &c);
  out.decoded = c.codec==ZT_CODEC_RAW ? c.length : c.skip+c.decoded_length+c.behind;
  for(size_t i=0; i<8; i++){   /* "crc32:" and eight digits (npz.c) */
    const char digit = c.digest.z[6+i];
    out.crc = out.crc<<4 | (uint32_t)(digit<='9' ? digit-'0' : digit-'a'+10);
  }
  return out;
}

/* Deflated or stored, and the directory tells how long it is. */
static bool npz_keeps(const zt_container *c, uint32_t object, zt_component *component){
  return zt_encoder_keeps_all(c, object, component)
      && (component->codec==ZT_CODEC_RAW || component->codec==ZT_CODEC_DEFLATE);
}

static int npz_append_member(zt_encoder_run *run, uint32_t object, npz_written *out,
                             zt_error *err){
  const uint64_t local = zt_output_size(run->output);
  uint8_t bytes[4], sizes[16];
  const zt_span none = { NULL, 0 };   /* The bytes of a kept member begin with its header */
  zt_draft_object o;
  zt_stored stored;
  zt_draft_object_get(run->draft, object, &o);
  if( npz_append_local(run, object, err)
   || zt_npy_write_array(run, object, none, &stored, &out->decoded, err) ) return err->rc;
  out->crc = stored.crc32;
  if( o.kept ) *out = npz_kept(run, o.kept-1);
  npz_put_le(bytes, out->crc, 4);
  npz_put_le(npz_put_le(sizes, out->decoded, 8), stored.length, 8);
  if( zt_output_patch(run->output, local+NPZ_LOCAL_CRC, (zt_span){ bytes, 4 }, err) ){
    return err->rc;
  }
  return zt_output_patch(run->output, stored.offset-sizeof(sizes), (zt_span){ sizes, 16 }, err);
}

/* --- Directory --- */

/* A written member, as its entry describes it. */
typedef struct npz_entry {
  uint64_t local, stored, decoded;
  uint32_t crc;
} npz_entry;

static int npz_append_entry(zt_encoder_run *run, uint32_t object, const npz_entry *e,
                            zt_error *err){
  const bool large = e->stored>NPZ_SMALL || e->decoded>NPZ_SMALL, far = e->local>NPZ_SMALL;
  const unsigned nExtra = (large || far ? 4u : 0u) + 16u*large + 8u*far;
  uint8_t bytes[NPZ_ENTRY] = { 0 }, extra[4+24], *p = npz_put_le(bytes, 0x02014b50, 4);
  p = npz_put_le(p, NPZ_VERSION, 1);
  p = npz_put_le(p, NPZ_UNIX, 1);
  p = npz_put_common(p, run, object, e->crc);
  p = npz_put_le(p, large ? UINT32_MAX : e->stored, 4);
  p = npz_put_le(p, large ? UINT32_MAX : e->decoded, 4);
  p = npz_put_le(p, zt_draft_name(run->draft, object).n+NPZ_SUFFIX_SIZE, 2);
  p = npz_put_le(p, nExtra, 2);
  p = npz_put_le(p+6, NPZ_MODE, 4);   /* No comment, disk 0, no internal attributes */
  npz_put_le(p, far ? UINT32_MAX : e->local, 4);
  p = npz_put_le(npz_put_le(extra, 1, 2), nExtra-4, 2);
  if( large ) p = npz_put_le(npz_put_le(p, e->decoded, 8), e->stored, 8);
  if( far ) npz_put_le(p, e->local, 8);
  if( zt_output_append(run->output, (zt_span){ bytes, sizeof(bytes) }, err)
   || npz_append_name(run, object, err) ) return err->rc;
  return zt_output_append(run->output, (zt_span){ extra, nExtra }, err);
}

/* The records of zip64 at the directory's end, which say where it is. */
static int npz_append_end64(zt_encoder_run *run, uint64_t offset, uint64_t size, zt_error *err){
  const uint64_t n = zt_draft_objects(run->draft);
  uint8_t bytes[NPZ_END64], *p = npz_put_le(bytes, 0x06064b50, 4);
  p = npz_put_le(p, 44, 8);
  p = npz_put_le(npz_put_le(p, NPZ_VERSION, 2), NPZ_VERSION, 2);
  p = npz_put_le(npz_put_le(p, 0, 4), 0, 4);
  p = npz_put_le(npz_put_le(p, n, 8), n, 8);
  p = npz_put_le(npz_put_le(p, size, 8), offset, 8);
  p = npz_put_le(p, 0x07064b50, 4);
  p = npz_put_le(p, 0, 4);
  p = npz_put_le(p, offset+size, 8);
  npz_put_le(p, 1, 4);
  return zt_output_append(run->output, (zt_span){ bytes, sizeof(bytes) }, err);
}

static uint64_t npz_clipped(uint64_t u, uint64_t most){ return u<most ? u : most; }

static int npz_append_end(zt_encoder_run *run, uint64_t offset, zt_error *err){
  const uint64_t n = zt_draft_objects(run->draft), size = zt_output_size(run->output)-offset;
  uint8_t bytes[NPZ_END] = { 0 }, *p = npz_put_le(bytes, 0x06054b50, 4)+4;   /* Disks 0 and 0 */
  if( (n>UINT16_MAX || offset>NPZ_SMALL || size>NPZ_SMALL)
   && npz_append_end64(run, offset, size, err) ) return err->rc;
  p = npz_put_le(p, npz_clipped(n, UINT16_MAX), 2);
  p = npz_put_le(p, npz_clipped(n, UINT16_MAX), 2);
  p = npz_put_le(p, npz_clipped(size, UINT32_MAX), 4);
  npz_put_le(p, npz_clipped(offset, UINT32_MAX), 4);
  return zt_output_append(run->output, (zt_span){ bytes, sizeof(bytes) }, err);
}

/* Offsets and stored lengths are the draft's. */
static int npz_append_directory(zt_encoder_run *run, const npz_written *members, zt_error *err){
  const uint64_t offset = zt_output_size(run->output);
  for(uint32_t i=0; i<zt_draft_objects(run->draft) && !err->rc; i++){
    const uint32_t object = run->order[i];
    const size_t nName = zt_draft_name(run->draft, object).n+NPZ_SUFFIX_SIZE;
    zt_draft_component data;
    npz_entry e = { .crc = members[i].crc, .decoded = members[i].decoded };
    zt_draft_data(run->draft, object, &data);
    e.local = data.offset-NPZ_EXTRA-nName-NPZ_LOCAL;
    e.stored = data.length;
    npz_append_entry(run, object, &e, err);
  }
  return err->rc ? err->rc : npz_append_end(run, offset, err);
}

static int npz_write(zt_encoder_run *run, zt_error *err){
  const uint32_t n = zt_draft_objects(run->draft);
  npz_written *members = sqlite3_malloc64(((uint64_t)n+1)*sizeof(*members));
  if( !members ) return zt_fail_nomem(err);
  run->crc32 = true;
  for(uint32_t i=0; i<n && !err->rc; i++){
    npz_append_member(run, run->order[i], &members[i], err);
  }
  if( !err->rc ) npz_append_directory(run, members, err);
  sqlite3_free(members);
  return err->rc;
}

extern const zt_driver zt_driver_npz;

const zt_encoder zt_encoder_npz = {
  .name = "npz", .driver = &zt_driver_npz, .suffix = ".npz",
  .defaults = { .codec = ZT_CODEC_RAW, .level = NPZ_LEVEL },
  .codecs = 1u<<ZT_CODEC_RAW | 1u<<ZT_CODEC_DEFLATE, .rules = ZT_RULE_CANONICAL_VALUES,
  .keeps = npz_keeps, .check_object = npz_check_object, .check_attribute = npz_check_attribute,
  .check_draft = npz_check_draft, .compare = zt_draft_compare_names, .write = npz_write
};
