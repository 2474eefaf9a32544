/*
** Pickles of protocols 0 to 5 (Python's pickletools says what each opcode is).
**
**   pickle   := (opcode argument)* STOP
**   argument := fixed | line | counted   ; pickle_opcodes.h says which opcode has which
**
**   PK1  every opcode is one of protocols 0 to 5
**   PK2  arguments end within the pickle, which ends with STOP; it has at most ZT_PICKLE_MAX bytes
**   PK3  an argument is what its opcode takes: digits, escapes, a length that is not negative
**   PK4  what an opcode takes from the stack is there, and of the kind that it needs
**   PK5  what takes all from a mark on finds one
**   PK6  a memo's entry is read after it was written
**
** The pickle is gone through twice. The first time only counts: then there is room for all that may
** come, and nothing has to grow but the stack. Children are put down when an opcode takes them from
** the stack. A tuple has all of its own at once; a list, a set or a dict gets them piece by piece,
** and each piece says where the next one is. Entries of the memo are numbered in the order of
** writing by real picklers, so that as many of them as are written are an array; others are hashed,
** with a multiplier that no file knows.
*/
#include "container/pickle.h"

#include <assert.h>
#include "container/pickle_opcodes.h"
#include "container/pickle_text.h"
#include "core/host.h"
#include "core/utf8.h"

#define PICKLE_PROTOCOL 5
#define PICKLE_BYTES 256          /* Nodes for the integers of one byte, */
#define PICKLE_SMALL 5            /* the first of which has this number */
#define PICKLE_LONG_TEXT 64       /* From so many bytes on, they are counted once */
#define PICKLE_POLL 0xFFFF        /* Opcodes between two questions whether to go on, less 1 */
#define PICKLE_STACK_FIRST 256u
#define PICKLE_MARK 0             /* On the stack, among nodes */

/* Of an item: where its bytes are. */
enum { PICKLE_MADE = 0x1,   /* Among those that were unescaped */
       PICKLE_PAIR = 0x2,   /* Of a global: two nodes have module and name */
       PICKLE_WIDE = 0x4,   /* An integer that is bytes */
       PICKLE_STRING = 0x8,   /* A text that an opcode for bytes of Python 2 wrote */
       PICKLE_DROPPED = 0x10 };   /* A call whose result was taken off the stack */

typedef struct pickle_item {
  uint16_t kind, flags;
  uint32_t n;            /* Children, or bytes */
  union {
    struct {
      uint32_t a;        /* The first byte, child or piece; a call's index; module, id */
      uint32_t b;        /* The last piece; bytes of the module's name; name; characters of a long
                         ** text, UINT32_MAX if they are not all of Latin-1 */
    };
    int64_t integer;
    double real;
  };
} pickle_item;

typedef struct pickle_call {
  zt_pickle_node callee, args, keywords, list, dict, state;
} pickle_call;

/* Before the children of a piece. */
enum { PICKLE_PIECE_N, PICKLE_PIECE_NEXT, PICKLE_PIECE_HEAD };

struct zt_pickle {
  zt_span bytes;
  zt_pickle_node root;
  uint32_t n, nWords, nCalls;   /* How many there are */
  pickle_item *items;           /* Node 0 is none */
  uint32_t *words;              /* Children, and heads of pieces; piece 0 is none */
  pickle_call *calls;
  uint8_t *made;
  size_t nMade, roomMade;
  bool drops;                   /* A node is PICKLE_DROPPED */
};

typedef struct pickle_entry { uint32_t key; zt_pickle_node node; } pickle_entry;

/* The walk. */
typedef struct pickle_machine {
  zt_pickle *p;
  zt_error *err;
  const zt_interrupt *interrupt;
  zt_pickle_read r;             /* The opcode */
  uint64_t nodes, words, calls, puts;   /* Room for so many */
  uint32_t *stack;
  uint32_t depth, room;
  zt_pickle_node *memo;         /* Entries below roomMemo */
  uint32_t roomMemo;
  uint32_t entries;             /* How many there are in both */
  pickle_entry *others;         /* Those with other keys, hashed; node 0 is a free place. NULL until
                                ** there is one */
  unsigned shift;               /* 32 minus the bits of a place in them */
  uint64_t multiplier;
} pickle_machine;

/* --- Opcodes --- */

#define pickle_fail(m, ...) zt_pickle_fail(&(m)->r, (m)->err, __VA_ARGS__)

static bool pickle_poll(pickle_machine *m, uint64_t *steps){
  return (++*steps & PICKLE_POLL)!=0 || zt_interrupt_check(m->interrupt, m->err)==SQLITE_OK;
}

/* The first time through: count what the second may need. What is taken from the stack was pushed
** before, so there are no more children than opcodes that push. */
static bool pickle_measure(pickle_machine *m){
  const zt_span bytes = m->p->bytes;
  uint64_t steps = 0, times[256] = { 0 };
  for(size_t at=0, size; times[ZT_PICKLE_OP_STOP]==0; at+=size){
    if( !pickle_poll(m, &steps) ) return false;
    size = zt_pickle_size_at(bytes, at);
    if( size==0 ){
      zt_pickle_read r = { .next = at };
      if( !zt_pickle_read_any(&r, bytes, m->err) ) return false;
      size = r.next-at;
    }
    times[bytes.p[at]]++;
  }
  for(size_t i=0; i<256; i++){
    const zt_pickle_opcode *opcode = &zt_pickle_opcodes[i];
    m->nodes += times[i]*opcode->nodes;
    if( opcode->needs & ZT_PICKLE_CALLS ) m->calls += times[i];
    if( opcode->needs & ZT_PICKLE_PUSHES ) m->words += times[i];
    if( opcode->needs & ZT_PICKLE_PIECE ) m->words += times[i]*PICKLE_PIECE_HEAD;
    if( opcode->needs & ZT_PICKLE_PUTS ) m->puts += times[i];
  }
  return true;
}

