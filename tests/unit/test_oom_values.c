/* Memory runs out where bytes become values, and where they are checked. See oom.h. */
#define WIDE_WINDOW_LOG 20
#include "oom.h"

#include "expectations.h"
#include "tensor/check.h"
#include "tensor/compare.h"
#include "tensor/fingerprint.h"
#include "tensor/histogram.h"
#include "tensor/stats.h"
#include "tensors.h"
#include "zt2.h"

#define HOSTILE "tests/formats/ztensor/hostile/"

/* --- Values --- */

/* A question about an object, and its answer. */
typedef enum question { ELEMENTS, RANGE, BYTES, CONVERTED, PACKED, NOT_ALL, TEXT, STATISTICS, PRINT, BINS, DISTANCE, QUESTIONS } question;

typedef struct tensor_job {
  opened *o;
  question question;
  blob want;               /* Filled where it is empty */
} tensor_job;

static void keep_or_compare(blob *want, const void *p, size_t n, const char *what){
  if( !want->p ) *want = exact(p ? p : "", n);
  else check( want->n==n && memcmp(want->p, p ? p : "", n)==0, "%s: another result", what );
}

/* The distance from another object that is the same. */
static void ask_distance(tensor_job *q, zt_tensor *t, const char *what, zt_error *err){
  zt_comparison c;
  zt_tensor same;
  if( zt_tensor_open(q->o->source, q->o->container, &q->o->object, &q->o->budget, &same, err)==SQLITE_OK
   && zt_compare(t, &same, &c, err)==SQLITE_OK ) keep_or_compare(&q->want, &c.equal, sizeof(c.equal), what);
  zt_tensor_close(&same);
}

static void ask_bins(tensor_job *q, zt_tensor *t, const char *what, zt_error *err){
  zt_histogram h;
  if( zt_histogram_compute(t, 3, &h, err)==SQLITE_OK ) keep_or_compare(&q->want, h.counts, h.bins*sizeof(*h.counts), what);
  zt_histogram_clear(&h);
}

