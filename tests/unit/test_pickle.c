/* container/pickle: the values that opcodes build, and the rules PK1 to PK6. Python's pickle gave the expected values. */
#include "test.h"

#include <math.h>
#include "container/pickle.h"
#include "container/pickle_open.h"
#include "core/json.h"

static zt_error err;
static zt_pickle *pickle;
static size_t used;

static int setup(void **state){
  (void)state;
  err = ZT_ERROR_NONE;
  pickle = NULL;
  return sqlite3_initialize();
}

static int teardown(void **state){
  (void)state;
  zt_pickle_close(pickle);
  zt_error_clear(&err);
  return 0;
}

/* --- A tree as text: integers and reals (r:) in decimal, 'text', b'bytes in hexadecimal', (tuple,), [list], <set>, {key:value},
** module.name, name(arguments) with what comes after, @id; what is nested deeper than 8 is ... --- */

static void render(zt_pickle_node node, int depth, sqlite3_str *out);

static void render_children(zt_pickle_node node, const char *ends, int depth, sqlite3_str *out){
  zt_pickle_cursor c = zt_pickle_begin(pickle, node);
  const bool dict = zt_pickle_kind_of(pickle, node)==ZT_PICKLE_DICT;
  uint32_t i = 0;
  sqlite3_str_append(out, ends, 1);
  for(zt_pickle_node child; (child = zt_pickle_next(pickle, &c))!=0; i++){
    if( zt_pickle_kind_of(pickle, node)==ZT_PICKLE_TUPLE ) assert_int_equal(child, zt_pickle_child(pickle, node, i));
    if( i>0 ) sqlite3_str_appendall(out, dict && i%2 ? ":" : ",");
    render(child, depth+1, out);
  }
  sqlite3_str_append(out, ends+1, 1);
  assert_int_equal(zt_pickle_child(pickle, node, i), 0);
}

static void render_call(const zt_pickle_value *call, int depth, sqlite3_str *out){
  render(call->callee, depth+1, out);
  render(call->args, depth+1, out);
  if( call->keywords ) sqlite3_str_appendall(out, "**");
  if( call->keywords ) render(call->keywords, depth+1, out);
  if( call->list ) render(call->list, depth+1, out);
  if( call->dict ) render(call->dict, depth+1, out);
  if( call->state ) sqlite3_str_appendall(out, "|");
  if( call->state ) render(call->state, depth+1, out);
}

static void render(zt_pickle_node node, int depth, sqlite3_str *out){
  static const char *const words[] = { "None", "False", "True" };
  zt_pickle_value v;
  assert_true(node>0 && node<=zt_pickle_nodes(pickle));
  if( depth>8 ){
    sqlite3_str_appendall(out, "...");
    return;
  }
  zt_pickle_get(pickle, node, &v);
  assert_int_equal(v.kind, zt_pickle_kind_of(pickle, node));
  switch( v.kind ){
    case ZT_PICKLE_NONE: case ZT_PICKLE_FALSE: case ZT_PICKLE_TRUE: sqlite3_str_appendall(out, words[v.kind]); break;
    case ZT_PICKLE_INTEGER:
      if( !v.bytes.p ) sqlite3_str_appendf(out, "%lld", (long long)v.integer);
      else sqlite3_str_appendall(out, "0x");
      for(size_t i=v.bytes.n; v.bytes.p && i-->0; ) sqlite3_str_appendf(out, "%02x", v.bytes.p[i]);
      break;
    case ZT_PICKLE_REAL:
      sqlite3_str_appendall(out, isnan(v.real) ? "r:nan" : isfinite(v.real) ? "r:" : v.real<0 ? "r:-inf" : "r:inf");
      if( isfinite(v.real) ) zt_json_real(out, v.real);
      break;
    case ZT_PICKLE_TEXT:   /* With 0 as ~ */
      sqlite3_str_appendall(out, "'");
      for(size_t i=0; i<v.bytes.n; i++) sqlite3_str_append(out, v.bytes.p[i] ? (const char*)v.bytes.p+i : "~", 1);
      sqlite3_str_appendall(out, "'");
      break;
    case ZT_PICKLE_BYTES:
      sqlite3_str_appendall(out, "b'");
      for(size_t i=0; i<v.bytes.n; i++) sqlite3_str_appendf(out, "%02x", v.bytes.p[i]);
      sqlite3_str_appendall(out, "'");
      break;
    case ZT_PICKLE_TUPLE: render_children(node, "()", depth, out); break;
    case ZT_PICKLE_LIST:  render_children(node, "[]", depth, out); break;
    case ZT_PICKLE_SET:   render_children(node, "<>", depth, out); break;
    case ZT_PICKLE_DICT:  render_children(node, "{}", depth, out); break;
    case ZT_PICKLE_GLOBAL:
      sqlite3_str_appendf(out, "%.*s.%.*s", (int)v.module.n, v.module.z, (int)v.name.n, v.name.z);
      break;
    case ZT_PICKLE_EXTENSION:  sqlite3_str_appendf(out, "ext%lld", (long long)v.integer); break;
    case ZT_PICKLE_PERSISTENT: sqlite3_str_appendall(out, "@"); render(v.args, depth+1, out); break;
    case ZT_PICKLE_CALL:       render_call(&v, depth, out); break;
  }
}

