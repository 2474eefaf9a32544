/*
** Zip archives (zip.c) around files of other formats: DDUF, llamafile, Keras' and any other archive
** in which such a file is stored. A member is a range of the archive, which its own driver opens.
**
**   archive := program? member*
**   member  := a tensor file: its first bytes tell the format, its name does not
**            | anything else, which is skipped
**
** With one tensor file, objects and attributes are called as inside it. With several, the path of
** their member and a slash stand before. numpy's arrays together are one of them, which npz.c
** reads, and are called as in an npz file; archives without other tensor files are its own.
**
**   AR1  the path of a member that is shown is UTF-8, and without U+0000
**   AR2  no two objects have one name
**   AR3  a member that by its name is a tensor file is stored, and not compressed
**   AR4  it is no archive itself, except PyTorch's, and no zTensor file: one begins with its magic
**        number, and is none within another file (zTensor 1.2.0 section 4)
**   AR5  a tensor's bytes are in its member, or in a file that the archive has, too: a member that
**        is stored, at the path that this one names, from its own directory on
**   AR6  at most ARCHIVE_MEMBERS members are tensor files
**   AR7  names take at most ARCHIVE_NAMES_SPARE bytes and ARCHIVE_NAMES_TIMES the archive's size
**   AR9  it is no tensor's elements alone, as PyTorch exports them since 2.8
**   AR8  at least one tensor file is read
**   AR10 members have the CRC-32 that the directory states: a full check reads them
**   AR11 it is a tensor file if its name says so
**
** A member that breaks AR3, AR4 or AR9, or that is a tensor file and cannot be opened, is an object
** without values: it hides no other. If there is no other, and the first such member is broken, its
** fault is the archive's. A member that breaks AR11 is no object, but a finding.
*/
#include "container/archive.h"

#include <assert.h>
#include "container/builder.h"
#include "container/foreign.h"
#include "container/torch_probe.h"
#include "container/zip.h"
#include "core/host.h"
#include "core/paths.h"
#include "core/utf8.h"

#define ARCHIVE_MEMBERS 16384u
#define ARCHIVE_NAMES_SPARE ((uint64_t)1 << 20)
#define ARCHIVE_NAMES_TIMES 8
#define ARCHIVE_POLL 0xFFFFu     /* Objects between checks for an interrupt, less 1 */
#define ARCHIVE_KNOWN_MAX 256     /* Bytes of a member's name that is known */

extern const zt_driver zt_driver_npy, zt_driver_npz;

static const zt_rule archive_rules[] = {
  ZT_ERROR("AR1", "archive-path", "paths of tensor files are UTF-8, and without U+0000 (archive)",
           ZT_SPEC_SENSE),
  ZT_ERROR("AR2", "archive-duplicate", "no two objects have the same name (archive)",
           ZT_SPEC_SENSE),
  ZT_WARNING("AR3", "archive-compressed",
             "a tensor file in an archive is stored, and not compressed", ZT_SPEC_OURS),
  ZT_WARNING("AR4", "archive-in-archive",
             "an archive has no archive in it, except PyTorch's, and no zTensor file",
             ZT_SPEC_ZTENSOR_1("4")),
  ZT_WARNING("AR5", "archive-external",
             "the archive has the bytes of its tensors, and stores them (archive)", ZT_SPEC_OURS),
  ZT_ERROR("AR6", "archive-members", "at most 16,384 members of an archive are tensor files",
           ZT_SPEC_OURS),
  ZT_ERROR("AR7", "archive-names",
           "names take at most 1 MiB plus 8 times the archive's size (archive)", ZT_SPEC_OURS),
  ZT_WARNING("AR9", "archive-raw",
             "a tensor in an archive is in a file that says its type and shape (archive)",
             ZT_SPEC_TORCH),
  ZT_ERROR("AR10", "archive-crc",
           "a member has the CRC-32 that the archive's directory states (archive)",
           ZT_SPEC_ZIP("4.4.7")),
  ZT_WARNING("AR11", "archive-named",
             "a member that is called like a tensor file is one (archive)", ZT_SPEC_SENSE),
  ZT_UNSUPPORTED("AR8", "archive-unread", "an archive has a tensor file that is read",
                 ZT_SPEC_OURS),
  ZT_RULES_END
};

