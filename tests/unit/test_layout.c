/*
** An object's values in every layout: tensor/layout.h, sparse.h and assemble.h. The simplest code makes the expected values
** here; cases.json has the files that must be refused.
*/
#include "tensors.h"

#include <math.h>
#include "core/paths.h"
#include "expectations.h"
#include "subject.h"
#include "stored.h"
#include "core/digest.h"
#include "tensor/sparse.h"
#include "tensor/stats.h"

#define HOSTILE "tests/formats/ztensor/hostile/"

static int set_up(void **state){
  return make_file(state) || open_db(state);
}

static int tear_down(void **state){
  return remove_file(state) | close_db(state);
}

/* --- Objects in words --- */

/*
** Appends a list of numbers in the file's byte order. A type's name sets the type of the numbers behind it, 4*100 stands for a
** hundred 4, #7 for seven zero bytes, and a complex number is two numbers.
*/
static void put_numbers(blob *b, const char *type, const char *list){
  const zt_dtype *d = NULL;
  char word[32];
  int used;
  for(; sscanf(list, "%31s%n", word, &used)==1; list += used){
    const zt_dtype *other = zt_dtype_named((zt_text){ word, strlen(word) });
    const char *star = strchr(word, '*');
    unsigned times = star ? (unsigned)atoi(star+1) : 1;
    if( other ) d = other;
    if( other || word[0]=='#' ){
      if( !other ) put_repeated(b, 0, (size_t)atoi(word+1));
      continue;
    }
    if( !d ) d = named(type);
    while( times-- ){
      if( d->class==ZT_FLOAT ) put_real(b, d->name, strtod(word, NULL));
      else if( d->class==ZT_COMPLEX ) put_real(b, d->unit==4 ? "f32" : "f64", strtod(word, NULL));
      else put_bits(b, word[0]=='-' ? (uint64_t)strtoll(word, NULL, 10) : strtoull(word, NULL, 10), d->width);
    }
  }
}

typedef struct words {
  const char *role, *dtype, *type, *numbers;
} words;

typedef struct made {
  const char *format, *shape;
  words parts[MAX_PARTS];
  const char *attributes;  /* In hexadecimal; NULL: none */
  storing storing;
} made;

/* Returns the number of elements. */
static uint64_t set_shape(recipe *r, const char *shape){
  uint64_t elements = 1;
  char *end;
  for(uint64_t n=strtoull(shape, &end, 10); end!=shape; n=strtoull(shape, &end, 10)){
    r->shape[r->rank++] = n;
    elements *= n;
    shape = end;
  }
  return elements;
}

static recipe recipe_of(const made *m){
  recipe r = { .format = m->format };
  set_shape(&r, m->shape);
  for(size_t i=0; i<MAX_PARTS && m->parts[i].role; i++){
    const words *w = &m->parts[i];
    blob b = { 0 };
    put_numbers(&b, w->type ? w->type : w->dtype, w->numbers);
    add_part(&r, w->role, w->dtype, w->type, b)->storing = m->storing;
  }
  if( m->attributes ) put_hex(&r.attributes, m->attributes);
  return r;
}

/* --- The rules --- */

#define WORDS { "packed_weight", "i32", NULL, "1 2 3 4" }
#define SCALES { "scales", "f16", NULL, "1*8" }
#define ZEROS { "zeros", "f16", NULL, "2*8" }
#define NONE NULL, RAW
#define FOUR "a3 677061636b696e67 69 385f7065725f693332 6a67726f75705f73697a65 04 6462697473 04"   /* Codes of 4 bits, in groups of 4, 8 to an i32 */

typedef struct broken_rule {
  const char *rule, *component, *message;   /* The component: NULL if it is in no single one */
} broken_rule;

/* How an object's values are asked for. */
enum { BYTES, TEXT, STATISTICS, WAYS };

static int ask(opened *o, int way, zt_error *err){
  zt_buffer out = { NULL, 0 };
  zt_stats stats;
  zt_tensor t;
  o->budget.decoded = 0;
  if( zt_tensor_open(o->source, o->container, &o->object, &o->budget, &t, err)==SQLITE_OK ){
    if( way==BYTES ) zt_assemble(&t, t.dtype, 0, o->object.elements, &out, err);
    if( way==STATISTICS && t.dtype->class!=ZT_COMPLEX ) zt_stats_compute(&t, &stats, err);
    if( way==TEXT ) sqlite3_free(json_of(&t, err));
  }
  zt_tensor_close(&t);
  check( !err->rc || (out.p==NULL && out.n==0), "a failure, and %llu bytes", (unsigned long long)out.n );
  zt_buffer_free(out.p);
  return err->rc;
}

/* Every way to read the values fails for the same reason, and little memory is allocated. */
static void check_refused(opened *o, const broken_rule *rule, const char *row){
  char want[1000];
  snprintf(want, sizeof(want), "ztensor: p: object '%.*s': %s%s%s%s", (int)o->object.name.n, o->object.name.z, rule->component ? "component '" : "",
           rule->component ? rule->component : "", rule->component ? "': " : "", rule->message);
  for(int way=0; way<WAYS; way++){
    zt_error err = ZT_ERROR_NONE;
    sqlite3_int64 before = sqlite3_memory_used();
    err.path = "p";
    err.object = o->object.name;
    sqlite3_memory_highwater(1);
    check( ask(o, way, &err)==SQLITE_ERROR, "%s, %d: %d %s", row, way, err.rc, err.message ? err.message : "" );
    check( strcmp(err.message, want)==0, "%s, %d: '%s', expected '%s'", row, way, err.message, want );
    check( err.rule && strcmp(err.rule, rule->rule)==0, "%s: against %s, not %s", row, err.rule ? err.rule : "no rule", rule->rule );
    check( sqlite3_memory_highwater(0)<before+((sqlite3_int64)64<<20), "%s: %lld bytes", row, (long long)sqlite3_memory_highwater(0) );
    zt_error_clear(&err);
  }
}

/* The object of that name, or of that index, of an opened file. */
static void select_object(opened *o, zt_text name, uint32_t i){
  int64_t found = name.z ? zt_container_find(o->container, name) : (int64_t)i;
  assert_true(found>=0);
  zt_container_object(o->container, (uint32_t)found, &o->object);
}

/* cases.json has the rule and the message. The file's other objects are readable. */
TEST(test_hostile_files_are_refused_for_their_rule){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("object") ", " FIELD("component") ", " FIELD("number") ", " FIELD("message")
    " FROM json_each(?1) WHERE " FIELD("expect") "='lists_but_no_dense'", HOSTILE "cases.json");
  unsigned refused = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; refused++){
    const char *file = (const char*)sqlite3_column_text(cases, 0);
    const broken_rule rule = { (const char*)sqlite3_column_text(cases, 3), (const char*)sqlite3_column_text(cases, 2), (const char*)sqlite3_column_text(cases, 4) };
    zt_text object = column(cases, 1);
    char path[300];
    check( object.z && rule.rule && rule.message, "%s: which rule does it break?", file );
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    for(int image=0; image<2; image++){
      opened o;
      if( image ) open_bytes(&o, read_file(path), path);
      else open_path(&o, path);
      select_object(&o, object, 0);
      check_refused(&o, &rule, file);
      for(uint32_t i=0; i<zt_container_objects(o.container); i++){
        zt_error err = ZT_ERROR_NONE;
        select_object(&o, (zt_text){ NULL, 0 }, i);
        if( !zt_text_equal(o.object.name, object) ) check( ask(&o, BYTES, &err)==SQLITE_OK, "%s: object %u: %s", file, i, err.message );
      }
      close_opened(&o);
    }
  }
  assert_true(refused>=290);
  sqlite3_finalize(cases);
}

/* A fault spoils the ranges that contain it. Ranges beside it are right. */
TEST(test_a_fault_shows_where_it_is_read){
  static const made m = { "sparse_csr", "3 4", { { "values", "i32", NULL, "1 2 3" }, { "indices", "u8", NULL, "0 4 1" }, { "indptr", "u8", NULL, "0 1 2 3" } }, NONE };
  static const struct { uint64_t first; size_t n; bool ok; } rows[] = { { 0, 4, true }, { 8, 4, true }, { 9, 1, true }, { 0, 5, false }, { 4, 1, false }, { 7, 2, false }, { 0, 12, false } };
  recipe r = recipe_of(&m);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    int32_t out[12];
    zt_tensor t;
    opened o;
    open_recipe(&o, &r, NULL, "fault");
    open_tensor(&o, &t, "fault");
    zt_tensor_read(&t, rows[i].first, rows[i].n, out, &err);
    if( rows[i].ok ) assert_succeeded(&err, "fault");
    else assert_failed(&err, "column 4 in row 1, of 4 columns", "fault");
    zt_tensor_close(&t);
    close_opened(&o);
  }
  clear_recipe(&r);
}

/* --- Ranges --- */

/* From a file at that path, or from memory. */
static void check_opened(const recipe *r, const char *path, const zt_dtype *d, const uint8_t *want, const char *row){
  opened o;
  open_recipe(&o, r, path, row);
  check_tensor(&o, d, want, row);
  close_opened(&o);
}

static void check_recipe(const recipe *r, const zt_dtype *d, const uint8_t *want, const char *row){
  check_opened(r, file_path, d, want, row);
  check_opened(r, NULL, d, want, row);
}

/* --- Stored elements, and the dense form in the simplest way --- */

