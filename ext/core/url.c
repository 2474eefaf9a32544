/* URLs, percent-encoding and addresses. See url.h. */
#include "core/url.h"

#define URL_HTTP 80
#define URL_HTTPS 443
#define URL_HOST_MAX 255

/* --- Parsing --- */

/* Returns the length of `http://` or `https://` at the front, and which it is; 0 for others. */
static size_t url_scheme(const char *url, bool *tls){
  *tls = sqlite3_strnicmp(url, "https://", 8)==0;
  return *tls ? 8 : sqlite3_strnicmp(url, "http://", 7)==0 ? 7 : 0;
}

/* Reads a port of n digits, which may be none. */
static bool url_port(const char *z, size_t n, uint16_t *port){
  uint32_t u = 0;
  if( n==0 ) return true;
  if( n>5 ) return false;
  for(size_t i=0; i<n; i++){
    if( z[i]<'0' || z[i]>'9' ) return false;
    u = u*10 + (uint32_t)(z[i]-'0');
  }
  if( u==0 || u>UINT16_MAX ) return false;
  *port = (uint16_t)u;
  return true;
}

static bool url_is_host(zt_text host){
  const bool ipv6 = host.n>0 && host.z[0]=='[';
  if( host.n==0 || host.n>URL_HOST_MAX ) return false;
  for(size_t i=0; i<host.n; i++){
    const char ch = host.z[i];
    const bool alphanumeric = (ch>='0' && ch<='9') || (ch>='A' && ch<='Z') || (ch>='a' && ch<='z');
    const bool bracket = ipv6 && (i==0 || i+1==host.n);
    if( bracket ? ch!=(i ? ']' : '[') : !alphanumeric && !strchr(ipv6 ? ":." : "-._", ch) ){
      return false;
    }
  }
  return !ipv6 || host.n>4;
}

/* Splits `host[:port]` of n bytes. */
static bool url_authority(const char *z, size_t n, zt_url *out){
  const char *bracket = n>0 && *z=='[' ? memchr(z, ']', n) : NULL;
  const char *from = bracket ? bracket : z;
  const char *colon = n>0 ? memchr(from, ':', n-(size_t)(from-z)) : NULL;
  size_t end = colon ? (size_t)(colon-z) : n;
  out->host = (zt_text){ z, end };
  if( end<n ) end++;
  return url_is_host(out->host) && url_port(z+end, n-end, &out->port);
}

int zt_url_parse(const char *url, zt_url *out, zt_error *err){
  const size_t scheme = url_scheme(url, &out->tls);
  const char *z = url+scheme;
  size_t n = strcspn(z, "/?#");
  if( !scheme ) return zt_fail(err, SQLITE_ERROR, "the URL is not of http or https");
  for(const char *p=url; *p; p++){
    if( (unsigned char)*p<' ' ) return zt_fail(err, SQLITE_ERROR, "a control character in the URL");
  }
  if( memchr(z, '@', n) ){
    return zt_fail(err, SQLITE_ERROR, "a URL with a user or a password is not used");
  }
  out->port = out->tls ? URL_HTTPS : URL_HTTP;
  if( !url_authority(z, n, out) ) return zt_fail(err, SQLITE_ERROR, "the URL has no valid host");
  z += n;
  n = strcspn(z, "?#");
  out->path = (zt_text){ z, n };
  z += n;
  out->query = (zt_text){ NULL, 0 };
  if( *z=='?' ) out->query = (zt_text){ z+1, strcspn(z+1, "#") };
  return SQLITE_OK;
}

bool zt_url_same_origin(const zt_url *a, const zt_url *b){
  return a->tls==b->tls && a->port==b->port && a->host.n==b->host.n
      && sqlite3_strnicmp(a->host.z, b->host.z, (int)a->host.n)==0;
}

/* --- Writing --- */

void zt_url_put_origin(sqlite3_str *out, const zt_url *url){
  sqlite3_str_appendall(out, url->tls ? "https://" : "http://");
  for(size_t i=0; i<url->host.n; i++){
    const char ch = url->host.z[i];
    sqlite3_str_appendchar(out, 1, (char)(ch>='A' && ch<='Z' ? ch-'A'+'a' : ch));
  }
  if( url->port!=(url->tls ? URL_HTTPS : URL_HTTP) ) sqlite3_str_appendf(out, ":%d", url->port);
}

