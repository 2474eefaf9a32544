/* Conversion of SQLite's values and results. Interface to code in value.c. */
#ifndef ZT_SQLITE_VALUE_H
#define ZT_SQLITE_VALUE_H

#include "core/error.h"
#include "core/host.h"
#include "tensor/content.h"
#include "tensor/convert.h"

/* Return a value's text, borrowed; numbers as SQLite writes them. z is NULL for NULL and BLOB. */
zt_text zt_value_text(sqlite3_value *v);

/* True for an integer from 0 on, in whatever type SQLite has it. False: *out is not defined. */
bool zt_value_whole(sqlite3_value *v, uint64_t *out);

/* The value as a message shows it, borrowed. */
const char *zt_value_shown(sqlite3_value *v);

/* Read a value that must be an integer from 0 on; NULL gives `otherwise`. The message calls the
** value `what`. */
int zt_value_index(sqlite3_value *v, const char *what, uint64_t otherwise, uint64_t *out,
                   zt_error *err);

/* Read a value that must name a dtype; NULL leaves *out unchanged. */
int zt_value_dtype(sqlite3_value *v, const zt_dtype **out, zt_error *err);

#define ZT_JSON_SUBTYPE 74   /* 'J', the subtype of SQLite's own JSON functions */

void zt_result_scalar(sqlite3_context *ctx, zt_scalar value);     /* INTEGER, REAL, decimal TEXT
                                                                  ** above int64, JSON if complex */
void zt_result_text(sqlite3_context *ctx, zt_text text);          /* NULL if z is NULL */
int zt_result_as_text(sqlite3_context *ctx, sqlite3_value *v);    /* Numbers become text. A NULL
                                                                  ** pointer: NULL. The result of
                                                                  ** xColumn */
void zt_result_static(sqlite3_context *ctx, const char *literal);
void zt_result_uint(sqlite3_context *ctx, uint64_t u);            /* INTEGER, or decimal TEXT
                                                                  ** above int64 */
void zt_result_str(sqlite3_context *ctx, sqlite3_str *str);       /* Frees the sqlite3_str */
void zt_result_json(sqlite3_context *ctx, sqlite3_str *json);     /* Likewise, with the
                                                                  ** JSON subtype */
void zt_result_json_text(sqlite3_context *ctx, zt_text json);
void zt_result_json_buffer(sqlite3_context *ctx, zt_buffer *json);   /* Takes the memory */
void zt_result_buffer(sqlite3_context *ctx, zt_buffer *buffer);   /* BLOB; likewise */

/* Return true for SQLITE_NOMEM and SQLITE_INTERRUPT, which do not concern the file, end the query
** and become the result. */
bool zt_result_ends(sqlite3_context *ctx, int rc);

/* Make the recorded failure the result, and clear it. */
void zt_result_error(sqlite3_context *ctx, zt_error *err);

#endif
