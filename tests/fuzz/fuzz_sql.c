/*
** Statements and values that nobody would write, against the tables and functions. The input's bytes choose among the
** tables of a source, functions and columns that the connection says there are (a new one is tried without a change here),
** operators, joins, and values of every type, over the golden files and images of them. Properties:
**   - nothing crashes, and every end is a result or an error of an ordinary kind; never SQLITE_CORRUPT
**   - a constraint that is pushed down gives the rows that it gives when SQLite checks it alone
**   - an allocation that fails gives SQLITE_NOMEM, or the very same rows or failure
**   - with the nofs entry point there are no rows of anything but a BLOB
** Paths stay below tests, whatever the input says.
*/
#include "answers.h"
#include "choices.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

#define GOLDEN "tests/formats/ztensor/golden/"
#define GGUF "tests/formats/gguf/"
#define HOSTILE "tests/formats/ztensor/hostile/"
#define LIMIT (1<<20)      /* On the length of results */
#define STEPS 30000        /* Instructions of SQLite's virtual machine, after which a statement is interrupted */
#define PARAMETERS 8       /* ?1 and ?2 are sources, the others any values */
#define MAX_TEXT 64        /* Bytes of a text from the input */

static sqlite3 *db, *nofs;

/* --- What there is to ask for --- */

/* Texts read from the database. */
typedef struct words {
  char **a;
  size_t n;
} words;

static words tables, functions;   /* A function: its name, ':' and its number of arguments */
static words *columns;            /* The columns of each table */
static words names;               /* Of objects and components in the golden files */