/* --- Nodes --- */

static zt_pickle_node pickle_add(pickle_machine *m, zt_pickle_kind kind){
  zt_pickle *p = m->p;
  assert( p->n<m->nodes );
  p->items[p->n] = (pickle_item){ .kind = (uint16_t)kind };
  return p->n++;
}

/* Room for n bytes that are made; NULL if memory is short. */
static uint8_t *pickle_make(pickle_machine *m, size_t n){
  zt_pickle *p = m->p;
  if( !p->made || n>p->roomMade-p->nMade ){
    uint64_t room = (uint64_t)p->nMade+n+p->roomMade/2+64;
    uint8_t *made = sqlite3_realloc64(p->made, room);
    if( !made ){
      zt_fail_nomem(m->err);
      return NULL;
    }
    p->made = made;
    p->roomMade = (size_t)room;
  }
  p->nMade += n;
  return p->made+(p->nMade-n);
}

/* How many characters a valid UTF-8 text has, if each is below U+0100; UINT32_MAX if not. */
static uint32_t pickle_count_latin1(zt_span text){
  uint32_t n = 0;
  for(size_t i=0; i<text.n; i++, n++){
    if( text.p[i]<0x80 ) continue;
    if( text.p[i]>0xC3 ) return UINT32_MAX;
    i++;
  }
  return n;
}

/* A node of bytes of the pickle; text, if that is what they are to be and can be. */
static zt_pickle_node pickle_add_bytes(pickle_machine *m, zt_span bytes, bool text){
  bool is_text = text && zt_utf8_valid(bytes.p, bytes.n);
  zt_pickle_node node = pickle_add(m, is_text ? ZT_PICKLE_TEXT : ZT_PICKLE_BYTES);
  m->p->items[node].n = (uint32_t)bytes.n;
  m->p->items[node].a = (uint32_t)(bytes.p-m->p->bytes.p);
  if( is_text && bytes.n>=PICKLE_LONG_TEXT ) m->p->items[node].b = pickle_count_latin1(bytes);
  return node;
}

/* The same of the last n bytes that were made. */
static zt_pickle_node pickle_add_made(pickle_machine *m, size_t n){
  zt_pickle *p = m->p;
  const zt_span bytes = { p->made+(p->nMade-n), n };
  bool is_text = zt_utf8_valid(bytes.p, n);
  zt_pickle_node node = pickle_add(m, is_text ? ZT_PICKLE_TEXT : ZT_PICKLE_BYTES);
  p->items[node].flags = PICKLE_MADE;
  p->items[node].n = (uint32_t)n;
  p->items[node].a = (uint32_t)(p->nMade-n);
  if( is_text && n>=PICKLE_LONG_TEXT ) p->items[node].b = pickle_count_latin1(bytes);
  return node;
}

static zt_pickle_node pickle_add_integer(pickle_machine *m, int64_t i){
  zt_pickle_node node;
  if( i>=0 && i<PICKLE_BYTES ) return PICKLE_SMALL+(zt_pickle_node)i;
  node = pickle_add(m, ZT_PICKLE_INTEGER);
  m->p->items[node].integer = i;
  return node;
}

/* A little-endian two's complement: where it is, if it is long. */
static zt_pickle_node pickle_add_long(pickle_machine *m, zt_span bytes, size_t at, unsigned flags){
  zt_pickle_node node;
  bytes.n = zt_pickle_trim(bytes);
  if( bytes.n<=8 ) return pickle_add_integer(m, zt_pickle_small(bytes));
  node = pickle_add(m, ZT_PICKLE_INTEGER);
  m->p->items[node].flags = (uint16_t)(PICKLE_WIDE|flags);
  m->p->items[node].n = (uint32_t)bytes.n;
  m->p->items[node].a = (uint32_t)at;
  return node;
}

/* --- Arguments that are text --- */

/* PK3: what is wrong with an argument. */
static zt_pickle_node pickle_fail_text(pickle_machine *m, const char *why){
  pickle_fail(m, "PK3", "%s", why);
  return 0;
}

/* PK3: what protocol 0 writes: 00 and 01 are booleans; a long one ends with L. */
static zt_pickle_node pickle_add_decimal(pickle_machine *m, zt_span text){
  uint8_t bytes[ZT_PICKLE_INTEGER_BYTES], *made;
  const char *why;
  size_t n;
  if( m->r.code==ZT_PICKLE_OP_INT && text.n==2 && text.p[0]=='0'
   && (text.p[1]=='0' || text.p[1]=='1') ){
    return text.p[1]=='1' ? 1+ZT_PICKLE_TRUE : 1+ZT_PICKLE_FALSE;
  }
  if( m->r.code==ZT_PICKLE_OP_LONG && text.n && text.p[text.n-1]=='L' ) text.n--;
  if( (why = zt_pickle_decimal(text, bytes, &n))!=NULL ) return pickle_fail_text(m, why);
  if( n<=8 ) return pickle_add_integer(m, zt_pickle_small((zt_span){ bytes, n }));
  if( (made = pickle_make(m, n))==NULL ) return 0;
  memcpy(made, bytes, n);
  return pickle_add_long(m, (zt_span){ made, n }, m->p->nMade-n, PICKLE_MADE);
}

