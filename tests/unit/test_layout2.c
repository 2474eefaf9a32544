/*
** The layouts of zTensor 2 that compute values: zt.mx/1, zt.quant_group/1 and gguf.q4_k/1 and the like (tensor/mx.c,
** quant_group.c, quantized_groups.h, ggml_layout.c). The simplest code makes the expected values here; test_layout.c reads the
** files that break the rules of these layouts. The rules of stored data are here, too: L9, L10 (tensor/layout.h), P7
** (tensor/csr.c).
*/
#include "findings.h"
#include "zt2.h"

#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
#include "tensor/stats.h"

/* --- Files around an object --- */

typedef struct stored_part {
  const char *role, *dtype, *type;
  blob bytes;              /* Owned */
} stored_part;

/* Opens the object as the second of a file; frees the parts' bytes. */
static void open_object(opened *o, const char *layout, const char *shape, const char *attributes, stored_part *parts, size_t n, const char *row){
  char parts_text[600] = "", notation[2000];
  size_t at = ZT2_PAGE, mark;
  blob file;
  for(size_t i=0; i<n; i++){
    size_t used = strlen(parts_text);
    snprintf(parts_text+used, sizeof(parts_text)-used, "'%s': {'blob': [%zu, %zu]%s%s%s, 'dtype': '%s'} ", parts[i].role, at, parts[i].bytes.n,
             parts[i].type ? ", 'type': '" : "", parts[i].type ? parts[i].type : "", parts[i].type ? "'" : "", parts[i].dtype);
    at += (parts[i].bytes.n/ZT2_PAGE+1)*ZT2_PAGE;
  }
  snprintf(notation, sizeof(notation), "{'objects': {'a': {'parts': {'data': {'blob': [4096, 0], 'dtype': 'u8'}}, 'shape': [0], 'layout': 'dense'}, 'x': {'parts': {%s}, 'shape': [%s], 'layout': '%s', 'attributes': {%s}}}}", parts_text, shape, layout, attributes);
  file = zt2_file(zt2_manifest(notation, &mark), at, 0);
  at = ZT2_PAGE;
  for(size_t i=0; i<n; i++){
    if( parts[i].bytes.n ) memcpy(file.p+at, parts[i].bytes.p, parts[i].bytes.n);
    at += (parts[i].bytes.n/ZT2_PAGE+1)*ZT2_PAGE;
    free(parts[i].bytes.p);
  }
  open_bytes(o, file, row);
  zt_container_object(o->container, 1, &o->object);
}

/* Only zTensor 2 has these names. */
TEST(test_an_older_generation_does_not_have_these_layouts){
  static const char *const formats[] = { "zt.mx/1", "zt.quant_group/1", "gguf.q8_0/1", "gguf.q8_0" };
  for(size_t i=0; i<COUNT(formats); i++){
    recipe r = { .format = formats[i], .rank = 1, .shape = { 0 } };
    zt_error err = ZT_ERROR_NONE;
    zt_tensor t;
    opened o;
    add_part(&r, "data", "u8", NULL, (blob){ 0 });
    open_recipe(&o, &r, NULL, formats[i]);
    zt_tensor_open(o.source, o.container, &o.object, &o.budget, &t, &err);
    assert_failed(&err, "no meaning of format", formats[i]);
    zt_tensor_close(&t);
    close_opened(&o);
    clear_recipe(&r);
  }
}

/* --- Values, in the simplest way --- */

typedef struct grid {
  uint64_t shape[4];
  unsigned rank;
  uint64_t elements;
} grid;

static grid grid_of(const char *shape){
  grid g = { { 0 }, 0, 1 };
  char *end;
  for(uint64_t n=strtoull(shape, &end, 10); end!=shape; n=strtoull(shape, &end, 10)){
    g.shape[g.rank++] = n;
    g.elements *= n;
    shape = *end==',' ? end+1 : end;
  }
  return g;
}

/* The index of element i's entry: the shape and the coordinates are divided by the group along the axis. */
static uint64_t entry_of(const grid *g, unsigned axis, uint64_t group, uint64_t i){
  uint64_t coordinates[4], at = 0;
  for(unsigned d=g->rank; d-->0; i/=g->shape[d]) coordinates[d] = i%g->shape[d];
  for(unsigned d=0; d<g->rank; d++) at = at*(d==axis ? g->shape[d]/group : g->shape[d]) + (d==axis ? coordinates[d]/group : coordinates[d]);
  return at;
}

static float canonical(float x){
  return isnan(x) ? (float)NAN : x;
}

static blob random_bytes(size_t n, uint64_t *seed){
  blob b = { 0 };
  for(size_t i=0; i<n; i++) put_byte(&b, (unsigned)random_below(seed, 256));
  return b;
}

/* --- zt.mx/1 --- */

/* The value of a code; every value fits a double. */
static double mx_element(const char *type, unsigned code){
  static const double f4[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };
  double sign = code & 0x80 ? -1 : 1;
  unsigned e, m;
  if( strcmp(type, "f4_e2m1")==0 ) return code & 8 ? -f4[code & 7] : f4[code & 7];
  if( strcmp(type, "i8")==0 ) return (code<128 ? (int)code : (int)code-256)/64.0;
  if( strcmp(type, "f8_e4m3fn")==0 ){
    e = code>>3 & 15;
    m = code & 7;
    if( e==15 && m==7 ) return (double)NAN;
    return sign * (e ? ldexp(8+m, (int)e-10) : ldexp(m, -9));
  }
  e = code>>2 & 31;
  m = code & 3;
  if( e==31 ) return m ? (double)NAN : sign*(double)INFINITY;
  return sign * (e ? ldexp(4+m, (int)e-17) : ldexp(m, -16));
}

