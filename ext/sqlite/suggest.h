/* Suggestion of the name that was probably meant. Interface to code in suggest.c. */
#ifndef ZT_SQLITE_SUGGEST_H
#define ZT_SQLITE_SUGGEST_H

#include "core/interrupt.h"

/* The closest name so far. */
typedef struct zt_suggestion {
  zt_text wanted;      /* The requested name */
  zt_text best;        /* Borrowed; z NULL while nothing is close */
  size_t distance;     /* Distance of best */
  uint64_t remaining;  /* Steps left for comparisons */
  uint32_t offered;    /* Number of names */
  const zt_interrupt *interrupt;   /* Borrowed, like err */
  zt_error *err;
} zt_suggestion;

void zt_suggest_begin(zt_suggestion *s, zt_text wanted, const zt_interrupt *interrupt,
                      zt_error *err);

/* Offer a name. It becomes the best if it is closer than all before. A close name differs in at
** most a quarter of the wanted name's bytes, or in one: inserted, removed, replaced, or swapped
** with a neighbour. Case is ignored. False if the caller should stop: the names are too many or too
** long to compare more, or the statement is interrupted (recorded in err). */
bool zt_suggest_offer(zt_suggestion *s, zt_text name);

#endif