static const struct { const char *dtype, *type, *old; } value_types[] = {
  { "f64", NULL, "float64" }, { "f32", NULL, "float32" }, { "f16", NULL, "float16" }, { "bf16", NULL, "bfloat16" }, { "i64", NULL, "int64" },
  { "i32", NULL, "int32" }, { "i16", NULL, "int16" }, { "i8", NULL, "int8" }, { "u64", NULL, "uint64" }, { "u32", NULL, "uint32" },
  { "u16", NULL, "uint16" }, { "u8", NULL, "uint8" }, { "bool", NULL, "bool" }, { "u8", "f8_e4m3fn", NULL }, { "u8", "f8_e5m2fnuz", NULL },
  { "f32", "complex64", NULL }, { "f64", "complex128", NULL },
};

static const zt_dtype *value_dtype(size_t type){
  return named(value_types[type].type ? value_types[type].type : value_types[type].dtype);
}

static const char *const index_types[] = { "u64", "i64", "u32", "i32", "u16", "i16", "u8", "i8" };

typedef struct entry {
  uint64_t cell, order;
  uint64_t value[2];
} entry;

static int by_order(const void *a, const void *b){
  uint64_t x = ((const entry*)a)->order, y = ((const entry*)b)->order;
  return (x>y) - (x<y);
}

/* The order of the entries in a list. */
typedef enum arrangement { ASCENDING, DESCENDING, SHUFFLED, TWICE, ARRANGEMENTS } arrangement;

/* n entries of different cells if there are as many (TWICE: some cells have several), with values of all kinds. */
static entry *make_entries(const zt_dtype *d, uint64_t elements, size_t n, arrangement how, uint64_t *seed){
  static const double good[] = { 1, -1, 0.5, 3, -0.0, 0, 2 };
  entry *e = calloc(n+1, sizeof(*e));
  for(size_t i=0; i<n; i++){
    bool rare = random_below(seed, 8)==0;   /* Random bits make every kind of NaN, and infinities */
    e[i].cell = how==TWICE ? random64(seed)%elements : elements/n*i + (elements>=2*n ? i%2 : 0);
    e[i].order = how==ASCENDING ? e[i].cell : how==DESCENDING ? UINT64_MAX-e[i].cell : random64(seed);
    if( d->class==ZT_BOOL ) e[i].value[0] = random_below(seed, 2);
    else if( rare || d->class==ZT_INT || d->class==ZT_UINT ) for(int k=0; k<2; k++) e[i].value[k] = random64(seed);
    else for(int k=0; k<2; k++) zt_convert(named("f64"), &good[random_below(seed, COUNT(good))], d->class==ZT_COMPLEX ? named(d->storage) : d,
                                           (uint8_t*)e[i].value+(size_t)k*(d->class==ZT_COMPLEX ? d->unit : 8), 1);
  }
  qsort(e, n, sizeof(*e), by_order);
  return e;
}

/* The elements of the dense form: a cell's only value keeps its bits; several are added in storage order. */
static uint8_t *dense_of(const zt_dtype *d, uint64_t elements, const entry *e, size_t n){
  uint8_t *out = calloc((size_t)elements+1, d->width), *seen = calloc((size_t)elements+1, 1);
  for(size_t i=0; i<n; i++){
    uint8_t *cell = out+e[i].cell*d->width;
    if( !seen[e[i].cell] ) memcpy(cell, e[i].value, d->width);
    else assert_true(zt_add(d, cell, e[i].value));
    seen[e[i].cell] = 1;
  }
  free(seen);
  return out;
}

static bool fits(const char *index_type, uint64_t most){
  unsigned bits = 8*named(index_type)->width - (index_type[0]=='i');
  return bits>=64 || most>>bits==0;
}

static uint64_t coordinate(const recipe *r, uint64_t cell, uint32_t dimension){
  for(uint32_t d=r->rank-1; d>dimension; d--) cell /= r->shape[d];
  return cell%r->shape[dimension];
}

/* COO of 0.1 if old, else of 1.2. */
static recipe coo_of(const char *shape, size_t type, const char *index_type, const entry *e, size_t n, bool old){
  const zt_dtype *d = value_dtype(type);
  recipe r = { .format = old ? "sparsecoo" : "sparse_coo", .old = old };
  blob values = { 0 }, coords = { 0 };
  set_shape(&r, shape);
  for(size_t i=0; i<n; i++){
    for(uint32_t k=0; k<r.rank && old; k++) put_bits(&values, coordinate(&r, e[i].cell, k), 8);
    put_element(&values, d, e[i].value);
  }
  for(uint32_t k=0; k<r.rank && !old; k++){
    for(size_t i=0; i<n; i++) put_bits(&coords, coordinate(&r, e[i].cell, k), named(index_type)->width);
  }
  if( old ){
    add_part(&r, "data", value_types[type].old, NULL, values);
  }else{
    add_part(&r, "values", value_types[type].dtype, value_types[type].type, values);
    add_part(&r, "coords", index_type, NULL, coords);
  }
  return r;
}

/* CSR. Sorts the entries by rows and keeps their order within a row. */
static recipe csr_of(const char *shape, size_t type, const char *indices_type, const char *indptr_type, entry *e, size_t n, bool old){
  const zt_dtype *d = value_dtype(type);
  recipe r = { .format = old ? "sparsecsr" : "sparse_csr", .old = old };
  blob values = { 0 }, indices = { 0 }, indptr = { 0 };
  size_t i = 0;
  set_shape(&r, shape);
  for(size_t k=0; k<n; k++) e[k].order = e[k].cell/r.shape[1]*n + k;
  qsort(e, n, sizeof(*e), by_order);
  for(uint64_t row=0; row<=r.shape[0]; row++){
    for(; i<n && e[i].cell/r.shape[1]<row; i++){
      put_bits(&indices, e[i].cell%r.shape[1], old ? 8 : named(indices_type)->width);
      put_element(&values, d, e[i].value);
    }
    put_bits(&indptr, i, old ? 8 : named(indptr_type)->width);
  }
  if( old ){
    put(&indptr, indices.p, indices.n);
    put(&indptr, values.p, values.n);
    free(indices.p);
    free(values.p);
    add_part(&r, "data", value_types[type].old, NULL, indptr);
  }else{
    add_part(&r, "indices", indices_type, NULL, indices);
    add_part(&r, "indptr", indptr_type, NULL, indptr);
    add_part(&r, "values", value_types[type].dtype, value_types[type].type, values);
  }
  return r;
}

/* Checks the recipe with every encoding. */
static void check_all_forms(recipe *r, const zt_dtype *d, const uint8_t *want, const char *row){
  for(int s=RAW; s<=ZSTD_STATED; s++){
    if( r->old && s==ZSTD_STATED ) continue;
    for(size_t i=0; i<r->n; i++) r->parts[i].storing = (storing)s;
    check_recipe(r, d, want, row);
  }
  if( !r->old ) return;
  r->parts[0].storing = RAW;
  r->big = true;
  check_recipe(r, d, want, row);
}

