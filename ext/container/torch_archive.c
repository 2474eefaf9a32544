/*
** Zip archives of torch.save since 1.6, and of torch.jit.save. See torch_storage.h; the rules are
** those of pytorch.c.
**
**   archive  := (X "/data.pkl") (X "/data/" key)* (X "/version")? (X "/byteorder")? ...
**   TorchScript has (X "/constants.pkl") (X "/constants/" key)*, too
**
**   PT2  there is X/data.pkl; X is the first member's name up to its slash
**   PT3  pickles are stored, or deflated, and have at most ZT_PICKLE_MAX bytes; deflated ones
**        have at most 8 MiB and 64 times the stored bytes
**   PT9  a storage is a record of the archive
**   PT14 X/byteorder says little or big
**   PT20 a deflated pickle has the CRC-32 in the directory
**   PT21 so has any record: a full check reads them. torch can be told to write none
**   PT23 no member is called as another tensor file is: a warning
**   PT24 of the records that are looked up, no two have names that differ at most in case: torch
**        finds either, wherever it stands. The names data.pkl, constants.pkl, version and
**        byteorder are in small letters
**
** Storages may be shared. A record's local header is read once.
*/
#include "container/torch_storage.h"

#include "container/torch_probe.h"
#include "core/digest.h"
#include "core/host.h"
#include "core/inflate.h"
#include "core/keys.h"
#include "core/utf8.h"

#define ARCHIVE_NAME_MAX 4096   /* Bytes of a record's name */
#define ARCHIVE_RECORD 64       /* Bytes that are read of version and byteorder */
#define ARCHIVE_WINDOW ((size_t)64 << 10)     /* Bytes of deflated data that are read at once */
#define ARCHIVE_LITTLE ((uint64_t)8 << 20)    /* Bytes that a deflated pickle may have, */
#define ARCHIVE_TIMES 64                      /* and for each stored byte: walking takes memory */

/* A record that storages may be in. */
typedef struct archive_place {
  zt_torch_storage storage;
  bool known;
} archive_place;

typedef struct torch_archive {
  zt_torch_file file;
  zt_zip *zip;               /* Borrowed */
  archive_place *places;     /* One for each member; owned */
  int64_t data;              /* The member of data.pkl */
  zt_text folder;            /* The folder of the pickle's storages: data/ or constants/ */
  char version[ARCHIVE_RECORD], order[ARCHIVE_RECORD];
} torch_archive;

static uint8_t archive_lower(char c){
  const uint8_t small = (uint8_t)c | 0x20;
  return c>='A' && c<='Z' ? small : (uint8_t)c;
}

static bool archive_is_alike(const char *x, const char *y, size_t n){
  for(size_t i=0; i<n; i++){
    if( archive_lower(x[i])!=archive_lower(y[i]) ) return false;
  }
  return true;
}

/* True for a record that is looked up, in whatever case its name is. *missed: it is not found,
** as its case is another. */
static bool archive_is_looked_up(const torch_archive *a, zt_text name, bool *missed){
  static const zt_text names[] = {
    ZT_TEXT_INIT("data.pkl"), ZT_TEXT_INIT("constants.pkl"), ZT_TEXT_INIT("version"),
    ZT_TEXT_INIT("byteorder"), ZT_TEXT_INIT("data/"), ZT_TEXT_INIT("constants/")
  };
  const zt_text own = a->file.archive;
  const size_t n = own.n+1;   /* Of X/ */
  *missed = false;
  if( name.n<=n || name.z[own.n]!='/' || !archive_is_alike(name.z, own.z, own.n) ) return false;
  for(size_t i=0; i<sizeof(names)/sizeof(*names); i++){
    const bool folder = names[i].z[names[i].n-1]=='/';
    if( (folder ? name.n-n>names[i].n : name.n-n==names[i].n)
     && archive_is_alike(name.z+n, names[i].z, names[i].n) ){
      *missed = !folder && (memcmp(name.z+n, names[i].z, names[i].n)!=0
                         || memcmp(name.z, own.z, own.n)!=0);
      return true;
    }
  }
  return false;
}

