/* The pattern language of one name: zt_glob_match() and zt_glob_is_pattern() of core/paths.h. */
#include "test.h"

#include "core/paths.h"

/* A row's name matches the pattern, or does not. */
typedef struct row { const char *pattern, *name; bool matches; } row;

static void check_rows(const row *rows, size_t n){
  for(size_t i=0; i<n; i++){
    blob pattern = exact(rows[i].pattern, strlen(rows[i].pattern)), name = exact(rows[i].name, strlen(rows[i].name)+1);
    blob longer = { 0 };
    check( zt_glob_match((char*)pattern.p, pattern.n, (char*)name.p)==rows[i].matches, "'%s' and '%s'", rows[i].pattern,
        rows[i].name );
    put(&longer, pattern.p, pattern.n);   /* The pattern ends at n bytes, whatever follows */
    put(&longer, "/*]", 4);
    check( zt_glob_match((char*)longer.p, pattern.n, (char*)name.p)==rows[i].matches, "'%s' and '%s'", rows[i].pattern,
        rows[i].name );
    free(longer.p);
    free(pattern.p);
    free(name.p);
  }
}

TEST(test_names_without_special_characters){
  static const row rows[] = {
    { "", "", true }, { "", "a", false }, { "a", "", false }, { "a", "a", true }, { "a", "b", false }, { "a", "A", false },
    { "a", "aa", false }, { "aa", "a", false }, { "model.zt", "model.zt", true }, { "model.zt", "model_zt", false },
    { "]", "]", true }, { "!", "!", true }, { "-", "-", true }, { "\\a", "\\a", true }, { "\\*", "\\xyz", true },
    { "\\*", "*", false },
    { "{a,b}", "{a,b}", true }, { "{a,b}", "a", false },
    { "\xC3\xBC", "\xC3\xBC", true }, { "\xC3\xBC", "\xC3\xB6", false }, { "\xC3\xBC", "u", false }, { "\xFF", "\xFF", true },
    { "\xFF", "\xFE", false },
  };
  check_rows(rows, COUNT(rows));
}

TEST(test_star){
  static const row rows[] = {
    { "*", "", true }, { "*", "a", true }, { "*", "abc", true }, { "*", ".hidden", true }, { "**", "", true },
    { "**", "abc", true }, { "***", "a", true },
    { "*a", "a", true }, { "*a", "ba", true }, { "*a", "ab", false }, { "*a", "", false }, { "a*", "a", true },
    { "a*", "ab", true }, { "a*", "ba", false },
    { "*.zt", ".zt", true }, { "*.zt", "a.zt", true }, { "*.zt", "a.zt.zt", true }, { "*.zt", "a.ztx", false },
    { "*.zt", "zt", false }, { "*.zt", "a.ZT", false },
    { "a*b*c", "abc", true }, { "a*b*c", "aXbYc", true }, { "a*b*c", "acb", false }, { "a*b*c", "abcbc", true },
    { "a*b*c", "abcb", false },
    { "*ab*", "xaab", true }, { "*ab*", "xaxb", false }, { "*aab", "aaab", true }, { "*aab", "aaaab", true },
    { "a*a", "a", false }, { "a*a", "aa", true },
    /* Not within a character */
    { "*\xC3\xBC*", "x\xC3\xBCy", true }, { "*\xC3\xBC", "\xC3\xB6\xC3\xBC", true }, { "*\xBC", "\xC3\xBC", false },
    { "*\xFF", "a\xFF", true }, { "*", "\xFF\xFE", true },
  };
  check_rows(rows, COUNT(rows));
}

TEST(test_question_mark){
  static const row rows[] = {
    { "?", "", false }, { "?", "a", true }, { "?", "ab", false }, { "??", "ab", true }, { "??", "a", false },
    { "a?c", "abc", true }, { "a?c", "ac", false },
    { "?", ".", true }, { "?", "\xC3\xBC", true }, { "??", "\xC3\xBC", false }, { "?", "\xE6\xB0\xB4", true },
    { "?", "\xF0\x90\x85\x91", true },
    /* A byte that begins no character is one */
    { "??", "\xF0\x90\x85\x91z", true }, { "?", "\xFF", true }, { "??", "\xC3(", true }, { "?", "\xC3(", false },
    { "?", "\xC3", true }, { "*?", "", false }, { "*?", "a", true }, { "?*?", "a", false }, { "?*?", "ab", true },
    { "shard-???.zt", "shard-007.zt", true },
    { "shard-???.zt", "shard-07.zt", false },
  };
  check_rows(rows, COUNT(rows));
}

