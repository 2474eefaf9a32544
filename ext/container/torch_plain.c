/*
** Pickles that are not PyTorch's: of pickle.dump() and joblib.dump(). See torch_storage.h.
**
**   file     := stream | zlib of a stream | (gzip of a part of a stream, zeros)*
**   stream   := pickle (marked pickle)* trailing
**   marked   := before PROTO               ; as pickle.dump() writes it, called several times
**   pickle   := opcodes up to STOP (pickle.c), but behind the BUILD of a wrapper of joblib
**               (pickle_numpy.c) stand its elements
**   elements := (u8 n, n bytes)? (bytes | pickle)   ; padding if the wrapper says so; another
**                                                   ; pickle if the elements are objects
**
**   PF1  a wrapper says how many bytes its elements are
**   PF2  padding and elements end within the stream
**   PF3  beside elements, a stream has at most ZT_PICKLE_MAX bytes; a compressed one at most 8 MiB
**        and 64 times the file's
**   PF5  the last pickle ends its compressed stream: a warning
** Fault of one tensor:
**   PF4  a plain pickle has no storages
**
** The elements are skipped, and not read, unless the file is compressed. A frame ends before them.
** Several pickles are shown as a tuple of their values. Trailing bytes are no part of them, but a
** gap.
*/
#include "container/torch_storage.h"

#include "container/pickle_input.h"
#include "container/pickle_numpy.h"
#include "container/pickle_open.h"
#include "core/host.h"

#define PLAIN_AHEAD ((size_t)512)           /* Bytes that are read at once at first, */
#define PLAIN_AHEAD_MAX ((size_t)1 << 20)   /* and at most */
#define PLAIN_LITTLE ((uint64_t)8 << 20)
#define PLAIN_TIMES 64

/* From this position on, the pickle's bytes are at that offset of the stream, one after the
** other. */
typedef struct plain_run {
  size_t at;
  uint64_t offset;
} plain_run;

typedef struct torch_plain {
  zt_torch_file file;
  zt_pickle_input input;
  zt_pickle_pieces *pieces;
  uint8_t *bytes;            /* The pickle's, and elements that were read with them; owned */
  size_t n, room;
  size_t at;                 /* Of the next piece */
  size_t ahead;              /* Bytes to read next */
  plain_run *runs;           /* Owned; the first begins at 0 */
  uint32_t nRuns, roomRuns;
  char version[4];
} torch_plain;

/* Begin a run behind all bytes. */
static int plain_add_run(torch_plain *t){
  if( t->nRuns==t->roomRuns ){
    const uint32_t room = t->roomRuns ? 2*t->roomRuns : 16;
    plain_run *runs = sqlite3_realloc64(t->runs, (uint64_t)room*sizeof(*runs));
    if( !runs ) return zt_fail_nomem(t->file.b->err);
    t->runs = runs;
    t->roomRuns = room;
  }
  t->runs[t->nRuns++] = (plain_run){ t->n, t->input.position };
  return SQLITE_OK;
}

/* The stream's offset of a position. */
static uint64_t plain_offset(const torch_plain *t, size_t at){
  uint32_t low = 0, high = t->nRuns;
  while( high-low>1 ){
    const uint32_t middle = low+(high-low)/2;
    if( t->runs[middle].at<=at ) low = middle;
    else high = middle;
  }
  return t->runs[low].offset+(at-t->runs[low].at);
}

static uint64_t plain_place(const zt_torch_file *f, size_t at){
  return plain_offset((const torch_plain*)f, at);
}

/* PF3: read more bytes; *more is false at the stream's end. */
static int plain_read_more(torch_plain *t, bool *more){
  zt_builder *b = t->file.b;
  const uint64_t stored = zt_source_size(b->source);
  size_t got = 0;
  if( t->n+t->ahead>t->room ){
    const uint64_t room = (uint64_t)t->n+t->ahead+t->room/2;
    uint8_t *p = sqlite3_realloc64(t->bytes, room);
    if( !p ) return zt_fail_nomem(b->err);
    t->bytes = p;
    t->room = (size_t)room;
  }
  if( zt_pickle_input_read(&t->input, t->bytes+t->n, t->ahead, &got) ) return b->err->rc;
  t->n += got;
  *more = got>0;
  if( t->ahead<PLAIN_AHEAD_MAX ) t->ahead *= 2;
  if( t->n>ZT_PICKLE_MAX ){
    return zt_break(b->err, "PF3", "a pickle of more than 256 MiB, beside joblib's arrays");
  }
  if( t->input.inflate && t->n>PLAIN_LITTLE && t->n-PLAIN_LITTLE>PLAIN_TIMES*stored ){
    return zt_break(b->err, "PF3", "%llu bytes of a pickle, for %llu that are stored",
                    (unsigned long long)t->n, (unsigned long long)stored);
  }
  return SQLITE_OK;
}

