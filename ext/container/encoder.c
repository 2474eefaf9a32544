/* The table of encoders. See encoder.h. */
#include "container/encoder.h"

#include "core/host.h"

extern const zt_encoder zt_encoder_zt2, zt_encoder_zt1, zt_encoder_safetensors, zt_encoder_gguf,
                        zt_encoder_npy, zt_encoder_npz;

const zt_encoder *const zt_encoders[] = {
  &zt_encoder_zt2, &zt_encoder_zt1, &zt_encoder_safetensors, &zt_encoder_gguf, &zt_encoder_npy,
  &zt_encoder_npz, NULL
};

const zt_encoder *zt_encoder_named(zt_text name){
  for(int i=0; zt_encoders[i]; i++){
    if( zt_text_equal(name, zt_text_of(zt_encoders[i]->name)) ) return zt_encoders[i];
  }
  return NULL;
}

const zt_encoder *zt_encoder_of(const zt_container *c){
  const zt_text version = zt_container_version(c);
  for(int i=0; zt_encoders[i]; i++){
    const char *begin = zt_encoders[i]->version ? zt_encoders[i]->version : "";
    if( zt_encoders[i]->driver==c->driver && version.n>=strlen(begin)
     && memcmp(version.z ? version.z : "", begin, strlen(begin))==0 ) return zt_encoders[i];
  }
  return NULL;
}

const zt_encoder *zt_encoder_for(const char *path){
  const size_t n = strlen(path);
  for(int i=0; zt_encoders[i]; i++){
    const char *suffix = zt_encoders[i]->suffix;
    const size_t nSuffix = suffix ? strlen(suffix) : 0;
    if( nSuffix && n>nSuffix && sqlite3_stricmp(path+n-nSuffix, suffix)==0 ) return zt_encoders[i];
  }
  return NULL;
}
