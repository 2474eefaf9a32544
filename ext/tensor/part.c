/*
** Components on their way into an output. See part.h.
**
** Frames wait in a ring of slots: one is filled, others are encoded by threads, the oldest is
** appended when it is done. A slot is used again when its frame is in the output.
*/
#include "tensor/part.h"

#include <assert.h>
#include "core/digest.h"
#include "core/host.h"
#include "core/window.h"
#include "tensor/frames.h"

#define PART_MEMORY ((uint64_t)48 << 20)   /* Of all slots, at most; there is one at least */
#define PART_POLL ((uint64_t)4 << 20)      /* Bytes between checks for an interrupt */

typedef struct part_slot {
  zt_task task;            /* First */
  const zt_part *part;
  uint8_t *in, *out;       /* `before` bytes of the frame before and those of the frame; encoded */
  size_t before, n, stored;
  bool last, queued;
  zt_frame_memory memory;  /* Owned */
  zt_error err;
} part_slot;

struct zt_part {
  zt_part_options options;
  const zt_frames *frames; /* NULL: the bytes are stored as they are */
  zt_output *output;
  zt_budget *budget;
  uint64_t offset;         /* Where the stored bytes begin */
  uint64_t decoded, polled;
  zt_digest *digest, *xxh3, *crc32;   /* The room's; NULL: not wanted */
  zt_tasks tasks;
  part_slot *slots;        /* The room's; NULL: the bytes are stored as they are */
  uint32_t nSlot, oldest, filling;
  zt_frame_length *lengths;           /* Of all frames, for the trailer; owned */
  size_t nFrame, capacity;
};

/* --- Room --- */

/* A digest that one part after the other computes anew. */
typedef struct part_digest {
  unsigned algorithm;
  zt_digest *digest;       /* Owned; NULL: none yet */
} part_digest;

struct zt_part_room {
  zt_part part;            /* The one that is open */
  part_digest digest, xxh3, crc32;
  const zt_frames *frames; /* Whose sizes the slots have */
  part_slot *slots;        /* Owned; NULL: none yet */
  uint32_t n;
};

zt_part_room *zt_part_room_new(zt_error *err){
  zt_part_room *room = sqlite3_malloc64(sizeof(*room));
  if( room ) *room = (zt_part_room){ .n = 0 };
  else zt_fail_nomem(err);
  return room;
}

static void part_room_clear_slots(zt_part_room *room){
  for(uint32_t i=0; i<room->n; i++){
    zt_window_free(room->slots[i].in);
    zt_window_free(room->slots[i].out);
    sqlite3_free(room->slots[i].memory.p);
  }
  sqlite3_free(room->slots);
  room->slots = NULL;
  room->frames = NULL;
  room->n = 0;
}

void zt_part_room_free(zt_part_room *room){
  if( !room ) return;
  part_room_clear_slots(room);
  zt_digest_close(room->digest.digest);
  zt_digest_close(room->xxh3.digest);
  zt_digest_close(room->crc32.digest);
  sqlite3_free(room);
}

/* Have n slots for such frames. */
static int part_room_fit(zt_part_room *room, const zt_frames *frames, uint32_t n, zt_error *err){
  if( room->frames==frames && room->n==n ) return SQLITE_OK;
  part_room_clear_slots(room);
  room->slots = sqlite3_malloc64(n*sizeof(*room->slots));
  if( !room->slots ) return zt_fail_nomem(err);
  memset(room->slots, 0, n*sizeof(*room->slots));
  room->n = n;
  room->frames = frames;
  return SQLITE_OK;
}

/* --- Slots --- */

static void part_encode(zt_task *task, const zt_interrupt *interrupt){
  part_slot *s = (part_slot*)task;
  const zt_frame frame = {
    .memory = &s->memory,
    .before = { s->in+s->part->frames->before-s->before, s->before },
    .bytes = { s->in+s->part->frames->before, s->n },
    .last = s->last, .level = s->part->options.level
  };
  (void)interrupt;
  s->part->frames->encode(&frame, s->out, &s->stored, &s->err);
}

