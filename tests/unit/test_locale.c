/*
** Reals in JSON where the host has set a locale with another decimal point: core/json.h. test_json.c has what needs no
** such locale.
*/
#include "real_text.h"

#include <locale.h>
#include "container/pickle_text.h"

/* A locale that localedef(1) makes, if that is there, with another decimal point. */
static bool make_locale(const char *directory, const char *point){
  char path[64], source[256], command[256];
  snprintf(path, sizeof(path), "%s/source", directory);
  snprintf(source, sizeof(source), "comment_char %%\nescape_char /\nLC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"\"\n"
           "grouping -1\nEND LC_NUMERIC\n", point);
  write_file(path, source, strlen(source));
  snprintf(command, sizeof(command), "localedef -c -i %s/source -f UTF-8 %s/made.UTF-8 >/dev/null 2>&1", directory, directory);
  (void)!system(command);
  setenv("LOCPATH", directory, 1);
  return setlocale(LC_NUMERIC, "made.UTF-8")!=NULL;
}

/* Locales of this system with another decimal point, if it has any; if not, one that is made. */
static bool set_comma_locale(const char *directory){
  static const char *const names[] = {
    "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR", "ru_RU.UTF-8", "es_ES.UTF-8", "German", "French"
  };
  for(size_t i=0; i<COUNT(names); i++) if( setlocale(LC_NUMERIC, names[i]) ) return true;
  return make_locale(directory, ",");
}

TEST(test_the_hosts_locale_changes_nothing){
  static const double reals[] = { 0.5, 1.5, -1234567.25, 1e-7, 1.7976931348623157e308, 0.1, 3.0, 1e23 };
  char directory[] = "/tmp/ztensor-locale-XXXXXX", expected[COUNT(reals)][64], z[64];
  bool comma;
  assert_non_null(mkdtemp(directory));
  for(size_t i=0; i<COUNT(reals); i++) real_text(reals[i], expected[i], sizeof(expected[i]));
  comma = set_comma_locale(directory);
  assert_int_equal(strcmp(localeconv()->decimal_point, ",")==0, comma);
  for(size_t i=0; i<COUNT(reals); i++){
    real_text(reals[i], z, sizeof(z));
    assert_string_equal(z, expected[i]);
  }
  setlocale(LC_NUMERIC, "C");
  for(size_t i=0; i<COUNT(reals); i++) assert_true(strtod(expected[i], NULL)==reals[i]);
  assert_int_equal(remove_all(directory), 0);
}

/* The longest real of a pickle, where a decimal point takes two bytes, as in Persian. */
TEST(test_a_decimal_point_of_several_bytes){
  char directory[] = "/tmp/ztensor-locale-XXXXXX", digits[401];
  double real = 0;
  assert_non_null(mkdtemp(directory));
  const bool made = make_locale(directory, "<U066B>");
  assert_int_equal(strlen(localeconv()->decimal_point), made ? 2 : 1);
  memset(digits, '0', 400);
  memcpy(digits+398, ".5", 3);
  assert_null(zt_pickle_real((zt_span){ (const uint8_t*)digits, 400 }, &real));
  assert_true(real==0.5);
  setlocale(LC_NUMERIC, "C");
  assert_int_equal(remove_all(directory), 0);
}

int main(void){
  return run_all("locale", NULL, NULL);
}
