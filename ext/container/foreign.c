/*
** Files that no driver claims.
**
**   T1  the file is of a known format
**   T2  the file is of a supported format
**
** T2 needs bytes that files of other formats do not have by chance:
**
**   GGML                    the magic numbers before GGUF
**   compressed              the magic numbers of bzip2, xz and lz4, and the usual head of lzma, as
**                           of joblib's pickles
**   SavedModel              version 1, and a graph that begins with its description
*/
#include "container/foreign.h"

#define FOREIGN_KEY_LEAST 8   /* Bytes of a key by which it is known */

/* --- By their bytes --- */

/* True if the file begins with that text, in any case. */
static bool foreign_begins_with_text(const zt_head_tail *input, const char *text){
  size_t n = strlen(text);
  return input->head.n>=n && sqlite3_strnicmp((const char*)input->head.p, text, (int)n)==0;
}

/* True if the file begins as JSON whose first key is one of a *.safetensors.index.json. The head
** has only a part of the key behind a long indentation. */
static bool foreign_is_index(const zt_head_tail *input){
  static const char *const keys[] = { "\"metadata\"", "\"weight_map\"" };
  const char *p = (const char*)input->head.p, *end = p+input->head.n;
  if( p==end || *p++!='{' ) return false;
  while( p<end && (*p==' ' || *p=='\t' || *p=='\r' || *p=='\n') ) p++;
  for(size_t i=0; i<sizeof(keys)/sizeof(*keys); i++){
    const size_t n = strlen(keys[i]), there = (size_t)(end-p);
    if( there>=FOREIGN_KEY_LEAST && memcmp(p, keys[i], there<n ? there : n)==0 ) return true;
  }
  return false;
}

static bool foreign_is_ggml(const zt_head_tail *input){
  static const char *const magics[] = { "lmgg", "fmgg", "tjgg", "algg" };
  for(size_t i=0; i<sizeof(magics)/sizeof(*magics); i++){
    if( zt_head_is(input, magics[i], 4) ) return true;
  }
  return false;
}

/* LZMA alone: the usual properties, a dictionary's size, and an unknown length; or a dictionary of
** 2^n or 3*2^n bytes, a length below a TiB, and the first byte of the range coder. */
static bool foreign_is_lzma(const zt_head_tail *input){
  const uint8_t *p = input->head.p;
  uint32_t dictionary, low;
  if( input->head.n<13 || p[0]!=0x5D || p[1]!=0 ) return false;
  if( zt_le64(p+5)==UINT64_MAX ) return true;
  dictionary = zt_le32(p+1);
  low = dictionary & (~dictionary+1);   /* Its lowest bit */
  return input->head.n>13 && p[13]==0 && zt_le64(p+5)>>40==0
      && dictionary>=4096 && (dictionary==low || dictionary==3*low);
}

/* The compressions of joblib that are not read. */
static const char *foreign_compression(const zt_head_tail *input){
  static const struct { const char *bytes; size_t n; const char *name; } rows[] = {
    { "BZh", 3, "a file compressed by bz2" },
    { "\xfd" "7zXZ\0", 6, "a file compressed by xz" },
    { "\x04\x22\x4d\x18", 4, "a file compressed by lz4" },
    { "ZF0x", 4, "a pickle of joblib before 0.10, compressed" },
  };
  for(size_t i=0; i<sizeof(rows)/sizeof(*rows); i++){
    if( zt_head_is(input, rows[i].bytes, rows[i].n) ) return rows[i].name;
  }
  return foreign_is_lzma(input) ? "a file compressed by lzma" : NULL;
}

/* Compressions of all kinds of files; NULL: none. The probe of pickles claims its own. */
static const char *foreign_any_compression(const zt_head_tail *input){
  if( zt_head_is(input, "\x1f\x8b\x08", 3) ) return "gzip";
  return zt_head_is(input, "\x28\xb5\x2f\xfd", 4) ? "zstd" : NULL;
}

/* True if the file is a SavedModel's: field 1, its version; and field 2, a graph, which begins with
** its description. The probe of ONNX claims a file that ends within the graph. */
static bool foreign_is_saved_model(const zt_head_tail *input){
  const uint8_t *p = input->head.p;
  size_t i = 3;   /* Of the graph's length */
  if( !zt_head_is(input, "\x08\x01\x12", 3) ) return false;
  while( i<input->head.n && (p[i] & 0x80) ) i++;
  return i+1<input->head.n && p[i]!=0 && p[i+1]==0x0A;
}

/* The name of an unsupported format; NULL: unknown. */
static const char *foreign_format(const zt_head_tail *input){
  if( foreign_is_ggml(input) ) return "a file of GGML before GGUF";
  if( foreign_is_saved_model(input) ){
    return "the graph of a SavedModel of TensorFlow (its variables are in"
           " variables/variables.index)";
  }
  return foreign_compression(input);
}

int zt_foreign_fail(const zt_head_tail *input, zt_error *err){
  const char *format, *compression;
  if( input->size==0 ) return zt_break(err, "T1", "the file is empty");
  if( foreign_begins_with_text(input, "version ") ){
    return zt_break(err, "T1", "not a tensor file, but text like a git-lfs pointer's: was it"
                    " pulled?");
  }
  if( foreign_begins_with_text(input, "<!doctype") || foreign_begins_with_text(input, "<html") ){
    return zt_break(err, "T1", "not a tensor file, but a page of HTML: did the download fail?");
  }
  if( foreign_is_index(input) ){
    return zt_break(err, "T1", "not a tensor file, but text like the index of a model in several"
                    " files: name these");
  }
  compression = foreign_any_compression(input);
  if( compression ){
    return zt_break(err, "T1", "not a tensor file, but compressed by %s: is one in it?",
                    compression);
  }
  format = foreign_format(input);
  if( format ) return zt_break(err, "T2", "%s, which is not read", format);
  return zt_break(err, "T1", "not a tensor file of a known format");
}