/* PT24: names are compared by copies in lower case. */
static int archive_check_names(torch_archive *a){
  zt_builder *b = a->file.b;
  zt_keys names = { .interrupt = b->interrupt };
  zt_zip_member m = { .name = ZT_TEXT_INIT("") };
  bool twice = false, missed = false;
  zt_key key = { 0, 0 };
  uint64_t offset, n;
  uint8_t *p;
  zt_zip_directory(a->zip, &offset, &n);
  p = sqlite3_malloc64(n+1);
  if( !p ) return zt_fail_nomem(b->err);
  zt_keys_reserve(&names, zt_zip_members(a->zip));
  for(uint32_t i=0; i<zt_zip_members(a->zip) && !twice && !missed && !b->err->rc; i++){
    zt_zip_member_at(a->zip, i, &m);
    if( !archive_is_looked_up(a, m.name, &missed) ) continue;
    key.at += key.n;
    key.n = (uint32_t)m.name.n;
    for(size_t k=0; k<m.name.n; k++) p[key.at+k] = archive_lower(m.name.z[k]);
    zt_keys_add(&names, p, key, &twice, b->err);
  }
  zt_keys_clear(&names);
  sqlite3_free(p);
  if( b->err->rc || (!twice && !missed) ) return b->err->rc;
  if( !twice ){
    return zt_break(b->err, "PT24", "record '%.*s' is spelled in another case, and PyTorch reads it"
                    " all the same", zt_shown(m.name), m.name.z);
  }
  return zt_break(b->err, "PT24", "record '%.*s' stands twice in the archive, or in another case,"
                  " and PyTorch reads either", zt_shown(m.name), m.name.z);
}

/* The member with that name below X/; -1 if there is none. */
static int64_t archive_find(torch_archive *a, zt_text folder, zt_text name){
  const zt_text archive = a->file.archive;
  char z[ARCHIVE_NAME_MAX];
  size_t n = archive.n+1;
  if( n+folder.n>sizeof(z) || name.n>sizeof(z)-n-folder.n ) return -1;
  memcpy(z, archive.z, archive.n);
  z[archive.n] = '/';
  if( folder.n ) memcpy(z+n, folder.z, folder.n);
  n += folder.n;
  if( name.n ) memcpy(z+n, name.z, name.n);
  return zt_zip_find(a->zip, (zt_text){ z, n+name.n }, a->file.b->err);
}

/* Decode the first bytes of a deflated record, in place. */
static int archive_inflate(char *text, size_t *n, zt_error *err){
  uint8_t stored[ARCHIVE_RECORD];
  zt_span in = { stored, *n };
  zt_inflate *d = zt_inflate_new(err);
  memcpy(stored, text, *n);
  *n = 0;
  if( d ) zt_inflate_next(d, &in, (uint8_t*)text, ARCHIVE_RECORD, n, err);
  zt_inflate_free(d);
  return err->rc;
}

/* Read a small record's text into room (ARCHIVE_RECORD bytes), without white space at its end.
** out->z is NULL if there is none, or it cannot be read. */
static int archive_read_text(torch_archive *a, zt_text name, char *room, zt_text *out){
  zt_error *err = a->file.b->err, failed = { .path = err->path };
  zt_source *source = a->file.b->source;
  const int64_t i = archive_find(a, ZT_TEXT(""), name);
  zt_zip_member member;
  uint64_t offset;
  size_t n = 0;
  if( i<0 ) return err->rc;
  zt_zip_member_at(a->zip, (uint32_t)i, &member);
  if( member.method!=ZT_ZIP_STORED && member.method!=ZT_ZIP_DEFLATE ) return SQLITE_OK;
  if( zt_zip_locate(a->zip, source, &member, &offset, room, ARCHIVE_RECORD, &n, &failed)==SQLITE_OK
   && member.method==ZT_ZIP_DEFLATE ) archive_inflate(room, &n, &failed);
  if( failed.rc && !zt_error_is_of_file(&failed) ){
    *err = failed;
    return failed.rc;
  }
  if( failed.rc ) n = 0;
  zt_error_clear(&failed);
  while( n>0 && (room[n-1]=='\n' || room[n-1]=='\r' || room[n-1]==' ') ) --n;
  if( !zt_utf8_without_nul((zt_text){ room, n }) ) n = 0;
  *out = (zt_text){ n ? room : NULL, n };
  return SQLITE_OK;
}