/* The scales' bytes are from `least` to below `most`. */
static void check_mx(const char *type, const char *shape, int axis, uint64_t block, unsigned least, unsigned most){
  grid g = grid_of(shape);
  uint64_t seed = g.elements*31+block*7+least+(uint64_t)type[1], blocks = g.elements/block;
  bool packed = strcmp(type, "f4_e2m1")==0, plain = strcmp(type, "i8")==0;
  blob data = random_bytes((size_t)(packed ? (g.elements+1)/2 : g.elements), &seed), scales = { 0 };
  float *want = malloc((size_t)g.elements*sizeof(*want)+1);
  char row[200], attributes[100];
  opened o;
  if( packed && g.elements%2 ) data.p[data.n-1] &= 15;
  for(uint64_t i=0; i<blocks; i++) put_byte(&scales, random_below(&seed, 9)==0 ? 255 : least+(unsigned)random_below(&seed, most-least));
  for(uint64_t i=0; i<g.elements; i++){
    unsigned code = packed ? (unsigned)data.p[i/2] >> 4*(i%2) & 15 : data.p[i];
    unsigned scale = scales.p[entry_of(&g, axis<0 ? g.rank-1 : (unsigned)axis, block, i)];
    want[i] = scale==255 ? (float)NAN : canonical((float)ldexp(mx_element(type, code), (int)scale-127));
  }
  snprintf(row, sizeof(row), "%s [%s], blocks of %llu along %d, scales from %u", type, shape, (unsigned long long)block, axis, least);
  if( axis<0 ) snprintf(attributes, sizeof(attributes), "'block_size': %llu", (unsigned long long)block);
  else snprintf(attributes, sizeof(attributes), "'axis': %d, 'block_size': %llu, 'scale_form': 'e8m0_exponent'", axis, (unsigned long long)block);
  open_object(&o, "zt.mx/1", shape, attributes, (stored_part[]){ { "data", plain ? "i8" : "u8", plain ? NULL : type, data }, { "scales", "u8", "f8_e8m0", scales } }, 2, row);
  check_tensor(&o, named("f32"), (uint8_t*)want, row);
  close_opened(&o);
  free(want);
}

static const char *const mx_types[] = { "f4_e2m1", "f8_e4m3fn", "f8_e5m2", "i8" };

TEST(test_mx_of_every_type_axis_and_block_size){
  static const struct { const char *shape; int axis; uint64_t block; } rows[] = {
    { "64", -1, 32 }, { "64", 0, 2 }, { "3, 64", 1, 32 }, { "64, 3", 0, 32 }, { "2, 6, 5", 1, 3 }, { "2, 6, 5", 0, 2 }, { "4, 2, 3, 10", 2, 3 },
    { "4, 2, 3, 10", -1, 5 }, { "8, 1", 0, 4 }, { "1, 8, 1, 1", 1, 2 }, { "9", -1, 3 }, { "3, 3", 0, 3 }, { "0, 64", 1, 32 }, { "64, 0", 0, 32 }, { "0", 0, 2 },
    { "5, 4096", 1, 32 }, { "64, 300", 0, 32 }, { "2, 12, 700", 1, 4 }
  };
  for(size_t t=0; t<COUNT(mx_types); t++){
    for(size_t i=0; i<COUNT(rows); i++){
      check_mx(mx_types[t], rows[i].shape, rows[i].axis, rows[i].block, 110, 140);
      check_mx(mx_types[t], rows[i].shape, rows[i].axis, rows[i].block, 0, 255);
      check_mx(mx_types[t], rows[i].shape, rows[i].axis, rows[i].block, 0, 30);      /* Subnormal */
      check_mx(mx_types[t], rows[i].shape, rows[i].axis, rows[i].block, 240, 255);   /* Infinite */
    }
  }
}

/* Some lines of entries fit the window, others do not. */
TEST(test_mx_lines_longer_than_every_window){
  check_mx("f8_e4m3fn", "8, 65536", 0, 4, 100, 150);
  check_mx("f4_e2m1", "8, 65537", 0, 2, 100, 150);
  check_mx("i8", "2, 4, 150000", 1, 2, 0, 20);
  check_mx("f8_e5m2", "300000", 0, 2, 0, 255);
}

