/*
** ggml's types: container/ggml_types.h, tensor/ggml.h.
**
** The expected elements are in tests/formats/gguf/blocks (its README names their origin); the effect of a scale comes from
** other conversions here, for all scales there are.
*/
#include "test.h"

#include <math.h>
#include "container/dtype.h"
#include "tensor/convert.h"
#include "tensor/ggml.h"

#define FOLDER "tests/formats/gguf/blocks/"

/* --- The table --- */

typedef struct known {
  uint32_t number;
  const char *name;
  unsigned elements, bytes;   /* 0: a plain type */
  bool decoded;
} known;

static const known types[] = {
  { 0,  "f32",     0,   0,   false },
  { 1,  "f16",     0,   0,   false },
  { 2,  "q4_0",    32,  18,  true },
  { 3,  "q4_1",    32,  20,  true },
  { 6,  "q5_0",    32,  22,  true },
  { 7,  "q5_1",    32,  24,  true },
  { 8,  "q8_0",    32,  34,  true },
  { 9,  "q8_1",    32,  36,  false },
  { 10, "q2_k",    256, 84,  true },
  { 11, "q3_k",    256, 110, true },
  { 12, "q4_k",    256, 144, true },
  { 13, "q5_k",    256, 176, true },
  { 14, "q6_k",    256, 210, true },
  { 15, "q8_k",    256, 292, false },
  { 16, "iq2_xxs", 256, 66,  true },
  { 17, "iq2_xs",  256, 74,  true },
  { 18, "iq3_xxs", 256, 98,  true },
  { 19, "iq1_s",   256, 50,  true },
  { 20, "iq4_nl",  32,  18,  true },
  { 21, "iq3_s",   256, 110, true },
  { 22, "iq2_s",   256, 82,  true },
  { 23, "iq4_xs",  256, 136, true },
  { 24, "i8",      0,   0,   false },
  { 25, "i16",     0,   0,   false },
  { 26, "i32",     0,   0,   false },
  { 27, "i64",     0,   0,   false },
  { 28, "f64",     0,   0,   false },
  { 29, "iq1_m",   256, 56,  true },
  { 30, "bf16",    0,   0,   false },
  { 34, "tq1_0",   256, 54,  true },
  { 35, "tq2_0",   256, 66,  true },
  { 39, "mxfp4",   32,  17,  true },
  { 40, "nvfp4",   64,  36,  true },
  { 41, "q1_0",    128, 18,  true },
  { 42, "q2_0",    64,  18,  true },
};

static zt_text text_of(const char *z){
  return (zt_text){ z, strlen(z) };
}

TEST(test_each_type_has_its_number_name_and_size){
  for(size_t i=0; i<COUNT(types); i++){
    const known *k = &types[i];
    const zt_ggml_type *t = zt_ggml_type_numbered(k->number);
    check( t!=NULL, "%s", k->name );
    assert_text(t->name, k->name, k->name);
    check( t->number==k->number && t->elements==k->elements && t->bytes==k->bytes, "%s", k->name );
    check( zt_ggml_type_named(text_of(k->name))==t, "%s", k->name );
    check( (zt_ggml_decoder_of(t)!=NULL)==k->decoded, "%s", k->name );
    check( (zt_dtype_named(t->name)!=NULL)==(k->elements==0), "%s", k->name );
    check( (t->id==ZT_GGML_PLAIN)==(k->elements==0), "%s", k->name );
  }
}

TEST(test_there_are_no_others){
  static const char *const names[] = { "", "q4_2", "Q4_0", "q4_0 ", "q4_", "q4_k_m", "none", "u8", "f8_e5m2" };
  for(uint32_t number=0, i=0; number<100; number++){
    if( i<COUNT(types) && types[i].number==number ) i++;
    else check( zt_ggml_type_numbered(number)==NULL, "%u", number );
  }
  assert_null(zt_ggml_type_numbered(UINT32_MAX));
  assert_null(zt_ggml_type_numbered(256));
  for(size_t i=0; i<COUNT(names); i++) check( zt_ggml_type_named(text_of(names[i]))==NULL, "%s", names[i] );
}

/* --- Elements --- */