/* PT14 */
static int archive_read_order(torch_archive *a){
  const zt_text record = ZT_TEXT("byteorder"), archive = a->file.archive;
  zt_text *order = &a->file.byte_order;
  if( archive_read_text(a, record, a->order, order) ) return a->file.b->err->rc;
  if( zt_text_is(*order, "little") || zt_text_is(*order, "big")
   || archive_find(a, ZT_TEXT(""), record)<0 ) return a->file.b->err->rc;
  return zt_break(a->file.b->err, "PT14", "record '%.*s/byteorder' says '%.*s', not 'little' or "
                  "'big'", zt_shown(archive), archive.z, zt_shown(*order),
                  order->n ? order->z : "");
}

/* A pickle being decoded. */
typedef struct archive_stream {
  zt_inflate *inflate;
  uint8_t *window;
  zt_span in;                /* Read, but not used */
  uint64_t at, remaining;    /* Bytes to read next */
} archive_stream;

/* Decode at most n bytes; none only at the end. */
static int archive_decode(archive_stream *s, zt_builder *b, uint8_t *out, size_t n, size_t *got){
  size_t behind;
  for(;;){
    if( s->in.n==0 && s->remaining>0 ){
      const size_t piece = s->remaining<ARCHIVE_WINDOW ? (size_t)s->remaining : ARCHIVE_WINDOW;
      if( zt_interrupt_check(b->interrupt, b->err)
       || zt_source_read(b->source, s->at, s->window, piece, b->err) ) return b->err->rc;
      s->in = (zt_span){ s->window, piece };
      s->at += piece;
      s->remaining -= piece;
    }
    if( zt_inflate_next(s->inflate, &s->in, out, n, got, b->err) || *got>0 ) return b->err->rc;
    if( zt_inflate_ended(s->inflate, &behind) ) return SQLITE_OK;
    if( s->in.n==0 && s->remaining==0 ){
      return zt_break(b->err, "E2", "deflate: the stored bytes end within the stream");
    }
  }
}

/* E3: decode a record of m->size bytes. p has room for one byte more. */
static int archive_decode_all(archive_stream *s, zt_builder *b, const zt_zip_member *m,
                              uint8_t *p){
  size_t n = 0, got = 1;
  while( got>0 && n<=m->size && !b->err->rc ){
    archive_decode(s, b, p+n, (size_t)m->size+1-n, &got);
    n += got;
  }
  if( b->err->rc || n==m->size ) return b->err->rc;
  return zt_break(b->err, "E3", "deflate: record '%.*s' decodes to %s bytes than the %llu that the "
                  "directory states", zt_shown(m->name), m->name.z, n<m->size ? "fewer" : "more",
                  (unsigned long long)m->size);
}

/* PT20 */
static int archive_check_crc(zt_builder *b, const zt_zip_member *m, zt_span bytes){
  char text[ZT_DIGEST_TEXT], stated[sizeof("crc32:00000000")];
  zt_digest *d = zt_digest_begin(ZT_DIGEST_CRC32, b->err);
  if( !d ) return b->err->rc;
  zt_digest_update(d, bytes);
  zt_digest_text(d, text);
  zt_digest_close(d);
  sqlite3_snprintf(sizeof(stated), stated, "crc32:%08x", m->crc);
  if( strcmp(text, stated)==0 ) return SQLITE_OK;
  return zt_break(b->err, "PT20", "record '%.*s' has the digest %s, and the directory states %s",
                  zt_shown(m->name), m->name.z, text, stated);
}

static int archive_read_deflated(torch_archive *a, const zt_zip_member *m, uint64_t offset,
                                 uint8_t *p){
  zt_builder *b = a->file.b;
  archive_stream s = { .at = offset, .remaining = m->stored };
  s.inflate = zt_inflate_new(b->err);
  s.window = sqlite3_malloc64(ARCHIVE_WINDOW);
  if( s.inflate && !s.window ) zt_fail_nomem(b->err);
  if( s.inflate && s.window && archive_decode_all(&s, b, m, p)==SQLITE_OK ){
    archive_check_crc(b, m, (zt_span){ p, (size_t)m->size });
  }
  zt_inflate_free(s.inflate);
  sqlite3_free(s.window);
  return b->err->rc;
}

