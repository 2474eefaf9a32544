/* The part of a source that a query wants. See constraints.h. */
#include "sqlite/constraints.h"

#include <math.h>

#define CONSTRAINTS_NAME 1024 /* Longer names are left to SQLite's check of a pattern */

/* --- Names --- */

void zt_names_clear(zt_names *names){
  sqlite3_free(names->bytes);
  zt_u32_array_clear(&names->at);
  *names = (zt_names){ .any = true };
}

static void constraints_names_begin(zt_names *names, bool any){
  names->any = any;
  names->n = 0;
  names->at.n = 0;
}

static int constraints_names_add(zt_names *names, zt_text text, zt_error *err){
  size_t need = names->n+text.n+1;
  if( need>names->room ){
    char *bytes = sqlite3_realloc64(names->bytes, need*2);
    if( !bytes ) return zt_fail_nomem(err);
    names->bytes = bytes;
    names->room = need*2;
  }
  if( zt_u32_array_push(&names->at, names->n, err) ) return err->rc;
  memcpy(names->bytes+names->n, text.z, text.n);
  names->bytes[names->n+text.n] = 0;
  names->n = need;
  return SQLITE_OK;
}

int zt_names_set(zt_names *names, zt_text text, zt_error *err){
  constraints_names_begin(names, false);
  return text.z ? constraints_names_add(names, text, err) : SQLITE_OK;
}

/* Add a value that a column is compared with. Text can be looked up; NULL and a BLOB equal no text.
** A number may equal several texts, depending on the other side's affinity; SQLite checks that
** again anyway. */
static int constraints_names_add_value(zt_names *names, sqlite3_value *value, zt_error *err){
  zt_text text;
  switch( sqlite3_value_type(value) ){
    case SQLITE_TEXT:
      text = zt_value_text(value);
      return text.z ? constraints_names_add(names, text, err) : zt_fail_nomem(err);
    case SQLITE_NULL: case SQLITE_BLOB:
      return SQLITE_OK;
    default:
      names->any = true;
      return SQLITE_OK;
  }
}

#if SQLITE_VERSION_NUMBER>=3038000
static int constraints_names_add_list(zt_names *names, sqlite3_value *list,
                                      const zt_interrupt *interrupt, zt_error *err){
  sqlite3_value *item;
  uint64_t n = 0;
  int rc = sqlite3_vtab_in_first(list, &item);
  for(; rc==SQLITE_OK && item; rc=sqlite3_vtab_in_next(list, &item)){
    if( constraints_names_add_value(names, item, err) ) return err->rc;
    if( ++n%ZT_CONSTRAINTS_POLL==0 && zt_interrupt_check(interrupt, err) ) return err->rc;
  }
  return rc==SQLITE_OK || rc==SQLITE_DONE ? SQLITE_OK
       : zt_fail(err, rc, "cannot read the values of an IN");
}
#endif

/* Take the names of a constraint: one value, or a list. */
static int constraints_names_take(zt_names *names, sqlite3_value *value, bool list,
                                  const zt_interrupt *interrupt, zt_error *err){
  constraints_names_begin(names, value==NULL);
  if( !value ) return SQLITE_OK;
#if SQLITE_VERSION_NUMBER>=3038000
  if( list ) return constraints_names_add_list(names, value, interrupt, err);
#else
  (void)list;
  (void)interrupt;
#endif
  return constraints_names_add_value(names, value, err);
}

/* --- Patterns --- */

static bool constraints_is_ascii(const char *z, size_t n){
  for(size_t i=0; i<n; i++) if( z[i] & 0x80 || z[i]==0 ) return false;
  return true;
}

