/*
** The files that rows of zt_writer and zt_pack name, numbered in the order of their first rows.
** Interface to code in write_sources.c.
**
** A file is opened for its first row, and again when it is read if too many are open: it must be
** the same one in the same state. The image in a BLOB is copied to the spool, where the bytes of
** rows wait, too.
*/
#ifndef ZT_SQLITE_WRITE_SOURCES_H
#define ZT_SQLITE_WRITE_SOURCES_H

#include "core/output.h"
#include "sqlite/connection.h"
#include "tensor/supply.h"

typedef struct zt_write_sources zt_write_sources;

/* beside: the path of a file in whose directory the spool may be; NULL: it is in memory. Everything
** is borrowed. NULL: out of memory. */
zt_write_sources *zt_write_sources_new(zt_connection *connection, const char *beside,
                                       zt_error *err);
void zt_write_sources_free(zt_write_sources *s);

/* Find or add the file that a source value names (TEXT or BLOB), and open it. */
int zt_write_sources_add(zt_write_sources *s, sqlite3_value *source, uint32_t *number,
                         zt_supply_file *out, zt_error *err);

/* Open a file again. It stays open until eight others were. For zt_supplies: the first parameter is
** the zt_write_sources. Fails if the file has changed since its first row. */
int zt_write_sources_open(void *sources, uint32_t number, zt_supply_file *out, zt_error *err);

/* The path of a file, borrowed; NULL: it is an image, the bytes of the spool from there on. */
const char *zt_write_sources_path(const zt_write_sources *s, uint32_t number, uint64_t *offset,
                                  uint64_t *length);

/* Copy bytes of a row to the spool. */
int zt_write_sources_spool(zt_write_sources *s, zt_span bytes, uint64_t *offset, zt_error *err);

/* The spool; NULL while nothing was copied to it. */
zt_output *zt_write_sources_spooled(const zt_write_sources *s);

/* Close the files that are open: a path that names another file by now fails when it is opened. */
void zt_write_sources_look_again(zt_write_sources *s);

/* True if the file of that number has this identity and state. */
bool zt_write_sources_has_state(const zt_write_sources *s, uint32_t number,
                                const zt_identity *id);

/* True if there is a source of that number; if the spool has those bytes. Numbers that come from a
** table are asked for: its owner may have changed it. */
bool zt_write_sources_has(const zt_write_sources *s, uint32_t number);
bool zt_write_sources_has_bytes(const zt_write_sources *s, uint64_t offset, uint64_t length);

#endif
