/* A writer of zip archives that can lie in each field. */
#ifndef ZT_TESTS_UNIT_ARCHIVE_H
#define ZT_TESTS_UNIT_ARCHIVE_H

#include "test.h"

static inline void put_le16(blob *b, unsigned u){
  put_byte(b, u & 0xFF);
  put_byte(b, u>>8 & 0xFF);
}

static inline void put_le32(blob *b, uint64_t u){
  put_le16(b, (unsigned)(u & 0xFFFF));
  put_le16(b, (unsigned)(u>>16 & 0xFFFF));
}

/* A member. Fields of the directory that are 0 are those of `data`. */
typedef struct archived {
  const char *name;
  const char *data;
  const char *local;         /* The name in the local header; NULL: the same */
  unsigned method, flags, disk;
  uint64_t stored, size, header;
  const char *extra;         /* The entry's, in hexadecimal */
  unsigned padding;          /* Bytes of extra field in the local header */
  size_t n;                  /* Bytes of data; 0: as many as before a NUL */
  bool no_local;             /* It has no local header of its own, and `header` says where one is */
} archived;

typedef struct archive {
  blob bytes, directory;
  unsigned n;
} archive;

static inline void add_member(archive *a, archived m){
  uint64_t n = m.n ? m.n : strlen(m.data), header = a->bytes.n;
  const char *local = m.local ? m.local : m.name;
  blob extra = { 0 };
  if( m.extra ) put_hex(&extra, m.extra);
  if( !m.no_local ){
    put(&a->bytes, "PK\3\4\24\0", 6);
    put_le16(&a->bytes, m.flags);
    put_le16(&a->bytes, m.method);
    put_repeated(&a->bytes, 0, 16);   /* These sizes are wrong */
    put_le16(&a->bytes, (unsigned)strlen(local));
    put_le16(&a->bytes, m.padding);
    put(&a->bytes, local, strlen(local));
    put_repeated(&a->bytes, 0xAA, m.padding);
    put(&a->bytes, m.data, (size_t)n);
  }
  put(&a->directory, "PK\1\2\24\0\24\0", 8);
  put_le16(&a->directory, m.flags);
  put_le16(&a->directory, m.method);
  put_repeated(&a->directory, 0, 4);
  put_le32(&a->directory, 0x12345678);
  put_le32(&a->directory, m.stored ? m.stored : n);
  put_le32(&a->directory, m.size ? m.size : n);
  put_le16(&a->directory, (unsigned)strlen(m.name));
  put_le16(&a->directory, (unsigned)extra.n);
  put_le16(&a->directory, 0);
  put_le16(&a->directory, m.disk);
  put_repeated(&a->directory, 0, 6);
  put_le32(&a->directory, m.header || m.no_local ? m.header : header);
  put(&a->directory, m.name, strlen(m.name));
  put(&a->directory, extra.p, extra.n);
  free(extra.p);
  a->n++;
}

static inline void put_end(blob *b, unsigned n, uint64_t size, uint64_t offset, const char *comment){
  put(b, "PK\5\6\0\0\0\0", 8);
  put_le16(b, n);
  put_le16(b, n);
  put_le32(b, size);
  put_le32(b, offset);
  put_le16(b, (unsigned)strlen(comment));
  put(b, comment, strlen(comment));
}

static inline void put_end64(blob *b, uint64_t n, uint64_t size, uint64_t offset, uint64_t locator){
  put(b, "PK\6\6", 4);
  put_le64(b, 44);
  put(b, "\55\0\55\0\0\0\0\0\0\0\0\0", 12);
  put_le64(b, n);
  put_le64(b, n);
  put_le64(b, size);
  put_le64(b, offset);
  put(b, "PK\6\7\0\0\0\0", 8);
  put_le64(b, locator);
  put_le32(b, 1);
}

/* The archive, sound if its members are. Of more than 65,534 it is one of zip64. */
static inline blob end_archive(archive *a, const char *comment){
  const uint64_t offset = a->bytes.n, size = a->directory.n;
  const bool many = a->n>=0xFFFF;
  put(&a->bytes, a->directory.p, a->directory.n);
  if( many ) put_end64(&a->bytes, a->n, size, offset, a->bytes.n);
  put_end(&a->bytes, many ? 0xFFFF : a->n, size, offset, comment);
  free(a->directory.p);
  a->directory = (blob){ 0 };
  return seal(&a->bytes);
}

#endif
