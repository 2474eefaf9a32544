/* A list of texts. See list.h. */
#include "core/list.h"

#include "core/host.h"

#define LIST_BLANKS " \t\n\r"
#define LIST_DIGITS "0123456789"
#define LIST_NONE UINT32_MAX   /* No character */

/* --- What is a list --- */

/* True if nothing but blanks follows. */
static bool list_ends(const char *z){
  return z[strspn(z, LIST_BLANKS)]==0;
}

/* Bytes of the literal or integer that begins at z, 0 if there is none. */
static size_t list_word(const char *z){
  static const char *const literals[] = { "null", "true", "false" };
  size_t sign = z[0]=='-', digits = strspn(z+sign, LIST_DIGITS);
  for(size_t i=0; i<sizeof(literals)/sizeof(*literals); i++){
    if( strncmp(z, literals[i], strlen(literals[i]))==0 ) return strlen(literals[i]);
  }
  return digits ? sign+digits : 0;
}

/* True for the last byte of a list, as far as that can be told from behind. */
static bool list_is_closed(const char *z){
  size_t n = strlen(z);
  while( n>0 && strchr(LIST_BLANKS, z[n-1]) ) n--;
  return n>0 && z[n-1]==']';
}

bool zt_list_is(const char *text){
  const char *z = text + strspn(text, LIST_BLANKS);
  bool nested;
  size_t n;
  if( *z!='[' ) return false;
  z += 1+strspn(z+1, LIST_BLANKS);
  nested = *z=='[';
  z += strspn(z, "[" LIST_BLANKS);
  if( *z=='"' || *z=='{' ) return true;
  if( nested ) return false;
  n = list_word(z);
  z += n;
  z += strspn(z, LIST_BLANKS);
  if( n>0 && *z==',' ) return list_is_closed(z);
  return *z==']' && list_ends(z+1);
}

/* --- Elements --- */

static void list_blanks(zt_list *l){
  l->at += strspn(l->text+l->at, LIST_BLANKS);
}

/* Record what is wrong at the byte where the list stands. */
static void list_broken(const zt_list *l, const char *what, zt_error *err){
  uint64_t at = l->at;
  zt_fail(err, SQLITE_ERROR, "the source is a list: byte %llu: %s", at, what);
}

/* What an element is that begins with that character, and is no text; NULL: nothing. */
static const char *list_type(const char *z){
  switch( *z ){
    case '[': return "an array";
    case '{': return "an object";
    case 'n': return list_word(z) ? "null" : NULL;
    case 't': case 'f': return list_word(z) ? "a boolean" : NULL;
    default:  return list_word(z) ? "a number" : NULL;
  }
}

static void list_no_text(const zt_list *l, zt_error *err){
  const char *z = l->text+l->at, *type = list_type(z);
  uint64_t n = l->n;
  if( !*z ) list_broken(l, "it ends without ]", err);
  else if( !type ) list_broken(l, "no text begins here", err);
  else zt_fail(err, SQLITE_ERROR, "the source is a list: element %llu is %s, not text", n, type);
}

/* The four digits of an escape. */
static uint32_t list_digits(const char *z){
  uint32_t u = 0;
  for(int i=0; i<4; i++){
    int digit = zt_hex_digit(z[i]);
    if( digit<0 ) return LIST_NONE;
    u = u<<4 | (uint32_t)digit;
  }
  return u;
}

/* The character of an escape, of which p is the byte behind the backslash; *n: how many bytes it
** takes from there. */
static uint32_t list_escape(const char *p, size_t *n){
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const char *name = *p ? strchr(names, *p) : NULL;
  uint32_t u, low;
  *n = 1;
  if( name ) return (unsigned char)meanings[name-names];
  if( *p!='u' ) return LIST_NONE;
  *n = 5;
  u = list_digits(p+1);
  if( u<0xD800 || u>0xDFFF ) return u>0 ? u : LIST_NONE;
  if( u>0xDBFF || p[5]!='\\' || p[6]!='u' ) return LIST_NONE;
  *n = 11;
  low = list_digits(p+7);
  return low>=0xDC00 && low<=0xDFFF ? 0x10000 + ((u-0xD800)<<10) + (low-0xDC00) : LIST_NONE;
}

/* Write a character as UTF-8. Returns its bytes, which are fewer than those of its escape. */
static size_t list_put(char *out, uint32_t u){
  size_t n = u<0x80 ? 1 : u<0x800 ? 2 : u<0x10000 ? 3 : 4;
  if( n==1 ){
    out[0] = (char)u;
    return 1;
  }
  for(size_t i=n-1; i>0; i--, u>>=6) out[i] = (char)(0x80 | (u & 0x3F));
  out[0] = (char)(u | (0xF00u>>n & 0xFF));
  return n;
}

/* Bytes of the text behind its opening quote, up to the closing one; without one, to the end. */
static size_t list_length(const char *z){
  size_t n = 0;
  while( z[n] && z[n]!='"' ) n += z[n]=='\\' && z[n+1] ? 2 : 1;
  return n;
}

/* Decode the text whose opening quote was read, to out, which has room for it. */
static bool list_decode(zt_list *l, char *out, zt_error *err){
  for(;;){
    unsigned char ch = (unsigned char)l->text[l->at];
    size_t n = 1;
    uint32_t u;
    if( ch=='"' ) break;
    if( ch==0 ){
      list_broken(l, "a text ends without \"", err);
      return false;
    }
    if( ch<0x20 ){
      list_broken(l, "a control character in a text must be escaped", err);
      return false;
    }
    if( ch!='\\' ){
      *out++ = (char)ch;
    }else{
      u = list_escape(l->text+l->at+1, &n);
      if( u==LIST_NONE ){
        list_broken(l, "no such escape", err);
        return false;
      }
      out += list_put(out, u);
      n++;
    }
    l->at += n;
  }
  *out = 0;
  l->at++;
  return true;
}

/* Go to the next element: false at the end of the list, and on a failure. */
static bool list_advance(zt_list *l, zt_error *err){
  list_blanks(l);
  if( l->n==0 ){
    l->at++;   /* The bracket */
    list_blanks(l);
    if( l->text[l->at]!=']' ) return true;
  }else if( l->text[l->at]==',' ){
    l->at++;
    list_blanks(l);
    return true;
  }
  if( l->text[l->at]!=']' ){
    list_broken(l, l->text[l->at] ? "neither , nor ] is here" : "it ends without ]", err);
    return false;
  }
  l->at++;
  list_blanks(l);
  if( l->text[l->at] ) list_broken(l, "more follows the list", err);
  l->ended = true;
  return false;
}

bool zt_list_next(zt_list *l, char **out, zt_error *err){
  *out = NULL;
  if( l->ended || !list_advance(l, err) ) return false;
  if( l->text[l->at]!='"' ){
    list_no_text(l, err);
    return false;
  }
  l->at++;
  *out = sqlite3_malloc64(list_length(l->text+l->at)+1);
  if( !*out ){
    zt_fail_nomem(err);
    return false;
  }
  if( !list_decode(l, *out, err) ){
    sqlite3_free(*out);
    *out = NULL;
    return false;
  }
  l->n++;
  return true;
}
