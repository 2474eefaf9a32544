/*
** Archives of numpy arrays (numpy.savez, numpy.savez_compressed): members of a zip archive (zip.c)
** that are npy arrays (npy.c).
**
**   archive := member*
**   member  := an array, called NAME or NAME.npy
**            | anything else, which is skipped
**
** As in numpy, a member's first bytes tell an array. If directory and local header differ, either
** name tells. A member NAME.npy without those bytes may be a damaged array: it is listed as not
** understood, and zt_blob() gives its bytes, as numpy does. Files of macOS, which are called as
** others are, are no arrays. A member that cannot be looked at, because of a fault or of how it is
** packed, may be an array of any name: it is listed if its name has no end such as `.txt`, and is
** noted if it has one.
**
**   NZ1  arrays' names are UTF-8, and without U+0000
**   NZ2  no two arrays have one name
**   NZ3  an archive with members has an array, which is not only guessed to be one
**   NZ4  headers take at most NPZ_SPARE bytes and NPZ_TIMES the archive's size. The fixed part of
**        each array's record does not count: its entry in the directory bounds it
**   NZ5  a member that is called NAME.npy is an array
**   NZ6  an array ends its member: a warning
**
** A fault of one member is its own: the member is listed with its known fields, and hides no other.
** If its encoding is unknown, only the name is known. The driver of PyTorch takes its archives
** first, and archive.c those with other tensor files.
*/
#include "container/manifest.h"
#include "container/npy.h"
#include "container/zip.h"
#include "core/host.h"
#include "core/inflate.h"
#include "core/utf8.h"

#define NPZ_WINDOW 512                     /* Bytes of a member to read at once; headers have 128 */
#define NPZ_SPARE ((uint64_t)1 << 20)
#define NPZ_TIMES 8                        /* Names of fields deflate well */
#define NPZ_APPLE "\x00\x05\x16\x07"       /* AppleDouble: __MACOSX/._NAME */
#define NPZ_POLL_MEMBERS 0x3FFu            /* Members between checks for an interrupt, less 1 */

static const zt_rule npz_rules[] = {
  ZT_ERROR("NZ1", "npz-name", "arrays' names are UTF-8, and without U+0000 (npz)", ZT_SPEC_SENSE),
  ZT_ERROR("NZ2", "npz-duplicate-member", "no two arrays have the same name (npz)", ZT_SPEC_SENSE),
  ZT_UNKNOWN("NZ3", "npz-empty",
             "an archive with members has an array or another tensor file (npz)", ZT_SPEC_SENSE),
  ZT_ERROR("NZ4", "npz-headers",
           "the headers of all members take at most 1 MiB plus 8 times the archive's size (npz)",
           ZT_SPEC_OURS),
  ZT_WARNING("NZ5", "npz-array", "a member that is called NAME.npy is an array (npz)",
             ZT_SPEC_SENSE),
  ZT_WARNING("NZ6", "npz-behind", "an array ends its member (npz)", ZT_SPEC_SENSE),
  ZT_RULES_END
};

/* Arrays before the container is filled. Records point into manifest and texts. */
typedef struct npz_reader {
  zt_builder *b;
  zt_zip *zip;                             /* Borrowed */
  zt_inflate *inflate;                     /* NULL until needed */
  zt_cbor_out manifest;                    /* One map */
  zt_cbor_out texts;                       /* Attributes and other parts of records */
  zt_cbor_out records;                     /* Each with its shape */
  uint32_t n;                              /* Number of records, */
  uint32_t nGuessed;                       /* of members that could not be looked at, too */
  uint64_t nUnseen;                        /* Members of other names that could not be looked at, */
  const char *unseen_rule;                 /* and of the first of them the rule that it breaks, */
  char *unseen;                            /* and what is wrong; owned */
  uint64_t nOthers;                        /* All members that are no arrays, */
  uint32_t other;                          /* and the index of the first of them */
  zt_cbor_out descr, header;               /* The current member's */
} npz_reader;

