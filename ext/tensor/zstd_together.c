/*
** Decoding the frames of a component of the encoding zstd by several threads, each frame straight
** into its place in the result. See zt_encoding.together() in encoding.h.
**
** The headers of frames and blocks show where frames begin, without decoding. If they state all
** lengths, and if these make the whole content, the frames are jobs. Any doubt or failure leaves
** the content to the decoder of one thread: so it has the same bytes, or the same error. Headers
** must therefore keep every rule that the decoder has beyond those of a frame alone.
*/
#include <zstd.h>
#include "core/grow.h"
#include "core/host.h"
#include "core/prefetch.h"
#include "tensor/encoding.h"
#include "tensor/zstd_frame.h"

#define TOGETHER_WINDOW_MAX ((uint64_t)1 << 27)   /* libzstd's default limit for a stream */
#define TOGETHER_PEEK ((size_t)512)               /* Bytes read for headers at once */
#define TOGETHER_STEPS ((uint64_t)256)            /* Headers that are read in any case */
#define TOGETHER_STEP_BYTES ((uint64_t)8 << 10)   /* Bytes of content that are worth one more */

typedef struct together_frame {
  uint64_t from, to;         /* Offsets in the stored bytes and in the content */
  uint32_t stored, content;  /* Bytes; at most ZT_WHOLE_MAX: decoding one is not interrupted */
} together_frame;

typedef struct together {
  const zt_payload *payload;
  uint8_t *out;
  together_frame *a;         /* Owned */
  size_t n, room;
  uint64_t content;          /* Of the frames so far */
  uint32_t largest;          /* Stored bytes of a frame, at most */
  struct together_job *spare;   /* Jobs whose memory is used again; owned */
} together;

/* --- Where frames begin --- */

typedef struct together_scan {
  const zt_payload *payload;
  zt_error *err;
  uint64_t at;               /* Offset in the stored bytes */
  uint64_t steps;            /* Headers that may still be read */
  uint64_t begin;            /* Of the bytes in peek */
  size_t n;
  uint8_t peek[TOGETHER_PEEK];
} together_scan;

/* Return the bytes at s->at: `want` of them, or fewer at the end. *p is NULL if they cannot be
** read. */
static size_t together_peek(together_scan *s, size_t want, const uint8_t **p){
  const zt_component *c = s->payload->component;
  const uint64_t rest = c->length-s->at;
  const size_t n = rest<want ? (size_t)rest : want;
  if( s->at<s->begin || s->at-s->begin>s->n || s->n-(size_t)(s->at-s->begin)<n ){
    s->begin = s->at;
    s->n = rest<TOGETHER_PEEK ? (size_t)rest : TOGETHER_PEEK;
    if( zt_source_read(s->payload->source, c->offset+s->at, s->peek, s->n, s->err) ) s->n = 0;
  }
  *p = s->n ? s->peek+(s->at-s->begin) : NULL;
  return s->n ? n : 0;
}

static bool together_advance(together_scan *s, uint64_t n){
  if( s->steps==0 || n>s->payload->component->length-s->at ) return false;
  s->steps--;
  s->at += n;
  return true;
}

/* Go behind the blocks of a frame and its checksum. */
static bool together_pass_blocks(together_scan *s, zt_zstd_head head, bool checksum){
  bool last = false;
  while( !last ){
    zt_zstd_block block;
    const uint8_t *p;
    if( together_peek(s, ZT_ZSTD_BLOCK_HEAD, &p)<ZT_ZSTD_BLOCK_HEAD ) return false;
    block = zt_zstd_read_block(p);
    if( block.content>zt_zstd_block_max(head) || !together_advance(s, block.size) ) return false;
    last = block.last;
  }
  return !checksum || together_advance(s, 4);
}

static bool together_add(together *t, uint64_t from, uint64_t stored, uint64_t content,
                         zt_error *err){
  together_frame *a = zt_grow(t->a, &t->room, t->n+1, sizeof(*a), err);
  if( !a ) return false;
  t->a = a;
  t->a[t->n++] = (together_frame){ from, t->content, (uint32_t)stored, (uint32_t)content };
  t->content += content;
  if( stored>t->largest ) t->largest = (uint32_t)stored;
  return true;
}