static int ask_tensor(const job *j){
  tensor_job *q = (tensor_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_buffer out = { NULL, 0 };
  zt_tensor t;
  zt_stats stats;
  zt_fingerprint print;
  uint64_t n = q->o->object.elements, elements[2000];
  q->o->budget.decoded = 0;
  if( zt_tensor_open(q->o->source, q->o->container, &q->o->object, &q->o->budget, &t, &err)==SQLITE_OK ){
    if( q->question==RANGE ) n = n>3 ? n/3 : n;
    switch( q->question ){
      case ELEMENTS: case RANGE:
        assert_true(n*t.dtype->width<=sizeof(elements));
        zt_tensor_read(&t, q->question==RANGE ? 1 : 0, (size_t)n, elements, &err);
        if( !err.rc ) keep_or_compare(&q->want, elements, (size_t)n*t.dtype->width, j->what);
        break;
      case BYTES: zt_assemble(&t, t.dtype, 0, n, &out, &err); break;
      case CONVERTED: zt_assemble(&t, named("f64"), 0, n, &out, &err); break;
      case PACKED: zt_assemble(&t, named("f4_e2m1"), 0, n, &out, &err); break;
      case NOT_ALL: zt_assemble(&t, named("f8_e8m0"), 0, n, &out, &err); break;
      case STATISTICS:
        zt_stats_compute(&t, &stats, &err);
        if( !err.rc ) keep_or_compare(&q->want, &stats.mean, sizeof(stats.mean), j->what);
        break;
      case PRINT:
        zt_fingerprint_object(q->o->source, q->o->container, q->o->object.index, &q->o->budget, &print, &err);
        if( !err.rc ) keep_or_compare(&q->want, print.bytes, sizeof(print.bytes), j->what);
        break;
      case BINS: ask_bins(q, &t, j->what, &err); break;
      case DISTANCE: ask_distance(q, &t, j->what, &err); break;
      default: {
        char *z = json_of(&t, &err);
        if( !err.rc ) keep_or_compare(&q->want, z, strlen(z), j->what);
        sqlite3_free(z);
      }
    }
    if( q->question>=BYTES && q->question<=NOT_ALL && !err.rc ) keep_or_compare(&q->want, out.p, (size_t)out.n, j->what);
  }
  if( err.rc ) assert_true(out.p==NULL && out.n==0);
  zt_buffer_clear(&out);
  zt_tensor_close(&t);
  return code_of(&err);
}

static blob bytes_of(const uint8_t *p, size_t n, unsigned width){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_bits(&b, p[i], width);
  return b;
}

enum { DENSE, CSR, COO, QUANTIZED, OLD_CSR, OLD_COO, EMPTY, LAYOUTS };

/* Small objects of small values. Of those that are sparse, one cell has two, out of order. */
static recipe layout_of(int layout){
  static const uint8_t data[] = { 1, 2, 3, 0, 5, 6 }, indptr[] = { 0, 2, 4 }, indices[] = { 2, 0, 1, 1 }, ones[] = { 1, 1, 1, 1 }, rows[] = { 1, 0, 1, 1 };
  static const char *const formats[] = { "dense", "sparse_csr", "sparse_coo", "quantized_group", "sparsecsr", "sparsecoo", "sparse_coo" };
  recipe r = { .format = formats[layout], .rank = 2, .shape = { 2, 3 }, .old = layout==OLD_CSR || layout==OLD_COO };
  blob b = { 0 };
  switch( layout ){
    case DENSE: add_part(&r, "data", "i16", NULL, bytes_of(data, 6, 2)); break;
    case CSR:
      add_part(&r, "values", "u16", NULL, bytes_of(ones, 4, 2));
      add_part(&r, "indices", "i32", NULL, bytes_of(indices, 4, 4));
      add_part(&r, "indptr", "u64", NULL, bytes_of(indptr, 3, 8));
      break;
    case COO:
      b = bytes_of(rows, 4, 4);
      for(size_t i=0; i<4; i++) put_bits(&b, indices[i], 4);
      add_part(&r, "values", "u16", NULL, bytes_of(ones, 4, 2));
      add_part(&r, "coords", "u32", NULL, b);
      break;
    case QUANTIZED:
      r.shape[1] = 8;
      put_map(&r.attributes, 3);
      put_key_uint(&r.attributes, "bits", 2);
      put_key_uint(&r.attributes, "group_size", 4);
      put_key_text(&r.attributes, "packing", "4_per_u8");
      add_part(&r, "packed_weight", "u8", NULL, bytes_of((const uint8_t*)"\x1B\x1B\xE4\x00", 4, 1));
      for(size_t i=0; i<4; i++) put_real(&b, "f16", 1);
      add_part(&r, "scales", "f16", NULL, b);
      add_part(&r, "zeros", "u8", NULL, bytes_of(ones, 4, 1));
      break;
    case OLD_CSR:
      b = bytes_of(indptr, 3, 8);
      for(size_t i=0; i<4; i++) put_bits(&b, indices[i], 8);
      for(size_t i=0; i<4; i++) put_real(&b, "f32", 2);
      add_part(&r, "data", "float32", NULL, b);
      break;
    case OLD_COO:
      for(size_t i=0; i<4; i++){
        put_bits(&b, rows[i], 8);
        put_bits(&b, indices[i], 8);
        put_real(&b, "f64", 2);
      }
      add_part(&r, "data", "float64", NULL, b);
      break;
    default:
      r.shape[1] = 0;
      add_part(&r, "values", "f32", NULL, bytes_of(NULL, 0, 4));
      add_part(&r, "coords", "u8", NULL, bytes_of(NULL, 0, 1));
      break;
  }
  return r;
}

TEST_WITH(test_values_of_every_layout, disarm, NULL){
  static const char *const what[] = { "dense", "csr", "coo", "quantized", "csr of 0.1", "coo of 0.1", "nothing" };
  static char path[] = "/tmp/ztensor-oom-values-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd>=0 && close(fd)==0);
  for(int layout=0; layout<LAYOUTS; layout++){
    for(int s=RAW; s<=ZSTD_WIDE; s++){
      for(int image=0; image<2; image++){
        recipe r = layout_of(layout);
        opened o;
        if( r.old && s==ZSTD_STATED ) s = ZSTD;
        for(size_t i=0; i<r.n; i++) r.parts[i].storing = (storing)s;
        open_recipe(&o, &r, image ? NULL : path, what[layout]);
        for(int q=0; q<QUESTIONS; q++){
          tensor_job context = { &o, (question)q, { 0 } };
          job j = { what[layout], ask_tensor, &context, q==NOT_ALL && layout!=EMPTY ? SQLITE_ERROR : SQLITE_OK, layout==DENSE ? 2 : 3 };
          memory_arm(0, false);
          assert_int_equal(ask_tensor(&j), j.otherwise);   /* Of all memory, to compare with */
          sweep(&j);
          free(context.want.p);
        }
        close_opened(&o);
        clear_recipe(&r);
      }
      if( layout>=OLD_CSR && layout<=OLD_COO && s==ZSTD ) break;
    }
  }
  unlink(path);
}

/* Those of zTensor 2 that compute values. All bytes are zeros, which all have meanings. */
TEST_WITH(test_values_of_computed_layouts, disarm, NULL){
  static const char *const objects[] = {
    "'parts': {'data': {'blob': [4096, 16], 'type': 'f4_e2m1', 'dtype': 'u8'}, 'scales': {'blob': [8192, 4], 'type': 'f8_e8m0', 'dtype': 'u8'}},"
      "'shape': [8, 4], 'layout': 'zt.mx/1', 'attributes': {'axis': 0, 'block_size': 8, 'scale_form': 'e8m0_exponent'}",
    "'parts': {'data': {'blob': [4096, 8], 'dtype': 'u32'}, 'zeros': {'blob': [8192, 8], 'dtype': 'u32'}, 'scales': {'blob': [12288, 32], 'dtype': 'f16'}},"
      "'shape': [1, 16], 'layout': 'zt.quant_group/1', 'attributes': {'axis': 1, 'bits': 4, 'packing': {'word': 'u32', 'order': 'msb_first', 'per_word': 8}, 'group_size': 1,"
      "'scale_form': 'f16_factors', 'zero_point': {'form': 'tensor', 'packing': 'same_as_data'}}" };
  for(size_t i=0; i<COUNT(objects); i++){
    char notation[1000];
    size_t mark;
    opened o;
    snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", objects[i]);
    open_bytes(&o, zt2_file(zt2_manifest(notation, &mark), 16384, 0), objects[i]);
    for(int q=0; q<QUESTIONS; q++){
      tensor_job context = { &o, (question)q, { 0 } };
      job j = { objects[i], ask_tensor, &context, q==NOT_ALL ? SQLITE_ERROR : SQLITE_OK, 3 };
      memory_arm(0, false);
      assert_int_equal(ask_tensor(&j), j.otherwise);
      sweep(&j);
      free(context.want.p);
    }
    close_opened(&o);
  }
}

/* Passes that take fewer elements than there are: few are stored, or one dimension repeats them. */
TEST_WITH(test_passes_over_few_values, disarm, NULL){
  static const uint64_t stride[ZT_MAX_RANK] = { 0, 1 };
  for(int layout=DENSE; layout<=COO; layout+=COO-DENSE){
    recipe r = layout_of(layout);
    opened o;
    if( layout==COO ) r.shape[1] = 500;
    open_recipe(&o, &r, NULL, "few");
    if( layout==DENSE ){
      o.object.has_strides = true;
      o.object.shape[0] = (uint64_t)1<<50;
      o.object.shape[1] = 6;
      memcpy(o.object.strides, stride, sizeof(stride));
      assert_true(zt_object_count(&o.object));
    }
    for(int q=STATISTICS; q<QUESTIONS; q++){
      tensor_job context = { &o, (question)q, { 0 } };
      job j = { layout==DENSE ? "repeated" : "sparse", ask_tensor, &context, SQLITE_OK, 4 };
      if( q==PRINT ) continue;   /* Of all elements */
      memory_arm(0, false);
      assert_int_equal(ask_tensor(&j), SQLITE_OK);
      sweep(&j);
      free(context.want.p);
    }
    close_opened(&o);
    clear_recipe(&r);
  }
}

/* The fault of an object is reported, or SQLITE_NOMEM. */
TEST_WITH(test_values_that_break_rules, disarm, NULL){
  sqlite3_stmt *cases = query("SELECT " FIELD("file") " FROM json_each(?1) WHERE " FIELD("message") " IS NOT NULL AND " FIELD("expect")
    "='lists_but_no_dense'", HOSTILE "cases.json");
  unsigned n = 0;
  for(; sqlite3_step(cases)==SQLITE_ROW; n++){
    const char *file = (const char*)sqlite3_column_text(cases, 0);
    char path[300];
    snprintf(path, sizeof(path), HOSTILE "%s", file);
    for(int q=BYTES; q<QUESTIONS; q++){
      opened o;
      tensor_job context = { &o, (question)q, { 0 } };
      job j = { file, ask_tensor, &context, SQLITE_ERROR, 1 };
      uint32_t bad = 0;
      open_path(&o, path);
      for(uint32_t k=0; k<zt_container_objects(o.container); k++){   /* The faulty one */
        zt_error err = ZT_ERROR_NONE;
        zt_buffer out = { NULL, 0 };
        zt_tensor t;
        zt_container_object(o.container, k, &o.object);
        memory_arm(0, false);
        if( zt_tensor_open(o.source, o.container, &o.object, &o.budget, &t, &err)==SQLITE_OK ){
          zt_assemble(&t, t.dtype, 0, o.object.elements, &out, &err);
        }
        if( err.rc ) bad = k;
        zt_buffer_clear(&out);
        zt_tensor_close(&t);
        zt_error_clear(&err);
      }
      zt_container_object(o.container, bad, &o.object);
      if( q==BYTES || q==TEXT || q==STATISTICS ) sweep(&j);
      close_opened(&o);
    }
  }
  sqlite3_finalize(cases);
  assert_true(n>70);
}

/* --- Findings --- */

typedef struct check_job {
  opened *o;
  bool full;
  blob want;               /* Rules and messages, one after the other; filled where it is empty */
} check_job;

static int check_file(const job *j){
  check_job *q = (check_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE, found = ZT_ERROR_NONE;
  zt_budget limits = { .result = 1000000000, .decode = (uint64_t)1<<40 };
  zt_check *c = (zt_check*)&err;
  blob got = { 0 };
  zt_check_open(q->o->source, q->o->container, q->full, &limits, j->what, &c, &err);
  assert_true((c==NULL)==(err.rc!=SQLITE_OK));
  while( c && zt_check_next(c, &found, &err) ){
    assert_true(found.rc!=SQLITE_OK && found.rc!=SQLITE_NOMEM && found.rc!=SQLITE_INTERRUPT);
    assert_non_null(found.message);
    if( found.rule ) put(&got, found.rule, strlen(found.rule));
    put(&got, found.message, strlen(found.message));
    put(&got, found.parts.fault, strlen(found.parts.fault));
    zt_error_clear(&found);
    found = ZT_ERROR_NONE;
  }
  assert_null(found.message);
  zt_check_close(c);
  if( !err.rc ) keep_or_compare(&q->want, got.p, got.n, j->what);
  else check( got.n<=q->want.n && (got.n==0 || memcmp(got.p, q->want.p, got.n)==0), "%s: other findings before the failure", j->what );
  free(got.p);
  return code_of(&err);
}

TEST_WITH(test_findings, disarm, NULL){
  static const char *const names[] = {
    "golden/v0.1/hand_sparse", "golden/v0.1/hand_unrecognised", "golden/v1.0/hand_unknown_fields", "golden/v1.1/hand_digests",
    "golden/v1.1/hand_sparse_types", "golden/v1.2/hand_bad_objects", "golden/v1.2/hand_gaps", "golden/v1.2/hand_padding",
    "golden/v1.2/hand_quantized", "golden/v1.2/hand_shared_blob", "golden/v1.2/hand_sparse", "golden/v1.2/hand_unknown_type",
    "golden/v1.2/hand_zstd", "golden/v1.2/wheel_sparse", "hostile/1.2-ok-odd-names", "hostile/1.2-ok-zero-length-at-end",
    "golden/v2/hand_bad_data", "golden/v2/hand_sharded", "golden/v2/hand_unknown_vocabulary", "golden/v2/hand_sharded_missing",
    "golden/v2/hand_seekable_frames", "golden/v2/crate_overlay", "golden/v2/wheel_quant", "golden/v2/wheel_sparse",
  };
  for(size_t i=0; i<COUNT(names); i++){
    for(int full=0; full<2; full++){
      opened o;
      char path[300];
      check_job context = { &o, full, { 0 } };
      job j = { names[i], check_file, &context, SQLITE_OK, full ? 4 : 2 };
      snprintf(path, sizeof(path), "tests/formats/ztensor/%s.zt", names[i]);
      if( i%2 ) open_path(&o, path);
      else open_bytes(&o, read_file(path), path);
      assert_int_equal(check_file(&j), SQLITE_OK);   /* Of all memory, to compare with */
      sweep(&j);
      close_opened(&o);
      free(context.want.p);
    }
  }
}

/* zTensor 2's rules of data: every read of such an object fails for its rule, or with SQLITE_NOMEM. */
TEST_WITH(test_values_that_break_rules_of_data, disarm, NULL){
  static const struct { const char *what, *object, *hex[3]; } rows[] = {
    { "L9, a bool", "'parts': {'data': {'blob': [4096, 4], 'type': 'bool', 'dtype': 'u8'}}, 'shape': [4], 'layout': 'dense'",
      { "01000201" } },
    { "L9, a spare half", "'parts': {'data': {'blob': [4096, 2], 'type': 'f4_e2m1', 'dtype': 'u8'}}, 'shape': [3], 'layout': 'dense'",
      { "2111" } },
    { "L10", "'parts': {'coords': {'blob': [4096, 12], 'dtype': 'u32'}, 'values': {'blob': [8192, 3], 'dtype': 'u8'}},"
             "'shape': [4], 'layout': 'zt.sparse_coo/1'", { "020000000100000002000000", "010101" } },
    { "P7", "'parts': {'indptr': {'blob': [4096, 8], 'dtype': 'u32'}, 'values': {'blob': [8192, 2], 'dtype': 'u8'},"
            "'indices': {'blob': [12288, 8], 'dtype': 'u32'}}, 'shape': [1, 4], 'layout': 'zt.sparse_csr/1'",
      { "0000000002000000", "0101", "0200000001000000" } },
  };
  for(size_t i=0; i<COUNT(rows); i++){
    char notation[1000];
    size_t mark;
    blob image;
    opened o;
    snprintf(notation, sizeof(notation), "{'objects': {'x': {%s}}}", rows[i].object);
    image = zt2_file(zt2_manifest(notation, &mark), 16384, 0);
    for(size_t k=0; k<3 && rows[i].hex[k]; k++){
      blob bytes = blob_of(rows[i].hex[k]);
      memcpy(image.p+ZT2_PAGE*(k+1), bytes.p, bytes.n);
      free(bytes.p);
    }
    open_bytes(&o, image, rows[i].what);
    for(int q=0; q<QUESTIONS; q++){
      tensor_job context = { &o, (question)q, { 0 } };
      check_job of_file = { &o, q%2, { 0 } };
      job j = { rows[i].what, ask_tensor, &context, SQLITE_ERROR, 2 }, check_j = { rows[i].what, check_file, &of_file, SQLITE_OK, 2 };
      if( q!=RANGE ) sweep(&j);
      if( q<2 ){
        memory_arm(0, false);
        assert_int_equal(check_file(&check_j), SQLITE_OK);
        sweep(&check_j);
        free(of_file.want.p);
      }
      free(context.want.p);
    }
    close_opened(&o);
  }
}

TEST_WITH(test_failures_were_injected, disarm, NULL){
  check_sweeps(1000, 10000);
}

int main(void){
  if( !begin_sweeps() ) return 1;
  return run_all("oom values", open_db, close_db);
}
