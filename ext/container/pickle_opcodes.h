/* The opcodes of pickles, protocols 0 to 5 (Python's pickletools), and their arguments. */
#ifndef ZT_CONTAINER_PICKLE_OPCODES_H
#define ZT_CONTAINER_PICKLE_OPCODES_H

#include "container/rule.h"
#include "core/interrupt.h"

extern const zt_rule zt_rules_pickle[];   /* Rules of pickle.c */

/* How an argument is delimited: below 16 by a fixed number of bytes. */
enum {
  ZT_PICKLE_LINE = 16,   /* Ends with a newline */
  ZT_PICKLE_LINES,       /* Ends with a second newline */
  ZT_PICKLE_COUNT1, ZT_PICKLE_COUNT4, ZT_PICKLE_COUNT4_SIGNED,   /* A length of that many bytes
                                                                 ** precedes */
  ZT_PICKLE_COUNT8                                               /* the argument */
};

/* Capacity that an opcode needs beside nodes: a call, a child, the head of a piece of children, a
** memo entry whose key is not one byte. */
enum {
  ZT_PICKLE_CALLS = 0x1, ZT_PICKLE_PUSHES = 0x2, ZT_PICKLE_PIECE = 0x4, ZT_PICKLE_PUTS = 0x8
};

/* X(code, name, argument, nodes, needs): a row for each opcode. `nodes` is the most that it makes;
** a call's include the lists of items put into its result later. */
#define ZT_PICKLE_OPCODES(X) \
  X('I',  INT,              ZT_PICKLE_LINE,          1, ZT_PICKLE_PUSHES) \
  X('J',  BININT,           4,                       1, ZT_PICKLE_PUSHES) \
  X('K',  BININT1,          1,                       0, ZT_PICKLE_PUSHES) \
  X('M',  BININT2,          2,                       1, ZT_PICKLE_PUSHES) \
  X('L',  LONG,             ZT_PICKLE_LINE,          1, ZT_PICKLE_PUSHES) \
  X(0x8A, LONG1,            ZT_PICKLE_COUNT1,        1, ZT_PICKLE_PUSHES) \
  X(0x8B, LONG4,            ZT_PICKLE_COUNT4_SIGNED, 1, ZT_PICKLE_PUSHES) \
  X('S',  STRING,           ZT_PICKLE_LINE,          1, ZT_PICKLE_PUSHES) \
  X('T',  BINSTRING,        ZT_PICKLE_COUNT4_SIGNED, 1, ZT_PICKLE_PUSHES) \
  X('U',  SHORT_BINSTRING,  ZT_PICKLE_COUNT1,        1, ZT_PICKLE_PUSHES) \
  X('B',  BINBYTES,         ZT_PICKLE_COUNT4,        1, ZT_PICKLE_PUSHES) \
  X('C',  SHORT_BINBYTES,   ZT_PICKLE_COUNT1,        1, ZT_PICKLE_PUSHES) \
  X(0x8E, BINBYTES8,        ZT_PICKLE_COUNT8,        1, ZT_PICKLE_PUSHES) \
  X(0x96, BYTEARRAY8,       ZT_PICKLE_COUNT8,        1, ZT_PICKLE_PUSHES) \
  X(0x97, NEXT_BUFFER,      0,                       0, 0) \
  X(0x98, READONLY_BUFFER,  0,                       0, 0) \
  X('N',  NONE,             0,                       0, ZT_PICKLE_PUSHES) \
  X(0x88, NEWTRUE,          0,                       0, ZT_PICKLE_PUSHES) \
  X(0x89, NEWFALSE,         0,                       0, ZT_PICKLE_PUSHES) \
  X('V',  UNICODE,          ZT_PICKLE_LINE,          1, ZT_PICKLE_PUSHES) \
  X(0x8C, SHORT_BINUNICODE, ZT_PICKLE_COUNT1,        1, ZT_PICKLE_PUSHES) \
  X('X',  BINUNICODE,       ZT_PICKLE_COUNT4,        1, ZT_PICKLE_PUSHES) \
  X(0x8D, BINUNICODE8,      ZT_PICKLE_COUNT8,        1, ZT_PICKLE_PUSHES) \
  X('F',  FLOAT,            ZT_PICKLE_LINE,          1, ZT_PICKLE_PUSHES) \
  X('G',  BINFLOAT,         8,                       1, ZT_PICKLE_PUSHES) \
  X(']',  EMPTY_LIST,       0,                       1, ZT_PICKLE_PUSHES) \
  X('a',  APPEND,           0,                       0, ZT_PICKLE_PIECE) \
  X('e',  APPENDS,          0,                       0, ZT_PICKLE_PIECE) \
  X('l',  LIST,             0,                       1, ZT_PICKLE_PUSHES|ZT_PICKLE_PIECE) \
  X(')',  EMPTY_TUPLE,      0,                       0, ZT_PICKLE_PUSHES) \
  X('t',  TUPLE,            0,                       1, ZT_PICKLE_PUSHES) \
  X(0x85, TUPLE1,           0,                       1, ZT_PICKLE_PUSHES) \
  X(0x86, TUPLE2,           0,                       1, ZT_PICKLE_PUSHES) \
  X(0x87, TUPLE3,           0,                       1, ZT_PICKLE_PUSHES) \
  X('}',  EMPTY_DICT,       0,                       1, ZT_PICKLE_PUSHES) \
  X('d',  DICT,             0,                       1, ZT_PICKLE_PUSHES|ZT_PICKLE_PIECE) \
  X('s',  SETITEM,          0,                       0, ZT_PICKLE_PIECE) \
  X('u',  SETITEMS,         0,                       0, ZT_PICKLE_PIECE) \
  X(0x8F, EMPTY_SET,        0,                       1, ZT_PICKLE_PUSHES) \
  X(0x90, ADDITEMS,         0,                       0, ZT_PICKLE_PIECE) \
  X(0x91, FROZENSET,        0,                       1, ZT_PICKLE_PUSHES|ZT_PICKLE_PIECE) \
  X('0',  POP,              0,                       0, 0) \
  X('2',  DUP,              0,                       0, ZT_PICKLE_PUSHES) \
  X('(',  MARK,             0,                       0, 0) \
  X('1',  POP_MARK,         0,                       0, 0) \
  X('g',  GET,              ZT_PICKLE_LINE,          0, ZT_PICKLE_PUSHES) \
  X('h',  BINGET,           1,                       0, ZT_PICKLE_PUSHES) \
  X('j',  LONG_BINGET,      4,                       0, ZT_PICKLE_PUSHES) \
  X('p',  PUT,              ZT_PICKLE_LINE,          0, ZT_PICKLE_PUTS) \
  X('q',  BINPUT,           1,                       0, 0) \
  X('r',  LONG_BINPUT,      4,                       0, ZT_PICKLE_PUTS) \
  X(0x94, MEMOIZE,          0,                       0, ZT_PICKLE_PUTS) \
  X(0x82, EXT1,             1,                       1, ZT_PICKLE_PUSHES) \
  X(0x83, EXT2,             2,                       1, ZT_PICKLE_PUSHES) \
  X(0x84, EXT4,             4,                       1, ZT_PICKLE_PUSHES) \
  X('c',  GLOBAL,           ZT_PICKLE_LINES,         1, ZT_PICKLE_PUSHES) \
  X(0x93, STACK_GLOBAL,     0,                       1, ZT_PICKLE_PUSHES) \
  X('R',  REDUCE,           0,                       3, ZT_PICKLE_PUSHES|ZT_PICKLE_CALLS) \
  X('b',  BUILD,            0,                       0, 0) \
  X('i',  INST,             ZT_PICKLE_LINES,         5, ZT_PICKLE_PUSHES|ZT_PICKLE_CALLS) \
  X('o',  OBJ,              0,                       4, ZT_PICKLE_PUSHES|ZT_PICKLE_CALLS) \
  X(0x81, NEWOBJ,           0,                       3, ZT_PICKLE_PUSHES|ZT_PICKLE_CALLS) \
  X(0x92, NEWOBJ_EX,        0,                       3, ZT_PICKLE_PUSHES|ZT_PICKLE_CALLS) \
  X(0x80, PROTO,            1,                       0, 0) \
  X('.',  STOP,             0,                       0, 0) \
  X(0x95, FRAME,            8,                       0, 0) \
  X('P',  PERSID,           ZT_PICKLE_LINE,          2, ZT_PICKLE_PUSHES) \
  X('Q',  BINPERSID,        0,                       1, ZT_PICKLE_PUSHES)

