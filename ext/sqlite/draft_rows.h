/*
** Rows of zt_writer, and of the steps of zt_pack, as parts of a draft. A row is a tensor, one of
** its components, or an attribute:
**
**   name source [object] [dtype] [shape] [format]           a tensor of a file
**   name data dtype shape [format [component]]              a tensor, or one of its components
**   [name] key value [type] [stored_type]                   an attribute of the object, or the file
**
** and encoding, level, digest for the first two. What a tensor of a file is already may be said:
** its shape, its format, and beside its own format the type of its stored numbers. Errors name the
** object and say what helps. Interface to code in draft_rows.c.
*/
#ifndef ZT_SQLITE_DRAFT_ROWS_H
#define ZT_SQLITE_DRAFT_ROWS_H

#include "core/cbor_write.h"
#include "sqlite/write_sources.h"
#include "tensor/write.h"

/* Columns, in the order of the table's. */
enum {
  ZT_ROW_NAME, ZT_ROW_SOURCE, ZT_ROW_OBJECT, ZT_ROW_DATA, ZT_ROW_DTYPE, ZT_ROW_SHAPE, ZT_ROW_FORMAT,
  ZT_ROW_COMPONENT, ZT_ROW_ENCODING, ZT_ROW_LEVEL, ZT_ROW_DIGEST, ZT_ROW_KEY, ZT_ROW_VALUE,
  ZT_ROW_TYPE, ZT_ROW_STORED_TYPE, ZT_ROW_COLUMNS
};

/* The target of rows. Everything is borrowed. */
typedef struct zt_draft_rows {
  zt_connection *connection;
  const zt_encoder *encoder;
  zt_encoder_options options;    /* For rows that say nothing else */
  bool drop_attributes;          /* Leave out attributes of objects, which the format cannot hold */
  zt_write_sources *sources;
  zt_budget *budget;
} zt_draft_rows;

/* Where a row's bytes are. */
typedef enum zt_row_from {
  ZT_ROW_FROM_SOURCE, ZT_ROW_FROM_DATA, ZT_ROW_FROM_ATTRIBUTE
} zt_row_from;

/* A row as it was understood. Texts and bytes are borrowed from its values. */
typedef struct zt_row {
  zt_row_from from;
  zt_text name;                  /* z NULL: the file */
  sqlite3_value *source;         /* SQL NULL if source_number is known */
  uint32_t source_number;        /* UINT32_MAX: not known yet */
  zt_text object;                /* Name in the source */
  bool keep;                     /* Its stored bytes stay; of an attribute, its key */
  bool bare;                     /* Its attributes are rows, and do not come along */
  bool dense;
  const zt_dtype *dtype;         /* NULL: the source's */
  zt_text role;
  zt_layout_id layout;           /* Of data */
  bool shaped;                   /* With a source: the shape was given, which must be its own */
  uint32_t rank;
  uint64_t shape[ZT_MAX_RANK];
  zt_text format;                /* Of a source's row; z NULL: as there */
  bool spooled;                  /* The bytes are in the spool, or those of an attribute's value
                                 ** behind one that is 1 if they are the format's own; at: */
  uint64_t offset;
  zt_span data;                  /* n is set also if they are in the spool */
  zt_codec_id codec;
  int level;
  unsigned digest;
  zt_text key;
  zt_cbor_out value;             /* Owned: zt_row_clear(). CBOR, */
  bool stored;                   /* or the format's own bytes */
  zt_text stored_type;
} zt_row;

/* Understand the values of a row (ZT_ROW_COLUMNS of them; NULL: SQL's NULL). *out always needs
** zt_row_clear(). The error's place should be the target; it gets the row's name. */
int zt_row_read(const zt_draft_rows *r, sqlite3_value **columns, zt_row *out, zt_error *err);
void zt_row_clear(zt_row *row);

/* The model's word for the layout of a draft's object; n 0: the format's own. */
zt_text zt_rows_layout(const zt_draft_object *object);

/* The name of a column. */
const char *zt_row_column(int i);

/* Add a row to a draft: a component joins the object of its name. Attributes of objects need their
** object. *object: its number, or ZT_DRAFT_FILE. */
int zt_row_add(const zt_draft_rows *r, zt_row *row, zt_draft *draft, zt_supplies *supplies,
               uint32_t *object, zt_error *err);

/* Add the attributes that the objects' sources have, where rows gave no others of the same key. */
int zt_rows_complete(const zt_draft_rows *r, zt_draft *draft, zt_supplies *supplies,
                     zt_error *err);

/* Fail unless the format can hold what the row says. */
int zt_row_check(const zt_draft_rows *r, zt_row *row, zt_draft *draft, zt_supplies *supplies,
                 uint32_t object, zt_error *err);

/* The meanings of a user's words for format, encoding, digest and level. A message lists the words
** that there are. */
int zt_rows_format(zt_text word, const zt_encoder **out, zt_error *err);
int zt_rows_codec(const zt_encoder *encoder, zt_text word, zt_codec_id *out, zt_error *err);
int zt_rows_digest(const zt_encoder *encoder, zt_text word, unsigned *out, zt_error *err);
int zt_rows_level(const zt_encoder *encoder, zt_codec_id codec, int64_t level, int *out,
                  zt_error *err);

/* Record a failure: the text, and the names of the formats behind it. */
int zt_rows_fail_formats(const char *text, zt_error *err);

/* Append a word to a list in a message: 'A', 'B' or 'C'. last: what stands before the last word,
** such as " or "; NULL: this is not the last. */
void zt_rows_list(sqlite3_str *list, const char *word, const char *last);

/* Supplies over these sources. */
zt_supplies zt_rows_supplies(const zt_draft_rows *r);

#endif