/* --- What members are --- */

/* A member, while it is looked at. */
typedef struct archive_found {
  zt_zip_member zip;
  char local[ARCHIVE_KNOWN_MAX];
  zt_text name;                /* It tells that this is a tensor file: the local header's name, if
                               ** the directory has another (ZP10) */
  uint64_t offset;             /* Of its data; 0: not known */
  zt_source *range;            /* Its bytes, owned. NULL: they cannot be read */
  const zt_driver *driver;     /* NULL: none claims it */
  bool sure;                   /* The driver knows its magic number */
  bool archive;                /* A zip archive, but not PyTorch's */
  bool foreign;                /* Of a format that is known and not read */
  bool named;                  /* By its name alone a tensor file: AR11 */
  bool ztensor;
  bool raw;                    /* Elements, of which another member says what they are */
} archive_found;

/* True if files with the member's name are tensor files. Hidden ones are not: macOS puts ._NAME
** beside each file. */
static bool archive_is_named(zt_text path){
  char name[ARCHIVE_KNOWN_MAX];
  size_t n = path.n;
  while( n>0 && path.z[n-1]!='/' && path.z[n-1]!='\\' ) n--;
  path.z += n;
  path.n -= n;
  if( path.n==0 || path.z[0]=='.' || path.n>=sizeof(name) || zt_has_nul(path.z, path.n) ){
    return false;
  }
  memcpy(name, path.z, path.n);
  name[path.n] = 0;
  return zt_container_files(name);
}

/* True if npz's driver takes a member of that name for an array, even if it is compressed. */
static bool archive_is_array(zt_text path){
  return path.n>=4 && memcmp(path.z+path.n-4, ".npy", 4)==0;
}

/* True for a tensor of torch.export since 2.8: data/weights/weight_0, data/constants/tensor_0. */
static bool archive_is_raw(zt_text path){
  static const zt_text raw[] = {
    ZT_TEXT_INIT("data/weights/weight_"), ZT_TEXT_INIT("data/constants/tensor_")
  };
  size_t n = path.n;
  while( n>0 && path.z[n-1]>='0' && path.z[n-1]<='9' ) n--;
  for(size_t i=0; n<path.n && i<sizeof(raw)/sizeof(*raw); i++){
    if( n<raw[i].n || memcmp(path.z+n-raw[i].n, raw[i].z, raw[i].n)!=0 ) continue;
    if( n==raw[i].n || path.z[n-raw[i].n-1]=='/' ) return true;
  }
  return false;
}

static void archive_found_clear(archive_found *f){
  zt_source_close(f->range);
  f->range = NULL;
}

/* T2 is the fault of bytes of a format that is not read, AR11 that of others whose name says
** more. */
static void archive_identify_foreign(archive_found *f, const zt_head_tail *input, zt_error *err){
  zt_foreign_fail(input, err);
  if( !zt_error_is_of_file(err) ) return;
  f->foreign = err->rule && strcmp(err->rule, "T2")==0;
  f->named = !f->foreign && archive_is_named(f->name);
  if( f->named ) err->rule = "AR11";
  else if( !f->foreign ) zt_error_clear(err);
}

/* Find the driver of a member's bytes. */
static int archive_identify(archive_found *f, const zt_interrupt *interrupt, zt_error *err){
  zt_head_tail_buffer buffer;
  zt_head_tail input = { 0 };
  if( zt_head_tail_read(f->range, NULL, &buffer, &input, err) ) return err->rc;
  input.interrupt = interrupt;
  f->driver = zt_driver_for(&input, err);
  f->sure = !err->rc && f->driver && f->driver->probe(&input, err)==ZT_PROBE_YES;
  f->ztensor = f->driver && strcmp(f->driver->format, "ztensor")==0;
  if( f->ztensor ) f->driver = NULL;
  f->archive = !f->driver && zt_zip_probe(&input);
  f->raw = !f->driver && !f->archive && archive_is_raw(f->name);
  if( !err->rc && !f->driver && !f->archive && !f->ztensor && !f->raw ){
    archive_identify_foreign(f, &input, err);
  }
  zt_zip_close(buffer.zip);
  return err->rc;
}