typedef enum zt_pickle_code {
#define ZT_PICKLE_CODE(code, name, argument, nodes, needs) ZT_PICKLE_OP_##name = (code),
  ZT_PICKLE_OPCODES(ZT_PICKLE_CODE)
#undef ZT_PICKLE_CODE
} zt_pickle_code;

typedef struct zt_pickle_opcode {
  const char *name;               /* NULL: unknown */
  uint8_t size;                   /* With its argument; 0: variable, or unknown */
  uint8_t argument, nodes, needs;
} zt_pickle_opcode;

typedef struct zt_pickle_read {
  size_t at, next;       /* Positions of the opcode, and of the next one */
  zt_pickle_code code;
  const zt_pickle_opcode *opcode;
  zt_span argument;      /* Without its length, and without final newlines */
} zt_pickle_read;

extern const zt_pickle_opcode zt_pickle_opcodes[256];

/* Read the opcode at r->next (PK1, PK2), whose size zt_pickle_size_at() does not know. */
bool zt_pickle_read_any(zt_pickle_read *r, zt_span pickle, zt_error *err);

/* Skip opcodes through the next STOP (PK1, PK2). *at becomes the position after it; after a
** failure, that of the unknown or incomplete opcode. */
int zt_pickle_skip(zt_span pickle, size_t *at, const zt_interrupt *interrupt, zt_error *err);

/* The size of an opcode with its argument; 0 if it is variable, or the pickle ends before. */
ZT_INLINE size_t zt_pickle_size_at(zt_span pickle, size_t at){
  const size_t remaining = pickle.n-at, size = remaining ? zt_pickle_opcodes[pickle.p[at]].size : 0;
  return size<=remaining ? size : 0;
}

/* Read the opcode at r->next (PK1, PK2): inlined for those of fixed size, the usual ones. */
ZT_INLINE bool zt_pickle_read_next(zt_pickle_read *r, zt_span pickle, zt_error *err){
  const size_t size = zt_pickle_size_at(pickle, r->next);
  if( size==0 ) return zt_pickle_read_any(r, pickle, err);
  r->at = r->next;
  r->code = (zt_pickle_code)pickle.p[r->at];
  r->opcode = &zt_pickle_opcodes[r->code];
  r->argument = (zt_span){ pickle.p+r->at+1, size-1 };
  r->next += size;
  return true;
}

/* Record that the current opcode breaks a rule. Always false. */
ZT_FORMAT(4, 5) ZT_COLD bool zt_pickle_fail(const zt_pickle_read *r, zt_error *err,
                                            const char *rule, const char *format, ...);

#endif
