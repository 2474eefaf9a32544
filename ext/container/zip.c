/*
** Zip archives (PKWARE APPNOTE.TXT 6.3.10). See zip.h.
**
**   archive   := (local data)* directory end64? end     ; gaps between members are ignored
**   end       := "PK\5\6" ... comment     ; ZP1: within the file's last 65,557 bytes; the comment
**                                         ; ends where the file does. As in Python and torch, bytes
**                                         ; may follow the last such signature
**   directory := entry*                   ; ZP2: it ends where its end record begins, has at most
**                                         ; ZT_MAX_MANIFEST bytes, and is all in this file. Behind
**                                         ; a program, offsets may count from the archive's begin
**   end64     := record locator           ; ZP3: if fields of `end` say so, or the directory ends
**                                         ; elsewhere. The locator points to the record, which ends
**                                         ; where the locator begins
**   entry     := "PK\1\2" ... name extra comment   ; ZP4: each is whole, and their number is as the
**                                         ; end record says
**   local     := "PK\3\4" ... name extra
**
**   ZP12 it is the file's only archive: none lies before the one that ends with the file, whose
**        offsets count from its own begin, or, as those of Python's zipfile, from the file's
**   ZP13 no byte follows behind it
**   ZP14 none is before its first member, but for a program
**
** Faults of one member, which hide no other:
**
**   ZP5  an entry whose sizes or offset say so has them in a zip64 extra field
**   ZP6  local header and data lie before the directory
**   ZP7  a stored member has equal sizes
**   ZP8  it is neither encrypted nor a patch of another file
**   ZP9  it is in this file, not in another part of a spanned archive
**   ZP10 the entry's offset is that of a local header with its name
** Members without these faults:
**   ZP11 no two members share a byte. The directory does not know the length of a local header's
**        extra field: if the data reach into the next member, the located member has the fault
**
** An unsound end record may be part of the comment of an earlier one. Data descriptors, digital
** signatures and dates are ignored.
*/
#include "container/zip.h"

#include <assert.h>
#include "core/host.h"
#include "core/sort.h"

#define ZIP_END 22                 /* Bytes of an end record without its comment, */
#define ZIP_COMMENT_MAX 0xFFFF     /* and the longest comment */
#define ZIP_LOCATOR 20
#define ZIP_END64 56
#define ZIP_ENTRY 46
#define ZIP_LOCAL 30
#define ZIP_TAIL ((size_t)1 << 10) /* Bytes that are searched first */
#define ZIP_ENCRYPTED 0x41u        /* Flags of encryption, and of strong encryption */
#define ZIP_PATCH 0x20u            /* Flag of a difference from another file */
#define ZIP_WINDOW ((size_t)64 << 10)   /* Bytes that are read at once for close members: */
#define ZIP_NEAR 16384u                 /* those that begin within this distance */
#define ZIP_EXTRA 64               /* Expected bytes of extra fields: writers align data to 64 */
#define ZIP_PIECE ((size_t)16 << 20)
#define ZIP_POLL_MEMBERS 0xFFFFu   /* Members between checks for an interrupt, less 1 */

const zt_rule zt_rules_zip[] = {
  ZT_ERROR("ZP1", "zip-end", "a zip archive ends with its end record", ZT_SPEC_ZIP("4.3.16")),
  ZT_ERROR("ZP2", "zip-directory",
           "a zip archive's directory lies before its end record, and has at most 1 GiB",
           ZT_SPEC_ZIP("4.3.16, 4.3.14")),
  ZT_ERROR("ZP3", "zip64-locator", "a zip64 locator points to the end record before it",
           ZT_SPEC_ZIP("4.3.15")),
  ZT_ERROR("ZP4", "zip-entries",
           "a zip archive's directory has as many whole entries as its end record says",
           ZT_SPEC_ZIP("4.3.12")),
  ZT_ERROR("ZP5", "zip64-field", "sizes that do not fit 32 bits are in a zip64 field (zip)",
           ZT_SPEC_ZIP("4.5.3")),
  ZT_ERROR("ZP6", "zip-range", "a member lies before the directory (zip)", ZT_SPEC_ZIP("4.4.16")),
  ZT_ERROR("ZP7", "zip-sizes", "a stored member has equal stored and decoded sizes (zip)",
           ZT_SPEC_ZIP("4.4.8, 4.4.9")),
  ZT_WARNING("ZP8", "zip-encrypted", "a member is neither encrypted nor a patch (zip)",
             ZT_SPEC_ZIP("4.4.4")),
  ZT_WARNING("ZP9", "zip-spanned", "a member lies in this file, not on another disk (zip)",
           ZT_SPEC_ZIP("4.4.11")),
  ZT_ERROR("ZP10", "zip-local-header", "a member has a local header of its name (zip)",
           ZT_SPEC_ZIP("4.3.7")),
  ZT_ERROR("ZP11", "zip-overlap", "no two members share a byte (zip)", ZT_SPEC_SENSE),
  ZT_UNSUPPORTED("ZP12", "zip-several", "a file has one zip archive, and not several",
                 ZT_SPEC_OURS),
  ZT_WARNING("ZP13", "zip-behind", "a zip archive ends its file", ZT_SPEC_ZIP("4.3.16")),
  ZT_WARNING("ZP14", "zip-before", "a zip archive begins its file, or is behind a program",
             ZT_SPEC_ZIP("4.3.6")),
  ZT_RULES_END
};