/* Pass on a failure that is not the file's. */
static int archive_pass_on(zt_error *failed, zt_error *err){
  if( failed->rc && !zt_error_is_of_file(failed) ){
    *err = *failed;
    *failed = ZT_ERROR_NONE;
  }
  return err->rc;
}

/* The name of a member that was not found. */
static int archive_name_locally(zt_zip *zip, const zt_head_tail *input, archive_found *f,
                                zt_error *err){
  zt_text name;
  if( zt_zip_local_name(zip, input->source, &f->zip, f->local, sizeof(f->local), &name, err) ){
    return err->rc;
  }
  if( name.n>0 ) f->name = name;
  return SQLITE_OK;
}

/* Look at member i; *out needs archive_found_clear(). A fault of its own is recorded in failed,
** any other failure in err. */
static int archive_look(zt_zip *zip, const zt_head_tail *input, uint32_t i, archive_found *out,
                        zt_error *failed, zt_error *err){
  size_t got;
  *out = (archive_found){ .offset = 0 };
  zt_zip_member_at(zip, i, &out->zip);
  out->name = out->zip.name;
  if( zt_zip_locate(zip, input->source, &out->zip, &out->offset, NULL, 0, &got, failed)==SQLITE_OK
   && out->zip.method==ZT_ZIP_STORED && out->zip.stored>0
   && zt_source_open_range(input->source, out->offset, out->zip.stored, out->zip.name,
                           &out->range, failed)==SQLITE_OK ){
    archive_identify(out, input->interrupt, failed);
  }else if( failed->rule && strcmp(failed->rule, "ZP10")==0 ){
    archive_name_locally(zip, input, out, err);
  }
  return archive_pass_on(failed, err);
}

/* True if the member is a tensor file, or may be one, that makes the file an archive of such. */
static bool archive_counts(const archive_found *f){
  if( f->driver ) return f->driver!=&zt_driver_npy;
  if( f->archive || f->foreign || f->ztensor || f->raw ) return true;
  return !f->range && f->zip.stored>0 && !archive_is_array(f->name) && archive_is_named(f->name);
}

/* True if a zip archive has a tensor file besides numpy's arrays, or with these a member that is
** one by its name alone. */
static bool archive_has_file(const zt_head_tail *input, zt_zip *zip, zt_error *err){
  bool found = false, arrays = false, named = false;
  for(uint32_t i=0; i<zt_zip_members(zip) && !found && !err->rc; i++){
    zt_error failed = { .path = err->path };
    archive_found f;
    zt_zip_member_at(zip, i, &f.zip);
    if( archive_is_array(f.zip.name) ){   /* Of most archives all members */
      arrays = true;
      continue;
    }
    if( zt_interrupt_check(input->interrupt, err) ) break;
    archive_look(zip, input, i, &f, &failed, err);
    found = !err->rc && archive_counts(&f);
    arrays |= f.driver==&zt_driver_npy;
    named |= f.named;
    archive_found_clear(&f);
    zt_error_clear(&failed);
  }
  return found || (arrays && named && !err->rc);
}

/* --- Opening --- */

typedef struct archive_reader {
  zt_builder *b;
  const zt_head_tail *input;
  zt_zip *zip;                 /* Borrowed */
  zt_archive *archive;
  uint32_t read;               /* Members that were opened */
  bool arrays;                 /* numpy's are among the members */
} archive_reader;

static zt_archive_member *archive_append(archive_reader *r){
  zt_archive *a = r->archive;
  if( a->n==ARCHIVE_MEMBERS ){
    zt_break(r->b->err, "AR6", "more than %u members are tensor files", ARCHIVE_MEMBERS);
    return NULL;
  }
  if( a->n==a->capacity ){
    const uint32_t capacity = a->capacity ? 2*a->capacity : 4;
    zt_archive_member *p = sqlite3_realloc64(a->a, (uint64_t)capacity*sizeof(*p));
    if( !p ){
      zt_fail_nomem(r->b->err);
      return NULL;
    }
    a->a = p;
    a->capacity = capacity;
  }
  a->a[a->n] = (zt_archive_member){ .inner = NULL };
  return &a->a[a->n++];
}

