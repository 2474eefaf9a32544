/* The part of safetensors' driver that its encoder needs. Interface to code in safetensors.c. */
#ifndef ZT_CONTAINER_SAFETENSORS_H
#define ZT_CONTAINER_SAFETENSORS_H

#include "container/container.h"

/* The word for the type of tensor i as it is in the header's JSON, between its quotes. */
zt_text zt_safetensors_word(const zt_container *c, uint32_t i);

#endif
