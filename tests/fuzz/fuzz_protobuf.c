/*
** Any bytes through the reader of protobuf's wire format (ext/core/protobuf.h), and through what reads ONNX models with it.
**
** The judge is a second reader, written below from protobuf's encoding document, recursive and over the bytes as a whole.
** Properties:
**   - both find the same fields, and take the same bytes for broken, also in what may be messages in each other
**   - a packed field's varints are those that the judge finds
**   - a file that opens as a model has components within itself, objects that are found by their names, and values that can be
**     had or that an error speaks of; what a component is said to decode to is what it decodes to
*/
#include <string.h>
#include "container/driver.h"
#include "core/host.h"
#include "core/protobuf.h"
#include "fuzz.h"
#include "tensor/content.h"

#define DEPTH 6
#define DECODED ((uint64_t)1 << 20)   /* Bytes that are decoded of one component, at most */

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  return sqlite3_initialize();
}

/* --- The judge --- */

typedef struct judge {
  const uint8_t *p, *end;
} judge;

static bool judge_varint(judge *j, uint64_t *out){
  unsigned shift = 0;
  *out = 0;
  for(;; shift+=7){
    unsigned byte;
    if( j->p==j->end || shift>63 ) return false;
    byte = *j->p++;
    if( shift==63 && byte>1 ) return false;
    *out |= (uint64_t)(byte & 127) << shift;
    if( byte<128 ) return true;
  }
}

static bool judge_skip(judge *j, uint64_t n){
  if( n>(uint64_t)(j->end-j->p) ) return false;
  j->p += n;
  return true;
}

/* The value of a field; of a group, all up to its end. */
static bool judge_value(judge *j, uint64_t tag, uint64_t *value, int depth){
  uint64_t inner;
  switch( tag & 7 ){
    case 0: return judge_varint(j, value);
    case 1: return judge_skip(j, 8);
    case 2: return judge_varint(j, value) && judge_skip(j, *value);
    case 5: return judge_skip(j, 4);
    case 3:
      if( depth==ZT_PROTOBUF_DEPTH ) return false;
      for(;;){
        if( !judge_varint(j, &inner) || inner>>3==0 || inner>UINT32_MAX ) return false;
        if( (inner & 7)==4 ) return inner>>3==tag>>3;
        if( !judge_value(j, inner, value, depth+1) ) return false;
      }
    default: return false;
  }
}

/* The next field; 0 at the end, -1 if what comes next is none. */
static int judge_next(judge *j, uint64_t *tag, uint64_t *value, const uint8_t **from){
  do{
    if( j->p==j->end ) return 0;
    if( !judge_varint(j, tag) || *tag>>3==0 || *tag>UINT32_MAX ) return -1;
    *from = j->p;
    if( !judge_value(j, *tag, value, 0) ) return -1;
  }while( (*tag & 7)==3 );
  return 1;
}

/* --- Both readers --- */

static void check_packed(zt_protobuf *in, const uint8_t *data, zt_message m){
  judge j = { data+m.at, data+m.end };
  uint64_t judged, found;
  while( j.p<j.end ){
    bool there = judge_varint(&j, &judged);
    CHECK(zt_protobuf_varint(in, &m, &found)==there, "at %llu", (unsigned long long)m.at);
    if( !there ) break;
    CHECK(judged==found && data+m.at==j.p, "at %llu", (unsigned long long)m.at);
  }
  zt_error_clear(in->err);
}

static void check_message(zt_protobuf *in, const uint8_t *data, zt_message m, int depth){
  judge j = { data+m.at, data+m.end };
  zt_wire_field f;
  int judged;
  do{
    const uint8_t *from = NULL;
    uint64_t tag = 0, value = 0;
    bool found = zt_protobuf_next(in, &m, &f);
    judged = judge_next(&j, &tag, &value, &from);
    CHECK(found==(judged==1) && (in->err->rc!=SQLITE_OK)==(judged<0), "the judge says %d: %s", judged, in->err->message);
    if( judged!=1 ) break;
    CHECK(f.number==tag>>3 && f.type==(tag & 7), "field %u of type %u", f.number, f.type);
    CHECK(data+m.at==j.p && data+f.bytes.end==j.p, "field %u ends at %llu", f.number, (unsigned long long)m.at);
    if( f.type==ZT_WIRE_VARINT ) CHECK(f.value==value && data+f.bytes.at==from, "field %u", f.number);
    if( f.type!=ZT_WIRE_BYTES ) continue;
    CHECK(f.bytes.end-f.bytes.at==value, "field %u", f.number);
    if( depth<DEPTH ) check_message(in, data, f.bytes, depth+1);
    check_packed(in, data, f.bytes);
  }while( true );
  CHECK(judged>=0 || (in->err->rc==SQLITE_ERROR && in->err->rule), "%d", in->err->rc);
  zt_error_clear(in->err);
}

/* --- Models --- */

static void check_component(zt_source *source, const zt_container *c, uint32_t i, uint32_t k){
  zt_budget budget = { .decode = DECODED, .result = DECODED };
  zt_error err = ZT_ERROR_NONE;
  zt_component component;
  zt_object object;
  zt_buffer out = { NULL, 0 };
  uint64_t told;
  zt_payload p = { .source = source, .object = &object, .component = &component, .budget = &budget };
  zt_container_object(c, i, &object);
  zt_container_component(c, i, k, ZT_COMPONENT_ALL, &component);
  CHECK(component.shard.z || zt_claim(zt_source_size(source), component.offset, component.length) || component.codec==ZT_CODEC_UNKNOWN, "%u", i);
  if( zt_content_read(&p, 0, UINT64_MAX, &out, &err)==SQLITE_OK ){
    CHECK(!component.fault && !component.shard.z, "%u", i);
    if( zt_payload_length(&object, &component, &told)==ZT_LENGTH_KNOWN ) CHECK(told==out.n, "%u", i);
  }
  CHECK(err.rc==SQLITE_OK || err.rc==SQLITE_ERROR || err.rc==SQLITE_TOOBIG, "%d", err.rc);
  zt_buffer_clear(&out);
  zt_error_clear(&err);
}

static void check_model(zt_source *source){
  zt_error err = ZT_ERROR_NONE;
  zt_container *c;
  if( zt_container_open(source, NULL, &c, &err)==SQLITE_OK ){
    CHECK(zt_container_memory(c)<((uint64_t)64<<20)+64*zt_source_size(source), "%zu bytes", zt_container_memory(c));
    for(uint32_t i=0; i<zt_container_objects(c); i++){
      CHECK(zt_container_find(c, zt_container_name(c, i))==(int64_t)i, "%u", i);
      for(uint32_t k=zt_container_first(c, i); k<zt_container_first(c, i+1); k++) check_component(source, c, i, k);
    }
    zt_container_close(c);
  }
  CHECK(err.rc==SQLITE_OK || (err.rc==SQLITE_ERROR && err.rule), "%d", err.rc);
  zt_error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  zt_error err = ZT_ERROR_NONE;
  zt_source *source;
  zt_protobuf in;
  CHECK(zt_source_open_image((zt_span){ data, n }, &source, &err)==SQLITE_OK, "%s", err.message);
  zt_protobuf_open(source, NULL, &in, &err);
  check_message(&in, data, zt_protobuf_all(&in), 0);
  zt_protobuf_close(&in);
  check_model(source);
  zt_source_close(source);
  return 0;
}
