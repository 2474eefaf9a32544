/* The answer of a server. See http_answer.h. */
#include "core/remote.h"

#if ZT_REMOTE
#include "core/http_answer.h"

#include "core/grow.h"
#include "core/os_net.h"

void zt_http_answer_init(zt_http_answer *a){
  memset(a, 0, sizeof(*a));
  a->total = UINT64_MAX;
  a->modified = INT64_MIN;
  a->retry_after = -1;
}

void zt_http_answer_clear(zt_http_answer *a, const uint8_t *buffer){
  sqlite3_free(a->location);
  sqlite3_free(a->next);
  if( a->body!=buffer ) sqlite3_free(a->body);
  a->location = a->next = NULL;
  a->body = NULL;
  a->n = 0;
}

/* --- Dates --- */

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static int64_t answer_days(int64_t year, int month, int day){
  const int64_t y = month<=2 ? year-1 : year, era = y/400, of_era = y-era*400;
  const int64_t of_year = (153*(month+(month>2 ? -3 : 9))+2)/5 + day-1;
  return era*146097 + of_era*365 + of_era/4 - of_era/100 + of_year - 719468;
}

/* Reads n digits at *i. -1 if there are others. */
static int answer_number(zt_text text, size_t *i, int n){
  int value = 0;
  for(; n>0; n--, (*i)++){
    if( *i>=text.n || text.z[*i]<'0' || text.z[*i]>'9' ) return -1;
    value = value*10 + (text.z[*i]-'0');
  }
  return value;
}

static bool answer_pass(zt_text text, size_t *i, const char *literal){
  const size_t n = strlen(literal);
  if( text.n-*i<n || memcmp(text.z+*i, literal, n)!=0 ) return false;
  *i += n;
  return true;
}

/* Reads HH:MM:SS. */
static bool answer_time(zt_text text, size_t *i, int64_t *out){
  const int hours = answer_number(text, i, 2);
  int minutes, seconds;
  if( hours<0 || hours>23 || !answer_pass(text, i, ":") ) return false;
  minutes = answer_number(text, i, 2);
  if( minutes<0 || minutes>59 || !answer_pass(text, i, ":") ) return false;
  seconds = answer_number(text, i, 2);
  *out = ((int64_t)hours*60 + minutes)*60 + seconds;
  return seconds>=0 && seconds<=60;
}

static bool answer_imf_date(zt_text text, int64_t *out){
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int day, month = 0, year;
  size_t i = 5;   /* Behind "Sun, " */
  int64_t seconds;
  if( text.n<29 || text.z[3]!=',' ) return false;
  day = answer_number(text, &i, 2);
  if( day<1 || day>31 || text.z[i++]!=' ' ) return false;
  while( month<12 && memcmp(text.z+i, months+3*(size_t)month, 3)!=0 ) month++;
  i += 3;
  if( month==12 || text.z[i++]!=' ' ) return false;
  year = answer_number(text, &i, 4);
  if( year<0 || text.z[i++]!=' ' || !answer_time(text, &i, &seconds) ) return false;
  *out = answer_days(year, month+1, day)*86400 + seconds;
  return answer_pass(text, &i, " GMT") && i==text.n;
}

static bool answer_iso_date(zt_text text, int64_t *out){
  size_t i = 0;
  int64_t seconds;
  const int year = answer_number(text, &i, 4);
  int month, day;
  if( year<0 || !answer_pass(text, &i, "-") ) return false;
  month = answer_number(text, &i, 2);
  if( month<1 || month>12 || !answer_pass(text, &i, "-") ) return false;
  day = answer_number(text, &i, 2);
  if( day<1 || day>31 || !answer_pass(text, &i, "T") || !answer_time(text, &i, &seconds) ){
    return false;
  }
  if( answer_pass(text, &i, ".") ) while( answer_number(text, &i, 1)>=0 ){}
  *out = answer_days(year, month, day)*86400 + seconds;
  return answer_pass(text, &i, "Z") && i==text.n;
}