/* A member whose first bytes are decoded into reader->header. */
typedef struct npz_member {
  zt_zip_member zip;
  uint64_t offset;                         /* Offset of its data, */
  uint64_t read;                           /* and the bytes read of them */
  zt_span in;                              /* Read, but not used */
  uint8_t window[NPZ_WINDOW];
} npz_member;

static int npz_refill(npz_reader *r, npz_member *m, zt_error *err){
  uint64_t remaining = m->zip.stored-m->read;
  size_t n = remaining<NPZ_WINDOW ? (size_t)remaining : NPZ_WINDOW;
  if( zt_source_read(r->b->source, m->offset+m->read, m->window, n, err) ) return err->rc;
  m->in = (zt_span){ m->window, n };
  m->read += n;
  return SQLITE_OK;
}

/* Decode at most n bytes. */
static int npz_decode(npz_reader *r, npz_member *m, uint8_t *to, size_t n, size_t *got,
                      zt_error *err){
  if( m->zip.method==ZT_ZIP_DEFLATE ){
    return zt_inflate_next(r->inflate, &m->in, to, n, got, err);
  }
  *got = n<m->in.n ? n : m->in.n;
  memcpy(to, m->in.p, *got);
  m->in.p += *got;
  m->in.n -= *got;
  return SQLITE_OK;
}

/* A deflated member decodes to fewer bytes than the directory states. */
static int npz_fail_short(const npz_reader *r, const npz_member *m, zt_error *err){
  size_t behind;
  if( !zt_inflate_ended(r->inflate, &behind) ){
    return zt_break(err, "E2", "deflate: the stored bytes end within the stream");
  }
  return zt_break(err, "E3", "deflate: decodes to %llu bytes, the directory states %llu",
                  (unsigned long long)r->header.n, (unsigned long long)m->zip.size);
}

/* Decode n bytes of the member into r->header; fewer if it is smaller. */
static int npz_fetch(npz_reader *r, npz_member *m, size_t n, zt_error *err){
  zt_cbor_out *h = &r->header;
  if( n>m->zip.size ) n = (size_t)m->zip.size;
  while( h->n<n ){
    uint8_t piece[NPZ_WINDOW];
    size_t want = n-h->n<sizeof(piece) ? n-h->n : sizeof(piece), got, behind;
    if( m->in.n==0 && m->read<m->zip.stored && npz_refill(r, m, err) ) return err->rc;
    if( npz_decode(r, m, piece, want, &got, err) ) return err->rc;
    zt_cbor_put_items(h, (zt_span){ piece, got });
    if( h->err->rc ) return err->rc = h->err->rc;
    if( got==0 && ((m->in.n==0 && m->read==m->zip.stored)
                   || zt_inflate_ended(r->inflate, &behind)) ) return npz_fail_short(r, m, err);
  }
  return SQLITE_OK;
}

/* Locate a member's data, and begin to decode it. */
static int npz_begin(npz_reader *r, npz_member *m, zt_error *err){
  size_t got;
  zt_cbor_out_reset(&r->header);
  if( zt_zip_locate(r->zip, r->b->source, &m->zip, &m->offset, m->window, NPZ_WINDOW, &got, err) ){
    return err->rc;
  }
  m->read = got;
  m->in = (zt_span){ m->window, got };
  if( m->zip.method!=ZT_ZIP_DEFLATE ) return SQLITE_OK;
  if( !r->inflate && (r->inflate = zt_inflate_new(err))==NULL ) return err->rc;
  zt_inflate_reset(r->inflate);
  return SQLITE_OK;
}