/* Multiplies every element by every scale: one rounding. A host may flush subnormal numbers to zero. */
static void check_every_product(bool flush){
  for(size_t t=0; t<COUNT(mx_types); t++){
    bool packed = t==0, plain = t==3;
    blob data = { 0 }, scales = { 0 };
    static float out[256*256];
    zt_error err = ZT_ERROR_NONE;
    zt_tensor x;
    opened o;
    for(unsigned s=0; s<256; s++){
      put_byte(&scales, s);
      for(unsigned i=0; i<(packed ? 128u : 256u); i++) put_byte(&data, packed ? (2*i+1)%16 << 4 | 2*i%16 : i);
    }
    open_object(&o, "zt.mx/1", "256, 256", "'block_size': 256", (stored_part[]){ { "data", plain ? "i8" : "u8", plain ? NULL : mx_types[t], data }, { "scales", "u8", "f8_e8m0", scales } }, 2, mx_types[t]);
    open_tensor(&o, &x, mx_types[t]);
#ifdef __SSE__
    unsigned before = _mm_getcsr();
    if( flush ) _mm_setcsr(before | 0x8040);   /* Results, and operands */
#endif
    zt_tensor_read(&x, 0, 256*256, out, &err);
#ifdef __SSE__
    _mm_setcsr(before);
#endif
    assert_succeeded(&err, mx_types[t]);
    for(unsigned i=0; i<256*256; i++){
      unsigned scale = i/256, code = packed ? i%16 : i%256;
      float want = scale==255 ? (float)NAN : canonical((float)ldexp(mx_element(mx_types[t], code), (int)scale-127));
      check( memcmp(&want, &out[i], 4)==0, "%s: element %u, scale %u: %a, not %a%s", mx_types[t], code, scale, (double)out[i], (double)want, flush ? ", flushing" : "" );
    }
    zt_tensor_close(&x);
    close_opened(&o);
  }
}

TEST(test_mx_rounds_once){
  check_every_product(false);
  check_every_product(true);
}

/* --- Blocks of ggml --- */

/* Repeats the blocks of a file; the file beside it has their values. */
static void check_blocks(const char *type, unsigned elements, unsigned bytes, unsigned times){
  char path[200], format[40], shape[40], row[80];
  blob blocks, expected, data = { 0 };
  float *want;
  opened o;
  snprintf(path, sizeof(path), "tests/formats/gguf/blocks/%s.blocks", type);
  blocks = read_file(path);
  snprintf(path, sizeof(path), "tests/formats/gguf/blocks/%s.f32", type);
  expected = read_file(path);
  check( blocks.n==10*bytes && expected.n==40*elements, "%s", type );
  want = malloc(times*expected.n);
  assert_non_null(want);
  for(unsigned i=0; i<times; i++){
    put(&data, blocks.p, blocks.n);
    memcpy(want+i*(size_t)10*elements, expected.p, expected.n);
  }
  if( zt_big_endian() ) zt_swap_bytes((uint8_t*)want, times*expected.n, 4);
  snprintf(format, sizeof(format), "gguf.%s/1", type);
  snprintf(shape, sizeof(shape), "2, %u, %u", times, 5*elements);
  snprintf(row, sizeof(row), "%s, %u times", type, times);
  open_object(&o, format, shape, "", (stored_part[]){ { "data", "u8", NULL, data } }, 1, row);
  check_tensor(&o, named("f32"), (uint8_t*)want, row);
  close_opened(&o);
  free(want);
  free(blocks.p);
  free(expected.p);
}

TEST(test_blocks_of_every_type){
#define CHECK_BLOCKS(name, number, elements, bytes) check_blocks(#name, elements, bytes, 1);
  ZT_GGML_BLOCK_TYPES(CHECK_BLOCKS)
#undef CHECK_BLOCKS
}

/* More blocks than are read at once. */
TEST(test_many_blocks){
  check_blocks("q8_0", 32, 34, 250);
  check_blocks("q6_k", 256, 210, 40);
  check_blocks("nvfp4", 64, 36, 200);
}

TEST(test_no_blocks){
  static const char *const shapes[] = { "0", "0, 32", "2, 0", "0, 64, 5, 0" };
  for(size_t i=0; i<COUNT(shapes); i++){
    opened o;
    open_object(&o, "gguf.q8_0/1", shapes[i], "", (stored_part[]){ { "data", "u8", NULL, { 0 } } }, 1, shapes[i]);
    check_tensor(&o, named("f32"), NULL, shapes[i]);
    close_opened(&o);
  }
}

/* --- zt.quant_group/1 --- */

typedef struct quant {
  const char *shape;
  unsigned axis;
  uint64_t group;          /* 0: an entry each */
  unsigned bits;
  const char *word;        /* Type of data */
  bool high_first;
  const char *form, *scale, *scale_type;
  const char *zero;        /* none, implied VALUE, plain, same_as_data */
  const char *zero_dtype, *zero_type;
} quant;

/* Assembles a code bit by bit. */
static float quant_code(const blob *b, const quant *q, uint64_t i){
  unsigned width = named(q->word)->width, per_word = 8*width/q->bits, place = (unsigned)(i%per_word), code = 0;
  uint64_t word = 0;
  for(unsigned k=width; k-->0; ) word = word<<8 | b->p[i/per_word*width+k];
  if( q->high_first ) place = per_word-1-place;
  for(unsigned k=0; k<q->bits; k++) code |= (unsigned)(word >> (place*q->bits+k) & 1) << k;
  return per_word==1 && q->word[0]=='i' && code>127 ? (float)code-256 : (float)code;
}

/* Number i of a file, as f32. */
static float number_at(const blob *b, const char *type, uint64_t i){
  const zt_dtype *d = named(type);
  uint64_t element[2] = { 0 };
  float out;
  memcpy(element, b->p+i*d->width, d->width);
  if( zt_big_endian() ) zt_swap_bytes(element, d->width, d->unit);
  zt_convert(d, element, named("f32"), &out, 1);
  return out;
}