TEST(test_classes){
  static const row rows[] = {
    { "[a]", "a", true }, { "[a]", "b", false }, { "[a]", "", false }, { "[a]", "aa", false }, { "[abc]", "b", true },
    { "[abc]", "d", false },
    { "[a-c]", "a", true }, { "[a-c]", "b", true }, { "[a-c]", "c", true }, { "[a-c]", "d", false }, { "[a-c]", "-", false },
    { "[a-c]", "A", false },
    { "[a-a]", "a", true }, { "[c-a]", "b", false }, { "[c-a]", "c", false }, { "[a-cx-z]", "y", true },
    { "[a-cx-z]", "d", false }, { "[0-9][0-9]", "42", true },
    { "[!a]", "b", true }, { "[!a]", "a", false }, { "[!a]", "", false }, { "[^a]", "b", true }, { "[^a]", "a", false },
    { "[!a-c]", "b", false }, { "[!a-c]", "d", true },
    { "[a!]", "!", true }, { "[a^]", "^", true }, { "[!!]", "!", false }, { "[!!]", "a", true }, { "[^^]", "^", false },
    { "[]]", "]", true }, { "[]]", "a", false }, { "[]a]", "a", true }, { "[]a]", "]", true }, { "[!]]", "]", false },
    { "[!]]", "a", true }, { "[!]a]", "b", true }, { "[!]a]", "a", false },
    { "[a-]", "-", true }, { "[a-]", "a", true }, { "[a-]", "b", false }, { "[-a]", "-", true }, { "[-a]", "a", true },
    { "[!-]", "-", false }, { "[!-]", "a", true }, { "[--/]", ".", true },
    { "[[]", "[", true }, { "[[]a", "[a", true }, { "[*]", "*", true }, { "[*]", "a", false }, { "[?]", "?", true },
    { "[?]", "a", false },
    { "[\\]", "\\", true }, { "[]-a]", "^", true }, { "[]-a]", "b", false },
    { "[\xC3\xBC]", "\xC3\xBC", true }, { "[\xC3\xBC]", "\xC3\xB6", false }, { "[!\xC3\xBC]", "\xC3\xB6", true },
    { "[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true },
    { "[\xC3\xA4-\xC3\xBC]", "\xC3\x9F", false }, { "[a-\xE6\xB0\xB4]", "\xC3\xB6", true }, { "[a-z]", "\xC3\xB6", false },
    { "x[ab]*", "xa", true }, { "x[ab]*", "xbcd", true }, { "x[ab]*", "xcd", false }, { "*[0-9]", "a1b2", true },
    { "*[0-9]", "a1b", false }, { "*[!0-9]", "12a", true }, { "*[!0-9]", "12", false },
  };
  check_rows(rows, COUNT(rows));
}

/* A class that is not closed: the bracket stands for itself. */
TEST(test_classes_without_an_end){
  static const row rows[] = {
    { "[", "[", true }, { "[", "a", false }, { "[a", "[a", true }, { "[a", "a", false }, { "[]", "[]", true },
    { "[]", "]", false }, { "[!", "[!", true }, { "[!]", "[!]", true },
    { "[!]", "a", false }, { "[^]", "[^]", true }, { "[a-", "[a-", true }, { "[a-z", "[a-z", true }, { "[a-z", "m", false },
    { "[*", "[anything", true }, { "a[", "a[", true },
    { "*[", "x[", true }, { "*[", "x", false }, { "[[a]", "[a", false }, { "[[a]", "[", true }, { "[[a]", "a", true },
    { "[\xC3", "[\xC3", true },
  };
  check_rows(rows, COUNT(rows));
}

/* --- All short patterns against a recursive reference --- */

static bool reference(const char *p, const char *z){
  if( *p==0 ) return *z==0;
  if( *p=='*' ) return reference(p+1, z) || (*z && reference(p, z+1));
  return *z && (*p=='?' || *p==*z) && reference(p+1, z+1);
}

/* The i-th text over the alphabet, of any length, by counting. */
static void nth(size_t i, const char *alphabet, char *z){
  size_t base = strlen(alphabet);
  for(; i>0; i = (i-1)/base) *z++ = alphabet[(i-1)%base];
  *z = 0;
}

TEST(test_all_short_patterns){
  char pattern[16], name[16];
  unsigned matching = 0;
  for(size_t i=0; i<1365; i++){          /* Up to 5 of 4 characters */
    nth(i, "ab*?", pattern);
    for(size_t j=0; j<127; j++){         /* Up to 6 of 2 */
      bool expected;
      nth(j, "ab", name);
      expected = reference(pattern, name);
      matching += expected;
      check( zt_glob_match(pattern, strlen(pattern), name)==expected, "'%s' and '%s'", pattern, name );
    }
  }
  assert_true(matching>20000);
}

/* Many stars must not take exponential time. */
TEST(test_many_stars_take_no_time){
  char pattern[201], name[5001];
  for(size_t i=0; i<200; i += 2) memcpy(pattern+i, "*a", 3);
  memset(name, 'a', 5000);
  name[5000] = 0;
  assert_true(zt_glob_match(pattern, 200, name));
  name[4999] = 'b';
  assert_false(zt_glob_match(pattern, 200, name));
}

TEST(test_what_is_a_pattern){
  assert_true(zt_glob_is_pattern("*"));
  assert_true(zt_glob_is_pattern("a/b?/c"));
  assert_true(zt_glob_is_pattern("a[1].zt"));
  assert_true(zt_glob_is_pattern("["));
  assert_true(zt_glob_is_pattern("dir*/model.zt"));
  assert_false(zt_glob_is_pattern(""));
  assert_false(zt_glob_is_pattern("/a/b.zt"));
  assert_false(zt_glob_is_pattern("a].zt{}!^-\\"));
}

TEST(test_names_of_files_in_either_case){
  assert_true(zt_glob_match_any("*.pt *model*.bin", "A.PT"));
  assert_true(zt_glob_match_any("*.pt *model*.bin", "My-Model-1.Bin"));
  assert_false(zt_glob_match_any("*.pt *model*.bin", "A.PTH"));
  assert_false(zt_glob_match("*.pt", 4, "A.PT"));
}

int main(void){
  return run_all("glob", NULL, NULL);
}