/* AR1. The path is borrowed from the directory until archive_keep_paths(). */
static int archive_check_path(archive_reader *r, zt_text path){
  if( zt_utf8_without_nul(path) ) return SQLITE_OK;
  return zt_break(r->b->err, "AR1", "member '%.*s': a path that is not UTF-8, or has U+0000 in it",
                  zt_shown(path), path.z);
}

/* A member that is not read, for the failure's reason. */
static int archive_add_unread(archive_reader *r, const archive_found *f, const zt_error *failed){
  zt_archive_member *m = archive_append(r);
  char room[ZT_ZIP_ENCODING_MAX];
  zt_codec_id codec;
  zt_text encoding;
  if( !m || archive_check_path(r, f->zip.name) ) return r->b->err->rc;
  encoding = zt_zip_encoding(f->zip.method, room, &codec);
  m->path = f->zip.name;
  m->base = f->offset;
  m->unsized = f->offset==0;
  m->length = m->unsized ? 0 : f->zip.stored;
  m->encoding_length = (uint32_t)encoding.n;
  m->fault_rule = failed->rule;
  if( zt_builder_keep(r->b, encoding.z, encoding.n, &m->encoding) ) return r->b->err->rc;
  return zt_builder_keep(r->b, failed->parts.fault, strlen(failed->parts.fault)+1, &m->fault);
}

/* The number of the member whose path is a relative one from a member's directory on, without parts
** that stay where they are: `` and `.`. -1 if there is none, or on failure. */
static int64_t archive_find_path(archive_reader *r, zt_text from, zt_text relative){
  size_t n = from.n;
  int64_t found;
  char *p;
  while( n>0 && from.z[n-1]!='/' ) n--;
  p = sqlite3_malloc64((uint64_t)n+relative.n+1);
  if( !p ){
    zt_fail_nomem(r->b->err);
    return -1;
  }
  memcpy(p, from.z, n);
  for(size_t i=0, part; i<relative.n; i+=part+1){
    for(part=0; i+part<relative.n && relative.z[i+part]!='/'; part++){}
    if( part==0 || (part==1 && relative.z[i]=='.') ) continue;
    if( n>0 && p[n-1]!='/' ) p[n++] = '/';
    memcpy(p+n, relative.z+i, part);
    n += part;
  }
  found = zt_zip_find(r->zip, (zt_text){ p, n }, r->b->err);
  sqlite3_free(p);
  return found;
}

/* AR5: find a file that a member names. Its path is relative, and without `..`. */
static int archive_find_file(archive_reader *r, zt_text path, zt_text name, zt_archive_file *out){
  zt_error *err = r->b->err, failed = { .path = err->path };
  const int64_t i = archive_find_path(r, path, name);
  zt_zip_member member;
  size_t got;
  *out = (zt_archive_file){ .fault = "its bytes are in a file that the archive does not have" };
  if( i<0 ) return err->rc;
  zt_zip_member_at(r->zip, (uint32_t)i, &member);
  out->fault = "its bytes are in a member that is compressed, and not read";
  if( member.method!=ZT_ZIP_STORED ) return SQLITE_OK;
  out->fault = "its bytes are in a member that cannot be read";
  if( zt_zip_locate(r->zip, r->input->source, &member, &out->base, NULL, 0, &got, &failed)
      ==SQLITE_OK ){
    out->length = member.stored;
    out->fault = NULL;
  }
  archive_pass_on(&failed, err);
  zt_error_clear(&failed);
  return err->rc;
}

static int archive_find_files(archive_reader *r, zt_archive_member *m){
  zt_archive *a = r->archive;
  const uint32_t n = zt_container_shards(m->inner);
  zt_archive_file *p;
  m->file = a->n_files;
  if( n==0 ) return SQLITE_OK;
  p = sqlite3_realloc64(a->files, ((uint64_t)a->n_files+n)*sizeof(*p));
  if( !p ) return zt_fail_nomem(r->b->err);
  a->files = p;
  for(uint32_t i=0; i<n; i++){
    zt_shard shard;
    zt_container_shard(m->inner, i, &shard);
    if( archive_find_file(r, m->path, shard.name, &p[a->n_files+i]) ) return r->b->err->rc;
  }
  a->n_files += n;
  return SQLITE_OK;
}

