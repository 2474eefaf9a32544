/*
** From SQLite's values and to its results. Interface to code in value.c.
*/
#ifndef ZT_SQLITE_VALUE_H
#define ZT_SQLITE_VALUE_H

#include "core/error.h"
#include "core/host.h"
#include "tensor/content.h"
#include "tensor/convert.h"

/* A value's text, borrowed, numbers as SQLite writes them; z NULL for NULL and BLOB. */
zt_text zt_value_text(sqlite3_value *v);

/* A value that must be a zero-based integer; NULL gives `otherwise`. what names it in
** the message. */
int zt_value_index(sqlite3_value *v, const char *what, uint64_t otherwise, uint64_t *out,
                   zt_error *err);

/* A value that must name a type; NULL leaves *out as it is. */
int zt_value_dtype(sqlite3_value *v, const zt_dtype **out, zt_error *err);

#define ZT_JSON_SUBTYPE 74   /* 'J', as SQLite's own JSON functions have it */

void zt_result_scalar(sqlite3_context *ctx, zt_scalar value);     /* INTEGER, REAL, decimal TEXT
                                                                  ** above int64, JSON if complex */
void zt_result_text(sqlite3_context *ctx, zt_text text);          /* NULL if z is */
void zt_result_static(sqlite3_context *ctx, const char *literal);
void zt_result_uint(sqlite3_context *ctx, uint64_t u);            /* INTEGER, or decimal TEXT
                                                                  ** above int64 */
void zt_result_str(sqlite3_context *ctx, sqlite3_str *str);       /* Ends the sqlite3_str */
void zt_result_json(sqlite3_context *ctx, sqlite3_str *json);     /* The same with the
                                                                  ** JSON subtype */
void zt_result_json_text(sqlite3_context *ctx, zt_text json);
void zt_result_buffer(sqlite3_context *ctx, zt_buffer *buffer);   /* BLOB; takes the memory over */

/* True if a failure is none of what was asked about, but ends the query, and then is the result: to
** be out of memory, or interrupted. */
bool zt_result_ends(sqlite3_context *ctx, int rc);

/* The recorded failure as the result, and clear it. */
void zt_result_error(sqlite3_context *ctx, zt_error *err);

#endif
