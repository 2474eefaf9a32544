/*
** Lines that stand for storages. See torch_repr.h.
**
**   line := ('storage', <class 'MODULE.CLASS'>, 'KEY', 'LOCATION', ELEMENTS[, None|, VIEW])
**   VIEW := ('KEY', OFFSET, ELEMENTS)
*/
#include "container/torch_repr.h"

#include "core/host.h"

/* Take a prefix from the line. */
static bool repr_take(zt_text *line, const char *z){
  const size_t n = strlen(z);
  if( line->n<n || memcmp(line->z, z, n)!=0 ) return false;
  line->z += n;
  line->n -= n;
  return true;
}

/* A quoted text without escapes. */
static bool repr_take_text(zt_text *line, zt_text *out){
  const char *end;
  if( !repr_take(line, "'") || line->n==0 ) return false;
  end = memchr(line->z, '\'', line->n);
  if( !end ) return false;
  *out = (zt_text){ line->z, (size_t)(end-line->z) };
  line->z += out->n+1;
  line->n -= out->n+1;
  return out->n==0 || !memchr(out->z, '\\', out->n);
}

/* A number of at most 18 digits. */
static bool repr_take_int(zt_text *line, int64_t *out){
  const bool negative = repr_take(line, "-");
  size_t n = 0;
  *out = 0;
  for(; n<line->n && n<18 && line->z[n]>='0' && line->z[n]<='9'; n++){
    *out = *out*10+(line->z[n]-'0');
  }
  if( negative ) *out = -*out;
  line->z += n;
  line->n -= n;
  return n>0 && (line->n==0 || line->z[0]<'0' || line->z[0]>'9');
}

static bool repr_take_view(zt_text *line, zt_torch_repr *out){
  return repr_take(line, "(") && repr_take_text(line, &out->view_key) && repr_take(line, ", ")
      && repr_take_int(line, &out->view_offset) && repr_take(line, ", ")
      && repr_take_int(line, &out->view_elements) && repr_take(line, ")");
}

bool zt_torch_repr_read(zt_text line, zt_torch_repr *out){
  *out = (zt_torch_repr){ .elements = 0 };
  if( !repr_take(&line, "('storage', <class ") || !repr_take_text(&line, &out->class)
   || !repr_take(&line, ">, ") || !repr_take_text(&line, &out->key) || !repr_take(&line, ", ")
   || !repr_take_text(&line, &out->location) || !repr_take(&line, ", ")
   || !repr_take_int(&line, &out->elements) ) return false;
  for(size_t i=out->class.n; i-->0; ){
    if( out->class.z[i]!='.' ) continue;
    out->class = (zt_text){ out->class.z+i+1, out->class.n-i-1 };
    break;
  }
  if( repr_take(&line, ", ") && !repr_take(&line, "None") && !repr_take_view(&line, out) ){
    return false;
  }
  return repr_take(&line, ")") && line.n==0;
}
