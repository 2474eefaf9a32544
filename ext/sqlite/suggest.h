/* Which name was probably meant. Interface to code in suggest.c. */
#ifndef ZT_SQLITE_SUGGEST_H
#define ZT_SQLITE_SUGGEST_H

#include "core/interrupt.h"

/* The closest of the names offered so far. */
typedef struct zt_suggestion {
  zt_text wanted;      /* What was asked for */
  zt_text best;        /* Borrowed; z NULL while nothing is close */
  size_t distance;     /* Of best */
  uint64_t remaining;  /* Steps that comparing may still take */
  uint32_t offered;    /* How many names */
  const zt_interrupt *interrupt;   /* Borrowed, as is the next */
  zt_error *err;
} zt_suggestion;

void zt_suggest_begin(zt_suggestion *s, zt_text wanted, const zt_interrupt *interrupt,
                      zt_error *err);

/* Offer a name; it becomes the best if it is closer than all before. Close: up to a quarter of the
** name's bytes inserted, removed, exchanged or swapped with a neighbour; a difference in case costs
** nothing much. False if no more are to be offered: they are so many, or so long, that the best so
** far has to do, or the statement shall end (recorded in err). */
bool zt_suggest_offer(zt_suggestion *s, zt_text name);

#endif
