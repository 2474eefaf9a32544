/*
** A hash that any two values share which SQLite may take for equal. How it compares them depends on
** the affinities of both sides, of which a virtual table knows its own: 10 equals the REAL 1e1, and
** may equal the texts '10', '010' and '1e1', which may equal each other. Interface to code in
** key_hash.c.
*/
#ifndef ZT_SQLITE_KEY_HASH_H
#define ZT_SQLITE_KEY_HASH_H

#include "sqlite/key_columns.h"
#include "sqlite/value.h"

/* Go on with a hash, which begins as 0, by one more value of the key, which stays as it is.
** SQLITE_OK or SQLITE_NOMEM. */
int zt_key_hash(sqlite3_value *v, zt_collation collation, uint64_t *hash);

#endif
