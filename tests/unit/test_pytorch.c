/* PyTorch's archives whose pickles repeat a small value many times are refused, in memory proportional to their size; and keys
** that stand twice. tests/sql/test_pytorch.py and test_golden.py test other files. */
#include "archive.h"

#include "container/container.h"
#include "core/host.h"

#define PICKLE ((size_t)10000000)
#define MOST ((sqlite3_int64)64 << 20)   /* Bytes that such a file takes */

static zt_error err;

static int setup(void **state){
  (void)state;
  err = ZT_ERROR_NONE;
  return sqlite3_initialize();
}

static int teardown(void **state){
  (void)state;
  zt_error_clear(&err);
  return 0;
}

/* An archive with a pickle of that size: how it begins, a piece again and again, and an end. */
static blob archive_of(const char *begin, const char *piece, size_t size, const char *end){
  archive a = { 0 };
  blob pickle = { 0 };
  put(&pickle, begin, strlen(begin));
  while( pickle.n<size ) put(&pickle, piece, strlen(piece));
  put(&pickle, end, strlen(end)+1);
  add_member(&a, (archived){ .name = "a/data.pkl", .data = (const char*)pickle.p });
  free(pickle.p);
  return end_archive(&a, "");
}

/* Open it, and close it again: bytes that this takes at most. */
static sqlite3_int64 open_archive(blob b){
  zt_container *c;
  zt_source *source;
  sqlite3_int64 before = sqlite3_memory_used(), most;
  assert_int_equal(zt_source_open_image(span_of(b), &source, &err), SQLITE_OK);
  sqlite3_memory_highwater(1);
  zt_container_open(source, NULL, &c, &err);
  most = sqlite3_memory_highwater(0)-before;
  zt_container_close(c);
  zt_source_close(source);
  assert_int_equal(sqlite3_memory_used()>before+4096, 0);   /* But for the error's message */
  return most;
}

TEST_WITH(test_nested_memo_references, setup, teardown){
  static const struct { const char *begin, *piece, *end, *rule; } rows[] = {
    { "]q\1", "h\1h\1\x86q\1", ".", "PT4" }, { "K\5q\1", "]q\2(h\1h\1eh\2q\1", ".", "PT4" }, { "}q\1U\1aq\2", "}q\3h\2h\1sq\1", ".", "PT4" },
    { "U 0123456789abcdef0123456789abcdefq\1(", "h\1", "l.", "PT7" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = archive_of(rows[i].begin, rows[i].piece, PICKLE, rows[i].end);
    sqlite3_int64 most = open_archive(b);
    check(err.rc==SQLITE_ERROR && strcmp(err.rule, rows[i].rule)==0, "row %d: %s", (int)i, err.message);
    check(most<MOST, "row %d: %lld bytes", (int)i, (long long)most);
    zt_error_clear(&err);
    free(b.p);
  }
}

/* Eight levels of tuples, each of the one before, many times. */
TEST_WITH(test_wide_memo_references, setup, teardown){
  sqlite3_int64 most;
  blob pickle = { 0 }, b;
  archive a = { 0 };
  put(&pickle, "K\5q\1", 4);
  for(int level=0; level<8; level++){
    put(&pickle, "(", 1);
    for(size_t i=0; i<PICKLE/16; i++) put(&pickle, "h\1", 2);
    put(&pickle, "tq\1", 3);
  }
  put(&pickle, ".", 2);
  add_member(&a, (archived){ .name = "a/data.pkl", .data = (const char*)pickle.p });
  free(pickle.p);
  b = end_archive(&a, "");
  most = open_archive(b);
  check(most<2*MOST, "%lld bytes", (long long)most);   /* Five million references, and a million values that are shown */
  assert_int_equal(err.rc, SQLITE_OK);   /* A value that would be shown too often is shown once */
  free(b.p);
}

/* Keys as Python compares them, whether there are few or many. */
TEST_WITH(test_keys_that_stand_twice, setup, teardown){
  static const char *const more[] = { "", "I2\nN" "I3\nN" "I4\nN" "I5\nN" };
  static const struct { const char *keys, *message; } rows[] = {
    { "I1\nN" "F1\nN", "'1'" }, { "F-0\nN" "I00\nN", "'-0.0'" }, { "Fnan\np9\nN" "g9\nN", "" }, { "S'a'\nN" "Va\nN", "'a'" },
    { "I1\nN" "S'1'\nN", NULL }, { "Fnan\nN" "Fnan\nN", NULL }, { "NN" "I00\nN", NULL },
    { "I9007199254740993\nN" "I9007199254740993\nN", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(size_t k=0; k<COUNT(more); k++){
      char end[100];
      snprintf(end, sizeof(end), "%s%s" "d.", more[k], rows[i].keys);
      blob b = archive_of("(", "", 0, end);
      open_archive(b);
      check((err.rc!=SQLITE_OK)==(rows[i].message!=NULL), "row %d, %d: %s", (int)i, (int)k, err.message ? err.message : "");
      check(!err.rc || (strcmp(err.rule, "PT13")==0 && strstr(err.message, rows[i].message)), "row %d, %d: %s", (int)i, (int)k, err.message);
      zt_error_clear(&err);
      free(b.p);
    }
  }
}

int main(void){
  return run_all("pytorch", NULL, NULL);
}
