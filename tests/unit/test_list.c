/* Lists of texts: core/list.h. */
#include "test.h"

#include "core/list.h"

/* The elements of a list, each with a bar behind it, or what is wrong. */
static char *read_list(const char *text){
  blob copy = exact(text, strlen(text)+1), out = { 0 };
  zt_error err = ZT_ERROR_NONE;
  zt_list list;
  char *element;
  zt_list_init(&list, (const char*)copy.p, &err);
  while( zt_list_next(&list, &element) ){
    put(&out, element, strlen(element));
    put_byte(&out, '|');
    sqlite3_free(element);
  }
  assert_null(element);
  if( err.rc ){
    assert_int_equal(err.rc, SQLITE_ERROR);
    assert_null(err.rule);   /* It is no file's */
    assert_false(zt_list_next(&list, &element));   /* Nothing follows a failure */
    assert_null(element);
    out.n = 0;
    put(&out, err.parts.fault, strlen(err.parts.fault));
  }else{
    assert_false(zt_list_next(&list, &element));   /* The end stays the end */
    assert_succeeded(&err, text);
  }
  put_byte(&out, 0);
  zt_error_clear(&err);
  free(copy.p);
  return (char*)out.p;
}

TEST(test_elements){
  static const struct { const char *text, *elements; } rows[] = {
    { "[]", "" }, { " [ ] ", "" }, { "\t\n\r [\n]\r\t", "" },
    { "[\"a\"]", "a|" }, { "[\"a\",\"b\"]", "a|b|" }, { " [ \"a\" , \"b\" ] ", "a|b|" }, { "[\"\"]", "|" }, { "[\"\",\"\"]", "||" },
    { "[\"a b/c*[1].zt\", \"~/x\"]", "a b/c*[1].zt|~/x|" }, { "[\"a]\",\",\",\"[\"]", "a]|,|[|" },
    { "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\"\\/\b\f\n\r\t|" },
    { "[\"\\u0061\\u00fC\\u6c34\\ud800\\uDD51\"]", "a\xC3\xBC\xE6\xB0\xB4\xF0\x90\x85\x91|" },
    { "[\"\\u0001\\u007f\\u0080\\u07FF\\u0800\\uFFFF\\uDBFF\\uDFFF\"]",
      "\x01\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF4\x8F\xBF\xBF|" },
    { "[\"\xC3\xBC\x7F\"]", "\xC3\xBC\x7F|" },
    { "[\"\xFF/\xED\xA0\x80.zt\", \"a\"]", "\xFF/\xED\xA0\x80.zt|a|" },   /* Names of files are bytes */
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char *got = read_list(rows[i].text);
    check( zt_list_is(rows[i].text), "%s", rows[i].text );
    check( strcmp(got, rows[i].elements)==0, "%s: %s", rows[i].text, got );
    free(got);
  }
}

