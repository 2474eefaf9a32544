/* Pages of a source. See pages.h. */
#include "core/pages.h"

#include "core/host.h"

#define PAGES_POLL 0xFFFF        /* Reads between two checks for an interrupt */

void zt_pages_open(zt_source *source, const zt_interrupt *interrupt, zt_pages *out, zt_error *err){
  *out = (zt_pages){
    .source = source, .interrupt = interrupt, .err = err, .size = zt_source_size(source),
    .image = zt_source_image(source).p
  };
}

void zt_pages_close(zt_pages *pages){
  sqlite3_free(pages->p);
  *pages = (zt_pages){ 0 };
}

/* Returns the place of a page, or else that of the page in its set that was not used longest. The
** parts of a file are often at distances of powers of two, hence the product. All pages of a small
** file have places of their own. */
static size_t pages_place(const zt_pages *pages, uint64_t number){
  const size_t sets = ZT_PAGES/ZT_PAGES_SET;
  const size_t set = (size_t)((number*UINT64_C(0x9E3779B97F4A7C15))>>60)%sets*ZT_PAGES_SET;
  size_t place = set;
  if( pages->size<=ZT_PAGES*ZT_PAGE ) return (size_t)number;
  for(size_t i=set; i<set+ZT_PAGES_SET; i++){
    if( pages->held[i]==number+1 ) return i;
    if( pages->used[i]<pages->used[place] ) place = i;
  }
  return place;
}

/* Returns the page of that number, from the source if it is not held. NULL after a failure. */
static const uint8_t *pages_get(zt_pages *pages, uint64_t number){
  const size_t place = pages_place(pages, number);
  const uint64_t at = number*ZT_PAGE;
  const size_t n = pages->size-at<ZT_PAGE ? (size_t)(pages->size-at) : ZT_PAGE;
  uint8_t *page;
  if( !pages->p ){
    pages->p = sqlite3_malloc64(pages->size<ZT_PAGES*ZT_PAGE ? pages->size : ZT_PAGES*ZT_PAGE);
    if( !pages->p ){
      zt_fail_nomem(pages->err);
      return NULL;
    }
  }
  page = pages->p+place*ZT_PAGE;
  pages->used[place] = ++pages->clock;
  if( pages->held[place]==number+1 ) return page;
  pages->held[place] = 0;
  if( zt_interrupt_check(pages->interrupt, pages->err)
   || zt_source_read(pages->source, at, page, n, pages->err) ) return NULL;
  pages->held[place] = number+1;
  return page;
}

bool zt_pages_read(zt_pages *pages, uint64_t at, size_t n, void *out){
  uint8_t *to = out;
  if( pages->err->rc ) return false;
  if( (++pages->reads & PAGES_POLL)==0 && zt_interrupt_check(pages->interrupt, pages->err) ){
    return false;
  }
  if( pages->image ){
    if( n ) memcpy(to, pages->image+at, n);
    return true;
  }
  while( n>0 ){
    const size_t skip = (size_t)(at%ZT_PAGE);
    const size_t piece = n<ZT_PAGE-skip ? n : ZT_PAGE-skip;
    const uint8_t *page = pages_get(pages, at/ZT_PAGE);
    if( !page ) return false;
    memcpy(to, page+skip, piece);
    to += piece;
    at += piece;
    n -= piece;
  }
  return true;
}

uint64_t zt_pages_number(zt_pages *pages, uint64_t at, unsigned width){
  uint8_t bytes[8] = { 0 };
  return zt_pages_read(pages, at, width, bytes) ? zt_le64(bytes) : 0;
}