static zt_pickle_node pickle_add_real(pickle_machine *m, double real){
  zt_pickle_node node = pickle_add(m, ZT_PICKLE_REAL);
  m->p->items[node].real = real;
  return node;
}

static zt_pickle_node pickle_add_float(pickle_machine *m, zt_span text){
  double real;
  const char *why = zt_pickle_real(text, &real);
  return why ? pickle_fail_text(m, why) : pickle_add_real(m, real);
}

/* PK3: a text that has to be unescaped: what that makes of it takes at most twice its room. */
static zt_pickle_node pickle_add_escaped(pickle_machine *m, zt_span text){
  uint8_t *out = pickle_make(m, 2*text.n);
  const char *why;
  size_t n;
  if( !out ) return 0;
  why = m->r.code==ZT_PICKLE_OP_STRING ? zt_pickle_unquote(text, out, &n)
                                       : zt_pickle_unescape(text, out, &n);
  if( why ) return pickle_fail_text(m, why);
  m->p->nMade -= 2*text.n-n;
  return pickle_add_made(m, n);
}

/* PK3: a module and a name in it, a newline between them. */
static zt_pickle_node pickle_add_global(pickle_machine *m, zt_span text){
  const uint8_t *newline = memchr(text.p, '\n', text.n);
  zt_pickle_node node;
  if( !zt_utf8_valid(text.p, text.n) ) return pickle_fail_text(m, "a name that is not UTF-8");
  node = pickle_add(m, ZT_PICKLE_GLOBAL);
  m->p->items[node].n = (uint32_t)text.n;
  m->p->items[node].a = (uint32_t)(text.p-m->p->bytes.p);
  m->p->items[node].b = (uint32_t)(newline-text.p);
  return node;
}

/* --- The stack and the memo --- */

ZT_COLD static bool pickle_grow_stack(pickle_machine *m){
  uint32_t room = m->room ? m->room+m->room/2 : PICKLE_STACK_FIRST;
  uint32_t *stack = sqlite3_realloc64(m->stack, (uint64_t)room*sizeof(*stack));
  if( !stack ) return zt_fail_nomem(m->err)==SQLITE_OK;
  m->stack = stack;
  m->room = room;
  return true;
}

ZT_INLINE bool pickle_push(pickle_machine *m, zt_pickle_node node){
  if( m->err->rc || (m->depth==m->room && !pickle_grow_stack(m)) ) return false;
  m->stack[m->depth++] = node;
  return true;
}

/* PK4: n nodes are on the stack, and no mark is among them. */
static bool pickle_need(pickle_machine *m, uint32_t n){
  for(uint32_t i=0; i<n; i++){
    if( i<m->depth && m->stack[m->depth-1-i]!=PICKLE_MARK ) continue;
    return pickle_fail(m, "PK4", "%s", i<m->depth ? "a mark stands where it takes a value"
                                                  : "it takes more than is on the stack");
  }
  return true;
}

/* PK5: the place behind the last mark. */
static bool pickle_mark(pickle_machine *m, uint32_t *out){
  uint32_t i = m->depth;
  while( i>0 && m->stack[i-1]!=PICKLE_MARK ) i--;
  *out = i;
  return i>0 || pickle_fail(m, "PK5", "there is no mark on the stack");
}

/* Where an entry with another key than the usual ones is, or may be. */
static pickle_entry *pickle_other(pickle_machine *m, uint32_t key){
  const uint32_t mask = UINT32_MAX>>m->shift;
  uint32_t i = (uint32_t)((key*m->multiplier)>>32)>>m->shift;
  while( m->others[i].node && m->others[i].key!=key ) i = (i+1) & mask;
  return &m->others[i];
}

static bool pickle_need_others(pickle_machine *m){
  unsigned bits = 3;
  while( bits<31 && ((uint64_t)1<<bits)<2*m->puts ) bits++;
  m->shift = 32-bits;
  m->others = sqlite3_malloc64((uint64_t)sizeof(*m->others)<<bits);
  if( !m->others ){
    zt_fail_nomem(m->err);
    return false;
  }
  memset(m->others, 0, sizeof(*m->others)<<bits);
  sqlite3_randomness(sizeof(m->multiplier), &m->multiplier);
  m->multiplier |= 1;
  return true;
}

static bool pickle_put_memo(pickle_machine *m, uint32_t key){
  zt_pickle_node *place;
  if( !pickle_need(m, 1) ) return false;
  if( key<m->roomMemo ){
    place = &m->memo[key];
  }else{
    pickle_entry *entry;
    if( !m->others && !pickle_need_others(m) ) return false;
    entry = pickle_other(m, key);
    entry->key = key;
    place = &entry->node;
  }
  m->entries += *place==0;
  *place = m->stack[m->depth-1];
  return true;
}

/* PK6 */
static bool pickle_get_memo(pickle_machine *m, uint32_t key){
  zt_pickle_node node = key<m->roomMemo ? m->memo[key]
                      : m->others ? pickle_other(m, key)->node : 0;
  if( node ) return pickle_push(m, node);
  return pickle_fail(m, "PK6", "the memo has no entry %u", (unsigned)key);
}

