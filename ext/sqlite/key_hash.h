/*
** A hash that is the same for any two values that SQLite may take for equal. The comparison depends
** on the affinities of both sides, and a virtual table knows only its own: 10 equals the REAL 1e1,
** and may equal the texts '10', '010' and '1e1', which may equal each other. Interface to code in
** key_hash.c.
*/
#ifndef ZT_SQLITE_KEY_HASH_H
#define ZT_SQLITE_KEY_HASH_H

#include "sqlite/key_columns.h"
#include "sqlite/value.h"

/* Extend a hash, initially 0, by one more value of the key. The value does not change. Returns
** SQLITE_OK or SQLITE_NOMEM. */
int zt_key_hash(sqlite3_value *v, zt_collation collation, uint64_t *hash);

#endif
