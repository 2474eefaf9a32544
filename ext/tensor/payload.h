/*
** A component's bytes: stored, decoded, in part, and whether they have their digest. Knows nothing of what the elements
** mean. Interface to code in payload.c; the encodings are in encoding.h.
*/
#ifndef ZT_TENSOR_PAYLOAD_H
#define ZT_TENSOR_PAYLOAD_H

#include "container/container.h"
#include "core/digest.h"
#include "core/interrupt.h"
#include "core/source.h"

/* Bounds on one call, and whom to ask whether it shall go on. */
typedef struct zt_budget {
  uint64_t result;         /* Most bytes of a result (SQLITE_LIMIT_LENGTH) */
  uint64_t decode;         /* Most bytes to decode, those passed over included */
  zt_interrupt interrupt;
  uint64_t decoded;        /* Bytes decoded so far; starts as 0 */
} zt_budget;

/* A component in its place. Everything is borrowed. */
typedef struct zt_payload {
  zt_source *source;
  const zt_object *object;
  const zt_component *component;
  zt_budget *budget;
} zt_payload;

typedef enum zt_length_state {
  ZT_LENGTH_KNOWN,
  ZT_LENGTH_UNKNOWN,       /* Nothing short of decoding tells */
  ZT_LENGTH_OVERFLOW       /* What shape and dtype make is beyond 64 bits */
} zt_length_state;

/* The number of bytes after decoding, as far as the manifest tells: raw: the stored length; zstd: uncompressed_length,
** and where that is absent, what shape and type of a dense object's data make (zTensor 1.2.0 sections 1 and 2). */
zt_length_state zt_payload_length(const zt_object *object, const zt_component *component, uint64_t *out);

/* `little`; `big` for raw multi-byte elements of a file that says so (0.1.0, data_endianness); else as stored. */
zt_text zt_payload_byte_order(const zt_component *component);

/* Bytes for the caller, in memory from sqlite3_malloc64(); p is NULL if n is 0. */
typedef struct zt_buffer {
  uint8_t *p;
  uint64_t n;
} zt_buffer;

/* n bytes of memory for a result. SQLITE_TOOBIG if that exceeds the budget. *out is empty on failure. */
int zt_buffer_new(const zt_budget *budget, uint64_t n, zt_buffer *out, zt_error *err);
void zt_buffer_clear(zt_buffer *b);   /* Free it */

/* The decoded bytes from start on, at most `length` of them (UINT64_MAX: all), clipped at the end. Of all bytes, every
** rule of encoding.h is checked; of a part, what has to be decoded for it. SQLITE_TOOBIG, before anything is read, if the
** result would exceed the budget. err's place should name the component. *out is empty on failure. */
int zt_payload_read(const zt_payload *p, uint64_t start, uint64_t length, zt_buffer *out, zt_error *err);

/* The bytes as they are in the file. *out is empty on failure. */
int zt_payload_stored(const zt_payload *p, zt_buffer *out, zt_error *err);

/* What digest_status says: "ok", "mismatch", "unsupported", "malformed", or NULL without a digest. */
int zt_payload_digest(const zt_payload *p, const char **out, zt_error *err);

/* The digest of the decoded bytes, of that algorithm: "sha256:...". An algorithm that is not known is an error. */
int zt_payload_hash(const zt_payload *p, zt_text algorithm, char out[ZT_DIGEST_TEXT], zt_error *err);

#endif
