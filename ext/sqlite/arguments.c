/* The arguments of one call of a table. See arguments.h. */
#include "sqlite/arguments.h"

#include "sqlite/constraints.h"

/* --- Arguments after source --- */

/* Read an argument, which must be text without U+0000. NULL means that it is not given. */
static int arguments_read(const zt_arguments *a, int i, sqlite3_value *value, const char **out){
  const char *name = a->scan->table->arguments[i];
  *out = NULL;
  if( sqlite3_value_type(value)==SQLITE_NULL ) return SQLITE_OK;
  if( sqlite3_value_type(value)==SQLITE_BLOB ){
    return zt_fail(a->scan->err, SQLITE_ERROR, "the argument %s must be TEXT, not a BLOB", name);
  }
  *out = (const char*)sqlite3_value_text(value);
  if( !*out ) return zt_fail_nomem(a->scan->err);
  if( strlen(*out)==(size_t)sqlite3_value_bytes(value) ) return SQLITE_OK;
  return zt_fail(a->scan->err, SQLITE_ERROR, "the argument %s has U+0000 in it", name);
}

/* Set argument i to z, copied if it belongs to the query. That of the declaration was checked. */
static int arguments_set(zt_arguments *a, int i, const char *z, bool copy){
  zt_scan *scan = a->scan;
  sqlite3_free(a->given[i]);
  a->given[i] = z && copy ? sqlite3_mprintf("%s", z) : NULL;
  scan->argument[i] = z && copy ? a->given[i] : z;
  if( !z || !copy ) return SQLITE_OK;
  if( !a->given[i] ) return zt_fail_nomem(scan->err);
  return zt_module_check(scan->table, i, a->given[i], scan->err);
}

/* Take argument i from the query, or else from the table's declaration. */
static int arguments_take(zt_arguments *a, int i, sqlite3_value *value, bool *same){
  const char *z = a->vtab->argument[i], *before = a->scan->argument[i];
  if( value && arguments_read(a, i, value, &z) ) return a->scan->err->rc;
  if( a->source!=ZT_SOURCE_NONE && (z==before || (z && before && strcmp(z, before)==0)) ){
    return SQLITE_OK;
  }
  *same = false;
  return arguments_set(a, i, z, value!=NULL);
}

int zt_arguments_fail_usage(const zt_arguments *a){
  const char *name = a->scan->table->name;
  const bool object = zt_table_is_of_one(a->scan->table);
  return zt_fail(a->scan->err, SQLITE_ERROR, "%s needs a source%s: SELECT * FROM %s('model.zt'%s)",
                 name, object ? " and an object" : "", name, object ? ", 'layer.weight'" : "");
}

int zt_arguments_take(zt_arguments *a, sqlite3_value *const *values, bool *same){
  zt_scan *scan = a->scan;
  const zt_table *t = scan->table;
  const int on_error = zt_table_argument(t, "on_error"), object = zt_table_argument(t, "object");
  for(int i=0; i<zt_table_arguments(t); i++){
    if( arguments_take(a, i, values[i], same) ) return scan->err->rc;
    if( i==object && !values[i] && !scan->argument[i] ) return zt_arguments_fail_usage(a);
  }
  scan->skip = on_error>=0 && scan->argument[on_error]
            && strcmp(scan->argument[on_error], "skip")==0;
  return SQLITE_OK;
}

const char *zt_arguments_shown(const zt_arguments *a, int i){
  const zt_table *t = a->scan->table;
  if( a->scan->argument[i] ) return a->scan->argument[i];
  return i==zt_table_argument(t, "on_error") ? "abort" : t->defaults[i];
}

/* --- The source --- */

bool zt_arguments_has_blob(const zt_arguments *a, sqlite3_value *value){
  const uint8_t *p = sqlite3_value_blob(value);
  const uint64_t n = (uint64_t)sqlite3_value_bytes(value);
  return a->source==ZT_SOURCE_BLOB && a->blob && a->blob_size==n
      && (n==0 || memcmp(p, sqlite3_value_blob(a->blob), (size_t)n)==0);
}

