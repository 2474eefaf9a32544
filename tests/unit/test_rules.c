/*
** The table of drivers, and the rules: container/driver.h, container/rule.h, tensor/rule.h. These tests, and those of
** tests/sql/test_drivers.py and tests/sql/test_formats.py, find the parts that a new format lacks.
*/
#include "test.h"

#include <ctype.h>
#include "container/driver.h"
#include "core/paths.h"
#include "expectations.h"
#include "tensor/rule.h"

#define MOST 400   /* Rows of all lists */

/* --- The rules --- */

/* Every row of every list, each list once; [n].number is NULL. */
static size_t all_rows(const zt_rule *rows[MOST]){
  const zt_rule *lists[64] = { zt_rules_file };
  size_t nLists = 1, n = 0;
  for(int i=0; i<zt_driver_count(); i++){
    for(const zt_rule *const *list=zt_driver_rules(i); *list; list++){
      size_t k = 0;
      while( k<nLists && lists[k]!=*list ) k++;
      if( k==nLists ) lists[nLists++] = *list;
    }
  }
  for(size_t i=0; i<nLists; i++){
    for(const zt_rule *r=lists[i]; r->number; r++){
      assert_true(n<MOST);
      rows[n++] = r;
    }
  }
  return n;
}

static bool is_slug(const char *z){
  for(; *z; z++) if( !((*z>='a' && *z<='z') || (*z>='0' && *z<='9') || *z=='-') ) return false;
  return true;
}

static void check_row(const zt_rule *r){
  check( r->slug[0] && is_slug(r->slug), "%s", r->slug );
  check( strcmp(r->severity, ZT_SEVERITY_ERROR)==0 || strcmp(r->severity, ZT_SEVERITY_WARNING)==0
         || strcmp(r->severity, ZT_SEVERITY_NOTE)==0, "%s", r->number );
  check( r->meaning[0] && r->specification[0] && r->kind[0], "%s", r->number );
}

/* A slug has one row of its own, and the walk comes to each once; other numbers of it lead there. */
TEST(test_each_rule_has_one_row){
  const zt_rule *rows[MOST], *met[MOST];
  size_t n = all_rows(rows), nMet = 0;
  for(zt_rule_walk w = { 0 }; zt_rule_next(&w); met[nMet++] = w.rule){
    assert_true(nMet<MOST);
    check_row(w.rule);
    check( zt_rule_numbered(w.rule->number)==w.rule, "%s twice", w.rule->number );
    for(size_t i=0; i<nMet; i++) check( strcmp(met[i]->slug, w.rule->slug)!=0, "%s has two rows", w.rule->slug );
  }
  assert_true(nMet>100 && met[0]==zt_rules_file);
  for(size_t i=0; i<n; i++){
    const zt_error err = { .rc = SQLITE_ERROR, .rule = rows[i]->number };
    const zt_rule *rule = zt_rule_of(&err);
    check( zt_rule_numbered(rows[i]->number)==rows[i], "%s twice", rows[i]->number );
    check( rule && strcmp(rule->slug, rows[i]->slug)==0 && rule->meaning, "%s", rows[i]->number );
    for(nMet=0; met[nMet]!=rule; nMet++) assert_true(nMet<MOST-1);
  }
}

/* Every number for which a file under tests/formats/ztensor/hostile is refused has a row of its own. */
TEST(test_every_rule_with_a_file_is_in_the_table){
  sqlite3_stmt *cases = query("SELECT DISTINCT " FIELD("number") " FROM json_each(?1) WHERE " FIELD("message") " IS NOT NULL",
                              "tests/formats/ztensor/hostile/cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    const char *number = (const char*)sqlite3_column_text(cases, 0);
    check( zt_rule_numbered(number)!=NULL, "%s", number );
  }
  assert_true(n>50);
  sqlite3_finalize(cases);
}

TEST(test_failures_without_a_number){
  zt_error e = ZT_ERROR_NONE;
  e.rc = SQLITE_ERROR;
  assert_string_equal(zt_rule_of(&e)->slug, "unreadable");
  e.rc = SQLITE_TOOBIG;
  assert_string_equal(zt_rule_of(&e)->slug, "limit");
  assert_string_equal(zt_rule_error_kind(&e), "broken");
  e.rule = "X99";
  assert_string_equal(zt_rule_of(&e)->number, "F1");
}

TEST(test_kinds){
  static const struct { const char *rule, *kind; } rows[] = {
    { "T1", "unknown" }, { "NZ3", "unknown" }, { "T2", "unsupported" }, { "PT1", "unsupported" }, { "GG2", "unsupported" }, { "B2", "unsupported" },
    { "Z3", "unsupported" }, { "M1", "broken" },
    { "T22", "broken" }, { "Z1", "broken" }, { NULL, "unknown" }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    const zt_error err = { .rc = SQLITE_ERROR, .rule = rows[i].rule };
    assert_string_equal(zt_rule_error_kind(&err), rows[i].kind);
  }
}

/* --- The drivers --- */

/* A sound file of the format whose name a directory as source stands for. */
static void check_format_has_a_file(const zt_driver *driver){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { 0 };
  zt_paths paths;
  char pattern[100];
  size_t n = 0;
  snprintf(pattern, sizeof(pattern), "tests/formats/%s/golden/**/*", driver->format);
  assert_int_equal(zt_paths_find(pattern, &filter, &paths, &err), SQLITE_OK);
  for(size_t i=0; i<paths.n; i++) n += zt_glob_match_any(driver->files, zt_path_name(paths.a[i].z));
  check( n>0, "no file of %s that is called like one of '%s'", driver->name, driver->files );
  zt_paths_clear(&paths);
}

TEST(test_drivers_say_all_that_there_is_to_say){
  int n = 0;
  for(; zt_drivers[n]; n++){
    const zt_driver *d = zt_drivers[n];
    check( d->name && d->format && d->rules[0], "driver %d", n );
    check( d->probe && d->open && d->object && d->component, "driver %s", d->name );
    check( !d->rules[ZT_DRIVER_RULES], "driver %s", d->name );
    for(int i=0; i<n; i++) check( strcmp(d->name, zt_drivers[i]->name)!=0, "two drivers are called %s", d->name );
    if( d->files ) check_format_has_a_file(d);
  }
  assert_int_equal(n, zt_driver_count());
}

TEST(test_names_of_files){
  static const char *const names[] = { "a.zt", "b.safetensors", "c.gguf", "d.pt", "pytorch_model-00001-of-00002.bin", "e.onnx", "f.tflite", "g.msgpack", "h.GGUF", "i.pth.tar" };
  static const char *const others[] = { "a.ztx", "zt", "weights.bin", "c.GGUF.txt", "e.onnx.txt", "f.tar" };
  for(size_t i=0; i<COUNT(names); i++) check( zt_container_files(names[i]), "%s", names[i] );
  for(size_t i=0; i<COUNT(others); i++) check( !zt_container_files(others[i]), "%s", others[i] );
}

int main(void){
  return run_all("rules", open_db, close_db);
}