static int npz_read_header(npz_reader *r, npz_member *m, zt_npy *npy, uint64_t *shape,
                           zt_error *err){
  size_t length;
  if( npz_fetch(r, m, ZT_NPY_HEAD, err) ) return err->rc;
  if( !zt_npy_probe((zt_span){ r->header.p, r->header.n }) ){
    return zt_break(err, "NZ5", "it is no npy array");
  }
  if( r->header.n<ZT_NPY_HEAD ) return zt_break(err, "NY2", "it ends within the header");
  length = zt_npy_length((zt_span){ r->header.p, r->header.n }, err);
  if( err->rc || npz_fetch(r, m, length, err) ) return err->rc;
  if( r->header.n<length ){
    return zt_break(err, "NY2", "the header has %llu bytes, of which there are %llu",
                    (unsigned long long)length, (unsigned long long)r->header.n);
  }
  return zt_npy_read((zt_span){ r->header.p, length }, npy, shape, &r->descr, err);
}

/* Append to the texts. Returns the position, which is never 0. */
static uint32_t npz_put_text(npz_reader *r, const char *z, size_t n){
  if( r->texts.n==0 ) zt_cbor_put_null(&r->texts);
  zt_cbor_put_items(&r->texts, (zt_span){ (const uint8_t*)z, n });
  return (uint32_t)(r->texts.n-n);
}

static void npz_set_encoding(npz_reader *r, const zt_zip_member *m, zt_npy_record *out){
  char room[ZT_ZIP_ENCODING_MAX];
  out->encoding = zt_zip_encoding(m->method, room, &out->codec);
  if( out->encoding.z!=room ) return;
  out->encoding_at = npz_put_text(r, room, out->encoding.n);
  out->encoding.z = NULL;
}

/* Set a member's fault. Fails with errors that are not of the file. */
static int npz_set_fault(npz_reader *r, zt_error *failed, zt_npy_record *out){
  if( !zt_error_is_of_file(failed) ){
    *r->b->err = *failed;
    *failed = ZT_ERROR_NONE;
    return r->b->err->rc;
  }
  out->unread = true;
  out->foreign = strcmp(failed->rule, "NZ5")==0;
  if( !out->foreign ) out->codec = ZT_CODEC_UNKNOWN;   /* The array's size is unknown */
  out->fault_rule = failed->rule;
  out->fault = npz_put_text(r, failed->parts.fault, strlen(failed->parts.fault)+1);
  zt_error_clear(failed);
  return SQLITE_OK;
}

/* Set the array's range among the member's bytes. */
static void npz_place(const npz_member *m, zt_npy_record *out){
  uint64_t there = m->zip.size-out->npy.length;
  out->skip = out->npy.length;
  out->decoded = out->npy.sized && out->npy.bytes<there ? out->npy.bytes : there;
  out->behind = there-out->decoded;
}

/* Append an array's record. */
static int npz_put(npz_reader *r, zt_text name, zt_npy_record *record, const uint64_t *shape){
  zt_span descr = { r->descr.p, r->descr.n };
  uint64_t kept;
  zt_cbor_put_text(&r->manifest, name);
  record->name = (uint32_t)(r->manifest.n-name.n);
  record->name_length = (uint32_t)name.n;
  if( record->unread ){
    zt_cbor_put_null(&r->manifest);
  }else{
    record->attributes = npz_put_text(r, "", 0);
    zt_npy_put_attributes(&record->npy, descr, &r->texts);
    zt_npy_put_header(&record->npy, descr, shape, &r->manifest);
  }
  zt_cbor_put_items(&r->records, (zt_span){ (const uint8_t*)record, sizeof(*record) });
  zt_cbor_put_items(&r->records, (zt_span){ (const uint8_t*)shape,
                                            record->npy.rank*sizeof(*shape) });
  r->n++;
  kept = r->manifest.n+r->texts.n+(r->records.n-r->n*sizeof(*record));
  if( !r->b->err->rc && kept>NPZ_TIMES*r->b->container->file_size+NPZ_SPARE ){
    return zt_break(r->b->err, "NZ4", "the headers of its members take more memory than a file of"
                    " %llu bytes is worth", (unsigned long long)r->b->container->file_size);
  }
  return r->b->err->rc;
}

static bool npz_has_suffix(zt_text name){
  return name.n>=4 && memcmp(name.z+name.n-4, ".npy", 4)==0;
}