/* Appends bytes; those in `encoded` and those that are no printable ASCII are percent-encoded. */
static void url_put(sqlite3_str *out, zt_text text, const char *encoded){
  for(size_t i=0; i<text.n; i++){
    const unsigned char ch = (unsigned char)text.z[i];
    if( ch<=' ' || ch>=0x7F || strchr(encoded, ch) ) sqlite3_str_appendf(out, "%%%02X", ch);
    else sqlite3_str_appendchar(out, 1, (char)ch);
  }
}

void zt_url_put_target(sqlite3_str *out, const zt_url *url){
  if( url->path.n==0 ) sqlite3_str_appendchar(out, 1, '/');
  url_put(out, url->path, "\"<>\\^`{|}");
  if( !url->query.z ) return;
  sqlite3_str_appendchar(out, 1, '?');
  url_put(out, url->query, "\"<>\\^`{|}");
}

void zt_url_put_encoded(sqlite3_str *out, zt_text bytes, bool slashes){
  url_put(out, bytes, slashes ? "!\"#$%&'()*+,:;<=>?@[\\]^`{|}" : "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}");
}

/* --- Decoding --- */

/* Returns the byte that %XX at z stands for; -1 if these are others. */
static int url_percent(const char *z, size_t n){
  int hi, lo;
  if( n<3 || z[0]!='%' ) return -1;
  hi = zt_hex_digit(z[1]);
  lo = zt_hex_digit(z[2]);
  return hi<0 || lo<0 ? -1 : hi*16+lo;
}

bool zt_url_is_encoded(zt_text text){
  for(size_t i=0; i<text.n; i++){
    if( text.z[i]=='%' && url_percent(text.z+i, text.n-i)<0 ) return false;
  }
  return true;
}

size_t zt_url_decode(zt_text text, bool plus, char *out){
  size_t n = 0;
  for(size_t i=0; i<text.n; i++){
    const int byte = url_percent(text.z+i, text.n-i);
    if( byte>=0 ) i += 2;
    out[n++] = (char)(byte>=0 ? byte : plus && text.z[i]=='+' ? ' ' : text.z[i]);
  }
  return n;
}

/* Returns the length of the character at z, which may be encoded; *is_dot and *ends tell whether it
** is a dot, or ends a part of the path. */
static size_t url_character(const char *z, size_t n, bool *is_dot, bool *ends){
  const int byte = url_percent(z, n), ch = byte>=0 ? byte : *z;
  *is_dot = ch=='.';
  *ends = ch=='/' || ch=='\\';   /* Some servers take a backslash for a slash */
  return byte>=0 ? 3 : 1;
}

bool zt_url_has_dots(zt_text path){
  size_t dots = 0, others = 0;
  for(size_t i=0; i<path.n; ){
    bool is_dot, ends;
    i += url_character(path.z+i, path.n-i, &is_dot, &ends);
    if( ends && others==0 && (dots==1 || dots==2) ) return true;
    if( ends ) dots = others = 0;
    else if( is_dot ) dots++;
    else others++;
  }
  return others==0 && (dots==1 || dots==2);
}

/* --- Redirects --- */

/* Removes the parts `.` and `..` of a path of n bytes that begins with a slash (RFC 3986, 5.2.4).
** Returns the new length. */
static size_t url_remove_dots(char *path, size_t n){
  size_t out = 0;
  for(size_t i=0; i<n; ){
    size_t end = i+1, part;
    while( end<n && path[end]!='/' ) end++;
    part = end-i-1;
    if( part==2 && path[i+1]=='.' && path[i+2]=='.' ){
      while( out>0 && path[--out]!='/' ){}
    }else if( part!=1 || path[i+1]!='.' ){
      memmove(path+out, path+i, end-i);
      out += end-i;
      i = end;
      continue;
    }
    if( end==n ) path[out++] = '/';   /* The last part was one: a directory */
    i = end;
  }
  return out;
}

/* Appends the path that a relative reference leads to, and its query. */
static void url_put_relative(sqlite3_str *out, const zt_url *base, zt_text reference){
  const size_t n = strcspn(reference.z, "?#");
  size_t above = base->path.n, from;
  char *z;
  if( n==0 || reference.z[0]=='/' ) above = n==0 ? base->path.n : 0;
  else while( above>0 && base->path.z[above-1]!='/' ) above--;
  from = (size_t)sqlite3_str_length(out);
  if( above==0 && (n==0 || reference.z[0]!='/') ) sqlite3_str_appendchar(out, 1, '/');
  sqlite3_str_append(out, base->path.z, (int)above);
  sqlite3_str_append(out, reference.z, (int)n);
  z = sqlite3_str_value(out);
  if( z ){
    const size_t length = (size_t)sqlite3_str_length(out)-from;
    const size_t left = url_remove_dots(z+from, length);
    memset(z+from+left, 0, length-left);
  }
}