static void check_quant(const quant *q){
  grid g = grid_of(q->shape);
  uint64_t group = q->group ? q->group : 1, entries = g.elements/group, per_word = 8*named(q->word)->width/q->bits, seed = g.elements*17+q->bits+group;
  bool packed = strcmp(q->zero, "same_as_data")==0, tensor = packed || strcmp(q->zero, "plain")==0;
  const char *scale_type = q->scale_type ? q->scale_type : q->scale, *zero_type = q->zero_type ? q->zero_type : q->zero_dtype;
  blob data = random_bytes((size_t)(g.elements*q->bits/8), &seed), scales = random_bytes((size_t)(entries*named(scale_type)->width), &seed), zeros = { 0 };
  float *want = malloc((size_t)g.elements*sizeof(*want)+1);
  char row[400], attributes[400], zero_point[100];
  opened o;
  if( packed ) zeros = random_bytes((size_t)(entries*q->bits/8), &seed);
  else if( tensor ) zeros = random_bytes((size_t)(entries*named(zero_type)->width), &seed);
  for(uint64_t i=0; i<g.elements; i++){
    uint64_t entry = entry_of(&g, q->axis, group, i);
    float zero = packed ? quant_code(&zeros, q, entry) : tensor ? number_at(&zeros, zero_type, entry) : q->zero[0]=='i' ? (float)atoi(q->zero+8) : 0;
    float shifted = quant_code(&data, q, i) - zero;   /* f32 at each step, whatever the machine has */
    float value = shifted * number_at(&scales, scale_type, entry);
    want[i] = canonical(value);
  }
  snprintf(row, sizeof(row), "[%s] %u bits in %s, groups of %llu along %u, %s, %s, %s", q->shape, q->bits, q->word, (unsigned long long)q->group, q->axis, q->high_first ? "high first" : "low first", scale_type, q->zero);
  if( tensor ) snprintf(zero_point, sizeof(zero_point), "'form': 'tensor', 'packing': '%s'", q->zero);
  else if( q->zero[0]=='i' ) snprintf(zero_point, sizeof(zero_point), "'form': 'implied', 'value': %d", atoi(q->zero+8));
  else snprintf(zero_point, sizeof(zero_point), "'form': 'none'");
  snprintf(attributes, sizeof(attributes), "'axis': %u, 'bits': %u, 'packing': {'word': 'u%u', 'order': '%s_first', 'per_word': %llu}, 'group_size': %llu, 'scale_form': '%s', 'zero_point': {%s}",
           q->axis, q->bits, 8*named(q->word)->width, q->high_first ? "msb" : "lsb", (unsigned long long)per_word, (unsigned long long)q->group, q->form, zero_point);
  if( tensor ) open_object(&o, "zt.quant_group/1", q->shape, attributes, (stored_part[]){ { "data", q->word, NULL, data }, { "zeros", packed ? q->word : q->zero_dtype, packed ? NULL : q->zero_type, zeros }, { "scales", q->scale, q->scale_type, scales } }, 3, row);
  else open_object(&o, "zt.quant_group/1", q->shape, attributes, (stored_part[]){ { "data", q->word, NULL, data }, { "scales", q->scale, q->scale_type, scales } }, 2, row);
  check_tensor(&o, named("f32"), (uint8_t*)want, row);
  close_opened(&o);
  free(want);
}

TEST(test_quant_group_of_every_packing){
  static const char *const words[] = { "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64" };
  static const struct { const char *form, *dtype, *type; } scales[] = {
    { "f32_factors", "f32", NULL }, { "f16_factors", "f16", NULL }, { "f16_factors", "bf16", NULL }, { "e8m0_exponent", "u8", "f8_e8m0" },
    { "f32_factors", "f64", NULL }, { "f32_factors", "f16", NULL }, { "f32_factors", "u8", "f8_e4m3fn" } };
  static const struct { const char *zero, *dtype, *type; } zeros[] = {
    { "none", NULL, NULL }, { "implied 8", NULL, NULL }, { "implied -3", NULL, NULL }, { "plain", "f16", NULL }, { "same_as_data", NULL, NULL }, { "plain", "i8", NULL },
    { "plain", "u64", NULL }, { "plain", "u8", "f8_e5m2" }, { "plain", "i64", NULL }, { "plain", "f64", NULL } };
  static const struct { const char *shape; unsigned axis; uint64_t group; } grids[] = {
    { "4, 128", 1, 64 }, { "128, 32", 0, 32 }, { "4, 64, 8", 1, 16 }, { "512", 0, 32 }, { "4, 128", 1, 0 }, { "128, 4", 0, 0 }, { "16, 33, 32", 0, 1 }, { "16, 96", 1, 3 }, { "128, 5, 64", 0, 128 } };
  unsigned n = 0;
  for(unsigned bits=2; bits<=8; bits*=2){
    for(size_t w=0; w<COUNT(words); w++){
      for(size_t i=0; i<COUNT(grids); i++){
        for(size_t z=0; z<3; z++, n++){
          quant q = { grids[i].shape, grids[i].axis, grids[i].group, bits, words[w], n%2, scales[n%COUNT(scales)].form, scales[n%COUNT(scales)].dtype, scales[n%COUNT(scales)].type,
                      zeros[n%COUNT(zeros)].zero, zeros[n%COUNT(zeros)].dtype, zeros[n%COUNT(zeros)].type };
          uint64_t per_word = 8*named(words[w])->width/bits, entries = grid_of(q.shape).elements/(q.group ? q.group : 1);
          if( entries%per_word && strcmp(q.zero, "same_as_data")==0 ) continue;
          check_quant(&q);
        }
      }
    }
  }
}