/* Memory of a slot, which most parts need one of. */
static int part_open_slot(zt_part *p, part_slot *s, zt_error *err){
  s->part = p;
  if( !s->in ) s->in = zt_window_new(p->frames->before+p->frames->size);
  if( !s->out ) s->out = zt_window_new(p->frames->bound(p->frames->size));
  return s->in && s->out ? SQLITE_OK : zt_fail_nomem(err);
}

static int part_open_frames(zt_part *p, zt_part_room *room, zt_error *err){
  const uint64_t each = p->frames->before+p->frames->size+p->frames->bound(p->frames->size);
  uint64_t n = 2*(uint64_t)zt_pool_threads(p->budget->pool);
  if( n>PART_MEMORY/each ) n = PART_MEMORY/each;
  p->nSlot = n>1 ? (uint32_t)n : 1;
  p->tasks.pool = p->budget->pool;
  if( part_room_fit(room, p->frames, p->nSlot, err) ) return err->rc;
  p->slots = room->slots;
  for(uint32_t i=0; i<p->nSlot; i++){
    p->slots[i].before = p->slots[i].n = 0;
    p->slots[i].queued = false;
  }
  return part_open_slot(p, &p->slots[0], err);
}

static bool part_begin_digest(part_digest *d, unsigned algorithm, bool wanted, zt_digest **out,
                              zt_error *err){
  if( !wanted ) return true;
  if( d->digest && d->algorithm==algorithm ){
    if( !zt_digest_restart(d->digest, err) ) return false;
  }else{
    zt_digest_close(d->digest);
    d->algorithm = algorithm;
    d->digest = zt_digest_begin(algorithm, err);
  }
  *out = d->digest;
  return *out!=NULL;
}

int zt_part_open(const zt_part_options *options, zt_part_room *room, zt_output *output,
                 zt_budget *budget, zt_part **out, zt_error *err){
  zt_part *p = &room->part;
  bool shared;
  *out = NULL;
  *p = (zt_part){
    .options = *options, .output = output, .budget = budget, .offset = zt_output_size(output)
  };
  if( options->codec!=ZT_CODEC_RAW ) p->frames = zt_frames_of(options->codec);
  assert( options->codec==ZT_CODEC_RAW || p->frames );
  shared = options->digest==ZT_DIGEST_XXH3 && !(p->frames && options->digest_of_decoded);
  if( part_begin_digest(&room->digest, options->digest, options->digest!=0, &p->digest, err)
   && part_begin_digest(&room->xxh3, ZT_DIGEST_XXH3, options->xxh3 && !shared, &p->xxh3, err)
   && part_begin_digest(&room->crc32, ZT_DIGEST_CRC32, options->crc32, &p->crc32, err)
   && (!p->frames || part_open_frames(p, room, err)==SQLITE_OK) ){
    *out = p;
    return SQLITE_OK;
  }
  zt_part_close(p);
  return err->rc;
}

void zt_part_close(zt_part *p){
  if( !p ) return;
  if( p->slots ) zt_pool_abandon(&p->tasks);
  for(uint32_t i=0; p->slots && i<p->nSlot; i++) zt_error_clear(&p->slots[i].err);
  sqlite3_free(p->lengths);
}

/* --- Bytes --- */

static int part_append(zt_part *p, zt_span stored, zt_error *err){
  if( p->digest && !p->options.digest_of_decoded ) zt_digest_update(p->digest, stored);
  if( p->xxh3 ) zt_digest_update(p->xxh3, stored);
  return zt_output_append(p->output, stored, err);
}

static int part_keep_length(zt_part *p, const part_slot *s, zt_error *err){
  if( !p->frames->trailer ) return SQLITE_OK;
  if( p->nFrame==p->capacity ){
    const size_t capacity = p->capacity ? 2*p->capacity : 64;
    zt_frame_length *a = sqlite3_realloc64(p->lengths, (uint64_t)capacity*sizeof(*a));
    if( !a ) return zt_fail_nomem(err);
    p->lengths = a;
    p->capacity = capacity;
  }
  p->lengths[p->nFrame++] = (zt_frame_length){ (uint32_t)s->stored, (uint32_t)s->n };
  return SQLITE_OK;
}