char *zt_url_resolve(const zt_url *base, zt_text location){
  char *reference = sqlite3_mprintf("%.*s", (int)location.n, location.z ? location.z : "");
  sqlite3_str *out = sqlite3_str_new(NULL);
  char *path = NULL, *whole = NULL;
  size_t n;
  if( !reference ){
    sqlite3_free(sqlite3_str_finish(out));
    return NULL;
  }
  n = strcspn(reference, "#");
  reference[n] = 0;
  if( reference[0] && strcspn(reference, ":")<strcspn(reference, "/?") ){
    sqlite3_str_appendall(out, reference);   /* It has a scheme */
  }else if( strncmp(reference, "//", 2)==0 ){
    sqlite3_str_appendf(out, "%s:%s", base->tls ? "https" : "http", reference);
  }else{
    sqlite3_str *relative = sqlite3_str_new(NULL);
    n = strcspn(reference, "?");
    url_put_relative(relative, base, (zt_text){ reference, strlen(reference) });
    path = sqlite3_str_finish(relative);   /* Ends at the NULs behind removed parts */
    zt_url_put_origin(out, base);
    sqlite3_str_appendf(out, "%s%s", path ? path : "", reference+n);
    if( !path ) goto end;
  }
  whole = sqlite3_str_finish(out);
  out = NULL;
end:
  if( out ) sqlite3_free(sqlite3_str_finish(out));
  sqlite3_free(path);
  sqlite3_free(reference);
  return whole;
}

/* --- Addresses --- */

/* A range of addresses that are not public: those whose first bits equal these bytes. */
typedef struct url_range {
  uint8_t bytes[16];
  unsigned bits;
} url_range;

/* RFC 6890 and its registry: special purposes */
static const url_range url_not_public4[] = {
  { { 0 }, 8 }, { { 10 }, 8 }, { { 100, 64 }, 10 }, { { 127 }, 8 }, { { 169, 254 }, 16 },
  { { 172, 16 }, 12 }, { { 192, 0, 0 }, 24 }, { { 192, 0, 2 }, 24 }, { { 192, 88, 99 }, 24 },
  { { 192, 168 }, 16 }, { { 198, 18 }, 15 }, { { 198, 51, 100 }, 24 }, { { 203, 0, 113 }, 24 },
  { { 224 }, 4 }, { { 240 }, 4 }
};

static bool url_is_in(const uint8_t *address, const url_range *r){
  const unsigned whole = r->bits/8, rest = r->bits%8;
  const uint8_t mask = (uint8_t)(0xFF00u>>rest);
  return memcmp(address, r->bytes, whole)==0
      && (rest==0 || ((address[whole] ^ r->bytes[whole]) & mask)==0);
}

static bool url_is_public4(const uint8_t *address){
  for(size_t i=0; i<sizeof(url_not_public4)/sizeof(*url_not_public4); i++){
    if( url_is_in(address, &url_not_public4[i]) ) return false;
  }
  return true;
}

static bool url_is_public6(const uint8_t *address){
  static const url_range global = { { 0x20 }, 3 };            /* 2000::/3 has all so far */
  static const url_range translated = { { 0, 0x64, 0xFF, 0x9B }, 96 };   /* NAT64 */
  static const url_range mapped = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF }, 96 };
  static const url_range to4 = { { 0x20, 0x02 }, 16 };        /* 6to4 */
  static const url_range special[] = {
    { { 0x20, 0x01, 0 }, 23 },                                /* Teredo, benchmarks, ORCHID ... */
    { { 0x20, 0x01, 0x0D, 0xB8 }, 32 }, { { 0x3F, 0xFF }, 20 }   /* Documentation */
  };
  if( url_is_in(address, &mapped) || url_is_in(address, &translated) ){
    return url_is_public4(address+12);
  }
  if( url_is_in(address, &to4) ) return url_is_public4(address+2);
  for(size_t i=0; i<sizeof(special)/sizeof(*special); i++){
    if( url_is_in(address, &special[i]) ) return false;
  }
  return url_is_in(address, &global);
}

bool zt_address_is_public(const uint8_t *address, size_t n){
  return n==4 ? url_is_public4(address) : n==16 && url_is_public6(address);
}