/* Take a pattern. One with letters beyond ASCII is left to SQLite: the like() of ICU knows such
** letters, and zt_own_patterns() takes it for SQLite's own. */
static int constraints_patterns_take(char **pattern, sqlite3_value *value, zt_error *err){
  zt_text text = { NULL, 0 };
  sqlite3_free(*pattern);
  *pattern = NULL;
  if( value && sqlite3_value_type(value)==SQLITE_TEXT ) text = zt_value_text(value);
  if( !text.z || !constraints_is_ascii(text.z, text.n) ) return SQLITE_OK;
  *pattern = sqlite3_mprintf("%s", text.z);
  return *pattern ? SQLITE_OK : zt_fail_nomem(err);
}

static void constraints_patterns_clear(zt_patterns *p){
  sqlite3_free(p->like);
  sqlite3_free(p->glob);
  *p = (zt_patterns){ 0 };
}

static bool constraints_patterns_leave(const zt_patterns *p, const char *z){
  return (!p->like || sqlite3_strlike(p->like, z, 0)==0)
      && (!p->glob || sqlite3_strglob(p->glob, z)==0);
}

bool zt_constraints_path(const zt_constraints *w, const char *path){
  return !constraints_is_ascii(path, strlen(path))
      || constraints_patterns_leave(&w->path_patterns, path);
}

bool zt_constraints_object(const zt_constraints *w, zt_text name){
  char z[CONSTRAINTS_NAME];
  if( name.n>=sizeof(z) || !constraints_is_ascii(name.z, name.n) ) return true;
  memcpy(z, name.z, name.n);
  z[name.n] = 0;
  return constraints_patterns_leave(&w->object_patterns, z);
}

/* --- Ranges --- */

static const zt_range constraints_nothing = { 1, 0 };

/* The first position that is not shown as an INTEGER. */
#define CONSTRAINTS_BEYOND ((uint64_t)INT64_MAX + 1)
#define CONSTRAINTS_BEYOND_REAL 9223372036854775808.0

static void constraints_range_from(zt_range *range, uint64_t first){
  if( first>range->first ) range->first = first;
}

static void constraints_range_to(zt_range *range, uint64_t last){
  if( last<range->last ) range->last = last;
}

/* Narrow the range to positions that compare with i as op says. */
static void constraints_range_integer(zt_range *range, sqlite3_int64 i, int op){
  bool lower = (op & (ZT_PLAN_EQ|ZT_PLAN_GT|ZT_PLAN_GE))!=0,
       upper = (op & (ZT_PLAN_EQ|ZT_PLAN_LT|ZT_PLAN_LE))!=0;
  if( upper && (i<0 || (i==0 && op==ZT_PLAN_LT)) ) *range = constraints_nothing;
  else if( upper ) constraints_range_to(range, (uint64_t)i-(op==ZT_PLAN_LT));
  if( lower && i>=0 ) constraints_range_from(range, (uint64_t)i+(op==ZT_PLAN_GT));
}

/* The same for a REAL. */
static void constraints_range_real(zt_range *range, double r, int op){
  bool below = r<-9.3e18, beyond = r>=CONSTRAINTS_BEYOND_REAL, whole = floor(r)==r;
  if( beyond ){
    if( op & (ZT_PLAN_EQ|ZT_PLAN_GT|ZT_PLAN_GE) ) constraints_range_from(range, CONSTRAINTS_BEYOND);
  }else if( below ){
    if( op & (ZT_PLAN_EQ|ZT_PLAN_LT|ZT_PLAN_LE) ) *range = constraints_nothing;
  }else if( op==ZT_PLAN_EQ && !whole ){
    *range = constraints_nothing;
  }else if( whole ){
    constraints_range_integer(range, (sqlite3_int64)r, op);
  }else{
    bool lower = op==ZT_PLAN_GT || op==ZT_PLAN_GE;
    constraints_range_integer(range, (sqlite3_int64)(lower ? ceil(r) : floor(r)),
                              lower ? ZT_PLAN_GE : ZT_PLAN_LE);
  }
}

