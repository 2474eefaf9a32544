/* Opening a pickle, in one piece or several. See pickle.h and pickle_open.h; rules: pickle.c. */
#include "container/pickle_open.h"

#include <assert.h>
#include "container/pickle_machine.h"
#include "core/grow.h"
#include "core/host.h"

#define OPEN_POLL 0xFFFF   /* Opcodes between checks for an interrupt, less 1 */

/* How often each opcode occurs in a piece. Small pieces have few of them. */
typedef struct open_times {
  uint64_t of[256];
  uint8_t seen[256];       /* The n opcodes that occur */
  unsigned n;
} open_times;

/* Find the end of a piece: behind STOP, or, if there are several, behind BUILD. Add the opcodes
** to times, unless that is NULL. */
static bool open_scan(zt_span bytes, size_t *at, bool several, open_times *times,
                      const zt_interrupt *interrupt, zt_error *err){
  uint64_t steps = 0;
  uint8_t code = 0;
  for(size_t size; code!=ZT_PICKLE_OP_STOP && !(several && code==ZT_PICKLE_OP_BUILD); *at+=size){
    if( (++steps & OPEN_POLL)==0 && zt_interrupt_check(interrupt, err) ) return false;
    size = zt_pickle_size_at(bytes, *at);
    if( size==0 ){
      zt_pickle_read r = { .next = *at };
      if( !zt_pickle_read_any(&r, bytes, err) ) return false;
      size = r.next-*at;
    }
    code = bytes.p[*at];
    if( times && times->of[code]++==0 ) times->seen[times->n++] = code;
  }
  return true;
}

/* Count the capacities that opcodes need, and forget these. They pop only pushed nodes, so there
** are no more children than pushing opcodes. */
static void open_count(zt_pickle_machine *m, open_times *times){
  while( times->n>0 ){
    const uint8_t code = times->seen[--times->n];
    const zt_pickle_opcode *opcode = &zt_pickle_opcodes[code];
    const uint64_t n = times->of[code];
    times->of[code] = 0;
    m->nodes += n*opcode->nodes;
    if( opcode->needs & ZT_PICKLE_CALLS ) m->calls += n;
    if( opcode->needs & ZT_PICKLE_PUSHES ) m->words += n;
    if( opcode->needs & ZT_PICKLE_PIECE ) m->words += n*ZT_PICKLE_PIECE_HEAD;
    if( opcode->needs & ZT_PICKLE_PUTS ) m->puts += n;
  }
}

/* Make room for n items. The first time there is no more than that; then it grows by half. */
static void *open_grow(void *a, uint64_t *room, uint64_t n, size_t size, zt_error *err){
  const uint64_t more = *room+*room/2, wanted = n>more ? n : more;
  void *p;
  if( err->rc || n<=*room ) return a;
  p = sqlite3_realloc64(a, wanted*size);
  if( !p ){
    zt_fail_nomem(err);
    return a;
  }
  *room = wanted;
  return p;
}

static bool open_reserve(zt_pickle_machine *m){
  zt_pickle *p = m->p;
  p->items = open_grow(p->items, &m->roomNodes, m->nodes, sizeof(*p->items), m->err);
  p->words = open_grow(p->words, &m->roomWords, m->words, sizeof(*p->words), m->err);
  p->calls = open_grow(p->calls, &m->roomCalls, m->calls+1, sizeof(*p->calls), m->err);
  return !m->err->rc
      && zt_pickle_memo_reserve(&m->memo, m->puts+ZT_PICKLE_SMALLS, m->err)==SQLITE_OK;
}

/* Add the fixed nodes. */
static void open_begin(zt_pickle_machine *m){
  zt_pickle *p = m->p;
  p->words[0] = 0;
  p->items[0] = (zt_pickle_item){ .kind = ZT_PICKLE_NONE };
  p->n = p->nWords = 1;
  for(int kind=ZT_PICKLE_NONE; kind<=ZT_PICKLE_TRUE; kind++) zt_pickle_add(m, (zt_pickle_kind)kind);
  zt_pickle_add(m, ZT_PICKLE_TUPLE);
  for(int i=0; i<ZT_PICKLE_SMALLS; i++) p->items[zt_pickle_add(m, ZT_PICKLE_INTEGER)].integer = i;
}

