/* Pickles, walked but never executed. The opcodes build a tree over a bounded stack and memo. A
** global is a name, and a call is a node: nothing is imported, called or evaluated. This layer
** knows nothing of tensors. Opcodes and rule numbers: pickle.c. */
#ifndef ZT_CONTAINER_PICKLE_H
#define ZT_CONTAINER_PICKLE_H

#include "core/error.h"
#include "core/interrupt.h"

typedef struct zt_pickle zt_pickle;

/* A node of the tree. Nodes may be shared and form cycles. 0 is no node, and reads as None. */
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
  ZT_PICKLE_CALL,        /* callee, args, and what the result would get */
  ZT_PICKLE_PERSISTENT   /* args: the id of an object outside the pickle */
} zt_pickle_kind;

/* The fields after `bytes` are set only for the kinds that have them. */
typedef struct zt_pickle_value {
  zt_pickle_kind kind;
  uint32_t n;                /* Children */
  zt_span bytes;             /* Borrowed from the pickle or the tree. An integer has them if it
                             ** needs more than 8: little-endian two's complement; else p is NULL */
  bool string;               /* A text of Python 2, whose texts are bytes */
  zt_text module, name;      /* UTF-8 */
  int64_t integer;
  double real;
  zt_pickle_node callee;     /* A call's: the callee, */
  zt_pickle_node args;       /* its arguments, a tuple in sound pickles, */
  zt_pickle_node keywords;   /* a dict; 0: none */
  zt_pickle_node list, dict; /* Items to put into the result; 0: none */
  zt_pickle_node state;      /* BUILD's argument for the result; 0: none */
  bool placed;               /* It is known what follows BUILD (pickle_open.h): */
  zt_pickle_node behind;     /* another pickle's value; 0: bytes of the file, */
  uint64_t place;            /* from this offset on */
} zt_pickle_value;

#define ZT_PICKLE_MAX ((size_t)1 << 28)    /* Bytes of a pickle */

/* Walk the pickle, whose bytes must stay. Memory is at most about 40 bytes per byte of pickle: one
** to five for real ones, up to 100 for other bytes. *used is the length up to STOP. *out is NULL on
** failure. */
int zt_pickle_open(zt_span bytes, const zt_interrupt *interrupt, zt_pickle **out, size_t *used,
                   zt_error *err);
void zt_pickle_close(zt_pickle *p);   /* NULL is allowed */

int zt_pickle_protocol(const zt_pickle *p);   /* As PROTO states; 0: it does not */
zt_pickle_node zt_pickle_root(const zt_pickle *p);
uint32_t zt_pickle_nodes(const zt_pickle *p);      /* Nodes are numbered 1 to n */
void zt_pickle_get(const zt_pickle *p, zt_pickle_node node, zt_pickle_value *out);
zt_pickle_kind zt_pickle_kind_of(const zt_pickle *p, zt_pickle_node node);

/* A dropped call is one whose result the pickle pops off its stack. The result may stand elsewhere,
** by way of the memo, or the call may change its arguments (torch_dropped.h). */
bool zt_pickle_has_dropped(const zt_pickle *p);
bool zt_pickle_is_dropped(const zt_pickle *p, zt_pickle_node node);
void zt_pickle_clear_dropped(zt_pickle *p, zt_pickle_node node);

/* Set the state of a call that has none, as BUILD does. */
void zt_pickle_set_state(zt_pickle *p, zt_pickle_node node, zt_pickle_node state);

/* True for a tuple, list, set or dict without children. */
bool zt_pickle_is_empty(const zt_pickle *p, zt_pickle_node node);

/* Child i of a tuple; 0 if there is none, or the node is not a tuple. */
zt_pickle_node zt_pickle_child(const zt_pickle *p, zt_pickle_node node, uint32_t i);

/* Count a text's characters. False if one is above U+00FF. */
bool zt_pickle_latin1(const zt_pickle *p, zt_pickle_node node, size_t *out);

/* The position of a node's bytes in the pickle. False if they are not in it as they are. */
bool zt_pickle_position(const zt_pickle *p, zt_span bytes, size_t *out);

/* The value of a text, of an integer of 64 bits, and of a tuple or list of at most `most` such
** integers. False if the node is 0 or anything else; a text's z is then NULL. */
bool zt_pickle_text(const zt_pickle *p, zt_pickle_node node, zt_text *out);
bool zt_pickle_integer(const zt_pickle *p, zt_pickle_node node, int64_t *out);
bool zt_pickle_integers(const zt_pickle *p, zt_pickle_node node, uint32_t most, uint32_t *n,
                        int64_t *out);

/* Iterates over a node's children. */
typedef struct zt_pickle_cursor {
  uint32_t at, remaining, next;
} zt_pickle_cursor;
zt_pickle_cursor zt_pickle_begin(const zt_pickle *p, zt_pickle_node node);
zt_pickle_node zt_pickle_next(const zt_pickle *p, zt_pickle_cursor *c);   /* 0: the end */

#endif