bool zt_http_date(zt_text text, int64_t *out){
  return answer_imf_date(text, out) || answer_iso_date(text, out);
}

/* --- Headers --- */

static zt_text answer_trim(zt_text text){
  while( text.n>0 && strchr(" \t\r\n", *text.z) ) text = (zt_text){ text.z+1, text.n-1 };
  while( text.n>0 && strchr(" \t\r\n", text.z[text.n-1]) ) text.n--;
  return text;
}

static bool answer_is(zt_text text, const char *literal){
  const size_t n = strlen(literal);
  return text.n==n && sqlite3_strnicmp(text.z, literal, (int)n)==0;
}

/* Copies printable ASCII that fits; "" stands for others. */
static void answer_copy(zt_text text, char *out, size_t room){
  bool fits = text.n<room;
  for(size_t i=0; fits && i<text.n; i++) fits = text.z[i]>=' ' && text.z[i]<0x7F;
  if( fits && text.n ) memcpy(out, text.z, text.n);
  out[fits ? text.n : 0] = 0;
}

/* Reads a decimal number at *i. */
static bool answer_uint(zt_text text, size_t *i, uint64_t *out){
  const size_t from = *i;
  *out = 0;
  for(; *i<text.n && text.z[*i]>='0' && text.z[*i]<='9'; (*i)++){
    if( !zt_mul64(*out, 10, out) || !zt_add64(*out, (uint64_t)(text.z[*i]-'0'), out) ) return false;
  }
  return *i>from;
}

/* `bytes first-last/total` or, of a range that is not there, `bytes * / total` without spaces. */
static void answer_range(zt_http_body *b, zt_text value){
  size_t i = 0;
  if( !answer_pass(value, &i, "bytes ") ) return;
  b->first = b->last = UINT64_MAX;
  if( !answer_pass(value, &i, "*")
   && (!answer_uint(value, &i, &b->first) || !answer_pass(value, &i, "-")
       || !answer_uint(value, &i, &b->last)) ) return;
  b->has_range = answer_pass(value, &i, "/") && answer_uint(value, &i, &b->total) && i==value.n;
}

/* Retry-After: seconds, or a date. */
static void answer_retry(zt_http_answer *a, zt_text value){
  uint64_t seconds;
  int64_t date;
  size_t i = 0;
  if( answer_uint(value, &i, &seconds) && i==value.n ){
    a->retry_after = seconds<INT32_MAX ? (int)seconds : INT32_MAX;
  }else if( zt_http_date(value, &date) ){
    date -= zt_net_now();
    a->retry_after = date<0 ? 0 : date<INT32_MAX ? (int)date : INT32_MAX;
  }
}

static bool answer_keep(char **out, zt_text value){
  sqlite3_free(*out);
  *out = sqlite3_mprintf("%.*s", (int)value.n, value.z);
  return *out!=NULL;
}

/* Link: <url>; rel="next", ... */
static bool answer_link(zt_http_answer *a, zt_text value){
  const char *end = value.z+value.n, *z = value.z;
  while( z<end ){
    const char *open = memchr(z, '<', (size_t)(end-z));
    const char *close = open ? memchr(open, '>', (size_t)(end-open)) : NULL;
    const char *stop;
    if( !close ) return true;
    stop = memchr(close, '<', (size_t)(end-close));
    if( !stop ) stop = end;
    for(const char *p=close; stop-p>=10; p++){
      if( sqlite3_strnicmp(p, "rel=\"next\"", 10)==0 ){
        return answer_keep(&a->next, (zt_text){ open+1, (size_t)(close-open-1) });
      }
    }
    z = stop;
  }
  return true;
}