static int open_bytes(blob b){
  teardown(NULL);
  setup(NULL);
  return zt_pickle_open(span_of(b), NULL, &pickle, &used, &err);
}

typedef struct row { const char *bytes; size_t n; const char *expected; } row;
#define ROW(bytes, expected) { bytes, sizeof(bytes)-1, expected }

static void expect_tree(int i, const char *expected){
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *z;
  render(zt_pickle_root(pickle), 0, out);
  z = sqlite3_str_finish(out);
  check(strcmp(z, expected)==0, "row %d: %s, not %s", i, z, expected);
  sqlite3_free(z);
}

static void expect_trees(const row *rows, size_t n){
  for(size_t i=0; i<n; i++){
    blob b = exact(rows[i].bytes, rows[i].n);
    open_bytes(b);
    check(err.rc==SQLITE_OK, "row %d: %s", (int)i, err.message);
    assert_int_equal(used, b.n);
    expect_tree((int)i, rows[i].expected);
    free(b.p);
  }
}

static void expect_failures(const char *rule, const row *rows, size_t n){
  for(size_t i=0; i<n; i++){
    blob b = exact(rows[i].bytes, rows[i].n);
    check(open_bytes(b)==SQLITE_ERROR, "row %d was read", (int)i);
    check(strcmp(err.rule, rule)==0 && strcmp(err.parts.fault, rows[i].expected)==0, "row %d: %s: %s", (int)i, err.rule,
          err.parts.fault);
    assert_null(pickle);
    free(b.p);
  }
}

TEST_WITH(test_numbers, setup, teardown){
  static const row rows[] = {
    ROW("N.", "None"), ROW("\x80\x02\x88.", "True"), ROW("\x80\x02\x89.", "False"), ROW("I01\n.", "True"), ROW("I00\n.", "False"),
    ROW("I0\n.", "0"), ROW("I1\n.", "1"), ROW("I-12\n.", "-12"), ROW("I9223372036854775807\n.", "9223372036854775807"),
    ROW("I001\n.", "1"), ROW("I02\n.", "2"), ROW("I+5\n.", "5"), ROW("L+5L\n.", "5"), ROW("F+1.5\n.", "r:1.5"), ROW("F-inf\n.", "r:-inf"),
    ROW("F.5\n.", "r:0.5"), ROW("L5L\n.", "5"), ROW("L-0\n.", "0"), ROW("L-9223372036854775808L\n.", "-9223372036854775808"),
    ROW("L9223372036854775808L\n.", "0x008000000000000000"), ROW("L-9223372036854775809L\n.", "0xff7fffffffffffffff"),
    ROW("L340282366920938463463374607431768211456L\n.", "0x0100000000000000000000000000000000"),
    ROW("J\xff\xff\xff\xff.", "-1"), ROW("K\xff.", "255"), ROW("M\xff\xff.", "65535"), ROW("M\x05\0.", "5"),
    ROW("\x8a\0.", "0"), ROW("\x8a\x01\x80.", "-128"), ROW("\x8a\x02\xff\0.", "255"), ROW("\x8b\x01\0\0\0\x7f.", "127"),
    ROW("\x8a\x0a\x01\0\0\0\0\0\0\0\0\0.", "1"), ROW("\x8a\x09\0\0\0\0\0\0\0\x80\0.", "0x008000000000000000"),
    ROW("F1.5\n.", "r:1.5"), ROW("F-1e-05\n.", "r:-1e-05"), ROW("Fnan\n.", "r:nan"), ROW("Finf\n.", "r:inf"),
    ROW("G\x3f\xf0\0\0\0\0\0\0.", "r:1.0"),
  };
  expect_trees(rows, COUNT(rows));
}