/* NZ1 */
static int npz_check_name(npz_reader *r, zt_text name){
  if( zt_utf8_without_nul(name) ) return SQLITE_OK;
  return zt_break(r->b->err, "NZ1", "member '%.*s': a name that is not UTF-8, or has U+0000 in it",
                  zt_shown(name), name.z);
}

/* True if a member that could not be found is called NAME.npy by its local header. */
static bool npz_was_array(npz_reader *r, const npz_member *m, const zt_error *failed){
  char end[sizeof(".npy")-1];
  zt_text name;
  if( !failed->rule || strcmp(failed->rule, "ZP10")!=0 ) return false;
  return zt_zip_local_name(r->zip, r->b->source, &m->zip, end, sizeof(end), &name, r->b->err)
         ==SQLITE_OK && npz_has_suffix(name);
}

/* True if a member is an array, or was one; or if an error of the system must be reported. */
static bool npz_is_array(npz_reader *r, npz_member *m, zt_error *failed){
  const unsigned method = m->zip.method;
  if( !failed->rc && (method==ZT_ZIP_STORED || method==ZT_ZIP_DEFLATE)
   && npz_fetch(r, m, ZT_NPY_HEAD, failed)==SQLITE_OK ){
    const zt_span head = { r->header.p, r->header.n };
    if( zt_npy_probe(head) ) return true;
    if( head.n>=4 && memcmp(head.p, NPZ_APPLE, 4)==0 ) return false;
  }
  return npz_has_suffix(m->zip.name) || (failed->rc && !zt_error_is_of_file(failed))
      || npz_was_array(r, m, failed);
}

/* Note a member that is called otherwise: it may be an array, and is not looked at. */
static void npz_pass_over(npz_reader *r, const npz_member *m, const char *rule, const char *fault){
  const zt_text name = m->zip.name;
  if( r->b->err->rc || r->nUnseen++>0 ) return;
  r->unseen_rule = rule;
  r->unseen = zt_utf8_without_nul(name)
    ? sqlite3_mprintf("member '%.*s': %s", zt_shown(name), name.z, fault)
    : sqlite3_mprintf("member %u: %s", m->zip.number, fault);
  if( !r->unseen ) zt_fail_nomem(r->b->err);
}

/* True if a name that is no array's tells nothing else, either: it has no end such as `.txt`. */
static bool npz_has_no_end(zt_text name){
  if( name.n==0 || name.z[name.n-1]=='/' || !zt_utf8_without_nul(name) ) return false;
  for(size_t i=name.n; i>0 && name.z[i-1]!='/'; i--) if( name.z[i-1]=='.' ) return false;
  return true;
}

/* True if a member is listed, although nothing tells that it is an array: because it could not be
** looked at, and nothing tells that it is none. */
static bool npz_is_guessed(npz_reader *r, const npz_member *m, const zt_error *failed){
  char room[ZT_ZIP_ENCODING_MAX], unknown[ZT_ZIP_ENCODING_MAX+40];
  const char *rule = failed->rule, *fault = failed->parts.fault;
  zt_codec_id codec;
  const zt_text encoding = zt_zip_encoding(m->zip.method, room, &codec);
  if( !failed->rc && codec==ZT_CODEC_UNKNOWN && m->zip.size>=ZT_NPY_HEAD ){
    sqlite3_snprintf(sizeof(unknown), unknown, "encoding '%.*s' is not known", (int)encoding.n,
                     encoding.z);
    rule = "E1";
    fault = unknown;
  }
  if( !rule ) return false;
  if( npz_has_no_end(m->zip.name) ) r->nGuessed++;
  else npz_pass_over(r, m, rule, fault);
  return npz_has_no_end(m->zip.name);
}

/* NZ6: as a gap in a npy file. */
static int npz_note_behind(npz_reader *r, zt_text name, uint64_t n){
  return zt_builder_note_file(r->b, "NZ6", "member '%.*s': %llu bytes follow behind its array",
                              zt_shown(name), name.z, n);
}