/* The bytes of a member, as the directory knows them; none if it has a fault. */
typedef struct zip_range {
  uint64_t begin, end;
  uint32_t member;
} zip_range;

struct zt_zip {
  const zt_interrupt *interrupt;
  uint8_t *directory;              /* Owned, not NULL */
  size_t n;
  uint64_t front;                  /* Bytes of a program that offsets do not count */
  uint64_t offset;                 /* The directory's, in the file */
  uint64_t before;                 /* Bytes before the first member, which no program has */
  uint64_t end;                    /* That of the archive, with its comment */
  uint32_t disk;                   /* This file's number in a spanned archive */
  bool comment;                    /* The archive or a member has one */
  zt_u32_array entries;            /* Position of each in the directory */
  zip_range *ranges;               /* Sound members' by offset; owned. NULL: all members are sound
                                   ** and in the directory's order */
  uint32_t nRanges;
  zt_keys names;                   /* Empty until needed */
  uint32_t next;                   /* The member after the last found one */
  uint8_t *scratch;                /* A local header and the bytes after it; owned */
  size_t capacity;
  uint64_t from, have;             /* The file's range in scratch */
  uint64_t last;                   /* Offset of the last local header read */
};

/* Fields of an end record. */
typedef struct zip_end {
  uint64_t at;                     /* Its offset, or that of the zip64 record */
  uint32_t disk, directory_disk;
  uint64_t here, entries;          /* Entries in this file, and in all */
  uint64_t size, offset;           /* The directory's; the offset without front, */
  uint64_t front;                  /* the bytes before the archive that offsets do not count */
  uint64_t end;                    /* The archive's, with its comment, of which there is one */
  bool comment;
} zip_end;

zt_text zt_zip_encoding(unsigned method, char *room, zt_codec_id *codec){
  static const struct { unsigned method; zt_codec_id codec; zt_text name; } known[] = {
    { ZT_ZIP_STORED, ZT_CODEC_RAW, ZT_TEXT_INIT("raw") },
    { ZT_ZIP_DEFLATE, ZT_CODEC_DEFLATE, ZT_TEXT_INIT("deflate") },
    { ZT_ZIP_BZIP2, ZT_CODEC_UNKNOWN, ZT_TEXT_INIT("bzip2") },
    { ZT_ZIP_LZMA, ZT_CODEC_UNKNOWN, ZT_TEXT_INIT("lzma") },
  };
  for(size_t i=0; i<sizeof(known)/sizeof(*known); i++){
    if( known[i].method!=method ) continue;
    *codec = known[i].codec;
    return known[i].name;
  }
  *codec = ZT_CODEC_UNKNOWN;
  sqlite3_snprintf(ZT_ZIP_ENCODING_MAX, room, "zip.%u", method);
  return (zt_text){ room, strlen(room) };
}

bool zt_zip_probe(const zt_head_tail *input){
  return input->head.n>=4 && (memcmp(input->head.p, "PK\3\4", 4)==0
                              || memcmp(input->head.p, "PK\5\6", 4)==0);
}

bool zt_zip_probe_program(const zt_head_tail *input){
  static const struct { const char *bytes; size_t n; } programs[] = {
    { "MZ", 2 }, { "\x7f" "ELF", 4 }, { "#!", 2 }, { "\xcf\xfa\xed\xfe", 4 }   /* Mach-O */
  };
  for(size_t i=0; i<sizeof(programs)/sizeof(*programs); i++){
    if( zt_head_is(input, programs[i].bytes, programs[i].n) ) return true;
  }
  return false;
}

int zt_zip_of(const zt_head_tail *input, zt_zip **out, zt_error *err){
  if( !*input->zip ) zt_zip_open(input->source, input->interrupt, input->zip, err);
  *out = *input->zip;
  return err->rc;
}

/* --- The end of the archive --- */

static zip_end zip_read_end(const uint8_t *p, uint64_t at){
  return (zip_end){
    .at = at, .disk = zt_le16(p+4), .directory_disk = zt_le16(p+6), .here = zt_le16(p+8),
    .entries = zt_le16(p+10), .size = zt_le32(p+12), .offset = zt_le32(p+16)
  };
}

