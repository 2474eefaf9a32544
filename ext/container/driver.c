/* The table of file formats. See driver.h. */
#include "container/driver.h"

#include "core/paths.h"

/* The order of probes, and of lists of rules and names. */
#define DRIVER_TABLE(FORMAT) \
  FORMAT(zt0) \
  FORMAT(zt1_0) \
  FORMAT(zt1_1) \
  FORMAT(zt2) \
  FORMAT(safetensors) \
  FORMAT(gguf) \
  FORMAT(npy) \
  FORMAT(npz) \
  FORMAT(pytorch) \
  FORMAT(pickle) \
  FORMAT(onnx) \
  FORMAT(hdf5) \
  FORMAT(tflite) \
  FORMAT(msgpack) \
  FORMAT(tensorflow) \
  FORMAT(matlab) \
  FORMAT(matlab4) \
  FORMAT(archive)

#define DRIVER_DECLARE(name) extern const zt_driver zt_driver_##name;
DRIVER_TABLE(DRIVER_DECLARE)

#define DRIVER_ADDRESS(name) &zt_driver_##name,
const zt_driver *const zt_drivers[] = { DRIVER_TABLE(DRIVER_ADDRESS) NULL };

const zt_driver *zt_driver_for(const zt_head_tail *input, zt_error *err){
  const zt_driver *perhaps = NULL;
  zt_probe most = ZT_PROBE_NO;
  for(int i=0; zt_drivers[i] && !err->rc; i++){
    const zt_probe probe = zt_drivers[i]->probe(input, err);
    if( probe==ZT_PROBE_YES ) return zt_drivers[i];
    if( probe<=most ) continue;
    most = probe;
    perhaps = zt_drivers[i];
  }
  return err->rc ? NULL : perhaps;
}

bool zt_driver_wants_tail(zt_span head){
  for(int i=0; zt_drivers[i]; i++){
    const char *tailed = zt_drivers[i]->tailed;
    const size_t n = tailed ? strlen(tailed) : 0;
    if( n>0 && head.n>=n && memcmp(head.p, tailed, n)==0 ) return true;
  }
  return false;
}

bool zt_container_files(const char *name){
  for(int i=0; zt_drivers[i]; i++){
    const char *files = zt_drivers[i]->files;
    if( files && zt_glob_match_any(files, name) ) return true;
  }
  return false;
}

int zt_driver_count(void){
  return (int)(sizeof(zt_drivers)/sizeof(*zt_drivers))-1;   /* NOLINT: of pointers */
}

const zt_rule *const *zt_driver_rules(int i){ return zt_drivers[i]->rules; }
