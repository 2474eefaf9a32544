/* Functions that the kinds of files share. See torch_storage.h. */
#include "container/torch_storage.h"

#include "core/host.h"

void zt_torch_pickle_clear(zt_torch_pickle *p){
  zt_pickle_close(p->pickle);
  sqlite3_free((void*)p->bytes.p);
  *p = (zt_torch_pickle){ 0 };
}

int zt_torch_keep_text(zt_builder *b, uint32_t *at, const char *format, va_list list){
  char *z = sqlite3_vmprintf(format, list);
  if( !z ) zt_fail_nomem(b->err);
  else zt_builder_keep(b, z, strlen(z)+1, at);
  sqlite3_free(z);
  return b->err->rc;
}

int zt_torch_set_fault(zt_builder *b, zt_torch_storage *s, const char *rule, const char *format,
                       ...){
  va_list list;
  s->rule = rule;
  va_start(list, format);
  zt_torch_keep_text(b, &s->fault, format, list);
  va_end(list);
  return b->err->rc;
}
