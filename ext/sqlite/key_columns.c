/* The key of an automatic index. See key_columns.h. */
#include "sqlite/key_columns.h"

#include <assert.h>
#include "sqlite/own.h"

static const char *const key_collations[] = {
  [ZT_COLLATION_BINARY] = "BINARY", [ZT_COLLATION_NOCASE] = "NOCASE", [ZT_COLLATION_RTRIM] = "RTRIM"
};

/* --- Choosing --- */

uint64_t zt_key_columns_used(const zt_table *table, sqlite3_uint64 used){
  uint64_t columns = 0;
  for(int i=0; zt_table_name(table, i).z; i++){
    if( used>>zt_table_number(table, i) & 1 ) columns |= 1ull<<i;
  }
  return columns;
}

/* True if the constraint is an equality and not an IN. Before 3.38, these cannot be told apart, and
** if an IN is passed to xFilter, SQLite takes NULL for equal to everything. So there only
** constraints that are passed anyway count. */
static bool key_is_equality(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 ) return !sqlite3_vtab_in(info, i, -1);
#endif
  return info->aConstraintUsage[i].argvIndex>0;
}

/* True if the value is known, and therefore constant. */
static bool key_is_constant(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  sqlite3_value *value = NULL;
  if( sqlite3_libversion_number()>=3038000 ){
    return sqlite3_vtab_rhs_value(info, i, &value)==SQLITE_OK && value;
  }
#endif
  (void)info;
  (void)i;
  return false;
}

bool zt_key_columns_take(zt_key_columns *keys, const zt_table *table, sqlite3_index_info *info,
                         int i){
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
  zt_key_column key = { .is = constraint->op==SQLITE_INDEX_CONSTRAINT_IS };
  if( !constraint->usable || (!key.is && constraint->op!=SQLITE_INDEX_CONSTRAINT_EQ) ) return false;
  key.column = zt_table_column(table, constraint->iColumn);
  if( key.column<0 || keys->n==ZT_KEY_COLUMNS ) return false;
  if( key_is_constant(info, i) || !key_is_equality(info, i) ) return false;
  for(int k=0; k<keys->n; k++) if( keys->a[k].column==key.column ) return false;
  for(size_t k=0; k<sizeof(key_collations)/sizeof(*key_collations); k++){
    if( sqlite3_stricmp(sqlite3_vtab_collation(info, i), key_collations[k]) ) continue;
    key.collation = (zt_collation)k;
    keys->a[keys->n++] = key;
    return true;
  }
  return false;
}

/* --- Collations --- */

bool zt_key_columns_have_own_collations(const zt_key_columns *keys, sqlite3 *db){
  for(int k=0; k<keys->n; k++){
    const zt_collation collation = keys->a[k].collation;
    if( collation==ZT_COLLATION_NOCASE && !zt_own_nocase(db) ) return false;
    if( collation==ZT_COLLATION_RTRIM && !zt_own_rtrim(db) ) return false;
  }
  return true;
}

/* --- As text --- */

#define KEY_BEFORE "automatic index ("
#define KEY_COVERING ") covering ("

char *zt_key_columns_write(const zt_key_columns *keys, const zt_table *table){
  zt_text name;
  sqlite3_str *out = sqlite3_str_new(NULL);
  const char *before = KEY_BEFORE;
  for(int k=0; k<keys->n; k++, before = ", "){
    const zt_key_column *key = &keys->a[k];
    name = zt_table_name(table, key->column);
    sqlite3_str_appendf(out, "%s%.*s%s?", before, (int)name.n, name.z, key->is ? " IS " : "=");
    if( key->collation ) sqlite3_str_appendf(out, " %s", key_collations[key->collation]);
  }
  before = KEY_COVERING;
  for(int i=0; (name = zt_table_name(table, i)).z; i++){
    if( !(keys->covering>>i & 1) ) continue;
    sqlite3_str_appendf(out, "%s%.*s", before, (int)name.n, name.z);
    before = ", ";
  }
  sqlite3_str_appendall(out, ")");
  return sqlite3_str_finish(out);
}

/* Skip this text if it is next. */
static bool key_pass(const char **z, const char *text){
  const size_t n = strlen(text);
  if( strncmp(*z, text, n)!=0 ) return false;
  *z += n;
  return true;
}

/* Skip a column's name. */
static int key_pass_name(const char **z, const zt_table *table){
  const zt_text name = { *z, strcspn(*z, " =,)") };
  int i = 0;
  for(; !zt_text_equal(zt_table_name(table, i), name); i++) assert( zt_table_name(table, i).z );
  *z += name.n;
  return i;
}

zt_key_columns zt_key_columns_read(const char *z, const zt_table *table){
  zt_key_columns keys = { .n = 0 };
  z += strlen(KEY_BEFORE);
  do{
    zt_key_column *key = &keys.a[keys.n++];
    key->column = key_pass_name(&z, table);
    key->is = key_pass(&z, " IS ?");
    if( !key->is ) z += strlen("=?");
    if( key_pass(&z, " NOCASE") ) key->collation = ZT_COLLATION_NOCASE;
    else if( key_pass(&z, " RTRIM") ) key->collation = ZT_COLLATION_RTRIM;
  }while( key_pass(&z, ", ") );
  z += strlen(KEY_COVERING);
  do keys.covering |= 1ull<<key_pass_name(&z, table);
  while( key_pass(&z, ", ") );
  return keys;
}
