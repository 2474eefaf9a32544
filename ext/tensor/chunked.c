/*
** The encoding of components made of chunks (container/chunks.h). The content is the row-major
** array; a chunk is decoded as a whole (chunk_filters.c has the rules), and only if some of its
** bytes are needed. Interface: encoding.h.
**
** A *band* is a row of chunks along the outermost dimension whose chunks are not single: its bytes
** follow each other, and so do the numbers of its chunks. Sequential reads decode one band after
** the other, and chunks of the next bands ahead of them in other threads. A read of less than a row
** of a band decodes the chunks that it needs.
**
** A band that the caller has no room for is decoded in pieces of CHUNKED_BAND bytes. Chunks of many
** rows are decoded for each piece, so the pieces of a large file are as large as the file, up to
** CHUNKED_BAND_MAX. The chunk that was decoded last is not decoded again.
**
** Absent chunks have the fill value. No file is worth more fill value in one pass than CHUNKED_FILL
** and CHUNKED_FILL_TIMES its size.
*/
#include "core/host.h"
#include "core/prefetch.h"
#include "tensor/chunk_filters.h"
#include "tensor/encoding.h"

#define CHUNKED_BAND ((uint64_t)32 << 20)     /* Bytes of a band at once, of all readers */
#define CHUNKED_BAND_MAX ((uint64_t)128 << 20)  /* The same of a large file */
#define CHUNKED_ROW 2                         /* Successive reads before bands are decoded ahead */
#define CHUNKED_SPARE ((uint64_t)1 << 20)     /* Stored bytes beyond twice the decoded ones */
#define CHUNKED_FILL ((uint64_t)64 << 20)
#define CHUNKED_FILL_TIMES 1024
#define CHUNKED_LEAST 64
#define CHUNKED_DEFLATE 1032                  /* Bytes that a stored byte of deflate may become */

/* In dimensions of the geometry, the last is in bytes, and dimensions that one chunk covers are
** merged with the ones before. The numbers of chunks stay. */
typedef struct chunked_decoder {
  zt_payload payload;
  zt_chunks chunks;
  uint32_t rank;
  uint64_t shape[ZT_CHUNKS_RANK], chunk[ZT_CHUNKS_RANK], grid[ZT_CHUNKS_RANK];
  uint64_t below[ZT_CHUNKS_RANK];   /* Bytes of a step along each dimension */
  uint32_t outer;                   /* The dimension of bands */
  uint64_t total;                   /* Bytes of the content */
  uint64_t most;                    /* Bytes of a band to decode at once */
  uint64_t position, asked;         /* The next byte; the end of what was asked for so far */
  uint64_t last;                    /* The last chunk that may be decoded ahead */
  uint32_t row;                     /* Successive reads */
  uint64_t filled, most_fill;       /* Bytes of fill value so far, and at most */
  uint8_t *band;                    /* Owned */
  uint64_t band_room, band_from, band_to;
  zt_prefetch prefetch;
  struct chunked_job *spare;        /* Jobs whose memory is reused; owned */
  _Atomic(zt_unfilter*) unfilter[ZT_THREADS_MAX];   /* Unused memory of filters; owned */
} chunked_decoder;

/* A chunk that is decoded. */
typedef struct chunked_job {
  zt_job job;                       /* First */
  chunked_decoder *of;
  struct chunked_job *next;         /* In the list of spare jobs */
  uint8_t *out;                     /* Owned */
  bool decoded;                     /* It has the chunk of job.number */
  zt_error err;
} chunked_job;

/* --- Fill value --- */

/* True if all is fill value. */
static bool chunked_is_absent(const chunked_decoder *d){
  return d->chunks.stored==0 && !d->chunks.computed;
}

static int chunked_fail_fill(const chunked_decoder *d, zt_error *err){
  return zt_fail(err, SQLITE_TOOBIG, "more than %llu bytes of it are not stored, but the fill"
                 " value", (unsigned long long)d->most_fill);
}