TEST_WITH(test_texts, setup, teardown){
  static const row rows[] = {
    ROW("S'a\\x41\\n\\101\\'\\\\\\q'\n.", "'aA\nA'\\\\q'"), ROW("S\"it's\"\n.", "'it's'"), ROW("S'\\xff'\n.", "b'ff'"), ROW("S''\n.", "''"),
    ROW("T\x03\0\0\0abc.", "'abc'"), ROW("U\x01\xff.", "b'ff'"), ROW("S'\\60\\18\\7778'\n.", "b'300138ff38'"),
    ROW("B\x01\0\0\0a.", "b'61'"), ROW("C\x01" "a.", "b'61'"), ROW("\x8e\x01\0\0\0\0\0\0\0" "a.", "b'61'"),
    ROW("\x96\x01\0\0\0\0\0\0\0" "a.", "b'61'"),
    ROW("Va\\u00e9\xe9\\\\n\\x\n.", "'a\xc3\xa9\xc3\xa9\\\\n\\x'"), ROW("V\\U0001f600\n.", "'\xf0\x9f\x98\x80'"), ROW("V\\\\u0041\n.", "'\\\\u0041'"),
    ROW("V\n.", "''"), ROW("Va\\\n.", "'a\\'"), ROW("S'\\\0'\n.", "'\\~'"), ROW("S'\\8'\n.", "'\\8'"), ROW("V\\ud800\n.", "b'eda080'"), ROW("\x8c\x02\xc3\xa9.", "'\xc3\xa9'"), ROW("X\x03\0\0\0\xed\xa0\x80.", "b'eda080'"),
    ROW("\x8d\x01\0\0\0\0\0\0\0" "a.", "'a'"),
  };
  expect_trees(rows, COUNT(rows));
}

TEST_WITH(test_containers, setup, teardown){
  static const row rows[] = {
    ROW(").", "()"), ROW("(t.", "()"), ROW("(K\1K\2t.", "(1,2)"), ROW("N\x85.", "(None)"), ROW("NK\1\x86.", "(None,1)"),
    ROW("NK\1K\2\x87.", "(None,1,2)"), ROW("].", "[]"), ROW("(l.", "[]"), ROW("(K\1l.", "[1]"), ROW("]K\1aK\2a.", "[1,2]"),
    ROW("](e.", "[]"), ROW("](K\1K\2e(K\3e(eK\4a.", "[1,2,3,4]"), ROW("}.", "{}"), ROW("(K\1K\2d.", "{1:2}"),
    ROW("}K\1K\2s(K\3K\4K\5K\6u.", "{1:2,3:4,5:6}"), ROW("\x80\x04\x8f(K\1K\2\x90.", "<1,2>"), ROW("\x80\x04(K\1\x91.", "<1>"),
    ROW("K\1K\2" "0.", "1"), ROW("K\1(K\2K\3" "1.", "1"), ROW("(K\1" "00K\2.", "2"), ROW("K\1" "2\x86.", "(1,1)"),
    ROW("]q\0h\0a.", "[[[[[[[[[...]]]]]]]]]"), ROW("K\7p12\n0g12\n.", "7"), ROW("K\7r\0\0\0\x80" "0j\0\0\0\x80.", "7"),
    ROW("K\7\x94K\x08\x94h\0h\1\x87\x85.", "((8,7,8))"), ROW("K\7q\5K\x08\x94h\5h\1\x86.", "(7,8)"),
    ROW("\x80\x04\x95\1\0\0\0\0\0\0\0N.", "None"),
  };
  expect_trees(rows, COUNT(rows));
}