static int archive_add_inner(archive_reader *r, zt_container *inner, zt_text path, uint64_t base){
  zt_archive_member *m = archive_append(r);
  if( !m || archive_check_path(r, path) ){
    zt_container_close(inner);
    if( m ) r->archive->n--;
    return r->b->err->rc;
  }
  m->inner = inner;
  m->path = path;
  m->base = base;
  r->read++;
  return archive_find_files(r, m);
}

/* numpy's arrays, compressed ones too, are npz's. */
static int archive_add_arrays(archive_reader *r){
  zt_error failed = { .path = r->b->err->path };
  zt_container *inner = NULL;
  if( r->arrays ) return SQLITE_OK;
  r->arrays = true;
  if( zt_driver_open(&zt_driver_npz, r->input->source, r->b->interrupt, &inner, &failed) ){
    if( !failed.rule || strcmp(failed.rule, "NZ3")!=0 ){
      *r->b->err = failed;
      return failed.rc;
    }
    zt_error_clear(&failed);
    return SQLITE_OK;
  }
  return archive_add_inner(r, inner, (zt_text){ NULL, 0 }, 0);
}

/* AR3, AR4: record why a member that counts is not opened. */
static void archive_explain(const archive_found *f, zt_error *failed){
  char room[ZT_ZIP_ENCODING_MAX];
  zt_codec_id codec;
  if( failed->rc ) return;
  if( f->raw ){
    zt_break(failed, "AR9", "its type and shape are in a JSON of PyTorch's export, which is not"
             " read");
  }else if( f->archive || f->ztensor ){
    zt_break(failed, "AR4", "it is %s in the archive, which is not read",
             f->archive ? "an archive" : "a zTensor file");
  }else{
    const zt_text encoding = zt_zip_encoding(f->zip.method, room, &codec);
    zt_break(failed, "AR3", "it is compressed by '%.*s', and not read", (int)encoding.n,
             encoding.z);
  }
}

/* Open a member by its driver. Without a magic number, without a telling name and without a tensor
** it is none: a pickle of settings. */
static int archive_open_member(archive_reader *r, const archive_found *f, zt_error *failed){
  zt_container *inner = NULL;
  zt_driver_open(f->driver, f->range, r->b->interrupt, &inner, failed);
  if( inner && !f->sure && zt_container_objects(inner)==0 && !archive_is_named(f->zip.name) ){
    zt_container_close(inner);
    return SQLITE_OK;
  }
  if( !failed->rc ) return archive_add_inner(r, inner, f->zip.name, f->offset);
  return archive_pass_on(failed, r->b->err);
}

static int archive_add_member(archive_reader *r, uint32_t i){
  zt_error *err = r->b->err, failed = { .path = err->path };
  archive_found f;
  if( archive_look(r->zip, r->input, i, &f, &failed, err) ) goto end;
  if( archive_is_array(f.zip.name) || archive_is_array(f.name) || f.driver==&zt_driver_npy ){
    archive_add_arrays(r);
  }else if( f.named ){
    zt_builder_note_file(r->b, "AR11", "member '%.*s': %s", zt_shown(f.zip.name), f.zip.name.z,
                         failed.parts.fault);
  }else if( archive_counts(&f) ){
    if( f.driver ) archive_open_member(r, &f, &failed);
    else archive_explain(&f, &failed);
    archive_pass_on(&failed, err);
    /* Bytes that look like a format's, and are not, are of no tensor file */
    if( failed.rc && (!f.driver || f.sure || archive_is_named(f.name)) ){
      archive_add_unread(r, &f, &failed);
    }
  }
end:
  archive_found_clear(&f);
  zt_error_clear(&failed);
  return err->rc;
}

/* Copy the paths, which are borrowed from the directory. One member needs none. */
static int archive_keep_paths(archive_reader *r){
  zt_archive *a = r->archive;
  uint64_t n = 1;
  char *p;
  for(uint32_t k=0; k<a->n; k++) n += a->a[k].path.n;
  a->paths = p = sqlite3_malloc64(n);
  if( !p ) return zt_fail_nomem(r->b->err);
  for(uint32_t k=0; k<a->n; k++){
    zt_text *path = &a->a[k].path;
    if( !path->z || (a->a[k].inner && r->read==1) ){
      *path = (zt_text){ NULL, 0 };
      continue;
    }
    memcpy(p, path->z, path->n);
    path->z = p;
    p += path->n;
  }
  r->b->container->state_size = (size_t)n + sizeof(*a) + (size_t)a->capacity*sizeof(*a->a)
                              + (size_t)a->n_files*sizeof(*a->files);
  return SQLITE_OK;
}