/* Read the next piece and walk it. */
static int plain_add_piece(torch_plain *t){
  zt_builder *b = t->file.b;
  size_t at = t->at;
  for(;;){
    zt_error failed = { .path = b->err->path };
    bool more = false;
    if( zt_pickle_piece((zt_span){ t->bytes, t->n }, &at, b->interrupt, &failed)==SQLITE_OK ) break;
    if( failed.rule && strcmp(failed.rule, "PK2")==0 ){
      if( plain_read_more(t, &more) ) more = false;
    }
    if( !more ){
      if( b->err->rc ) zt_error_clear(&failed);
      else *b->err = failed;
      return b->err->rc;
    }
    zt_error_clear(&failed);
  }
  if( zt_pickle_pieces_add(t->pieces, (zt_span){ t->bytes, t->n }, t->at, b->err)==SQLITE_OK ){
    t->at = at;
  }
  return b->err->rc;
}

/* PF2: pass over n bytes of the stream. */
static int plain_skip(torch_plain *t, uint64_t n){
  zt_builder *b = t->file.b;
  const uint64_t there = t->n-t->at;
  uint64_t skipped;
  if( n<=there ){
    t->at += (size_t)n;
    return SQLITE_OK;
  }
  if( zt_pickle_input_skip(&t->input, n-there, &skipped) ) return b->err->rc;
  if( skipped<n-there ){
    return zt_break(b->err, "PF2", "byte %llu: %llu bytes of an array's elements should follow, "
                    "and there are %llu", (unsigned long long)plain_offset(t, t->at),
                    (unsigned long long)n, (unsigned long long)there+skipped);
  }
  t->at = t->n;
  t->ahead = PLAIN_AHEAD;
  return plain_add_run(t);
}

/* Pass over padding. */
static int plain_skip_padding(torch_plain *t){
  bool more = true;
  if( t->at==t->n && plain_read_more(t, &more) ) return t->file.b->err->rc;
  if( !more ) return plain_skip(t, 1);
  return plain_skip(t, 1+(uint64_t)t->bytes[t->at]);
}

/* PF1: pass over what follows the wrapper that was built. */
static int plain_add_elements(torch_plain *t, const zt_numpy_wrapper *wrapper, const char *fault){
  zt_builder *b = t->file.b;
  if( fault ){
    return zt_break(b->err, "PF1", "byte %llu: an array of joblib: %s",
                    (unsigned long long)plain_offset(t, t->at), fault);
  }
  if( wrapper->pickle ) return zt_pickle_pieces_enter(t->pieces, b->err);
  if( wrapper->padded && plain_skip_padding(t) ) return b->err->rc;
  if( zt_pickle_pieces_place(t->pieces, plain_offset(t, t->at), b->err) ) return b->err->rc;
  return plain_skip(t, wrapper->bytes);
}

/* Walk a pickle, through its STOP. */
static int plain_walk(torch_plain *t){
  zt_builder *b = t->file.b;
  bool more = true;
  while( more && plain_add_piece(t)==SQLITE_OK ){
    const zt_pickle_node built = zt_pickle_pieces_built(t->pieces);
    zt_numpy_wrapper wrapper;
    const char *fault;
    more = !zt_pickle_pieces_ended(t->pieces);
    if( more && built && !zt_pickle_pieces_inside(t->pieces)
     && zt_numpy_read_wrapper(zt_pickle_pieces_tree(t->pieces), built, &wrapper, &fault)
     && plain_add_elements(t, &wrapper, fault) ) break;
  }
  return b->err->rc;
}

/* *is: another pickle follows. */
static int plain_find_next(torch_plain *t, bool *is){
  bool more = true;
  *is = false;
  while( t->n-t->at<ZT_PICKLE_HEAD && more ){
    if( plain_read_more(t, &more) ) return t->file.b->err->rc;
  }
  *is = zt_pickle_has_mark(t->bytes+t->at, t->n-t->at);
  return SQLITE_OK;
}

static int plain_read(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out){
  torch_plain *t = (torch_plain*)f;
  if( which!=ZT_TORCH_DATA ) return SQLITE_OK;
  *out = (zt_torch_pickle){
    .pickle = zt_pickle_pieces_take(t->pieces), .bytes = { t->bytes, t->n }, .stored = true,
    .file = f, .length = f->whole.encoding ? f->whole.length : plain_offset(t, t->at)
  };
  t->bytes = NULL;
  return SQLITE_OK;
}