/* One note for all members that were passed over. */
static int npz_note_unseen(npz_reader *r){
  if( r->nUnseen==0 ) return SQLITE_OK;
  if( r->nUnseen==1 ) return zt_builder_note(r->b, ZT_NOTE_OF_FILE, r->unseen_rule, r->unseen);
  return zt_builder_note_file(r->b, r->unseen_rule, "%s (the first of %llu members that could not"
                              " be looked at)", r->unseen, r->nUnseen);
}

/* Keep what the archive has beside arrays in words. */
static int npz_keep_unlisted(npz_reader *r){
  zt_container *c = r->b->container;
  const bool comment = zt_zip_has_comment(r->zip);
  sqlite3_str *out;
  char *text;
  zt_zip_member m;
  if( r->nOthers==0 && !comment ) return SQLITE_OK;
  out = sqlite3_str_new(NULL);
  if( r->nOthers>1 ) sqlite3_str_appendf(out, "%llu members without a row, the first ", r->nOthers);
  else if( r->nOthers ) sqlite3_str_appendall(out, "member ");
  if( r->nOthers ){
    zt_zip_member_at(r->zip, r->other, &m);
    if( !zt_utf8_without_nul(m.name) ) sqlite3_str_appendf(out, "of number %u", m.number);
    else sqlite3_str_appendf(out, "'%.*s'", zt_shown(m.name), m.name.z);
  }
  if( comment ) sqlite3_str_appendall(out, r->nOthers ? " and a comment" : "a comment");
  c->unlisted.n = (uint32_t)sqlite3_str_length(out);
  text = sqlite3_str_finish(out);
  if( !text ) return zt_fail_nomem(r->b->err);
  zt_builder_keep(r->b, text, c->unlisted.n, &c->unlisted.at);
  sqlite3_free(text);
  return r->b->err->rc;
}

static int npz_add_member(npz_reader *r, uint32_t i){
  zt_error failed = { .path = r->b->err->path };
  zt_npy_record record = { 0 };
  uint64_t shape[ZT_MAX_RANK];
  char digest[sizeof("crc32:00000000")];
  npz_member m = { .read = 0 };
  zt_text name;
  zt_zip_member_at(r->zip, i, &m.zip);
  zt_cbor_out_reset(&r->descr);
  npz_begin(r, &m, &failed);
  if( !npz_is_array(r, &m, &failed) && !npz_is_guessed(r, &m, &failed) ){
    if( r->nOthers++==0 ) r->other = i;
    zt_error_clear(&failed);
    return r->b->err->rc;
  }
  name = m.zip.name;
  if( npz_has_suffix(name) ) name.n -= 4;
  npz_set_encoding(r, &m.zip, &record);
  record.unread = record.codec==ZT_CODEC_UNKNOWN;
  record.offset = m.offset;
  record.unsized = m.offset==0;   /* It was not found */
  if( !record.unsized ) record.length = m.zip.stored;
  if( !failed.rc && !record.unread ) npz_read_header(r, &m, &record.npy, shape, &failed);
  if( failed.rc && npz_set_fault(r, &failed, &record) ) goto end;
  if( npz_check_name(r, m.zip.name) ) goto end;
  if( !record.unread || record.foreign ) npz_place(&m, &record);
  if( !record.unread && record.behind && npz_note_behind(r, name, record.behind) ) goto end;
  sqlite3_snprintf(sizeof(digest), digest, "crc32:%08x", m.zip.crc);
  record.digest = npz_put_text(r, digest, sizeof(digest)-1);
  npz_put(r, name, &record, shape);
end:
  zt_error_clear(&failed);
  return r->b->err->rc;
}

static int npz_add_members(npz_reader *r){
  uint32_t n = zt_zip_members(r->zip);
  for(uint32_t i=0; i<n; i++){
    if( (i & NPZ_POLL_MEMBERS)==NPZ_POLL_MEMBERS
     && zt_interrupt_check(r->b->interrupt, r->b->err) ) return r->b->err->rc;
    if( npz_add_member(r, i) ) return r->b->err->rc;
  }
  if( n==0 || r->n>r->nGuessed ) return SQLITE_OK;
  return zt_break(r->b->err, "NZ3",
                  "a zip archive in which no member is a tensor file of a known format");
}