static bool answer_header(zt_http_body *b, zt_http_answer *a, zt_text name, zt_text value){
  size_t i = 0;
  if( answer_is(name, "content-range") ) answer_range(b, value);
  else if( answer_is(name, "content-length") ){
    b->has_length = answer_uint(value, &i, &b->length) && i==value.n;
  }else if( answer_is(name, "content-encoding") ){
    b->encoded = value.n>0 && !answer_is(value, "identity");
  }else if( answer_is(name, "etag") ) answer_copy(value, a->etag, sizeof(a->etag));
  else if( answer_is(name, "last-modified") ){
    if( !zt_http_date(value, &a->modified) ) a->modified = INT64_MIN;
  }else if( answer_is(name, "retry-after") ) answer_retry(a, value);
  else if( answer_is(name, "location") ) return answer_keep(&a->location, value);
  else if( answer_is(name, "link") ) return answer_link(a, value);
  else if( answer_is(name, "x-linked-etag") ){
    answer_copy(value, a->linked_etag, sizeof(a->linked_etag));
  }else if( answer_is(name, "x-amz-bucket-region") ){
    answer_copy(value, a->region, sizeof(a->region));
  }else if( answer_is(name, "x-error-code") ) answer_copy(value, a->word, sizeof(a->word));
  return true;
}

/* Another answer follows an informational one. */
static void answer_restart(zt_http_body *b, zt_http_request *r){
  zt_http_answer_clear(&r->answer, r->buffer);
  zt_http_answer_init(&r->answer);
  b->encoded = b->has_range = b->has_length = false;
}

bool zt_http_body_header(zt_http_body *b, zt_http_request *r, zt_text line){
  const char *colon = line.n ? memchr(line.z, ':', line.n) : NULL;
  zt_text name, value;
  if( line.n>ZT_HTTP_HEADER_BYTES-b->headers ){
    b->stopped = true;
    b->outcome = ZT_HTTP_NOT_HTTP;
    return false;
  }
  b->headers += line.n;
  if( b->begun ) return true;   /* A trailer */
  if( line.n>=5 && memcmp(line.z, "HTTP/", 5)==0 ){
    answer_restart(b, r);
    return true;
  }
  if( !colon ) return true;   /* The end of the headers */
  name = (zt_text){ line.z, (size_t)(colon-line.z) };
  value = answer_trim((zt_text){ colon+1, line.n-name.n-1 });
  if( answer_header(b, &r->answer, name, value) ) return true;
  b->stopped = true;
  b->outcome = ZT_HTTP_NO_MEMORY;
  return false;
}

/* --- Bodies --- */

/* The first reason counts. */
static void answer_stop(zt_http_body *b, zt_http_outcome outcome){
  if( b->stopped ) return;
  b->stopped = true;
  b->outcome = outcome;
}

/* Returns whether the range that comes is the one that was asked for. */
static bool answer_is_wanted(const zt_http_body *b, const zt_http_request *r){
  uint64_t first = r->first, n = r->n;
  if( !b->has_range || b->last==UINT64_MAX || b->last<b->first || b->last>=b->total ) return false;
  if( r->suffix ){
    if( n>b->total ) n = b->total;
    first = b->total-n;
  }else{
    if( first>=b->total ) return false;
    if( n>b->total-first ) n = b->total-first;
  }
  return b->first==first && b->last-b->first+1==n;
}

void zt_http_body_begin(zt_http_body *b, zt_http_request *r, int status){
  zt_http_answer *a = &r->answer;
  b->begun = true;
  a->status = status;
  if( status==206 && r->n>0 ){
    if( b->encoded ) answer_stop(b, ZT_HTTP_ENCODED);
    else if( !answer_is_wanted(b, r) ) answer_stop(b, ZT_HTTP_WRONG_RANGE);
    a->ranged = true;
    a->first = b->first;
    a->total = b->total;
    b->most = b->last-b->first+1;
    b->exact = true;
  }else if( status==200 ){
    if( b->encoded ) answer_stop(b, ZT_HTTP_ENCODED);
    else if( r->n>0 && r->most==0 ) answer_stop(b, ZT_HTTP_WRONG_RANGE);
    a->total = b->has_length ? b->length : UINT64_MAX;
    b->most = r->most;
    if( b->has_length && b->length>b->most ) answer_stop(b, ZT_HTTP_TOO_LONG);
  }else{
    b->failed = true;
    b->most = ZT_HTTP_ERROR_BODY;
    if( b->has_range && b->last==UINT64_MAX ) a->total = b->total;   /* 416 */
  }
}

