/*
** Files of pickle.dump() and joblib.dump(), which are walked and never executed. torch_plain.c has
** the grammar of the file, pickle.c that of pickles, torch_tree.c that of values.
**
** Protocols from 2 on begin with PROTO. Those before have no mark: a file is a pickle if its
** opcodes go from its first byte to a STOP that is the last one. A stream of zlib or gzip is one if
** the pickle in it has a mark. Files of torch.save, which may be pickles, too, are PyTorch's; those
** that are compressed are not read.
*/
#include "container/manifest.h"
#include "container/pickle_input.h"
#include "container/pickle_opcodes.h"
#include "container/torch_object.h"
#include "container/torch_probe.h"
#include "container/torch_values.h"
#include "container/within.h"
#include "core/host.h"

#define FILE_HEAD 32                     /* Decoded bytes that tell the format */
#define FILE_WINDOW ((size_t)4 << 10)    /* Stored bytes that are decoded to tell the format */
#define FILE_OLD ((uint64_t)1 << 28)     /* Bytes of a pickle without a mark, at most */

static const zt_rule file_rules[] = {
  ZT_ERROR("PF1", "joblib-array",
           "an array's wrapper says how many bytes its elements are (joblib)",
           "joblib, numpy_pickle"),
  ZT_ERROR("PF2", "joblib-cut", "an array's padding and elements end within the file (joblib)",
           "joblib, numpy_pickle"),
  ZT_UNSUPPORTED("PF3", "pickle-size",
                 "beside joblib's arrays, a pickle has at most 256 MiB, a compressed one 8 MiB plus"
                 " 64 times the file's bytes", ZT_SPEC_OURS),
  ZT_ERROR("PF4", "pickle-storage", "a plain pickle has no tensors in storages of PyTorch",
           ZT_SPEC_TORCH),
  ZT_WARNING("PF5", "pickle-behind", "the last pickle ends its compressed stream", ZT_SPEC_SENSE),
  ZT_WARNING("PF6", "pickle-tensor", "a plain pickle has no tensors of PyTorch", ZT_SPEC_TORCH),
  ZT_RULES_END
};

/* True if the head is a length and a brace, as in safetensors. */
static bool file_is_header(const zt_head_tail *input){
  return input->head.n>8 && zt_le64(input->head.p)<input->size && input->head.p[8]=='{';
}

/* True if a compressed file begins with a pickle, which is not torch.save's before 1.6. */
static bool file_is_compressed(const zt_head_tail *input, zt_inflate_around around, zt_error *err){
  const size_t n = input->size<FILE_WINDOW ? (size_t)input->size : FILE_WINDOW;
  zt_error failed = { .path = err->path };
  zt_inflate *d = zt_inflate_new(err);
  uint8_t *window = sqlite3_malloc64(n+1), head[FILE_HEAD];
  zt_span in = { window, n };
  size_t got = 0, more, behind;
  if( !err->rc && !window ) zt_fail_nomem(err);
  if( !err->rc && zt_source_read(input->source, 0, window, n, err)==SQLITE_OK ){
    zt_inflate_begin(d, around);
    do{
      zt_inflate_next(d, &in, head+got, sizeof(head)-got, &more, &failed);
      got += more;
    }while( !failed.rc && got<sizeof(head) && around==ZT_INFLATE_GZIP
            && zt_inflate_ended(d, &behind) && zt_inflate_next_member(d, &in) );
  }
  if( failed.rc && !zt_error_is_of_file(&failed) ) *err = failed;
  else zt_error_clear(&failed);
  zt_inflate_free(d);
  sqlite3_free(window);
  return !err->rc && zt_pickle_has_mark(head, got) && !zt_within_is_torch(head, got);
}

/* True if the opcodes of a pickle without a mark end with the file. Texts seldom get beyond their
** first bytes. */
static bool file_is_old(const zt_head_tail *input, zt_error *err){
  zt_error failed = { .path = err->path };
  const size_t n = (size_t)input->size;
  size_t at = 0;
  uint8_t *p;
  if( n<2 || input->size>FILE_OLD || !zt_tail_is(input, ".", 1)
   || !strchr("(]}cCIKMJGXUTVBSFLN)", input->head.p[0]) || input->head.p[0]==0 ) return false;
  p = sqlite3_malloc64(n);
  if( !p ) return zt_fail_nomem(err)==SQLITE_OK;
  for(size_t have=n<FILE_WINDOW ? n : FILE_WINDOW; ; have=n){
    if( zt_source_read(input->source, 0, p, have, err)
     || zt_pickle_skip((zt_span){ p, have }, &at, input->interrupt, &failed)==SQLITE_OK
     || have==n || !failed.rule || strcmp(failed.rule, "PK2")!=0 ) break;
    zt_error_clear(&failed);
  }
  if( failed.rc && !zt_error_is_of_file(&failed) ) *err = failed;
  else zt_error_clear(&failed);
  sqlite3_free(p);
  return !err->rc && at==n;
}

static zt_probe file_probe(const zt_head_tail *input, zt_error *err){
  const zt_inflate_around around = zt_pickle_input_around(input);
  bool is = false;
  if( input->head.n==0 ) return ZT_PROBE_NO;
  if( around!=ZT_INFLATE_BARE ) is = file_is_compressed(input, around, err);
  else if( zt_pickle_has_mark(input->head.p, input->head.n) ) is = !file_is_header(input);
  else is = file_is_old(input, err);
  return is && zt_torch_kind_of(input, err)==ZT_TORCH_NONE ? ZT_PROBE_PERHAPS : ZT_PROBE_NO;
}

static int file_open(zt_builder *b, const zt_head_tail *input){
  zt_torch_file *file;
  if( zt_torch_open_plain(b, input, &file)==SQLITE_OK ) zt_torch_open_values(b, file);
  zt_torch_close(file);
  return b->err->rc;
}

/* Texts for ext/REFERENCE.md's tables of formats:
**
**   read         `pickle.dump`, `joblib.dump`; also compressed by zlib or gzip
**   known by     an opcode PROTO; before protocol 2 that all opcodes fit
**   version      the protocol; NULL before 2
**   manifest     the pickle's leaves
**   attributes   every leaf except arrays, by its dotted path
**   objects      arrays in the pickle's order, by their dotted paths
**   of objects   `descr`, `fortran_order`
**   components   one, `data`: `raw`, `pickle.latin1` (written as text), or `zlib`, `gzip`: the
**                whole file
*/
const zt_driver zt_driver_pickle = {
  .name = "pickle",
  .format = "pickle",
  .files = "*.pkl *.pickle *.joblib *.pkl.gz *.pkl.z *.joblib.gz *.joblib.z *.pdparams *.pdopt",
  .rules = { zt_rules_pickle, zt_rules_values, file_rules },
  .probe = file_probe,
  .open = file_open,
  .object = zt_torch_object,
  .component = zt_torch_component,
  .steps = &zt_manifest_steps,
};