/* PK3: a memo's key in decimal. */
static bool pickle_key(pickle_machine *m, uint32_t *out){
  uint64_t key = 0;
  bool ok = m->r.argument.n>0 && m->r.argument.n<=10;
  for(size_t i=0; ok && i<m->r.argument.n; i++){
    unsigned digit = m->r.argument.p[i]-(unsigned)'0';
    ok = digit<=9;
    key = key*10+digit;
  }
  *out = (uint32_t)key;
  return (ok && key<=UINT32_MAX) || pickle_fail(m, "PK3", "no memo's key");
}

/* --- What opcodes make of the stack --- */

/* Put down what is on the stack from a place on; *first is where. */
static uint32_t pickle_take(pickle_machine *m, uint32_t from, uint32_t *first){
  zt_pickle *p = m->p;
  uint32_t n = m->depth-from;
  assert( p->nWords+n<=m->words );
  *first = p->nWords;
  if( n ) memcpy(p->words+p->nWords, m->stack+from, n*sizeof(*m->stack));
  p->nWords += n;
  m->depth = from;
  return n;
}

static zt_pickle_node pickle_tuple(pickle_machine *m, uint32_t from){
  zt_pickle_node node = pickle_add(m, ZT_PICKLE_TUPLE);
  pickle_item *item = &m->p->items[node];
  item->n = pickle_take(m, from, &item->a);
  return node;
}

static bool pickle_push_tuple(pickle_machine *m, uint32_t n){
  return pickle_need(m, n) && pickle_push(m, pickle_tuple(m, m->depth-n));
}

/* Append what is on the stack from a place on to a list, a set or a dict. */
static void pickle_append(pickle_machine *m, zt_pickle_node node, uint32_t from){
  zt_pickle *p = m->p;
  pickle_item *item = &p->items[node];
  uint32_t piece = p->nWords, first;
  if( from==m->depth ) return;
  p->nWords += PICKLE_PIECE_HEAD;
  p->words[piece+PICKLE_PIECE_NEXT] = 0;
  p->words[piece+PICKLE_PIECE_N] = pickle_take(m, from, &first);
  if( item->n ) p->words[item->b+PICKLE_PIECE_NEXT] = piece;
  else item->a = piece;
  item->b = piece;
  item->n += p->words[piece+PICKLE_PIECE_N];
}

/* PK4: a dict of what is on the stack from a place on has a value for each key. */
static bool pickle_pairs(pickle_machine *m, uint32_t from){
  return (m->depth-from)%2==0 || pickle_fail(m, "PK4", "a key without a value");
}

/* PK5: a new list, set or dict of all from the last mark on. */
static bool pickle_push_all(pickle_machine *m, zt_pickle_kind kind){
  zt_pickle_node node;
  uint32_t from;
  if( !pickle_mark(m, &from) || (kind==ZT_PICKLE_DICT && !pickle_pairs(m, from)) ) return false;
  node = kind==ZT_PICKLE_TUPLE ? pickle_tuple(m, from) : pickle_add(m, kind);
  if( kind!=ZT_PICKLE_TUPLE ) pickle_append(m, node, from);
  m->depth = from-1;
  return pickle_push(m, node);
}

/* PK4: put what is on the stack from a place on, before which `below` other words are, into what
** lies there: that is of that kind, or what a call would give. */
static bool pickle_fill(pickle_machine *m, uint32_t from, uint32_t below, zt_pickle_kind kind){
  zt_pickle *p = m->p;
  zt_pickle_node node = from>below ? m->stack[from-below-1] : PICKLE_MARK, *place;
  if( node==PICKLE_MARK ){
    return pickle_fail(m, "PK4", "there is no dict, list or set to add items to");
  }
  if( kind==ZT_PICKLE_DICT && !pickle_pairs(m, from) ) return false;
  if( p->items[node].kind==ZT_PICKLE_CALL ){
    pickle_call *call = &p->calls[p->items[node].a];
    place = kind==ZT_PICKLE_DICT ? &call->dict : &call->list;
    if( *place==0 ) *place = pickle_add(m, kind==ZT_PICKLE_DICT ? kind : ZT_PICKLE_LIST);
    node = *place;
  }else if( p->items[node].kind!=kind ){
    return pickle_fail(m, "PK4", "the value that it adds items to is not a %s",
                       kind==ZT_PICKLE_DICT ? "dict" : kind==ZT_PICKLE_LIST ? "list" : "set");
  }
  pickle_append(m, node, from);
  m->depth = from-below;
  return true;
}

static bool pickle_fill_all(pickle_machine *m, zt_pickle_kind kind){
  uint32_t from;
  return pickle_mark(m, &from) && pickle_fill(m, from, 1, kind);
}

static bool pickle_fill_one(pickle_machine *m, uint32_t n, zt_pickle_kind kind){
  return pickle_need(m, n) && pickle_fill(m, m->depth-n, 0, kind);
}

static bool pickle_push_call(pickle_machine *m, zt_pickle_node callee, zt_pickle_node args,
                             zt_pickle_node keywords){
  zt_pickle_node node = pickle_add(m, ZT_PICKLE_CALL);
  assert( m->p->nCalls<m->calls );
  m->p->items[node].a = m->p->nCalls;
  m->p->calls[m->p->nCalls++] = (pickle_call){
    .callee = callee, .args = args, .keywords = keywords
  };
  return pickle_push(m, node);
}

