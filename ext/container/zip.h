/*
** Zip archives as far as drivers need them (npz, PyTorch): the central directory, and where the
** data of its members is. Interface to code in zip.c; the numbers of the rules are there, too.
**
** The directory is believed for names, sizes, methods and digests, the local headers for where the
** data begins alone (APPNOTE.TXT 4.3). Names are bytes: whether they must be UTF-8 is the driver's
** to say.
*/
#ifndef ZT_CONTAINER_ZIP_H
#define ZT_CONTAINER_ZIP_H

#include "container/driver.h"

typedef struct zt_zip zt_zip;

extern const zt_rule zt_rules_zip[];

/* How a member is stored: APPNOTE.TXT 4.4.5. Others may be met, too. */
enum { ZT_ZIP_STORED = 0, ZT_ZIP_DEFLATE = 8, ZT_ZIP_BZIP2 = 12, ZT_ZIP_LZMA = 14 };

/* A member as the directory has it; the name is borrowed from that. */
typedef struct zt_zip_member {
  zt_text name;
  uint64_t header;         /* Where its local header is */
  uint64_t stored, size;   /* Bytes in the archive, and after decoding */
  uint32_t crc;            /* CRC-32 of those after decoding */
  unsigned method;
  uint32_t number;         /* In the directory's order */
  const char *fault_rule, *fault;   /* Why its bytes cannot be had, static, and the rule; NULL: they
                                    ** can. The sizes may be any then */
} zt_zip_member;

/* What a method is called as an encoding: a static text, or one that is written into room, which
** has ZT_ZIP_ENCODING_MAX bytes, if it is not known. */
#define ZT_ZIP_ENCODING_MAX 16
zt_text zt_zip_encoding(unsigned method, char *room, zt_codec_id *codec);

/* True if the file begins like an archive: with a local header, or with the end of an empty
** directory. */
bool zt_zip_probe(const zt_head_tail *input);

/* Find and read the central directory, and check all of it: it ends with the end record, its
** entries and their number agree, no two members share bytes. What is wrong with one member alone
** is that member's fault. *out is NULL on failure. The directory has at most ZT_MAX_MANIFEST
** bytes. The interrupt, which may be NULL, is asked as long as the archive is open. */
int zt_zip_open(zt_source *source, const zt_interrupt *interrupt, zt_zip **out, zt_error *err);
void zt_zip_close(zt_zip *z);   /* NULL is nothing to close */

/* How many, and each of them, in the directory's order. */
uint32_t zt_zip_members(const zt_zip *z);
void zt_zip_member_at(const zt_zip *z, uint32_t i, zt_zip_member *out);

/* The member of that name, -1 if there is none, or after a failure. The last one, if there are
** several, as zipfile has it. Constant time, after a first call that looks at all names. */
int64_t zt_zip_find(zt_zip *z, zt_text name, zt_error *err);

/* Where the directory is, and its bytes, which are borrowed. */
uint64_t zt_zip_offset(const zt_zip *z);
zt_span zt_zip_directory(const zt_zip *z);

/* Read the local header, and with it up to n bytes of the data (*got of them: fewer only if the
** data has fewer), for formats that begin with a header of their own; one read of the source, as a
** rule. *offset is where the data begins. Fails with the member's fault, if it has one, or if the
** local header is none of its own, or the data not in the file, or in part the next member's. */
int zt_zip_locate(zt_zip *z, zt_source *source, const zt_zip_member *member, uint64_t *offset,
                  void *buffer, size_t n, size_t *got, zt_error *err);

#endif
