/* The kinds of PyTorch's files. See torch_probe.h. */
#include "container/torch_probe.h"

#include "container/within.h"
#include "core/host.h"

#define TORCH_TAR_HEADER 512   /* Bytes of a tar archive's first header */
#define TORCH_LOCAL 30         /* Bytes of a local header before the name (zip) */
#define TORCH_PICKLE "/data.pkl"

zt_text zt_torch_archive(const zt_zip *zip){
  zt_zip_member first;
  const char *slash;
  if( zt_zip_members(zip)==0 ) return ZT_TEXT("");
  zt_zip_member_at(zip, 0, &first);
  slash = first.name.n ? memchr(first.name.z, '/', first.name.n) : NULL;
  return slash ? (zt_text){ first.name.z, (size_t)(slash-first.name.z) } : ZT_TEXT("");
}

/* The kind by the first bytes. */
static zt_torch_kind torch_guess(const zt_head_tail *input, const uint8_t *p, size_t n){
  static const char *const members[] = { "storages", "tensors", "pickle", "sys_info" };
  if( zt_zip_probe(input) ) return ZT_TORCH_ZIP;
  if( zt_within_is_torch(p, n) ) return ZT_TORCH_PICKLES;
  if( n<TORCH_TAR_HEADER || memcmp(p+257, "ustar", 5)!=0 ) return ZT_TORCH_NONE;
  for(size_t i=0; i<sizeof(members)/sizeof(*members); i++){
    size_t length = strlen(members[i]);
    if( memcmp(p, members[i], length)==0 && (p[length]==0 || p[length]=='/') ){
      return ZT_TORCH_TAR;
    }
  }
  return ZT_TORCH_NONE;
}

/* True if the archive has that record below X/. */
static bool torch_has(zt_zip *zip, zt_text archive, const char *name, zt_error *err){
  const size_t n = strlen(name);
  char *z;
  bool found;
  if( err->rc ) return false;
  z = sqlite3_malloc64(archive.n+n);
  if( !z ) return zt_fail_nomem(err)==SQLITE_OK;
  memcpy(z, archive.z, archive.n);
  memcpy(z+archive.n, name, n);
  found = zt_zip_find(zip, (zt_text){ z, archive.n+n }, err)>=0;
  sqlite3_free(z);
  return found;
}

/* True if a zip archive's directory has torch's records. Its faults are reported on opening. */
static bool torch_lists_records(const zt_head_tail *input, zt_error *err){
  zt_error failed = { .path = err->path };
  zt_zip *zip = NULL;
  zt_text archive;
  bool found = false;
  if( zt_zip_of(input, &zip, &failed)==SQLITE_OK ){
    archive = zt_torch_archive(zip);
    found = torch_has(zip, archive, TORCH_PICKLE, &failed)
         || torch_has(zip, archive, "/data/0", &failed);
  }
  if( failed.rc==SQLITE_ERROR && failed.rule ) zt_error_clear(&failed);
  else if( failed.rc ) *err = failed;
  return found;
}

/* True if an archive has torch's records. The first member is usually the pickle. */
static bool torch_has_records(const zt_head_tail *input, const uint8_t *p, size_t n, zt_error *err){
  static const char name[] = TORCH_PICKLE;
  const size_t length = n>TORCH_LOCAL ? zt_le16(p+26) : 0, end = TORCH_LOCAL+length;
  if( end>n || !memchr(p+TORCH_LOCAL, '/', length) ) return false;
  if( length>=sizeof(name)-1 && memcmp(p+end-(sizeof(name)-1), name, sizeof(name)-1)==0 ){
    return true;
  }
  return torch_lists_records(input, err);
}

zt_torch_kind zt_torch_kind_of(const zt_head_tail *input, zt_error *err){
  uint8_t head[TORCH_TAR_HEADER];
  const size_t n = input->size<sizeof(head) ? (size_t)input->size : sizeof(head);
  zt_torch_kind kind;
  if( zt_zip_probe_program(input) && !zt_source_is_range(input->source) ){   /* As archive.c does */
    return torch_lists_records(input, err) ? ZT_TORCH_ZIP : ZT_TORCH_NONE;
  }
  /* Most other files end here, without a read */
  if( n==0 || !input->head.p[0] || !strchr("P\x80Lstp", input->head.p[0]) ) return ZT_TORCH_NONE;
  if( zt_source_read(input->source, 0, head, n, err) ) return ZT_TORCH_NONE;
  kind = torch_guess(input, head, n);
  return kind==ZT_TORCH_ZIP && !torch_has_records(input, head, n, err) ? ZT_TORCH_NONE : kind;
}

