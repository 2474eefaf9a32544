/* Memory runs out where objects of files become a draft, and where that is written. See oom.h. */
#include "oom.h"

#include "supplied.h"
#include "tensor/write.h"

#define FORMATS "tests/formats/"
#define V11 FORMATS "ztensor/golden/v1.1/"
#define V12 FORMATS "ztensor/golden/v1.2/"
#define V2 FORMATS "ztensor/golden/v2/"

/* An object of a file, and what becomes of it. */
typedef struct written_object {
  const char *path, *object, *format, *as;
  bool dense, keep;
  zt_codec_id codec;
  unsigned digest;
} written_object;

typedef struct write_job {
  const written_object *of;
  opened *file;
  blob want;               /* The file; filled where it is empty */
} write_job;

static zt_supply_request request_of(supplied *s, const written_object *of){
  zt_supply_request q = supplied_request(s, of->object);
  q.rules = zt_encoder_named(zt_text_of(of->format))->rules;
  q.as = of->as ? named(of->as) : NULL;
  q.dense = of->dense;
  q.codec = of->codec;
  q.level = 3;
  q.digest = of->digest;
  if( of->keep ) q.keeps = supplied_keeps(&q);
  return q;
}

static int write_object(const job *j){
  write_job *context = (write_job*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_output *output = NULL;
  uint32_t number;
  supplied s = { .draft = zt_draft_new(&err), .budget = { .result = SUPPLIED_ENOUGH, .decode = (uint64_t)1<<40 } };
  zt_supply_request q;
  zt_write w;
  s.supplies = (zt_supplies){ .open = supplied_open, .context = &s };
  s.files[s.n++] = *context->file;   /* Borrowed */
  q = request_of(&s, context->of);
  w = (zt_write){ .encoder = zt_encoder_named(zt_text_of(context->of->format)), .draft = s.draft, .supplies = &s.supplies, .budget = &s.budget };
  w.options = w.encoder->defaults;
  if( !err.rc && zt_supplies_add_object(&s.supplies, &q, s.draft, &number, &err)==SQLITE_OK && zt_write_check(&w, &err)==SQLITE_OK
   && zt_output_open_memory(SUPPLIED_ENOUGH, &output, &err)==SQLITE_OK && zt_write_to(&w, output, &err)==SQLITE_OK ){
    uint64_t n;
    uint8_t *p = zt_output_take(output, &n);
    if( !context->want.p ) context->want = exact(p, (size_t)n);
    else check( context->want.n==n && memcmp(context->want.p, p, (size_t)n)==0, "%s: another file", j->what );
    sqlite3_free(p);
  }
  zt_output_close(output);
  zt_supplies_clear(&s.supplies);
  zt_draft_free(s.draft);
  return code_of(&err);
}

static void sweep_writing(const written_object *of, int otherwise){
  opened file;
  write_job context = { of, &file, { 0 } };
  job j = { of->object, write_object, &context, otherwise, 4 };
  memory_arm(0, false);
  open_path(&file, of->path);
  assert_int_equal(write_object(&j), otherwise);   /* With all memory, to compare with */
  sweep(&j);
  close_opened(&file);
  free(context.want.p);
}

TEST_WITH(test_objects_are_written, disarm, NULL){
  static const written_object rows[] = {
    { V12 "hand_sparse.zt", "csr.f32", "ztensor-2", NULL, false, false, ZT_CODEC_SEEKABLE, ZT_DIGEST_SHA256 },
    { V12 "hand_sparse.zt", "csr.f32", "ztensor-1.2", "f64", false, false, ZT_CODEC_ZSTD, ZT_DIGEST_CRC32C },
    { V12 "hand_sparse.zt", "csr.bf16", "safetensors", NULL, true, false, ZT_CODEC_RAW, 0 },
    { V12 "hand_sparse.zt", "coo.f64", "ztensor-2", "f32", false, false, ZT_CODEC_RAW, ZT_DIGEST_XXH3 },
    { V12 "hand_sparse.zt", "coo.f64", "npz", "f32", true, false, ZT_CODEC_DEFLATE, 0 },
    { V12 "hand_quantized.zt", "model.layers.0.self_attn.q_proj", "npy", "f16", true, false, ZT_CODEC_RAW, 0 },
    { V11 "hand_digests.zt", "sha256", "ztensor-2", NULL, false, false, ZT_CODEC_RAW, 0 },
    { V11 "hand_digests.zt", "sha256", "ztensor-1.2", NULL, false, true, ZT_CODEC_RAW, 0 },
    { V11 "hand_digests.zt", "sha256", "npz", "f64", false, false, ZT_CODEC_RAW, 0 },
    { V2 "wheel_zstd.zt", "u8.z", "ztensor-2", NULL, false, true, ZT_CODEC_RAW, 0 },
    { FORMATS "gguf/golden/q_8_1_8_k.gguf", "int.q8_1", "gguf", NULL, false, false, ZT_CODEC_RAW, 0 },
    { FORMATS "npz/golden/deflated.npz", "blk.0.attn.q.f32", "npz", NULL, false, true, ZT_CODEC_RAW, 0 },
    { FORMATS "onnx/golden/sparse_nodes.onnx", "sp.coords", "ztensor-2", NULL, false, false, ZT_CODEC_RAW, 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++) sweep_writing(&rows[i], SQLITE_OK);
}

/* Each has a message, or there was no memory for one. */
TEST_WITH(test_objects_are_refused, disarm, NULL){
  static const written_object rows[] = {
    { V12 "hand_sparse.zt", "coo.f64", "ztensor-2", "f8_e8m0", false, false, ZT_CODEC_RAW, 0 },
    { V12 "hand_sparse.zt", "coo.f64", "ztensor-2", "f4_e2m1", true, false, ZT_CODEC_RAW, 0 },
    { V11 "hand_digests.zt", "sha256.wrong", "ztensor-2", NULL, false, false, ZT_CODEC_RAW, 0 },
    { V12 "hand_quantized.zt", "model.layers.0.self_attn.q_proj", "ztensor-1.2", NULL, false, false, ZT_CODEC_RAW, 0 },   /* Without its attributes */
    { V11 "hand_digests.zt", "crc32c.wrong", "ztensor-2", "f64", false, false, ZT_CODEC_RAW, 0 },
    { FORMATS "pytorch/golden/torch_2.7/csc.pt", "m", "ztensor-2", NULL, false, false, ZT_CODEC_RAW, 0 },
  };
  for(size_t i=0; i<COUNT(rows); i++) sweep_writing(&rows[i], SQLITE_ERROR);
}

/* --- One reader of many coordinates --- */

static int read_sparse(const job *j){
  opened *o = (opened*)(uintptr_t)j->context;
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t;
  uint8_t out[8];
  zt_tensor_open(o->source, o->container, &o->object, &o->budget, &t, &err);
  if( !err.rc && zt_tensor_read(&t, 0, 8, out, &err)==SQLITE_OK ) assert_memory_equal(out, "\0\7\0\0\0\0\0\10", 8);
  zt_tensor_close(&t);
  return code_of(&err);
}

TEST_WITH(test_coords_that_one_reader_gathers, disarm, NULL){
  recipe r = { .format = "sparse_coo", .rank = 3, .shape = { 2, 2, 2 } };
  opened o;
  job j = { "wide windows", read_sparse, &o, SQLITE_OK, 6 };
  add_part(&r, "values", "u8", NULL, blob_of("0708"));
  add_part(&r, "coords", "u8", NULL, blob_of("0001 0001 0101"))->storing = ZSTD_WIDE;
  open_recipe(&o, &r, NULL, "wide");
  memory_arm(0, false);
  assert_int_equal(read_sparse(&j), SQLITE_OK);
  sweep(&j);
  close_opened(&o);
  clear_recipe(&r);
}

TEST_WITH(test_failures_were_injected, disarm, NULL){
  check_sweeps(30, 1000);
}

int main(void){
  return begin_sweeps() ? run_all("oom write", NULL, NULL) : 1;
}