/* Append the oldest frame when it is encoded. */
static int part_append_oldest(zt_part *p, zt_error *err){
  part_slot *s = &p->slots[p->oldest];
  if( zt_pool_wait(&p->tasks, &s->task, &p->budget->interrupt, err) ) return err->rc;
  if( s->err.rc ){
    return s->err.rc==SQLITE_NOMEM ? zt_fail_nomem(err)
         : zt_fail(err, s->err.rc, "%s", s->err.message);
  }
  if( part_keep_length(p, s, err) ) return err->rc;
  if( part_append(p, (zt_span){ s->out, s->stored }, err) ) return err->rc;
  s->queued = false;
  p->oldest = (p->oldest+1)%p->nSlot;
  return SQLITE_OK;
}

/* Hand a full slot to the threads, and make the next one ready: its `before` bytes are the end of
** this one. */
static int part_queue(zt_part *p, bool last, zt_error *err){
  part_slot *s = &p->slots[p->filling], *next;
  const size_t before = p->frames->before;
  s->last = last;
  s->queued = true;
  s->task = (zt_task){ .run = part_encode };
  zt_pool_add(&p->tasks, &s->task, false);
  if( last ) return SQLITE_OK;
  p->filling = (p->filling+1)%p->nSlot;
  next = &p->slots[p->filling];
  if( next->queued && part_append_oldest(p, err) ) return err->rc;
  if( part_open_slot(p, next, err) ) return err->rc;
  next->before = s->n<before ? s->n : before;
  if( before ) memmove(next->in+before-next->before, s->in+before+s->n-next->before, next->before);
  next->n = 0;
  return SQLITE_OK;
}

static int part_fill(zt_part *p, zt_span bytes, zt_error *err){
  while( bytes.n>0 ){
    part_slot *s = &p->slots[p->filling];
    const size_t room = p->frames->size-s->n, n = bytes.n<room ? bytes.n : room;
    if( n==0 ){
      if( part_queue(p, false, err) ) return err->rc;
      continue;
    }
    memcpy(s->in+p->frames->before+s->n, bytes.p, n);
    s->n += n;
    bytes.p += n;
    bytes.n -= n;
  }
  return SQLITE_OK;
}

int zt_part_take(zt_part *p, zt_span bytes, zt_error *err){
  p->decoded += bytes.n;
  p->polled += bytes.n;
  if( p->crc32 ) zt_digest_update(p->crc32, bytes);
  if( p->digest && p->options.digest_of_decoded ) zt_digest_update(p->digest, bytes);
  if( p->polled>=PART_POLL ){
    p->polled = 0;
    if( zt_interrupt_check(&p->budget->interrupt, err) ) return err->rc;
  }
  return p->frames ? part_fill(p, bytes, err) : part_append(p, bytes, err);
}

static int part_append_trailer(zt_part *p, zt_error *err){
  const size_t n = p->frames->trailer_size(p->lengths, p->nFrame);
  uint8_t *trailer = sqlite3_malloc64(n);
  if( !trailer ) return zt_fail_nomem(err);
  p->frames->trailer(p->lengths, p->nFrame, trailer);
  part_append(p, (zt_span){ trailer, n }, err);
  sqlite3_free(trailer);
  return err->rc;
}

static int part_finish_frames(zt_part *p, zt_error *err){
  if( part_queue(p, true, err) ) return err->rc;
  while( p->slots[p->oldest].queued && !err->rc ) part_append_oldest(p, err);
  if( p->frames->trailer && !err->rc ) part_append_trailer(p, err);
  return err->rc;
}

int zt_part_finish(zt_part *p, zt_stored *out, char text[ZT_DIGEST_TEXT], uint64_t *decoded,
                   zt_error *err){
  if( p->frames && part_finish_frames(p, err) ) return err->rc;
  *decoded = p->decoded;
  *out = (zt_stored){ .offset = p->offset, .length = zt_output_size(p->output)-p->offset };
  if( p->crc32 ) out->crc32 = (uint32_t)zt_digest_number(p->crc32);
  if( p->options.xxh3 ) out->xxh3 = zt_digest_number(p->xxh3 ? p->xxh3 : p->digest);
  text[0] = 0;
  if( p->digest ) zt_digest_text(p->digest, text);
  return SQLITE_OK;
}