/* Narrow the range to positions that compare with v as op (a ZT_PLAN_ bit) says. A position is a
** number, which is less than any text and BLOB. */
static void constraints_range_narrow(zt_range *range, sqlite3_value *v, int op){
  switch( sqlite3_value_numeric_type(v) ){
    case SQLITE_INTEGER: constraints_range_integer(range, sqlite3_value_int64(v), op); break;
    case SQLITE_FLOAT:   constraints_range_real(range, sqlite3_value_double(v), op); break;
    case SQLITE_NULL:    *range = constraints_nothing; break;
    default:
      if( op & (ZT_PLAN_EQ|ZT_PLAN_GT|ZT_PLAN_GE) ) constraints_range_from(range,
                                                                           CONSTRAINTS_BEYOND);
      break;
  }
}

/* True if only SQLite can compare v with rows that are shown as text. */
static bool constraints_is_beyond(sqlite3_value *v){
  const int type = sqlite3_value_numeric_type(v);
  return type==SQLITE_FLOAT ? sqlite3_value_double(v)>=CONSTRAINTS_BEYOND_REAL
                            : type!=SQLITE_INTEGER && type!=SQLITE_NULL;
}

/* --- All constraints --- */

/* A negative LIMIT is none; a negative OFFSET is 0. */
static uint64_t constraints_count(sqlite3_value *v, uint64_t otherwise){
  sqlite3_int64 n = v ? sqlite3_value_int64(v) : -1;
  return n<0 ? otherwise : (uint64_t)n;
}

static int constraints_take_patterns(zt_constraints *w, const zt_plan_values *values,
                                     zt_error *err){
  const struct { int bit; char **pattern; } patterns[] = {
    { ZT_PLAN_PATH_LIKE, &w->path_patterns.like }, { ZT_PLAN_PATH_GLOB, &w->path_patterns.glob },
    { ZT_PLAN_OBJECT_LIKE, &w->object_patterns.like },
    { ZT_PLAN_OBJECT_GLOB, &w->object_patterns.glob }
  };
  for(size_t k=0; k<sizeof(patterns)/sizeof(*patterns); k++){
    sqlite3_value *value = values ? zt_plan_value(values, patterns[k].bit) : NULL;
    if( constraints_patterns_take(patterns[k].pattern, value, err) ) return err->rc;
  }
  return SQLITE_OK;
}

static void constraints_take_rows(zt_constraints *w, const zt_plan_values *values){
  w->range = (zt_range){ 0, UINT64_MAX };
  w->uncounted = false;
  for(int bit=ZT_PLAN_EQ; bit<=ZT_PLAN_LE; bit<<=1){
    sqlite3_value *value = zt_plan_value(values, bit);
    if( !value ) continue;
    constraints_range_narrow(&w->range, value, bit);
    w->uncounted |= constraints_is_beyond(value);
  }
  w->limit = constraints_count(zt_plan_value(values, ZT_PLAN_LIMIT), UINT64_MAX);
  w->offset = constraints_count(zt_plan_value(values, ZT_PLAN_OFFSET), 0);
  w->uncounted = w->uncounted && (w->limit<UINT64_MAX || w->offset>0);
}

int zt_constraints_take(zt_constraints *w, int plan, const zt_plan_values *values, bool patterns,
                        const zt_interrupt *interrupt, zt_error *err){
  w->plan = plan;
  if( constraints_names_take(&w->paths, zt_plan_value(values, ZT_PLAN_PATH), plan & ZT_PLAN_PATHS,
                             interrupt, err)
   || constraints_names_take(&w->objects, zt_plan_value(values, ZT_PLAN_OBJECT),
                             plan & ZT_PLAN_OBJECTS,
                             interrupt, err)
   || constraints_take_patterns(w, patterns ? values : NULL, err) ) return err->rc;
  constraints_take_rows(w, values);
  return SQLITE_OK;
}

void zt_constraints_clear(zt_constraints *w){
  zt_names_clear(&w->paths);
  zt_names_clear(&w->objects);
  constraints_patterns_clear(&w->path_patterns);
  constraints_patterns_clear(&w->object_patterns);
}