/* AR2, AR7: add an object, whose name is a path and a name; either may be absent. */
static int archive_add_object(archive_reader *r, zt_text path, zt_text name){
  zt_builder *b = r->b;
  zt_container *c = b->container;
  const size_t slash = path.z && name.z ? 1 : 0, n = path.n+slash+name.n;
  bool duplicate = false;
  uint32_t at;
  uint8_t *p;
  if( c->kept.n+n>ARCHIVE_NAMES_SPARE+ARCHIVE_NAMES_TIMES*c->file_size ){
    return zt_break(b->err, "AR7", "the names of its objects take more memory than a file of %llu"
                    " bytes is worth", (unsigned long long)c->file_size);
  }
  if( zt_builder_keep(b, NULL, n, &at) ) return b->err->rc;
  p = c->kept.p+at;
  if( path.z ) memcpy(p, path.z, path.n);
  if( slash ) p[path.n] = '/';
  if( name.z ) memcpy(p+path.n+slash, name.z, name.n);
  if( zt_builder_object(b, (zt_text){ (const char*)p, n }, 0, &duplicate) ) return b->err->rc;
  if( !duplicate ) return SQLITE_OK;
  b->err->object = (zt_text){ (const char*)p, n };
  return zt_break(b->err, "AR2", "two tensors of the archive have this name");
}

static int archive_add_objects(archive_reader *r, const zt_archive_member *m){
  zt_builder *b = r->b;
  const zt_container *inner = m->inner;
  for(uint32_t i=0; i<zt_container_objects(inner); i++){
    const uint32_t end = zt_container_first(inner, i+1);
    if( (i & ARCHIVE_POLL)==ARCHIVE_POLL && zt_interrupt_check(b->interrupt, b->err) ) break;
    if( archive_add_object(r, m->path, zt_container_name(inner, i)) ) break;
    for(uint32_t k=zt_container_first(inner, i); k<end; k++){
      if( zt_builder_component(b, 0) ) return b->err->rc;
    }
  }
  return b->err->rc;
}

static int archive_add_notes(archive_reader *r, const zt_archive_member *m){
  for(uint32_t i=0; i<zt_container_notes(m->inner); i++){
    zt_note note;
    zt_container_note(m->inner, i, &note);
    if( note.object!=ZT_NOTE_OF_FILE ) note.object += m->object;
    if( zt_builder_note(r->b, note.object, note.rule, note.fault) ) return r->b->err->rc;
  }
  return SQLITE_OK;
}

/* Add the objects of all members; a file of other bytes has another number. */
static int archive_fill(archive_reader *r){
  zt_builder *b = r->b;
  zt_container *c = b->container;
  for(uint32_t k=0; k<r->archive->n; k++){
    zt_archive_member *m = &r->archive->a[k];
    uint64_t number;
    uint32_t at;
    m->object = c->objects.n;
    m->component = c->components.n;
    if( !m->inner ){
      if( archive_add_object(r, m->path, (zt_text){ NULL, 0 })
       || zt_builder_component(b, 0) ) return b->err->rc;
      continue;
    }
    number = zt_container_number(m->inner);
    c->state_size += zt_container_memory(m->inner);
    if( zt_builder_keep(b, &number, sizeof(number), &at)
     || archive_add_objects(r, m) || archive_add_notes(r, m) ) return b->err->rc;
  }
  return SQLITE_OK;
}

/* Show the file as its one tensor file. alone: the bytes of all tensors are in that member. */
static void archive_show_one(zt_container *c, const zt_archive_member *m, bool alone){
  const zt_container *inner = m->inner;
  c->version = inner->version;
  c->newer = inner->newer;
  c->rules = inner->rules;
  if( !alone ) return;
  c->gap = inner->gap;
  c->begin = m->base+inner->begin;
  c->end = m->base+inner->end;
  c->manifest_offset = m->base+inner->manifest_offset;
  c->manifest_length = inner->manifest_length;
}

