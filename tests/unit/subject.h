/*
** A file of the program's own, and in it the subject of a test: one component, as a manifest might describe it, between
** other bytes.
*/
#ifndef ZT_TESTS_UNIT_SUBJECT_H
#define ZT_TESTS_UNIT_SUBJECT_H

#include "test.h"

#include <unistd.h>
#include "container/dtype.h"
#include "core/digest.h"
#include "tensor/payload.h"

static char file_path[] = "/tmp/ztensor-test-XXXXXX";

static inline int make_file(void **state){
  int fd = mkstemp(file_path);
  (void)state;
  return fd<0 || close(fd) || sqlite3_initialize();
}

static inline int remove_file(void **state){
  (void)state;
  return unlink(file_path);
}

typedef struct subject {
  blob file;
  zt_source *source;
  zt_object object;
  zt_component component;
  zt_budget budget;
  zt_payload payload;
} subject;

static inline zt_codec_id codec_of(const char *encoding){
  return strcmp(encoding, "raw")==0 ? ZT_CODEC_RAW : strcmp(encoding, "zstd")==0 ? ZT_CODEC_ZSTD
       : strcmp(encoding, "zt.zstd-seekable/1")==0 ? ZT_CODEC_SEEKABLE
       : strcmp(encoding, "deflate")==0 ? ZT_CODEC_DEFLATE : ZT_CODEC_UNKNOWN;
}

/*
** The stored bytes, `offset` bytes into the file and with `behind` bytes after them. The object is dense, of rank 1 and u8
** elements; its shape and the decoded length are the caller's to state.
*/
static inline void place_subject(subject *s, size_t offset, zt_span stored, size_t behind, const char *encoding, bool as_file){
  zt_error err = ZT_ERROR_NONE;
  blob b = { 0 };
  put_repeated(&b, 0xEE, offset);
  put(&b, stored.p, stored.n);
  put_repeated(&b, 0xDD, behind);
  *s = (subject){ .file = seal(&b) };
  if( as_file ){
    write_file(file_path, s->file.p, s->file.n);
    assert_int_equal(zt_source_open(file_path, NULL, &s->source, &err), SQLITE_OK);
  }else{
    assert_int_equal(zt_source_open_image(span_of(s->file), &s->source, &err), SQLITE_OK);
  }
  s->object = (zt_object){ .name = ZT_TEXT_INIT("w"), .format = ZT_TEXT_INIT("dense"), .layout = ZT_LAYOUT_DENSE, .rank = 1 };
  s->component = (zt_component){ .role = ZT_TEXT_INIT("data"), .dtype = ZT_TEXT_INIT("u8"), .encoding = { encoding, strlen(encoding) },
    .codec = codec_of(encoding), .digests = ZT_DIGEST_CRC32C|ZT_DIGEST_SHA256, .byte_order = ZT_TEXT_INIT("little"), .offset = offset, .length = stored.n };
  zt_dtype_decide(&s->component);
  s->budget = (zt_budget){ .result = 1000000000, .decode = (uint64_t)1<<40 };
  s->payload = (zt_payload){ .source = s->source, .object = &s->object, .component = &s->component, .budget = &s->budget };
}

static inline void close_subject(subject *s){
  zt_source_close(s->source);
  free(s->file.p);
}

/* The source of the decoded length. */
typedef enum known_by { BY_FIELD, BY_SHAPE, BY_NOTHING } known_by;

static inline void tell_length(subject *s, known_by by, uint64_t total){
  s->component.has_decoded_length = by==BY_FIELD;
  s->component.decoded_length = total;
  s->object.elements = s->object.shape[0] = total;
  s->object.format = by==BY_NOTHING ? ZT_TEXT("sparse_coo") : ZT_TEXT("dense");
  s->object.layout = by==BY_NOTHING ? ZT_LAYOUT_COO : ZT_LAYOUT_DENSE;
  s->component.role = by==BY_NOTHING ? ZT_TEXT("values") : ZT_TEXT("data");
}

#endif
