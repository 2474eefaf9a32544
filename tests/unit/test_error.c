/* Failures and the place they name: core/error.h, core/interrupt.h. */
#include "test.h"

#include <errno.h>
#include "core/interrupt.h"

TEST(test_no_failure){
  zt_error err = ZT_ERROR_NONE;
  assert_int_equal(err.rc, SQLITE_OK);
  assert_null(err.message);
  zt_error_clear(&err);
  assert_succeeded(&err, "none");
}

TEST(test_the_message_names_the_place){
  static const struct { const char *path, *object, *component, *message; } rows[] = {
    { NULL, NULL, NULL, "ztensor: bad 7" },
    { "m.zt", NULL, NULL, "ztensor: m.zt: bad 7" },
    { "m.zt", "w", NULL, "ztensor: m.zt: object 'w': bad 7" },
    { "m.zt", "w", "data", "ztensor: m.zt: object 'w': component 'data': bad 7" },
    { NULL, "w", "data", "ztensor: object 'w': component 'data': bad 7" },
    { NULL, NULL, "data", "ztensor: component 'data': bad 7" },
    { "%s%n%d.zt", "%s%n", "%d", "ztensor: %s%n%d.zt: object '%s%n': component '%d': bad 7" },
    { "", "", "", "ztensor: '': object '': component '': bad 7" },
    { "a b.zt", "it's \"w\"", "\xC3\xBC", "ztensor: a b.zt: object 'it's \"w\"': component '\xC3\xBC': bad 7" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    blob object = exact(rows[i].object, rows[i].object ? strlen(rows[i].object) : 0);   /* Not NUL-terminated */
    err.path = rows[i].path;
    if( rows[i].object ) err.object = (zt_text){ object.n ? (char*)object.p : "", object.n };
    if( rows[i].component ) err.component = (zt_text){ rows[i].component, strlen(rows[i].component) };
    assert_int_equal(zt_fail(&err, SQLITE_ERROR, "%s %d", "bad", 7), SQLITE_ERROR);
    assert_int_equal(err.rc, SQLITE_ERROR);
    assert_string_equal(err.message, rows[i].message);
    zt_error_clear(&err);
    free(object.p);
  }
}

TEST(test_the_first_failure_wins){
  zt_error err = ZT_ERROR_NONE;
  assert_int_equal(zt_fail(&err, SQLITE_TOOBIG, "first"), SQLITE_TOOBIG);
  assert_int_equal(zt_fail(&err, SQLITE_ERROR, "second"), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_nomem(&err), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_os(&err, "open", ENOENT), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_changing(&err, "second"), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_remote(&err, "denied", "second"), SQLITE_TOOBIG);
  assert_true(!err.changing && !err.kind);
  assert_string_equal(err.message, "ztensor: first");
  zt_error_clear(&err);
  assert_int_equal(zt_fail_nomem(&err), SQLITE_NOMEM);
  assert_int_equal(zt_fail(&err, SQLITE_ERROR, "second"), SQLITE_NOMEM);
  assert_null(err.message);
  zt_error_clear(&err);
}

TEST(test_the_place_stays_when_a_failure_is_forgotten){
  zt_error err = ZT_ERROR_NONE;
  err.path = "m.zt";
  err.object = ZT_TEXT("w");
  zt_fail(&err, SQLITE_ERROR, "first");
  zt_error_clear(&err);
  assert_int_equal(err.rc, SQLITE_OK);
  assert_null(err.message);
  zt_fail(&err, SQLITE_ERROR, "second");
  assert_string_equal(err.message, "ztensor: m.zt: object 'w': second");
  zt_error_clear(&err);
}

TEST(test_the_system_says_why){
  zt_error err = ZT_ERROR_NONE;
  err.path = "m.zt";
  assert_int_equal(zt_fail_os(&err, "open", ENOENT), SQLITE_ERROR);
  assert_string_equal(err.message, "ztensor: m.zt: cannot open: No such file or directory");
  zt_error_clear(&err);
  assert_int_equal(zt_fail_os(&err, "open", ENOMEM), SQLITE_NOMEM);   /* The cause is unknown */
  assert_null(err.message);
  zt_error_clear(&err);
}

/* A name may have a gigabyte; a message shows 512 bytes of it, and whole characters. */
TEST(test_long_names_are_cut_between_characters){
  static const char *const characters[] = { "a", "\xC3\xBC", "\xE6\xB0\xB4", "\xF0\x90\x85\x91" };
  for(size_t c=0; c<COUNT(characters); c++){
    for(size_t shift=0; shift<4; shift++){
      for(size_t n=500; n<=520; n++){
        zt_error err = ZT_ERROR_NONE;
        size_t length = strlen(characters[c]), shown;
        blob name = { 0 }, expected = { 0 };
        put_repeated(&name, '-', shift);
        while( name.n+length<=n ) put(&name, characters[c], length);
        name = seal(&name);
        shown = name.n<=512 ? name.n : shift + (512-shift)/length*length;
        put(&expected, "ztensor: object '", 17);
        put(&expected, name.p, shown);
        put(&expected, name.n>512 ? "...': bad" : "': bad", name.n>512 ? 10 : 7);
        err.object = (zt_text){ (char*)name.p, name.n };
        zt_fail(&err, SQLITE_ERROR, "bad");
        assert_string_equal(err.message, (char*)expected.p);
        zt_error_clear(&err);
        free(expected.p);
        free(name.p);
      }
    }
  }
}

/* Bytes of which none begins a character are cut away whole. */
TEST(test_long_names_without_characters){
  char name[600];
  memset(name, 0x80, sizeof(name));
  assert_int_equal(zt_shown((zt_text){ name, 512 }), 512);
  assert_int_equal(zt_shown((zt_text){ name, sizeof(name) }), 0);
}

/* The parts lie in the message's memory: what is wrong is its end, names as they are stand behind it. */
TEST(test_long_paths_are_cut_between_characters){
  static const char beginning[] = "ztensor: xxx", end[] = "...: broken";
  char path[5001] = "xxx";
  zt_error e = { .path = path };
  for(int i=3; i+2<=5000; i+=2) memcpy(path+i, "\xC3\xA4", 2);
  zt_fail(&e, SQLITE_ERROR, "broken");
  assert_memory_equal(e.message, beginning, strlen(beginning));
  assert_int_equal(strlen(e.message), strlen("ztensor: ")+4095+strlen(end));
  assert_string_equal(e.message+strlen(e.message)-strlen(end), end);
  assert_memory_equal(e.message+strlen(e.message)-strlen(end)-2, "\xC3\xA4", 2);
  zt_error_clear(&e);
  path[4096-1] = 0;
  zt_fail(&e, SQLITE_ERROR, "broken");
  assert_int_equal(strlen(e.message), strlen("ztensor: ")+4095+strlen(": broken"));
  zt_error_clear(&e);
}

TEST(test_the_parts_of_a_message){
  static const struct { const char *path, *object, *component; } rows[] = {
    { NULL, NULL, NULL }, { "m.zt", NULL, NULL }, { NULL, "w", NULL }, { "m.zt", "w", NULL }, { "m.zt", "w", "data" }, { NULL, NULL, "data" },
    { "", "", "" }, { "object 'x': ", "': component '", "': bad" }, { "a: b", "%s", "it's" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    const char *end;
    err.path = rows[i].path;
    if( rows[i].object ) err.object = (zt_text){ rows[i].object, strlen(rows[i].object) };
    if( rows[i].component ) err.component = (zt_text){ rows[i].component, strlen(rows[i].component) };
    assert_int_equal(zt_break(&err, "C7", "bad: %d", 7), SQLITE_ERROR);
    assert_string_equal(err.rule, "C7");
    end = err.message+strlen(err.message);
    assert_string_equal(err.parts.fault, "bad: 7");
    assert_ptr_equal(err.parts.fault+6, end);
    if( rows[i].object ) assert_text(err.parts.object, rows[i].object, rows[i].object);
    else assert_null(err.parts.object.z);
    if( rows[i].component ) assert_text(err.parts.component, rows[i].component, rows[i].component);
    else assert_null(err.parts.component.z);
    if( rows[i].object ) assert_true(err.parts.object.z>end);
    if( rows[i].component ) assert_true(err.parts.component.z>end);
    assert_int_equal(zt_break(&err, "C8", "worse"), SQLITE_ERROR);   /* The first wins, rule and all */
    assert_string_equal(err.rule, "C7");
    assert_string_equal(err.parts.fault, "bad: 7");
    zt_error_clear(&err);
    assert_true(!err.rule && !err.parts.fault && !err.parts.object.z && !err.parts.component.z);
  }
}

/* Names in a message are cut, and its parts with them; the names themselves may be gone by then. */
TEST(test_the_parts_of_a_message_outlive_the_names){
  zt_error err = ZT_ERROR_NONE;
  blob object = { 0 }, component = { 0 };
  put_repeated(&object, 'o', 3000);
  put_repeated(&component, 'c', 512);
  err.object = (zt_text){ (char*)object.p, object.n };
  err.component = (zt_text){ (char*)component.p, component.n };
  zt_fail(&err, SQLITE_ERROR, "bad");
  memset(object.p, 'x', object.n);
  memset(component.p, 'x', component.n);
  free(object.p);
  free(component.p);
  assert_null(err.rule);
  assert_string_equal(err.parts.fault, "bad");
  assert_int_equal(err.parts.object.n, 512);   /* Without the dots */
  assert_memory_equal(err.parts.object.z, "ooo", 3);
  assert_int_equal(err.parts.component.n, 512);
  zt_error_clear(&err);
}

/* Texts of files, and how a message shows them. */
static const struct { const char *text; size_t n; const char *shown; } unseen[] = {
  { "", 0, "" }, { "plain", 5, "plain" }, { "it's \"w\"", 8, "it's \"w\"" }, { "C:\\x", 4, "C:\\x" }, { "%s%n", 4, "%s%n" },
  { "\xC3\xBC\xE6\xB0\xB4\xF0\x90\x85\x91", 9, "\xC3\xBC\xE6\xB0\xB4\xF0\x90\x85\x91" },
  /* Control characters of a terminal */
  { "a\nb", 3, "a\\nb" }, { "\r\t", 2, "\\r\\t" }, { "\x1b[31mred", 8, "\\x1b[31mred" }, { "\a\b", 2, "\\x07\\x08" },
  { "\x1f \x7e\x7f", 4, "\\x1f ~\\x7f" }, { "a\0b", 3, "a\\x00b" },
  { "\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0", 8, "\\u0080\\u009b\\u009f\xC2\xA0" },
  /* Direction of writing, and what has no width */
  { "\xE2\x80\xAE" "abc", 6, "\\u202eabc" }, { "\xE2\x80\xAA\xE2\x81\xA6\xE2\x81\xA9", 9, "\\u202a\\u2066\\u2069" },
  { "\xD8\x9C\xE2\x80\x8B\xE2\x80\x8F", 8, "\\u061c\\u200b\\u200f" },
  { "\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF", 9, "\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF" },
  { "\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\xEF\xBF\xB9", 12, "\\u2028\\u2029\\ufeff\\ufff9" },
  { "\xF3\xA0\x81\x81", 4, "\\U000e0041" },
  /* No UTF-8 */
  { "\x80" "a", 2, "\\x80a" }, { "a\xC3", 2, "a\\xc3" }, { "\xE2\x80", 2, "\\xe2\\x80" }, { "\xED\xA0\x80", 3, "\\xed\\xa0\\x80" },
  { "\xC0\x9B\xFF", 3, "\\xc0\\x9b\\xff" }
};

TEST(test_what_cannot_be_seen_is_escaped_in_names){
  for(size_t i=0; i<COUNT(unseen); i++){
    zt_error err = ZT_ERROR_NONE;
    blob name = exact(unseen[i].text, unseen[i].n);
    char expected[256];
    err.object = err.component = (zt_text){ name.n ? (char*)name.p : "", name.n };
    snprintf(expected, sizeof(expected), "ztensor: object '%s': component '%s': bad", unseen[i].shown, unseen[i].shown);
    zt_fail(&err, SQLITE_ERROR, "bad");
    assert_string_equal(err.message, expected);
    /* The parts are the names as they are. */
    assert_true(err.parts.object.n==name.n && memcmp(err.parts.object.z, unseen[i].text, name.n)==0);
    assert_true(err.parts.component.n==name.n && memcmp(err.parts.component.z, unseen[i].text, name.n)==0);
    zt_error_clear(&err);
    free(name.p);
  }
}

TEST(test_what_cannot_be_seen_is_escaped_in_paths_and_faults){
  for(size_t i=0; i<COUNT(unseen); i++){
    zt_error err = ZT_ERROR_NONE, again = ZT_ERROR_NONE;
    const char *shown = unseen[i].shown, *place = unseen[i].n ? shown : "''";
    char expected[256];
    if( strlen(unseen[i].text)!=unseen[i].n ) continue;
    err.path = err.shard = unseen[i].text;
    snprintf(expected, sizeof(expected), "ztensor: %s: shard %s: dtype '%s'", place, place, shown);
    zt_fail(&err, SQLITE_ERROR, "dtype '%.*s'", (int)unseen[i].n, unseen[i].text);
    assert_string_equal(err.message, expected);
    assert_string_equal(err.parts.fault, strstr(expected, "shard"));
    zt_fail(&again, SQLITE_ERROR, "%s", err.parts.fault);   /* Escaped text stays as it is */
    assert_string_equal(again.parts.fault, err.parts.fault);
    zt_error_clear(&again);
    zt_error_clear(&err);
  }
}

TEST(test_without_a_message_there_are_no_parts){
  zt_error err = ZT_ERROR_NONE;
  err.object = ZT_TEXT("w");
  zt_fail_nomem(&err);
  assert_true(!err.message && !err.parts.fault && !err.parts.object.z && !err.parts.component.z && !err.rule);
  zt_error_clear(&err);
}

static bool yes(void *context){ return *(bool*)context; }

TEST(test_interrupts){
  bool stop = false;
  zt_error err = ZT_ERROR_NONE;
  zt_interrupt nobody = { NULL, NULL }, somebody = { yes, &stop };
  assert_int_equal(zt_interrupt_check(NULL, &err), SQLITE_OK);
  assert_int_equal(zt_interrupt_check(&nobody, &err), SQLITE_OK);
  assert_int_equal(zt_interrupt_check(&somebody, &err), SQLITE_OK);
  assert_succeeded(&err, "not interrupted");
  stop = true;
  assert_int_equal(zt_interrupt_check(&somebody, &err), SQLITE_INTERRUPT);
  assert_int_equal(err.rc, SQLITE_INTERRUPT);
  assert_null(err.message);   /* SQLite has its own words: hosts know them */
  zt_error_clear(&err);
  zt_fail(&err, SQLITE_ERROR, "first");
  assert_int_equal(zt_fail_interrupt(&err), SQLITE_ERROR);
  zt_error_clear(&err);
}

/* The query may be a credential. In a local path, a question mark is an ordinary character. */
TEST(test_the_query_of_a_url_is_not_shown){
  static const struct { const char *path, *message; } rows[] = {
    { "https://h/m.zt?key=secret&b", "ztensor: https://h/m.zt?...: no" }, { "s3://b/k?", "ztensor: s3://b/k?: no" },
    { "https://h/m.zt", "ztensor: https://h/m.zt: no" }, { "file:///a?b", "ztensor: file:///a?b: no" },
    { "a/m?.zt", "ztensor: a/m?.zt: no" }, { "C://m?.zt", "ztensor: C://m?.zt: no" }
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    zt_error err = { .path = rows[i].path };
    zt_fail(&err, SQLITE_ERROR, "no");
    assert_string_equal(err.message, rows[i].message);
    zt_error_clear(&err);
  }
}

/* Nor is the user of a web server's URL, who may be one; in other URLs and paths, @ is an ordinary character. */
TEST(test_the_user_of_a_url_is_not_shown){
  static const struct { const char *path, *message; } rows[] = {
    { "https://me:secret@h/m.zt", "ztensor: https://...@h/m.zt: no" }, { "HTTP://secret@h", "ztensor: HTTP://...@h: no" },
    { "https://a@secret@h/m.zt?key=secret", "ztensor: https://...@h/m.zt?...: no" }, { "https://@h/", "ztensor: https://...@h/: no" },
    { "https://h/a@b.zt", "ztensor: https://h/a@b.zt: no" }, { "https://h#a@b", "ztensor: https://h#a@b: no" },
    { "https://h?a@b", "ztensor: https://h?...: no" },
    { "hf://o/r@main/m.zt", "ztensor: hf://o/r@main/m.zt: no" }, { "s3://b@c/m.zt", "ztensor: s3://b@c/m.zt: no" },
    { "http/me@h", "ztensor: http/me@h: no" }, { "me@h", "ztensor: me@h: no" },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = { .path = rows[i].path };
    zt_fail(&err, SQLITE_ERROR, "no");
    assert_string_equal(err.message, rows[i].message);
    zt_error_clear(&err);
  }
}

TEST(test_kinds){
  static const struct { int system; const char *kind; } rows[] = {
    { EACCES, "denied" }, { EPERM, "denied" }, { ENOENT, "missing" }, { ENOTDIR, "missing" }, { ENAMETOOLONG, "missing" },
    { EIO, "transient" }, { EMFILE, "transient" }, { 0, "unknown" },
#ifdef ESTALE   /* Windows has none */
    { ESTALE, "transient" },
#endif
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_error err = ZT_ERROR_NONE;
    if( rows[i].system ) zt_fail_os(&err, "open", rows[i].system);
    else zt_fail(&err, SQLITE_ERROR, "it is a directory");
    check( strcmp(zt_error_kind(&err), rows[i].kind)==0, "%d: %s", rows[i].system, zt_error_kind(&err) );
    zt_error_clear(&err);
  }
  zt_error err = { .system = ENOENT, .kind = "denied", .rc = SQLITE_ERROR };   /* A server's answer has more weight */
  assert_string_equal(zt_error_kind(&err), "denied");
  err = (zt_error){ .rc = SQLITE_ERROR, .changing = true };
  assert_string_equal(zt_error_kind(&err), "transient");
  err = (zt_error){ .rc = SQLITE_ERROR, .rule = "S1" };   /* The rule tells its own */
  assert_null(zt_error_kind(&err));
  err = (zt_error){ .rc = SQLITE_NOMEM };
  assert_null(zt_error_kind(&err));
}

int main(void){
  return run_all("error", NULL, NULL);
}