static words read_words(const char *sql, const char *argument){
  words w = { NULL, 0 };
  sqlite3_stmt *s;
  CHECK(sqlite3_prepare_v2(db, sql, -1, &s, NULL)==SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
  sqlite3_bind_text(s, 1, argument, -1, SQLITE_STATIC);
  while( sqlite3_step(s)==SQLITE_ROW ){
    w.a = realloc(w.a, (w.n+1)*sizeof(*w.a));
    w.a[w.n++] = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
  }
  sqlite3_finalize(s);
  CHECK(w.n>0, "nothing there: %s", sql);
  return w;
}

static const char *const paths[] = {
  GOLDEN "v0.1/wheel_dtypes.zt", GOLDEN "v0.1/crate_sparse.zt", GOLDEN "v1.0/wheel_csr.zt", GOLDEN "v1.0/hand_components.zt",
  GOLDEN "v1.1/crate_digests_attributes.zt", GOLDEN "v1.1/hand_cbor_variants.zt", GOLDEN "v1.2/hand_zstd.zt",
  GOLDEN "v1.2/wheel_sparse.zt", GOLDEN "v1.2/hand_names.zt", GOLDEN "v1.2/hand_bad_objects.zt",
  GOLDEN "v1.2/wheel_types.zt", GOLDEN "v1.2/wheel_quantized.zt", GOLDEN "v0.1/crate_big_endian.zt", GOLDEN "v1.2/wheel_ranks.zt",
  HOSTILE "1.2-ok-attribute-keys.zt", HOSTILE "1.2-ok-attribute-tags.zt", GOLDEN "v2/wheel_names.zt",
  GOLDEN "v2/hand_sharded.zt", GOLDEN "v2/hand_sharded_missing.zt", GOLDEN "v2/hand_seekable_frames.zt", GOLDEN "v2/hand_bad_data.zt",
  GOLDEN "v2/wheel_quant.zt", GOLDEN "v2/wheel_logical.zt", GOLDEN "v2/hand_sharded-part-1.zt",
  GGUF "golden/kv_types.gguf", GGUF "golden/big_endian.gguf", GGUF "golden/names.gguf", GGUF "hostile/unknown-type.gguf",
  GGUF "hostile/ok-mixed-nested.gguf",
};
#define N(a) (sizeof(a)/sizeof(*(a)))

static const char *const patterns[] = {
  GOLDEN "v1.0", GOLDEN "v*/wheel_s*.zt", GOLDEN "**/*_names.zt", GOLDEN "v1.[12]/crate*", GOLDEN "v1.2/*z*.zt", GOLDEN "none*",
  GOLDEN "none.zt", GOLDEN "README.md", "file:" GOLDEN "v1.0/wheel_csr.zt", "file:" GOLDEN "v0.1/w%68eel_ranks.zt", "",
  GOLDEN "v2", GOLDEN "v2/hand_s*.zt", GOLDEN "v1.0/", GOLDEN "v1.0/wheel_csr.zt/", "file://elsewhere/x.zt", GOLDEN "[", GOLDEN "**/**/hand_b*",
};

static const char *const texts[] = {
  "", "abort", "skip", "quick", "full", "f32", "f16", "bf16", "u8", "i64", "%", "%.zt", "*", "*wheel*", "raw", "zstd", "dense",
  "sparse_csr", "zt.mx/1", "zt.zstd-seekable/1", "sha256", "crc32c", "xxh3", "0", "-1", "1", "[1,2]",
};

static const char *const dtypes[] = {
  "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool", "f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz",
  "f8_e5m2fnuz", "f8_e8m0", "f4_e2m1", "i4", "u2", "complex64", "complex128", "F32", "float32", "torch.bool", "<f2", "float", "",
};

static const sqlite3_int64 integers[] = { 0, 1, -1, 2, 3, 7, 64, 1000, INT32_MAX, INT64_MAX, INT64_MIN, 1LL<<53, 4294967296LL };
static const double reals[] = { 0.0, -0.0, 0.5, 1.0, -1.0, 2.5, 1e300, -1e300, 1e18, 9007199254740993.0, 1e-320 };

typedef struct image {
  uint8_t *p;
  size_t n;
} image;
static image images[N(paths)];

static image slurp(const char *path){
  FILE *f = fopen(path, "rb");
  image m = { malloc(1<<16), 0 };
  CHECK(f, "%s: run this in the project's directory", path);
  m.n = fread(m.p, 1, 1<<16, f);
  fclose(f);
  return m;
}

static int interrupt(void *steps){
  return --*(int*)steps<=0;
}

static int steps_left;

static sqlite3 *open_database(int (*init)(sqlite3*, char**, const sqlite3_api_routines*)){
  sqlite3 *opened;
  char *message = NULL;
  CHECK(sqlite3_open(":memory:", &opened)==SQLITE_OK, "open");
  CHECK(init(opened, &message, NULL)==SQLITE_OK, "%s", message);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, LIMIT);
  sqlite3_progress_handler(opened, 100, interrupt, &steps_left);
  return opened;
}

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  CHECK(memory_install(), "the allocator");
  db = open_database(sqlite3_ztensor_init);
  nofs = open_database(sqlite3_ztensor_nofs_init);
  steps_left = STEPS;
  tables = read_words("SELECT name FROM pragma_module_list AS m WHERE name GLOB 'zt_*'"
                      " AND EXISTS (SELECT 1 FROM pragma_table_xinfo(m.name) AS c WHERE c.name = 'source') ORDER BY name", "");
  functions = read_words("SELECT DISTINCT name || ':' || narg FROM pragma_function_list WHERE name GLOB 'zt_*' ORDER BY 1", "");
  columns = calloc(tables.n, sizeof(*columns));
  for(size_t i=0; i<tables.n; i++) columns[i] = read_words("SELECT name FROM pragma_table_xinfo(?1)", tables.a[i]);
  for(size_t i=0; i<N(paths); i++) images[i] = slurp(paths[i]);
  names = read_words("SELECT object FROM zt_objects(?1) UNION SELECT component FROM zt_components(?1)", GOLDEN "**/*.zt");
  return 0;
}

/* --- Choices, from the input --- */

#define PICK(list) ((list)[choose(N(list))])

/* Bytes of the input; *n is how many. */
static const uint8_t *take(size_t *n){
  const uint8_t *p = input;
  *n = choose(MAX_TEXT+1);
  if( *n>input_left ) *n = input_left;
  input += *n;
  input_left -= *n;
  return p;
}

/* --- Values --- */

/* A parameter's value, the same for all runs of a statement. */
typedef struct value {
  int type;
  sqlite3_int64 integer;
  double real;
  image bytes;             /* Owned */
} value;

