/* Zip archives for drivers (npz, PyTorch): the central directory, and the places of members' data.
** The directory is used for names, sizes, methods and digests; local headers only for where the
** data begin (APPNOTE.TXT 4.3). Names are bytes; drivers check UTF-8. Rule numbers: zip.c. */
#ifndef ZT_CONTAINER_ZIP_H
#define ZT_CONTAINER_ZIP_H

#include "container/builder.h"

typedef struct zt_zip zt_zip;

extern const zt_rule zt_rules_zip[];

/* Compression methods (APPNOTE.TXT 4.4.5). Members may have others. */
enum { ZT_ZIP_STORED = 0, ZT_ZIP_DEFLATE = 8, ZT_ZIP_BZIP2 = 12, ZT_ZIP_LZMA = 14 };

/* A directory's entry; the name is borrowed from the directory. */
typedef struct zt_zip_member {
  zt_text name;
  uint64_t header;         /* Offset of its local header */
  uint64_t stored, size;   /* Stored and decoded bytes */
  uint32_t crc;            /* Of the decoded bytes */
  unsigned method;
  uint32_t number;         /* In the directory's order */
  const char *fault_rule, *fault;   /* Static: why its bytes cannot be read, and the rule; the sizes
                                    ** are then arbitrary. NULL: no fault */
} zt_zip_member;

/* A method's encoding: static, or, if unknown, written into room (ZT_ZIP_ENCODING_MAX bytes). */
#define ZT_ZIP_ENCODING_MAX 16
zt_text zt_zip_encoding(unsigned method, char *room, zt_codec_id *codec);

/* True if the file begins with a local header or the end of an empty directory. */
bool zt_zip_probe(const zt_head_tail *input);

/* True if the file begins like a program, behind which an archive may be. */
bool zt_zip_probe_program(const zt_head_tail *input);

/* The archive, opened by the first such call for this input, which owns it. */
int zt_zip_of(const zt_head_tail *input, zt_zip **out, zt_error *err);

/* Read and check the central directory. A fault of one member alone is set in that member. *out is
** NULL on failure. The directory has at most ZT_MAX_MANIFEST bytes. The interrupt, which may be
** NULL, must stay while the archive is open. */
int zt_zip_open(zt_source *source, const zt_interrupt *interrupt, zt_zip **out, zt_error *err);
void zt_zip_close(zt_zip *z);   /* NULL is allowed */

/* The number of members, and each by number. */
uint32_t zt_zip_members(const zt_zip *z);
void zt_zip_member_at(const zt_zip *z, uint32_t i, zt_zip_member *out);

/* The last member with that name; -1 if there is none, or on failure. The first call reads all
** names; later ones take constant time. */
int64_t zt_zip_find(zt_zip *z, zt_text name, zt_error *err);

/* True if the archive has a comment, or a member has one. */
bool zt_zip_has_comment(const zt_zip *z);

/* Tell the container where the archive ends, and note bytes before and behind it (ZP13, ZP14). */
int zt_zip_note_outside(const zt_zip *z, zt_builder *b);

/* The directory's place. */
void zt_zip_directory(const zt_zip *z, uint64_t *offset, uint64_t *length);

/* Read the local header and up to n bytes of data, usually in one read. *got is n, or the size of
** smaller data. *offset is where the data begin. Fails with the member's fault, a wrong local
** header, or data that lie outside the file or in the next member. */
int zt_zip_locate(zt_zip *z, zt_source *source, const zt_zip_member *member, uint64_t *offset,
                  void *buffer, size_t n, size_t *got, zt_error *err);

/* Read the local header's name of a member, after zt_zip_locate() failed with ZP10. *out is in the
** buffer: the name, or the last n bytes of a longer one; empty if there is no local header. */
int zt_zip_local_name(const zt_zip *z, zt_source *source, const zt_zip_member *member,
                      char *buffer, size_t n, zt_text *out, zt_error *err);

#endif
