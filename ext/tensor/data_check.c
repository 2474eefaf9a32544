/* Checks of the bytes that a row brings. See data_check.h. */
#include "tensor/data_check.h"

#include "core/host.h"

typedef struct data_check {
  const zt_draft_object *object;
  const zt_dtype *dtype;
  zt_span bytes;
  unsigned rules;
  zt_error *err;
} data_check;

static int data_check_bools(const data_check *c){
  for(size_t i=0; i<c->bytes.n; i++){
    if( c->bytes.p[i]>1 ){
      return zt_fail(c->err, SQLITE_ERROR, "byte %llu is 0x%02x: a bool is 0 or 1",
                     (unsigned long long)i, c->bytes.p[i]);
    }
  }
  return SQLITE_OK;
}

/* The bits of the last byte behind n packed elements. */
static int data_check_spare(const data_check *c, uint64_t n){
  const unsigned packed = c->dtype->elements, used = (unsigned)(n%packed);
  const uint8_t last = c->bytes.n ? c->bytes.p[c->bytes.n-1] : 0;
  if( used==0 || last>>(8/packed*used)==0 ) return SQLITE_OK;
  return zt_fail(c->err, SQLITE_ERROR, "the spare bits of the last byte, 0x%02x, are not 0", last);
}

/* As many bytes as n elements have. */
static int data_check_length(const data_check *c, uint64_t n){
  uint64_t bytes = 0;
  if( !zt_dtype_size(c->dtype, n, &bytes) ){
    return zt_fail(c->err, SQLITE_ERROR, "%llu elements of %s are more than 2^64 bytes",
                   (unsigned long long)n, c->dtype->name);
  }
  if( bytes!=c->bytes.n ){
    return zt_fail(c->err, SQLITE_ERROR, "%llu elements of %s are %llu bytes, and data has %llu",
                   (unsigned long long)n, c->dtype->name, (unsigned long long)bytes,
                   (unsigned long long)c->bytes.n);
  }
  return data_check_spare(c, n);
}

static int data_check_dense(const data_check *c){
  uint64_t n = 1;
  for(uint32_t i=0; i<c->object->rank; i++){
    if( c->object->shape[i]==0 ) return data_check_length(c, 0);
  }
  for(uint32_t i=0; i<c->object->rank; i++){
    if( !zt_mul64(n, c->object->shape[i], &n) ){
      return zt_fail(c->err, SQLITE_ERROR, "the shape has 2^64 elements or more");
    }
  }
  return data_check_length(c, n);
}

/* --- Indices --- */

static uint64_t data_index(const data_check *c, uint64_t i){
  return c->dtype->width==8 ? zt_le64(c->bytes.p+8*i) : zt_le32(c->bytes.p+4*i);
}

static int data_check_index_type(const data_check *c, uint64_t *n){
  const bool narrow = !(c->rules & ZT_RULE_U64_INDICES);
  if( c->dtype->id!=ZT_DTYPE_u64 && !(narrow && c->dtype->id==ZT_DTYPE_u32) ){
    return zt_fail(c->err, SQLITE_ERROR, "indices are of u64%s, not %s", narrow ? " or u32" : "",
                   c->dtype->name);
  }
  *n = c->bytes.n/c->dtype->width;
  if( c->bytes.n%c->dtype->width==0 ) return SQLITE_OK;
  return zt_fail(c->err, SQLITE_ERROR, "%llu bytes are no whole number of %s",
                 (unsigned long long)c->bytes.n, c->dtype->name);
}

/* Entries first to end are less than the bound. */
static int data_check_range(const data_check *c, uint64_t first, uint64_t end, uint64_t bound){
  for(uint64_t i=first; i<end; i++){
    if( data_index(c, i)>=bound ){
      return zt_fail(c->err, SQLITE_ERROR, "index %llu is %llu, beyond the dimension of %llu",
                     (unsigned long long)i, (unsigned long long)data_index(c, i),
                     (unsigned long long)bound);
    }
  }
  return SQLITE_OK;
}

static int data_check_coords(const data_check *c){
  const uint32_t rank = c->object->rank;
  uint64_t n = 0;
  if( data_check_index_type(c, &n) ) return c->err->rc;
  if( rank==0 || n%rank!=0 ){
    return zt_fail(c->err, SQLITE_ERROR, "%llu coordinates are not a whole number for each of %u"
                   " dimensions", (unsigned long long)n, rank);
  }
  for(uint32_t d=0; d<rank && !c->err->rc; d++){
    data_check_range(c, d*(n/rank), (d+1)*(n/rank), c->object->shape[d]);
  }
  return c->err->rc;
}

static int data_check_indptr(const data_check *c){
  uint64_t n = 0, before = 0;
  if( data_check_index_type(c, &n) ) return c->err->rc;
  if( n==0 || n-1!=c->object->shape[0] ){
    return zt_fail(c->err, SQLITE_ERROR, "indptr has %llu entries for %llu rows, not one more",
                   (unsigned long long)n, (unsigned long long)c->object->shape[0]);
  }
  for(uint64_t i=0; i<n; i++){
    const uint64_t pointer = data_index(c, i);
    if( pointer<before || (i==0 && pointer!=0) ){
      return zt_fail(c->err, SQLITE_ERROR, "indptr begins with 0 and never falls: entry %llu is"
                     " %llu", (unsigned long long)i, (unsigned long long)pointer);
    }
    before = pointer;
  }
  return SQLITE_OK;
}

/* Any whole number of elements; packed ones fill their bytes. */
static int data_check_values(const data_check *c){
  if( c->bytes.n%c->dtype->bytes==0 ) return SQLITE_OK;
  return zt_fail(c->err, SQLITE_ERROR, "%llu bytes are no whole number of %s",
                 (unsigned long long)c->bytes.n, c->dtype->name);
}

int zt_data_check(const zt_draft_object *object, zt_text role, const zt_dtype *dtype,
                  zt_span bytes, unsigned rules, zt_error *err){
  const data_check c = { object, dtype, bytes, rules, err };
  const bool csr = object->layout==ZT_LAYOUT_CSR, coo = object->layout==ZT_LAYOUT_COO;
  uint64_t n = 0;
  if( dtype->class==ZT_BOOL && data_check_bools(&c) ) return err->rc;
  if( csr && object->rank!=2 ){
    return zt_fail(err, SQLITE_ERROR, "sparse_csr has two dimensions, not %u", object->rank);
  }
  if( object->layout==ZT_LAYOUT_DENSE && zt_text_is(role, "data") ) return data_check_dense(&c);
  if( (csr || coo) && zt_text_is(role, "values") ) return data_check_values(&c);
  if( coo && zt_text_is(role, "coords") ) return data_check_coords(&c);
  if( csr && zt_text_is(role, "indptr") ) return data_check_indptr(&c);
  if( csr && zt_text_is(role, "indices") ){
    return data_check_index_type(&c, &n) ? err->rc
         : data_check_range(&c, 0, n, object->shape[1]);
  }
  return zt_fail(err, SQLITE_ERROR, "%s has no component '%.*s': its components are %s",
                 csr ? "sparse_csr" : coo ? "sparse_coo" : "dense", zt_shown(role), role.z,
                 csr ? "values, indices and indptr" : coo ? "values and coords" : "data alone");
}