static value bytes_value(int type, const void *p, size_t n){
  value v = { .type = type, .bytes = { malloc(n+1), n } };
  CHECK(v.bytes.p, "malloc");
  if( n>0 ) memcpy(v.bytes.p, p, n);
  v.bytes.p[n] = 0;
  return v;
}

static value text_value(const char *z){
  return bytes_value(SQLITE_TEXT, z, strlen(z));
}

static value input_value(int type){
  size_t n;
  const uint8_t *p = take(&n);
  return bytes_value(type, p, n);
}

/* A golden file's image; some of its bytes may be others. */
static value image_value(void){
  const image *m = &PICK(images);
  value v = bytes_value(SQLITE_BLOB, m->p, m->n);
  size_t changes = choose(4)==0 ? choose(8) : 0;
  for(size_t i=0; i<changes; i++){
    uint8_t *at = v.bytes.p + two_bytes()%v.bytes.n;
    *at = (uint8_t)byte();
  }
  return v;
}

/* A path of the input's making, below tests/formats/ztensor/golden: no name in it is `..`, and no percent sign makes one. */
static value path_value(void){
  size_t n;
  const uint8_t *p = take(&n);
  char z[MAX_TEXT+64];
  int at = snprintf(z, sizeof(z), "%s", PICK(((const char*[]){ GOLDEN, GOLDEN "v1.2/", "file:" GOLDEN })));
  for(size_t i=0; i<n; i++){
    char c = (char)p[i];
    if( c=='.' && z[at-1]=='.' ) c = '*';
    if( c=='2' && z[at-1]=='%' ) c = '7';
    z[at++] = c;
  }
  return bytes_value(SQLITE_TEXT, z, (size_t)at);
}

static value any_value(void){
  switch( choose(14) ){
    case 0: return (value){ .type = SQLITE_NULL };
    case 12: return text_value(PICK(dtypes));
    case 13: case 1: return (value){ .type = SQLITE_INTEGER, .integer = PICK(integers) };
    case 2: return (value){ .type = SQLITE_INTEGER, .integer = (sqlite3_int64)byte() };
    case 3: return (value){ .type = SQLITE_FLOAT, .real = PICK(reals) };
    case 4: return input_value(SQLITE_TEXT);
    case 5: return input_value(SQLITE_BLOB);
    case 6: case 7: return text_value(PICK(paths));
    case 8: return text_value(PICK(texts));
    default: return text_value(names.a[choose(names.n)]);
  }
}

static value source_value(void){
  switch( choose(9) ){
    case 0: case 1: case 2: return image_value();
    case 3: case 4: return text_value(PICK(paths));
    case 5: return text_value(PICK(patterns));
    case 6: return path_value();
    case 7: return input_value(SQLITE_BLOB);
    default:
      switch( choose(3) ){
        case 0: return (value){ .type = SQLITE_NULL };
        case 1: return (value){ .type = SQLITE_INTEGER, .integer = PICK(integers) };
        default: return (value){ .type = SQLITE_FLOAT, .real = PICK(reals) };
      }
  }
}

static value values[PARAMETERS];

static void bind(sqlite3_stmt *s){
  for(int i=0; i<PARAMETERS; i++){
    const value *v = &values[i];
    switch( v->type ){
      case SQLITE_INTEGER: sqlite3_bind_int64(s, i+1, v->integer); break;
      case SQLITE_FLOAT: sqlite3_bind_double(s, i+1, v->real); break;
      case SQLITE_TEXT: sqlite3_bind_text(s, i+1, (const char*)v->bytes.p, (int)v->bytes.n, SQLITE_STATIC); break;
      case SQLITE_BLOB: sqlite3_bind_blob(s, i+1, v->bytes.p, (int)v->bytes.n, SQLITE_STATIC); break;
      default: break;
    }
  }
}

/* --- Statements --- */

/* A text being made, NUL-terminated; what does not fit makes a statement that SQLite refuses. */
typedef struct builder {
  char z[4096];
  size_t n;
} builder;

#define ADD(b, ...) ((b)->n += (size_t)add_text((b), sqlite3_mprintf(__VA_ARGS__)))

