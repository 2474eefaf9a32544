/* How the tree of a pickle is stored, between pickle.c, which builds it, and pickle_tree.c, which
** has the functions of pickle.h that read it. */
#ifndef ZT_CONTAINER_PICKLE_TREE_H
#define ZT_CONTAINER_PICKLE_TREE_H

#include "container/pickle.h"

/* Latin-1 characters of texts with this many bytes are counted once. */
#define ZT_PICKLE_LONG_TEXT 64

/* Flags of an item. */
enum { ZT_PICKLE_MADE = 0x1,   /* Its bytes are in `made` */
       ZT_PICKLE_PAIR = 0x2,   /* A global: two nodes have module and name */
       ZT_PICKLE_WIDE = 0x4,   /* An integer that is bytes */
       ZT_PICKLE_STRING = 0x8,   /* A text of an opcode for Python 2's bytes */
       ZT_PICKLE_DROPPED = 0x10 };   /* A call whose result was popped */

typedef struct zt_pickle_item {
  uint16_t kind, flags;
  uint32_t n;            /* Children, or bytes */
  union {
    struct {
      uint32_t a;        /* The first byte, child or piece; a call's index; module; id */
      uint32_t b;        /* The last piece; the module's length; name; characters of a long text,
                         ** UINT32_MAX if above U+00FF */
    };
    int64_t integer;
    double real;
  };
} zt_pickle_item;

typedef struct zt_pickle_parts {
  zt_pickle_node callee, args, keywords, list, dict, state;
  uint32_t behind;       /* Index of what follows the state, plus 1; 0: nothing */
} zt_pickle_parts;

/* Words before the children of a piece. */
enum { ZT_PICKLE_PIECE_N, ZT_PICKLE_PIECE_NEXT, ZT_PICKLE_PIECE_HEAD };

/* What stands behind a state, amid the pickle. */
typedef struct zt_pickle_behind {
  uint64_t offset;       /* Bytes that are none of the pickle, */
  zt_pickle_node node;   /* or the value of another pickle; 0: bytes */
} zt_pickle_behind;

struct zt_pickle {
  zt_span bytes;
  zt_pickle_node root;
  uint32_t n, nWords, nCalls;
  zt_pickle_item *items;        /* Node 0 is a None that nothing refers to */
  uint32_t *words;              /* Children, and heads of pieces; piece 0 is unused */
  zt_pickle_parts *calls;
  uint8_t *made;
  size_t nMade, roomMade;
  zt_pickle_behind *behind;
  uint32_t nBehind;
  int protocol;                 /* PROTO's argument; 0: there is none */
  bool drops;                   /* A node is ZT_PICKLE_DROPPED */
};

/* Count the characters of valid UTF-8; UINT32_MAX if one is above U+00FF. */
uint32_t zt_pickle_count_latin1(zt_span text);

#endif