/* A driver may state any strides, also for a tensor without elements. */
TEST(test_dense_with_strides){
  static const struct { const char *what; uint32_t rank; uint64_t shape[3], strides[3], stored; const char *want, *fault; } rows[] = {
    { "columns first", 2, { 2, 3 }, { 1, 2 }, 6, "\0\2\4\1\3\5", NULL },
    { "row-major", 2, { 2, 3 }, { 3, 1 }, 6, "\0\1\2\3\4\5", NULL },
    { "rows apart", 2, { 2, 2 }, { 4, 1 }, 6, "\0\1\4\5", NULL },
    { "one row three times", 2, { 3, 2 }, { 0, 1 }, 2, "\0\1\0\1\0\1", NULL },
    { "three dimensions", 3, { 2, 2, 2 }, { 1, 4, 2 }, 8, "\0\2\4\6\1\3\5\7", NULL },
    { "a scalar", 0, { 0 }, { 0 }, 1, "\0", NULL },
    { "no element", 2, { 0, 5 }, { 7, 7 }, 0, "", NULL },
    { "too short", 2, { 2, 3 }, { 4, 1 }, 6, NULL, "7 elements of u8 are 7 bytes, and it has 6" },
    { "beyond 64 bits", 2, { 3, 1 }, { (uint64_t)1<<63, 1 }, 6, NULL, "the strides lead beyond 2^64 elements" },
    { "beyond 64 bits together", 2, { 3, 2 }, { (uint64_t)1<<62, (uint64_t)1<<63 }, 6, NULL, "the strides lead beyond 2^64 elements" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = { .format = "dense", .rank = 1, .shape = { rows[i].stored } };
    blob bytes = { 0 };
    zt_error err = ZT_ERROR_NONE;
    opened o;
    zt_tensor t;
    for(unsigned k=0; k<rows[i].stored; k++) put_byte(&bytes, k);
    add_part(&r, "data", "u8", NULL, seal(&bytes));
    open_recipe(&o, &r, NULL, rows[i].what);
    o.object.rank = rows[i].rank;
    o.object.elements = 1;
    o.object.has_strides = true;
    for(uint32_t d=0; d<rows[i].rank; d++){
      o.object.shape[d] = rows[i].shape[d];
      o.object.strides[d] = rows[i].strides[d];
      o.object.elements *= rows[i].shape[d];
    }
    if( rows[i].fault ){
      assert_int_equal(zt_tensor_open(o.source, o.container, &o.object, &o.budget, &t, &err), SQLITE_ERROR);
      assert_string_equal(err.rule, "D1");
      assert_failed(&err, rows[i].fault, rows[i].what);
    }else{
      open_tensor(&o, &t, rows[i].what);
      for(uint64_t first=0; first<o.object.elements; first++){
        for(size_t n=1; n<=o.object.elements-first; n++) check_range(&t, (const uint8_t*)rows[i].want, first, n, rows[i].what);
      }
    }
    zt_tensor_close(&t);
    close_opened(&o);
    clear_recipe(&r);
  }
}

typedef struct sparse {
  const char *shape;
  size_t type, n;
  arrangement how;
  bool csr, old;
  const char *indices, *indptr;
} sparse;

/* Made of random entries; the dense form is for free(). */
static recipe sparse_of(const sparse *s, uint64_t *seed, uint8_t **want){
  const zt_dtype *d = value_dtype(s->type);
  recipe shape = { 0 }, r;
  uint64_t elements = set_shape(&shape, s->shape);
  entry *e = make_entries(d, elements, s->n, s->n>elements ? TWICE : s->how, seed);
  r = s->csr ? csr_of(s->shape, s->type, s->indices, s->indptr, e, s->n, s->old) : coo_of(s->shape, s->type, s->indices, e, s->n, s->old);
  *want = dense_of(d, elements, e, s->n);
  free(e);
  return r;
}

typedef struct sparse_shape {
  const char *shape;
  size_t n;
} sparse_shape;

/* Two of the orders for each type and shape. */
static void check_sparse(bool csr, const sparse_shape *shapes, size_t count, uint64_t seed){
  unsigned n = 0;
  for(size_t s=0; s<count; s++){
    for(size_t type=0; type<COUNT(value_types); type++){
      for(int how=0; how<ARRANGEMENTS; how++){
        for(int old=0; old<=(value_types[type].old!=NULL); old++, n++){
          const sparse x = { shapes[s].shape, type, shapes[s].n, (arrangement)how, csr, old, index_types[n%COUNT(index_types)], index_types[(n/3)%COUNT(index_types)] };
          recipe r;
          uint8_t *want;
          char row[200];
          if( (s+type+(size_t)how)%2 ) continue;
          r = sparse_of(&x, &seed, &want);
          snprintf(row, sizeof(row), "%s [%s] of %s, %d, %s", csr ? "csr" : "coo", x.shape, value_dtype(type)->name, how, old ? "0.1" : x.indices);
          if( n%23==0 ) check_all_forms(&r, value_dtype(type), want, row);
          else{
            r.big = r.old && n%2;
            check_opened(&r, NULL, value_dtype(type), want, row);
          }
          clear_recipe(&r);
          free(want);
        }
      }
    }
  }
}

TEST(test_coo_of_every_type_shape_and_order){
  static const sparse_shape shapes[] = { { "", 1 }, { "", 3 }, { "", 0 }, { "1", 1 }, { "100", 20 }, { "7 9", 63 }, { "12 10", 30 }, { "4 1 5", 7 },
    { "3 4 2 5", 40 }, { "5 0 3", 0 }, { "0", 0 }, { "2 2 2 2 2 2 2", 50 } };
  check_sparse(false, shapes, COUNT(shapes), 11);
}

TEST(test_csr_of_every_type_shape_and_order){
  static const sparse_shape shapes[] = { { "1 1", 1 }, { "1 1", 4 }, { "10 10", 100 }, { "12 10", 30 }, { "30 3", 8 }, { "3 40", 50 }, { "5 0", 0 }, { "0 5", 0 },
    { "0 0", 0 }, { "6 6", 0 }, { "1 120", 70 }, { "120 1", 70 } };
  check_sparse(true, shapes, COUNT(shapes), 12);
}

/* The rows exceed the window of pointers, the entries exceed the window of entries. */
TEST(test_sparse_objects_larger_than_every_window){
  static const char *const shapes[] = { "9000 20", "20 9000", "300 300" };
  uint64_t seed = 13;
  for(size_t s=0; s<COUNT(shapes); s++){
    for(int how=0; how<ARRANGEMENTS; how++){
      for(int kind=0; kind<4; kind++){   /* CSR, COO, and those of 0.1 */
        size_t type = (size_t)(how*5+kind+(int)s)%13;
        const sparse x = { shapes[s], type, 15000, (arrangement)how, kind%2==0, kind>1, kind%2 ? "u32" : "i16", "u16" };
        uint8_t *want;
        recipe r = sparse_of(&x, &seed, &want);
        char row[100];
        for(size_t i=0; i<r.n; i++) r.parts[i].storing = how%2 ? ZSTD : RAW;
        snprintf(row, sizeof(row), "[%s], %d, kind %d, %s", shapes[s], how, kind, value_dtype(type)->name);
        check_opened(&r, NULL, value_dtype(type), want, row);
        clear_recipe(&r);
        free(want);
      }
    }
  }
}

/* Records of many dimensions are longer, so fewer fit the window. */
TEST(test_old_coo_of_64_dimensions){
  char shape[400] = "";
  uint64_t seed = 14;
  recipe grid = { 0 };
  for(int d=0; d<64; d++) strcat(shape, d%9 ? "1 " : "3 ");
  assert_int_equal(set_shape(&grid, shape), 6561);
  for(int how=0; how<ARRANGEMENTS; how++){
    const sparse x = { shape, 1, 1000, (arrangement)how, false, true, "u64", NULL };
    uint8_t *want;
    recipe r = sparse_of(&x, &seed, &want);
    check_all_forms(&r, named("f32"), want, shape);
    clear_recipe(&r);
    free(want);
  }
}

TEST(test_index_types_up_to_their_largest){
  for(size_t i=0; i<COUNT(index_types); i++){
    recipe r = { .format = "sparse_coo", .rank = 1 };
    const zt_dtype *d = named(index_types[i]);
    uint64_t most = d->class==ZT_INT ? ((uint64_t)1 << (8*d->width-1))-1 : d->width<8 ? ((uint64_t)1 << 8*d->width)-1 : UINT64_MAX-1;
    blob values = { 0 }, coords = { 0 };
    zt_error err = ZT_ERROR_NONE;
    zt_tensor t;
    uint16_t out[2];
    opened o;
    assert_true(fits(index_types[i], most) && (d->width==8 || !fits(index_types[i], most+1)));
    r.shape[0] = most+1;
    put_bits(&values, 7, 2);
    put_bits(&values, 9, 2);
    put_bits(&coords, most, d->width);
    put_bits(&coords, most-1, d->width);
    add_part(&r, "values", "u16", NULL, values);
    add_part(&r, "coords", index_types[i], NULL, coords);
    open_recipe(&o, &r, NULL, index_types[i]);
    open_tensor(&o, &t, index_types[i]);
    zt_tensor_read(&t, most-1, 2, out, &err);
    assert_succeeded(&err, index_types[i]);
    assert_true(out[0]==9 && out[1]==7);
    zt_tensor_close(&t);
    close_opened(&o);
    clear_recipe(&r);
  }
}

/* --- Sums of one cell --- */

TEST(test_the_bits_of_one_cell){
  static const struct { const char *dtype; size_t n; uint64_t values[3], cell; } rows[] = {
    { "f32", 1, { 0x80000000 }, 0x80000000 }, { "f32", 1, { 0xFFC12345 }, 0xFFC12345 }, { "f32", 1, { 0x7F800001 }, 0x7F800001 },
    { "f32", 2, { 0, 0x80000000 }, 0 }, { "f32", 2, { 0x80000000, 0 }, 0 }, { "f32", 2, { 0x80000000, 0x80000000 }, 0x80000000 },
    { "f32", 2, { 0xFFC12345, 0x3F800000 }, 0x7FC00000 }, { "f32", 2, { 0x3F800000, 0x7F800001 }, 0x7FC00000 }, { "f32", 2, { 0x7F800000, 0xFF800000 }, 0x7FC00000 },
    /* 2^24 + 1 + 1 and 1 + 1 + 2^24: the order counts */
    { "f32", 3, { 0x4B800000, 0x3F800000, 0x3F800000 }, 0x4B800000 }, { "f32", 3, { 0x3F800000, 0x3F800000, 0x4B800000 }, 0x4B800001 },
    { "f16", 3, { 0x6800, 0x3C00, 0x3C00 }, 0x6800 }, { "f16", 3, { 0x3C00, 0x3C00, 0x6800 }, 0x6801 }, { "f16", 2, { 0x7BFF, 0x7BFF }, 0x7C00 },
    { "f16", 1, { 0xFE01 }, 0xFE01 }, { "bf16", 2, { 0x3F80, 0x3B80 }, 0x3F80 }, { "bf16", 3, { 0x3F80, 0x3B80, 0x3B80 }, 0x3F80 },
    { "f64", 1, { 0x8000000000000000 }, 0x8000000000000000 }, { "f64", 2, { 0, 0x8000000000000000 }, 0 },
    { "i8", 2, { 127, 1 }, 0x80 }, { "u8", 3, { 255, 255, 255 }, 253 }, { "i16", 2, { 0x8000, 0x8000 }, 0 }, { "u64", 2, { UINT64_MAX, 2 }, 1 }, { "i32", 3, { 1, 2, 0xFFFFFFFD }, 0 },
    { "bool", 1, { 2 }, 2 }, { "bool", 2, { 0, 0 }, 0 }, { "bool", 2, { 1, 1 }, 1 }, { "bool", 2, { 0, 2 }, 1 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int csr=0; csr<2; csr++){
      recipe r = { .format = csr ? "sparse_csr" : "sparse_coo", .rank = 2, .shape = { 3, 2 } };
      blob values = { 0 }, indices = { 0 }, indptr = { 0 };
      unsigned width = named(rows[i].dtype)->width;
      uint64_t want[6] = { 0 };
      char row[32];
      for(int k=0; k<2; k++){   /* COO: the rows, then the columns */
        for(size_t v=0; v<rows[i].n && !(csr && k); v++) put_byte(&indices, 1);
      }
      for(size_t v=0; v<rows[i].n; v++) put_bits(&values, rows[i].values[v], width);
      for(unsigned k=0; k<4; k++) put_byte(&indptr, k<2 ? 0 : (unsigned)rows[i].n);
      add_part(&r, "values", rows[i].dtype, NULL, values);
      add_part(&r, csr ? "indices" : "coords", "u8", NULL, indices);
      if( csr ) add_part(&r, "indptr", "u8", NULL, indptr);
      else free(indptr.p);
      memcpy((uint8_t*)want+3*width, zt_big_endian() ? (const uint8_t*)&rows[i].cell+8-width : (const uint8_t*)&rows[i].cell, width);
      snprintf(row, sizeof(row), "row %zu", i);
      check_opened(&r, NULL, named(rows[i].dtype), (uint8_t*)want, row);
      clear_recipe(&r);
    }
  }
}

/* --- A layout made here --- */

typedef struct taken {
  uint64_t cells, sum, calls;
  size_t most;
  uint8_t *seen;           /* A flag for each value, if each cell has another value */
  uint64_t values;
} taken;

static void take_u32(void *context, const void *values, size_t n){
  taken *k = context;
  const uint32_t *p = values;
  k->calls++;
  k->cells += n;
  if( n>k->most ) k->most = n;
  for(size_t i=0; i<n; i++){
    k->sum += p[i];
    if( k->seen ){
      if( p[i]>=k->values || k->seen[p[i]] ) fail_msg("%u, once more", p[i]);
      k->seen[p[i]] = 1;
    }
  }
}

#define MANY 1300000   /* More cells than are sorted at once, twice over */

static void make_ascending(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = i*1000; *value = i; }
static void make_descending(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = ((uint64_t)1<<60)-i*1000; *value = i; }
static void make_scattered(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = i*0x9E3779B97F4A7C15u; *value = i; }
static void make_last_out_of_order(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = i==MANY-1 ? 0 : i+1; *value = i; }
/* Each cell a second time, far away, and the two values make one that no other cell has */
static void make_pairs(uint64_t i, uint64_t *cell, uint64_t *value){
  uint64_t half = MANY/2, k = i<half ? i : MANY-1-i;
  *cell = k*0x9E3779B97F4A7C15u;
  *value = (uint32_t)(i<half ? k-77777 : 77777);
}
static void make_few(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = (i*7919)%1009; *value = 1; }
/* The first half fills few cells, the others then many */
static void make_few_then_many(uint64_t i, uint64_t *cell, uint64_t *value){
  *cell = i<600000 ? i%5 : ((uint64_t)1<<40)-i;
  *value = i<600000 ? 0 : i-600000;
}

TEST(test_cells_each_once_in_bounded_memory){
  static const struct { const char *what; void (*make)(uint64_t, uint64_t*, uint64_t*); uint64_t n, cells, sum; unsigned passes; bool distinct; } rows[] = {
    { "ascending", make_ascending, MANY, MANY, (uint64_t)MANY*(MANY-1)/2, 2, true },
    { "descending", make_descending, MANY, MANY, (uint64_t)MANY*(MANY-1)/2, 8, true },
    { "scattered", make_scattered, MANY, MANY, (uint64_t)MANY*(MANY-1)/2, 8, true },
    { "the last out of order", make_last_out_of_order, MANY, MANY, (uint64_t)MANY*(MANY-1)/2, 8, true },
    { "each twice", make_pairs, MANY, MANY/2, (uint64_t)(MANY/2)*(MANY/2-1)/2, 8, true },
    { "few cells", make_few, MANY, 1009, MANY, 3, false },
    { "few, then many", make_few_then_many, MANY, 5+700000, (uint64_t)700000*699999/2, 8, false },
    { "as many as there is room for", make_scattered, (uint64_t)1<<19, (uint64_t)1<<19, ((uint64_t)1<<18)*(((uint64_t)1<<19)-1), 3, true },
    { "one less", make_scattered, ((uint64_t)1<<19)-1, ((uint64_t)1<<19)-1, (((uint64_t)1<<18)-1)*(((uint64_t)1<<19)-1), 3, true },
    { "one more", make_scattered, ((uint64_t)1<<19)+1, ((uint64_t)1<<19)+1, ((uint64_t)1<<18)*(((uint64_t)1<<19)+1), 4, true },
    { "two", make_descending, 2, 2, 1, 3, true },
    { "one", make_descending, 1, 1, 0, 2, true },
    { "none", make_descending, 0, 0, 0, 2, true },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    stored s = { .dtype = named("u32"), .n = rows[i].n, .piece = i%2 ? ZT_ENTRIES : 1000, .make = rows[i].make };
    zt_error err = ZT_ERROR_NONE;
    zt_object object;
    zt_tensor t = stored_tensor(&s, &object, UINT64_MAX);
    taken k = { .values = rows[i].n };
    sqlite3_int64 before = sqlite3_memory_used();
    if( zt_big_endian() ) continue;
    if( rows[i].distinct ) k.seen = calloc((size_t)rows[i].n+1, 1);
    sqlite3_memory_highwater(1);
    assert_int_equal(zt_sparse_cells(&t, take_u32, &k, &err), SQLITE_OK);
    check( k.cells==rows[i].cells && k.sum==rows[i].sum, "%s: %llu cells, %llu", rows[i].what, (unsigned long long)k.cells, (unsigned long long)k.sum );
    check( k.most<=ZT_ENTRIES, "%s: %zu at once", rows[i].what, k.most );
    check( s.passes<=rows[i].passes, "%s: %u passes", rows[i].what, s.passes );
    check( sqlite3_memory_highwater(0)-before<((sqlite3_int64)16<<20), "%s: %lld bytes", rows[i].what, (long long)(sqlite3_memory_highwater(0)-before) );
    check( sqlite3_memory_used()==before, "%s", rows[i].what );
    free(k.seen);
  }
}

/* The cells are the same for every size of the pieces. */
static void make_bits(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = (i*37)%101; *value = i%2 ? 1 : 0x4B800000>>24; }

TEST(test_pieces_of_every_size){
  uint8_t want[101] = { 0 }, out[101];
  for(uint64_t i=0; i<300; i++){
    uint64_t cell, value;
    make_bits(i, &cell, &value);
    want[cell] = (uint8_t)(want[cell]+value);
  }
  for(size_t piece=1; piece<=301; piece+=3){
    stored s = { .dtype = named("u8"), .n = 300, .piece = piece, .make = make_bits };
    zt_error err = ZT_ERROR_NONE;
    zt_object object;
    zt_tensor t = stored_tensor(&s, &object, 101);
    memset(out, 0xAA, sizeof(out));
    assert_int_equal(zt_sparse_read(&t, 0, 101, out, &err), SQLITE_OK);
    assert_memory_equal(out, want, 101);
    assert_int_equal(zt_sparse_read(&t, 50, 7, out, &err), SQLITE_OK);
    assert_memory_equal(out, want+50, 7);
  }
}

static void make_sixes(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = i%3; *value = i<3 ? 1 : 7; }

static void count_pieces(void *context, zt_span bytes){
  (void)bytes;
  ++*(unsigned*)context;
}

/* Pieces end with the first failure. A caller's array has the size of the elements. */
TEST(test_pieces_and_arrays_of_callers){
  recipe r = { .format = "sparse_coo", .rank = 1, .shape = { 4<<20 } };
  zt_error err = ZT_ERROR_NONE;
  unsigned pieces = 0;
  blob coords = { 0 };
  zt_buffer none = { NULL, 0 };
  opened o;
  zt_tensor t;
  put_bits(&coords, 0, 4);
  put_bits(&coords, (4<<20)-1, 4);
  add_part(&r, "values", "u8", NULL, blob_of("0707"));
  add_part(&r, "coords", "u32", NULL, coords);
  open_recipe(&o, &r, NULL, "pieces");
  open_tensor(&o, &t, "pieces");
  zt_assemble_pieces(&t, named("f4_e2m1"), count_pieces, &pieces, &err);
  assert_failed(&err, "element [0] is 7, which f4_e2m1 does not have", "pieces");
  assert_int_equal(pieces, 0);
  assert_int_equal(zt_assemble_into(&t, named("f64"), 0, (uint64_t)1<<61, &none, &err), SQLITE_ERROR);
  assert_failed(&err, "2305843009213693952 elements of f64 are not the 0 bytes of the caller's array", "array");
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
  r = (recipe){ .format = "dense", .rank = 1, .shape = { 1 } };
  add_part(&r, "data", "f32", "complex64", blob_of("0000803f00000040"));
  open_recipe(&o, &r, NULL, "complex");
  open_tensor(&o, &t, "complex");
  zt_assemble_pieces(&t, named("f32"), count_pieces, &pieces, &err);
  assert_failed(&err, "complex64 is complex and cannot become f32", "complex");
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

/* No 1.x file has a type that lacks some sums, but the fault must be found. */
TEST(test_a_sum_that_the_type_does_not_have){
  uint8_t out[3];
  for(uint64_t n=3; n<8; n++){
    stored s = { .dtype = named("f4_e2m1"), .n = n, .piece = 2, .make = make_sixes };
    zt_error err = ZT_ERROR_NONE;
    zt_object object;
    zt_tensor t = stored_tensor(&s, &object, 3);
    taken k = { 0 };
    zt_sparse_read(&t, 0, 3, out, &err);
    if( n<=6 ) assert_succeeded(&err, "6 + 0.5 is 6");   /* To the even code */
    else assert_failed(&err, "the sum of the values of one cell does not fit f4_e2m1", "12");
    if( n<=6 ) continue;
    zt_sparse_cells(&t, take_u32, &k, &err);
    assert_failed(&err, "the sum of the values of one cell does not fit f4_e2m1", "12");
    assert_int_equal(zt_sparse_read(&t, 1, 2, out, &err), SQLITE_OK);   /* Another cell's fault */
  }
}

static void make_far(uint64_t i, uint64_t *cell, uint64_t *value){ *cell = ((uint64_t)1<<62)+(i*5)%7; *value = i+1; }

TEST(test_few_entries_of_a_huge_shape){
  stored s = { .dtype = named("u16"), .n = 7, .piece = 3, .make = make_far };
  zt_object object;
  zt_tensor t = stored_tensor(&s, &object, (uint64_t)1<<63);
  zt_error err = ZT_ERROR_NONE;
  uint16_t out[10];
  assert_int_equal(zt_sparse_read(&t, ((uint64_t)1<<62)-1, 10, out, &err), SQLITE_OK);
  for(uint64_t i=0; i<7; i++) assert_int_equal(out[1+(i*5)%7], i+1);
  assert_true(out[0]==0 && out[8]==0 && out[9]==0);
  assert_int_equal(zt_sparse_read(&t, ((uint64_t)1<<63)-10, 10, out, &err), SQLITE_OK);
  for(int i=0; i<10; i++) assert_int_equal(out[i], 0);
}

/* Converts a file's elements to elements in memory. */
static void convert_file_bytes(blob bytes, const char *from, const char *to, void *out){
  const zt_dtype *d = named(from);
  size_t n = bytes.n/d->width;
  uint8_t *copy = malloc(bytes.n+1);
  if( bytes.n ) memcpy(copy, bytes.p, bytes.n);
  if( zt_big_endian() ) zt_swap_bytes(copy, bytes.n, d->unit);
  assert_int_equal(zt_convert(d, copy, named(to), out, n), n);
  free(copy);
}

/* --- Quantized groups --- */

static uint64_t code_at(const blob *b, unsigned width, uint64_t i, uint64_t per_word, uint64_t bits){
  uint64_t word = 0;
  for(unsigned k=0; k<width; k++) word |= (uint64_t)b->p[i/per_word*width+k] << 8*k;
  return word >> (i%per_word*bits) & (((uint64_t)1<<bits)-1);
}

static void check_quantized(const char *shape, uint64_t bits, const char *word, uint64_t group, const char *scale_type, const char *zero_type, const char *zero_logical, storing how){
  recipe r = { .format = "quantized_group" };
  unsigned width = named(word)->width, zero_width = named(zero_type)->width;
  uint64_t per_word = 8*width/bits, elements = set_shape(&r, shape), groups = elements/group, seed = bits*1000+width*10+group;
  blob codes = { 0 }, scales = { 0 }, zeros = { 0 };
  float *scale, *zero, *want;
  char packing[32], row[200];
  for(uint64_t i=0; i<elements/per_word*width; i++) put_byte(&codes, (unsigned)random_below(&seed, 256));
  for(uint64_t i=0; i<groups; i++){
    put_real(&scales, scale_type, (double)((int)random_below(&seed, 64)-32)/16);
    if( random_below(&seed, 20)==0 ) memset(scales.p+scales.n-named(scale_type)->width, 0xFF, named(scale_type)->width);   /* NaN */
    for(unsigned b=0; b<zero_width; b++) put_byte(&zeros, (unsigned)random_below(&seed, named(zero_type)->class==ZT_BOOL ? 2 : 256));
  }
  scale = malloc((size_t)groups*4+1);
  zero = malloc((size_t)groups*4+1);
  want = malloc((size_t)elements*4+1);
  convert_file_bytes(scales, scale_type, "f32", scale);
  convert_file_bytes(zeros, zero_logical ? zero_logical : zero_type, "f32", zero);
  for(uint64_t i=0; i<elements; i++){
    float shifted = (float)code_at(&codes, width, i, per_word, bits) - zero[i/group];   /* f32 at each step, whatever the machine has */
    want[i] = shifted * scale[i/group];
    if( isnan(want[i]) ) want[i] = (float)NAN;
  }
  snprintf(packing, sizeof(packing), "%llu_per_%s", (unsigned long long)per_word, word);
  snprintf(row, sizeof(row), "[%s] %s, groups of %llu, %s, %s", shape, packing, (unsigned long long)group, scale_type, zero_type);
  put_map(&r.attributes, 3);
  put_key_text(&r.attributes, "packing", packing);
  put_key_uint(&r.attributes, "group_size", group);
  put_key_uint(&r.attributes, "bits", bits);
  add_part(&r, "zeros", zero_type, zero_logical, zeros)->storing = how;
  add_part(&r, seed%2 ? "packed_weight" : "data", word, NULL, codes)->storing = how;
  add_part(&r, "scales", scale_type, NULL, scales)->storing = how;
  check_recipe(&r, named("f32"), (uint8_t*)want, row);
  clear_recipe(&r);
  free(scale);
  free(zero);
  free(want);
}

TEST(test_quantized_groups){
  static const char *const word_types[] = { "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64" };
  static const char *const scale_types[] = { "f16", "f32", "f64", "bf16" };
  static const struct { const char *dtype, *type; } zero_types[] = { { "f16", NULL }, { "i8", NULL }, { "u8", NULL }, { "f32", NULL }, { "i64", NULL }, { "u8", "f8_e4m3fn" },
    { "u64", NULL }, { "bool", NULL }, { "bf16", NULL }, { "i16", NULL }, { "f64", NULL } };
  unsigned n = 0;
  for(uint64_t bits=1; bits<=8; bits*=2){
    for(size_t w=0; w<COUNT(word_types); w++){
      uint64_t per_word = 8*named(word_types[w])->width/bits;
      const uint64_t groups[] = { 1, 2, per_word, 2*per_word, 3, 6*per_word };   /* Below, across and above words */
      for(size_t g=0; g<COUNT(groups); g++, n++){
        char shape[40];
        if( 6*per_word%groups[g] ) continue;
        snprintf(shape, sizeof(shape), n%3 ? "3 %llu" : "2 2 %llu", (unsigned long long)(6*per_word));
        check_quantized(shape, bits, word_types[w], groups[g], scale_types[n%COUNT(scale_types)], zero_types[n%COUNT(zero_types)].dtype, zero_types[n%COUNT(zero_types)].type, (storing)(n%3));
      }
    }
  }
}

/* More groups and words than a window has; no element; one element. */
TEST(test_quantized_groups_of_unusual_sizes){
  check_quantized("5 1600", 4, "i32", 8, "f16", "f16", NULL, RAW);
  check_quantized("2 57600", 1, "u64", 192, "f32", "i8", NULL, ZSTD);
  check_quantized("1 30000", 8, "u8", 1, "f64", "u8", NULL, ZSTD_STATED);
  check_quantized("0 16", 4, "i32", 8, "f16", "f16", NULL, RAW);
  check_quantized("3 0", 4, "i32", 8, "f16", "f16", NULL, ZSTD);
  check_quantized("", 8, "u8", 1, "f16", "f16", NULL, RAW);
  check_quantized("16", 4, "i32", 16, "f16", "f16", NULL, RAW);
  check_quantized("2 3 2 8", 2, "u8", 2, "f16", "f16", NULL, RAW);
}

/* Other names and types, keys that are no text, and a wrong packing before the right one. */
TEST(test_attributes_that_do_not_matter){
  static const struct { const char *attributes, *message; } rows[] = {
    { "a6 05 62 7a7a  6162 a1 01 02  6462697473 04  80 f6  6a67726f75705f73697a65 18 04  677061636b696e67 69 385f7065725f693332", NULL },   /* 5: zz, b: {1: 2}, bits: 4, []: null, group_size, packing */
    { "a3 6462697473 1b0000000000000004  6a67726f75705f73697a65 04  677061636b696e67 69 385f7065725f693332", NULL },                  /* A wide integer */
    { "a3 6442697473 04  6a67726f75705f73697a65 04  677061636b696e67 69 385f7065725f693332", "quantized_group needs the attribute 'bits'" },   /* Bits */
    { "a3 4462697473 04  6a67726f75705f73697a65 04  677061636b696e67 69 385f7065725f693332", "quantized_group needs the attribute 'bits'" },   /* As bytes */
    { "a3 6462697473 f94400  6a67726f75705f73697a65 04  677061636b696e67 69 385f7065725f693332", "the attribute 'bits' must be an unsigned integer" },   /* 4.0 */
    { "a3 6462697473 04  6a67726f75705f73697a65 f6  677061636b696e67 69 385f7065725f693332", "the attribute 'group_size' must be an unsigned integer" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    made m = { "quantized_group", "2 16", { WORDS, SCALES, ZEROS }, rows[i].attributes, RAW };
    recipe r = recipe_of(&m);
    zt_error err = ZT_ERROR_NONE;
    zt_tensor t;
    opened o;
    open_recipe(&o, &r, NULL, "attributes");
    zt_tensor_open(o.source, o.container, &o.object, &o.budget, &t, &err);
    if( rows[i].message ) assert_failed(&err, rows[i].message, rows[i].attributes);
    else assert_succeeded(&err, rows[i].attributes);
    zt_tensor_close(&t);
    close_opened(&o);
    clear_recipe(&r);
  }
}

/* --- Dense objects --- */

TEST(test_dense_objects_of_every_type){
  static const char *const shapes[] = { "", "1", "1000", "7 11", "3 4 5", "0", "3 0 2" };
  uint64_t seed = 15;
  for(size_t type=0; type<COUNT(value_types); type++){
    const zt_dtype *d = value_dtype(type);
    for(size_t s=0; s<COUNT(shapes); s++){
      for(int old=0; old<=(value_types[type].old!=NULL); old++){
        recipe r = { .format = "dense", .old = old };
        uint64_t elements = set_shape(&r, shapes[s]);
        uint8_t *want = malloc((size_t)elements*d->width+16);
        blob data = { 0 };
        char row[100];
        for(uint64_t i=0; i<elements; i++){
          for(unsigned b=0; b<d->width; b++) want[i*d->width+b] = (uint8_t)random_below(&seed, 256);
          put_element(&data, d, want+i*d->width);
        }
        add_part(&r, "data", old ? value_types[type].old : value_types[type].dtype, old ? NULL : value_types[type].type, data);
        snprintf(row, sizeof(row), "dense [%s] of %s, %s", shapes[s], d->name, old ? "0.1" : "1.2");
        if( (s+type)%3==0 ) check_all_forms(&r, d, want, row);
        else check_recipe(&r, d, want, row);
        clear_recipe(&r);
        free(want);
      }
    }
  }
}

/* --- Golden files --- */

static void check_sha256(zt_buffer b, zt_text want, const char *row){
  zt_error err = ZT_ERROR_NONE;
  char text[ZT_DIGEST_TEXT];
  zt_digest *d;
  assert_true(zt_digest_new(ZT_TEXT("sha256"), &d, &err));
  zt_digest_update(d, (zt_span){ b.p, (size_t)b.n });
  zt_digest_text(d, text);
  zt_digest_close(d);
  check( want.n==64 && memcmp(text+7, want.z, 64)==0, "%s: %s, expected %.*s", row, text, (int)want.n, want.z );
}

static bool may_be_quantized(zt_text format){
  return zt_text_is(format, "quantized_group") || zt_text_is(format, "zt.quant_group/1") || zt_text_is(format, "zt.mx/1");
}

static void check_golden(opened *o, sqlite3_stmt *expected, unsigned *quantized, const char *row){
  zt_error err = ZT_ERROR_NONE;
  zt_text status = column(expected, 0);
  zt_buffer out;
  zt_tensor t;
  if( !zt_text_is(status, "given") ){   /* The specification gives quantized groups no values, but groups packed our way have values */
    int rc = ask(o, BYTES, &err);
    check( (rc==SQLITE_ERROR && err.message) || (rc==SQLITE_OK && may_be_quantized(o->object.format)), "%s: %d", row, rc );
    zt_error_clear(&err);
    if( rc ) return;
    *quantized += 1;
  }
  open_tensor(o, &t, row);
  assert_int_equal(zt_assemble(&t, t.dtype, 0, o->object.elements, &out, &err), SQLITE_OK);
  if( zt_text_is(status, "given") ) check_sha256(out, column(expected, 1), row);
  if( zt_big_endian() ) zt_swap_bytes(out.p, (size_t)out.n, t.dtype->unit);
  if( !zt_dtype_is_packed(t.dtype) ) check_tensor(o, t.dtype, out.p, row);   /* Packed elements have another form in memory */
  zt_buffer_clear(&out);
  if( zt_text_is(status, "given") && sqlite3_column_type(expected, 2)!=SQLITE_NULL ){
    assert_int_equal(zt_assemble(&t, named("f32"), 0, o->object.elements, &out, &err), SQLITE_OK);
    for(uint64_t i=0; i<out.n; i+=4){   /* The expected hash has one NaN only */
      if( (out.p[i+3] & 0x7F)==0x7F && (out.p[i+2] & 0x80) && (out.p[i] || out.p[i+1] || out.p[i+2]!=0x80) ) memcpy(out.p+i, "\0\0\xC0\x7F", 4);
    }
    check_sha256(out, column(expected, 2), row);
    zt_buffer_clear(&out);
  }
  zt_tensor_close(&t);
}

TEST(test_golden_objects_are_dense_as_expected){
  zt_error err = ZT_ERROR_NONE;
  zt_paths_filter filter = { 0 };
  zt_paths paths;
  unsigned objects = 0, quantized = 0;
  assert_int_equal(zt_paths_find("tests/formats/ztensor/golden/v*/*.zt", &filter, &paths, &err), SQLITE_OK);
  for(size_t p=0; p<paths.n; p++){
    const char *path = paths.a[p].z;
    char json[300];
    sqlite3_stmt *expected;
    opened o;
    snprintf(json, sizeof(json), "%.*s.expected.json", (int)strlen(path)-3, path);
    expected = query("SELECT " FIELD("dense_status") ", " FIELD("dense.sha256") ", " FIELD("dense.f32_sha256") " FROM json_each(?1, '$.objects') ORDER BY id", json);
    open_path(&o, path);
    if( p%2==0 && zt_container_shards(o.container)==0 ){   /* An image has no siblings */
      close_opened(&o);
      open_bytes(&o, read_file(path), path);
    }
    for(uint32_t i=0; i<zt_container_objects(o.container); i++, objects++){
      char row[400];
      assert_int_equal(sqlite3_step(expected), SQLITE_ROW);
      select_object(&o, (zt_text){ NULL, 0 }, i);
      snprintf(row, sizeof(row), "%s, object %u", path, i);
      check_golden(&o, expected, &quantized, row);
    }
    close_opened(&o);
    sqlite3_finalize(expected);
  }
  assert_true(objects>500 && quantized>=3);
  zt_paths_clear(&paths);
}

TEST(test_odd_but_good_objects){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") ", " FIELD("object") ", " FIELD("dense_sha256") " FROM json_each(?1) WHERE "
    FIELD("dense_sha256") " IS NOT NULL", HOSTILE "cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    const char *file = (const char*)sqlite3_column_text(cases, 0);
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    zt_tensor t;
    char path[300];
    opened o;
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    open_path(&o, path);
    select_object(&o, column(cases, 1), 0);
    open_tensor(&o, &t, file);
    check( zt_assemble(&t, t.dtype, 0, o.object.elements, &out, &err)==SQLITE_OK, "%s: %s", file, err.message );
    check_sha256(out, column(cases, 2), file);
    zt_buffer_clear(&out);
    zt_tensor_close(&t);
    close_opened(&o);
  }
  assert_true(n>=40);
  sqlite3_finalize(cases);
}

/* --- Results in another type --- */

/* A range of the converted tensor is the converted range, for every range and window. */
TEST(test_assembling_in_another_type){
  static const char *const targets[] = { "f64", "f32", "f16", "i64", "i16", "u32", "bool", "f8_e4m3fn", "f8_e8m0", "f4_e2m1", "complex64", "complex128" };
  uint64_t seed = 16;
  blob data = { 0 };
  recipe r = { .format = "dense", .rank = 2, .shape = { 1001, 151 } };   /* More than one window of any type */
  size_t n = 1001*151;
  uint8_t *codes = malloc(n);
  opened o;
  zt_tensor t;
  for(size_t i=0; i<n; i++){
    double x = (double)(1u << random_below(&seed, 3));   /* 1, 2, 4: all have it */
    put_real(&data, "bf16", x);
  }
  convert_file_bytes(data, "bf16", "f4_e2m1", codes);
  add_part(&r, "data", "bf16", NULL, data)->storing = ZSTD;
  open_recipe(&o, &r, NULL, "another type");
  open_tensor(&o, &t, "another type");
  for(size_t k=0; k<COUNT(targets); k++){
    const zt_dtype *to = named(targets[k]);
    for(int i=0; i<12; i++){
      size_t first = i==0 ? 0 : random_below(&seed, n), m = i==0 ? n : i%2 ? random_below(&seed, n-first+1) : random_below(&seed, 20)%(n-first+1);
      uint8_t *all = malloc(m*to->width+1), *packed = malloc(m+1);
      zt_error err = ZT_ERROR_NONE;
      uint64_t bytes;
      zt_buffer out;
      o.budget.decoded = 0;
      assert_int_equal(zt_assemble(&t, to, first, m, &out, &err), SQLITE_OK);
      assert_true(zt_dtype_size(to, m, &bytes));
      check( out.n==bytes, "%s: %llu of %llu", to->name, (unsigned long long)out.n, (unsigned long long)bytes );
      convert_file_bytes((blob){ data.p+2*first, 2*m, 0 }, "bf16", to->name, all);
      if( zt_big_endian() && !zt_dtype_is_packed(to) ) zt_swap_bytes(all, m*to->width, to->unit);
      if( zt_dtype_is_packed(to) ) zt_pack(to, all, packed, m);
      check( out.n==0 || memcmp(out.p, zt_dtype_is_packed(to) ? packed : all, (size_t)out.n)==0, "%s: [%zu, +%zu)", to->name, first, m );
      if( zt_dtype_is_packed(to) && m ) assert_int_equal(out.p[0] & 0xF, codes[first]);
      zt_buffer_clear(&out);
      free(all);
      free(packed);
    }
  }
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
  free(codes);
}

/* The elements from `first` on cannot become that type. */
static void check_inconvertible(const recipe *r, const char *to, uint64_t first, const char *message){
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  zt_tensor t;
  opened o;
  open_recipe(&o, r, NULL, message);
  open_tensor(&o, &t, message);
  check( zt_assemble(&t, named(to), first, o.object.elements-first, &out, &err)==SQLITE_ERROR, "%s", message );
  assert_failed(&err, message, to);
  assert_true(out.p==NULL && out.n==0);
  zt_tensor_close(&t);
  close_opened(&o);
}

TEST(test_values_that_a_type_does_not_have){
  static const struct { made object; const char *to, *message; } rows[] = {
    { { "dense", "2 3", { { "data", "f32", NULL, "1 2 3 4 nan 6" } }, NONE }, "i32", "element [1,1] is NaN, which i32 does not have" },
    { { "dense", "2 3", { { "data", "f32", NULL, "1 2 3 4 5 -inf" } }, NONE }, "u8", "element [1,2] is -infinity, which u8 does not have" },
    { { "dense", "2 3", { { "data", "f64", NULL, "1 2 inf 4 5 6" } }, NONE }, "i64", "element [0,2] is infinity, which i64 does not have" },
    { { "dense", "4", { { "data", "f32", NULL, "1 255 256.5 4" } }, NONE }, "u8", "element [2] is 256.5, which u8 does not have" },
    { { "dense", "4", { { "data", "i16", NULL, "1 -1 3 4" } }, NONE }, "u64", "element [1] is -1, which u64 does not have" },
    { { "dense", "", { { "data", "u64", NULL, "18446744073709551615" } }, NONE }, "i64", "element [] is 18446744073709551615, which i64 does not have" },
    { { "dense", "4", { { "data", "f16", NULL, "1 2 4 0" } }, NONE }, "f8_e8m0", "element [3] is 0.0, which f8_e8m0 does not have" },
    { { "dense", "5", { { "data", "i8", NULL, "1 2 4 6 7" } }, NONE }, "f4_e2m1", "element [4] is 7, which f4_e2m1 does not have" },
    { { "dense", "2", { { "data", "bool", NULL, "1 0" } }, NONE }, "f8_e8m0", "element [1] is false, which f8_e8m0 does not have" },
    { { "sparse_coo", "3 3", { { "values", "f32", NULL, "1" }, { "coords", "u8", NULL, "0 1" } }, NONE }, "f8_e8m0", "element [0,0] is 0.0, which f8_e8m0 does not have" },
    { { "dense", "2", { { "data", "f32", "complex64", "1 2 3 4" } }, NONE }, "f32", "complex64 is complex and cannot become f32" },
    { { "dense", "2", { { "data", "f64", "complex128", "1 2 3 4" } }, NONE }, "bool", "complex128 is complex and cannot become bool" },
    { { "dense", "0", { { "data", "f32", "complex64", "" } }, NONE }, "f32", "complex64 is complex and cannot become f32" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = recipe_of(&rows[i].object);
    check_inconvertible(&r, rows[i].to, 0, rows[i].message);
    clear_recipe(&r);
  }
}

/* In the second window, and at an odd place of a packed type. */
TEST(test_the_place_of_a_value_that_a_type_does_not_have){
  static const struct { const char *to; uint64_t bad, first; } rows[] = { { "u8", 70000, 0 }, { "u8", 70000, 3 }, { "f4_e2m1", 70001, 1 }, { "f4_e2m1", 299999, 0 }, { "i32", 0, 0 } };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = { .format = "dense", .rank = 2, .shape = { 3000, 100 } };
    blob data = { 0 };
    char want[100];
    for(uint64_t k=0; k<300000; k++) put_real(&data, "f32", k==rows[i].bad ? (double)NAN : 2);
    add_part(&r, "data", "f32", NULL, data);
    snprintf(want, sizeof(want), "element [%llu,%llu] is NaN, which %s does not have", (unsigned long long)(rows[i].bad/100), (unsigned long long)(rows[i].bad%100), rows[i].to);
    check_inconvertible(&r, rows[i].to, rows[i].first, want);
    clear_recipe(&r);
  }
}

/* A result goes past the caches in blocks: whole, and from an element on with whose bytes no block begins. */
TEST(test_large_results_in_another_type){
  static const char *const targets[] = { "f32", "f64", "i16", "complex64" };
  enum { ROWS = 5000, COLUMNS = 1001, N = ROWS*COLUMNS };
  recipe r = { .format = "dense", .rank = 2, .shape = { ROWS, COLUMNS } };
  blob data = { 0 };
  opened o;
  zt_tensor t;
  for(size_t i=0; i<N; i++) put_byte(&data, (unsigned)(i*31+i/997) & 0xFF);
  add_part(&r, "data", "u8", NULL, data);
  open_recipe(&o, &r, NULL, "large");
  open_tensor(&o, &t, "large");
  for(size_t k=0; k<COUNT(targets); k++){
    const zt_dtype *to = named(targets[k]);
    for(size_t first=0; first<8; first+=7){
      uint8_t *want = malloc((N-first)*to->width);
      zt_error err = ZT_ERROR_NONE;
      zt_buffer out;
      assert_int_equal(zt_assemble(&t, to, first, N-first, &out, &err), SQLITE_OK);
      convert_file_bytes((blob){ data.p+first, N-first, 0 }, "u8", to->name, want);
      if( zt_big_endian() ) zt_swap_bytes(want, (N-first)*to->width, to->unit);
      check( out.n==(N-first)*to->width && memcmp(out.p, want, (size_t)out.n)==0, "%s from %zu", to->name, first );
      zt_buffer_clear(&out);
      free(want);
    }
  }
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
  r = (recipe){ .format = "dense", .rank = 1, .shape = { N/2 } };
  data = (blob){ 0 };
  for(size_t i=0; i<N/2; i++) put_bits(&data, i==N/2-3 ? (uint64_t)1<<63 : i, 8);
  add_part(&r, "data", "u64", NULL, data);
  check_inconvertible(&r, "i64", 0, "element [2502497] is 9223372036854775808, which i64 does not have");
  clear_recipe(&r);
}

/* The limit is checked before anything is read: the file is empty by then, and the message does not mention that. */
TEST(test_results_beyond_the_limit){
  static const struct { const char *as; uint64_t n, limit; bool fits; const char *message; } rows[] = {
    { "f32", 12, 48, true, NULL }, { "f32", 12, 47, false, "12 elements of f32 are more than the limit of 47 bytes on a result" },
    { "f64", 12, 95, false, "12 elements of f64 are more than the limit of 95 bytes on a result" }, { "f16", 12, 24, true, NULL },
    { "f4_e2m1", 11, 6, true, NULL }, { "f4_e2m1", 11, 5, false, "11 elements of f4_e2m1 are more than the limit of 5 bytes on a result" },
    { "bool", 0, 0, true, NULL }, { "complex128", 12, 191, false, "12 elements of complex128 are more than the limit of 191 bytes on a result" },
    { "f32", 4, 16, true, NULL },
  };
  static const made m = { "dense", "12", { { "data", "f32", NULL, "1*12" } }, NONE };
  recipe r = recipe_of(&m);
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    zt_tensor t;
    opened o;
    open_recipe(&o, &r, rows[i].fits ? NULL : file_path, "limit");
    open_tensor(&o, &t, "limit");
    o.budget.result = rows[i].limit;
    if( !rows[i].fits ) assert_int_equal(truncate(file_path, 0), 0);
    zt_assemble(&t, named(rows[i].as), 0, rows[i].n, &out, &err);
    if( rows[i].fits ) assert_succeeded(&err, rows[i].as);
    else{
      assert_int_equal(err.rc, SQLITE_TOOBIG);
      check( strstr(err.message, rows[i].message)!=NULL, "%s", err.message );
      assert_true(out.p==NULL && out.n==0);
      zt_error_clear(&err);
      assert_int_equal(zt_assemble_check(&t, named(rows[i].as), rows[i].n, &err), SQLITE_TOOBIG);
      zt_error_clear(&err);
    }
    zt_buffer_clear(&out);
    zt_tensor_close(&t);
    close_opened(&o);
  }
  clear_recipe(&r);
}

TEST(test_a_huge_sparse_result_is_refused_before_memory_is_asked_for){
  static const made m = { "sparse_coo", "4294967296 1073741824", { { "values", "f64", NULL, "1" }, { "coords", "u64", NULL, "5 6" } }, NONE };
  recipe r = recipe_of(&m);
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out;
  zt_tensor t;
  opened o;
  double cell;
  open_recipe(&o, &r, NULL, "huge");
  open_tensor(&o, &t, "huge");
  sqlite3_memory_highwater(1);
  assert_int_equal(zt_assemble(&t, t.dtype, 0, o.object.elements, &out, &err), SQLITE_TOOBIG);
  assert_non_null(strstr(err.message, "4611686018427387904 elements of f64 are more than the limit"));
  zt_error_clear(&err);
  assert_true(sqlite3_memory_highwater(0)<1000000);
  assert_int_equal(zt_tensor_read(&t, (uint64_t)5*1073741824+6, 1, &cell, &err), SQLITE_OK);
  assert_true(cell==1);
  assert_int_equal(zt_tensor_read(&t, o.object.elements-1, 1, &cell, &err), SQLITE_OK);
  assert_true(cell==0);
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

/* --- Text --- */

/* The tensor's text, for sqlite3_free(). */
static char *text_of(const recipe *r, uint64_t limit, caller *c, zt_error *err){
  zt_tensor t;
  opened o;
  char *z;
  open_recipe(&o, r, NULL, "text");
  open_tensor(&o, &t, "text");
  if( limit ) o.budget.result = limit;
  if( c ) o.budget.interrupt = (zt_interrupt){ caller_stops, c };
  z = json_of(&t, err);
  zt_tensor_close(&t);
  close_opened(&o);
  return z;
}

TEST(test_nested_arrays){
  static const struct { made object; const char *json; } rows[] = {
    { { "dense", "", { { "data", "i32", NULL, "-7" } }, NONE }, "-7" },
    { { "dense", "", { { "data", "f32", "complex64", "1 -2.5" } }, NONE }, "[1.0,-2.5]" },
    { { "dense", "3", { { "data", "u8", NULL, "1 2 255" } }, NONE }, "[1,2,255]" },
    { { "dense", "2 3", { { "data", "i8", NULL, "1 2 3 -4 -5 -128" } }, NONE }, "[[1,2,3],[-4,-5,-128]]" },
    { { "dense", "2 1 2", { { "data", "u64", NULL, "0 1 2 18446744073709551615" } }, NONE }, "[[[0,1]],[[2,18446744073709551615]]]" },
    { { "dense", "2", { { "data", "i64", NULL, "-9223372036854775808 9223372036854775807" } }, NONE }, "[-9223372036854775808,9223372036854775807]" },
    { { "dense", "3", { { "data", "bool", NULL, "1 0 2" } }, NONE }, "[true,false,true]" },
    { { "dense", "6", { { "data", "f32", NULL, "1 0.1 nan inf -inf -0.0" } }, NONE }, "[1.0,0.10000000149011612,null,9.0e+999,-9.0e+999,-0.0]" },
    { { "dense", "2", { { "data", "f64", NULL, "0.1 5e-324" } }, NONE }, "[0.1,5e-324]" },
    { { "dense", "3", { { "data", "f16", NULL, "65504 0.5 nan" } }, NONE }, "[65504.0,0.5,null]" },
    { { "dense", "2", { { "data", "u8", "f8_e4m3fn", "f8_e4m3fn 448 0.5" } }, NONE }, "[448.0,0.5]" },
    { { "dense", "1 2", { { "data", "f64", "complex128", "1 nan inf 0" } }, NONE }, "[[[1.0,null],[9.0e+999,0.0]]]" },
    { { "dense", "0", { { "data", "f32", NULL, "" } }, NONE }, "[]" },
    { { "dense", "3 0", { { "data", "f32", NULL, "" } }, NONE }, "[[],[],[]]" },
    { { "dense", "0 3", { { "data", "f32", NULL, "" } }, NONE }, "[]" },
    { { "dense", "2 2 0", { { "data", "f32", NULL, "" } }, NONE }, "[[[],[]],[[],[]]]" },
    { { "sparse_coo", "2 3", { { "values", "i16", NULL, "5 7 1" }, { "coords", "u8", NULL, "1 0 1 2 1 2" } }, NONE }, "[[0,7,0],[0,0,6]]" },
    { { "sparse_csr", "2 2", { { "values", "bool", NULL, "1" }, { "indices", "u8", NULL, "1" }, { "indptr", "u8", NULL, "0 0 1" } }, NONE }, "[[false,false],[false,true]]" },
    { { "sparse_coo", "", { { "values", "f32", NULL, "1 2" }, { "coords", "u8", NULL, "" } }, NONE }, "3.0" },
    { { "quantized_group", "1 8", { { "packed_weight", "i32", NULL, "1985229328" }, { "scales", "f16", NULL, "2 0.5" }, { "zeros", "f16", NULL, "1 4" } }, FOUR, RAW }, "[[-2.0,0.0,2.0,4.0,0.0,0.5,1.0,1.5]]" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = recipe_of(&rows[i].object);
    zt_error err = ZT_ERROR_NONE;
    char *z = text_of(&r, 0, NULL, &err);
    check( !err.rc && z && strcmp(z, rows[i].json)==0, "'%s', expected '%s'", z, rows[i].json );
    sqlite3_free(z);
    clear_recipe(&r);
  }
}

TEST(test_slices_as_text_of_another_type){
  static const made m = { "dense", "3 2", { { "data", "i16", NULL, "1 2 3 300 5 -6" } }, NONE };
  static const made hollow = { "dense", "3 0", { { "data", "i16", NULL, "" } }, NONE };
  static const struct { const made *object; uint64_t row, rows; const char *as, *json, *message; } rows[] = {
    { &m, 0, 3, "i16", "[[1,2],[3,300],[5,-6]]", NULL },
    { &m, 1, 1, "f32", "[[3.0,300.0]]", NULL },
    { &m, 2, UINT64_MAX, "f64", "[[5.0,-6.0]]", NULL },
    { &m, 0, 1, "f4_e2m1", "[[1.0,2.0]]", NULL },
    { &m, 0, 1, "bool", "[[true,true]]", NULL },
    { &m, 2, 1, "complex128", "[[[5.0,0.0],[-6.0,0.0]]]", NULL },
    { &m, 3, 1, "u8", "[]", NULL },
    { &m, UINT64_MAX, UINT64_MAX, "u8", "[]", NULL },
    { &m, 1, 2, "u8", NULL, "ztensor: element [1,1] is 300, which u8 does not have" },
    { &m, 2, 1, "u8", NULL, "ztensor: element [2,1] is -6, which u8 does not have" },
    { &hollow, 1, 9, "f64", "[[],[]]", NULL },
    { &hollow, 3, 9, "f64", "[]", NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    recipe r = recipe_of(rows[i].object);
    zt_error err = ZT_ERROR_NONE;
    zt_buffer out;
    zt_slice slice;
    zt_tensor t;
    opened o;
    char *z;
    open_recipe(&o, &r, NULL, rows[i].as);
    open_tensor(&o, &t, rows[i].as);
    assert_int_equal(zt_slice_of(t.object, rows[i].row, rows[i].rows, &slice, &err), SQLITE_OK);
    zt_assemble_json(&t, named(rows[i].as), &slice, &out, &err);
    z = json_taken(&out, &err);
    if( rows[i].message ) assert_string_equal(err.message, rows[i].message);
    else check( !err.rc && strcmp(z, rows[i].json)==0, "'%s', expected '%s'", z, rows[i].json );
    sqlite3_free(z);
    zt_error_clear(&err);
    zt_tensor_close(&t);
    close_opened(&o);
    clear_recipe(&r);
  }
}

TEST(test_text_of_more_than_a_window){
  recipe r = { .format = "dense", .rank = 2, .shape = { 700, 100 } };
  blob data = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t;
  opened o;
  char *z, *p;
  for(uint64_t i=0; i<70000; i++) put_bits(&data, i, 8);
  add_part(&r, "data", "i64", NULL, data);
  open_recipe(&o, &r, NULL, "text");
  open_tensor(&o, &t, "text");
  assert_true(zt_tensor_window(&t)<70000);
  p = z = json_of(&t, &err);
  assert_succeeded(&err, "text");
  for(long i=0; i<70000; i++){
    while( *p=='[' || *p==']' || *p==',' ) p++;
    if( strtol(p, &p, 10)!=i ) fail_msg("element %ld", i);
  }
  assert_string_equal(p, "]]");
  sqlite3_free(z);
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

/* An element takes at least two characters, and the brackets one. */
TEST(test_text_beyond_the_limit){
  static const made m = { "sparse_coo", "1048576", { { "values", "u8", NULL, "1" }, { "coords", "u64", NULL, "5" } }, NONE };
  recipe r = recipe_of(&m);
  zt_error err = ZT_ERROR_NONE;
  char *z = text_of(&r, 2*1048576+1, NULL, &err);
  assert_succeeded(&err, "limit");
  assert_int_equal(strlen(z), 2*1048576+1);
  sqlite3_free(z);
  for(uint64_t limit=2*1048576-1; limit<=2*1048576; limit++){
    char message[100];
    snprintf(message, sizeof(message), "ztensor: its text is more than the limit of %llu bytes on a result", (unsigned long long)limit);
    assert_null(text_of(&r, limit, NULL, &err));
    assert_int_equal(err.rc, SQLITE_TOOBIG);
    assert_string_equal(err.message, message);
    zt_error_clear(&err);
  }
  clear_recipe(&r);
}

/* Brackets without end around no element: the text must be bounded, too. */
TEST(test_text_of_a_huge_shape_without_elements){
  static const made m = { "dense", "1099511627776 0", { { "data", "f32", NULL, "" } }, NONE };
  recipe r = recipe_of(&m);
  zt_error err = ZT_ERROR_NONE;
  sqlite3_int64 before = sqlite3_memory_used(), most;
  sqlite3_memory_highwater(1);
  sqlite3_hard_heap_limit64(before+((sqlite3_int64)64<<20));
  sqlite3_free(text_of(&r, 1000, NULL, &err));
  sqlite3_hard_heap_limit64(0);
  most = sqlite3_memory_highwater(0)-before;
  check( err.rc==SQLITE_TOOBIG, "%d", err.rc );
  check( most<1000000, "%lld bytes were asked for", (long long)most );
  zt_error_clear(&err);
  clear_recipe(&r);
}

TEST(test_text_can_be_interrupted_between_windows){
  recipe r = { .format = "dense", .rank = 1, .shape = { 70000 } };
  blob data = { 0 };
  put_repeated(&data, 1, 8*70000);
  add_part(&r, "data", "u64", NULL, data);
  for(int stop=0; stop<=3; stop++){
    caller c = { 0, stop };
    zt_error err = ZT_ERROR_NONE;
    sqlite3_free(text_of(&r, 0, &c, &err));
    assert_int_equal(err.rc, stop ? SQLITE_INTERRUPT : SQLITE_OK);
    if( stop==0 ) assert_true(c.asked>=3);
    else assert_int_equal(c.asked, stop);
    zt_error_clear(&err);
  }
  clear_recipe(&r);
}

/* Objects without elements may have bytes, which must be sound. */
TEST(test_bytes_of_objects_without_elements_are_checked){
  static const struct { const char *what, *format, *shape, *role, *numbers; } rows[] = {
    { "dense", "dense", "0 5", "data", "" }, { "quantized words", "quantized_group", "0 16", "packed_weight", "" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    for(int way=0; way<WAYS; way++){
      made m = { rows[i].format, rows[i].shape, { { rows[i].role, "i32", NULL, "" }, { "scales", "f16", NULL, "" }, { "zeros", "f16", NULL, "" } },
        FOUR, ZSTD_STATED };
      recipe r = recipe_of(&m);
      zt_error err = ZT_ERROR_NONE;
      opened o;
      blob file = file_of(&r);
      open_bytes(&o, file, rows[i].what);
      check( ask(&o, way, &err)==SQLITE_OK, "%s, %d: %s", rows[i].what, way, err.message );
      file.p[64] ^= 0xFF;   /* The frame's magic number */
      check( ask(&o, way, &err)==SQLITE_ERROR, "%s, %d", rows[i].what, way );
      assert_failed(&err, "zstd: ", rows[i].what);
      close_opened(&o);
      clear_recipe(&r);
    }
  }
}

int main(void){
  return run_all("layout", set_up, tear_down);
}