static int add_text(builder *b, char *text){
  size_t n = strlen(text), room = sizeof(b->z)-1-b->n;
  if( n>room ) n = room;
  memcpy(b->z+b->n, text, n);
  b->z[b->n+n] = 0;
  sqlite3_free(text);
  return (int)n;
}

/* ?3 and up. */
static int parameter(void){
  return 3+(int)choose(PARAMETERS-2);
}

static bool is_among(const char *word, const words *w){
  for(size_t i=0; i<w->n; i++) if( strcmp(w->a[i], word)==0 ) return true;
  return false;
}

/* True for a table with an argument object: rows of elements or slices. */
static bool takes_object(const words *has){
  return is_among("position", has) || is_among("row", has);
}

/* Columns that are arguments: comparing them with something is giving it, whose NULL means the default. A source must be ?1
** or ?2. */
static bool is_argument(const char *column, const words *has){
  if( strcmp(column, "source")==0 || strcmp(column, "on_error")==0 || strcmp(column, "level")==0 ) return true;
  return (takes_object(has) || is_among("other_object", has)) && (strcmp(column, "object")==0 || strcmp(column, "dtype")==0);
}

/* A column, such that constraints on it are pushed down; or if plain, the same value with the same affinity, such that none
** are. */
static void add_column(builder *b, const char *alias, const char *column, bool plain){
  bool text = strcmp(column, "path")==0 || strcmp(column, "object")==0 || strcmp(column, "component")==0;
  bool number = strcmp(column, "position")==0 || strcmp(column, "row")==0;
  if( plain && (text || number) ) ADD(b, "CAST(%s.%s AS %s)", alias, column, text ? "TEXT" : "INTEGER");
  else ADD(b, "%s.%s", alias, column);
}

/* A condition on a column. The words are chosen the same way whether it is plain or not, so that two runs over the same input
** differ in nothing else. */
static void add_condition(builder *b, const char *alias, const words *has, bool plain){
  const char *column = PICK(((const char*[]){ "path", "object", "path", "object", "component", NULL, NULL, NULL }));
  if( takes_object(has) && (!column || strcmp(column, "object")==0) ) column = is_among("row", has) ? "row" : "position";
  if( !column ) column = has->a[choose(has->n)];
  if( !is_among(column, has) || is_argument(column, has) ) column = "path";
  add_column(b, alias, column, plain);
  switch( choose(12) ){
    case 0: ADD(b, " LIKE ?%d", parameter()); break;
    case 1: ADD(b, " GLOB ?%d", parameter()); break;
    case 2: ADD(b, " IN (?%d, ?%d, ?%d)", parameter(), parameter(), parameter()); break;
    case 3: ADD(b, " IS ?%d", parameter()); break;
    case 4: ADD(b, " IS NOT NULL"); break;
    case 5: ADD(b, " BETWEEN ?%d AND ?%d", parameter(), parameter()); break;
    case 6: ADD(b, " = ?%d COLLATE NOCASE", parameter()); break;
    case 7: ADD(b, " IN (SELECT ?%d UNION SELECT ?%d)", parameter(), parameter()); break;
    case 8: ADD(b, " %s ?%d", PICK(((const char*[]){ "<", ">", "<=", ">=", "<>", "IS NOT" })), parameter()); break;
    default: ADD(b, " = ?%d", parameter()); break;
  }
}

static void add_conditions(builder *b, const char *alias, const words *has, bool plain, const char *word){
  size_t n = choose(4);
  for(size_t i=0; i<n; i++){
    ADD(b, i ? PICK(((const char*[]){ " AND ", " AND ", " OR " })) : word);
    add_condition(b, alias, has, plain);
  }
}

/* An object of the source, mostly one that there is. */
static void add_object(builder *b, const char *source){
  if( choose(6)==0 ) ADD(b, "?%d", parameter());
  else ADD(b, "(SELECT object FROM zt_objects(%s, 'skip') LIMIT 1 OFFSET %d)", source, (int)choose(16));
}