static void arguments_drop_blob(zt_arguments *a){
  sqlite3_value_free(a->blob);
  a->blob = NULL;
}

int zt_arguments_take_blob(zt_arguments *a, sqlite3_value *value, bool copy){
  arguments_drop_blob(a);
  a->source = ZT_SOURCE_BLOB;
  a->blob_size = (uint64_t)sqlite3_value_bytes(value);
  if( !copy ) return SQLITE_OK;
  a->blob = sqlite3_value_dup(value);
  return a->blob ? SQLITE_OK : zt_fail_nomem(a->scan->err);
}

void zt_arguments_take_text(zt_arguments *a){
  arguments_drop_blob(a);
  a->source = ZT_SOURCE_TEXT;
}

/* --- Lists --- */

static int arguments_add_choice(zt_arguments *a, zt_choice *choice, sqlite3_value *value){
  const size_t n = choice->n+1;
  sqlite3_value **grown = sqlite3_realloc64(choice->a, n*sizeof(*grown));   /* NOLINT: pointers */
  if( !grown ) return zt_fail_nomem(a->scan->err);
  choice->a = grown;
  grown[choice->n] = sqlite3_value_dup(value);
  return grown[choice->n] ? (choice->n++, SQLITE_OK) : zt_fail_nomem(a->scan->err);
}

static int arguments_add_list(zt_arguments *a, zt_choice *choice, sqlite3_value *list){
  int rc = SQLITE_OK;
#if SQLITE_VERSION_NUMBER>=3038000
  const zt_interrupt interrupt = zt_connection_interrupt(a->scan->connection);
  zt_error *err = a->scan->err;
  sqlite3_value *item;
  for(rc=sqlite3_vtab_in_first(list, &item); rc==SQLITE_OK && item;
      rc=sqlite3_vtab_in_next(list, &item)){
    if( arguments_add_choice(a, choice, item) ) return err->rc;
    if( choice->n%ZT_CONSTRAINTS_POLL==0 && zt_interrupt_check(&interrupt, err) ) return err->rc;
  }
#else
  (void)choice;
  (void)list;
#endif
  if( rc==SQLITE_OK || rc==SQLITE_DONE ) return SQLITE_OK;
  return zt_fail(a->scan->err, rc, "cannot read the values of an IN");
}

static void arguments_clear_choices(zt_arguments *a){
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    for(size_t i=0; i<a->choice[k].n; i++) sqlite3_value_free(a->choice[k].a[i]);
    sqlite3_free(a->choice[k].a);
    a->choice[k] = (zt_choice){ 0 };
  }
}

int zt_arguments_take_lists(zt_arguments *a, int plan, const zt_plan_values *values, bool *any){
  *any = true;
  arguments_clear_choices(a);
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    sqlite3_value *value = zt_plan_value(values, ZT_PLAN_ARGUMENT_BIT(k));
    zt_choice *choice = &a->choice[k];
    if( plan & ZT_PLAN_LIST_BIT(k) ){
      if( arguments_add_list(a, choice, value) ) return a->scan->err->rc;
      *any = *any && choice->n>0;
    }else if( value && arguments_add_choice(a, choice, value) ){
      return a->scan->err->rc;
    }
  }
  return SQLITE_OK;
}

void zt_arguments_chosen(const zt_arguments *a, sqlite3_value *values[1+ZT_ARGUMENTS]){
  for(int k=0; k<=ZT_ARGUMENTS; k++){
    values[k] = a->choice[k].n ? a->choice[k].a[a->choice[k].i] : NULL;
  }
}

bool zt_arguments_choose_next(zt_arguments *a){
  for(int k=ZT_ARGUMENTS; k>=0; k--){
    if( ++a->choice[k].i<a->choice[k].n ) return true;
    a->choice[k].i = 0;
  }
  return false;
}

void zt_arguments_clear(zt_arguments *a){
  arguments_drop_blob(a);
  arguments_clear_choices(a);
  for(int i=0; i<ZT_ARGUMENTS; i++){
    sqlite3_free(a->given[i]);
    a->given[i] = NULL;
    a->scan->argument[i] = NULL;
  }
  a->source = ZT_SOURCE_NONE;
}