/* PF4 */
static int plain_find(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out){
  *out = (zt_torch_storage){ 0 };
  return zt_torch_set_fault(f->b, out, "PF4", "a plain pickle has no storage '%.*s'",
                            zt_shown(v->key), v->key.z);
}

static void plain_close(zt_torch_file *f){
  torch_plain *t = (torch_plain*)f;
  zt_pickle_pieces_close(t->pieces);
  zt_pickle_input_clear(&t->input);
  sqlite3_free(t->bytes);
  sqlite3_free(t->runs);
  sqlite3_free(t);
}

static const zt_torch_kinds plain_kind = {
  .read = plain_read, .find = plain_find, .close = plain_close, .place = plain_place
};

/* PF5: as a gap where the file is not compressed. */
static int plain_note_behind(torch_plain *t){
  const uint64_t end = plain_offset(t, t->at);
  if( t->input.size<=end ) return SQLITE_OK;
  return zt_builder_note_file(t->file.b, "PF5", "%llu decoded bytes follow behind the pickle",
                              t->input.size-end);
}

/* A compressed file is one stream to its end. */
static int plain_keep_whole(torch_plain *t){
  zt_builder *b = t->file.b;
  const bool zlib = t->input.around==ZT_INFLATE_ZLIB;
  const char *name = zlib ? "zlib" : "gzip";
  zt_torch_storage *whole = &t->file.whole;
  uint32_t first;
  if( !t->input.inflate ){
    b->container->own_end = plain_offset(t, t->at);
    return SQLITE_OK;
  }
  if( zt_pickle_input_end(&t->input)
   || zt_builder_keep(b, "", 1, &first)   /* Position 0 means none */
   || zt_builder_keep(b, name, strlen(name)+1, &whole->encoding) ) return b->err->rc;
  whole->codec = zlib ? ZT_CODEC_ZLIB : ZT_CODEC_GZIP;
  whole->length = zt_source_size(b->source);
  whole->size = t->input.size;
  return plain_note_behind(t);
}

static torch_plain *plain_new(zt_builder *b){
  torch_plain *t = sqlite3_malloc64(sizeof(*t));
  if( !t ){
    zt_fail_nomem(b->err);
    return NULL;
  }
  *t = (torch_plain){
    .file = { .kind = &plain_kind, .b = b, .plain = true }, .ahead = PLAIN_AHEAD
  };
  return t;
}

/* Walk all pickles of the stream. *several: there are, each with its own memo or not. NULL on
** failure. */
static torch_plain *plain_open(zt_builder *b, zt_inflate_around around, bool own_memos,
                               bool *several){
  torch_plain *t = plain_new(b);
  bool another = true;
  *several = false;
  if( !t ) return NULL;
  if( zt_pickle_input_open(b, around, &t->input)==SQLITE_OK
   && zt_pickle_pieces_open(b->interrupt, &t->pieces, b->err)==SQLITE_OK ) plain_add_run(t);
  while( !b->err->rc && another ){
    if( plain_walk(t) || plain_find_next(t, &another) || !another ) break;
    *several = true;
    zt_pickle_pieces_next(t->pieces, own_memos, b->err);
  }
  if( !b->err->rc
   && zt_pickle_pieces_join(t->pieces, (zt_span){ t->bytes, t->n }, b->err)==SQLITE_OK ) return t;
  plain_close(&t->file);
  return NULL;
}

/* A pickle that refers to an entry that its own memo lacks may go on with the memo of the one
** before. */
static torch_plain *plain_open_any(zt_builder *b, zt_inflate_around around){
  bool several;
  torch_plain *t = plain_open(b, around, true, &several);
  if( t || !several || !b->err->rule || strcmp(b->err->rule, "PK6")!=0 ) return t;
  zt_error_clear(b->err);
  return plain_open(b, around, false, &several);
}

int zt_torch_open_plain(zt_builder *b, const zt_head_tail *input, zt_torch_file **out){
  torch_plain *t = plain_open_any(b, zt_pickle_input_around(input));
  int protocol;
  *out = NULL;
  if( t && plain_keep_whole(t) ){
    plain_close(&t->file);
    t = NULL;
  }
  if( !t ) return b->err->rc;
  protocol = zt_pickle_protocol(zt_pickle_pieces_tree(t->pieces));
  if( protocol>=2 ){
    sqlite3_snprintf(sizeof(t->version), t->version, "%d", protocol);
    t->file.version = (zt_text){ t->version, strlen(t->version) };
  }
  *out = &t->file;
  return SQLITE_OK;
}