static zt_pickle_machine open_machine(zt_pickle *p, const zt_interrupt *interrupt, zt_error *err){
  return (zt_pickle_machine){
    .p = p, .err = err, .interrupt = interrupt, .nodes = ZT_PICKLE_SMALL+ZT_PICKLE_SMALLS,
    .words = 1
  };
}

static void open_end(zt_pickle_machine *m){
  sqlite3_free(m->stack);
  zt_pickle_memo_clear(&m->memo);
}

static int open_fail_large(size_t n, zt_error *err){
  return zt_break(err, "PK2", "a pickle of %llu bytes, 256 MiB are the most",
                  (unsigned long long)n);
}

int zt_pickle_open(zt_span bytes, const zt_interrupt *interrupt, zt_pickle **out, size_t *used,
                   zt_error *err){
  zt_pickle *p = sqlite3_malloc64(sizeof(*p));
  zt_pickle_machine m = open_machine(p, interrupt, err);
  open_times times = { .n = 0 };
  size_t end = 0;
  *out = NULL;
  if( !p ) return zt_fail_nomem(err);
  *p = (zt_pickle){ .bytes = bytes };
  if( bytes.n>ZT_PICKLE_MAX ){
    open_fail_large(bytes.n, err);
  }else if( open_scan(bytes, &end, false, &times, interrupt, err) ){
    open_count(&m, &times);
    if( open_reserve(&m) ){
      open_begin(&m);
      zt_pickle_run(&m, end);
    }
  }
  open_end(&m);
  if( err->rc ){
    zt_pickle_close(p);
  }else{
    *used = end;
    *out = p;
  }
  return err->rc;
}

/* --- Several pieces --- */

struct zt_pickle_pieces {
  zt_pickle_machine machine;
  open_times times;          /* None between two pieces */
  zt_pickle_node built;
  zt_pickle_node *roots;     /* Of the pickles before the current one; owned */
  uint32_t nRoots;
  size_t roomRoots;
  bool inside;               /* In another pickle: `outer` has what belongs to the first */
  struct {
    uint32_t *stack;         /* Owned, as is the memo */
    uint32_t depth, room;
    uint64_t puts;
    zt_pickle_memo memo;
  } outer;
};

int zt_pickle_pieces_open(const zt_interrupt *interrupt, zt_pickle_pieces **out, zt_error *err){
  zt_pickle *p = sqlite3_malloc64(sizeof(*p));
  zt_pickle_pieces *s = sqlite3_malloc64(sizeof(*s));
  *out = s;
  if( p ) *p = (zt_pickle){ .n = 0 };
  if( s ) *s = (zt_pickle_pieces){ .machine = open_machine(p, interrupt, err) };
  else zt_pickle_close(p);
  if( s ) s->machine.several = true;
  if( !p || !s ) zt_fail_nomem(err);
  else if( open_reserve(&s->machine) ) open_begin(&s->machine);
  if( !err->rc ) return SQLITE_OK;
  zt_pickle_pieces_close(s);
  *out = NULL;
  return err->rc;
}

void zt_pickle_pieces_close(zt_pickle_pieces *s){
  if( !s ) return;
  zt_pickle_close(s->machine.p);
  open_end(&s->machine);
  sqlite3_free(s->roots);
  sqlite3_free(s->outer.stack);
  zt_pickle_memo_clear(&s->outer.memo);
  sqlite3_free(s);
}

int zt_pickle_piece(zt_span bytes, size_t *at, const zt_interrupt *interrupt, zt_error *err){
  open_scan(bytes, at, true, NULL, interrupt, err);
  return err->rc;
}

/* The value of the inner pickle stands behind the BUILD before it. */
static void open_leave(zt_pickle_pieces *s){
  zt_pickle_machine *m = &s->machine;
  zt_pickle *p = m->p;
  p->behind[p->nBehind-1].node = p->root;
  p->root = 0;
  sqlite3_free(m->stack);
  zt_pickle_memo_clear(&m->memo);
  m->stack = s->outer.stack;
  m->depth = s->outer.depth;
  m->room = s->outer.room;
  m->puts = s->outer.puts;
  m->memo = s->outer.memo;
  s->built = 0;
  memset(&s->outer, 0, sizeof(s->outer));
  s->inside = false;
}

