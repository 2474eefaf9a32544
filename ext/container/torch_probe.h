/* Which files are PyTorch's. Interface to code in torch_probe.c. */
#ifndef ZT_CONTAINER_TORCH_PROBE_H
#define ZT_CONTAINER_TORCH_PROBE_H

#include "container/driver.h"
#include "container/zip.h"

typedef enum zt_torch_kind {
  ZT_TORCH_NONE,
  ZT_TORCH_ZIP,        /* Of torch.save since 1.6, or of torch.jit.save */
  ZT_TORCH_PICKLES,    /* Before: several pickles and storages in a row */
  ZT_TORCH_TAR         /* Before that */
} zt_torch_kind;

/* What a file is by its first bytes, or by the members of a zip archive. */
zt_torch_kind zt_torch_kind_of(const zt_head_tail *input, zt_error *err);

/* What the names of an archive's records begin with: that of the first one, up to a slash; empty if
** there is none. Borrowed. */
zt_text zt_torch_archive(const zt_zip *zip);

#endif