static bool zip_wants_end64(const zip_end *e){
  return e->disk==0xFFFF || e->directory_disk==0xFFFF || e->here==0xFFFF || e->entries==0xFFFF
      || e->size==0xFFFFFFFF || e->offset==0xFFFFFFFF;
}

/* Read a zip64 record; *found is whether one begins there that ends where its locator begins. */
static int zip_read_record64(zt_source *source, uint64_t begin, uint64_t locator, uint8_t *p,
                             bool *found, zt_error *err){
  *found = false;
  if( zt_source_read(source, begin, p, ZIP_END64, err) ) return err->rc;
  *found = memcmp(p, "PK\6\6", 4)==0 && zt_le64(p+4)==locator-begin-12;
  return SQLITE_OK;
}

/* True if the file does not begin with the archive, as behind a program. */
static bool zip_has_front(zt_source *source, zt_error *err){
  uint8_t p[4];
  return zt_source_read(source, 0, p, sizeof(p), err)==SQLITE_OK && memcmp(p, "PK", 2)!=0;
}

/* True if the directory ends where its record says that it does, but for the bytes before the
** archive: *front is their number. */
static bool zip_is_moved(const zip_end *e, uint64_t *front){
  if( e->size>e->at || e->offset>=e->at-e->size ) return false;
  *front = e->at-e->size-e->offset;
  return true;
}

static int zip_fail_several(uint64_t begin, zt_error *err){
  return zt_break(err, "ZP12", "several zip archives, one behind the other, as"
                  " torch.distributed.checkpoint writes them: the last one begins at byte %llu",
                  (unsigned long long)begin);
}

/* ZP12: the archive begins so many bytes behind the file's begin, where another one does. */
static int zip_check_only(zt_source *source, const zip_end *e, uint64_t front, zt_error *err){
  uint8_t begin[4], directory[4];
  if( zt_source_read(source, front, begin, sizeof(begin), err)
   || zt_source_read(source, e->at-e->size, directory, sizeof(directory), err)
   || memcmp(begin, "PK\3\4", 4)!=0 || memcmp(directory, "PK\1\2", 4)!=0 ) return err->rc;
  return zip_fail_several(front, err);
}

static zip_end zip_read_wide_end(const uint8_t *p, uint64_t at){
  return (zip_end){
    .at = at, .disk = zt_le32(p+16), .directory_disk = zt_le32(p+20), .here = zt_le64(p+24),
    .entries = zt_le64(p+32), .size = zt_le64(p+40), .offset = zt_le64(p+48)
  };
}

/* Look for a zip64 record right before its locator, at `at`, which points elsewhere: to `points`.
** Behind a program that is its place. */
static int zip_find_record64(zt_source *source, uint64_t points, uint64_t at, uint8_t *p,
                             bool *found, zt_error *err){
  const uint64_t begin = at-ZIP_END64;
  const bool program = zip_has_front(source, err);
  zip_end moved;
  uint64_t front;
  if( err->rc || zip_read_record64(source, begin, at, p, found, err) || program || !*found ){
    return err->rc;
  }
  *found = false;
  moved = zip_read_wide_end(p, begin);
  if( !zip_is_moved(&moved, &front) || begin-front!=points ) return SQLITE_OK;
  return zip_check_only(source, &moved, front, err);
}

/* ZP3: read the zip64 record, if a locator precedes the end record. *e is replaced by it. */
static int zip_read_end64(zt_source *source, zip_end *e, zt_error *err){
  uint8_t locator[ZIP_LOCATOR], p[ZIP_END64];
  uint64_t at, begin;
  bool found;
  if( e->at<ZIP_LOCATOR+ZIP_END64 ) return SQLITE_OK;
  at = e->at-ZIP_LOCATOR;
  if( zt_source_read(source, at, locator, ZIP_LOCATOR, err) ) return err->rc;
  if( memcmp(locator, "PK\6\7", 4)!=0 ) return SQLITE_OK;   /* There is no zip64 record */
  if( zt_le32(locator+16)>1 ){
    return zt_break(err, "ZP2", "a part of an archive in several: its directory is not all here");
  }
  begin = zt_le64(locator+8);
  if( begin>at-ZIP_END64 ){
    return zt_break(err, "ZP3", "the zip64 locator points to byte %llu, behind itself",
                    (unsigned long long)begin);
  }
  if( zip_read_record64(source, begin, at, p, &found, err) ) return err->rc;
  if( !found ){
    if( zip_find_record64(source, begin, at, p, &found, err) ) return err->rc;
    if( !found ){
      return zt_break(err, "ZP3", "the zip64 locator points to byte %llu, where no record begins"
                      " that ends before it", (unsigned long long)begin);
    }
    begin = at-ZIP_END64;
  }
  *e = zip_read_wide_end(p, begin);
  return SQLITE_OK;
}