/* Words that cross rows; more codes, runs and lines than a window has; no element. */
TEST(test_quant_group_of_unusual_sizes){
  static const quant rows[] = {
    { "8, 3", 0, 4, 4, "u32", false, "f32_factors", "f32", NULL, "none", NULL, NULL },
    { "8, 3", 1, 3, 2, "u16", true, "f32_factors", "f32", NULL, "implied 1", NULL, NULL },
    { "3, 40000", 1, 8, 4, "u32", false, "f16_factors", "f16", NULL, "same_as_data", NULL, NULL },
    { "4, 100000", 0, 2, 4, "i32", true, "f16_factors", "f16", NULL, "same_as_data", NULL, NULL },
    { "8, 65536", 0, 4, 8, "u8", false, "f32_factors", "f32", NULL, "plain", "u8", NULL },
    { "70000", 0, 0, 8, "i8", false, "f32_factors", "f32", NULL, "none", NULL, NULL },
    { "0, 16", 1, 8, 4, "u32", false, "f16_factors", "f16", NULL, "plain", "f16", NULL },
    { "16, 0", 0, 8, 4, "u32", false, "f16_factors", "f16", NULL, "same_as_data", NULL, NULL },
    { "1, 8", 1, 8, 4, "u32", true, "e8m0_exponent", "u8", "f8_e8m0", "none", NULL, NULL },
  };
  for(size_t i=0; i<COUNT(rows); i++) check_quant(&rows[i]);
}

/* Zeros become f32, also the smallest and the largest integer of CBOR. */
TEST(test_implied_zeros){
  static const struct { const char *value; float zero; } rows[] = {
    { "0", 0 }, { "-1", -1 }, { "16777217", 16777216 }, { "18446744073709551615", 0x1p64f }, { "-9223372036854775808", -0x1p63f }, { "<3bffffffffffffffff>", -0x1p64f } };
  for(size_t i=0; i<COUNT(rows); i++){
    char attributes[400];
    float out[2], one[2] = { 1, 1 };
    blob data = { 0 }, scales = { 0 };
    zt_error err = ZT_ERROR_NONE;
    zt_tensor t;
    opened o;
    put_hex(&data, "0203");
    for(size_t k=0; k<2; k++) put_real(&scales, "f32", (double)one[k]);
    snprintf(attributes, sizeof(attributes), "'axis': 0, 'bits': 8, 'packing': {'word': 'u8', 'order': 'lsb_first', 'per_word': 1}, 'group_size': 1, 'scale_form': 'f32_factors', 'zero_point': {'form': 'implied', 'value': %s}", rows[i].value);
    open_object(&o, "zt.quant_group/1", "2", attributes, (stored_part[]){ { "data", "u8", NULL, data }, { "scales", "f32", NULL, scales } }, 2, rows[i].value);
    open_tensor(&o, &t, rows[i].value);
    zt_tensor_read(&t, 0, 2, out, &err);
    assert_succeeded(&err, rows[i].value);
    for(size_t k=0; k<2; k++){
      float want = (float)(2+k) - rows[i].zero;
      check( out[k]==want, "%s: %g, not %g", rows[i].value, (double)out[k], (double)want );
    }
    zt_tensor_close(&t);
    close_opened(&o);
  }
}

/* --- Rules of data: L9, L10, P7 --- */

/* Elements first to first+n are readable (message NULL) or break the rule. Statistics and text need all elements. */
static void check_read(opened *o, uint64_t first, size_t n, const char *rule, const char *message, const char *row){
  uint8_t *out = malloc(16*n);
  char expected[200];
  assert_non_null(out);
  snprintf(expected, sizeof(expected), "ztensor: %s", message ? message : "");
  for(int how=0; how<(first==0 && n==o->object.elements ? 4 : 2); how++){
    zt_error err = ZT_ERROR_NONE;
    zt_stats stats;
    zt_buffer bytes = { NULL, 0 };
    zt_tensor t;
    open_tensor(o, &t, row);
    switch( how ){
      case 0: zt_tensor_read(&t, first, n, out, &err); break;
      case 1: zt_assemble(&t, t.dtype, first, n, &bytes, &err); break;
      case 2: zt_stats_compute(&t, &stats, &err); break;
      default: sqlite3_free(json_of(&t, &err)); break;
    }
    if( message ){
      check( err.rc==SQLITE_ERROR, "%s, [%llu, +%zu): accepted, %d", row, (unsigned long long)first, n, how );
      check( strcmp(err.message, expected)==0, "%s, [%llu, +%zu): '%s', expected '%s'", row, (unsigned long long)first, n, err.message, expected );
      check( err.rule && strcmp(err.rule, rule)==0, "%s: against %s", row, err.rule ? err.rule : "no rule" );
      check( bytes.p==NULL, "%s", row );
    }else{
      check( err.rc==SQLITE_OK, "%s, [%llu, +%zu): %s", row, (unsigned long long)first, n, err.message );
    }
    zt_buffer_clear(&bytes);
    zt_error_clear(&err);
    zt_tensor_close(&t);
  }
  free(out);
}

static void open_dense(opened *o, const char *type, size_t elements, blob bytes, const char *row){
  char shape[30];
  snprintf(shape, sizeof(shape), "%zu", elements);
  open_object(o, "dense", shape, "", (stored_part[]){ { "data", "u8", type, bytes } }, 1, row);
}