TEST(test_broken_lists){
  static const struct { const char *text, *message; } rows[] = {
    { "[\"a", "the source is a list: byte 3: a text ends without \"" }, { "[\"", "the source is a list: byte 2: a text ends without \"" },
    { "[\"a\"", "the source is a list: byte 4: the array ends without ]" }, { "[\"a\" ", "the source is a list: byte 5: the array ends without ]" },
    { "[\"a\",", "the source is a list: byte 5: the array ends without ]" }, { "[\"a\",]", "the source is a list: byte 5: a comma stands before ]" },
    { "[\"a\" \"b\"]", "the source is a list: byte 5: a comma or ] was expected" },
    { "[\"a\";\"b\"]", "the source is a list: byte 4: a comma or ] was expected" },
    { "[\"a\",,\"b\"]", "the source is a list: byte 5: a value was expected" },
    { "[\"a\", b]", "the source is a list: byte 6: a value was expected" }, { "[\"a\", 'b']", "the source is a list: byte 6: a value was expected" },
    { "[\"a\"]]", "the source is a list: byte 5: 1 bytes after the root value" }, { "[\"a\"] x", "the source is a list: byte 6: 1 bytes after the root value" },
    { "[\"a\"]*.zt", "the source is a list: byte 5: 4 bytes after the root value" },
    { "[\"a\nb\"]", "the source is a list: byte 3: a control character in a text must be escaped" },
    { "[\"\\x\"]", "the source is a list: byte 2: no such escape" }, { "[\"a\\", "the source is a list: byte 3: no such escape" },
    { "[\"\\u\"]", "the source is a list: byte 2: no such escape" }, { "[\"\\u12\"]", "the source is a list: byte 2: no such escape" },
    { "[\"\\u123", "the source is a list: byte 2: no such escape" }, { "[\"\\u123g\"]", "the source is a list: byte 2: no such escape" },
    { "[\"\\u0000\"]", "the source is a list: element 0 has U+0000 in it" }, { "[\"\\ud800\"]", "the source is a list: byte 2: half of a surrogate pair" },
    { "[\"\\udc00\"]", "the source is a list: byte 2: half of a surrogate pair" }, { "[\"\\ud800\\u0041\"]", "the source is a list: byte 2: half of a surrogate pair" },
    { "[\"\\ud800\\ue000\"]", "the source is a list: byte 2: half of a surrogate pair" }, { "[\"\\ud800\\", "the source is a list: byte 2: half of a surrogate pair" },
    { "[\"\\ud800\\u", "the source is a list: byte 2: half of a surrogate pair" }, { "[\"\\ud800x\"]", "the source is a list: byte 2: half of a surrogate pair" },
    { "[\"\\ud800\\n12345\"]", "the source is a list: byte 2: half of a surrogate pair" },
    /* Elements that are no text */
    { "[\"a\", [\"b\"]]", "the source is a list: element 1 is an array, not text" },
    { "[[\"b\"]]", "the source is a list: element 0 is an array, not text" },
    { "[{\"b\":1}]", "the source is a list: element 0 is an object, not text" },
    { "[null]", "the source is a list: element 0 is null, not text" }, { "[ null , \"a\" ]", "the source is a list: element 0 is null, not text" },
    { "[\"a\",true]", "the source is a list: element 1 is a boolean, not text" }, { "[false]", "the source is a list: element 0 is a boolean, not text" },
    { "[\"a\",\"b\",-1.5e3]", "the source is a list: element 2 is a number, not text" }, { "[1]", "the source is a list: element 0 is a number, not text" },
    { "[12, \"a\"]", "the source is a list: element 0 is a number, not text" },
    { "[1, 2] \n", "the source is a list: element 0 is a number, not text" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char *got = read_list(rows[i].text);
    check( zt_list_is(rows[i].text), "%s", rows[i].text );
    check( strcmp(got, rows[i].message)==0, "%s: %s", rows[i].text, got );
    free(got);
  }
}

/* Paths, and patterns that begin with a class of characters. */
TEST(test_what_is_no_list){
  static const char *const texts[] = {
    "", " ", "a", "\"a\"", "{\"a\":1}", "x[\"a\"]", "[", " [", "[[", "[a-z].zt", "[a]", "[0-9].zt", "[0-9]", "[1]*", "[12]/x", "[]a]", "[].zt", "[[]1].zt",
    "[[]", "[[]]", "[nt]*", "[n]", "[none]", "[nullx", "[null].zt", "[true]x", "[1,2]*.zt", "[1,2", "[-a].zt", "[-]", "[!a]*", "[\\\"]", "['a']", "[ab][cd]", "[1][2]",
    "[\v\"a\"]"
  };
  for(size_t i=0; i<COUNT(texts); i++) check( !zt_list_is(texts[i]), "%s", texts[i] );
}

TEST(test_no_memory){
  zt_error err = ZT_ERROR_NONE;
  zt_list list;
  char *element;
  zt_list_init(&list, "[\"a\"]", &err);
  sqlite3_hard_heap_limit64(1);
  assert_false(zt_list_next(&list, &element));
  sqlite3_hard_heap_limit64(0);
  assert_null(element);
  assert_int_equal(err.rc, SQLITE_NOMEM);
  zt_error_clear(&err);
}

int main(void){
  return run_all("list", NULL, NULL);
}