/* ZP2, ZP12: check an end record, which is replaced by its zip64 record. */
static int zip_check_end(zt_source *source, zip_end *e, zt_error *err){
  uint64_t front;
  if( (zip_wants_end64(e) || e->size>e->at || e->offset!=e->at-e->size)
   && zip_read_end64(source, e, err) ) return err->rc;
  if( e->directory_disk!=e->disk || e->here!=e->entries ){
    return zt_break(err, "ZP2", "a part of an archive in several: its directory is not all here");
  }
  if( zip_is_moved(e, &front) ){
    if( zip_has_front(source, err) ) e->front = front;
    else if( err->rc || zip_check_only(source, e, front, err) ) return err->rc;
  }
  if( e->size>e->at || e->offset!=e->at-e->size-e->front ){
    return zt_break(err, "ZP2", "a directory of %llu bytes at %llu does not end at its end record,"
                    " at %llu", (unsigned long long)e->size, (unsigned long long)e->offset,
                    (unsigned long long)e->at);
  }
  if( e->size>ZT_MAX_MANIFEST ){
    return zt_break(err, "ZP2", "a directory of %llu bytes, which is more than 1 GiB",
                    (unsigned long long)e->size);
  }
  if( e->entries>e->size/ZIP_ENTRY ){
    return zt_break(err, "ZP4", "%llu entries are more than a directory of %llu bytes has room for",
                    (unsigned long long)e->entries, (unsigned long long)e->size);
  }
  return SQLITE_OK;
}

/* ZP1: look for a sound end record in p, the last n bytes of the file, backwards. *why is the error
** of the first unsound one, or the system's. loose: check the last record alone, and allow bytes
** after it. */
static bool zip_search(zt_source *source, const uint8_t *p, size_t n, bool loose, zip_end *out,
                       zt_error *why){
  uint64_t size = zt_source_size(source);
  bool last = true;
  for(size_t at=n-ZIP_END+1; at-->0 && (last || !loose); ){
    zt_error failed = ZT_ERROR_NONE;
    if( p[at]!='P' || memcmp(p+at, "PK\5\6", 4)!=0 ) continue;
    last = false;
    if( loose ? zt_le16(p+at+20)>n-at-ZIP_END : zt_le16(p+at+20)!=n-at-ZIP_END ) continue;
    *out = zip_read_end(p+at, size-n+at);
    failed.path = why->path;
    if( zip_check_end(source, out, &failed)==SQLITE_OK ){
      out->comment = zt_le16(p+at+20)>0;
      out->end = size-n+at+ZIP_END+zt_le16(p+at+20);
      zt_error_clear(why);
      return true;
    }
    if( why->rc && zt_error_is_of_file(&failed) ){
      zt_error_clear(&failed);
      continue;
    }
    zt_error_clear(why);
    *why = failed;
    if( !zt_error_is_of_file(why) ) return false;
  }
  return false;
}

/* ZP1. Most archives have no comment, or a short one. */
static int zip_find_end(zt_source *source, zip_end *out, zt_error *err){
  const uint64_t size = zt_source_size(source);
  const size_t most = size<ZIP_END+ZIP_COMMENT_MAX ? (size_t)size : ZIP_END+ZIP_COMMENT_MAX;
  size_t n = most<ZIP_TAIL ? most : ZIP_TAIL;
  zt_error why = { .path = err->path };
  uint8_t *p;
  bool found = false;
  if( size<ZIP_END ) return zt_break(err, "ZP1", "the archive's end record is missing");
  p = sqlite3_malloc64(most);
  if( !p ) return zt_fail_nomem(err);
  for(;; n=most){
    if( zt_source_read(source, size-n, p, n, err) ) break;
    zt_error_clear(&why);
    found = zip_search(source, p, n, false, out, &why);
    if( found || n==most || (why.rc && !zt_error_is_of_file(&why)) ) break;
  }
  if( !err->rc && !found && !why.rc ) found = zip_search(source, p, n, true, out, &why);
  sqlite3_free(p);
  if( err->rc ) zt_error_clear(&why);
  else if( why.rc ) *err = why;
  else if( !found ){
    zt_break(err, "ZP1", "the archive's end record is missing: the file may be cut short");
  }
  return err->rc;
}

/* --- The directory --- */