/* Move all that was read into the container. */
static int npz_fill(npz_reader *r){
  zt_builder *b = r->b;
  uint32_t manifest, texts;
  zt_npy_record record;
  zt_builder_reserve(b, r->n, r->n);
  if( zt_builder_keep(b, r->manifest.p, r->manifest.n, &manifest)
   || zt_builder_keep(b, r->texts.p, r->texts.n, &texts) ) return b->err->rc;
  for(size_t at=0; at<r->records.n; at+=sizeof(record)+record.npy.rank*sizeof(uint64_t)){
    uint64_t shape[ZT_MAX_RANK];
    bool duplicate;
    memcpy(&record, r->records.p+at, sizeof(record));
    memcpy(shape, r->records.p+at+sizeof(record), record.npy.rank*sizeof(*shape));
    record.name += manifest;
    record.encoding_at += texts;
    if( record.attributes ) record.attributes += texts;
    record.digest += texts;
    if( record.fault ) record.fault += texts;
    if( zt_npy_add(b, &record, shape, &duplicate) ) return b->err->rc;
    if( duplicate ){
      b->err->object = (zt_text){ (const char*)b->container->kept.p+record.name,
                                  record.name_length };
      return zt_break(b->err, "NZ2", "two members have this name");
    }
  }
  zt_manifest_set_map(&b->container->manifest, manifest, 0);
  return SQLITE_OK;
}

static zt_probe npz_probe(const zt_head_tail *input, zt_error *err){
  (void)err;
  return zt_zip_probe(input) && !zt_source_is_range(input->source) ? ZT_PROBE_PERHAPS
                                                                   : ZT_PROBE_NO;
}

static int npz_open(zt_builder *b, const zt_head_tail *input){
  zt_container *c = b->container;
  npz_reader r = {
    .b = b, .manifest = { .err = b->err }, .texts = { .err = b->err }, .records = { .err = b->err },
    .descr = { .err = b->err }, .header = { .err = b->err }
  };
  if( zt_zip_of(input, &r.zip, b->err) || zt_zip_note_outside(r.zip, b) ) return b->err->rc;
  c->rules = ZT_RULE_DIGEST_OF_DECODED;
  c->gap = UINT64_MAX;   /* Local headers, and members that are not arrays */
  zt_zip_directory(r.zip, &c->manifest_offset, &c->manifest_length);
  zt_cbor_put_items(&r.manifest, (zt_span){ (const uint8_t*)"\xbf", 1 });
  npz_add_members(&r);
  zt_cbor_put_items(&r.manifest, (zt_span){ (const uint8_t*)"\xff", 1 });
  if( !b->err->rc && npz_fill(&r)==SQLITE_OK && npz_note_unseen(&r)==SQLITE_OK ){
    npz_keep_unlisted(&r);
  }
  sqlite3_free(r.unseen);
  zt_inflate_free(r.inflate);
  zt_cbor_out_clear(&r.manifest);
  zt_cbor_out_clear(&r.texts);
  zt_cbor_out_clear(&r.records);
  zt_cbor_out_clear(&r.descr);
  zt_cbor_out_clear(&r.header);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         `savez`, `savez_compressed`, any zip archive with arrays; zip64
**   known by     a zip archive with an array in it
**   version      NULL
**   manifest     the headers of all arrays
**   attributes   none
**   objects      the archive's members that are arrays, without `.npy`
**   of objects   as npy
**   components   one, `data`: the array alone, `raw` or `deflate`; `digest` is the member's CRC-32
*/
const zt_driver zt_driver_npz = {
  .name = "npz",
  .format = "npz",
  .files = "*.npz",
  .rules = { zt_rules_zip, zt_rules_npy, npz_rules },
  .probe = npz_probe,
  .open = npz_open,
  .object = zt_npy_object,
  .component = zt_npy_component,
  .steps = &zt_manifest_steps,
};