/* A wrong byte stands at every place of a small tensor, and at the edges of the windows of a large one. */
TEST(test_a_bool_is_0_or_1){
  static const size_t sizes[] = { 1, 2, 3, 8, 33, 4097, 300000 };
  for(size_t i=0; i<COUNT(sizes); i++){
    size_t n = sizes[i], at = 0;
    while( at<n ){
      blob bytes = { 0 };
      uint8_t wrong = (uint8_t)(at%3==0 ? 2 : at%3==1 ? 0x80 : 0xFF);
      char row[80], message[200];
      opened o;
      for(size_t k=0; k<n; k++) put_byte(&bytes, k%2);
      bytes.p[at] = wrong;
      if( at+3<n ) bytes.p[at+3] = 7;   /* The first is named */
      snprintf(row, sizeof(row), "byte %zu of %zu", at, n);
      snprintf(message, sizeof(message), "component 'data': byte %zu is 0x%02x: a bool is 0 or 1", at, wrong);
      open_dense(&o, "bool", n, bytes, row);
      check_read(&o, 0, n, "L9", message, row);
      check_read(&o, at, 1, "L9", message, row);
      if( at>0 ) check_read(&o, at-1, 2, "L9", message, row);
      if( at>0 ) check_read(&o, 0, at, "L9", NULL, row);
      if( at+1<n ) check_read(&o, at+1, at+3<n ? 2 : n-at-1, "L9", NULL, row);
      assert_findings(&o, "", "L9:x.data", row);
      assert_last(&o, "L9:x.data", message+18, row);
      close_opened(&o);
      at += at<40 ? 1 : at<4093 ? 4093-at : at<4098 ? 1 : at<262140 ? 262140-at : at<262148 ? 1 : n-1>at ? n-1-at : 1;
    }
  }
}

TEST(test_all_bytes_of_a_bool){
  for(unsigned byte=0; byte<256; byte++){
    blob bytes = { 0 };
    char message[200];
    opened o;
    put_byte(&bytes, byte);
    open_dense(&o, "bool", 1, bytes, "a byte");
    snprintf(message, sizeof(message), "component 'data': byte 0 is 0x%02x: a bool is 0 or 1", byte);
    check_read(&o, 0, 1, "L9", byte>1 ? message : NULL, "a byte");
    close_opened(&o);
  }
}

/* The high half of the last byte is spare if the number of elements is odd. A read without the last element does not see it. */
TEST(test_the_spare_half_of_a_last_byte_is_0){
  static const size_t sizes[] = { 1, 3, 9, 8191, 8193, 16381, 16383, 100001 };
  for(size_t i=0; i<COUNT(sizes); i++){
    for(unsigned spare=0; spare<16; spare++){
      for(int mx=0; mx<2; mx++){
        static const char message[] = "component 'data': the spare bits of the last byte, 0x%x5, are not 0";
        size_t n = sizes[i];
        blob bytes = { 0 }, scales = { 0 };
        char row[80], words[200], shape[30], attributes[60];
        opened o;
        if( mx && (n%3 || (spare && spare!=8)) ) continue;
        if( n>100 && spare && spare!=1 && spare!=8 ) continue;
        put_repeated(&bytes, 0x77, n/2);
        put_byte(&bytes, spare<<4 | 5);
        snprintf(row, sizeof(row), "%zu elements, spare %u%s", n, spare, mx ? ", zt.mx/1" : "");
        snprintf(words, sizeof(words), message, spare);
        if( mx ){
          snprintf(shape, sizeof(shape), "%zu", n);
          snprintf(attributes, sizeof(attributes), "'block_size': 3");
          put_repeated(&scales, 127, n/3);
          open_object(&o, "zt.mx/1", shape, attributes, (stored_part[]){ { "data", "u8", "f4_e2m1", bytes }, { "scales", "u8", "f8_e8m0", scales } }, 2, row);
        }else{
          open_dense(&o, "f4_e2m1", n, bytes, row);
        }
        check_read(&o, 0, n, "L9", spare ? words : NULL, row);
        check_read(&o, n-1, 1, "L9", spare ? words : NULL, row);
        if( n>1 && !mx ) check_read(&o, 0, n-1, "L9", NULL, row);
        if( n>3 && !mx ) check_read(&o, n-3, 2, "L9", NULL, row);
        assert_findings(&o, "", spare ? "L9:x.data" : "", row);
        close_opened(&o);
      }
    }
  }
}

/* An even number of elements leaves no spare half. */
TEST(test_every_half_of_an_even_number_is_an_element){
  blob bytes = { 0 };
  opened o;
  put_repeated(&bytes, 0xFF, 4);
  open_dense(&o, "f4_e2m1", 8, bytes, "even");
  check_read(&o, 0, 8, "L9", NULL, "even");
  assert_findings(&o, "", "", "even");
  close_opened(&o);
}

/* --- Sparse ones --- */