/* ZP4 */
static int zip_scan(zt_zip *z, uint64_t entries, zt_error *err){
  size_t at = 0;
  zt_u32_array_reserve(&z->entries, entries);
  for(uint64_t i=0; i<entries; i++){
    const uint8_t *p = z->directory+at;
    size_t remaining = z->n-at;
    if( (i & ZIP_POLL_MEMBERS)==ZIP_POLL_MEMBERS && zt_interrupt_check(z->interrupt, err) ){
      return err->rc;
    }
    if( remaining<ZIP_ENTRY || memcmp(p, "PK\1\2", 4)!=0
     || remaining-ZIP_ENTRY<(size_t)zt_le16(p+28)+zt_le16(p+30)+zt_le16(p+32) ){
      return zt_break(err, "ZP4", "byte %llu: the directory has %llu entries, and number %llu is"
                      " not whole", (unsigned long long)z->offset+at,
                      (unsigned long long)entries, (unsigned long long)i);
    }
    if( zt_u32_array_push(&z->entries, at, err) ) return err->rc;
    z->comment |= zt_le16(p+32)>0;
    at += ZIP_ENTRY + (size_t)zt_le16(p+28)+zt_le16(p+30)+zt_le16(p+32);
  }
  if( at<z->n ){
    return zt_break(err, "ZP4", "byte %llu: the directory goes on behind its %llu entries",
                    (unsigned long long)z->offset+at, (unsigned long long)entries);
  }
  return SQLITE_OK;
}

/* ZP5: read the next zip64 field if the short one has the mark. False if it is missing. */
static bool zip_read_wide(zt_span *extra, unsigned width, uint64_t mark, uint64_t *field){
  if( *field!=mark ) return true;
  if( extra->n<width ) return false;
  *field = width==8 ? zt_le64(extra->p) : zt_le32(extra->p);
  extra->p += width;
  extra->n -= width;
  return true;
}

/* The zip64 field of an entry; empty if there is none. */
static zt_span zip_extra64(const uint8_t *p, size_t n){
  while( n>=4 ){
    size_t size = zt_le16(p+2);
    if( size>n-4 ) break;
    if( zt_le16(p)==1 ) return (zt_span){ p+4, size };
    p += 4+size;
    n -= 4+size;
  }
  return (zt_span){ NULL, 0 };
}

static void zip_set_fault(zt_zip_member *m, const char *rule, const char *fault){
  if( m->fault ) return;
  m->fault_rule = rule;
  m->fault = fault;
}

/* ZP5 to ZP9 */
static void zip_check_member(const zt_zip *z, zt_zip_member *m, unsigned flags, uint64_t disk,
                      bool widened){
  uint64_t end;
  if( !widened ){
    zip_set_fault(m, "ZP5", "its size or place is in a zip64 field, which is missing");
  }
  if( disk!=z->disk ) zip_set_fault(m, "ZP9", "it is in another part of a spanned archive");
  if( !zt_add64(m->header, z->front, &m->header)
   || !zt_add64(m->header, ZIP_LOCAL+m->name.n, &end) || !zt_claim(z->offset, end, m->stored) ){
    zip_set_fault(m, "ZP6", "its bytes would lie beyond the archive's directory");
  }
  if( m->method==ZT_ZIP_STORED && m->stored!=m->size ){
    zip_set_fault(m, "ZP7", "it is stored as it is, and has two different sizes");
  }
  if( flags & ZIP_ENCRYPTED ) zip_set_fault(m, "ZP8", "it is encrypted");
  if( flags & ZIP_PATCH ) zip_set_fault(m, "ZP8", "it is a patch of another file");
}

void zt_zip_member_at(const zt_zip *z, uint32_t i, zt_zip_member *out){
  const uint8_t *p = z->directory+z->entries.a[i];
  const size_t name = zt_le16(p+28);
  zt_span extra = zip_extra64(p+ZIP_ENTRY+name, zt_le16(p+30));
  uint64_t disk = zt_le16(p+34);
  bool widened;
  *out = (zt_zip_member){
    .name = { (const char*)p+ZIP_ENTRY, name }, .header = zt_le32(p+42), .stored = zt_le32(p+20),
    .size = zt_le32(p+24), .crc = zt_le32(p+16), .method = zt_le16(p+10), .number = i
  };
  widened = zip_read_wide(&extra, 8, 0xFFFFFFFF, &out->size)
         && zip_read_wide(&extra, 8, 0xFFFFFFFF, &out->stored)
         && zip_read_wide(&extra, 8, 0xFFFFFFFF, &out->header)
         && zip_read_wide(&extra, 4, 0xFFFF, &disk);
  zip_check_member(z, out, zt_le16(p+8), disk, widened);
}

/* --- Overlaps --- */

static int zip_compare_ranges(const void *context, const void *a, const void *b){
  const zip_range *x = a, *y = b;
  (void)context;
  return x->begin<y->begin ? -1 : x->begin>y->begin;
}