static uint64_t chunked_most_fill(const zt_source *source){
  const uint64_t size = zt_source_size(source);
  return size<UINT64_MAX/2/CHUNKED_FILL_TIMES ? CHUNKED_FILL+CHUNKED_FILL_TIMES*size : UINT64_MAX;
}

/* --- Geometry --- */

static uint64_t chunked_most_band(const zt_source *source){
  const uint64_t size = zt_source_size(source);
  return size<CHUNKED_BAND ? CHUNKED_BAND : size<CHUNKED_BAND_MAX ? size : CHUNKED_BAND_MAX;
}

static void chunked_set_geometry(chunked_decoder *d){
  const zt_chunks *c = &d->chunks;
  for(uint32_t k=0; k<c->rank; k++){
    const uint64_t width = k+1==c->rank ? c->width : 1;
    const uint64_t shape = c->shape[k]*width, chunk = c->chunk[k]*width;
    if( d->rank>0 && c->grid[k]==1 && c->shape[k]==c->chunk[k] ){
      d->shape[d->rank-1] *= shape;
      d->chunk[d->rank-1] *= chunk;
      continue;
    }
    d->shape[d->rank] = shape;
    d->chunk[d->rank] = chunk;
    d->grid[d->rank++] = c->grid[k];
  }
  for(uint32_t k=d->rank, below=1; k-->0; below=0){
    d->below[k] = below ? 1 : d->below[k+1]*d->shape[k+1];
  }
  while( d->outer+1<d->rank && d->chunk[d->outer]==1 ) d->outer++;
  d->total = d->below[0]*d->shape[0];
}

/* The range of the band, or of the piece of it that is decoded at once, with a byte. n bytes are
** wanted from there on. */
static void chunked_band(const chunked_decoder *d, uint64_t at, uint64_t n, uint64_t *from,
                         uint64_t *to){
  const uint32_t k = d->outer;
  const uint64_t row = d->below[k], all = row*d->shape[k], band = row*d->chunk[k];
  const uint64_t begin = at/all*all, in = (at-begin)/band*band;
  uint64_t step = d->most;
  *from = begin+in;
  *to = all-in<band ? begin+all : begin+in+band;
  if( *to-*from<=d->most || n>=*to-at ) return;
  if( row<=d->most ) step = d->most/row*row;
  *from += (at-*from)/step*step;
  if( *to-*from>step ) *to = *from+step;
}

/* A box of chunks that has all those with bytes from a to b. */
typedef struct chunked_box {
  uint64_t low[ZT_CHUNKS_RANK], high[ZT_CHUNKS_RANK], at[ZT_CHUNKS_RANK];
} chunked_box;

static void chunked_box_of(const chunked_decoder *d, uint64_t a, uint64_t b, chunked_box *out){
  bool same = true;
  uint64_t last = b-1;
  for(uint32_t k=0; k<d->rank; k++){
    const uint64_t x = a/d->below[k], y = last/d->below[k];
    a %= d->below[k];
    last %= d->below[k];
    out->low[k] = same ? x/d->chunk[k] : 0;
    out->high[k] = same ? y/d->chunk[k] : d->grid[k]-1;
    out->at[k] = out->low[k];
    same = same && x==y;
  }
}

static bool chunked_box_next(const chunked_decoder *d, chunked_box *box){
  for(uint32_t k=d->rank; k-->0; ){
    /* NOLINTNEXTLINE(clang-analyzer-core.*): chunked_box_of() set all dimensions; rank stays */
    if( box->at[k]<box->high[k] ){
      box->at[k]++;
      return true;
    }
    box->at[k] = box->low[k];
  }
  return false;
}

static uint64_t chunked_number(const chunked_decoder *d, const chunked_box *box){
  uint64_t number = 0;
  for(uint32_t k=0; k<d->rank; k++) number = number*d->grid[k]+box->at[k];
  return number;
}

/* A chunk's part of the array. */
typedef struct chunked_part {
  uint64_t from[ZT_CHUNKS_RANK], n[ZT_CHUNKS_RANK];
} chunked_part;