static uint32_t bits_of(float f){
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

static uint32_t bits_at(const uint8_t *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24;
}

/* n blocks become elements that have these bits. */
static void assert_elements(const known *k, const uint8_t *blocks, size_t n, const uint8_t *expected){
  size_t elements = n*k->elements;
  float *out = malloc((elements+1)*sizeof(*out));
  assert_non_null(out);
  out[elements] = 7;
  zt_ggml_decoder_of(zt_ggml_type_named(text_of(k->name)))(blocks, out, n);
  for(size_t i=0; i<elements; i++){
    check( bits_of(out[i])==bits_at(expected+4*i), "%s element %zu: 0x%08X, expected 0x%08X", k->name, i, bits_of(out[i]),
           bits_at(expected+4*i) );
  }
  check( out[elements]==7, "%s", k->name );
  free(out);
}

static blob file_of(const known *k, const char *end){
  char path[200];
  snprintf(path, sizeof(path), FOLDER "%s.%s", k->name, end);
  return read_file(path);
}

TEST(test_elements_are_those_of_ggml){
  for(size_t i=0; i<COUNT(types); i++){
    const known *k = &types[i];
    blob blocks, expected;
    if( !k->decoded ) continue;
    blocks = file_of(k, "blocks");
    expected = file_of(k, "f32");
    check( blocks.n==10*k->bytes && expected.n==10*4*k->elements, "%s", k->name );
    assert_elements(k, blocks.p, 10, expected.p);
    free(blocks.p);
    free(expected.p);
  }
}

/* Any run of blocks, in an allocation of its size, and at an odd address. */
TEST(test_blocks_stand_for_themselves){
  for(size_t i=0; i<COUNT(types); i++){
    const known *k = &types[i];
    blob blocks, expected;
    if( !k->decoded ) continue;
    blocks = file_of(k, "blocks");
    expected = file_of(k, "f32");
    for(size_t first=0; first<10; first++){
      for(size_t n=0; n<=10-first; n++){
        blob part = exact(blocks.p + first*k->bytes, n*k->bytes), odd = { 0 };
        assert_elements(k, part.p, n, expected.p + 4*first*k->elements);
        put_byte(&odd, 0);
        put(&odd, part.p, part.n);
        assert_elements(k, odd.p+1, n, expected.p + 4*first*k->elements);
        free(part.p);
        free(odd.p);
      }
    }
    free(blocks.p);
    free(expected.p);
  }
}

/* --- Scales --- */

static void decode(const char *name, const uint8_t *block, float *out){
  zt_ggml_decoder_of(zt_ggml_type_named(text_of(name)))(block, out, 1);
}

/* The bits that a result has, of which every NaN is the same. */
static uint32_t canonical(float f){
  return isnan(f) ? 0x7FC00000 : bits_of(f);
}

TEST(test_each_f16_is_a_scale){
  uint8_t block[34] = { 0 };
  float out[32], scale;
  for(unsigned k=0; k<32; k++) block[2+k] = (uint8_t)(k*8);
  for(unsigned code=0; code<0x10000; code++){
    uint16_t half = (uint16_t)code;
    block[0] = (uint8_t)(code & 0xFF);
    block[1] = (uint8_t)(code >> 8);
    zt_convert(zt_dtype_named(ZT_TEXT("f16")), &half, zt_dtype_named(ZT_TEXT("f32")), &scale, 1);
    decode("q8_0", block, out);
    for(unsigned k=0; k<32; k++){
      float expected = scale * (float)(k<16 ? (int)k*8 : (int)k*8-256);
      check( bits_of(out[k])==canonical(expected), "scale 0x%04X, code %u", code, k );
    }
  }
}

/* The values of f4_e2m1, without -0. */
static const double f4[16] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6 };

/* All bytes are powers of two, the last one too. */
TEST(test_each_byte_is_a_scale_of_mxfp4){
  uint8_t block[17];
  float out[32];
  for(unsigned k=0; k<16; k++) block[1+k] = (uint8_t)(k | (15-k)<<4);
  for(unsigned code=0; code<0x100; code++){
    block[0] = (uint8_t)code;
    decode("mxfp4", block, out);
    for(unsigned k=0; k<16; k++){
      float low = (float)ldexp(f4[k], (int)code-127), high = (float)ldexp(f4[15-k], (int)code-127);
      check( bits_of(out[k])==bits_of(low) && bits_of(out[16+k])==bits_of(high), "scale %u, code %u", code, k );
    }
  }
}

/* f8_e4m3fn without its sign; 0x7F is 0, 0xFF the number that it would be. */
TEST(test_each_byte_is_a_scale_of_nvfp4){
  uint8_t block[36];
  float out[64];
  for(unsigned k=0; k<32; k++) block[4+k] = (uint8_t)(k%8 | (k%8+8)<<4);
  for(unsigned code=0; code<0x100; code++){
    unsigned exponent = code >> 3 & 15, mantissa = code & 7;
    double scale = exponent ? ldexp(8+mantissa, (int)exponent-10) : ldexp(mantissa, -9);
    if( code==0x7F ) scale = 0;
    for(unsigned k=0; k<4; k++) block[k] = (uint8_t)(code+k);
    decode("nvfp4", block, out);
    for(unsigned k=0; k<16; k++){
      check( bits_of(out[k])==bits_of((float)(scale*f4[k])), "scale 0x%02X, code %u", code, k );
    }
  }
}

int main(void){
  return run_all("ggml", NULL, NULL);
}
