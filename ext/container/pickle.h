/*
** Pickles, walked and never executed: what a pickle's opcodes build, as a tree over a bounded stack
** and memo. A global is a name, and what would be called is a node that says so: nothing is
** imported, called or evaluated. It knows nothing of tensors. Interface to code in pickle.c; the
** opcodes and the numbers of the rules are there.
*/
#ifndef ZT_CONTAINER_PICKLE_H
#define ZT_CONTAINER_PICKLE_H

#include "core/interrupt.h"
#include "core/error.h"

typedef struct zt_pickle zt_pickle;

/* A node of the tree, which may be a graph: shared nodes, and cycles. 0 is none. */
typedef uint32_t zt_pickle_node;

typedef enum zt_pickle_kind {
  ZT_PICKLE_NONE, ZT_PICKLE_FALSE, ZT_PICKLE_TRUE,
  ZT_PICKLE_INTEGER,     /* bytes: little-endian two's complement, of any length */
  ZT_PICKLE_REAL, ZT_PICKLE_TEXT, ZT_PICKLE_BYTES,
  ZT_PICKLE_TUPLE, ZT_PICKLE_LIST, ZT_PICKLE_SET,   /* children */
  ZT_PICKLE_DICT,        /* children: keys and values in turn */
  ZT_PICKLE_GLOBAL,      /* text: "module.name" */
  ZT_PICKLE_CALL,        /* children: what would be called, and a node of its arguments */
  ZT_PICKLE_PERSISTENT   /* child: the id */
} zt_pickle_kind;

typedef struct zt_pickle_value {
  zt_pickle_kind kind;
  uint32_t n;            /* Children; of a call, those that were added to the result by APPENDS and
                         ** SETITEMS are items, see below */
  zt_span bytes;         /* Of text and bytes, borrowed */
  double real;
  zt_pickle_node state;  /* Of a call: what BUILD gave it; 0: nothing */
  zt_pickle_node items;  /* Of a call: a list or dict of what was put into it; 0: nothing */
} zt_pickle_value;

#define ZT_PICKLE_MAX ((size_t)1 << 28)    /* Bytes of a pickle */

/* Walk the pickle, whose bytes must stay. Memory: bounded by a small multiple of n. *used is where
** it ended (STOP). *out is NULL on failure. */
int zt_pickle_open(zt_span bytes, const zt_interrupt *interrupt, zt_pickle **out, size_t *used,
                   zt_error *err);
void zt_pickle_close(zt_pickle *p);

zt_pickle_node zt_pickle_root(const zt_pickle *p);
uint32_t zt_pickle_nodes(const zt_pickle *p);      /* Nodes are numbered from 1 up to this */
void zt_pickle_get(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out);
zt_pickle_node zt_pickle_child(const zt_pickle *p, zt_pickle_node node, uint32_t i);

#endif
