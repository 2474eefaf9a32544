/*
** The layout of arrays whose parts are components of their own: boxes that have each element once,
** as the container has checked. A part's elements are in row-major order.
**
** D1 holds for each part; all parts have one type (L6).
**
** A *run* is a part of a box whose elements follow each other in the array, too. Elements of a
** window that a box has are read at once, and spread over their runs. The parts that were read last
** stay open.
*/
#include <assert.h>
#include "core/host.h"
#include "tensor/layout.h"

#define SLICES_OPEN 16u                      /* Parts that stay open */
#define SLICES_PIECE 4096u                   /* Elements that are spread at once */

typedef struct slices_part {
  uint32_t component;                        /* Its number plus 1; 0: none */
  zt_array data;
} slices_part;

typedef struct slices_state {
  slices_part parts[SLICES_OPEN];
  ZT_NUMBERS(SLICES_PIECE*ZT_ELEMENT_MAX/8) piece;
} slices_state;

/* A part's box. Positions are those of elements in the array. */
typedef struct slices_box {
  uint64_t elements, run;                    /* In all, and of a run */
  uint64_t from, to;                         /* Position of the first one; behind the last one */
  uint32_t outer;                            /* Dimensions that count runs */
  uint64_t n[ZT_MAX_RANK];                   /* Indices in a dimension, at least 1, */
  uint64_t step[ZT_MAX_RANK];                /* and how far they are apart */
} slices_box;

static void slices_measure(const zt_object *o, const zt_component *c, slices_box *out){
  uint64_t step = 1;
  bool whole = true;
  *out = (slices_box){ .elements = 1, .run = 1, .to = 1, .outer = o->rank };
  for(uint32_t d=o->rank; d-->0; step*=o->shape[d]){
    const uint64_t first = zt_load64(c->box.p+sizeof(first)*2*d);
    out->n[d] = zt_load64(c->box.p+sizeof(first)*(2*d+1));
    out->step[d] = step;
    out->elements *= out->n[d];
    out->from += first*step;
    out->to += (first+out->n[d]-1)*step;
    if( whole ){
      out->run *= out->n[d];
      out->outer = d;
    }
    whole = whole && out->n[d]==o->shape[d];
  }
}

/* Position of a box's run. */
static uint64_t slices_place(const slices_box *box, uint64_t run){
  uint64_t position = box->from;
  for(uint32_t d=box->outer; d-->0; run/=box->n[d]){
    assert( box->n[d]>0 );
    position += run%box->n[d]*box->step[d];
  }
  return position;
}

/* A box's elements before a position. */
static uint64_t slices_before(const slices_box *box, uint64_t position){
  uint64_t low = 0, high = box->elements/box->run, in;
  if( position<=box->from ) return 0;
  if( position>=box->to ) return box->elements;
  while( high-low>1 ){   /* The last run that begins before it */
    const uint64_t middle = low+(high-low)/2;
    if( slices_place(box, middle)<position ) low = middle;
    else high = middle;
  }
  in = position-slices_place(box, low);
  return low*box->run+(in<box->run ? in : box->run);
}

static void slices_component(const zt_tensor *t, uint32_t k, zt_component *out){
  zt_container_component(t->container, t->object->index, k, ZT_COMPONENT_ALL, out);
  out->rules |= t->object->rules;
}

/* Open a part, unless it is. NULL after a failure. */
static zt_array *slices_open_part(zt_tensor *t, uint32_t k, const zt_component *component,
                                  const slices_box *box, zt_error *err){
  slices_state *s = t->state;
  slices_part *part = &s->parts[k%SLICES_OPEN];
  const zt_payload payload = zt_tensor_payload(t, component);
  if( part->component==k+1 ) return &part->data;
  if( part->component ) zt_array_close(&part->data);
  part->component = 0;
  if( zt_array_open_of(&payload, box->elements, "D1", &part->data, err) ){
    zt_array_close(&part->data);
    return NULL;
  }
  part->component = k+1;
  if( part->data.dtype==t->dtype ) return &part->data;
  zt_break(err, "L6", "its parts are %s and %s", t->dtype->name, part->data.dtype->name);
  return NULL;
}

static int slices_open(zt_tensor *t, zt_error *err){
  const uint32_t first = zt_container_first(t->container, t->object->index);
  const uint32_t end = zt_container_first(t->container, t->object->index+1);
  slices_state *s = t->state = sqlite3_malloc64(sizeof(*s));
  if( !s ) return zt_fail_nomem(err);
  for(uint32_t i=0; i<SLICES_OPEN; i++) s->parts[i].component = 0;
  for(uint32_t k=first; k<end && k-first<SLICES_OPEN && !err->rc; k++){
    zt_component component;
    const zt_payload payload = zt_tensor_payload(t, &component);
    slices_box box;
    slices_component(t, k, &component);
    if( k==first && zt_array_dtype(&payload, &t->dtype, err) ) break;
    slices_measure(t->object, &component, &box);
    slices_open_part(t, k, &component, &box, err);
  }
  return err->rc;
}

static void slices_close(zt_tensor *t){
  slices_state *s = t->state;
  for(uint32_t i=0; i<SLICES_OPEN; i++){
    if( s->parts[i].component ) zt_array_close(&s->parts[i].data);
  }
}

/* Read a box's elements `at` to `end`; out is the place of position `first`. */
static int slices_read_box(zt_tensor *t, zt_array *data, const slices_box *box, uint64_t at,
                           uint64_t end, uint64_t first, uint8_t *out, zt_error *err){
  slices_state *s = t->state;
  const size_t width = t->dtype->width;
  while( at<end ){
    const uint64_t rest = box->run-at%box->run, all = end-at<rest ? end-at : rest;
    uint8_t *to = out+(slices_place(box, at/box->run)+at%box->run-first)*width;
    uint64_t n = end-at<SLICES_PIECE ? end-at : SLICES_PIECE;
    if( all>=n ){   /* In one run */
      if( zt_array_read(data, at, (size_t)all, to, err) ) return err->rc;
      at += all;
      continue;
    }
    if( zt_array_read(data, at, (size_t)n, s->piece.bytes, err) ) return err->rc;
    for(uint64_t done=0; done<n; ){
      const uint64_t in = (at+done)%box->run;
      const uint64_t m = n-done<box->run-in ? n-done : box->run-in;
      to = out+(slices_place(box, (at+done)/box->run)+in-first)*width;
      memcpy(to, s->piece.bytes+done*width, (size_t)m*width);
      done += m;
    }
    at += n;
  }
  return SQLITE_OK;
}

static int slices_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err){
  const uint32_t end = zt_container_first(t->container, t->object->index+1);
  for(uint32_t k=zt_container_first(t->container, t->object->index); k<end && !err->rc; k++){
    zt_component component;
    slices_box box;
    uint64_t at, to;
    zt_array *data;
    slices_component(t, k, &component);
    slices_measure(t->object, &component, &box);
    at = slices_before(&box, first);
    to = slices_before(&box, first+n);
    if( at==to ) continue;
    data = slices_open_part(t, k, &component, &box, err);
    if( data ) slices_read_box(t, data, &box, at, to, first, out, err);
  }
  return err->rc;
}

const zt_layout zt_layout_slices = {
  .open = slices_open, .close = slices_close, .read = slices_read
};
