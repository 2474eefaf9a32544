/*
** An index that a cursor makes for itself. SQLite makes an automatic index for an ordinary table if
** a join looks up rows by columns without one. It makes none for a virtual table, but scans it
** again for each row of the outer table. Interface to code in automatic_index.c.
**
** A scan counts if its arguments and conditions are those of the previous scan, except for the
** values of the key. Once such scans have taken as many steps as a scan over all rows, the next one
** materializes the rows, with the columns that the statement uses. From then on, rows that may
** match are looked up. They come in the scan's order, and SQLite compares them again: the index
** omits only rows that cannot be equal. All values of a row are of one state of its file.
**
** The index belongs to the cursor, and so to one statement. An error while it is made is not
** reported: the scan may still meet it. Rows that need more memory than is allowed are scanned.
*/
#ifndef ZT_SQLITE_AUTOMATIC_INDEX_H
#define ZT_SQLITE_AUTOMATIC_INDEX_H

#include "sqlite/key_columns.h"
#include "sqlite/materialized.h"
#include "sqlite/plan.h"

struct zt_cursor;

typedef struct zt_automatic_index {
  const char *text;        /* idxStr of the plan, owned by SQLite; NULL: none */
  int plan;                /* ZT_PLAN_ bits of that plan */
  bool known;              /* The text has been parsed: */
  zt_key_columns columns;  /* its columns */
  uint64_t kept, late;     /* Bit i: column i is materialized; is read from the file on demand */
  uint8_t place[64];       /* Index of a column among the materialized ones */
  bool narrows;            /* The object is in the key: a scan looks it up in each file */
  sqlite3_value *key[ZT_KEY_COLUMNS];   /* The wanted values, within xFilter */
  char *base;              /* All other conditions, as bytes; owned. NULL: none taken yet */
  int nBase;
  uint64_t since;          /* Steps of the cursor when the base was set, */
  uint64_t before;         /* and when the current scan began */
  uint64_t full;           /* Steps of a scan over all rows; 0: none came to its end */
  bool refused;            /* It could not be made */
  zt_materialized *rows;   /* Owned; NULL: there is no index */
  uint32_t *slot;          /* First row of each slot of the hash table, from 1 on; owned */
  uint32_t mask;           /* hash & mask is the slot */
  uint32_t hash, row;      /* Of the wanted key; the current row, from 1 on, 0: after the last
                           ** one */
  uint32_t stood;          /* The row on whose file the cursor stands; 0: none */
} zt_automatic_index;

/* Note that a scan is over; c->eof: it came to its end. Take a new scan's plan and values. */
void zt_automatic_end_scan(struct zt_cursor *c);
void zt_automatic_take(struct zt_cursor *c, const char *text, const zt_plan_values *values);

/* Call this after the arguments are taken; if they have changed, zt_automatic_clear() comes first.
** True if the rows come from the index, or the statement ends: *rc is then the result. */
bool zt_automatic_filter(struct zt_cursor *c, sqlite3_value *image, int *rc);

/* Go to the index's next row. Its column i; false: the index lacks it, and the cursor stands where
** it is found. Its rowid. */
void zt_automatic_next(struct zt_cursor *c);
bool zt_automatic_column(struct zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_automatic_rowid(const struct zt_cursor *c);

/* Drop the index and forget all scans. */
void zt_automatic_clear(struct zt_cursor *c);

#endif
