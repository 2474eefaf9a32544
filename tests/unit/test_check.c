/*
** Findings about files, by the numbers of their rules: tensor/check.h. That each rule has a file which breaks it alone
** is the business of tests/sql/test_check.py; here are the edges: bytes, versions, windows, passes.
*/
#include "findings.h"

#include "expectations.h"
#include "seekable.h"
#include "zt2.h"
#include "core/pool.h"
#include "tensor/sparse.h"

#define WINDOW ZT_STREAM_PIECE   /* Bytes that a check looks at together */
#define PASS ((size_t)1 << 19)       /* Stored elements that are sorted at once */

/* --- Files of dense objects --- */

typedef struct spot {
  const char *object;
  uint64_t offset, length;
} spot;

/* The manifest stands at `end`; before it, all is zero. */
static blob area_file(const char *version, const spot *spots, size_t n, uint64_t end){
  blob file = { 0 }, manifest = { 0 };
  put(&file, "ZTEN1000", 8);
  put_repeated(&file, 0, (size_t)end-8);
  put_map(&manifest, 2);
  put_key_text(&manifest, "version", version);
  put_text(&manifest, "objects");
  put_map(&manifest, n);
  for(size_t i=0; i<n; i++){
    put_text(&manifest, spots[i].object);
    put_map(&manifest, 3);
    put_text(&manifest, "shape");
    put_array(&manifest, 1);
    put_uint(&manifest, spots[i].length);
    put_key_text(&manifest, "format", "dense");
    put_text(&manifest, "components");
    put_map(&manifest, 1);
    put_text(&manifest, "data");
    put_map(&manifest, 3);
    put_key_text(&manifest, "dtype", "u8");
    put_key_uint(&manifest, "offset", spots[i].offset);
    put_key_uint(&manifest, "length", spots[i].length);
  }
  put(&file, manifest.p, manifest.n);
  put_le64(&file, manifest.n);
  put(&file, "ZTEN1000", 8);
  free(manifest.p);
  return seal(&file);
}

#define MAX_SPOTS 5