static zip_range zip_range_of(const zt_zip *z, uint32_t i){
  zt_zip_member m;
  zt_zip_member_at(z, i, &m);
  if( m.fault ) return (zip_range){ 0, 0, i };
  return (zip_range){ m.header, m.header+ZIP_LOCAL+m.name.n+m.stored, i };
}

static int zip_fail_shared(const zt_zip *z, uint32_t i, uint32_t k, zt_error *err){
  zt_zip_member a, b;
  zt_zip_member_at(z, i, &a);
  zt_zip_member_at(z, k, &b);
  return zt_break(err, "ZP11", "members '%.*s' and '%.*s' share bytes of the archive",
                  zt_shown(a.name), a.name.z, zt_shown(b.name), b.name.z);
}

/* ZP11, if members are not in the directory's order, or have faults. */
static int zip_check_sorted(zt_zip *z, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(zip_range), .compare = zip_compare_ranges, .interrupt = z->interrupt
  };
  zip_range *a = sqlite3_malloc64((uint64_t)z->entries.n*sizeof(*a));
  uint32_t n = 0;
  if( !a ) return zt_fail_nomem(err);
  for(uint32_t i=0; i<z->entries.n; i++){
    a[n] = zip_range_of(z, i);
    n += a[n].end>0;
  }
  zt_sort(a, n, &by, err);
  for(uint32_t i=1; i<n && !err->rc; i++){
    if( a[i].begin<a[i-1].end ) zip_fail_shared(z, a[i-1].member, a[i].member, err);
  }
  z->ranges = a;
  z->nRanges = n;
  return err->rc;
}

/* ZP11. Without it, a small archive could have any number of members of any size. */
static int zip_check_shared(zt_zip *z, zt_error *err){
  uint64_t end = 0;
  for(uint32_t i=0; i<z->entries.n; i++){
    zip_range r = zip_range_of(z, i);
    if( (i & ZIP_POLL_MEMBERS)==ZIP_POLL_MEMBERS && zt_interrupt_check(z->interrupt, err) ){
      return err->rc;
    }
    if( r.end==0 || r.begin<end ) return zip_check_sorted(z, err);
    end = r.end;
  }
  return SQLITE_OK;
}

/* The next sound member by offset; -1 if there is none. */
static int64_t zip_next(const zt_zip *z, const zt_zip_member *m){
  uint32_t low = 0, high = z->nRanges;
  if( !z->ranges ) return m->number+1<z->entries.n ? (int64_t)m->number+1 : -1;
  while( low<high ){
    const uint32_t middle = low+(high-low)/2;
    if( z->ranges[middle].begin<=m->header ) low = middle+1;
    else high = middle;
  }
  return low<z->nRanges ? (int64_t)z->ranges[low].member : -1;
}

/* ZP11 for a member with an extra field, whose data end at `end`. */
static int zip_check_end_of_data(const zt_zip *z, const zt_zip_member *m, uint64_t end,
                                 zt_error *err){
  const int64_t k = zip_next(z, m);
  zt_zip_member next;
  if( k<0 ) return SQLITE_OK;
  zt_zip_member_at(z, (uint32_t)k, &next);
  return next.header>=end ? SQLITE_OK : zip_fail_shared(z, m->number, (uint32_t)k, err);
}

/* --- Other archives --- */

/* Where the first sound member begins, or, if there is none, the directory. */
static uint64_t zip_begin(const zt_zip *z){
  if( z->ranges ) return z->nRanges ? z->ranges[0].begin : z->offset;
  return z->entries.n ? zip_range_of(z, 0).begin : z->offset;
}

/* True if an end record stands in the bytes before, which a comment and a file may follow. */
static bool zip_has_end(const uint8_t *p, size_t n){
  for(size_t at=0; at+ZIP_END<=n; at++){
    if( p[at]=='P' && memcmp(p+at, "PK\5\6", 4)==0 && zt_le16(p+at+4)==zt_le16(p+at+6)
     && zt_le16(p+at+20)<=n-at-ZIP_END ) return true;
  }
  return false;
}

/* ZP12: no archive ends before this one begins, as far back as an end record is looked for. */
static int zip_check_before(zt_zip *z, zt_source *source, zt_error *err){
  const uint64_t begin = zip_begin(z);
  const size_t n = begin<ZIP_END+ZIP_COMMENT_MAX ? (size_t)begin : ZIP_END+ZIP_COMMENT_MAX;
  uint8_t *p;
  if( begin==0 || z->front>0 || zip_has_front(source, err) || err->rc ) return err->rc;
  z->before = begin;
  p = sqlite3_malloc64(n);
  if( !p ) return zt_fail_nomem(err);
  if( zt_source_read(source, begin-n, p, n, err)==SQLITE_OK && zip_has_end(p, n) ){
    zip_fail_several(begin, err);
  }
  sqlite3_free(p);
  return err->rc;
}