/* Returns where the next n bytes go. NULL if memory is short. */
static uint8_t *answer_room(zt_http_body *b, zt_http_request *r, size_t n){
  zt_http_answer *a = &r->answer;
  zt_error unused = ZT_ERROR_NONE;
  uint8_t *p;
  if( a->ranged && r->buffer ){
    a->body = r->buffer;
    return a->body+a->n;
  }
  p = zt_grow(a->body, &b->room, (uint64_t)a->n+n, 1, &unused);
  if( !p ) return NULL;
  a->body = p;
  return p+a->n;
}

bool zt_http_body_add(zt_http_body *b, zt_http_request *r, const uint8_t *p, size_t n){
  zt_http_answer *a = &r->answer;
  uint8_t *to;
  b->came += n;
  if( b->stopped || n==0 ) return !b->stopped;
  if( n>b->most-a->n ){
    if( b->failed ) answer_stop(b, ZT_HTTP_ANSWERED);   /* Enough to explain it */
    else answer_stop(b, a->ranged ? ZT_HTTP_WRONG_RANGE : ZT_HTTP_TOO_LONG);
    return false;
  }
  to = answer_room(b, r, n);
  if( !to ){
    answer_stop(b, ZT_HTTP_NO_MEMORY);
    return false;
  }
  memcpy(to, p, n);
  a->n += n;
  return true;
}

/* --- The end --- */

/* Finds the text between <Code> and </Code>. */
static zt_text answer_code(const zt_http_answer *a){
  static const char open[] = "<Code>";
  const char *z = (const char*)a->body;
  for(size_t i=0; a->n-i>=sizeof(open)-1; i++){
    size_t n = 0;
    if( memcmp(z+i, open, sizeof(open)-1)!=0 ) continue;
    i += sizeof(open)-1;
    while( i+n<a->n && z[i+n]!='<' ) n++;
    return (zt_text){ z+i, n };
  }
  return (zt_text){ NULL, 0 };
}

/* Keeps the server's word only if it is one, and no part of what was sent: messages show it. */
static void answer_check_word(zt_http_answer *a, const zt_http_request *r){
  bool plain = a->word[0]!=0;
  for(const char *z=a->word; *z && plain; z++){
    plain = (*z>='A' && *z<='Z') || (*z>='a' && *z<='z');
  }
  plain = plain && !strstr(r->url, a->word);
  for(int i=0; plain && i<ZT_HTTP_HEADERS && r->header[i]; i++){
    plain = !strstr(r->header[i], a->word);
  }
  if( !plain ) a->word[0] = 0;
}

void zt_http_body_end(zt_http_body *b, zt_http_request *r, int status, zt_http_outcome outcome){
  zt_http_answer *a = &r->answer;
  if( !b->begun && status ) zt_http_body_begin(b, r, status);   /* It had none */
  if( outcome==ZT_HTTP_ANSWERED && b->stopped ) outcome = b->outcome;
  if( outcome==ZT_HTTP_CUT && b->failed && a->status ) outcome = ZT_HTTP_ANSWERED;
  if( outcome==ZT_HTTP_ANSWERED && b->exact && a->n<b->most ) outcome = ZT_HTTP_CUT;
  if( outcome==ZT_HTTP_ANSWERED && status==0 ) outcome = ZT_HTTP_NOT_HTTP;
  a->outcome = outcome;
  if( b->failed && !a->word[0] && a->n>0 ) answer_copy(answer_code(a), a->word, sizeof(a->word));
  answer_check_word(a, r);
}
#else
typedef int zt_http_answer_is_left_out;   /* A file of C has a declaration */
#endif