/* A call of n things on the stack: what is called, with what, and by which keywords. */
static bool pickle_reduce(pickle_machine *m, uint32_t n){
  const zt_pickle_node *top;
  if( !pickle_need(m, n) ) return false;
  m->depth -= n;
  top = m->stack+m->depth;
  return pickle_push_call(m, top[0], top[1], n>2 ? top[2] : 0);
}

/* PK4, PK5: the same with all from the last mark on. What is called is the first of them, unless it
** is the opcode's argument. */
static bool pickle_reduce_all(pickle_machine *m, zt_pickle_node callee){
  zt_pickle_node args;
  uint32_t from;
  if( m->err->rc || !pickle_mark(m, &from) ) return false;
  if( !callee && from==m->depth ) return pickle_fail(m, "PK4", "there is nothing to call");
  if( !callee ) callee = m->stack[from++];
  args = pickle_tuple(m, from);
  while( m->stack[m->depth-1]!=PICKLE_MARK ) m->depth--;
  m->depth--;
  return pickle_push_call(m, callee, args, 0);
}

/* PK4 */
static bool pickle_build(pickle_machine *m){
  zt_pickle *p = m->p;
  const pickle_item *item;
  pickle_call *call;
  if( !pickle_need(m, 2) ) return false;
  item = &p->items[m->stack[m->depth-2]];
  if( item->kind!=ZT_PICKLE_CALL ){
    return pickle_fail(m, "PK4", "the value that it sets a state on is not the result of a call");
  }
  call = &p->calls[item->a];
  if( call->state ) return pickle_fail(m, "PK4", "it has a state already");
  call->state = m->stack[--m->depth];
  return true;
}

/* PK4: module and name from the stack. */
static bool pickle_stack_global(pickle_machine *m){
  zt_pickle *p = m->p;
  zt_pickle_node node;
  if( !pickle_need(m, 2) ) return false;
  if( p->items[m->stack[m->depth-1]].kind!=ZT_PICKLE_TEXT
   || p->items[m->stack[m->depth-2]].kind!=ZT_PICKLE_TEXT ){
    return pickle_fail(m, "PK4", "module and name are not both text");
  }
  node = pickle_add(m, ZT_PICKLE_GLOBAL);
  p->items[node].flags = PICKLE_PAIR;
  m->depth -= 2;
  p->items[node].a = m->stack[m->depth];
  p->items[node].b = m->stack[m->depth+1];
  return pickle_push(m, node);
}

static bool pickle_push_persistent(pickle_machine *m, zt_pickle_node id){
  zt_pickle_node node;
  if( !id ) return false;
  node = pickle_add(m, ZT_PICKLE_PERSISTENT);
  m->p->items[node].a = id;
  return pickle_push(m, node);
}

static bool pickle_push_extension(pickle_machine *m, int64_t code){
  zt_pickle_node node = pickle_add(m, ZT_PICKLE_EXTENSION);
  m->p->items[node].integer = code;
  return pickle_push(m, node);
}

/* --- The dispatch --- */

/* Numbers and texts. */
static bool pickle_push_scalar(pickle_machine *m){
  const zt_span a = m->r.argument;
  zt_pickle_node node = 0;
  double real;
  uint64_t bits;
  switch( m->r.code ){
    case ZT_PICKLE_OP_INT: case ZT_PICKLE_OP_LONG:       node = pickle_add_decimal(m, a); break;
    case ZT_PICKLE_OP_STRING: case ZT_PICKLE_OP_UNICODE: node = pickle_add_escaped(m, a); break;
    case ZT_PICKLE_OP_FLOAT:   node = pickle_add_float(m, a); break;
    case ZT_PICKLE_OP_BININT:  node = pickle_add_integer(m, zt_pickle_small(a)); break;
    case ZT_PICKLE_OP_BININT2: node = pickle_add_integer(m, zt_le16(a.p)); break;
    case ZT_PICKLE_OP_LONG1: case ZT_PICKLE_OP_LONG4:
      node = pickle_add_long(m, a, (size_t)(a.p-m->p->bytes.p), 0);
      break;
    case ZT_PICKLE_OP_BINFLOAT:
      bits = zt_be64(a.p);
      memcpy(&real, &bits, sizeof(real));
      node = pickle_add_real(m, real);
      break;
    case ZT_PICKLE_OP_BINBYTES: case ZT_PICKLE_OP_SHORT_BINBYTES: case ZT_PICKLE_OP_BINBYTES8:
    case ZT_PICKLE_OP_BYTEARRAY8:
      node = pickle_add_bytes(m, a, false);
      break;
    default:   /* Texts, with a length */
      node = pickle_add_bytes(m, a, true);
      break;
  }
  if( node && (m->r.code==ZT_PICKLE_OP_STRING || m->r.code==ZT_PICKLE_OP_BINSTRING
               || m->r.code==ZT_PICKLE_OP_SHORT_BINSTRING) ){
    m->p->items[node].flags |= PICKLE_STRING;
  }
  return node && pickle_push(m, node);
}