static void chunked_part_of(const chunked_decoder *d, const chunked_box *box, chunked_part *out){
  for(uint32_t k=0; k<d->rank; k++){
    const uint64_t left = d->shape[k]-box->at[k]*d->chunk[k];
    out->from[k] = box->at[k]*d->chunk[k];
    out->n[k] = left<d->chunk[k] ? left : d->chunk[k];
  }
}

/* True if the part has bytes from a to b: its first byte at or behind a lies before b. */
static bool chunked_touches(const chunked_decoder *d, const chunked_part *part, uint64_t a,
                            uint64_t b){
  uint64_t at[ZT_CHUNKS_RANK], first = 0;
  uint32_t k = 0;
  for(uint32_t i=0; i<d->rank; i++){
    at[i] = a/d->below[i];
    a %= d->below[i];
  }
  while( k<d->rank && at[k]>=part->from[k] && at[k]<part->from[k]+part->n[k] ) k++;
  if( k<d->rank && at[k]>=part->from[k] ){
    /* Behind the part's end there: one step further in a dimension before */
    do{
      if( k==0 ) return false;
      k--;
    }while( at[k]+1>=part->from[k]+part->n[k] );
    at[k++]++;
  }
  for(uint32_t i=k; i<d->rank; i++) at[i] = part->from[i];
  for(uint32_t i=0; i<d->rank; i++) first += at[i]*d->below[i];
  return first<b;
}

/* --- Copying --- */

/* Write n bytes of fill value; the first is byte `phase` of an element. */
static void chunked_fill(const chunked_decoder *d, uint8_t *out, uint64_t n, uint64_t phase){
  const zt_chunks *c = &d->chunks;
  if( c->fill==0 ){
    memset(out, 0, (size_t)n);
    return;
  }
  for(uint64_t i=0; i<n; i++){
    out[i] = c->fill_value[phase];
    phase = phase+1<c->width ? phase+1 : 0;
  }
}

/* Copy the part's bytes from a to b to out, which begins at a. chunk NULL: fill value. */
static void chunked_copy(chunked_decoder *d, const chunked_part *part, const uint8_t *chunk,
                         uint64_t a, uint64_t b, uint8_t *out){
  const uint32_t inner = d->rank-1;
  uint64_t at[ZT_CHUNKS_RANK] = { 0 };
  for(;;){
    /* NOLINTNEXTLINE(clang-analyzer-core.*): rank is 1 or more, and chunked_part_of() set them */
    uint64_t to = part->from[inner], from = 0, step = d->chunk[inner], n = part->n[inner], cut;
    uint32_t k = inner;
    for(uint32_t i=inner; i-->0; ){
      to += (part->from[i]+at[i])*d->below[i];
      from += at[i]*step;
      step *= d->chunk[i];
    }
    if( to>=b ) return;
    if( to+n>a ){
      cut = to<a ? a-to : 0;
      if( to+n>b ) n = b-to;
      if( chunk ) memcpy(out+(to+cut-a), chunk+from+cut, (size_t)(n-cut));
      else chunked_fill(d, out+(to+cut-a), n-cut, (to+cut)%d->chunks.width);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.*): the same */
    while( k>0 && at[k-1]+1==part->n[k-1] ) at[--k] = 0;
    if( k==0 ) return;
    at[k-1]++;
  }
}

/* --- Chunks --- */

static zt_unfilter *chunked_borrow(chunked_decoder *d, zt_error *err){
  zt_unfilter *u;
  for(int i=0; i<ZT_THREADS_MAX; i++){
    u = atomic_exchange(&d->unfilter[i], NULL);
    if( u ) return u;
  }
  u = sqlite3_malloc64(sizeof(*u));
  if( u ) *u = (zt_unfilter){ .inflate = NULL };
  else zt_fail_nomem(err);
  return u;
}

static void chunked_free_unfilter(zt_unfilter *u){
  if( u ) zt_unfilter_clear(u);
  sqlite3_free(u);
}

