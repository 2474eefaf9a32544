/*
** Files that no driver claims.
**
**   T1  the file is of a known format
**   T2  the file is of a supported format
**
** T2 needs bytes that files of other formats do not have by chance:
**
**   MATLAB                  its header's text (MAT-File Format, level 5)
**   TensorFlow Lite         the flatbuffer's identifier, TFL3
**   TensorFlow's index      an SSTable's footer, and an empty first key
**   GGML                    the magic numbers before GGUF
**   pickle                  PROTO, then FRAME or an opcode that makes a value, and STOP at the end;
**                           before protocol 2 one of some known beginnings, and STOP
*/
#include "container/foreign.h"

/* --- By their bytes --- */

/* True if the file begins with that text, in any case. */
static bool foreign_begins_with_text(const zt_head_tail *input, const char *text){
  size_t n = strlen(text);
  return input->head.n>=n && sqlite3_strnicmp((const char*)input->head.p, text, (int)n)==0;
}

static bool foreign_is_tflite(const zt_head_tail *input){
  return input->head.n>=8 && memcmp(input->head.p+4, "TFL3", 4)==0;
}

/* The first entry's key shares no bytes and has none of its own. */
static bool foreign_is_tensorflow(const zt_head_tail *input){
  return zt_head_is(input, "\0\0", 2) && zt_tail_is(input, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

static bool foreign_is_ggml(const zt_head_tail *input){
  static const char *const magics[] = { "lmgg", "fmgg", "tjgg", "algg" };
  for(size_t i=0; i<sizeof(magics)/sizeof(*magics); i++){
    if( zt_head_is(input, magics[i], 4) ) return true;
  }
  return false;
}

static bool foreign_is_pickle(const zt_head_tail *input){
  static const char makes[] = "}](c)KMJGXUTVBCFIL\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x96N";
  static const char *const texts[] = {
    "(dp0\n", "(dp1\n", "(lp0\n", "(lp1\n", "(ip0\n", "ccopy_reg\n", "cnumpy.core.mult", "cnumpy\n",
    "ccollections\nOrd"
  };
  const uint8_t *p = input->head.p;
  if( input->head.n<4 || !zt_tail_is(input, ".", 1) ) return false;
  if( p[0]==0x80 && p[1]>=2 && p[1]<=5 ){
    return p[2]==0x95 || (p[2] && strchr(makes, p[2]));
  }
  for(size_t i=0; i<sizeof(texts)/sizeof(*texts); i++){
    if( zt_head_is(input, texts[i], strlen(texts[i])) ) return true;
  }
  return false;
}

/* The name of an unsupported format; NULL: unknown. */
static const char *foreign_format(const zt_head_tail *input){
  if( foreign_begins_with_text(input, "MATLAB 5.0 MAT-f") ) return "a file of MATLAB";
  if( foreign_is_tflite(input) ) return "a file of TensorFlow Lite";
  if( foreign_is_tensorflow(input) ) return "the index of a TensorFlow checkpoint";
  if( foreign_is_ggml(input) ) return "a file of GGML before GGUF";
  return foreign_is_pickle(input) ? "a plain pickle" : NULL;
}

int zt_foreign_fail(const zt_head_tail *input, zt_error *err){
  const char *format;
  if( input->size==0 ) return zt_break(err, "T1", "the file is empty");
  if( foreign_begins_with_text(input, "version ") ){
    return zt_break(err, "T1", "not a tensor file, but text like a git-lfs pointer's: was it"
                    " pulled?");
  }
  if( foreign_begins_with_text(input, "<!doctype") || foreign_begins_with_text(input, "<html") ){
    return zt_break(err, "T1", "not a tensor file, but a page of HTML: did the download fail?");
  }
  format = foreign_format(input);
  if( format ) return zt_break(err, "T2", "%s, which is not read", format);
  return zt_break(err, "T1", "not a tensor file of a known format");
}

/* --- In zip archives --- */

bool zt_foreign_is_hdf5(zt_text name){
  const char *const end = name.z+name.n;
  return (name.n>3 && memcmp(end-3, ".h5", 3)==0) || (name.n>5 && memcmp(end-5, ".hdf5", 5)==0);
}