static bool pickle_memo(pickle_machine *m, zt_pickle_code code){
  uint32_t key;
  switch( code ){
    case ZT_PICKLE_OP_GET:         return pickle_key(m, &key) && pickle_get_memo(m, key);
    case ZT_PICKLE_OP_BINGET:      return pickle_get_memo(m, m->r.argument.p[0]);
    case ZT_PICKLE_OP_LONG_BINGET: return pickle_get_memo(m, zt_le32(m->r.argument.p));
    case ZT_PICKLE_OP_PUT:         return pickle_key(m, &key) && pickle_put_memo(m, key);
    case ZT_PICKLE_OP_BINPUT:      return pickle_put_memo(m, m->r.argument.p[0]);
    case ZT_PICKLE_OP_LONG_BINPUT: return pickle_put_memo(m, zt_le32(m->r.argument.p));
    default:                    return pickle_put_memo(m, m->entries);
  }
}

/* Take all from `to` on off the stack. */
static void pickle_drop(pickle_machine *m, uint32_t to){
  while( m->depth>to ){
    pickle_item *item = &m->p->items[m->stack[--m->depth]];
    if( item->kind!=ZT_PICKLE_CALL ) continue;
    item->flags |= PICKLE_DROPPED;
    m->p->drops = true;
  }
}

/* What changes the stack and nothing else. */
static bool pickle_shuffle(pickle_machine *m, zt_pickle_code code){
  uint32_t from;
  switch( code ){
    case ZT_PICKLE_OP_MARK: return pickle_push(m, PICKLE_MARK);
    case ZT_PICKLE_OP_DUP:  return pickle_need(m, 1) && pickle_push(m, m->stack[m->depth-1]);
    case ZT_PICKLE_OP_POP_MARK:
      if( !pickle_mark(m, &from) ) return false;
      pickle_drop(m, from-1);
      return true;
    default:   /* POP takes a mark, too */
      if( m->depth==0 ) return pickle_need(m, 1);
      pickle_drop(m, m->depth-1);
      return true;
  }
}

/* PK2, PK3: what says something of the pickle itself. */
static bool pickle_frame(pickle_machine *m, zt_pickle_code code){
  if( code==ZT_PICKLE_OP_PROTO && m->r.argument.p[0]>PICKLE_PROTOCOL ){
    return pickle_fail(m, "PK3", "protocol %d is not known", m->r.argument.p[0]);
  }
  if( code==ZT_PICKLE_OP_FRAME && zt_le64(m->r.argument.p)>m->p->bytes.n-m->r.next ){
    return pickle_fail(m, "PK2", "it goes beyond the pickle's end");
  }
  return true;
}

static bool pickle_step(pickle_machine *m){
  const zt_pickle_code code = m->r.code;
  switch( code ){
    case ZT_PICKLE_OP_PROTO: case ZT_PICKLE_OP_FRAME: return pickle_frame(m, code);
    case ZT_PICKLE_OP_MARK: case ZT_PICKLE_OP_POP: case ZT_PICKLE_OP_POP_MARK:
    case ZT_PICKLE_OP_DUP:
      return pickle_shuffle(m, code);
    case ZT_PICKLE_OP_GET: case ZT_PICKLE_OP_BINGET: case ZT_PICKLE_OP_LONG_BINGET:
    case ZT_PICKLE_OP_PUT: case ZT_PICKLE_OP_BINPUT: case ZT_PICKLE_OP_LONG_BINPUT:
    case ZT_PICKLE_OP_MEMOIZE:
      return pickle_memo(m, code);
    case ZT_PICKLE_OP_NONE:        return pickle_push(m, 1+ZT_PICKLE_NONE);
    case ZT_PICKLE_OP_NEWTRUE:     return pickle_push(m, 1+ZT_PICKLE_TRUE);
    case ZT_PICKLE_OP_NEWFALSE:    return pickle_push(m, 1+ZT_PICKLE_FALSE);
    case ZT_PICKLE_OP_EMPTY_TUPLE: return pickle_push(m, PICKLE_SMALL-1);
    case ZT_PICKLE_OP_BININT1:     return pickle_push(m, PICKLE_SMALL+m->r.argument.p[0]);
    case ZT_PICKLE_OP_TUPLE1:      return pickle_push_tuple(m, 1);
    case ZT_PICKLE_OP_TUPLE2:      return pickle_push_tuple(m, 2);
    case ZT_PICKLE_OP_TUPLE3:      return pickle_push_tuple(m, 3);
    case ZT_PICKLE_OP_TUPLE:       return pickle_push_all(m, ZT_PICKLE_TUPLE);
    case ZT_PICKLE_OP_LIST:        return pickle_push_all(m, ZT_PICKLE_LIST);
    case ZT_PICKLE_OP_DICT:        return pickle_push_all(m, ZT_PICKLE_DICT);
    case ZT_PICKLE_OP_FROZENSET:   return pickle_push_all(m, ZT_PICKLE_SET);
    case ZT_PICKLE_OP_EMPTY_LIST:  return pickle_push(m, pickle_add(m, ZT_PICKLE_LIST));
    case ZT_PICKLE_OP_EMPTY_DICT:  return pickle_push(m, pickle_add(m, ZT_PICKLE_DICT));
    case ZT_PICKLE_OP_EMPTY_SET:   return pickle_push(m, pickle_add(m, ZT_PICKLE_SET));
    case ZT_PICKLE_OP_APPEND:      return pickle_fill_one(m, 1, ZT_PICKLE_LIST);
    case ZT_PICKLE_OP_SETITEM:     return pickle_fill_one(m, 2, ZT_PICKLE_DICT);
    case ZT_PICKLE_OP_APPENDS:     return pickle_fill_all(m, ZT_PICKLE_LIST);
    case ZT_PICKLE_OP_SETITEMS:    return pickle_fill_all(m, ZT_PICKLE_DICT);
    case ZT_PICKLE_OP_ADDITEMS:    return pickle_fill_all(m, ZT_PICKLE_SET);
    case ZT_PICKLE_OP_EXT1:        return pickle_push_extension(m, m->r.argument.p[0]);
    case ZT_PICKLE_OP_EXT2:        return pickle_push_extension(m, zt_le16(m->r.argument.p));
    case ZT_PICKLE_OP_EXT4:        return pickle_push_extension(m, zt_pickle_small(m->r.argument));
    case ZT_PICKLE_OP_GLOBAL:      return pickle_push(m, pickle_add_global(m, m->r.argument));
    case ZT_PICKLE_OP_STACK_GLOBAL: return pickle_stack_global(m);
    case ZT_PICKLE_OP_REDUCE: case ZT_PICKLE_OP_NEWOBJ: return pickle_reduce(m, 2);
    case ZT_PICKLE_OP_NEWOBJ_EX:   return pickle_reduce(m, 3);
    case ZT_PICKLE_OP_INST:        return pickle_reduce_all(m, pickle_add_global(m, m->r.argument));
    case ZT_PICKLE_OP_OBJ:         return pickle_reduce_all(m, 0);
    case ZT_PICKLE_OP_BUILD:       return pickle_build(m);
    case ZT_PICKLE_OP_PERSID:
      return pickle_push_persistent(m, pickle_add_bytes(m, m->r.argument, true));
    case ZT_PICKLE_OP_BINPERSID:
      return pickle_need(m, 1) && pickle_push_persistent(m, m->stack[--m->depth]);
    case ZT_PICKLE_OP_NEXT_BUFFER: case ZT_PICKLE_OP_READONLY_BUFFER:
      return pickle_fail(m, "PK4", "the buffer that it takes is not in the pickle");
    case ZT_PICKLE_OP_STOP:
      if( !pickle_need(m, 1) ) return false;
      m->p->root = m->stack[--m->depth];
      pickle_drop(m, 0);
      return true;
    default: return pickle_push_scalar(m);
  }
}