static void chunked_give_back(chunked_decoder *d, zt_unfilter *u){
  zt_unfilter *none = NULL;
  for(int i=0; i<ZT_THREADS_MAX; i++, none=NULL){
    if( atomic_compare_exchange_strong(&d->unfilter[i], &none, u) ) return;
  }
  chunked_free_unfilter(u);
}

/* Fail if a chunk's stored bytes cannot become its bytes, before memory is taken for them (CH1). */
static int chunked_check_size(const chunked_decoder *d, const zt_chunk *chunk, zt_error *err){
  const zt_chunks *c = &d->chunks;
  uint64_t most = chunk->length;
  for(uint32_t i=0; i<c->filters; i++){
    const bool applied = !(chunk->skipped>>i & 1);
    if( applied && c->filter[i].id==ZT_FILTER_ZLIB ) most *= CHUNKED_DEFLATE;
    if( most>ZT_CHUNK_MAX ) most = ZT_CHUNK_MAX;
  }
  if( most>=c->bytes && chunk->length<=2*c->bytes+CHUNKED_SPARE
   && (c->filters>0 || chunk->length==c->bytes) ) return SQLITE_OK;
  return zt_break(err, "CH1", "a chunk of %llu bytes is stored as %llu",
                  (unsigned long long)c->bytes, (unsigned long long)chunk->length);
}

/* Read and decode a chunk into d->chunks.bytes bytes. */
static int chunked_decode(chunked_decoder *d, const zt_chunk *chunk, uint8_t *out, zt_error *err){
  const zt_chunks *c = &d->chunks;
  const uint64_t offset = d->payload.component->base+chunk->offset;
  zt_source *source = d->payload.source;
  zt_unfilter *u;
  uint8_t *stored;
  if( c->filters==0 ) return zt_source_read(source, offset, out, (size_t)c->bytes, err);
  u = chunked_borrow(d, err);
  if( !u ) return err->rc;
  stored = zt_unfilter_room(u, chunk->length, err);
  if( stored && zt_source_read(source, offset, stored, chunk->length, err)==SQLITE_OK ){
    zt_unfilter_chunk(u, c, chunk, stored, chunk->length, out, err);
  }
  chunked_give_back(d, u);
  return err->rc;
}

static void chunked_work(zt_job *job, const zt_interrupt *interrupt){
  chunked_job *j = (chunked_job*)job;
  chunked_decoder *d = j->of;
  zt_chunk chunk = { 0 };
  (void)interrupt;
  zt_chunks_find(&d->chunks, job->number, &chunk);
  job->memory = d->chunks.bytes;
  if( chunked_check_size(d, &chunk, &j->err) ) return;
  if( !j->out && (j->out = sqlite3_malloc64(d->chunks.bytes))==NULL ) zt_fail_nomem(&j->err);
  else chunked_decode(d, &chunk, j->out, &j->err);
}

typedef struct chunked_run {
  chunked_decoder *d;
  const zt_error *place;            /* The place of errors */
} chunked_run;

/* The next chunk that is there. */
static bool chunked_follows(void *context, uint64_t *number){
  const chunked_decoder *d = ((const chunked_run*)context)->d;
  return zt_chunks_next(&d->chunks, *number+1, number) && *number<=d->last;
}

static zt_job *chunked_make(void *context, uint64_t number){
  const chunked_run *run = context;
  chunked_job *j = run->d->spare;
  (void)number;
  if( j ){
    run->d->spare = j->next;
    j->decoded = false;
  }else{
    j = sqlite3_malloc64(sizeof(*j));
    if( !j ) return NULL;
    *j = (chunked_job){ .job.work = chunked_work, .of = run->d };
  }
  j->err = *run->place;
  return &j->job;
}

static void chunked_drop(zt_job *job){
  chunked_job *j = (chunked_job*)job;
  zt_error_clear(&j->err);
  j->next = j->of->spare;
  j->of->spare = j;
}