static void add_arguments(builder *b, const char *first, const words *has){
  size_t n = choose(6)==0 ? choose(5) : 1+choose(2);
  if( takes_object(has) && choose(8) ) n = 2+(is_among("row", has) ? choose(2) : 0);
  ADD(b, "(%s", first);
  for(size_t i=1; i<n; i++){
    ADD(b, ", ");
    if( i==1 && takes_object(has) ) add_object(b, first[0]=='?' ? first : "?1");
    else if( i==2 && takes_object(has) && choose(2) ) ADD(b, "'%s'", PICK(dtypes));
    else if( i==1 && is_among("level", has) && choose(8) ) ADD(b, "'%s'", PICK(((const char*[]){ "quick", "full" })));
    else ADD(b, "?%d", parameter());
  }
  ADD(b, ") ");
}

static void add_columns(builder *b, const char *alias, const words *has){
  switch( choose(6) ){
    case 0: ADD(b, "count(*)"); break;
    case 1: ADD(b, "%s.rowid", alias); break;
    case 2: ADD(b, "%s.*", alias); break;
    default:
      ADD(b, "%s.%s", alias, has->a[choose(has->n)]);
      for(size_t n=choose(3); n>0; n--) ADD(b, ", %s.%s", alias, has->a[choose(has->n)]);
      break;
  }
}

/* The arguments after source, by the names of their columns. */
static void add_hidden(builder *b, const words *has){
  if( is_among("level", has) && choose(2) ) ADD(b, " AND a.level = 'full'");
  if( !takes_object(has) ) return;
  ADD(b, " AND a.object %s ", PICK(((const char*[]){ "=", "=", "IS", "IN" })));
  ADD(b, "(");
  add_object(b, "?1");
  ADD(b, ")");
  if( is_among("dtype", has) && choose(2) ) ADD(b, " AND a.dtype = '%s'", PICK(dtypes));
}

/* SELECT from one table. */
static void make_select(builder *b, bool plain){
  size_t t = choose(tables.n);
  ADD(b, "SELECT ");
  add_columns(b, "a", &columns[t]);
  ADD(b, " FROM %s", tables.a[t]);
  switch( choose(16) ){
    case 0: ADD(b, " AS a"); break;   /* Without a source */
    case 1: ADD(b, " AS a WHERE a.source IN (?1, ?2)"); add_hidden(b, &columns[t]); return;
    case 2: ADD(b, " AS a WHERE a.source IS ?1"); add_hidden(b, &columns[t]); return;
    default: add_arguments(b, "?1", &columns[t]); ADD(b, "AS a"); break;
  }
  add_conditions(b, "a", &columns[t], plain, " WHERE ");
}

/* SELECT from two, the second one's source being ?2 or a column of the first. */
static void make_join(builder *b, bool plain){
  size_t t = choose(tables.n), u = choose(tables.n);
  ADD(b, "SELECT ");
  add_columns(b, "b", &columns[u]);
  ADD(b, " FROM %s", tables.a[t]);
  add_arguments(b, "?1", &columns[t]);
  ADD(b, "AS a %s %s", PICK(((const char*[]){ "JOIN", "LEFT JOIN", "CROSS JOIN", "RIGHT JOIN", "FULL JOIN" })), tables.a[u]);
  add_arguments(b, PICK(((const char*[]){ "?1", "?2", "a.path", "a.source" })), &columns[u]);
  ADD(b, "AS b");
  if( choose(2) ){
    ADD(b, " ON a.path = ");
    add_column(b, "b", "path", plain);
  }
  if( choose(2) ) add_conditions(b, "a", &columns[t], plain, " WHERE ");
  else add_conditions(b, "b", &columns[u], plain, " WHERE ");
}

static void make_function(builder *b){
  const char *function = functions.a[choose(functions.n)];
  const char *colon = strchr(function, ':');
  int n = atoi(colon+1);
  if( n<0 ) n = (int)choose(6);
  ADD(b, "SELECT %.*s(", (int)(colon-function), function);
  for(int i=0; i<n; i++){
    ADD(b, i ? ", " : "");
    if( i==1 ) add_object(b, "?1");
    else if( i==2 && strncmp(function, "zt_dense", 8)==0 && choose(2) ) ADD(b, "'%s'", PICK(dtypes));
    else ADD(b, "?%d", i==0 ? 1 : i+2);
  }
  ADD(b, ")");
}

