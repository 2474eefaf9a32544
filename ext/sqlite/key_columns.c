/* The key of an automatic index. See key_columns.h. */
#include "sqlite/key_columns.h"

static const char *const key_collations[] = {
  [ZT_COLLATION_BINARY] = "BINARY", [ZT_COLLATION_NOCASE] = "NOCASE", [ZT_COLLATION_RTRIM] = "RTRIM"
};

/* The column with that name; -1: there is none. */
static int key_find(const zt_table *table, const char *z, size_t n){
  zt_text name;
  for(int i=0; (name = zt_table_name(table, i)).z; i++){
    if( name.n==n && memcmp(name.z, z, n)==0 ) return i;
  }
  return -1;
}

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
  const char *collation;
  zt_key_column key = { .is = constraint->op==SQLITE_INDEX_CONSTRAINT_IS };
  if( !constraint->usable || (!key.is && constraint->op!=SQLITE_INDEX_CONSTRAINT_EQ) ) return false;
  key.column = zt_table_column(table, constraint->iColumn);
  if( key.column<0 || keys->n==ZT_KEY_COLUMNS ) return false;
  if( key_is_constant(info, i) || !key_is_equality(info, i) ) return false;
  for(int k=0; k<keys->n; k++) if( keys->a[k].column==key.column ) return false;
  collation = sqlite3_vtab_collation(info, i);
  for(size_t k=0; collation && k<sizeof(key_collations)/sizeof(*key_collations); k++){
    if( sqlite3_stricmp(collation, key_collations[k]) ) continue;
    key.collation = (zt_collation)k;
    keys->a[keys->n++] = key;
    return true;
  }
  return false;
}

/* --- As text --- */

char *zt_key_columns_write(const zt_key_columns *keys, const zt_table *table){
  zt_text name;
  sqlite3_str *out = sqlite3_str_new(NULL);
  const char *before = "automatic index (";
  for(int k=0; k<keys->n; k++, before = ", "){
    const zt_key_column *key = &keys->a[k];
    name = zt_table_name(table, key->column);
    sqlite3_str_appendf(out, "%s%.*s%s?", before, (int)name.n, name.z, key->is ? " IS " : "=");
    if( key->collation ) sqlite3_str_appendf(out, " %s", key_collations[key->collation]);
  }
  before = ") covering (";
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

/* Skip a column's name. -1: it is not one. */
static int key_pass_name(const char **z, const zt_table *table){
  const size_t n = strcspn(*z, " =,)");
  const int column = key_find(table, *z, n);
  *z += n;
  return column;
}

bool zt_key_columns_read(const char *z, const zt_table *table, zt_key_columns *out){
  *out = (zt_key_columns){ 0 };
  if( !key_pass(&z, "automatic index (") ) return false;
  do{
    zt_key_column key = { .column = key_pass_name(&z, table) };
    key.is = key_pass(&z, " IS ?");
    if( key.column<0 || out->n==ZT_KEY_COLUMNS || (!key.is && !key_pass(&z, "=?")) ) return false;
    if( key_pass(&z, " NOCASE") ) key.collation = ZT_COLLATION_NOCASE;
    else if( key_pass(&z, " RTRIM") ) key.collation = ZT_COLLATION_RTRIM;
    out->a[out->n++] = key;
  }while( key_pass(&z, ", ") );
  if( !key_pass(&z, ") covering (") ) return false;
  do{
    const int column = key_pass_name(&z, table);
    if( column<0 ) return false;
    out->covering |= 1ull<<column;
  }while( key_pass(&z, ", ") );
  return strcmp(z, ")")==0;
}
