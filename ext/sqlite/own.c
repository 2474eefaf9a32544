/* Whether collations and operators are SQLite's own. See own.h. */
#include "sqlite/own.h"

#include <stddef.h>

/* True if the query's one value is true. */
static bool own_ask(sqlite3 *db, const char *sql){
  sqlite3_stmt *stmt = NULL;
  const bool own = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)==SQLITE_OK
                && sqlite3_step(stmt)==SQLITE_ROW && sqlite3_column_int(stmt, 0);
  sqlite3_finalize(stmt);
  return own;
}

/* NOCASE compares texts up to U+0000, and then their lengths. Other functions compare what follows
** U+0000, or do not compare the lengths. */
bool zt_own_nocase(sqlite3 *db){
  return own_ask(db, "SELECT char(97,0,98) = char(65,0,99) COLLATE NOCASE"
                     " AND char(97,0,98) <> char(97,0) COLLATE NOCASE");
}

/* RTRIM tells apart all that other functions equate: case, accents, width, blanks, punctuation,
** digits. */
bool zt_own_rtrim(sqlite3 *db){
  return own_ask(db, "WITH p(x, y) AS (VALUES ('a', 'A'), ('\xC3\xA9', '\xC3\x89'),"
                     " ('e', '\xC3\xA9'), ('e\xCC\x81', '\xC3\xA9'), ('a', '\xEF\xBD\x81'),"
                     " ('ss', '\xC3\x9F'),"
                     " ('a', 'a'||char(9)), ('a', ' a'), ('ab', 'a b'), ('ab', 'a-b'),"
                     " ('a', 'a'||char(0)), ('ab', 'a'||char(8203)||'b'), ('2', '02'))"
                     " SELECT 'a' = 'a  ' COLLATE RTRIM AND NOT max(x = y COLLATE RTRIM) FROM p");
}

/* Both end texts at U+0000. A search for regular expressions, which a host may have in their place,
** is told by other texts before it gets a pattern that is none. */
bool zt_own_patterns(sqlite3 *db){
  return own_ask(db, "SELECT CASE WHEN 'ab' LIKE 'a' OR 'ab' GLOB 'a' THEN 0"
                     " ELSE char(97,0,98) LIKE 'a' AND 'ab' LIKE '_b'"
                     " AND char(97,0,98) GLOB 'a' AND 'ab' GLOB '?b' END");
}