static const zt_jobs chunked_jobs = { chunked_follows, chunked_make, chunked_drop };

/* The decoded chunk of that number, for chunked_drop(). NULL after a failure. */
static chunked_job *chunked_take(chunked_decoder *d, uint64_t number, zt_error *err){
  const zt_interrupt interrupt = d->payload.budget->interrupt;
  chunked_run run = { d, err };
  chunked_job *j = d->spare;
  if( j && j->decoded && j->job.number==number ){
    d->spare = j->next;
    return j;
  }
  d->prefetch.jobs = &chunked_jobs;
  d->prefetch.tasks.pool = d->payload.side_by_side<2 ? d->payload.budget->pool : NULL;
  j = (chunked_job*)zt_prefetch_take(&d->prefetch, &run, number,
                                     d->last>number ? d->last-number : 0, &interrupt, err);
  if( !j ) return NULL;
  j->decoded = !j->err.rc;
  if( j->decoded ) return j;
  *err = j->err;
  j->err = ZT_ERROR_NONE;
  chunked_drop(&j->job);
  return NULL;
}

/* F2. A small chunk is as much work as CHUNKED_LEAST bytes. */
static int chunked_charge_fill(chunked_decoder *d, uint64_t n, zt_error *err){
  if( n<CHUNKED_LEAST ) n = CHUNKED_LEAST;
  if( n>d->most_fill-d->filled ) return chunked_fail_fill(d, err);
  d->filled += n;
  return zt_interrupt_check(&d->payload.budget->interrupt, err);
}

/* Write the bytes from a to b, at least one, to out. */
static int chunked_read(chunked_decoder *d, uint64_t a, uint64_t b, uint8_t *out, zt_error *err){
  chunked_box box;
  chunked_part part;
  zt_chunk chunk;
  chunked_box_of(d, a, b, &box);
  do{
    const uint64_t number = chunked_number(d, &box);
    chunked_job *j;
    chunked_part_of(d, &box, &part);
    if( !chunked_touches(d, &part, a, b) ) continue;
    if( !zt_chunks_find(&d->chunks, number, &chunk) ){
      const uint64_t n = d->chunks.bytes<b-a ? d->chunks.bytes : b-a;
      if( chunked_charge_fill(d, n, err) ) return err->rc;
      chunked_copy(d, &part, NULL, a, b, out);
      continue;
    }
    if( (j = chunked_take(d, number, err))==NULL ) return err->rc;
    chunked_copy(d, &part, j->out, a, b, out);
    chunked_drop(&j->job);
  }while( chunked_box_next(d, &box) );
  return SQLITE_OK;
}

/* --- The encoding --- */

static void chunked_close(zt_decoder *decoder){
  chunked_decoder *d = decoder;
  zt_prefetch_clear(&d->prefetch);
  while( d->spare ){
    chunked_job *j = d->spare;
    d->spare = j->next;
    sqlite3_free(j->out);
    sqlite3_free(j);
  }
  for(int i=0; i<ZT_THREADS_MAX; i++) chunked_free_unfilter(d->unfilter[i]);
  sqlite3_free(d->band);
  sqlite3_free(d);
}

static int chunked_open(const zt_payload *p, zt_decoder **out, zt_error *err){
  const uint64_t side = p->side_by_side>1 ? p->side_by_side : 1;
  chunked_decoder *d = sqlite3_malloc64(sizeof(*d));
  *out = d;
  if( !d ) return zt_fail_nomem(err);
  memset(d, 0, sizeof(*d));
  d->payload = *p;
  zt_chunks_read(p->component->chunks, &d->chunks);
  d->most = chunked_most_band(p->source)/side;
  d->most_fill = chunked_most_fill(p->source);
  if( d->chunks.n>0 ) chunked_set_geometry(d);
  if( !chunked_is_absent(d) || d->total<=d->most_fill ) return SQLITE_OK;
  *out = NULL;
  chunked_fail_fill(d, err);
  chunked_close(d);
  return err->rc;
}