/* PT3 */
static int archive_check_pickle(const zt_zip_member *m, zt_error *err){
  char room[ZT_ZIP_ENCODING_MAX];
  zt_codec_id codec;
  if( m->fault ){   /* For storages some of these are warnings */
    return zt_break(err, "PT3", "record '%.*s': %s", zt_shown(m->name), m->name.z, m->fault);
  }
  if( m->method!=ZT_ZIP_STORED && m->method!=ZT_ZIP_DEFLATE ){
    const zt_text encoding = zt_zip_encoding(m->method, room, &codec);
    return zt_break(err, "PT3", "record '%.*s' is compressed by '%.*s'", zt_shown(m->name),
                    m->name.z, (int)encoding.n, encoding.z);
  }
  if( m->size>ZT_PICKLE_MAX ){
    return zt_break(err, "PT3", "record '%.*s' has %llu bytes, 256 MiB are the most",
                    zt_shown(m->name), m->name.z, (unsigned long long)m->size);
  }
  if( m->method==ZT_ZIP_DEFLATE && m->size>ARCHIVE_LITTLE
   && m->size-ARCHIVE_LITTLE>ARCHIVE_TIMES*m->stored ){
    return zt_break(err, "PT3", "record '%.*s' decodes to %llu bytes, for %llu that are stored",
                    zt_shown(m->name), m->name.z, (unsigned long long)m->size,
                    (unsigned long long)m->stored);
  }
  return SQLITE_OK;
}

static int archive_read_bytes(torch_archive *a, uint32_t i, zt_torch_pickle *out){
  zt_error *err = a->file.b->err;
  zt_zip_member member;
  uint8_t *p;
  size_t got;
  zt_zip_member_at(a->zip, i, &member);
  if( archive_check_pickle(&member, err)
   || zt_zip_locate(a->zip, a->file.b->source, &member, &out->offset, NULL, 0, &got, err) ){
    return err->rc;
  }
  p = sqlite3_malloc64(member.size+1);
  if( !p ) return zt_fail_nomem(err);
  out->bytes = (zt_span){ p, (size_t)member.size };
  out->length = member.stored;
  out->stored = member.method==ZT_ZIP_STORED;
  if( !out->stored ) return archive_read_deflated(a, &member, out->offset, p);
  return zt_source_read(a->file.b->source, out->offset, p, out->bytes.n, err);
}

static int archive_read(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out){
  torch_archive *a = (torch_archive*)f;
  zt_builder *b = f->b;
  int64_t i = a->data;
  size_t used;
  a->folder = ZT_TEXT("data/");
  if( which==ZT_TORCH_CONSTANTS ){
    i = archive_find(a, ZT_TEXT(""), ZT_TEXT("constants.pkl"));
    a->folder = ZT_TEXT("constants/");
  }
  if( i<0 || archive_read_bytes(a, (uint32_t)i, out) ) return b->err->rc;
  if( which==ZT_TORCH_CONSTANTS ) out->folder = a->folder;
  return zt_pickle_open(out->bytes, b->interrupt, &out->pickle, &used, b->err);
}

/* Find a record's data and encoding. */
static int archive_locate(torch_archive *a, uint32_t i, zt_torch_storage *out){
  zt_builder *b = a->file.b;
  zt_error failed = { .path = b->err->path };
  char room[ZT_ZIP_ENCODING_MAX];
  zt_zip_member member;
  zt_text encoding;
  size_t got;
  zt_zip_member_at(a->zip, i, &member);
  if( zt_zip_locate(a->zip, b->source, &member, &out->offset, NULL, 0, &got, &failed) ){
    if( !zt_error_is_of_file(&failed) ){
      *b->err = failed;
      return failed.rc;
    }
    zt_torch_set_fault(b, out, failed.rule, "%s", failed.parts.fault);
    zt_error_clear(&failed);
    return b->err->rc;
  }
  out->length = member.stored;
  out->size = member.size;
  encoding = zt_zip_encoding(member.method, room, &out->codec);
  if( member.method==ZT_ZIP_STORED ) return SQLITE_OK;
  return zt_builder_keep(b, encoding.z, encoding.n+1, &out->encoding);
}

/* PT9 */
static int archive_find_storage(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out){
  torch_archive *a = (torch_archive*)f;
  const int64_t i = archive_find(a, a->folder, v->key);
  archive_place *place;
  *out = (zt_torch_storage){ 0 };
  if( i<0 ){
    if( f->b->err->rc ) return f->b->err->rc;
    return zt_torch_set_fault(f->b, out, "PT9", "the archive has no record '%.*s%.*s' of its "
                              "storage", (int)a->folder.n, a->folder.z, zt_shown(v->key),
                              v->key.z);
  }
  place = &a->places[i];
  if( !place->known ){
    if( archive_locate(a, (uint32_t)i, &place->storage) ) return f->b->err->rc;
    place->known = true;
  }
  *out = place->storage;
  return SQLITE_OK;
}

