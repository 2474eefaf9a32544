/*
** The grids of ggml's IQ types: vectors of 8 or 4 numbers. An entry has a code of 2 or 3 bits for
** each number, the first in the lowest bits.
*/
#ifndef ZT_TENSOR_GGML_GRIDS_H
#define ZT_TENSOR_GGML_GRIDS_H

#include <stdint.h>

/* 8 codes of 2 bits for 8, 25 and 43. */
extern const uint16_t zt_ggml_grid_iq2_xxs[256], zt_ggml_grid_iq2_xs[512], zt_ggml_grid_iq2_s[1024];

/* 4 codes of 3 bits: for 4, 12, 20 to 52 and 62; for 1, 3 to 15. */
extern const uint16_t zt_ggml_grid_iq3_xxs[256], zt_ggml_grid_iq3_s[512];

/* 8 codes of 2 bits for -1, 0 and 1, used by iq1_s and iq1_m. */
extern const uint16_t zt_ggml_grid_iq1[2048];

#endif
