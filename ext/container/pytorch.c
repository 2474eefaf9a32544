/*
** Files of torch.save and torch.jit.save: a pickle of all values, in which tensors are views of
** storages. torch_archive.c and torch_legacy.c know the places of pickles and storages.
**
**   PT1  it is no file of torch before 0.1.10, which was a tar archive
**   PT2, PT3, PT14, PT20, PT21: torch_archive.c
**   PT15, PT16: torch_legacy.c
**   PT4, PT6, PT13: torch_tree.c
**   PT7: torch_values.c
** Faults of one tensor, which is listed without its bytes:
**   PT8, PT10, PT11, PT12: torch_object.c
**   PT9, PT17, PT18, PT19: torch_archive.c, torch_legacy.c: its storage is there
*/
#include "container/manifest.h"
#include "container/pickle_opcodes.h"
#include "container/torch_object.h"
#include "container/torch_probe.h"
#include "container/torch_values.h"
#include "core/host.h"

static const zt_rule pytorch_rules[] = {
  ZT_UNSUPPORTED("PT1", "torch-legacy", "the file is not of PyTorch before 0.1.10", ZT_SPEC_OURS),
  ZT_ERROR("PT2", "torch-no-pickle", "an archive of PyTorch has a record data.pkl", ZT_SPEC_TORCH),
  ZT_ERROR("PT3", "torch-pickle",
           "a pickle is stored, or deflated to a 64th at least, not encrypted, and has at most"
           " 256 MiB", ZT_SPEC_TORCH),
  ZT_ERROR("PT14", "torch-byteorder", "a record byteorder is little or big (PyTorch)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT15", "torch-legacy-version",
           "a file before 1.6 has PyTorch's magic number, and version 1001", ZT_SPEC_TORCH),
  ZT_ERROR("PT16", "torch-keys",
           "a file before 1.6 has a list of storages, none of them twice (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT20", "torch-pickle-crc", "a deflated pickle has the CRC-32 of its record (PyTorch)",
           ZT_SPEC_ZIP("4.4.7")),
  ZT_WARNING("PT21", "torch-record-crc",
             "a record has the CRC-32 that the directory states, if it is not 0 (PyTorch)",
             ZT_SPEC_ZIP("4.4.7")),
  ZT_ERROR("PT9", "torch-storage", "a tensor's storage is in the file (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT10", "torch-stride", "offset and strides are not negative, and fit 64 bits (PyTorch)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT11", "torch-view", "a view ends within its storage (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT12", "torch-record",
           "a storage's record has the bytes that the pickle states (PyTorch)", ZT_SPEC_TORCH),
  ZT_ERROR("PT17", "torch-width",
           "the classes of a tensor's storage and of all storages before it are known "
           "(PyTorch before 1.6)", ZT_SPEC_TORCH),
  ZT_ERROR("PT18", "torch-cut", "a storage ends within the file (PyTorch before 1.6)",
           ZT_SPEC_TORCH),
  ZT_ERROR("PT19", "torch-class", "a storage is of one class (PyTorch before 1.6)", ZT_SPEC_TORCH),
  ZT_WARNING("PT22", "torch-behind", "the last storage ends the file (PyTorch before 1.6)",
             ZT_SPEC_TORCH),
  ZT_WARNING("PT23", "torch-beside",
             "an archive of PyTorch has no other tensor files (PyTorch)", ZT_SPEC_OURS),
  ZT_ERROR("PT24", "torch-record-name",
           "an archive has a record once, and its name is in small letters (PyTorch)",
           ZT_SPEC_TORCH),
  ZT_RULES_END
};

static zt_probe pytorch_probe(const zt_head_tail *input, zt_error *err){
  return zt_torch_kind_of(input, err)==ZT_TORCH_NONE ? ZT_PROBE_NO : ZT_PROBE_YES;
}

/* PT1 */
static int pytorch_open(zt_builder *b, const zt_head_tail *input){
  zt_torch_kind kind = zt_torch_kind_of(input, b->err);
  zt_torch_file *file = NULL;
  if( b->err->rc ) return b->err->rc;
  if( kind==ZT_TORCH_TAR ){
    return zt_break(b->err, "PT1", "a file of PyTorch before 0.1.10, which is a tar archive: it is "
                    "not read");
  }
  if( kind==ZT_TORCH_ZIP ) zt_torch_open_archive(b, input, &file);
  else zt_torch_open_legacy(b, input, &file);
  if( file ) zt_torch_open_values(b, file);
  zt_torch_close(file);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         `torch.save`, `torch.jit.save`
**   known by     a zip archive with `data.pkl`, also behind a program; before 1.6 several
**                pickles in sequence
**   version      the archive's version; `1001`
**   manifest     the pickle's leaves and tensors
**   attributes   every leaf except tensors, by its dotted path
**   objects      in the pickle's order, by their dotted paths
**   of objects   `storage`, `storage_offset`, `stride`, `contiguous`, `requires_grad`, `parameter`,
**                `location`, `storage_elements`, `view`, `quantizer`, `conj`, `neg`
**   components   `data`: from the first to the last element of the view in its storage. Sparse:
**                `values`, `indices`, `indptr`. Nested: `values`, `sizes`, `strides`, `offsets`
*/
const zt_driver zt_driver_pytorch = {
  .name = "pytorch",
  .format = "pytorch",
  .files = "*.pt *.pth *.ckpt *.ptl *.ot *.pt.tar *.pth.tar *model*.bin *adapter*.bin *lora*.bin"
           " *embeds*.bin optimizer*.bin",
  .rules = { zt_rules_zip, zt_rules_pickle, zt_rules_values, pytorch_rules },
  .probe = pytorch_probe,
  .open = pytorch_open,
  .object = zt_torch_object,
  .component = zt_torch_component,
  .steps = &zt_manifest_steps,
};
