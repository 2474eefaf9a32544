/*
** Pickles of protocols 0 to 5 (opcodes: Python's pickletools).
**
**   pickle   := (opcode argument)* STOP
**   argument := fixed | line | counted   ; by opcode: pickle_opcodes.h
**
**   PK1  every opcode is one of protocols 0 to 5
**   PK2  arguments end within the pickle, which ends with STOP; it has at most ZT_PICKLE_MAX bytes
**   PK3  an argument is valid for its opcode: digits, escapes, a length that is not negative
**   PK4  an opcode finds the items that it needs on the stack, of the right kind
**   PK5  an opcode that takes all items down to a mark finds a mark
**   PK6  a memo's entry is written before it is read
**
** The pickle, or each piece of it, is read twice. The first pass counts (pickle_open.c), so that
** only the stack grows in the second. Children are stored when an opcode takes them from the stack.
** A tuple stores all at once; a list, set or dict stores them in pieces, each with the position of
** the next.
*/
#include "container/pickle_machine.h"

#include <assert.h>
#include "container/pickle_text.h"
#include "core/host.h"
#include "core/utf8.h"

#define PICKLE_PROTOCOL 5
#define PICKLE_POLL 0xFFFF        /* Opcodes between checks for an interrupt, less 1 */
#define PICKLE_STACK_FIRST 256u
#define PICKLE_MARK 0             /* A mark on the stack; nodes are above 0 */

/* --- Opcodes --- */

#define pickle_fail(m, ...) zt_pickle_fail(&(m)->r, (m)->err, __VA_ARGS__)

static bool pickle_poll(zt_pickle_machine *m, uint64_t *steps){
  return (++*steps & PICKLE_POLL)!=0 || zt_interrupt_check(m->interrupt, m->err)==SQLITE_OK;
}

/* --- Nodes --- */

zt_pickle_node zt_pickle_add(zt_pickle_machine *m, zt_pickle_kind kind){
  zt_pickle *p = m->p;
  assert( p->n<m->nodes );
  p->items[p->n] = (zt_pickle_item){ .kind = (uint16_t)kind };
  return p->n++;
}

