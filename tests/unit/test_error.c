/* Failures and the place they name: core/error.h, core/interrupt.h. */
#include "test.h"

#include <errno.h>
#include "core/interrupt.h"

static void test_no_failure(void **state){
  zt_error err = ZT_ERROR_NONE;
  (void)state;
  assert_int_equal(err.rc, SQLITE_OK);
  assert_null(err.message);
  zt_error_clear(&err);
  assert_succeeded(&err, "none");
}

static void test_the_message_names_the_place(void **state){
  static const struct { const char *path, *object, *component, *message; } rows[] = {
    { NULL, NULL, NULL, "ztensor: bad 7" },
    { "m.zt", NULL, NULL, "ztensor: m.zt: bad 7" },
    { "m.zt", "w", NULL, "ztensor: m.zt: object 'w': bad 7" },
    { "m.zt", "w", "data", "ztensor: m.zt: object 'w': component 'data': bad 7" },
    { NULL, "w", "data", "ztensor: object 'w': component 'data': bad 7" },
    { NULL, NULL, "data", "ztensor: component 'data': bad 7" },
    { "%s%n%d.zt", "%s%n", "%d", "ztensor: %s%n%d.zt: object '%s%n': component '%d': bad 7" },
    { "", "", "", "ztensor: : object '': component '': bad 7" },
    { "a b.zt", "it's \"w\"", "\xC3\xBC", "ztensor: a b.zt: object 'it's \"w\"': component '\xC3\xBC': bad 7" },
  };
  (void)state;
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

static void test_the_first_failure_wins(void **state){
  zt_error err = ZT_ERROR_NONE;
  (void)state;
  assert_int_equal(zt_fail(&err, SQLITE_TOOBIG, "first"), SQLITE_TOOBIG);
  assert_int_equal(zt_fail(&err, SQLITE_ERROR, "second"), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_nomem(&err), SQLITE_TOOBIG);
  assert_int_equal(zt_fail_os(&err, "open", ENOENT), SQLITE_TOOBIG);
  assert_string_equal(err.message, "ztensor: first");
  zt_error_clear(&err);
  assert_int_equal(zt_fail_nomem(&err), SQLITE_NOMEM);
  assert_int_equal(zt_fail(&err, SQLITE_ERROR, "second"), SQLITE_NOMEM);
  assert_null(err.message);
  zt_error_clear(&err);
}

static void test_the_place_stays_when_a_failure_is_forgotten(void **state){
  zt_error err = ZT_ERROR_NONE;
  (void)state;
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

static void test_the_system_says_why(void **state){
  zt_error err = ZT_ERROR_NONE;
  (void)state;
  err.path = "m.zt";
  assert_int_equal(zt_fail_os(&err, "open", ENOENT), SQLITE_ERROR);
  assert_string_equal(err.message, "ztensor: m.zt: cannot open: No such file or directory");
  zt_error_clear(&err);
  assert_int_equal(zt_fail_os(&err, "open", ENOMEM), SQLITE_NOMEM);   /* Whose fault that is, nobody knows */
  assert_null(err.message);
  zt_error_clear(&err);
}

/* A name may have a gigabyte; a message shows 512 bytes of it, and whole characters. */
static void test_long_names_are_cut_between_characters(void **state){
  static const char *const characters[] = { "a", "\xC3\xBC", "\xE6\xB0\xB4", "\xF0\x90\x85\x91" };
  (void)state;
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

/* The parts lie within the message: names as it shows them, and what is wrong. */
static void test_the_parts_of_a_message(void **state){
  static const struct { const char *path, *object, *component; } rows[] = {
    { NULL, NULL, NULL }, { "m.zt", NULL, NULL }, { NULL, "w", NULL }, { "m.zt", "w", NULL }, { "m.zt", "w", "data" }, { NULL, NULL, "data" },
    { "", "", "" }, { "object 'x': ", "': component '", "': bad" }, { "a: b", "%s", "it's" },
  };
  (void)state;
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
    if( rows[i].object ) assert_true(err.parts.object.z>err.message && err.parts.object.z<end);
    if( rows[i].component ) assert_true(err.parts.component.z>err.message && err.parts.component.z<end);
    assert_int_equal(zt_break(&err, "C8", "worse"), SQLITE_ERROR);   /* The first wins, rule and all */
    assert_string_equal(err.rule, "C7");
    assert_string_equal(err.parts.fault, "bad: 7");
    zt_error_clear(&err);
    assert_true(!err.rule && !err.parts.fault && !err.parts.object.z && !err.parts.component.z);
  }
}

/* Names in a message are cut, and its parts with them; the names themselves may be gone by then. */
static void test_the_parts_of_a_message_outlive_the_names(void **state){
  zt_error err = ZT_ERROR_NONE;
  blob object = { 0 }, component = { 0 };
  (void)state;
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
  assert_memory_equal(err.parts.object.z+512, "...", 3);
  assert_int_equal(err.parts.component.n, 512);
  zt_error_clear(&err);
}

static void test_without_a_message_there_are_no_parts(void **state){
  zt_error err = ZT_ERROR_NONE;
  (void)state;
  err.object = ZT_TEXT("w");
  zt_fail_nomem(&err);
  assert_true(!err.message && !err.parts.fault && !err.parts.object.z && !err.parts.component.z && !err.rule);
  zt_error_clear(&err);
}

static bool yes(void *context){ return *(bool*)context; }

static void test_interrupts(void **state){
  bool stop = false;
  zt_error err = ZT_ERROR_NONE;
  zt_interrupt nobody = { NULL, NULL }, somebody = { yes, &stop };
  (void)state;
  assert_int_equal(zt_interrupt_check(NULL, &err), SQLITE_OK);
  assert_int_equal(zt_interrupt_check(&nobody, &err), SQLITE_OK);
  assert_int_equal(zt_interrupt_check(&somebody, &err), SQLITE_OK);
  assert_succeeded(&err, "not interrupted");
  stop = true;
  assert_int_equal(zt_interrupt_check(&somebody, &err), SQLITE_INTERRUPT);
  assert_string_equal(err.message, "ztensor: interrupted");
  zt_error_clear(&err);
}

int main(void){
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_no_failure),
    cmocka_unit_test(test_the_message_names_the_place),
    cmocka_unit_test(test_the_first_failure_wins),
    cmocka_unit_test(test_the_place_stays_when_a_failure_is_forgotten),
    cmocka_unit_test(test_the_system_says_why),
    cmocka_unit_test(test_long_names_are_cut_between_characters),
    cmocka_unit_test(test_the_parts_of_a_message),
    cmocka_unit_test(test_the_parts_of_a_message_outlive_the_names),
    cmocka_unit_test(test_without_a_message_there_are_no_parts),
    cmocka_unit_test(test_interrupts),
  };
  return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