/* Go behind the next frame, and note it unless it is skippable. `total` is the whole content. */
static bool together_next(together *t, together_scan *s, uint64_t total){
  const uint8_t *p;
  const size_t n = together_peek(s, ZT_ZSTD_HEAD_MAX, &p);
  const uint64_t from = s->at;
  zt_zstd_head head;
  bool checksum;
  if( n<8 || !zt_zstd_is_magic(p) ) return false;
  if( zt_zstd_is_skippable(p) ) return together_advance(s, 8+(uint64_t)zt_le32(p+4));
  head = zt_zstd_read_head(p, n);
  checksum = p[4] & ZT_ZSTD_CHECKSUM;
  if( head.window>TOGETHER_WINDOW_MAX || head.content>ZT_WHOLE_MAX
   || head.content>total-t->content || (from==0 && head.content==total) ) return false;
  return together_advance(s, head.size) && together_pass_blocks(s, head, checksum)
      && s->at-from<=ZT_WHOLE_MAX && together_add(t, from, s->at-from, head.content, s->err);
}

/* Return whether the frames are known, are several, and make n bytes. */
static bool together_find(together *t, uint64_t n, zt_error *err){
  together_scan s = {
    .payload = t->payload, .err = err, .steps = TOGETHER_STEPS+n/TOGETHER_STEP_BYTES
  };
  while( s.at<t->payload->component->length ) if( !together_next(t, &s, n) ) return false;
  return t->n>1 && t->content==n;
}

/* --- Jobs --- */

typedef struct together_job {
  zt_job job;                /* First */
  together *of;
  struct together_job *next; /* In the list of spare jobs */
  ZSTD_DCtx *ctx;
  uint8_t *in;               /* Room for any frame's stored bytes; NULL for an image */
  bool done;
} together_job;

static void together_work(zt_job *job, const zt_interrupt *interrupt){
  together_job *j = (together_job*)job;
  const together *t = j->of;
  const together_frame *f = &t->a[job->number];
  const zt_payload *p = t->payload;
  const zt_span image = zt_source_image(p->source);
  const uint64_t at = p->component->offset+f->from;
  zt_error err = ZT_ERROR_NONE;
  (void)interrupt;
  job->memory = t->largest;
  if( !image.p && !j->in ) j->in = sqlite3_malloc64(t->largest);
  if( !j->ctx ) j->ctx = ZSTD_createDCtx();
  j->done = j->ctx && (image.p || j->in)
         && (image.p || zt_source_read(p->source, at, j->in, f->stored, &err)==SQLITE_OK)
         && ZSTD_decompressDCtx(j->ctx, t->out+f->to, f->content, image.p ? image.p+at : j->in,
                                f->stored)==f->content;
  zt_error_clear(&err);
}

static bool together_follows(void *context, uint64_t *number){
  return ++*number<((const together*)context)->n;
}

static zt_job *together_make(void *context, uint64_t number){
  together *t = context;
  together_job *j = t->spare;
  (void)number;
  if( j ){
    t->spare = j->next;
  }else{
    j = sqlite3_malloc64(sizeof(*j));
    if( !j ) return NULL;
    *j = (together_job){ .job.work = together_work, .of = t };
  }
  return &j->job;
}

static void together_drop(zt_job *job){
  together_job *j = (together_job*)job;
  j->next = j->of->spare;
  j->of->spare = j;
}

static const zt_jobs together_jobs = { together_follows, together_make, together_drop };

static void together_clear(together *t){
  sqlite3_free(t->a);
  while( t->spare ){
    together_job *next = t->spare->next;
    ZSTD_freeDCtx(t->spare->ctx);
    sqlite3_free(t->spare->in);
    sqlite3_free(t->spare);
    t->spare = next;
  }
}

/* Return whether every frame has its content. */
static bool together_decode(together *t, zt_error *err){
  const zt_budget *budget = t->payload->budget;
  const zt_interrupt interrupt = budget->interrupt;
  zt_prefetch prefetch = {
    .jobs = &together_jobs, .tasks.pool = budget->pool, .whole = true, .largest = t->largest
  };
  bool done = true;
  for(size_t i=0; i<t->n && done; i++){
    zt_job *job = zt_prefetch_take(&prefetch, t, i, t->n-1-i, &interrupt, err);
    done = job && ((together_job*)job)->done;
    if( job ) together_drop(job);
  }
  zt_prefetch_clear(&prefetch);
  return done;
}

int zt_zstd_together(const zt_payload *p, uint8_t *out, uint64_t n, bool *done, zt_error *err){
  together t = { .payload = p, .out = out };
  zt_error failed = *err;
  *done = together_find(&t, n, &failed) && together_decode(&t, &failed);
  together_clear(&t);
  if( failed.rc==SQLITE_INTERRUPT ) *err = failed;
  else zt_error_clear(&failed);
  return err->rc;
}
