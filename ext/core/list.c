/* Reader of a list of texts. See list.h. */
#include "core/list.h"

#include "core/host.h"

#define LIST_BLANKS " \t\n\r"
#define LIST_DIGITS "0123456789"

/* --- Recognizing a list --- */

/* Returns the length of the literal or integer at z; 0 if there is none. */
static size_t list_word(const char *z){
  static const char *const literals[] = { "null", "true", "false" };
  size_t sign = z[0]=='-', digits = strspn(z+sign, LIST_DIGITS);
  for(size_t i=0; i<sizeof(literals)/sizeof(*literals); i++){
    if( strncmp(z, literals[i], strlen(literals[i]))==0 ) return strlen(literals[i]);
  }
  return digits ? sign+digits : 0;
}

/* Returns whether the text ends with `]`. */
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
  return *z==']' && z[1+strspn(z+1, LIST_BLANKS)]==0;
}

/* --- Elements --- */

void zt_list_init(zt_list *l, const char *text, zt_error *err){
  *l = (zt_list){ 0 };
  zt_json_read_init(&l->json, "the source is a list:",
                    (zt_span){ (const uint8_t*)text, strlen(text) }, err);
  l->json.any_bytes = true;   /* File names may be any bytes */
  zt_json_read_open(&l->json, ZT_JSON_ARRAY, &l->level);
}

/* Fails at an element that is not text, or not a value. */
static bool list_no_text(zt_list *l){
  static const char *const names[] = {
    [ZT_JSON_NULL] = "null", [ZT_JSON_FALSE] = "a boolean", [ZT_JSON_TRUE] = "a boolean",
    [ZT_JSON_INTEGER] = "a number", [ZT_JSON_ARRAY] = "an array", [ZT_JSON_OBJECT] = "an object"
  };
  zt_json_type type = zt_json_read_peek(&l->json);
  zt_json_value value;
  uint64_t n = l->n;
  if( zt_json_read_next(&l->json, &value) ){
    zt_fail(l->json.err, SQLITE_ERROR, "the source is a list: element %llu is %s, not text", n,
            names[type]);
  }
  return false;
}

/* Reads the next element as written. False at the end of the list and after a failure. */
static bool list_read(zt_list *l, zt_json_string *out){
  if( !zt_json_read_more(&l->json, &l->level) ){
    l->ended = true;
    zt_json_read_finish(&l->json);
    return false;
  }
  if( zt_json_read_peek(&l->json)!=ZT_JSON_TEXT ) return list_no_text(l);
  return zt_json_read_text(&l->json, out);
}

bool zt_list_next(zt_list *l, char **out){
  zt_error *err = l->json.err;
  zt_json_string text;
  size_t n;
  *out = NULL;
  if( l->ended || err->rc ) return false;
  if( !list_read(l, &text) ){
    err->rule = NULL;   /* The rules are for files */
    return false;
  }
  *out = sqlite3_malloc64(text.raw.n+1);
  if( !*out ){
    zt_fail_nomem(err);
    return false;
  }
  n = zt_json_unescape(text, *out);
  (*out)[n] = 0;
  l->n++;
  if( strlen(*out)==n ) return true;
  zt_fail(err, SQLITE_ERROR, "the source is a list: element %llu has U+0000 in it",
          (uint64_t)l->n-1);
  sqlite3_free(*out);
  *out = NULL;
  return false;
}
