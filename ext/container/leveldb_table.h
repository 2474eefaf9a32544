/*
** Reader of tables of LevelDB: sorted keys with values, in blocks. It knows nothing of what they
** mean. Interface to code in leveldb_table.c, which has the grammar and its rules.
*/
#ifndef ZT_CONTAINER_LEVELDB_TABLE_H
#define ZT_CONTAINER_LEVELDB_TABLE_H

#include "container/rule.h"
#include "core/interrupt.h"
#include "core/source.h"

extern const zt_rule zt_rules_leveldb[];

/* The footer: the last bytes of a table. */
#define ZT_LEVELDB_FOOTER 48
#define ZT_LEVELDB_MASK 0xa282ead8u   /* Added to a rotated checksum */
#define ZT_LEVELDB_MAGIC "\x57\xfb\x80\x8b\x24\x75\x47\xdb"   /* Its end */

/* A block in memory, and the entry that was read last. */
typedef struct zt_leveldb_block {
  uint8_t *stored, *decoded;      /* Owned; stored stays for the next block */
  size_t capacity;                /* Of stored */
  const uint8_t *p;               /* Entries, */
  size_t n, at;                   /* their bytes, and the next entry */
  bool begun;                     /* An entry of this block was read */
  uint8_t *key;                   /* Owned; stays for the next block, which continues the order */
  size_t key_n, key_capacity;
  bool keyed;                     /* There is a key */
} zt_leveldb_block;

typedef struct zt_leveldb {
  zt_source *source;
  const zt_interrupt *interrupt;  /* May be NULL */
  zt_error *err;                  /* Receives every failure */
  uint64_t end;                   /* Offset of the footer */
  uint64_t behind;                /* The next block of entries begins here, or later */
  uint64_t work;                  /* Counts up to a check for an interrupt */
  zt_leveldb_block index, block;
} zt_leveldb;

/* Open a table and read its index. zt_leveldb_close() must follow, even after a failure. */
int zt_leveldb_open(zt_source *source, const zt_interrupt *interrupt, zt_leveldb *out,
                    zt_error *err);
void zt_leveldb_close(zt_leveldb *t);

/* The next entry, borrowed until the next call. False at the end and after a failure. */
bool zt_leveldb_next(zt_leveldb *t, zt_span *key, zt_span *value);

#endif