TEST_WITH(test_what_would_be_called, setup, teardown){
  static const row rows[] = {
    ROW("cos\nsystem\n.", "os.system"), ROW("\x8c\2os\x8c\1a\x93.", "os.a"), ROW("cos\nsystem\n(S'x'\ntR.", "os.system('x')"),
    ROW("(S'x'\nios\nsystem\n.", "os.system('x')"), ROW("(cos\nsystem\nS'x'\no.", "os.system('x')"), ROW("(ios\na\n.", "os.a()"),
    ROW("ca\nB\n)\x81}K\1K\2sb.", "a.B()|{1:2}"), ROW("ca\nB\n)}K\1K\2s\x92.", "a.B()**{1:2}"),
    ROW("ca\nB\n)RK\1a(K\2K\3eK\4K\5s.", "a.B()[1,2,3]{4:5}"), ROW("ca\nB\n)R(K\2\x90.", "a.B()[2]"),
    ROW("ca\nB\nNR.", "a.BNone"), ROW("K\1)R.", "1()"), ROW("Pid\n.", "@'id'"), ROW("K\1K\2\x86Q.", "@(1,2)"),
    ROW("\x82\5.", "ext5"), ROW("\x83\0\1.", "ext256"), ROW("\x84\0\0\1\0.", "ext65536"),
  };
  expect_trees(rows, COUNT(rows));
}

#define DIGITS_40 "0000000000000000000000000000000000000000"
#define DIGITS_400 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40 DIGITS_40

