/* The kinds of PyTorch's files. */
#ifndef ZT_CONTAINER_TORCH_PROBE_H
#define ZT_CONTAINER_TORCH_PROBE_H

#include "container/driver.h"
#include "container/zip.h"

typedef enum zt_torch_kind {
  ZT_TORCH_NONE,
  ZT_TORCH_ZIP,        /* torch.save since 1.6, torch.jit.save */
  ZT_TORCH_PICKLES,    /* Before 1.6: pickles and storages in sequence */
  ZT_TORCH_TAR         /* Before 0.1.10 */
} zt_torch_kind;

/* A file's kind, by its first bytes, or by the members of a zip archive. */
zt_torch_kind zt_torch_kind_of(const zt_head_tail *input, zt_error *err);

/* The folder of an archive's records: the first name up to its slash, or empty. Borrowed. */
zt_text zt_torch_archive(const zt_zip *zip);

#endif
