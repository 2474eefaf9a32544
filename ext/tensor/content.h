/*
** A component's bytes as results: decoded or as stored, whole or in part, and their digests.
** Interface to code in content.c; the rules of decoding are in encoding.h.
*/
#ifndef ZT_TENSOR_CONTENT_H
#define ZT_TENSOR_CONTENT_H

#include "core/digest.h"
#include "tensor/buffer.h"

/* Return at most `length` decoded bytes from start on (UINT64_MAX: all), clipped at the end. All
** decoding that they need is checked; if they are all bytes, by every rule of encoding.h. A result
** beyond the budget fails with SQLITE_TOOBIG before anything is read. err's place should name the
** component. *out is empty on failure. */
int zt_content_read(const zt_payload *p, uint64_t start, uint64_t length, zt_buffer *out,
                    zt_error *err);

/* Return a component whose content is the stored bytes of another one. */
zt_component zt_content_as_stored(const zt_component *component);

/* Return the bytes as stored in the file. *out is empty on failure. */
int zt_content_stored(const zt_payload *p, zt_buffer *out, zt_error *err);

/* Return digest_status: "ok", "mismatch", "unsupported", "malformed", or NULL without a digest. */
int zt_content_digest(const zt_payload *p, const char **out, zt_error *err);

/* Return the digest of the decoded bytes: "sha256:...". An unknown algorithm is an error. */
int zt_content_hash(const zt_payload *p, zt_text algorithm, char out[ZT_DIGEST_TEXT],
                    zt_error *err);

#endif