TEST_WITH(test_opcodes_and_their_arguments, setup, teardown){
  static const row unknown[] = { ROW("\xff.", "byte 0: opcode 0xff is not known"), ROW("N\0.", "byte 1: opcode 0x00 is not known") };
  static const row cut[] = {
    ROW("", "the pickle ends at byte 0 without STOP"), ROW("NN", "the pickle ends at byte 2 without STOP"),
    ROW("K", "byte 0: BININT1: its argument goes beyond the pickle's end"), ROW("NG1234567", "byte 1: BINFLOAT: its argument goes beyond the pickle's end"),
    ROW("cos\nsystem.", "byte 0: GLOBAL: its argument goes beyond the pickle's end"), ROW("X\1\0", "byte 0: BINUNICODE: its argument goes beyond the pickle's end"),
    ROW("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "byte 0: BINUNICODE8: its argument goes beyond the pickle's end"),
    ROW("\x95\2\0\0\0\0\0\0\0.", "byte 0: FRAME: it goes beyond the pickle's end"),
  };
  static const row wrong[] = {
    ROW("\x80\x06N.", "byte 0: PROTO: protocol 6 is not known"), ROW("\x8b\xff\xff\xff\xff.", "byte 0: LONG4: a negative length"),
    ROW("I\n.", "byte 0: INT: no digits"), ROW("L-L\n.", "byte 0: LONG: no digits"), ROW("L\n.", "byte 0: LONG: no digits"),
    ROW("F1\0\n.", "byte 0: FLOAT: an invalid real number"), ROW("F\0001\n.", "byte 0: FLOAT: an invalid real number"),
    ROW("F:1\n.", "byte 0: FLOAT: an invalid real number"), ROW("F" DIGITS_400 "1\n.", "byte 0: FLOAT: an invalid real number"),
    ROW("Np12345678901\n.", "byte 1: PUT: an invalid key of the memo"), ROW("I1 \n.", "byte 0: INT: a character that is not a digit"),
    ROW("F\n.", "byte 0: FLOAT: an invalid real number"), ROW("Fe\n.", "byte 0: FLOAT: an invalid real number"), ROW("F1x\n.", "byte 0: FLOAT: an invalid real number"), ROW("S'\\'\n.", "byte 0: STRING: an invalid escape"),
    ROW("S'\\xg0'\n.", "byte 0: STRING: an invalid escape"), ROW("S'\n.", "byte 0: STRING: no quotes around the text"),
    ROW("V\\U00110000\n.", "byte 0: UNICODE: an invalid escape"), ROW("Np\n.", "byte 1: PUT: an invalid key of the memo"),
    ROW("Np4294967296\n.", "byte 1: PUT: an invalid key of the memo"), ROW("ca\n\xff\n.", "byte 0: GLOBAL: a name that is not UTF-8"),
    ROW("(ia\n\xff\n.", "byte 1: INST: a name that is not UTF-8"), ROW("F5:\n.", "byte 0: FLOAT: an invalid real number"),
  };
  expect_failures("PK1", unknown, COUNT(unknown));
  expect_failures("PK2", cut, COUNT(cut));
  expect_failures("PK3", wrong, COUNT(wrong));
}

TEST_WITH(test_the_stack_and_the_memo, setup, teardown){
  static const row stack[] = {
    ROW(".", "byte 0: STOP: it takes more than is on the stack"), ROW("(.", "byte 1: STOP: a mark stands where it takes a value"),
    ROW("0N.", "byte 0: POP: it takes more than is on the stack"), ROW("2.", "byte 0: DUP: it takes more than is on the stack"),
    ROW("Na.", "byte 1: APPEND: there is no dict, list or set to add items to"), ROW("(e.", "byte 1: APPENDS: there is no dict, list or set to add items to"),
    ROW("N(e.", "byte 2: APPENDS: the container to fill is not a list"), ROW("](\x90.", "byte 2: ADDITEMS: the container to fill is not a set"),
    ROW("]K\1K\2s.", "byte 5: SETITEM: the container to fill is not a dict"), ROW("}(Nu.", "byte 3: SETITEMS: a key without a value"),
    ROW("(Nd.", "byte 2: DICT: a key without a value"), ROW("(o.", "byte 1: OBJ: there is nothing to call"),
    ROW("}}b.", "byte 2: BUILD: the object for this state is not the result of a call"),
    ROW("ca\nB\n)R}b}b.", "byte 10: BUILD: it has a state already"), ROW("NN\x93.", "byte 2: STACK_GLOBAL: module and name are not both text"),
    ROW("NU\1a\x93.", "byte 4: STACK_GLOBAL: module and name are not both text"), ROW("U\1a\x93.", "byte 3: STACK_GLOBAL: it takes more than is on the stack"),
    ROW("N\x86.", "byte 1: TUPLE2: it takes more than is on the stack"), ROW("a.", "byte 0: APPEND: it takes more than is on the stack"),
    ROW("Q.", "byte 0: BINPERSID: it takes more than is on the stack"),
    ROW("\x98.", "byte 0: READONLY_BUFFER: its buffer is not in the pickle"), ROW("q\0.", "byte 0: BINPUT: it takes more than is on the stack"),
  };
  static const row mark[] = {
    ROW("e.", "byte 0: APPENDS: there is no mark on the stack"), ROW("Nt.", "byte 1: TUPLE: there is no mark on the stack"),
    ROW("ios\na\n.", "byte 0: INST: there is no mark on the stack"),
    ROW("o.", "byte 0: OBJ: there is no mark on the stack"), ROW("1.", "byte 0: POP_MARK: there is no mark on the stack"),
  };
  static const row memo[] = {
    ROW("h\0.", "byte 0: BINGET: the memo has no entry 0"), ROW("Nj\xff\xff\xff\xff.", "byte 1: LONG_BINGET: the memo has no entry 4294967295"),
    ROW("Nq\0g1\n.", "byte 3: GET: the memo has no entry 1"),
    ROW("Nr\xff\xff\xff\xffj\xfe\xff\xff\xff.", "byte 6: LONG_BINGET: the memo has no entry 4294967294"),
  };
  expect_failures("PK4", stack, COUNT(stack));
  expect_failures("PK5", mark, COUNT(mark));
  expect_failures("PK6", memo, COUNT(memo));
}

/* --- Memory --- */

static void repeat(blob *b, const char *bytes, size_t n, size_t times){
  while( times-->0 ) put(b, bytes, n);
}
#define REPEAT(b, bytes, times) repeat(b, bytes, sizeof(bytes)-1, times)

/* Bytes that walking takes at most. */
static sqlite3_int64 memory_of(blob b){
  sqlite3_int64 before;
  teardown(NULL);
  setup(NULL);
  before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  assert_int_equal(zt_pickle_open(span_of(b), NULL, &pickle, &used, &err), SQLITE_OK);
  return sqlite3_memory_highwater(0)-before;
}

TEST_WITH(test_memory_is_a_small_multiple_of_the_pickle, setup, teardown){
  const size_t size = 10000000;
  const sqlite3_int64 most = (64<<20)-(sqlite3_int64)size;   /* With the pickle itself, 64 MiB */
  static const struct { const char *begin, *piece; size_t n; const char *end; int times; } rows[] = {
    { "]q", "h\0h\0\x86q\0", 7, ".", 6 }, { "]q", "]q\1(h\0h\0eq\0", 11, ".", 6 }, { "]q", "h\0", 2, "t.", 6 },
    { "Nq", "\x85", 1, ".", 24 }, { "Nq", "]", 1, "t.", 40 }, { "]q", "ca\nb\n)R", 7, "t.", 16 },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    blob b = { 0 };
    sqlite3_int64 taken;
    if( rows[i].end[0]=='t' ) put(&b, "(", 1);
    put(&b, rows[i].begin, 2);
    put_byte(&b, 0);
    repeat(&b, rows[i].piece, rows[i].n, size/rows[i].n);
    put(&b, rows[i].end, strlen(rows[i].end));
    taken = memory_of(b);
    check(taken<(sqlite3_int64)size*rows[i].times && (i>2 || taken<most), "row %d: %lld bytes", (int)i, (long long)taken);
    free(b.p);
  }
}

TEST_WITH(test_a_large_key_takes_no_memory, setup, teardown){
  blob b = { 0 };
  put(&b, "N", 1);
  REPEAT(&b, "r\xff\xff\xff\xffr\0\0\0\x80j\xff\xff\xff\xff" "0", 1000);
  put(&b, ".", 1);
  assert_true(memory_of(b)<128<<10);
  free(b.p);
}

TEST_WITH(test_many_large_keys_are_found, setup, teardown){
  blob b = { 0 };
  zt_pickle_cursor c;
  put(&b, "(", 1);
  for(uint32_t i=0; i<5000; i++){
    const uint32_t key = 0x80000000u+i*4096;
    uint8_t piece[] = { 'M', (uint8_t)i, (uint8_t)(i>>8), 'r', (uint8_t)key, (uint8_t)(key>>8), (uint8_t)(key>>16), (uint8_t)(key>>24), '0' };
    put(&b, piece, sizeof(piece));
  }
  for(uint32_t i=0; i<5000; i++){
    const uint32_t key = 0x80000000u+i*4096;
    uint8_t piece[] = { 'j', (uint8_t)key, (uint8_t)(key>>8), (uint8_t)(key>>16), (uint8_t)(key>>24) };
    put(&b, piece, sizeof(piece));
  }
  put(&b, "t.", 2);
  memory_of(b);
  c = zt_pickle_begin(pickle, zt_pickle_root(pickle));
  for(uint32_t i=0; i<5000; i++){
    zt_pickle_value v;
    zt_pickle_get(pickle, zt_pickle_next(pickle, &c), &v);
    assert_int_equal(v.integer, i);
  }
  assert_int_equal(zt_pickle_next(pickle, &c), 0);
  free(b.p);
}

/* --- In pieces --- */

/* Add pieces until STOP, with a byte that is no opcode between them. */
static void add_pieces(zt_pickle_pieces *pieces, const char *bytes, size_t n, uint8_t *room){
  size_t at = 0, have = 0;
  while( at<n ){
    const size_t from = at;
    assert_int_equal(zt_pickle_piece((zt_span){ (const uint8_t*)bytes, n }, &at, NULL, &err), SQLITE_OK);
    memcpy(room+have, bytes+from, at-from);
    check( zt_pickle_pieces_add(pieces, (zt_span){ room, have+(at-from) }, have, &err)==SQLITE_OK, "%s", err.message );
    have += at-from;
    room[have++] = 0xFF;
  }
}

/* Keys that the array of the first piece has no room for, and those of later ones have, or not: the newest value counts. */
TEST_WITH(test_a_memo_that_grows, setup, teardown){
  static const char begin[] = "(cm\nn\n)Rr\x58\2\0\0r\xff\xff\xff\xff}b";   /* An object with a state, in the memo as 600 and 2^32-1 */
  static const char between[] = "Nr\x58\2\0\0cm\nn\n)R}b";                      /* None in its place, and an object, which ends a piece */
  static const char end[] = "j\x58\2\0\0j\xff\xff\xff\xff\x94t.";
  blob b = { 0 };
  uint8_t *room;
  zt_pickle_pieces *pieces;
  zt_pickle_node root;
  put(&b, begin, sizeof(begin)-1);
  for(int piece=0; piece<2; piece++){
    for(int i=0; i<400; i++){
      char z[16];
      put(&b, z, (size_t)snprintf(z, sizeof(z), "Np%d\n", i));
    }
    if( piece==0 ) put(&b, between, sizeof(between)-1);
  }
  put(&b, end, sizeof(end)-1);
  room = malloc(b.n+100);
  assert_int_equal(zt_pickle_pieces_open(NULL, &pieces, &err), SQLITE_OK);
  add_pieces(pieces, (const char*)b.p, b.n, room);
  assert_true(zt_pickle_pieces_ended(pieces));
  pickle = zt_pickle_pieces_take(pieces);
  root = zt_pickle_root(pickle);
  assert_int_equal(zt_pickle_kind_of(pickle, zt_pickle_child(pickle, root, 0)), ZT_PICKLE_CALL);
  assert_int_equal(zt_pickle_child(pickle, root, 803), zt_pickle_child(pickle, root, 401));
  assert_int_equal(zt_pickle_kind_of(pickle, zt_pickle_child(pickle, root, 401)), ZT_PICKLE_NONE);
  assert_int_equal(zt_pickle_child(pickle, root, 804), zt_pickle_child(pickle, root, 0));
  zt_pickle_pieces_close(pieces);
  free(room);
  free(b.p);
}

/* A pickle within another: its stack and memo are its own, and its value stands behind the state. */
TEST_WITH(test_a_pickle_in_a_pickle, setup, teardown){
  static const char first[] = "]q\1cm\nn\n)R}b", inner[] = "Nq\1]h\1a.", rest[] = "ah\1.";
  uint8_t bytes[64];
  size_t n = sizeof(first)-1;
  zt_pickle_pieces *pieces;
  zt_pickle_value value;
  zt_pickle_cursor c;
  memcpy(bytes, first, n);
  assert_int_equal(zt_pickle_pieces_open(NULL, &pieces, &err), SQLITE_OK);
  assert_int_equal(zt_pickle_pieces_add(pieces, (zt_span){ bytes, n }, 0, &err), SQLITE_OK);
  assert_true(zt_pickle_pieces_built(pieces)>0);
  assert_int_equal(zt_pickle_pieces_enter(pieces, &err), SQLITE_OK);
  memcpy(bytes+n, inner, sizeof(inner)-1);
  assert_int_equal(zt_pickle_pieces_add(pieces, (zt_span){ bytes, n+sizeof(inner)-1 }, n, &err), SQLITE_OK);
  assert_false(zt_pickle_pieces_inside(pieces) || zt_pickle_pieces_ended(pieces) || zt_pickle_pieces_built(pieces));
  n += sizeof(inner)-1;
  memcpy(bytes+n, rest, sizeof(rest)-1);
  assert_int_equal(zt_pickle_pieces_add(pieces, (zt_span){ bytes, n+sizeof(rest)-1 }, n, &err), SQLITE_OK);
  pickle = zt_pickle_pieces_take(pieces);
  assert_int_equal(zt_pickle_kind_of(pickle, zt_pickle_root(pickle)), ZT_PICKLE_LIST);   /* Of the outer memo */
  c = zt_pickle_begin(pickle, zt_pickle_root(pickle));
  zt_pickle_get(pickle, zt_pickle_next(pickle, &c), &value);
  assert_true(value.kind==ZT_PICKLE_CALL && value.placed && value.behind);
  assert_int_equal(zt_pickle_kind_of(pickle, value.behind), ZT_PICKLE_LIST);
  zt_pickle_pieces_close(pieces);
}

/* Pickles one behind the other, whose bytes move each time. */
TEST_WITH(test_several_pickles, setup, teardown){
  static const row own[] = {
    ROW("]N.", "None"), ROW("N.K\5.", "(None,5)"), ROW("\x8c\1aq\0.\x8c\1bq\0h\0\x86.\x8c\1c\x94h\0\x86.", "('a',('b','b'),('c','c'))"),
    ROW("(N.).", "(None,())"),   /* What a pickle leaves on the stack is none of the next one's */
  }, one[] = {
    ROW("N.K\5.", "(None,5)"), ROW("\x8c\1aq\0.\x8c\1bh\0\x86.", "('a',('b','a'))"), ROW("\x8c\1a\x94.\x8c\1b\x94h\0h\1\x86.h\1.", "('a',('a','b'),'b')"),
  };
  for(size_t i=0; i<COUNT(own)+COUNT(one); i++){
    const row *r = i<COUNT(own) ? &own[i] : &one[i-COUNT(own)];
    const zt_span bytes = { (const uint8_t*)r->bytes, r->n };
    zt_pickle_pieces *pieces;
    blob b = { .n = 0 };
    assert_int_equal(zt_pickle_pieces_open(NULL, &pieces, &err), SQLITE_OK);
    for(size_t at=0; at<r->n; ){
      const size_t from = at;
      blob next;
      assert_int_equal(zt_pickle_piece(bytes, &at, NULL, &err), SQLITE_OK);
      next = exact(r->bytes, at);
      free(b.p);
      b = next;
      if( from>0 ) assert_int_equal(zt_pickle_pieces_next(pieces, i<COUNT(own), &err), SQLITE_OK);
      assert_false(zt_pickle_pieces_ended(pieces));
      check(zt_pickle_pieces_add(pieces, span_of(b), from, &err)==SQLITE_OK, "row %d: %s", (int)i, err.message);
      assert_true(zt_pickle_pieces_ended(pieces));
    }
    free(b.p);
    b = exact(r->bytes, r->n);
    assert_int_equal(zt_pickle_pieces_join(pieces, span_of(b), &err), SQLITE_OK);
    pickle = zt_pickle_pieces_take(pieces);
    expect_tree((int)i, r->expected);
    zt_pickle_close(pickle);
    pickle = NULL;
    zt_pickle_pieces_close(pieces);
    free(b.p);
  }
}

TEST_WITH(test_a_pickle_has_a_largest_size, setup, teardown){
  assert_int_equal(zt_pickle_open((zt_span){ (const uint8_t*)"N.", ZT_PICKLE_MAX+1 }, NULL, &pickle, &used, &err), SQLITE_ERROR);
  assert_string_equal(err.rule, "PK2");
}

/* The piece's end is not known before. */
TEST_WITH(test_a_piece_that_is_none, setup, teardown){
  static const struct { const char *bytes; size_t n; const char *rule; } rows[] = {
    { "N\xff.", 3, "PK1" }, { "NN", 2, "PK2" }, { "N.", ZT_PICKLE_MAX+1, "PK2" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_pickle_pieces *pieces;
    assert_int_equal(zt_pickle_pieces_open(NULL, &pieces, &err), SQLITE_OK);
    assert_int_equal(zt_pickle_pieces_add(pieces, (zt_span){ (const uint8_t*)rows[i].bytes, rows[i].n }, 0, &err), SQLITE_ERROR);
    assert_string_equal(err.rule, rows[i].rule);
    zt_error_clear(&err);
    zt_pickle_pieces_close(pieces);
  }
}

int main(void){
  return run_all("pickle", NULL, NULL);
}
