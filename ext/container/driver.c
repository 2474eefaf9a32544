/* The table of file formats. See driver.h. */
#include "container/driver.h"

#include "core/host.h"

extern const zt_driver zt_driver_zt0, zt_driver_zt1_0, zt_driver_zt1_1, zt_driver_zt2,
  zt_driver_safetensors, zt_driver_gguf, zt_driver_npy, zt_driver_npz, zt_driver_pytorch,
  zt_driver_onnx;

const zt_driver *const zt_drivers[] = {
  &zt_driver_zt0, &zt_driver_zt1_0, &zt_driver_zt1_1, &zt_driver_zt2, &zt_driver_safetensors,
  &zt_driver_gguf, &zt_driver_npy, &zt_driver_npz, &zt_driver_pytorch, &zt_driver_onnx, NULL
};

const char zt_container_files[] =
  "*.zt *.safetensors *.gguf *.npy *.npz *.pt *.pth *.ckpt *.ptl *.onnx *model*.bin";

const zt_driver *zt_driver_for(const zt_ends *ends, zt_error *err){
  const zt_driver *perhaps = NULL;
  for(int i=0; zt_drivers[i] && !err->rc; i++){
    zt_probe probe = zt_drivers[i]->probe(ends, err);
    if( probe==ZT_PROBE_YES ) return zt_drivers[i];
    if( probe==ZT_PROBE_PERHAPS && !perhaps ) perhaps = zt_drivers[i];
  }
  return err->rc ? NULL : perhaps;
}
