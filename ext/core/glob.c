/* Patterns for one name. See paths.h. */
#include "core/paths.h"

#include "core/host.h"
#include "core/utf8.h"

static size_t glob_char_length(const char *z, const char *end){
  return zt_utf8_length((const uint8_t*)z, (size_t)(end-z));
}

/* Returns the n-byte character at z as a comparable value. */
static uint32_t glob_char_value(const char *z, size_t n){
  uint32_t u = 0;
  for(size_t i=0; i<n; i++) u = u<<8 | (unsigned char)z[i];
  return u;
}

/* Matches the class that begins at p ('['). *end is the byte after its ']'; NULL if there is no
** ']', and '[' then matches itself. Returns whether the character is in the class. */
static bool glob_in_class(const char *p, const char *pEnd, uint32_t value, const char **end){
  bool negate = false, found = false, first = true;
  *end = NULL;
  p++;
  if( p<pEnd && (*p=='!' || *p=='^') ){
    negate = true;
    p++;
  }
  while( p<pEnd && (*p!=']' || first) ){
    size_t n = glob_char_length(p, pEnd);
    uint32_t lo = glob_char_value(p, n), hi = lo;
    p += n;
    if( pEnd-p>=2 && p[0]=='-' && p[1]!=']' ){
      n = glob_char_length(p+1, pEnd);
      hi = glob_char_value(p+1, n);
      p += 1+n;
    }
    if( value>=lo && value<=hi ) found = true;
    first = false;
  }
  if( p==pEnd ) return false;
  *end = p+1;
  return found!=negate;
}

/* Returns whether n bytes are equal; with fold, whatever the case of ASCII letters. */
static bool glob_equal(const char *a, const char *b, size_t n, bool fold){
  return fold ? sqlite3_strnicmp(a, b, (int)n)==0 : memcmp(a, b, n)==0;
}

/* Returns whether the character at name matches the next element of the pattern, which is not `*`.
** *pNext is the element after it. */
static bool glob_match_one(const char *p, const char *pEnd, const char *name, size_t nName,
                           bool fold, const char **pNext){
  const char *end;
  size_t n;
  if( *p=='?' ){
    *pNext = p+1;
    return true;
  }
  if( *p=='[' ){
    bool in = glob_in_class(p, pEnd, glob_char_value(name, nName), &end);
    if( end ){
      *pNext = end;
      return in;
    }
  }
  n = glob_char_length(p, pEnd);
  *pNext = p+n;
  return n==nName && glob_equal(p, name, n, fold);
}

/* Returns whether the rest of the pattern, behind its last `*`, is a literal suffix that begins at
** a character boundary. */
static bool glob_is_ending(const char *p, const char *pEnd){
  if( p<pEnd && (unsigned char)*p>=0x80 ) return false;
  while( p<pEnd && *p!='*' && *p!='?' && *p!='[' ) p++;
  return p==pEnd;
}

static bool glob_match(const char *pattern, size_t n, const char *name, bool fold){
  const char *p = pattern, *pEnd = pattern+n, *end = name+strlen(name), *next;
  /* The last `*`, and the first character that it does not match yet */
  const char *star = NULL, *retry = NULL;
  while( name<end ){
    size_t nName = glob_char_length(name, end);
    if( p<pEnd && *p=='*' ){
      star = ++p;
      retry = name;
      if( glob_is_ending(p, pEnd) ){
        const size_t rest = (size_t)(pEnd-p);
        return (size_t)(end-name)>=rest && glob_equal(end-rest, p, rest, fold);
      }
    }else if( p<pEnd && glob_match_one(p, pEnd, name, nName, fold, &next) ){
      p = next;
      name += nName;
    }else if( star ){
      p = star;
      retry += glob_char_length(retry, end);
      name = retry;
    }else{
      return false;
    }
  }
  while( p<pEnd && *p=='*' ) p++;
  return p==pEnd;
}

bool zt_glob_match(const char *pattern, size_t n, const char *name){
  return glob_match(pattern, n, name, false);
}

bool zt_glob_match_any(const char *patterns, const char *name){
  const char *p = patterns;
  for(size_t n; *p; p+=n+(p[n]==' ')){
    n = strcspn(p, " ");
    if( glob_match(p, n, name, true) ) return true;
  }
  return false;
}

bool zt_glob_is_pattern(const char *source){
  return strpbrk(source, "*?[")!=NULL;
}