/* --- Opening --- */

/* Room for as much as was counted, and the nodes that are there from the beginning. */
static bool pickle_reserve(pickle_machine *m){
  zt_pickle *p = m->p;
  m->nodes += PICKLE_SMALL+PICKLE_BYTES;
  m->words += 1;
  m->roomMemo = (uint32_t)m->puts+PICKLE_BYTES;
  p->items = sqlite3_malloc64(m->nodes*sizeof(*p->items));
  p->words = sqlite3_malloc64(m->words*sizeof(*p->words));
  p->calls = sqlite3_malloc64((m->calls+1)*sizeof(*p->calls));
  m->memo = sqlite3_malloc64((uint64_t)m->roomMemo*sizeof(*m->memo));
  if( !p->items || !p->words || !p->calls || !m->memo ){
    zt_fail_nomem(m->err);
    return false;
  }
  memset(m->memo, 0, m->roomMemo*sizeof(*m->memo));
  p->words[0] = 0;
  p->n = p->nWords = 1;
  for(int kind=ZT_PICKLE_NONE; kind<=ZT_PICKLE_TRUE; kind++) pickle_add(m, (zt_pickle_kind)kind);
  pickle_add(m, ZT_PICKLE_TUPLE);
  for(int i=0; i<PICKLE_BYTES; i++) p->items[pickle_add(m, ZT_PICKLE_INTEGER)].integer = i;
  return true;
}

static bool pickle_run(pickle_machine *m){
  uint64_t steps = 0;
  while( !m->p->root ){
    if( !pickle_poll(m, &steps) || !zt_pickle_read_next(&m->r, m->p->bytes, m->err)
     || !pickle_step(m) ) return false;
  }
  return true;
}

int zt_pickle_open(zt_span bytes, const zt_interrupt *interrupt, zt_pickle **out, size_t *used,
                   zt_error *err){
  pickle_machine m = { .err = err, .interrupt = interrupt };
  zt_pickle *p;
  *out = NULL;
  if( bytes.n>ZT_PICKLE_MAX ){
    return zt_break(err, "PK2", "a pickle of %llu bytes, 256 MiB are the most",
                    (unsigned long long)bytes.n);
  }
  p = sqlite3_malloc64(sizeof(*p));
  if( !p ) return zt_fail_nomem(err);
  *p = (zt_pickle){ .bytes = bytes };
  m.p = p;
  if( pickle_measure(&m) && pickle_reserve(&m) && pickle_run(&m) ){
    *used = m.r.next;
    *out = p;
  }else{
    zt_pickle_close(p);
  }
  sqlite3_free(m.stack);
  sqlite3_free(m.memo);
  sqlite3_free(m.others);
  return err->rc;
}

void zt_pickle_close(zt_pickle *p){
  if( !p ) return;
  sqlite3_free(p->items);
  sqlite3_free(p->words);
  sqlite3_free(p->calls);
  sqlite3_free(p->made);
  sqlite3_free(p);
}

/* --- The tree --- */

zt_pickle_node zt_pickle_root(const zt_pickle *p){
  return p->root;
}