/* Stores n values, or ones, in these cells, which are sorted by rows. */
static void open_sparse(opened *o, bool csr, uint64_t rows, uint64_t columns, const uint64_t *cells, size_t n, const char *type, blob values, bool wide, const char *row){
  unsigned width = wide ? 8 : 4;
  const char *dtype = wide ? "u64" : "u32";
  blob indices = { 0 }, indptr = { 0 };
  char shape[60];
  size_t i = 0;
  snprintf(shape, sizeof(shape), "%llu, %llu", (unsigned long long)rows, (unsigned long long)columns);
  if( !values.p ) put_repeated(&values, 1, n);
  if( !csr ) for(size_t k=0; k<n; k++) put_bits(&indices, cells[k]/columns, width);
  for(size_t k=0; k<n; k++) put_bits(&indices, cells[k]%columns, width);
  if( !csr ){
    open_object(o, "zt.sparse_coo/1", shape, "", (stored_part[]){ { "coords", dtype, NULL, indices }, { "values", "u8", type, values } }, 2, row);
    return;
  }
  put_bits(&indptr, 0, width);
  for(uint64_t r=0; r<rows; r++){
    while( i<n && cells[i]/columns==r ) i++;
    put_bits(&indptr, i, width);
  }
  assert_int_equal(i, n);
  open_object(o, "zt.sparse_csr/1", shape, "", (stored_part[]){ { "indptr", dtype, NULL, indptr }, { "values", "u8", type, values }, { "indices", dtype, NULL, indices } }, 3, row);
}

#define REPEATED "two stored elements lie in one cell"

/* The shape is [3, 4]. */
TEST(test_no_cell_of_a_coo_is_stored_twice){
  static const struct { const char *row; uint64_t cells[6]; size_t n; int64_t twice; } rows_of[] = {
    { "none", { 0 }, 0, -1 }, { "one", { 5 }, 1, -1 }, { "all different", { 0, 3, 5, 11 }, 4, -1 }, { "different, in no order", { 11, 0, 7, 3, 4, 1 }, 6, -1 },
    { "two together", { 7, 7 }, 2, 7 }, { "the first cell", { 0, 0, 4 }, 3, 0 }, { "the last cell", { 2, 11, 11 }, 3, 11 },
    { "together, in order", { 1, 4, 4, 9 }, 4, 4 }, { "apart", { 4, 9, 4 }, 3, 4 }, { "together, in no order", { 9, 4, 4, 1 }, 4, 4 },
    { "three times", { 6, 6, 6 }, 3, 6 }, { "the first and the last", { 3, 0, 1, 2, 11, 3 }, 6, 3 },
  };
  for(size_t i=0; i<COUNT(rows_of); i++){
    for(int wide=0; wide<2; wide++){
      const char *row = rows_of[i].row;
      uint64_t twice = (uint64_t)rows_of[i].twice;
      bool broken = rows_of[i].twice>=0;
      opened o;
      open_sparse(&o, false, 3, 4, rows_of[i].cells, rows_of[i].n, NULL, (blob){ 0 }, wide, row);
      for(uint64_t first=0; first<12; first++){
        for(size_t n=1; first+n<=12; n++) check_read(&o, first, n, "L10", broken && twice>=first && twice<first+n ? REPEATED : NULL, row);
      }
      assert_findings(&o, "", broken ? "L10:x" : "", row);
      if( broken ) assert_last(&o, "L10:x", REPEATED, row);
      close_opened(&o);
    }
  }
}

/* The sizes are at the edges of a window, and of a sorted run. */
TEST(test_one_cell_twice_among_many){
  static const size_t counts[] = { ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1, 2*ZT_ENTRIES+1, ((size_t)1<<19)+1 };
  for(size_t i=0; i<COUNT(counts); i++){
    size_t n = counts[i];
    uint64_t *cells = malloc(n*sizeof(*cells)), columns = n;
    assert_non_null(cells);
    for(int kind=0; kind<6; kind++){   /* 0: none; 1: the last two; 2: the ends; 3: at a window's border; 4, 5: as 0 and 1, backwards */
      bool broken = kind!=0 && kind!=4;
      char row[80];
      opened o;
      for(size_t k=0; k<n; k++) cells[k] = kind>=4 ? n-1-k : k;
      if( kind==1 || kind==5 ) cells[n-1] = cells[n-2];
      if( kind==2 ) cells[n-1] = cells[0];
      if( kind==3 ) cells[n/2+1] = cells[n>ZT_ENTRIES ? ZT_ENTRIES : n/2];
      snprintf(row, sizeof(row), "%zu elements, kind %d", n, kind);
      open_sparse(&o, false, 1, columns, cells, n, NULL, (blob){ 0 }, kind%2, row);
      check_read(&o, 0, n, "L10", broken ? REPEATED : NULL, row);
      assert_findings(&o, "", broken ? "L10:x" : "", row);
      close_opened(&o);
    }
    free(cells);
  }
}