/* What the file is as an archive. */
static void archive_show(archive_reader *r){
  zt_container *c = r->b->container;
  const zt_archive *a = r->archive;
  const zt_archive_member *one = NULL;
  c->gap = UINT64_MAX;   /* Local headers, and members that are no tensor files */
  c->format = NULL;
  c->own_attributes = true;
  c->member_rule = "AR10";
  zt_zip_directory(r->zip, &c->manifest_offset, &c->manifest_length);
  for(uint32_t k=0; k<a->n; k++){
    const zt_container *inner = a->a[k].inner;
    if( !inner ) continue;
    one = &a->a[k];
    c->rules |= inner->rules & ZT_RULE_VIEWS;
    c->own_attributes &= inner->own_attributes;
    if( !c->format ) c->format = inner->format;
    else if( strcmp(c->format, inner->format)!=0 ) c->format = c->driver->format;
  }
  if( r->read>1 ){
    c->attributes = zt_archive_attributes();
    c->manifest = zt_archive_manifests();
    return;
  }
  assert( one );   /* At least one was read */
  c->version = one->inner->version;
  c->attributes = zt_archive_value((uint32_t)(one-a->a), one->inner->attributes);
  c->manifest = zt_archive_value((uint32_t)(one-a->a), one->inner->manifest);
  if( a->n==1 ) archive_show_one(c, one, a->n_files==0);
}

/* AR8, or the broken rule of the first tensor file, of which none is read. */
static int archive_fail(archive_reader *r){
  zt_builder *b = r->b;
  static const char *const sound[] = { "AR3", "AR4", "AR9", "ZP8", "ZP9" };   /* Warnings */
  const zt_archive_member *m = r->archive->a;
  const char *rule;
  if( r->archive->n==0 ){
    return zt_break(b->err, "NZ3", "a zip archive in which no member is a tensor file");
  }
  rule = m->fault_rule;
  for(size_t i=0; i<sizeof(sound)/sizeof(*sound); i++){
    if( strcmp(rule, sound[i])==0 ) rule = "AR8";
  }
  return zt_break(b->err, rule, "member '%.*s': %s", zt_shown(m->path), m->path.z,
                  (const char*)b->container->kept.p+m->fault);
}

static int archive_read_members(archive_reader *r){
  const uint32_t n = zt_zip_members(r->zip);
  for(uint32_t i=0; i<n; i++){
    if( zt_interrupt_check(r->b->interrupt, r->b->err) || archive_add_member(r, i) ){
      return r->b->err->rc;
    }
  }
  if( r->read==0 ) return archive_fail(r);
  if( archive_keep_paths(r) || archive_fill(r) ) return r->b->err->rc;
  archive_show(r);
  return SQLITE_OK;
}

static zt_probe archive_probe(const zt_head_tail *input, zt_error *err){
  zt_error failed = { .path = err->path };
  zt_zip *zip = NULL;
  bool found = false;
  if( zt_source_is_range(input->source) || (!zt_zip_probe(input) && !zt_zip_probe_program(input)) ){
    return ZT_PROBE_NO;
  }
  if( zt_zip_of(input, &zip, &failed)==SQLITE_OK ) found = archive_has_file(input, zip, &failed);
  /* A fault of the archive is npz's to report */
  if( failed.rc && !zt_error_is_of_file(&failed) ) *err = failed;
  else zt_error_clear(&failed);
  return found && zt_torch_kind_of(input, err)==ZT_TORCH_NONE ? ZT_PROBE_YES : ZT_PROBE_NO;
}

static int archive_open_all(zt_builder *b, const zt_head_tail *input){
  archive_reader r = { .b = b, .input = input };
  if( zt_zip_of(input, &r.zip, b->err) || zt_zip_note_outside(r.zip, b) ) return b->err->rc;
  r.archive = sqlite3_malloc64(sizeof(*r.archive));
  if( !r.archive ) return zt_fail_nomem(b->err);
  *r.archive = (zt_archive){ .a = NULL };
  b->container->state = r.archive;
  return archive_read_members(&r);
}

static void archive_free(zt_container *c){
  zt_archive *a = c->state;
  if( !a ) return;
  for(uint32_t k=0; k<a->n; k++) zt_container_close(a->a[k].inner);
  sqlite3_free(a->a);
  sqlite3_free(a->paths);
  sqlite3_free(a->files);
  sqlite3_free(a);
  c->state = NULL;
}

