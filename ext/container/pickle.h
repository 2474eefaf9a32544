/*
** Pickles, walked and never executed: what a pickle's opcodes build, as a tree over a bounded stack
** and memo. A global is a name, and what would be called is a node that says so: nothing is
** imported, called or evaluated. It knows nothing of tensors. Interface to code in pickle.c; the
** opcodes and the numbers of the rules are there.
*/
#ifndef ZT_CONTAINER_PICKLE_H
#define ZT_CONTAINER_PICKLE_H

#include "core/error.h"
#include "core/interrupt.h"

typedef struct zt_pickle zt_pickle;

/* A node of the tree, which may be a graph: shared nodes, and cycles. 0 is none. */
typedef uint32_t zt_pickle_node;

typedef enum zt_pickle_kind {
  ZT_PICKLE_NONE, ZT_PICKLE_FALSE, ZT_PICKLE_TRUE,
  ZT_PICKLE_INTEGER,     /* integer; bytes, if 64 bits do not hold it */
  ZT_PICKLE_REAL,        /* real */
  ZT_PICKLE_TEXT,        /* bytes, which are UTF-8 */
  ZT_PICKLE_BYTES,       /* bytes; also of texts that are not UTF-8 */
  ZT_PICKLE_TUPLE, ZT_PICKLE_LIST, ZT_PICKLE_SET,   /* children */
  ZT_PICKLE_DICT,        /* children: keys and values in turn */
  ZT_PICKLE_GLOBAL,      /* module, name */
  ZT_PICKLE_EXTENSION,   /* integer: its number in a registry that no pickle has */
  ZT_PICKLE_CALL,        /* what would be called, with what, and what would become of the result */
  ZT_PICKLE_PERSISTENT   /* args: the id; what it stands for is not in the pickle */
} zt_pickle_kind;

/* What is behind bytes is set only of kinds that have it. */
typedef struct zt_pickle_value {
  zt_pickle_kind kind;
  uint32_t n;                /* Children */
  zt_span bytes;             /* Borrowed from the pickle or the tree. Of an integer: little-endian
                             ** two's complement of more than 8 bytes; p is NULL for others */
  bool string;               /* Of a text: Python 2 wrote it, whose texts are bytes */
  zt_text module, name;      /* Of a global, UTF-8 */
  int64_t integer;
  double real;
  zt_pickle_node callee;     /* Of a call: what would be called, */
  zt_pickle_node args;       /* and with what: a tuple, unless the pickle lies */
  zt_pickle_node keywords;   /* a dict; 0: none */
  zt_pickle_node list, dict; /* What would be put into the result; 0: nothing */
  zt_pickle_node state;      /* What BUILD would give the result; 0: nothing */
} zt_pickle_value;

#define ZT_PICKLE_MAX ((size_t)1 << 28)    /* Bytes of a pickle */

/* Walk the pickle, whose bytes must stay. Takes at most about 40 bytes of memory a byte, of real
** pickles one to five, and up to 100 of what turns out to be none. *used is where it ended. *out is
** NULL on failure. */
int zt_pickle_open(zt_span bytes, const zt_interrupt *interrupt, zt_pickle **out, size_t *used,
                   zt_error *err);
void zt_pickle_close(zt_pickle *p);   /* NULL is nothing to close */

zt_pickle_node zt_pickle_root(const zt_pickle *p);
uint32_t zt_pickle_nodes(const zt_pickle *p);      /* Nodes are numbered from 1 up to this */
void zt_pickle_get(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out);
zt_pickle_kind zt_pickle_kind_of(const zt_pickle *p, zt_pickle_node node);

/* A call whose result the pickle takes off its stack again: it may stand elsewhere, by way of the
** memo, or have been called for what it does to its arguments (torch_dropped.h). zt_pickle_drops():
** there is such a call. zt_pickle_take(): this one is none. */
bool zt_pickle_drops(const zt_pickle *p);
bool zt_pickle_is_dropped(const zt_pickle *p, zt_pickle_node node);
void zt_pickle_take(zt_pickle *p, zt_pickle_node node);

/* Give a call without a state one, as BUILD does. */
void zt_pickle_give(zt_pickle *p, zt_pickle_node node, zt_pickle_node state);

/* It is a tuple, list, set or dict with nothing in it. */
bool zt_pickle_is_empty(const zt_pickle *p, zt_pickle_node node);

/* Child i of a tuple; 0 if it has no such, or is no tuple. */
zt_pickle_node zt_pickle_child(const zt_pickle *p, zt_pickle_node node, uint32_t i);

/* How many characters a text has, if each is below U+0100. */
bool zt_pickle_latin1(const zt_pickle *p, zt_pickle_node node, size_t *out);

/* Where bytes of a node are in the pickle. False: they are not there as they are. */
bool zt_pickle_place(const zt_pickle *p, zt_span bytes, size_t *out);

/* The children of a node, one after the other. */
typedef struct zt_pickle_cursor {
  uint32_t at, remaining, next;
} zt_pickle_cursor;
zt_pickle_cursor zt_pickle_begin(const zt_pickle *p, zt_pickle_node node);
zt_pickle_node zt_pickle_next(const zt_pickle *p, zt_pickle_cursor *c);   /* 0: no more */

#endif
