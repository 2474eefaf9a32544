/* The machine that walks a pickle's opcodes, between pickle.c, which has them, and pickle_open.c,
** which has it run through a pickle in one piece or in several. Rule numbers: pickle.c. */
#ifndef ZT_CONTAINER_PICKLE_MACHINE_H
#define ZT_CONTAINER_PICKLE_MACHINE_H

#include "container/pickle_memo.h"
#include "container/pickle_opcodes.h"
#include "container/pickle_tree.h"

#define ZT_PICKLE_SMALLS 256      /* Integers of one byte have fixed nodes, */
#define ZT_PICKLE_SMALL 5         /* from this number on */

typedef struct zt_pickle_machine {
  zt_pickle *p;
  zt_error *err;
  const zt_interrupt *interrupt;
  zt_pickle_read r;               /* The current opcode */
  bool several;                   /* The pickle comes in pieces */
  uint64_t nodes, words, calls, puts;   /* Capacities that are needed, */
  uint64_t roomNodes, roomWords, roomCalls;   /* and there are */
  uint32_t *stack;
  uint32_t depth, room;
  zt_pickle_memo memo;
} zt_pickle_machine;

/* Carry out opcodes up to a position, where one ends, or to STOP. Their capacities are reserved. */
bool zt_pickle_run(zt_pickle_machine *m, size_t until);

/* Add a node of a constant. */
zt_pickle_node zt_pickle_add(zt_pickle_machine *m, zt_pickle_kind kind);

#endif
