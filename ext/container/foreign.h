/* Formats that are known by name, and not read. Interface to code in foreign.c. */
#ifndef ZT_CONTAINER_FOREIGN_H
#define ZT_CONTAINER_FOREIGN_H

#include "container/driver.h"

/* Record what a file is that no driver claims: T2 if its bytes tell a format for sure, else T1. */
int zt_foreign_fail(const zt_head_tail *input, zt_error *err);

/* True if a zip archive's member of this name is HDF5, as in Keras' archives. */
bool zt_foreign_is_hdf5(zt_text name);

#endif