/* A function for each row of a table. */
static void make_calls(builder *b){
  const char *function = functions.a[choose(functions.n)];
  const char *colon = strchr(function, ':');
  int n = atoi(colon+1);
  if( n<0 ) n = (int)choose(6);
  ADD(b, "SELECT %.*s(", (int)(colon-function), function);
  for(int i=0; i<n; i++){
    if( i==2 && strncmp(function, "zt_dense", 8)==0 ) ADD(b, ", '%s'", PICK(dtypes));
    else if( i==2 && strncmp(function, "zt_value", 8)==0 ) ADD(b, ", %d", (int)choose(4));
    else if( i<3 ) ADD(b, "%s%s", i ? ", " : "", i==0 ? "?1" : i==1 ? "a.object" : "a.component");
    else ADD(b, ", ?%d", i+2);
  }
  ADD(b, ") FROM zt_components(?1) AS a");
}

/* Something that must be refused, or is rare. */
static void make_odd(builder *b){
  const char *table = tables.a[choose(tables.n)];
  switch( choose(6) ){
    case 0: ADD(b, "INSERT INTO %s(path) VALUES (?3)", table); break;
    case 1: ADD(b, "DELETE FROM %s WHERE source = ?1", table); break;
    case 2: ADD(b, "UPDATE %s SET path = ?3 WHERE source = ?1", table); break;
    case 3: ADD(b, "SELECT path, count(*), count(DISTINCT rowid) FROM %s(?1) GROUP BY path ORDER BY path", table); break;
    case 4: ADD(b, "SELECT * FROM %s(?1) ORDER BY path %s LIMIT 20", table, PICK(((const char*[]){ "", "DESC" }))); break;
    default: ADD(b, "SELECT * FROM %s(?1) WHERE rowid = ?3", table); break;
  }
}

/* --- Running --- */

static answer run(sqlite3 *on, const char *sql){
  steps_left = STEPS/100;
  return ask(on, sql, bind);
}

static void make(builder *b, unsigned kind, bool plain){
  b->n = 0;
  b->z[0] = 0;
  switch( kind ){
    case 0: case 1: case 2: make_select(b, plain); break;
    case 3: make_join(b, plain); break;
    case 4: make_function(b); break;
    case 5: make_calls(b); break;
    default: make_odd(b); break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  builder pushed, plain;
  unsigned kind;
  size_t fail_at, rest;
  bool fail_on;
  const uint8_t *mark;
  answer o, other;
  input = data;
  input_left = n;
  fail_at = choose(2000);   /* Most statements make hundreds of allocations; 0: none fails */
  fail_at >>= choose(8);
  fail_on = byte() & 1;
  kind = byte()%7;
  mark = input;
  rest = input_left;
  make(&pushed, kind, false);
  input = mark;
  input_left = rest;
  make(&plain, kind, true);
  for(int i=0; i<PARAMETERS; i++) values[i] = i<2 ? source_value() : any_value();

  o = run(db, pushed.z);
  if( kind<4 ){
    other = run(db, plain.z);
    if( o.rc==SQLITE_DONE && other.rc==SQLITE_DONE ){
      CHECK(o.rows==other.rows && o.sum==other.sum, "%s: %lld rows, %lld rows if not pushed down", pushed.z, (long long)o.rows,
            (long long)other.rows);
    }
  }
  steps_left = STEPS/100;
  if( fail_at ) ask_failing(db, pushed.z, bind, &o, (int64_t)fail_at, fail_on);
  other = run(nofs, pushed.z);
  /* A comparison has a row that says why there is none */
  if( kind<3 && values[0].type!=SQLITE_BLOB && values[1].type!=SQLITE_BLOB && !strstr(pushed.z, "count(*)")
   && !strstr(pushed.z, "zt_compare") ){
    CHECK(other.rows==0, "%s: rows without a BLOB", pushed.z);
  }
  for(int i=0; i<PARAMETERS; i++) free(values[i].bytes.p);
  return 0;
}