uint32_t zt_pickle_nodes(const zt_pickle *p){
  return p->n-1;
}

bool zt_pickle_drops(const zt_pickle *p){
  return p->drops;
}

bool zt_pickle_is_dropped(const zt_pickle *p, zt_pickle_node node){
  return (p->items[node].flags & PICKLE_DROPPED)!=0;
}

void zt_pickle_take(zt_pickle *p, zt_pickle_node node){
  p->items[node].flags &= (uint16_t)~PICKLE_DROPPED;
}

void zt_pickle_give(zt_pickle *p, zt_pickle_node node, zt_pickle_node state){
  pickle_call *call = &p->calls[p->items[node].a];
  assert( p->items[node].kind==ZT_PICKLE_CALL && call->state==0 );
  call->state = state;
}

zt_pickle_kind zt_pickle_kind_of(const zt_pickle *p, zt_pickle_node node){
  return (zt_pickle_kind)p->items[node].kind;
}

bool zt_pickle_is_empty(const zt_pickle *p, zt_pickle_node node){
  const pickle_item *item = &p->items[node];
  return item->n==0 && item->kind>=ZT_PICKLE_TUPLE && item->kind<=ZT_PICKLE_DICT;
}

static zt_span pickle_bytes(const zt_pickle *p, const pickle_item *item){
  return (zt_span){ (item->flags & PICKLE_MADE ? p->made : p->bytes.p)+item->a, item->n };
}

static void pickle_get_global(const zt_pickle *p, const pickle_item *item, zt_pickle_value *out){
  zt_span a, b;
  if( item->flags & PICKLE_PAIR ){
    a = pickle_bytes(p, &p->items[item->a]);
    b = pickle_bytes(p, &p->items[item->b]);
  }else{
    a = (zt_span){ p->bytes.p+item->a, item->b };
    b = (zt_span){ a.p+item->b+1, item->n-item->b-1 };
  }
  out->module = (zt_text){ (const char*)a.p, a.n };
  out->name = (zt_text){ (const char*)b.p, b.n };
}

void zt_pickle_get(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out){
  const pickle_item *item = &p->items[node];
  const pickle_call *call;
  assert( node>0 && node<p->n );
  out->kind = (zt_pickle_kind)item->kind;
  out->n = 0;
  out->bytes = (zt_span){ NULL, 0 };
  switch( out->kind ){
    case ZT_PICKLE_INTEGER:
      if( item->flags & PICKLE_WIDE ) out->bytes = pickle_bytes(p, item);
      else out->integer = item->integer;
      break;
    case ZT_PICKLE_EXTENSION:  out->integer = item->integer; break;
    case ZT_PICKLE_REAL:       out->real = item->real; break;
    case ZT_PICKLE_TEXT:
    case ZT_PICKLE_BYTES:
      out->bytes = pickle_bytes(p, item);
      out->string = (item->flags & PICKLE_STRING)!=0;
      break;
    case ZT_PICKLE_GLOBAL:     pickle_get_global(p, item, out); break;
    case ZT_PICKLE_PERSISTENT: out->args = item->a; break;
    case ZT_PICKLE_CALL:
      call = &p->calls[item->a];
      out->callee = call->callee;
      out->args = call->args;
      out->keywords = call->keywords;
      out->list = call->list;
      out->dict = call->dict;
      out->state = call->state;
      break;
    default:
      out->n = item->n;
      break;
  }
}

bool zt_pickle_latin1(const zt_pickle *p, zt_pickle_node node, size_t *out){
  const pickle_item *item = &p->items[node];
  uint32_t n;
  if( item->kind!=ZT_PICKLE_TEXT ) return false;
  n = item->n>=PICKLE_LONG_TEXT ? item->b : pickle_count_latin1(pickle_bytes(p, item));
  *out = n;
  return n!=UINT32_MAX;
}

bool zt_pickle_place(const zt_pickle *p, zt_span bytes, size_t *out){
  const uintptr_t first = (uintptr_t)p->bytes.p, at = (uintptr_t)bytes.p;
  if( at<first || !zt_claim(p->bytes.n, at-first, bytes.n) ) return false;
  *out = (size_t)(at-first);
  return true;
}

zt_pickle_node zt_pickle_child(const zt_pickle *p, zt_pickle_node node, uint32_t i){
  const pickle_item *item = &p->items[node];
  return item->kind==ZT_PICKLE_TUPLE && i<item->n ? p->words[item->a+i] : 0;
}

zt_pickle_cursor zt_pickle_begin(const zt_pickle *p, zt_pickle_node node){
  const pickle_item *item = &p->items[node];
  if( item->kind==ZT_PICKLE_TUPLE ) return (zt_pickle_cursor){ item->a, item->n, 0 };
  if( item->kind<ZT_PICKLE_TUPLE || item->kind>ZT_PICKLE_DICT || item->n==0 ){
    return (zt_pickle_cursor){ 0 };
  }
  return (zt_pickle_cursor){ 0, 0, item->a };
}

zt_pickle_node zt_pickle_next(const zt_pickle *p, zt_pickle_cursor *c){
  if( c->remaining==0 ){
    if( c->next==0 ) return 0;
    c->remaining = p->words[c->next+PICKLE_PIECE_N];
    c->at = c->next+PICKLE_PIECE_HEAD;
    c->next = p->words[c->next+PICKLE_PIECE_NEXT];
  }
  c->remaining--;
  return p->words[c->at++];
}
