/* The part of safetensors' driver that its encoder needs. Interface to code in safetensors.c. */
#ifndef ZT_CONTAINER_SAFETENSORS_H
#define ZT_CONTAINER_SAFETENSORS_H

#include "container/container.h"
#include "core/json_read.h"

/* The word for the type of tensor i as it is in the header's JSON, between its quotes. */
zt_text zt_safetensors_word(const zt_container *c, uint32_t i);

/* A walk through the members of a tensor's object that are none of the format's. */
typedef struct zt_safetensors_others {
  zt_error unused;
  zt_json_reader r;
  zt_json_level level;
} zt_safetensors_others;

void zt_safetensors_others_begin(const zt_container *c, uint32_t i, zt_safetensors_others *out);

/* The next one: its name between its quotes, and the whole member, both as they are written. */
bool zt_safetensors_others_next(zt_safetensors_others *o, zt_text *name, zt_text *member);

#endif