int zt_zip_note_outside(const zt_zip *z, zt_builder *b){
  const uint64_t size = b->container->file_size;
  b->container->own_end = z->end;
  if( z->before
   && zt_builder_note_file(b, "ZP14", "%llu bytes stand before the first member", z->before) ){
    return b->err->rc;
  }
  if( z->end>=size ) return SQLITE_OK;
  return zt_builder_note_file(b, "ZP13", "%llu bytes follow behind the archive", size-z->end);
}

/* --- Opening --- */

static int zip_read_directory(zt_zip *z, zt_source *source, const zip_end *e, zt_error *err){
  z->n = (size_t)e->size;
  z->front = e->front;
  z->offset = e->front+e->offset;
  z->end = e->end;
  z->disk = e->disk;
  z->comment = e->comment;
  z->directory = sqlite3_malloc64(e->size+1);
  if( !z->directory ) return zt_fail_nomem(err);
  for(size_t done=0; done<z->n; ){
    size_t piece = z->n-done<ZIP_PIECE ? z->n-done : ZIP_PIECE;
    if( zt_interrupt_check(z->interrupt, err)
     || zt_source_read(source, z->offset+done, z->directory+done, piece, err) ) return err->rc;
    done += piece;
  }
  return SQLITE_OK;
}

int zt_zip_open(zt_source *source, const zt_interrupt *interrupt, zt_zip **out, zt_error *err){
  static const zt_interrupt never = { NULL, NULL };
  zip_end end = { 0 };
  zt_zip *z;
  *out = NULL;
  if( zip_find_end(source, &end, err) ) return err->rc;
  z = sqlite3_malloc64(sizeof(*z));
  if( !z ) return zt_fail_nomem(err);
  *z = (zt_zip){ .interrupt = interrupt ? interrupt : &never };
  if( zip_read_directory(z, source, &end, err)==SQLITE_OK
   && zip_scan(z, end.entries, err)==SQLITE_OK
   && zip_check_shared(z, err)==SQLITE_OK && zip_check_before(z, source, err)==SQLITE_OK ){
    *out = z;
  }else{
    zt_zip_close(z);
  }
  return err->rc;
}

void zt_zip_close(zt_zip *z){
  if( !z ) return;
  sqlite3_free(z->directory);
  sqlite3_free(z->scratch);
  sqlite3_free(z->ranges);
  zt_u32_array_clear(&z->entries);
  zt_keys_clear(&z->names);
  sqlite3_free(z);
}

uint32_t zt_zip_members(const zt_zip *z){
  return z->entries.n;
}

bool zt_zip_has_comment(const zt_zip *z){
  return z->comment;
}

void zt_zip_directory(const zt_zip *z, uint64_t *offset, uint64_t *length){
  *offset = z->offset;
  *length = z->n;
}

/* --- Members by name --- */

/* The later of two members with one name is used. */
static int zip_add_name(zt_zip *z, uint32_t i, zt_error *err){
  const uint8_t *p = z->directory+z->entries.a[i];
  zt_key key = { z->entries.a[i]+ZIP_ENTRY, zt_le16(p+28) };
  zt_text name = { (const char*)p+ZIP_ENTRY, key.n };
  bool duplicate;
  int64_t first;
  if( zt_keys_add(&z->names, z->directory, key, &duplicate, err) || !duplicate ) return err->rc;
  first = zt_keys_find(&z->names, z->directory, name);
  if( first>=0 ) z->names.a[first].at = key.at;
  return SQLITE_OK;
}

/* The member whose name is at a position of the directory. */
static int64_t zip_member_named_at(const zt_zip *z, uint32_t at){
  uint32_t low = 0, high = z->entries.n;
  while( high-low>1 ){
    uint32_t middle = low+(high-low)/2;
    if( z->entries.a[middle]<at ) low = middle;
    else high = middle;
  }
  return low;
}

static int zip_add_names(zt_zip *z, zt_error *err){
  z->names.interrupt = z->interrupt;
  zt_keys_reserve(&z->names, z->entries.n);
  for(uint32_t i=0; i<z->entries.n; i++){
    if( zip_add_name(z, i, err) ){
      zt_keys_clear(&z->names);
      return err->rc;
    }
  }
  return SQLITE_OK;
}

/* Members are usually looked up in the directory's order. True if the next one has this name, and
** names are unique. */
static bool zip_is_next(const zt_zip *z, zt_text name){
  const uint8_t *p;
  if( z->next>=z->entries.n || z->names.n<z->entries.n ) return false;
  p = z->directory+z->entries.a[z->next];
  return zt_text_equal((zt_text){ (const char*)p+ZIP_ENTRY, zt_le16(p+28) }, name);
}

