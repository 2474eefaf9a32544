/*
** A component's bytes as results: decoded or as they are stored, whole or in part, and their
** digests. Interface to code in content.c; the rules of decoding are in encoding.h.
*/
#ifndef ZT_TENSOR_CONTENT_H
#define ZT_TENSOR_CONTENT_H

#include "core/digest.h"
#include "tensor/buffer.h"

/* The decoded bytes from start on, at most `length` of them (UINT64_MAX: all), clipped at the end.
** Of all bytes, every rule of encoding.h is checked; of a part, what has to be decoded for it.
** SQLITE_TOOBIG, before anything is read, if the result would exceed the budget. err's place should
** name the component. *out is empty on failure. */
int zt_content_read(const zt_payload *p, uint64_t start, uint64_t length, zt_buffer *out,
                    zt_error *err);

/* The bytes as they are in the file. *out is empty on failure. */
int zt_content_stored(const zt_payload *p, zt_buffer *out, zt_error *err);

/* What digest_status says: "ok", "mismatch", "unsupported", "malformed", or NULL without
** a digest. */
int zt_content_digest(const zt_payload *p, const char **out, zt_error *err);

/* The digest of the decoded bytes, of that algorithm: "sha256:...". An algorithm that is not known
** is an error. */
int zt_content_hash(const zt_payload *p, zt_text algorithm, char out[ZT_DIGEST_TEXT],
                    zt_error *err);

#endif