/* --- Decoding --- */

static uint32_t archive_member_with(const zt_archive *a, uint32_t object){
  uint32_t low = 0, high = a->n;
  while( high-low>1 ){
    const uint32_t middle = low+(high-low)/2;
    if( a->a[middle].object<=object ) low = middle;
    else high = middle;
  }
  return low;
}

static void archive_object(const zt_container *c, uint32_t i, zt_object *out){
  const uint32_t k = archive_member_with(zt_archive_of(c), i);
  const zt_archive_member *m = &zt_archive_of(c)->a[k];
  const zt_text name = out->name;
  if( m->inner ){
    zt_container_object(m->inner, i-m->object, out);
    if( out->attributes.type==ZT_VALUE_MAP ) out->attributes = zt_archive_value(k, out->attributes);
  }else{
    out->rank = 0;
    out->elements = 1;
    out->format = (zt_text){ NULL, 0 };
    out->unshaped = true;
  }
  out->index = i;
  out->name = name;
}

static void archive_unread(const zt_container *c, const zt_archive_member *m, zt_component *out){
  out->role = ZT_TEXT("data");
  out->dtype = (zt_text){ NULL, 0 };
  out->encoding = (zt_text){ (const char*)c->kept.p+m->encoding, m->encoding_length };
  out->codec = ZT_CODEC_UNKNOWN;
  out->offset = m->base;
  out->length = m->length;
  out->unsized = m->unsized;
  out->fault_rule = m->fault_rule;
  out->fault = (const char*)c->kept.p+m->fault;
}

/* AR5: the place of bytes that are not in their member. */
static void archive_move(const zt_archive *a, const zt_archive_member *m, zt_component *out){
  const uint32_t number = zt_container_shard_number(m->inner, out->shard);
  const zt_archive_file *file = &a->files[m->file+number-1];
  const char *fault = file->fault;
  assert( number>0 );   /* A name without a fault */
  if( out->to_end && !fault && out->offset<=file->length ){
    out->length = zt_component_behind(out, file->length);
    out->to_end = out->unsized = false;   /* The size of that file is known here */
  }
  if( !fault && !zt_claim(file->length, out->offset, out->length) ){
    fault = "its bytes end behind those of the member that they are in";
  }
  if( fault ){
    out->fault_rule = "AR5";
    out->fault = fault;
    return;
  }
  out->shard = (zt_text){ NULL, 0 };
  out->external = out->beside = false;
  out->base = file->base;
  out->offset += out->base;
}

static void archive_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                              zt_component *out){
  const zt_archive *a = zt_archive_of(c);
  const zt_archive_member *m = &a->a[archive_member_with(a, i)];
  if( !m->inner ){
    archive_unread(c, m, out);
    return;
  }
  want |= ZT_COMPONENT_SHARD|ZT_COMPONENT_OFFSET|ZT_COMPONENT_LENGTH;
  zt_container_component(m->inner, i-m->object, k-m->component, want, out);
  if( !out->shard.z ){
    out->base = m->base;
    out->offset += out->base;
  }else if( !out->fault ){
    archive_move(a, m, out);
  }
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         DDUF, llamafile, `.pt2` and other zip archives in which tensor files are stored;
**                `container` is theirs
**   known by     a zip archive, also behind a program, with a tensor file in it
**   version      that of its one tensor file; of several NULL
**   manifest     that of the tensor file; of several by their paths
**   attributes   those of the tensor file; of several with `path/` in front
**   objects      in the directory's order; of several tensor files with `path/` in front
**   of objects   those of the tensor file
**   components   those of the tensor file, with offsets in the archive. Files that it names are
**                other members. A compressed tensor file is an object with one component, `data`,
**                without values
*/
const zt_driver zt_driver_archive = {
  .name = "archive",
  .format = "archive",
  .files = "*.dduf *.llamafile *.pt2",
  .rules = { zt_rules_zip, archive_rules },
  .probe = archive_probe,
  .open = archive_open_all,
  .object = archive_object,
  .component = archive_component,
  .steps = &zt_archive_steps,
  .close = archive_free,
};