/* A row of n elements, then two rows of one. Element k has its predecessor's column, or a lower one. */
static void check_columns(size_t n, size_t k, bool falls, uint64_t before, bool wide){
  uint64_t *cells = malloc((size_t)(n+before+2)*sizeof(*cells)), columns = 3*(n+before)+9, left = before;
  char row[120], message[200];
  size_t m = 0;
  opened o;
  assert_non_null(cells);
  for(uint64_t i=0; i<before; i++) cells[m++] = i*(columns/(before+1));   /* Row 0 */
  for(size_t i=0; i<n; i++) cells[m++] = columns + 3*i+3;                 /* Row 1 */
  cells[m++] = 2*columns;                                               /* Row 2: columns begin anew */
  cells[m++] = 4*columns;                                               /* Row 4; row 3 is empty */
  if( k ) cells[left+k] = cells[left+k-1]-(falls ? 1 : 0);
  snprintf(row, sizeof(row), "%zu elements behind %llu, element %zu %s", n, (unsigned long long)before, k, falls ? "falls" : "is equal");
  snprintf(message, sizeof(message), "column %llu in row 1 follows column %llu", (unsigned long long)(cells[left+k]-columns), (unsigned long long)(k ? cells[left+k-1]-columns : 0));
  open_sparse(&o, true, 5, columns, cells, m, NULL, (blob){ 0 }, wide, row);
  check_read(&o, 0, 5*(size_t)columns, "P7", k ? message : NULL, row);
  check_read(&o, columns, (size_t)columns, "P7", k ? message : NULL, row);
  check_read(&o, columns+cells[left+k]%columns, 1, "P7", k ? message : NULL, row);
  check_read(&o, 0, (size_t)columns, "P7", NULL, row);
  check_read(&o, 2*columns, 3*(size_t)columns, "P7", NULL, row);
  assert_findings(&o, "", k ? "P7:x" : "", row);
  if( k ) assert_last(&o, "P7:x", message, row);
  close_opened(&o);
  free(cells);
}

TEST(test_columns_of_a_csr_ascend_within_a_row){
  static const size_t counts[] = { 1, 2, 5, ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1, 2*ZT_ENTRIES, 2*ZT_ENTRIES+2 };
  static const uint64_t befores[] = { 0, 1, 3, ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1 };
  for(size_t i=0; i<COUNT(counts); i++){
    for(size_t b=0; b<COUNT(befores); b++){
      size_t n = counts[i], places[] = { 0, 1, 2, n/2, ZT_ENTRIES-2, ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1, n-1, ZT_ENTRIES-(size_t)befores[b] };
      for(size_t k=0; k<COUNT(places); k++) if( places[k]<n ) check_columns(n, places[k], k%2, befores[b], (i+b)%2);
    }
  }
}

/* The first column of a row may equal the last of the row before, or be lower, also at a window's border. */
TEST(test_columns_of_a_csr_begin_anew_in_each_row){
  static const size_t lengths[] = { 1, 2, ZT_ENTRIES-1, ZT_ENTRIES, ZT_ENTRIES+1 };
  for(size_t i=0; i<COUNT(lengths); i++){
    size_t n = lengths[i], rows_in = n<3 ? 5000 : 5;
    uint64_t *cells = malloc(n*rows_in*sizeof(*cells)), columns = n+1;
    opened o;
    assert_non_null(cells);
    for(size_t k=0; k<n*rows_in; k++) cells[k] = k/n*columns + k%n + (k/n%2==0);
    open_sparse(&o, true, rows_in, columns, cells, n*rows_in, NULL, (blob){ 0 }, i%2, "anew");
    check_read(&o, 0, (size_t)columns*rows_in, "P7", NULL, "anew");
    assert_findings(&o, "", "", "anew");
    close_opened(&o);
    free(cells);
  }
}

/* L9 holds for the values that are read: bools, and packed values. */
TEST(test_values_of_sparse_objects_are_looked_at){
  static const uint64_t cells[] = { 1, 4, 10 };
  for(int csr=0; csr<2; csr++){
    for(unsigned kind=0; kind<4; kind++){
      static const char *const messages[] = { NULL, "component 'values': byte 1 is 0x02: a bool is 0 or 1", NULL, "component 'values': the spare bits of the last byte, 0x34, are not 0" };
      static const char *const hex[] = { "000101", "010200", "2104", "2134" };
      blob values = blob_of(hex[kind]);
      char row[60];
      opened o;
      snprintf(row, sizeof(row), "%s, kind %u", csr ? "csr" : "coo", kind);
      open_sparse(&o, csr, 3, 4, cells, 3, kind<2 ? "bool" : "f4_e2m1", values, false, row);
      check_read(&o, 0, 12, "L9", messages[kind], row);
      if( csr ) check_read(&o, 0, 4, "L9", NULL, row);   /* The first row, of one element */
      assert_findings(&o, "", !messages[kind] ? "" : "L9:x.values", row);
      close_opened(&o);
    }
  }
}

/* 1.2 allows it: the values of a cell are added, and every byte but 0 is true. */
TEST(test_an_older_generation_does_not_have_these_rules){
  recipe r = { .format = "sparse_csr", .rank = 2, .shape = { 1, 3 } };
  blob values = { 0 }, indices = { 0 }, indptr = { 0 };
  uint8_t out[3];
  zt_error err = ZT_ERROR_NONE;
  zt_tensor t;
  opened o;
  put(&values, "\x05\x06\x07", 3);
  for(unsigned i=0; i<3; i++) put_bits(&indices, i==2 ? 0 : 1, 8);
  put_bits(&indptr, 0, 8);
  put_bits(&indptr, 3, 8);
  add_part(&r, "values", "u8", NULL, values);
  add_part(&r, "indices", "u64", NULL, indices);
  add_part(&r, "indptr", "u64", NULL, indptr);
  open_recipe(&o, &r, NULL, "1.2");
  open_tensor(&o, &t, "1.2");
  zt_tensor_read(&t, 0, 3, out, &err);
  assert_succeeded(&err, "1.2");
  assert_memory_equal(out, "\x07\x0B\x00", 3);
  zt_tensor_close(&t);
  close_opened(&o);
  clear_recipe(&r);
}

int main(void){
  return run_all("layout2", NULL, NULL);
}