/* Append room for n bytes to `made`; NULL if memory is short. */
static uint8_t *pickle_make(zt_pickle_machine *m, size_t n){
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

/* Add a node for bytes that begin at `at` in the pickle or, with ZT_PICKLE_MADE, in `made`. With
** `text` it is a text, if the bytes are UTF-8. */
static zt_pickle_node pickle_add_bytes(zt_pickle_machine *m, zt_span bytes, size_t at, bool text,
                                       unsigned flags){
  const bool is_text = text && zt_utf8_valid(bytes.p, bytes.n);
  const zt_pickle_node node = zt_pickle_add(m, is_text ? ZT_PICKLE_TEXT : ZT_PICKLE_BYTES);
  zt_pickle_item *item = &m->p->items[node];
  item->flags = (uint16_t)flags;
  item->n = (uint32_t)bytes.n;
  item->a = (uint32_t)at;
  if( is_text && bytes.n>=ZT_PICKLE_LONG_TEXT ) item->b = zt_pickle_count_latin1(bytes);
  return node;
}

/* The same for an argument. */
static zt_pickle_node pickle_add_argument(zt_pickle_machine *m, bool text){
  const zt_span bytes = m->r.argument;
  return pickle_add_bytes(m, bytes, (size_t)(bytes.p-m->p->bytes.p), text, 0);
}

static zt_pickle_node pickle_add_integer(zt_pickle_machine *m, int64_t i){
  zt_pickle_node node;
  if( i>=0 && i<ZT_PICKLE_SMALLS ) return ZT_PICKLE_SMALL+(zt_pickle_node)i;
  node = zt_pickle_add(m, ZT_PICKLE_INTEGER);
  m->p->items[node].integer = i;
  return node;
}

/* Add a little-endian two's complement; `at` is its position, for long ones. */
static zt_pickle_node pickle_add_long(zt_pickle_machine *m, zt_span bytes, size_t at,
                                      unsigned flags){
  zt_pickle_node node;
  bytes.n = zt_pickle_trim(bytes);
  if( bytes.n<=8 ) return pickle_add_integer(m, zt_pickle_small(bytes));
  node = zt_pickle_add(m, ZT_PICKLE_INTEGER);
  m->p->items[node].flags = (uint16_t)(ZT_PICKLE_WIDE|flags);
  m->p->items[node].n = (uint32_t)bytes.n;
  m->p->items[node].a = (uint32_t)at;
  return node;
}

/* --- Text arguments --- */

/* PK3: in protocol 0, 00 and 01 are booleans, and a long integer ends with L. */
static zt_pickle_node pickle_add_decimal(zt_pickle_machine *m, zt_span text){
  uint8_t bytes[ZT_PICKLE_INTEGER_BYTES], *made;
  const char *why;
  size_t n;
  if( m->r.code==ZT_PICKLE_OP_INT && text.n==2 && text.p[0]=='0'
   && (text.p[1]=='0' || text.p[1]=='1') ){
    return text.p[1]=='1' ? 1+ZT_PICKLE_TRUE : 1+ZT_PICKLE_FALSE;
  }
  if( m->r.code==ZT_PICKLE_OP_LONG && text.n && text.p[text.n-1]=='L' ) text.n--;
  if( (why = zt_pickle_decimal(text, bytes, &n))!=NULL ) return pickle_fail(m, "PK3", "%s", why);
  if( n<=8 ) return pickle_add_integer(m, zt_pickle_small((zt_span){ bytes, n }));
  if( (made = pickle_make(m, n))==NULL ) return 0;
  memcpy(made, bytes, n);
  return pickle_add_long(m, (zt_span){ made, n }, m->p->nMade-n, ZT_PICKLE_MADE);
}

static zt_pickle_node pickle_add_real(zt_pickle_machine *m, double real){
  zt_pickle_node node = zt_pickle_add(m, ZT_PICKLE_REAL);
  m->p->items[node].real = real;
  return node;
}

static zt_pickle_node pickle_add_float(zt_pickle_machine *m, zt_span text){
  double real;
  const char *why = zt_pickle_real(text, &real);
  return why ? pickle_fail(m, "PK3", "%s", why) : pickle_add_real(m, real);
}

/* PK3: the unescaped text has at most twice the bytes. */
static zt_pickle_node pickle_add_escaped(zt_pickle_machine *m, zt_span text){
  uint8_t *out = pickle_make(m, 2*text.n);
  const char *why;
  size_t n;
  if( !out ) return 0;
  why = m->r.code==ZT_PICKLE_OP_STRING ? zt_pickle_unquote(text, out, &n)
                                       : zt_pickle_unescape(text, out, &n);
  if( why ) return pickle_fail(m, "PK3", "%s", why);
  m->p->nMade -= 2*text.n-n;
  return pickle_add_bytes(m, (zt_span){ out, n }, m->p->nMade-n, true, ZT_PICKLE_MADE);
}

/* PK3: a module and a name, separated by a newline. */
static zt_pickle_node pickle_add_global(zt_pickle_machine *m, zt_span text){
  const uint8_t *newline = memchr(text.p, '\n', text.n);
  zt_pickle_node node;
  if( !zt_utf8_valid(text.p, text.n) ) return pickle_fail(m, "PK3", "a name that is not UTF-8");
  node = zt_pickle_add(m, ZT_PICKLE_GLOBAL);
  m->p->items[node].n = (uint32_t)text.n;
  m->p->items[node].a = (uint32_t)(text.p-m->p->bytes.p);
  m->p->items[node].b = (uint32_t)(newline-text.p);
  return node;
}

/* --- The stack and the memo --- */

ZT_COLD static bool pickle_grow_stack(zt_pickle_machine *m){
  uint32_t room = m->room ? m->room+m->room/2 : PICKLE_STACK_FIRST;
  uint32_t *stack = sqlite3_realloc64(m->stack, (uint64_t)room*sizeof(*stack));
  if( !stack ) return zt_fail_nomem(m->err)==SQLITE_OK;
  m->stack = stack;
  m->room = room;
  return true;
}

ZT_INLINE bool pickle_push(zt_pickle_machine *m, zt_pickle_node node){
  if( m->err->rc || (m->depth==m->room && !pickle_grow_stack(m)) ) return false;
  m->stack[m->depth++] = node;
  return true;
}

/* PK4: the top n items are nodes, not marks. */
static bool pickle_need(zt_pickle_machine *m, uint32_t n){
  for(uint32_t i=0; i<n; i++){
    if( i<m->depth && m->stack[m->depth-1-i]!=PICKLE_MARK ) continue;
    return pickle_fail(m, "PK4", "%s", i<m->depth ? "a mark stands where it takes a value"
                                                  : "it takes more than is on the stack");
  }
  return true;
}

/* PK5: *out is the position above the last mark. */
static bool pickle_mark(zt_pickle_machine *m, uint32_t *out){
  uint32_t i = m->depth;
  while( i>0 && m->stack[i-1]!=PICKLE_MARK ) i--;
  *out = i;
  return i>0 || pickle_fail(m, "PK5", "there is no mark on the stack");
}

static bool pickle_put_memo(zt_pickle_machine *m, uint32_t key){
  return pickle_need(m, 1)
      && zt_pickle_memo_put(&m->memo, key, m->stack[m->depth-1], m->err)==SQLITE_OK;
}

/* PK6 */
static bool pickle_get_memo(zt_pickle_machine *m, uint32_t key){
  const zt_pickle_node node = zt_pickle_memo_get(&m->memo, key);
  if( node ) return pickle_push(m, node);
  return pickle_fail(m, "PK6", "the memo has no entry %u", (unsigned)key);
}

/* PK3: a memo's key in decimal. */
static bool pickle_key(zt_pickle_machine *m, uint32_t *out){
  uint64_t key = 0;
  bool ok = m->r.argument.n>0 && m->r.argument.n<=10;
  for(size_t i=0; ok && i<m->r.argument.n; i++){
    unsigned digit = m->r.argument.p[i]-(unsigned)'0';
    ok = digit<=9;
    key = key*10+digit;
  }
  *out = (uint32_t)key;
  return (ok && key<=UINT32_MAX) || pickle_fail(m, "PK3", "an invalid key of the memo");
}

/* --- Effects of opcodes --- */

/* Move the stack from a position on into the children; *first is where. Returns their number. */
static uint32_t pickle_take(zt_pickle_machine *m, uint32_t from, uint32_t *first){
  zt_pickle *p = m->p;
  uint32_t n = m->depth-from;
  assert( p->nWords+n<=m->words );
  *first = p->nWords;
  if( n ) memcpy(p->words+p->nWords, m->stack+from, n*sizeof(*m->stack));
  p->nWords += n;
  m->depth = from;
  return n;
}

static zt_pickle_node pickle_tuple(zt_pickle_machine *m, uint32_t from){
  zt_pickle_node node = zt_pickle_add(m, ZT_PICKLE_TUPLE);
  zt_pickle_item *item = &m->p->items[node];
  item->n = pickle_take(m, from, &item->a);
  return node;
}

static bool pickle_push_tuple(zt_pickle_machine *m, uint32_t n){
  return pickle_need(m, n) && pickle_push(m, pickle_tuple(m, m->depth-n));
}

/* Append the stack from a position on to a list, set or dict. */
static void pickle_append(zt_pickle_machine *m, zt_pickle_node node, uint32_t from){
  zt_pickle *p = m->p;
  zt_pickle_item *item = &p->items[node];
  uint32_t piece = p->nWords, first;
  if( from==m->depth ) return;
  p->nWords += ZT_PICKLE_PIECE_HEAD;
  p->words[piece+ZT_PICKLE_PIECE_NEXT] = 0;
  p->words[piece+ZT_PICKLE_PIECE_N] = pickle_take(m, from, &first);
  if( item->n ) p->words[item->b+ZT_PICKLE_PIECE_NEXT] = piece;
  else item->a = piece;
  item->b = piece;
  item->n += p->words[piece+ZT_PICKLE_PIECE_N];
}

/* PK4: a dict's keys all have values. */
static bool pickle_pairs(zt_pickle_machine *m, uint32_t from){
  return (m->depth-from)%2==0 || pickle_fail(m, "PK4", "a key without a value");
}

/* PK5: push a new tuple, list, set or dict of the items above the last mark. */
static bool pickle_push_all(zt_pickle_machine *m, zt_pickle_kind kind){
  zt_pickle_node node;
  uint32_t from;
  if( !pickle_mark(m, &from) || (kind==ZT_PICKLE_DICT && !pickle_pairs(m, from)) ) return false;
  node = kind==ZT_PICKLE_TUPLE ? pickle_tuple(m, from) : zt_pickle_add(m, kind);
  if( kind!=ZT_PICKLE_TUPLE ) pickle_append(m, node, from);
  m->depth = from-1;
  return pickle_push(m, node);
}

/* PK4: put the stack from a position on into the node below it, a container of that kind or a call.
** `below` words lie between (a mark). */
static bool pickle_fill(zt_pickle_machine *m, uint32_t from, uint32_t below, zt_pickle_kind kind){
  zt_pickle *p = m->p;
  zt_pickle_node node = from>below ? m->stack[from-below-1] : PICKLE_MARK, *place;
  if( node==PICKLE_MARK ){
    return pickle_fail(m, "PK4", "there is no dict, list or set to add items to");
  }
  if( kind==ZT_PICKLE_DICT && !pickle_pairs(m, from) ) return false;
  if( p->items[node].kind==ZT_PICKLE_CALL ){
    zt_pickle_parts *call = &p->calls[p->items[node].a];
    place = kind==ZT_PICKLE_DICT ? &call->dict : &call->list;
    if( *place==0 ) *place = zt_pickle_add(m, kind==ZT_PICKLE_DICT ? kind : ZT_PICKLE_LIST);
    node = *place;
  }else if( p->items[node].kind!=kind ){
    return pickle_fail(m, "PK4", "the container to fill is not a %s",
                       kind==ZT_PICKLE_DICT ? "dict" : kind==ZT_PICKLE_LIST ? "list" : "set");
  }
  pickle_append(m, node, from);
  m->depth = from-below;
  return true;
}

static bool pickle_fill_all(zt_pickle_machine *m, zt_pickle_kind kind){
  uint32_t from;
  return pickle_mark(m, &from) && pickle_fill(m, from, 1, kind);
}

static bool pickle_fill_one(zt_pickle_machine *m, uint32_t n, zt_pickle_kind kind){
  return pickle_need(m, n) && pickle_fill(m, m->depth-n, 0, kind);
}

static bool pickle_push_call(zt_pickle_machine *m, zt_pickle_node callee, zt_pickle_node args,
                             zt_pickle_node keywords){
  zt_pickle_node node = zt_pickle_add(m, ZT_PICKLE_CALL);
  assert( m->p->nCalls<m->calls );
  m->p->items[node].a = m->p->nCalls;
  m->p->calls[m->p->nCalls++] = (zt_pickle_parts){
    .callee = callee, .args = args, .keywords = keywords
  };
  return pickle_push(m, node);
}

/* Push a call of the top n items: callee, arguments, keywords. */
static bool pickle_reduce(zt_pickle_machine *m, uint32_t n){
  const zt_pickle_node *top;
  if( !pickle_need(m, n) ) return false;
  m->depth -= n;
  top = m->stack+m->depth;
  return pickle_push_call(m, top[0], top[1], n>2 ? top[2] : 0);
}

/* PK4, PK5: push a call with all items above the last mark: callee 0 is the first of them. */
static bool pickle_reduce_all(zt_pickle_machine *m, zt_pickle_node callee){
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
static bool pickle_build(zt_pickle_machine *m){
  zt_pickle *p = m->p;
  const zt_pickle_item *item;
  zt_pickle_parts *call;
  if( !pickle_need(m, 2) ) return false;
  item = &p->items[m->stack[m->depth-2]];
  if( item->kind!=ZT_PICKLE_CALL ){
    return pickle_fail(m, "PK4", "the object for this state is not the result of a call");
  }
  call = &p->calls[item->a];
  if( call->state ) return pickle_fail(m, "PK4", "it has a state already");
  call->state = m->stack[--m->depth];
  return true;
}

/* PK4: module and name are on the stack. */
static bool pickle_stack_global(zt_pickle_machine *m){
  zt_pickle *p = m->p;
  zt_pickle_node node;
  if( !pickle_need(m, 2) ) return false;
  if( p->items[m->stack[m->depth-1]].kind!=ZT_PICKLE_TEXT
   || p->items[m->stack[m->depth-2]].kind!=ZT_PICKLE_TEXT ){
    return pickle_fail(m, "PK4", "module and name are not both text");
  }
  node = zt_pickle_add(m, ZT_PICKLE_GLOBAL);
  p->items[node].flags = ZT_PICKLE_PAIR;
  m->depth -= 2;
  p->items[node].a = m->stack[m->depth];
  p->items[node].b = m->stack[m->depth+1];
  return pickle_push(m, node);
}

static bool pickle_push_persistent(zt_pickle_machine *m, zt_pickle_node id){
  const zt_pickle_node node = zt_pickle_add(m, ZT_PICKLE_PERSISTENT);
  m->p->items[node].a = id;
  return pickle_push(m, node);
}

static bool pickle_push_extension(zt_pickle_machine *m, int64_t code){
  zt_pickle_node node = zt_pickle_add(m, ZT_PICKLE_EXTENSION);
  m->p->items[node].integer = code;
  return pickle_push(m, node);
}

/* --- Dispatch --- */

static bool pickle_push_scalar(zt_pickle_machine *m){
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
      node = pickle_add_argument(m, false);
      break;
    default:   /* Texts with a length */
      node = pickle_add_argument(m, true);
      break;
  }
  if( node && (m->r.code==ZT_PICKLE_OP_STRING || m->r.code==ZT_PICKLE_OP_BINSTRING
               || m->r.code==ZT_PICKLE_OP_SHORT_BINSTRING) ){
    m->p->items[node].flags |= ZT_PICKLE_STRING;
  }
  return node && pickle_push(m, node);
}

static bool pickle_memo(zt_pickle_machine *m, zt_pickle_code code){
  uint32_t key;
  switch( code ){
    case ZT_PICKLE_OP_GET:         return pickle_key(m, &key) && pickle_get_memo(m, key);
    case ZT_PICKLE_OP_BINGET:      return pickle_get_memo(m, m->r.argument.p[0]);
    case ZT_PICKLE_OP_LONG_BINGET: return pickle_get_memo(m, zt_le32(m->r.argument.p));
    case ZT_PICKLE_OP_PUT:         return pickle_key(m, &key) && pickle_put_memo(m, key);
    case ZT_PICKLE_OP_BINPUT:      return pickle_put_memo(m, m->r.argument.p[0]);
    case ZT_PICKLE_OP_LONG_BINPUT: return pickle_put_memo(m, zt_le32(m->r.argument.p));
    default:                    return pickle_put_memo(m, m->memo.entries);
  }
}

/* Pop all items from position `to` on. */
static void pickle_drop(zt_pickle_machine *m, uint32_t to){
  while( m->depth>to ){
    zt_pickle_item *item = &m->p->items[m->stack[--m->depth]];
    if( item->kind!=ZT_PICKLE_CALL ) continue;
    item->flags |= ZT_PICKLE_DROPPED;
    m->p->drops = true;
  }
}

static bool pickle_edit_stack(zt_pickle_machine *m, zt_pickle_code code){
  uint32_t from;
  switch( code ){
    case ZT_PICKLE_OP_MARK: return pickle_push(m, PICKLE_MARK);
    case ZT_PICKLE_OP_DUP:  return pickle_need(m, 1) && pickle_push(m, m->stack[m->depth-1]);
    case ZT_PICKLE_OP_POP_MARK:
      if( !pickle_mark(m, &from) ) return false;
      pickle_drop(m, from-1);
      return true;
    default:   /* POP also removes a mark */
      if( m->depth==0 ) return pickle_need(m, 1);
      pickle_drop(m, m->depth-1);
      return true;
  }
}

/* PK2, PK3 */
static bool pickle_frame(zt_pickle_machine *m, zt_pickle_code code){
  if( code==ZT_PICKLE_OP_PROTO && m->r.argument.p[0]>PICKLE_PROTOCOL ){
    return pickle_fail(m, "PK3", "protocol %d is not known", m->r.argument.p[0]);
  }
  if( code==ZT_PICKLE_OP_PROTO && m->p->protocol==0 ) m->p->protocol = m->r.argument.p[0];
  if( code==ZT_PICKLE_OP_FRAME && !m->several && zt_le64(m->r.argument.p)>m->p->bytes.n-m->r.next ){
    return pickle_fail(m, "PK2", "it goes beyond the pickle's end");
  }
  return true;
}

static bool pickle_step(zt_pickle_machine *m){
  const zt_pickle_code code = m->r.code;
  switch( code ){
    case ZT_PICKLE_OP_PROTO: case ZT_PICKLE_OP_FRAME: return pickle_frame(m, code);
    case ZT_PICKLE_OP_MARK: case ZT_PICKLE_OP_POP: case ZT_PICKLE_OP_POP_MARK:
    case ZT_PICKLE_OP_DUP:
      return pickle_edit_stack(m, code);
    case ZT_PICKLE_OP_GET: case ZT_PICKLE_OP_BINGET: case ZT_PICKLE_OP_LONG_BINGET:
    case ZT_PICKLE_OP_PUT: case ZT_PICKLE_OP_BINPUT: case ZT_PICKLE_OP_LONG_BINPUT:
    case ZT_PICKLE_OP_MEMOIZE:
      return pickle_memo(m, code);
    case ZT_PICKLE_OP_NONE:        return pickle_push(m, 1+ZT_PICKLE_NONE);
    case ZT_PICKLE_OP_NEWTRUE:     return pickle_push(m, 1+ZT_PICKLE_TRUE);
    case ZT_PICKLE_OP_NEWFALSE:    return pickle_push(m, 1+ZT_PICKLE_FALSE);
    case ZT_PICKLE_OP_EMPTY_TUPLE: return pickle_push(m, ZT_PICKLE_SMALL-1);
    case ZT_PICKLE_OP_BININT1:     return pickle_push(m, ZT_PICKLE_SMALL+m->r.argument.p[0]);
    case ZT_PICKLE_OP_TUPLE1:      return pickle_push_tuple(m, 1);
    case ZT_PICKLE_OP_TUPLE2:      return pickle_push_tuple(m, 2);
    case ZT_PICKLE_OP_TUPLE3:      return pickle_push_tuple(m, 3);
    case ZT_PICKLE_OP_TUPLE:       return pickle_push_all(m, ZT_PICKLE_TUPLE);
    case ZT_PICKLE_OP_LIST:        return pickle_push_all(m, ZT_PICKLE_LIST);
    case ZT_PICKLE_OP_DICT:        return pickle_push_all(m, ZT_PICKLE_DICT);
    case ZT_PICKLE_OP_FROZENSET:   return pickle_push_all(m, ZT_PICKLE_SET);
    case ZT_PICKLE_OP_EMPTY_LIST:  return pickle_push(m, zt_pickle_add(m, ZT_PICKLE_LIST));
    case ZT_PICKLE_OP_EMPTY_DICT:  return pickle_push(m, zt_pickle_add(m, ZT_PICKLE_DICT));
    case ZT_PICKLE_OP_EMPTY_SET:   return pickle_push(m, zt_pickle_add(m, ZT_PICKLE_SET));
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
      return pickle_push_persistent(m, pickle_add_argument(m, true));
    case ZT_PICKLE_OP_BINPERSID:
      return pickle_need(m, 1) && pickle_push_persistent(m, m->stack[--m->depth]);
    case ZT_PICKLE_OP_NEXT_BUFFER: case ZT_PICKLE_OP_READONLY_BUFFER:
      return pickle_fail(m, "PK4", "its buffer is not in the pickle");
    case ZT_PICKLE_OP_STOP:
      if( !pickle_need(m, 1) ) return false;
      m->p->root = m->stack[--m->depth];
      pickle_drop(m, 0);
      return true;
    default: return pickle_push_scalar(m);
  }
}

bool zt_pickle_run(zt_pickle_machine *m, size_t until){
  uint64_t steps = 0;
  while( m->r.next<until ){
    if( !pickle_poll(m, &steps) || !zt_pickle_read_next(&m->r, m->p->bytes, m->err)
     || !pickle_step(m) ) return false;
  }
  return true;
}