/* The last chunk that may have bytes from a to b. */
static uint64_t chunked_last(const chunked_decoder *d, uint64_t a, uint64_t b){
  chunked_box box;
  chunked_box_of(d, a, b, &box);
  memcpy(box.at, box.high, sizeof(box.at));
  return chunked_number(d, &box);
}

/* Note that n bytes are wanted: the chunks that may be decoded ahead are theirs, and in sequential
** reading all that follow. */
static void chunked_ask(chunked_decoder *d, size_t n){
  const uint64_t end = d->total-d->position<n ? d->total : d->position+n;
  if( end>d->asked ){
    d->row++;
    d->asked = end;
  }
  d->last = d->row>CHUNKED_ROW ? d->chunks.n-1 : chunked_last(d, d->position, d->asked);
}

/* Fail if the chunk at the position cannot have its size, before memory is taken for its band. */
static int chunked_check_first(const chunked_decoder *d, zt_error *err){
  zt_chunk chunk;
  const uint64_t number = chunked_last(d, d->position, d->position+1);
  if( !zt_chunks_find(&d->chunks, number, &chunk) ) return SQLITE_OK;
  return chunked_check_size(d, &chunk, err);
}

/* Decode the rest of the band into d->band. */
static int chunked_fetch(chunked_decoder *d, uint64_t to, zt_error *err){
  const uint64_t n = to-d->position, last = chunked_last(d, d->position, to);
  if( chunked_check_first(d, err) ) return err->rc;
  d->band_from = d->band_to = 0;
  if( d->last<last ) d->last = last;
  if( n>d->band_room ){
    sqlite3_free(d->band);
    d->band_room = 0;
    d->band = sqlite3_malloc64(n);
    if( !d->band ) return zt_fail_nomem(err);
    d->band_room = n;
  }
  if( chunked_read(d, d->position, to, d->band, err) ) return err->rc;
  d->band_from = d->position;
  d->band_to = to;
  return SQLITE_OK;
}

static int chunked_next(zt_decoder *decoder, uint8_t *out, size_t n, size_t *got, zt_error *err){
  chunked_decoder *d = decoder;
  uint64_t from, to;
  *got = 0;
  if( d->position>=d->total || n==0 ) return SQLITE_OK;
  if( chunked_is_absent(d) ){
    *got = d->total-d->position<n ? (size_t)(d->total-d->position) : n;
    if( *got>ZT_POLL_BYTES ) *got = (size_t)ZT_POLL_BYTES;
    if( chunked_charge_fill(d, *got, err) ) return err->rc;
    chunked_fill(d, out, *got, d->position%d->chunks.width);
    d->position += *got;
    return SQLITE_OK;
  }
  chunked_ask(d, n);
  if( d->position<d->band_from || d->position>=d->band_to ){
    chunked_band(d, d->position, n, &from, &to);
    if( n>=to-d->position ){
      *got = (size_t)(to-d->position);
    }else if( d->row>1 || n>=d->below[d->outer] ){
      if( chunked_fetch(d, to, err) ) return err->rc;
    }else{
      *got = n;
    }
  }
  if( *got ){
    if( chunked_read(d, d->position, d->position+*got, out, err) ) return err->rc;
  }else{
    *got = d->band_to-d->position<n ? (size_t)(d->band_to-d->position) : n;
    memcpy(out, d->band+(d->position-d->band_from), *got);
  }
  d->position += *got;
  return SQLITE_OK;
}

static int chunked_seek(zt_decoder *decoder, uint64_t offset, uint64_t *position, zt_error *err){
  chunked_decoder *d = decoder;
  (void)err;
  d->position = offset<d->total ? offset : d->total;
  d->asked = d->position;
  d->row = 0;
  *position = d->position;
  return SQLITE_OK;
}

const zt_encoding zt_encoding_chunked = {
  .name = "chunked", .open = chunked_open, .next = chunked_next, .close = chunked_close,
  .seek = chunked_seek
};