static void archive_close(zt_torch_file *f){
  torch_archive *a = (torch_archive*)f;
  sqlite3_free(a->places);
  sqlite3_free(a);
}

/* True for one of PyTorch's own records: a storage, or a pickle (constants.pkl, bytecode.pkl). */
static bool archive_is_own(const torch_archive *a, zt_text name){
  const zt_text own = a->file.archive, data = ZT_TEXT("/data/"), pickle = ZT_TEXT(".pkl");
  const size_t n = name.n-own.n;   /* Below X */
  if( name.n<=own.n || name.z[own.n]!='/' || memcmp(name.z, own.z, own.n)!=0 ) return false;
  return (n>data.n && memcmp(name.z+own.n, data.z, data.n)==0)
      || (n>pickle.n && memcmp(name.z+name.n-pickle.n, pickle.z, pickle.n)==0);
}

/* True for another tensor file, by its name. */
static bool archive_is_other(const torch_archive *a, zt_text name, char z[ARCHIVE_NAME_MAX]){
  if( archive_is_own(a, name) ) return false;
  if( name.n==0 || name.n>=ARCHIVE_NAME_MAX || zt_has_nul(name.z, name.n) ) return false;
  memcpy(z, name.z, name.n);
  z[name.n] = '\0';
  return zt_container_files(zt_path_name(z));
}

static bool archive_next_other(const zt_torch_file *f, uint32_t *i, zt_text *name){
  const torch_archive *a = (const torch_archive*)f;
  char z[ARCHIVE_NAME_MAX];
  while( *i<zt_zip_members(a->zip) ){
    zt_zip_member m;
    zt_zip_member_at(a->zip, (*i)++, &m);
    *name = m.name;
    if( archive_is_other(a, m.name, z) ) return true;
  }
  return false;
}

/* PT23: of the first one. */
static int archive_note_others(torch_archive *a){
  zt_text name;
  uint32_t i = 0;
  if( !archive_next_other(&a->file, &i, &name) ) return SQLITE_OK;
  return zt_builder_note_file(a->file.b, "PT23", "member '%.*s' is not read beside the model's"
                              " pickle", zt_shown(name), name.z);
}

static const zt_torch_kinds archive_kind = {
  .read = archive_read, .find = archive_find_storage, .close = archive_close,
  .next_other = archive_next_other
};

/* PT2 */
static int archive_open(torch_archive *a, const zt_head_tail *input){
  zt_builder *b = a->file.b;
  uint64_t places;
  b->container->member_rule = "PT21";
  if( zt_zip_of(input, &a->zip, b->err) || zt_zip_note_outside(a->zip, b) ) return b->err->rc;
  a->file.archive = zt_torch_archive(a->zip);
  a->file.storages = zt_zip_members(a->zip);
  a->data = archive_find(a, ZT_TEXT(""), ZT_TEXT("data.pkl"));
  if( b->err->rc ) return b->err->rc;
  if( a->data<0 ){
    return zt_break(b->err, "PT2", "an archive of PyTorch without a record '%.*s/data.pkl'",
                    zt_shown(a->file.archive), a->file.archive.z);
  }
  places = (a->file.storages+1)*sizeof(*a->places);
  a->places = sqlite3_malloc64(places);
  if( !a->places ) return zt_fail_nomem(b->err);
  memset(a->places, 0, (size_t)places);
  if( archive_check_names(a) || archive_note_others(a)
   || archive_read_text(a, ZT_TEXT("version"), a->version, &a->file.version) ) return b->err->rc;
  return archive_read_order(a);
}

int zt_torch_open_archive(zt_builder *b, const zt_head_tail *input, zt_torch_file **out){
  torch_archive *a = sqlite3_malloc64(sizeof(*a));
  *out = NULL;
  if( !a ) return zt_fail_nomem(b->err);
  *a = (torch_archive){ .file = { .kind = &archive_kind, .b = b } };
  if( archive_open(a, input)==SQLITE_OK ) *out = &a->file;
  else archive_close(&a->file);
  return b->err->rc;
}