TEST(test_gaps){
  static const struct { const char *row; spot spots[MAX_SPOTS]; uint64_t end; const char *expected; } rows[] = {
    { "no blob, no gap", { { 0 } }, 8, "" },
    { "64 bytes and no blob", { { 0 } }, 72, "" },
    { "65 bytes and no blob", { { 0 } }, 73, "W4" },
    { "a blob of no byte is none", { { "a", 64, 0 } }, 128, "W4" },
    { "56 bytes before the first", { { "a", 64, 1 } }, 65, "" },
    { "120 bytes before the first", { { "a", 128, 1 } }, 129, "W4" },
    { "64 bytes between", { { "a", 64, 64 }, { "b", 192, 1 } }, 193, "" },
    { "65 bytes between", { { "a", 64, 63 }, { "b", 192, 1 } }, 193, "W4" },
    { "63 bytes between", { { "a", 64, 65 }, { "b", 192, 1 } }, 193, "" },
    { "64 bytes behind the last", { { "a", 64, 1 } }, 129, "" },
    { "65 bytes behind the last", { { "a", 64, 1 } }, 130, "W4" },
    { "three gaps", { { "a", 128, 1 }, { "b", 256, 1 } }, 400, "W4 W4 W4" },
    { "the manifest's order is another", { { "b", 192, 64 }, { "a", 64, 64 } }, 320, "" },
    { "a gap is none where a long blob reaches", { { "a", 64, 300 }, { "b", 64, 300 }, { "c", 320, 44 } }, 428, "W3:c.data" },
    { "behind the one that reaches furthest", { { "a", 64, 300 }, { "b", 128, 1 } }, 428, "W3:b.data" },
    { "and 65 behind it", { { "a", 64, 300 }, { "b", 128, 1 } }, 429, "W3:b.data W4" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    opened o;
    size_t n = 0;
    while( n<MAX_SPOTS && rows[i].spots[n].object ) n++;
    open_bytes(&o, area_file("1.2.0", rows[i].spots, n, rows[i].end), rows[i].row);
    assert_findings(&o, rows[i].expected, rows[i].expected, rows[i].row);
    close_opened(&o);
  }
}

TEST(test_overlaps){
  static const struct { const char *row; spot spots[MAX_SPOTS]; const char *expected; } rows[] = {
    { "side by side", { { "a", 64, 64 }, { "b", 128, 192 } }, "" },
    { "one byte", { { "a", 64, 65 }, { "b", 128, 192 } }, "W3:b.data" },
    { "the same", { { "a", 64, 256 }, { "b", 64, 256 }, { "c", 64, 256 } }, "" },
    { "the same, and part of it", { { "a", 64, 256 }, { "b", 64, 256 }, { "c", 64, 255 } }, "W3:a.data" },
    { "backward", { { "c", 192, 128 }, { "b", 128, 128 }, { "a", 64, 128 } }, "W3:b.data W3:c.data" },
    { "one within another within another", { { "a", 64, 256 }, { "b", 128, 128 }, { "c", 192, 1 } }, "W3:b.data W3:c.data" },
    { "two within one, apart", { { "a", 64, 256 }, { "b", 128, 1 }, { "c", 192, 1 } }, "W3:b.data W3:c.data" },
    { "each range is named once", { { "a", 64, 256 }, { "b", 128, 8 }, { "c", 128, 8 }, { "d", 128, 9 } }, "W3:b.data W3:d.data" },
    { "an empty one in the midst of one", { { "a", 64, 256 }, { "b", 128, 0 } }, "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    opened o;
    size_t n = 0;
    while( n<MAX_SPOTS && rows[i].spots[n].object ) n++;
    open_bytes(&o, area_file("1.2.0", rows[i].spots, n, 320), rows[i].row);
    assert_findings(&o, rows[i].expected, rows[i].expected, rows[i].row);
    close_opened(&o);
  }
}

TEST(test_an_overlap_names_both){
  static const spot spots[] = { { "inner", 128, 8 }, { "first", 64, 100 }, { "furthest", 64, 200 }, { "last", 192, 128 } };
  opened o;
  open_bytes(&o, area_file("1.2.0", spots, 4, 320), "overlaps");
  assert_last(&o, "W3:furthest.data W3:inner.data W3:last.data",
              "bytes 192 to 320 overlap those of object 'furthest': component 'data', 64 to 264", "overlaps");
  close_opened(&o);
}

/* Each byte in turn is not zero: those of blobs may be anything, the others not. */
TEST(test_every_byte_of_padding){
  static const spot spots[] = { { "a", 64, 10 }, { "b", 128, 64 }, { "c", 256, 1 } };
  blob file = area_file("1.2.0", spots, 3, 300);
  opened o;
  for(uint64_t at=8; at<300; at++){
    char row[40], words[100] = "";
    bool owned = (at>=64 && at<74) || (at>=128 && at<192) || at==256;
    blob changed = exact(file.p, file.n);
    snprintf(row, sizeof(row), "byte %llu", (unsigned long long)at);
    if( !owned ) snprintf(words, sizeof(words), "%s belongs to no component and is 0x80, not 0", row);
    changed.p[at] = 0x80;
    open_bytes(&o, changed, row);
    assert_findings(&o, "", owned ? "" : "W2", row);
    assert_last(&o, owned ? "" : "W2", words, row);
    close_opened(&o);
  }
  free(file.p);
}

/* Gaps larger than what is looked at together, from memory. */
TEST(test_padding_of_many_windows){
  static const size_t places[] = { 8, 9, WINDOW-1, WINDOW, WINDOW+7, WINDOW+8, WINDOW+9, 2*WINDOW+8, 3*WINDOW-1 };
  for(size_t i=0; i<COUNT(places); i++){
    opened o;
    char words[100];
    blob file = area_file("1.1.0", NULL, 0, 3*WINDOW);
    file.p[places[i]] = 1;
    file.p[3*WINDOW-1] = 1;   /* The first is named */
    open_bytes(&o, file, "windows");
    snprintf(words, sizeof(words), "byte %zu belongs to no component and is 0x01, not 0", places[i]);
    assert_findings(&o, "W4", "W4 W2", words);
    assert_last(&o, "W4 W2", words, words);
    close_opened(&o);
  }
}

/* --- Versions --- */

TEST(test_versions){
  static const struct { const char *version; bool known; } rows[] = {
    { "1", true }, { "1.0", true }, { "1.1", true }, { "1.2", true }, { "1.2.0", true }, { "1.2.99", true }, { "1.2.x", true }, { "1.0.", true },
    { "1.00", true }, { "1.02.0", true },
    { "1.", false }, { "1..2", false }, { "1.3", false }, { "1.10.0", false }, { "1.20", false }, { "1.x", false }, { "1.2x", false },
    { "1.-1", false }, { "1.+2", false }, { "1. 2", false }, { "1.2 ", false }, { "1.4294967298", false }, { "1.18446744073709551618.0", false },
  };
  blob large = { 0 };
  opened o;
  for(size_t i=0; i<COUNT(rows); i++){
    open_bytes(&o, area_file(rows[i].version, NULL, 0, 8), rows[i].version);
    assert_findings(&o, rows[i].known ? "" : "W1", rows[i].known ? "" : "W1", rows[i].version);
    close_opened(&o);
  }
  put(&large, "1.", 2);
  put_repeated(&large, '2', 100000);
  put_byte(&large, 0);
  open_bytes(&o, area_file((char*)large.p, NULL, 0, 8), "a very long version");
  assert_findings(&o, "W1", "W1", "a very long version");
  close_opened(&o);
  free(large.p);
}

/* The first n bytes of the file like those at p. */
static uint8_t *find_bytes(blob file, const void *p, size_t n){
  for(size_t i=0; i+n<=file.n; i++) if( memcmp(file.p+i, p, n)==0 ) return file.p+i;
  return NULL;
}

/* 1.1 does not have the rules of 1.2; an unreadable version may be later than 1.2. */
TEST(test_a_later_generation_demands_more){
  static const struct { const char *version, *expected; } rows[] = {
    { "1.1.0", "" }, { "1", "" }, { "1.0", "" }, { "1.2.0", "W12:x.coords W13:x.coords" }, { "1.x", "W1 W12:x.coords W13:x.coords" },
    { "1.10.0", "W1 W12:x.coords W13:x.coords" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = { .format = "sparse_coo", .rank = 1, .shape = { 3 } };
    blob values = { 0 }, coords = { 0 }, file, changed = { 0 };
    size_t manifest;
    uint8_t *at;
    opened o;
    put_byte(&values, 7);
    put_bits(&coords, 2, 4);
    add_part(&r, "values", "u8", NULL, values);
    add_part(&r, "coords", "i32", NULL, coords)->storing = ZSTD;
    file = file_of(&r);
    at = find_bytes(file, "\x65" "1.2.0", 6);
    assert_non_null(at);
    manifest = (size_t)(at-file.p)-9;   /* The root's head and "version" */
    put(&changed, file.p, (size_t)(at-file.p));
    put_text(&changed, rows[i].version);
    put(&changed, at+6, file.n-16-(size_t)(at+6-file.p));
    put_le64(&changed, changed.n-manifest);
    put(&changed, "ZTEN1000", 8);
    open_bytes(&o, seal(&changed), rows[i].version);
    assert_findings(&o, rows[i].expected, rows[i].expected, rows[i].version);
    close_opened(&o);
    free(file.p);
    clear_recipe(&r);
  }
}

/* --- Bytes --- */

TEST(test_booleans){
  static const size_t places[] = { 0, 1, 63, WINDOW-1, WINDOW, WINDOW+1, 2*WINDOW-1, 2*WINDOW, 3*WINDOW+99 };
  static const char *const what[] = { "raw", "zstd", "zstd of a stated length" };
  size_t n = 3*WINDOW+100;
  for(int s=RAW; s<=ZSTD_STATED; s++){
    for(size_t i=0; i<=COUNT(places); i++){
      recipe r = { .format = "dense", .rank = 1, .shape = { n } };
      blob bytes = { 0 };
      const char *quick = s==ZSTD ? "W13:x.data" : "";
      char full[100], words[100] = "";
      opened o;
      put_repeated(&bytes, 1, n);
      bytes.p[5] = 0;
      if( i<COUNT(places) ){
        bytes.p[n-1] = 0xFF;
        bytes.p[places[i]] = 0x10;
        snprintf(words, sizeof(words), "byte %zu is 0x10: a bool is 0 or 1", places[i]);
      }
      snprintf(full, sizeof(full), "%s%s%s", quick, i<COUNT(places) && quick[0] ? " " : "", i<COUNT(places) ? "W9:x.data" : "");
      add_part(&r, "data", "bool", NULL, bytes)->storing = (storing)s;
      open_recipe(&o, &r, NULL, what[s]);
      assert_findings(&o, quick, full, what[s]);
      if( words[0] ) assert_last(&o, full, words, what[s]);
      close_opened(&o);
      clear_recipe(&r);
    }
  }
}

/* A component's other faults are findings, too; the faults of the object that follow from them are not. */
TEST(test_several_findings_of_one_component){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { 1, 4 } };
  blob values = { 0 }, indices = { 0 }, indptr = { 0 };
  opened o;
  put(&values, "\x03\x01", 2);
  put_bits(&indices, 1, 4);
  put_bits(&indices, 1, 4);
  put_bits(&indptr, 0, 8);
  put_bits(&indptr, 2, 8);
  add_part(&r, "values", "bool", NULL, values);
  add_part(&r, "indices", "i4", NULL, indices)->storing = ZSTD;
  add_part(&r, "indptr", "u64", "odd", indptr);
  open_recipe(&o, &r, NULL, "several");
  assert_findings(&o, "L2:x.indices W12:x.indices W13:x.indices L5:x.indptr",
                  "W9:x.values L2:x.indices W12:x.indices W13:x.indices L5:x.indptr", "several");
  close_opened(&o);
  r.parts[1].dtype = "u32";
  r.parts[1].storing = RAW;
  r.parts[2].type = NULL;
  open_recipe(&o, &r, NULL, "order");
  assert_findings(&o, "W12:x.indices", "W9:x.values W12:x.indices W11:x", "order");
  close_opened(&o);
  clear_recipe(&r);
}

/* A frame that breaks off after a byte that is no bool: both are said where the bytes before it can be had. */
TEST(test_a_component_that_breaks_off){
  recipe r = { .format = "odd", .rank = 1, .shape = { 10 } };
  char got[1000];
  blob file, bytes = { 0 };
  opened o;
  put_repeated(&bytes, 2, 10);
  add_part(&r, "data", "bool", NULL, bytes)->storing = ZSTD;
  file = file_of(&r);
  file.p[64] ^= 1;
  open_bytes(&o, file, "no frame");
  list_findings(&o, true, got, sizeof(got), NULL, "no frame");
  assert_string_equal(got, "W13:x.data E2:x.data L1:x");
  close_opened(&o);
  clear_recipe(&r);
}

/* --- zTensor 2 --- */

/* Rules of an encoding are said of the component, once, whoever meets them first: the digest, a bool, or the tensor. */
TEST(test_parts_of_frames){
  static const struct { const char *row; size_t from_end; int total; const char *found; } rows[] = {
    { "sound", 0, 0, "" }, { "a checksum", 43, 0, "Y1:x.data" }, { "an entry's content", 21, 0, "Y2:x.data" }, { "the foot", 1, 0, "Y3:x.data" }, { "an entry's stored bytes", 25, 0, "Y4:x.data" },
    { "decoded_length", 0, 1, "Y4:x.data" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int digest=0; digest<3; digest++){   /* None; right; wrong */
      for(int type=0; type<2; type++){
        uint8_t content[50] = { 0 };
        blob stored = seekable_part(content, 50, 20, 0, NULL), file;
        size_t mark, total = (size_t)(50+rows[i].total);
        char notation[600], text[60] = "";
        const char *full = rows[i].found[0]==0 && digest==2 ? "W8:x.data" : rows[i].found;
        opened o;
        if( digest ) snprintf(text, sizeof(text), ", 'digest': 'xxh3:%016llx'", (unsigned long long)XXH3_64bits(content, 50)^(unsigned long long)(digest-1));
        snprintf(notation, sizeof(notation), "{'objects': {'x': {'parts': {'data': {'blob': [4096, %zu]%s, 'dtype': 'u8'%s, 'encoding': '" SEEKABLE "', 'decoded_length': %zu}}, 'shape': [%zu], 'layout': 'dense'}}}", stored.n,
                 type ? ", 'type': 'bool'" : "", text, total, total);
        file = zt2_file(zt2_manifest(notation, &mark), 8192, 0);
        memcpy(file.p+ZT2_PAGE, stored.p, stored.n);
        if( rows[i].from_end ) file.p[ZT2_PAGE+stored.n-rows[i].from_end] ^= 0x10;
        open_bytes(&o, file, rows[i].row);
        assert_findings(&o, "", full, rows[i].row);
        close_opened(&o);
        free(stored.p);
      }
    }
  }
}

/* --- The order of stored elements --- */

typedef struct expected {
  bool ascending;
  uint64_t at, repeated;
} expected;

static int compare_cells(const void *a, const void *b){
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x>y) - (x<y);
}

/* Sorts the cells. */
static expected order_of(uint64_t *cells, size_t n){
  expected e = { .ascending = true };
  for(size_t i=1; i<n; i++){
    if( cells[i]>=cells[i-1] ) continue;
    e.ascending = false;
    e.at = i;
    break;
  }
  qsort(cells, n, sizeof(*cells), compare_cells);
  for(size_t i=1; i<n; i++) e.repeated += cells[i]==cells[i-1];
  return e;
}

/* A tensor of rows times columns that stores ones in these cells. CSR: their rows must ascend. */
static recipe sparse_recipe(bool csr, uint64_t rows, uint64_t columns, const uint64_t *cells, size_t n, storing how){
  recipe r = { .format = csr ? "sparse_csr" : "sparse_coo", .rank = 2, .shape = { rows, columns } };
  blob values = { 0 }, indices = { 0 }, indptr = { 0 };
  put_repeated(&values, 1, n);
  if( csr ){
    size_t i = 0;
    put_bits(&indptr, 0, 8);
    for(uint64_t row=0; row<rows; row++){
      while( i<n && cells[i]/columns==row ) i++;
      put_bits(&indptr, i, 8);
    }
    assert_int_equal(i, n);
    add_part(&r, "indptr", "u64", NULL, indptr)->storing = how;
  }else{
    for(size_t i=0; i<n; i++) put_bits(&indices, cells[i]/columns, 8);
  }
  for(size_t i=0; i<n; i++) put_bits(&indices, cells[i]%columns, 8);
  add_part(&r, csr ? "indices" : "coords", "u64", NULL, indices)->storing = how;
  add_part(&r, "values", "u8", NULL, values)->storing = how;
  return r;
}

static void assert_order(bool csr, uint64_t rows, uint64_t columns, uint64_t *cells, size_t n, storing how, const char *row){
  recipe r = sparse_recipe(csr, rows, columns, cells, n, how);
  expected e = order_of(cells, n);
  zt_error err = ZT_ERROR_NONE;
  char full[100], words[200] = "";
  zt_order order;
  zt_tensor t;
  opened o;
  open_recipe(&o, &r, NULL, row);
  open_tensor(&o, &t, row);
  assert_int_equal(zt_sparse_order(&t, &order, &err), SQLITE_OK);
  check( order.ascending==e.ascending && (e.ascending || order.at==e.at), "%s: %llu, expected %llu", row, (unsigned long long)order.at,
         (unsigned long long)e.at );
  check( order.repeated==e.repeated, "%s: %llu, expected %llu", row, (unsigned long long)order.repeated, (unsigned long long)e.repeated );
  zt_tensor_close(&t);
  snprintf(full, sizeof(full), "%s%s%s", e.ascending ? "" : "W10:x", !e.ascending && e.repeated ? " " : "", e.repeated ? "W11:x" : "");
  if( e.repeated ) snprintf(words, sizeof(words), "%llu of %zu stored elements lie in a cell that has one already", (unsigned long long)e.repeated, n);
  else if( !e.ascending ) snprintf(words, sizeof(words), "stored element %llu lies in a cell before that of an earlier one", (unsigned long long)e.at);
  assert_findings(&o, "", full, row);
  assert_last(&o, full, words, row);
  close_opened(&o);
  clear_recipe(&r);
}

TEST(test_the_order_of_a_few_elements){
  static const struct { const char *row; uint64_t cells[6]; size_t n; } rows[] = {
    { "none", { 0 }, 0 }, { "one", { 5 }, 1 }, { "ascending", { 0, 1, 11 }, 3 }, { "descending in a row", { 3, 2, 1, 0 }, 4 },
    { "the last", { 0, 1, 3, 2 }, 4 }, { "the first", { 1, 0, 2, 3 }, 4 }, { "twice", { 1, 1 }, 2 }, { "cell 0 twice", { 0, 0 }, 2 },
    { "three times", { 7, 7, 7 }, 3 }, { "twice, not together", { 5, 4, 5 }, 3 }, { "two pairs", { 4, 6, 4, 6 }, 4 },
    { "all", { 2, 1, 2, 1, 0, 0 }, 6 }, { "the last cell", { 11, 11 }, 2 },
  };
  for(int csr=0; csr<2; csr++){
    for(int how=RAW; how<=ZSTD_STATED; how+=ZSTD_STATED-RAW){
      for(size_t i=0; i<COUNT(rows); i++){
        uint64_t cells[6];
        memcpy(cells, rows[i].cells, sizeof(cells));
        assert_order(csr, 3, 4, cells, rows[i].n, (storing)how, rows[i].row);
      }
    }
  }
}

/* At the edges of what is read at once, and of what is sorted at once. */
TEST(test_the_order_of_many_elements){
  static const size_t counts[] = { ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1, 2*ZT_ENTRIES+1, PASS, PASS+1, 2*PASS+100 };
  uint64_t random = 99;
  for(size_t i=0; i<COUNT(counts); i++){
    size_t n = counts[i];
    uint64_t *cells = malloc(n*sizeof(*cells)), columns = 1000003;
    char row[60];
    assert_non_null(cells);
    for(int kind=n<PASS ? 0 : 2; kind<6; kind++){
      for(size_t k=0; k<n; k++) cells[k] = kind<5 ? k : random_below(&random, n+n/4);
      if( kind==1 ) cells[n-1] = 0;                               /* One far from its like */
      if( kind==2 ) cells[n-1] = cells[n-2];                      /* Two side by side */
      if( kind==3 ) for(size_t k=0; k<n; k++) cells[k] = n-1-k;   /* Each before the last */
      if( kind==4 && n>ZT_ENTRIES ) cells[ZT_ENTRIES] = cells[ZT_ENTRIES-1];   /* The same, in two pieces */
      snprintf(row, sizeof(row), "%zu elements, kind %d", n, kind);
      assert_order(kind%2==0, 2, columns, cells, n, RAW, row);
    }
    free(cells);
  }
}

/* --- What ends a check --- */

static bool yes(void *context){ return --*(int*)context<=0; }

/* An interrupt is no finding; what was found before it was handed out. */
TEST(test_interrupts){
  blob file = area_file("1.1.0", NULL, 0, (size_t)64<<20);
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  int questions = 3;
  zt_budget budget = { .result = 1000000000, .decode = UINT64_MAX, .interrupt = { yes, &questions } };
  zt_check *check = NULL;
  opened o;
  file.p[((size_t)64<<20)-1] = 1;
  open_bytes(&o, file, "interrupts");
  assert_int_equal(zt_check_open(o.source, o.container, true, &budget, NULL, &check, &err), SQLITE_OK);
  while( zt_check_next(check, &found, &err) ){
    assert_string_equal(found.rule, "W4");
    zt_error_clear(&found);
  }
  assert_int_equal(err.rc, SQLITE_INTERRUPT);
  assert_null(found.message);
  zt_error_clear(&err);
  zt_check_close(check);
  zt_check_close(NULL);
  close_opened(&o);
}

/* A check of metadata alone asks once for many steps. */
TEST(test_interrupts_of_quick_checks){
  enum { MANY = 900 };
  spot *spots = malloc(MANY*sizeof(*spots));
  char names[MANY][8];
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  int asked = 0;
  zt_check *check = NULL;
  opened o;
  for(unsigned i=0; i<MANY; i++){
    snprintf(names[i], sizeof(names[i]), "n%03u", i);
    spots[i] = (spot){ names[i], 64, 1 };
  }
  open_bytes(&o, area_file("1.1.0", spots, MANY, 65), "many");
  for(int stop=0; stop<3; stop++){
    caller c = { .stop_at = stop };
    zt_budget budget = { .result = 1000000000, .decode = UINT64_MAX, .interrupt = { caller_stops, &c } };
    assert_int_equal(zt_check_open(o.source, o.container, false, &budget, NULL, &check, &err), SQLITE_OK);
    while( zt_check_next(check, &found, &err) ) zt_error_clear(&found);
    zt_check_close(check);
    if( stop==0 ) asked = c.asked;
    check( err.rc==(stop && stop<=asked ? SQLITE_INTERRUPT : SQLITE_OK), "stop %d: %d", stop, err.rc );
    zt_error_clear(&err);
    err = ZT_ERROR_NONE;
  }
  check( asked>0, "never asked" );
  close_opened(&o);
  free(spots);
}

/* More findings of an object than are found ahead, with another thread and without. */
TEST(test_many_findings_of_one_object){
  zt_pool *pool = zt_pool_new(1);
  char notation[4000];
  size_t n = 0, mark;
  opened o;
  n += (size_t)snprintf(notation, sizeof(notation), "{'objects': {'x': {'parts': {");
  for(int i=0; i<40; i++) n += (size_t)snprintf(notation+n, sizeof(notation)-n, "'p%02d': {'blob': [4096, 1], 'type': 'odd', 'dtype': 'u8'}, ", i);
  snprintf(notation+n, sizeof(notation)-n, "}, 'shape': [1], 'layout': 'odd'}}}");
  open_bytes(&o, zt2_file(zt2_manifest(notation, &mark), 8192, 0), "many");
  for(int threads=0; threads<2; threads++){
    zt_budget budget = { .result = 1000000000, .decode = UINT64_MAX, .pool = threads ? pool : NULL };
    zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
    zt_check *check;
    int types = 0, others = 0;
    assert_int_equal(zt_check_open(o.source, o.container, true, &budget, NULL, &check, &err), SQLITE_OK);
    while( zt_check_next(check, &found, &err) ){
      char role[16];
      snprintf(role, sizeof(role), "p%02d", types);
      if( strcmp(found.rule, "L5")==0 ){
        assert_text(found.component, role, "in their order");
        types++;
      }else others++;
      zt_error_clear(&found);
      found = ZT_ERROR_NONE;
    }
    assert_succeeded(&err, "many");
    check( types==40 && others>=1, "%d threads: %d and %d", threads, types, others );
    zt_check_close(check);
  }
  close_opened(&o);
  zt_pool_free(pool);
}

/* zTensor 2: writers choose the alignment, and up to 64 KiB are no gap. */
TEST(test_gaps_of_any_alignment){
  static const struct { const char *row; size_t first, second, manifest; const char *expected; } rows[] = {
    { "64 KiB between", 4096, 4096+4096+61440, 4096*20, "" }, { "more", 4096, 4096+4096+65536+4096, 4096*22, "W4" },
    { "as far as they are aligned", 131072, 262144, 262144+4096, "" }, { "no multiple of the alignment", 131072, 262144, 262144+81920, "W4" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char notation[400];
    size_t mark;
    opened o;
    snprintf(notation, sizeof(notation), "{'objects': {'x': {'parts': {'data': {'blob': [%zu, 4096], 'dtype': 'u8'}}, 'shape': [4096], 'layout': 'dense'},"
             " 'y': {'parts': {'data': {'blob': [%zu, 1], 'dtype': 'u8'}}, 'shape': [1], 'layout': 'dense'}}}", rows[i].first, rows[i].second);
    open_bytes(&o, zt2_file(zt2_manifest(notation, &mark), rows[i].manifest, 0), rows[i].row);
    assert_findings(&o, rows[i].expected, rows[i].expected, rows[i].row);
    close_opened(&o);
  }
}

/* A check that is closed before its end leaves nothing behind. */
TEST(test_a_check_can_be_closed_at_any_time){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { 1, 4 } };
  blob bytes = { 0 };
  opened o;
  put(&bytes, "\x03\x01", 2);
  add_part(&r, "values", "i4", NULL, bytes)->storing = ZSTD;
  open_recipe(&o, &r, NULL, "closed");
  for(int n=0; n<5; n++){
    zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
    sqlite3_int64 before = sqlite3_memory_used();
    zt_budget budget = { .result = 1000000000, .decode = UINT64_MAX };
    zt_check *check;
    assert_int_equal(zt_check_open(o.source, o.container, true, &budget, NULL, &check, &err), SQLITE_OK);
    for(int i=0; i<n && zt_check_next(check, &found, &err); i++) zt_error_clear(&found);
    zt_check_close(check);
    assert_succeeded(&err, "closed");
    assert_int_equal(sqlite3_memory_used(), before);
  }
  close_opened(&o);
  clear_recipe(&r);
}

int main(void){
  return run_all("check", open_db, close_db);
}