int zt_pickle_pieces_add(zt_pickle_pieces *s, zt_span bytes, size_t from, zt_error *err){
  zt_pickle_machine *m = &s->machine;
  size_t end = from;
  m->err = err;
  m->p->bytes = bytes;
  m->r.next = from;
  if( bytes.n>ZT_PICKLE_MAX ) return open_fail_large(bytes.n, err);
  if( !open_scan(bytes, &end, true, &s->times, m->interrupt, err) ) return err->rc;
  open_count(m, &s->times);
  if( !open_reserve(m) || !zt_pickle_run(m, end) ) return err->rc;
  s->built = m->p->root || !m->depth ? 0 : m->stack[m->depth-1];
  if( m->p->root && s->inside ) open_leave(s);
  else if( m->p->root ) s->built = 0;
  return SQLITE_OK;
}

zt_pickle *zt_pickle_pieces_tree(const zt_pickle_pieces *s){ return s->machine.p; }
zt_pickle_node zt_pickle_pieces_built(const zt_pickle_pieces *s){ return s->built; }
bool zt_pickle_pieces_inside(const zt_pickle_pieces *s){ return s->inside; }

bool zt_pickle_pieces_ended(const zt_pickle_pieces *s){ return s->machine.p->root>0; }

/* Keep the value of a pickle that has ended. */
static int open_keep_root(zt_pickle_pieces *s, zt_error *err){
  zt_pickle_node *roots = zt_grow(s->roots, &s->roomRoots, (uint64_t)s->nRoots+1, sizeof(*roots),
                                  err);
  assert( zt_pickle_pieces_ended(s) && !s->inside );
  if( !roots ) return err->rc;
  s->roots = roots;
  s->roots[s->nRoots++] = s->machine.p->root;
  s->machine.p->root = 0;
  return SQLITE_OK;
}

int zt_pickle_pieces_next(zt_pickle_pieces *s, bool own_memo, zt_error *err){
  if( open_keep_root(s, err) || !own_memo ) return err->rc;
  zt_pickle_memo_clear(&s->machine.memo);
  s->machine.puts = 0;
  return SQLITE_OK;
}

int zt_pickle_pieces_join(zt_pickle_pieces *s, zt_span bytes, zt_error *err){
  zt_pickle_machine *m = &s->machine;
  zt_pickle *p = m->p;
  p->bytes = bytes;
  if( s->nRoots==0 ) return SQLITE_OK;
  m->err = err;
  m->nodes++;
  m->words += (uint64_t)s->nRoots+1;
  if( open_keep_root(s, err) || !open_reserve(m) ) return err->rc;
  p->root = zt_pickle_add(m, ZT_PICKLE_TUPLE);
  p->items[p->root].a = p->nWords;
  p->items[p->root].n = s->nRoots;
  memcpy(p->words+p->nWords, s->roots, s->nRoots*sizeof(*s->roots));
  p->nWords += s->nRoots;
  return SQLITE_OK;
}

zt_pickle *zt_pickle_pieces_take(zt_pickle_pieces *s){
  zt_pickle *p = s->machine.p;
  s->machine.p = NULL;
  return p;
}

int zt_pickle_pieces_place(zt_pickle_pieces *s, uint64_t offset, zt_error *err){
  zt_pickle *p = s->machine.p;
  zt_pickle_behind *behind = p->behind;
  assert( s->built && p->items[s->built].kind==ZT_PICKLE_CALL );
  if( (p->nBehind & (p->nBehind-1))==0 ){   /* A power of two, or none: twice as many */
    behind = sqlite3_realloc64(p->behind, 2*((uint64_t)p->nBehind+1)*sizeof(*behind));
    if( !behind ) return zt_fail_nomem(err);
    p->behind = behind;
  }
  behind[p->nBehind++] = (zt_pickle_behind){ .offset = offset };
  p->calls[p->items[s->built].a].behind = p->nBehind;
  return SQLITE_OK;
}

int zt_pickle_pieces_enter(zt_pickle_pieces *s, zt_error *err){
  zt_pickle_machine *m = &s->machine;
  assert( !s->inside );
  if( zt_pickle_pieces_place(s, 0, err) ) return err->rc;
  s->outer.stack = m->stack;
  s->outer.depth = m->depth;
  s->outer.room = m->room;
  s->outer.puts = m->puts;
  s->outer.memo = m->memo;
  m->stack = NULL;
  m->depth = m->room = 0;
  m->puts = 0;
  m->memo = (zt_pickle_memo){ .room = 0 };
  s->inside = true;
  return SQLITE_OK;
}
