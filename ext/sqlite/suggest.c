/* Suggestion of the name that was probably meant. See suggest.h. */
#include "sqlite/suggest.h"

#define SUGGEST_LONGEST 128   /* Maximum bytes of a compared name; longer ones are ignored */
#define SUGGEST_STEPS ((uint64_t)1<<26)   /* Maximum pairs of bytes to compare: some tenths of a
                                          ** second */
#define SUGGEST_NAMES 100000u /* Maximum number of names */
#define SUGGEST_POLL 64       /* Names between checks for an interrupt */

static size_t suggest_smaller(size_t a, size_t b){
  return a<b ? a : b;
}

static unsigned char suggest_fold(char ch){
  return (unsigned char)(ch>='A' && ch<='Z' ? ch|0x20 : ch);
}

/* Return the number of edits between a and b (optimal string alignment), ignoring case. If it
** exceeds `most`, the result may be any number above `most`. Adds the pairs of bytes that were
** compared to *steps. */
static size_t suggest_distance(zt_text a, zt_text b, size_t most, uint64_t *steps){
  size_t rows[3][SUGGEST_LONGEST+1];
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for(size_t j=0; j<=b.n; j++) last[j] = j;
  for(size_t i=1; i<=a.n; i++){
    size_t least = now[0] = i;
    size_t *unused;
    for(size_t j=1; j<=b.n; j++){
      unsigned char x = suggest_fold(a.z[i-1]), y = suggest_fold(b.z[j-1]);
      now[j] = suggest_smaller(suggest_smaller(last[j], now[j-1])+1, last[j-1]+(x!=y));
      if( i>1 && j>1 && x==suggest_fold(b.z[j-2]) && suggest_fold(a.z[i-2])==y ){
        now[j] = suggest_smaller(now[j], before[j-2]+1);
      }
      least = suggest_smaller(least, now[j]);
    }
    *steps += b.n;
    if( least>most ) return least;
    unused = before;
    before = last;
    last = now;
    now = unused;
  }
  return last[b.n];
}

void zt_suggest_begin(zt_suggestion *s, zt_text wanted, const zt_interrupt *interrupt,
                      zt_error *err){
  *s = (zt_suggestion){
    .wanted = wanted, .remaining = SUGGEST_STEPS, .interrupt = interrupt, .err = err
  };
  s->distance = wanted.n/4+1;   /* One more than a close name may have */
  if( s->distance<2 ) s->distance = 2;
}

/* Take a name if it is closer than the best. */
static void suggest_compare(zt_suggestion *s, zt_text name){
  size_t d, most = s->distance-1;
  uint64_t steps = 0;
  if( s->distance==0 || name.n>SUGGEST_LONGEST || s->wanted.n>SUGGEST_LONGEST || name.n==0 ) return;
  if( name.n>s->wanted.n+most || s->wanted.n>name.n+most ) return;
  d = suggest_distance(s->wanted, name, most, &steps);
  s->remaining -= steps<s->remaining ? steps : s->remaining;
  if( d<s->distance && d<name.n ){
    s->distance = d;
    s->best = name;
  }
}

bool zt_suggest_offer(zt_suggestion *s, zt_text name){
  suggest_compare(s, name);
  if( ++s->offered%SUGGEST_POLL==0 ) zt_interrupt_check(s->interrupt, s->err);
  return !s->err->rc && s->remaining>0 && s->offered<SUGGEST_NAMES;
}
