/* The key of an automatic index. See key_columns.h. */
#include "sqlite/key_columns.h"

#include "sqlite/plan.h"

static const char *const key_collations[] = { "BINARY", "NOCASE", "RTRIM" };

/* --- Names of columns --- */

/* The columns of a table, one after the other. All zeros but for the table: before the first. */
typedef struct key_walk {
  const zt_table *table;
  const char *next;        /* Where the next one is declared; NULL: at the end of a list of them */
  int i;                   /* Its number */
} key_walk;

/* The name of the next column; z NULL: there is none. */
static zt_text key_next(key_walk *w){
  const zt_table *t = w->table;
  const char *z, *end;
  if( !w->next ) w->next = w->i==0 ? t->visible : w->i==t->nVisible ? t->hidden : NULL;
  z = w->next;
  if( !z ) return (zt_text){ NULL, 0 };
  end = strchr(z, ',');
  w->next = end ? end+1+strspn(end+1, " ") : NULL;
  w->i++;
  return (zt_text){ z, strcspn(z, " ,") };
}

/* How many columns the table has, without those of the arguments. */
static int key_count(const zt_table *table){
  key_walk walk = { .table = table };
  while( key_next(&walk).z ){}
  return walk.i;
}

static zt_text key_name(const zt_table *table, int i){
  key_walk walk = { .table = table };
  zt_text name = key_next(&walk);
  while( walk.i<=i ) name = key_next(&walk);
  return name;
}

/* The column with that name, -1: there is none. */
static int key_find(const zt_table *table, const char *z, size_t n){
  key_walk walk = { .table = table };
  for(zt_text name=key_next(&walk); name.z; name=key_next(&walk)){
    if( name.n==n && memcmp(name.z, z, n)==0 ) return walk.i-1;
  }
  return -1;
}

/* --- Choosing --- */

uint64_t zt_key_columns_used(const zt_table *table, sqlite3_uint64 used){
  uint64_t columns = 0;
  for(int i=0, n=key_count(table); i<n; i++){
    if( used>>zt_plan_column(table, i) & 1 ) columns |= 1ull<<i;
  }
  return columns;
}

/* The table's number of SQLite's column, -1: it is an argument, or rowid. */
static int key_column(const zt_table *table, int column){
  const int after = column-(zt_plan_column(table, table->nVisible)-table->nVisible);
  if( column<table->nVisible ) return column;
  return after>=table->nVisible && after<key_count(table) ? after : -1;
}

/* True if the constraint is an equality, and no IN. Before 3.38 nothing tells these apart, and of
** an IN that is handed to xFilter SQLite then takes NULL for equal to everything: so only what is
** handed over anyway. */
static bool key_is_equality(sqlite3_index_info *info, int i){
#if SQLITE_VERSION_NUMBER>=3038000
  if( sqlite3_libversion_number()>=3038000 ) return !sqlite3_vtab_in(info, i, -1);
#endif
  return info->aConstraintUsage[i].argvIndex>0;
}

/* True if the value is known, and so the same whenever it is asked for. */
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
  key.column = key_column(table, constraint->iColumn);
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
  key_walk walk = { .table = table };
  sqlite3_str *out = sqlite3_str_new(NULL);
  const char *before = "automatic index (";
  for(int k=0; k<keys->n; k++, before = ", "){
    const zt_key_column *key = &keys->a[k];
    const zt_text name = key_name(table, key->column);
    sqlite3_str_appendf(out, "%s%.*s%s?", before, (int)name.n, name.z, key->is ? " IS " : "=");
    if( key->collation ) sqlite3_str_appendf(out, " %s", key_collations[key->collation]);
  }
  before = ") covering (";
  for(zt_text name=key_next(&walk); name.z; name=key_next(&walk)){
    if( !(keys->covering>>(walk.i-1) & 1) ) continue;
    sqlite3_str_appendf(out, "%s%.*s", before, (int)name.n, name.z);
    before = ", ";
  }
  sqlite3_str_appendall(out, ")");
  return sqlite3_str_finish(out);
}

/* Pass over a text if it stands there. */
static bool key_pass(const char **z, const char *text){
  const size_t n = strlen(text);
  if( strncmp(*z, text, n) ) return false;
  *z += n;
  return true;
}

/* Pass over the name of a column; -1: it is none. */
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
