/*
** An object's values, and the table of layouts, which compute them from components. A new layout is
** one row in layout.c, and a file of its own like dense.c. Interface to code in layout.c, and
** between it and the layouts.
**
** In any layout, a tensor is an array of elements in the row-major order of its shape: the dense
** form. Rules (tests/formats has files for each):
**   L1  the format is known
**   L2  every component's dtype is known
**   L3  decoded lengths are what shape and types make
**   L4  every role of the format is there
**   L5  every component's logical type is known
**   L6  it has its own storage type
**   L7  no index is negative
**   L8  a component's byte order is little or big
**   L11 the elements are numbers, and the file contains them; otherwise the tensor is listed, and
**       nothing is wrong
** where the file's rules say so (container.h):
**   L9  a bool is 0 or 1, and the spare bits of a last byte of packed elements are 0
**   L10 no two stored elements lie in one cell
** and the rules of each layout, in its file.
*/
#ifndef ZT_TENSOR_LAYOUT_H
#define ZT_TENSOR_LAYOUT_H

#include "tensor/tensor.h"

/* Open an object's values. err's place should name the object. *out always needs
** zt_tensor_close(). */
int zt_tensor_open(zt_source *source, const zt_container *c, const zt_object *object,
                   zt_budget *budget, zt_tensor *out, zt_error *err);
void zt_tensor_close(zt_tensor *t);

/* True if only some elements are stored, and the others are zero. */
bool zt_tensor_is_sparse(const zt_tensor *t);

/* Read elements first to first+n of the dense form into memory. n is at least 1; if there are no
** elements, it is 0, and the stored bytes are still checked. */
int zt_tensor_read(zt_tensor *t, uint64_t first, size_t n, void *out, zt_error *err);

/* Announce that all elements will be read in order. */
void zt_tensor_expect(const zt_tensor *t);

/* Return how many elements to read at once in a sequential read. */
uint64_t zt_tensor_window(const zt_tensor *t);

extern const zt_layout zt_layout_dense, zt_layout_csr, zt_layout_coo, zt_layout_quantized,
  zt_layout_mx, zt_layout_quant_group, zt_layout_ggml, zt_layout_slices;

#endif