int64_t zt_zip_find(zt_zip *z, zt_text name, zt_error *err){
  int64_t k;
  if( z->names.n==0 && zip_add_names(z, err) ) return -1;
  if( zip_is_next(z, name) ) return z->next++;
  k = zt_keys_find(&z->names, z->directory, name);
  if( k<0 ) return k;
  k = zip_member_named_at(z, z->names.a[k].at);
  z->next = (uint32_t)k+1;
  return k;
}

/* --- Data of members --- */

static int zip_need_scratch(zt_zip *z, size_t n, zt_error *err){
  uint8_t *p;
  if( n<=z->capacity ) return SQLITE_OK;
  p = sqlite3_realloc64(z->scratch, n);
  if( !p ) return zt_fail_nomem(err);
  z->scratch = p;
  z->capacity = n;
  return SQLITE_OK;
}

/* Read `want` bytes at an offset, before which `remaining` bytes bound them. Members that lie close
** together are read at once. */
static int zip_read_local(zt_zip *z, zt_source *source, uint64_t from, size_t want,
                          uint64_t remaining,
                          const uint8_t **out, zt_error *err){
  const bool follows = from>=z->last && from-z->last<ZIP_NEAR && z->have>0;
  z->last = from;
  if( from<z->from || !zt_claim(z->have, from-z->from, want) ){
    size_t n = follows && want<ZIP_WINDOW ? ZIP_WINDOW : want;
    if( n>remaining ) n = (size_t)remaining;
    z->have = 0;
    if( zip_need_scratch(z, n, err) || zt_source_read(source, from, z->scratch, n, err) ){
      return err->rc;
    }
    z->from = from;
    z->have = n;
  }
  *out = z->scratch+(from-z->from);
  return SQLITE_OK;
}

/* ZP10; p has at least the name, or all bytes before the directory. */
static int zip_check_local(const zt_zip_member *m, const uint8_t *p, size_t n, zt_error *err){
  if( n>=ZIP_LOCAL+m->name.n && memcmp(p, "PK\3\4", 4)==0 && zt_le16(p+26)==m->name.n
   && memcmp(p+ZIP_LOCAL, m->name.z, m->name.n)==0 ) return SQLITE_OK;
  return zt_break(err, "ZP10", "byte %llu: no local header of member '%.*s'",
                  (unsigned long long)m->header, zt_shown(m->name), m->name.z);
}

int zt_zip_locate(zt_zip *z, zt_source *source, const zt_zip_member *m, uint64_t *offset,
                  void *buffer, size_t n, size_t *got, zt_error *err){
  const size_t named = ZIP_LOCAL+m->name.n;
  const uint8_t *p = NULL;
  uint64_t remaining, have;
  size_t want, header;
  *got = 0;
  if( m->fault ) return zt_break(err, m->fault_rule, "%s", m->fault);
  if( n>m->stored ) n = (size_t)m->stored;
  remaining = z->offset-m->header; /* ZP6 */
  want = remaining<named+ZIP_EXTRA+n ? (size_t)remaining : named+ZIP_EXTRA+n;
  if( zip_read_local(z, source, m->header, want, remaining, &p, err) ) return err->rc;
  assert( p );
  if( zip_check_local(m, p, want, err) ) return err->rc;
  header = named+zt_le16(p+28);
  if( header>remaining || m->stored>remaining-header ){
    return zt_break(err, "ZP6", "its bytes would lie beyond the archive's directory");
  }
  if( header>named && zip_check_end_of_data(z, m, m->header+header+m->stored, err) ) return err->rc;
  *offset = m->header+header;
  have = header<want ? want-header : 0;
  if( have>n ) have = n;
  if( have ) memcpy(buffer, p+header, (size_t)have);
  if( have<n && zt_source_read(source, *offset+have, (uint8_t*)buffer+have, n-(size_t)have, err) ){
    return err->rc;
  }
  *got = n;
  return SQLITE_OK;
}

int zt_zip_local_name(const zt_zip *z, zt_source *source, const zt_zip_member *m, char *buffer,
                      size_t n, zt_text *out, zt_error *err){
  uint8_t local[ZIP_LOCAL];
  size_t length, left_out;
  *out = (zt_text){ buffer, 0 };
  assert( !m->fault );   /* ZP6: there is room for a local header */
  if( zt_source_read(source, m->header, local, sizeof(local), err) ) return err->rc;
  length = zt_le16(local+26);
  if( memcmp(local, "PK\3\4", 4)!=0 || !zt_claim(z->offset, m->header+ZIP_LOCAL, length) ){
    return SQLITE_OK;
  }
  left_out = length>n ? length-n : 0;
  out->n = length-left_out;
  return zt_source_read(source, m->header+ZIP_LOCAL+left_out, buffer, out->n, err);
}
