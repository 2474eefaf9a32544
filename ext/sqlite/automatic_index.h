/*
** The index that a cursor makes for itself, as SQLite makes one of an ordinary table that a join
** asks for rows by what no index of it has. Of a virtual table SQLite makes none: it scans it
** again for each row of the table outside. Interface to code in automatic_index.c.
**
** A scan whose arguments and conditions are those of the one before, but for the values of the key,
** is counted; once what was spent on such scans is as much as one over all rows, the next one
** materializes the rows with the columns that the statement uses, and from then on those that may
** match are looked up. They come in the scan's order, and SQLite compares them again: the index
** leaves out only what cannot be equal. Of each row all values are of one state of its file.
**
** The index is the cursor's, which is a statement's. Whatever goes wrong while it is made is no
** error: the scan comes to it, or does not. Rows that need more memory than is allowed are scanned.
*/
#ifndef ZT_SQLITE_AUTOMATIC_INDEX_H
#define ZT_SQLITE_AUTOMATIC_INDEX_H

#include "sqlite/key_columns.h"
#include "sqlite/materialized.h"
#include "sqlite/plan.h"

struct zt_cursor;

typedef struct zt_automatic_index {
  const char *text;        /* idxStr of the plan, SQLite's. NULL: none */
  int plan;                /* ZT_PLAN_ bits with which it came */
  bool known;              /* It was read: */
  zt_key_columns columns;  /* None: it is no such */
  uint64_t kept, late;     /* Bit i: column i is materialized; is had from the file when somebody
                           ** asks */
  uint8_t place[64];       /* Of a column among those that are materialized */
  bool narrows;            /* The object is one of the key: a scan looks it up in each file */
  sqlite3_value *key[ZT_KEY_COLUMNS];   /* That are asked for, within xFilter */
  char *base;              /* What else is asked for, as bytes; owned. NULL: nothing was yet */
  int nBase;
  uint64_t since;          /* Steps that the cursor had taken when the base became that, */
  uint64_t before;         /* and when the current scan began */
  uint64_t full;           /* What a scan over all rows takes; 0: none came to its end */
  bool refused;            /* There was no making it */
  zt_materialized *rows;   /* Owned; NULL: there is no index */
  uint32_t *slot;          /* By the key's hash: the first row, from 1 on; owned */
  uint32_t mask;           /* Of a hash, that gives its slot */
  uint32_t hash, row;      /* Of the key; the row on which the cursor is, from 1 on, 0: behind the
                           ** last one */
  uint32_t stood;          /* The cursor stands on this row's file; 0: on none of them */
} zt_automatic_index;

/* A scan is over, and c->eof tells if it came to its end; one begins with this plan and values. */
void zt_automatic_end_scan(struct zt_cursor *c);
void zt_automatic_take(struct zt_cursor *c, const char *text, const zt_plan_values *values);

/* Its arguments are taken, those of the one before, or zt_automatic_clear() was called. True if its
** rows come from the index, or the statement ends: *rc then is the result. */
bool zt_automatic_filter(struct zt_cursor *c, sqlite3_value *image, int *rc);

/* Go to the index's next row. Its column i: false if the index lacks it, and the cursor now stands
** where it is had. Its rowid. */
void zt_automatic_next(struct zt_cursor *c);
bool zt_automatic_column(struct zt_cursor *c, sqlite3_context *ctx, int i);
sqlite3_int64 zt_automatic_rowid(const struct zt_cursor *c);

/* Forget it. */
void zt_automatic_clear(struct zt_cursor *c);

#endif
