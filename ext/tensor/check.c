/* Findings about a file. See check.h. */
#include "tensor/check.h"

#include <assert.h>
#include "container/blobs.h"
#include "container/shard.h"
#include "container/zip.h"
#include "core/host.h"
#include "core/prefetch.h"
#include "core/window.h"
#include "tensor/content.h"
#include "tensor/encoding.h"
#include "tensor/layout.h"
#include "tensor/stream.h"

#define CHECK_FOUND_MAX 8                  /* Findings of one step, at most */
#define CHECK_PART_MAX 16                  /* Findings of an object that are found ahead, at most */
#define CHECK_POLL_STEPS 1024              /* Steps between checks for an interrupt */

typedef enum check_stage {
  CHECK_VERSION, CHECK_NOTES, CHECK_BLOBS, CHECK_SHARDS, CHECK_MEMBERS,
  CHECK_OBJECT, CHECK_COMPONENT, CHECK_TENSOR, CHECK_END
} check_stage;

typedef struct check_part {
  zt_job job;                        /* First */
  zt_check *check;                   /* Covers that object alone; owned */
  zt_error found[CHECK_PART_MAX];
  int nFound, iFound;                /* iFound: the next to return */
  bool ended;                        /* found has all findings */
  zt_error err;                      /* Memory or interrupt */
} check_part;

struct zt_check {
  zt_source *source;
  const zt_container *container;
  const char *path;
  zt_budget limits;                  /* For each step */
  zt_budget budget;                  /* For the current step */
  bool full;
  check_stage stage;
  uint64_t steps;
  zt_blobs blobs;
  struct zt_zip *zip;                /* In the stage CHECK_MEMBERS; owned */
  uint32_t iNote, iShard, iMember, iObject, iComponent;  /* The next ones */
  uint32_t end;                      /* The last object's index + 1 */
  bool changed;                      /* The file was replaced: the check ends */
  zt_prefetch prefetch;              /* Objects after the current part, numbered by index */
  check_part *part;                  /* The current part, owned; NULL: none */
  zt_object object;                  /* The current object */
  bool unavailable;                  /* The system or a limit prevents reading bytes of it */
  uint8_t *window;                   /* NULL until needed */
  size_t nWindow;
  zt_error found[CHECK_FOUND_MAX];   /* Findings of the last step */
  int nFound, iFound;                /* iFound: the next to return */
};

int zt_check_open(zt_source *source, const zt_container *c, bool full, const zt_budget *budget,
                  const char *path, zt_check **out, zt_error *err){
  *out = sqlite3_malloc64(sizeof(**out));
  if( !*out ) return zt_fail_nomem(err);
  **out = (zt_check){ .source = source, .container = c, .path = path, .limits = *budget,
                      .full = full, .end = zt_container_objects(c) };
  (*out)->limits.manifest_only = !full;
  return SQLITE_OK;
}

static void check_part_drop(zt_job *job){
  check_part *p = (check_part*)job;
  for(; p->iFound<p->nFound; p->iFound++) zt_error_clear(&p->found[p->iFound]);
  zt_error_clear(&p->err);
  zt_check_close(p->check);
  sqlite3_free(p);
}

void zt_check_close(zt_check *check){
  if( !check ) return;
  zt_prefetch_clear(&check->prefetch);
  if( check->part ) check_part_drop(&check->part->job);
  for(; check->iFound<check->nFound; check->iFound++) zt_error_clear(&check->found[check->iFound]);
  zt_blobs_clear(&check->blobs);
  zt_zip_close(check->zip);
  zt_window_free(check->window);
  sqlite3_free(check);
}

/* --- Findings --- */

/* Add a finding in the place of the current object, if any, and of the component, which may be
** NULL. */
static zt_error *check_report(zt_check *c, const zt_component *component){
  zt_error *e = &c->found[c->nFound++];
  assert( c->nFound<=CHECK_FOUND_MAX );
  *e = ZT_ERROR_NONE;
  e->path = c->path;
  if( c->stage>CHECK_OBJECT ) e->object = c->object.name;
  if( component ) e->component = component->role;
  return e;
}

static bool check_has_changed(const zt_check *c){
  zt_error e = ZT_ERROR_NONE;
  bool changed = zt_source_unchanged(c->source, &e)!=SQLITE_OK;
  zt_error_clear(&e);
  return changed;
}

/* A call has filled the last finding. Keep it if it is about the file. */
static int check_judge(zt_check *c, zt_error *err){
  zt_error *e = &c->found[c->nFound-1];
  switch( e->rc ){
    case SQLITE_ERROR:
      /* Later findings would be about another file */
      c->changed = !e->rule && check_has_changed(c);
      if( c->changed ) c->stage = CHECK_END;
      return SQLITE_OK;
    case SQLITE_TOOBIG:
      return SQLITE_OK;
    case SQLITE_NOMEM: case SQLITE_INTERRUPT:
      *err = *e;
      break;
    default:   /* SQLITE_OK; or SQLITE_ABORT, where quick checks stop */
      zt_error_clear(e);
      break;
  }
  c->nFound--;
  return err->rc;
}

/* Return the index of the first byte with bits outside `allowed`; n if there is none. */
static size_t check_find_other(const uint8_t *p, size_t n, uint8_t allowed){
  uint8_t bits = 0;
  size_t i = 0;
  if( allowed==0xFF ) return n;
  for(size_t k=0; k<n; k++) bits |= p[k];
  if( !(bits & ~allowed) ) return n;
  while( !(p[i] & ~allowed) ) i++;
  return i;
}

static void check_drop_window(zt_check *c){
  zt_window_free(c->window);
  c->window = NULL;
  c->nWindow = 0;
}

static int check_need_window(zt_check *c, size_t n, zt_error *err){
  if( n<=c->nWindow ) return SQLITE_OK;
  check_drop_window(c);
  c->window = zt_window_new(n);
  if( !c->window ) return zt_fail_nomem(err);
  c->nWindow = n;
  return SQLITE_OK;
}

/* --- The file --- */

static void check_version(zt_check *c){
  zt_text version = zt_container_version(c->container);
  if( !zt_container_is_newer(c->container) ) return;
  zt_break(check_report(c, NULL), "W1", "version '%.*s' is not known", zt_shown(version),
           version.z);
}

/* The next fault that opening noted. */
static int check_step_note(zt_check *c, zt_error *err){
  zt_note note;
  zt_error *e;
  if( c->iNote==zt_container_notes(c->container) ){
    c->stage = CHECK_BLOBS;
    return zt_blobs_sort(c->container, &c->budget.interrupt, &c->blobs, err);
  }
  zt_container_note(c->container, c->iNote++, &note);
  e = check_report(c, NULL);
  if( note.object!=ZT_NOTE_OF_FILE ) e->object = zt_container_name(c->container, note.object);
  zt_break(e, note.rule, "%s", note.fault);
  return check_judge(c, err);
}

/* The bytes from `from` to `to`, which belong to no component, must be zero. */
static int check_padding(zt_check *c, uint64_t from, uint64_t to, zt_error *err){
  zt_error *e = check_report(c, NULL);
  const size_t piece = to-from<ZT_STREAM_PIECE ? (size_t)(to-from) : ZT_STREAM_PIECE;
  if( check_need_window(c, piece, err) ) return err->rc;
  for(uint64_t at=from; at<to && !e->rc; ){
    size_t n = to-at<piece ? (size_t)(to-at) : piece, i;
    if( zt_source_read(c->source, at, c->window, n, e) || zt_source_unchanged(c->source, e) ) break;
    if( zt_interrupt_check(&c->budget.interrupt, e) ) break;
    i = check_find_other(c->window, n, 0);
    if( i<n ){
      zt_break(e, "W2", "byte %llu belongs to no component and is 0x%02x, not 0", at+i,
               c->window[i]);
    }
    at += n;
  }
  return check_judge(c, err);
}

/* True if writers choose how components are aligned, and theirs explains the bytes between. */
static bool check_is_alignment(const zt_check *c, uint64_t from, uint64_t to){
  const uint64_t alignment = c->blobs.alignment;
  return (zt_container_rules(c->container) & ZT_RULE_ANY_ALIGNMENT) && to-from<alignment
      && to%alignment==0;
}

/* Check the bytes between blobs. */
static int check_gap(zt_check *c, uint64_t from, uint64_t to, zt_error *err){
  const unsigned rules = zt_container_rules(c->container);
  /* A data shard's bytes belong to other files */
  if( to<=from || zt_container_manifest_length(c->container)==0 || c->blobs.unsized ){
    return SQLITE_OK;
  }
  if( to-from>zt_container_gap(c->container) && !check_is_alignment(c, from, to) ){
    zt_break(check_report(c, NULL), rules & ZT_RULE_NO_GAP ? "O9" : "W4",
             "bytes %llu to %llu belong to no component", from, to);
  }
  if( !c->full || !(rules & ZT_RULE_PADDING_ZERO) ) return SQLITE_OK;
  return check_padding(c, from, to, err);
}

/* Check the next blob and the gap before it; in the end, the gap after the last blob. */
static int check_step_blob(zt_check *c, zt_error *err){
  zt_blob_step step;
  if( !zt_blobs_next(c->container, &c->blobs, &step) ){
    c->stage = CHECK_SHARDS;
    return SQLITE_OK;
  }
  if( step.other && !(zt_container_rules(c->container) & ZT_RULE_VIEWS) ){
    zt_blobs_fail(c->container, &step, "W3", check_report(c, NULL));
    if( check_judge(c, err) ) return err->rc;
  }
  return check_gap(c, step.gap, step.end, err);
}

/* The rule that an unknown algorithm of a digest breaks. */
static const char *check_algorithm_rule(const zt_check *c){
  return zt_container_rules(c->container) & ZT_RULE_DIGESTS_KNOWN ? "Z16" : "W6";
}

static const char *check_form(zt_digest_parse form){
  return form==ZT_DIGEST_OK ? "ok" : form==ZT_DIGEST_MALFORMED ? "malformed" : "unsupported";
}

/* Report the status of a shard's digest. */
static void check_report_shard(zt_check *c, const zt_shard *shard, const char *status,
                               zt_error *e){
  if( strcmp(status, "mismatch")==0 ){
    zt_break(e, "X3", "shard '%.*s' does not have the digest '%.*s'", zt_shown(shard->name),
             shard->name.z, zt_shown(shard->digest), shard->digest.z);
  }else if( strcmp(status, "ok")!=0 ){
    zt_break(e, strcmp(status, "malformed")==0 ? "W7" : check_algorithm_rule(c),
             "the digest of shard '%.*s', '%.*s', is %s", zt_shown(shard->name), shard->name.z,
             zt_shown(shard->digest), shard->digest.z, status);
  }
}

/* The next shard must have a digest of a known form, and exist, with its size and digest. */
static int check_step_shard(zt_check *c, zt_error *err){
  zt_component all = {
    .encoding = ZT_TEXT_INIT("raw"), .codec = ZT_CODEC_RAW, .rules = ZT_RULE_DIGEST_OF_DECODED
  };
  zt_payload p = { .object = &c->object, .component = &all, .budget = &c->budget };
  zt_error *e = check_report(c, NULL);
  const char *status = NULL;
  zt_shard shard;
  bool digest;
  if( c->iShard==zt_container_shards(c->container) ){
    c->stage = CHECK_MEMBERS;
    return check_judge(c, err);
  }
  zt_container_shard(c->container, c->iShard++, &shard);
  if( shard.external ) return check_judge(c, err);   /* Its components are checked instead */
  if( shard.digest.z ) status = check_form(zt_digest_check(shard.digest, shard.digests));
  if( status ) check_report_shard(c, &shard, status, e);
  digest = status && !e->rc;
  if( check_judge(c, err) || !c->full ) return err->rc;
  e = check_report(c, NULL);
  if( zt_shard_open(c->source, shard.name, shard.size, &p.source, e)==SQLITE_OK && digest ){
    all.length = shard.size;
    all.digest = shard.digest;
    all.digests = shard.digests;
    if( zt_content_digest(&p, &status, e)==SQLITE_OK ) check_report_shard(c, &shard, status, e);
  }
  zt_source_close(p.source);
  return check_judge(c, err);
}

/* A member that can be found and decoded, and states a CRC-32, must have it. A fault that
** hinders to read one is reported of the tensors in it. */
static int check_member(zt_check *c, const zt_zip_member *m, zt_error *err){
  char room[ZT_ZIP_ENCODING_MAX], digest[sizeof("crc32:00000000")];
  zt_component all = {
    .length = m->stored, .decoded_length = m->size, .digests = ZT_DIGEST_CRC32,
    .rules = ZT_RULE_DIGEST_OF_DECODED
  };
  const zt_payload p = {
    .source = c->source, .object = &c->object, .component = &all, .budget = &c->budget
  };
  zt_error *e = check_report(c, NULL);
  const char *status = NULL;
  size_t got;
  all.encoding = zt_zip_encoding(m->method, room, &all.codec);
  all.has_decoded_length = all.codec!=ZT_CODEC_RAW;
  sqlite3_snprintf(sizeof(digest), digest, "crc32:%08x", m->crc);
  all.digest = (zt_text){ digest, sizeof(digest)-1 };
  if( m->crc && all.codec!=ZT_CODEC_UNKNOWN
   && zt_zip_locate(c->zip, c->source, m, &all.offset, NULL, 0, &got, e)==SQLITE_OK ){
    zt_content_digest(&p, &status, e);
  }
  if( zt_error_is_of_file(e) ) zt_error_clear(e);
  if( status && strcmp(status, "mismatch")==0 ){
    zt_break(e, zt_container_member_rule(c->container), "member '%.*s' does not have the digest"
             " '%s' of the archive's directory", zt_shown(m->name), m->name.z, digest);
  }
  return check_judge(c, err);
}

static int check_step_member(zt_check *c, zt_error *err){
  zt_zip_member member;
  if( !c->full || !zt_container_member_rule(c->container) ){
    c->stage = CHECK_OBJECT;
    return SQLITE_OK;
  }
  if( !c->zip ){
    zt_error *e = check_report(c, NULL);
    if( zt_zip_open(c->source, &c->limits.interrupt, &c->zip, e) ) c->stage = CHECK_OBJECT;
    return check_judge(c, err);
  }
  if( c->iMember==zt_zip_members(c->zip) ){
    c->stage = CHECK_OBJECT;
    return SQLITE_OK;
  }
  zt_zip_member_at(c->zip, c->iMember++, &member);
  return check_member(c, &member, err);
}

/* --- Components --- */

static bool check_is_index(const zt_object *object, zt_text role){
  if( object->layout!=ZT_LAYOUT_CSR && object->layout!=ZT_LAYOUT_COO ) return false;
  return zt_text_is(role, "indices") || zt_text_is(role, "indptr") || zt_text_is(role, "coords");
}

/* True if a finding says that bytes are unavailable, and nothing about their content. */
static bool check_is_loss(const zt_error *e){
  return e->rc==SQLITE_TOOBIG || (e->rc==SQLITE_ERROR && (!e->rule || e->rule[0]=='X'));
}

/* Whether checking the digest read the stored bytes. */
typedef enum check_seen { CHECK_NOT_READ, CHECK_READ, CHECK_LOST } check_seen;

static int check_digest(zt_check *c, const zt_payload *p, bool readable, check_seen *out,
                        zt_error *err){
  const zt_component *component = p->component;
  zt_text digest = component->digest;
  const char *colon = digest.z && digest.n ? memchr(digest.z, ':', digest.n) : NULL, *status;
  zt_error *e = check_report(c, component);
  if( !digest.z ){
    if( component->digests ) zt_break(e, "W5", "there is no digest");
    return check_judge(c, err);
  }
  switch( zt_digest_check(digest, component->digests) ){
    case ZT_DIGEST_UNSUPPORTED:
      zt_break(e, check_algorithm_rule(c), "digest algorithm '%.*s' is not known",
               zt_shown((zt_text){ digest.z, (size_t)(colon-digest.z) }), digest.z);
      break;
    case ZT_DIGEST_MALFORMED:
      zt_break(e, "W7", "'%.*s' is no digest", zt_shown(digest), digest.z);
      break;
    case ZT_DIGEST_OK:
      if( !c->full || !readable ) break;
      *out = zt_content_digest(p, &status, e) ? CHECK_LOST : CHECK_READ;
      if( *out==CHECK_READ && strcmp(status, "ok")!=0 )
        zt_break(e, "W8", "the %s bytes do not have the digest '%.*s'",
                 component->rules & ZT_RULE_DIGEST_OF_DECODED ? "decoded" : "stored",
                 zt_shown(digest), digest.z);
      break;
  }
  return check_judge(c, err);
}

/* True if all bytes are booleans. Joined layouts have indices among them. */
static bool check_is_bool(const zt_object *object, const zt_component *component){
  const zt_dtype *dtype = component->element;
  return dtype && dtype->class==ZT_BOOL && object->layout!=ZT_LAYOUT_CSR_JOINED
      && object->layout!=ZT_LAYOUT_COO_JOINED;
}

/* Decode all bytes, which checks the encoding's rules, and check booleans. */
static int check_bytes(zt_check *c, const zt_payload *p, zt_stream *s, zt_error *err){
  uint8_t allowed = check_is_bool(&c->object, p->component) ? 1 : 0xFF, other = 0;
  zt_error *e = check_report(c, p->component);
  uint64_t at = 0, where = 0;
  const size_t n = zt_stream_piece(s);
  size_t got = 1, i;
  if( check_need_window(c, n, err) ) return err->rc;
  zt_payload_expect(p);
  while( got && zt_stream_read(s, at, c->window, n, &got, e)==SQLITE_OK ){
    i = check_find_other(c->window, got, allowed);
    if( i<got ){
      other = c->window[i];
      where = at+i;
      allowed = 0xFF;   /* One finding is enough */
    }
    at += got;
  }
  c->unavailable |= check_is_loss(e);
  if( check_judge(c, err) ) return err->rc;
  if( other ){
    const char *rule = p->component->rules & ZT_RULE_CANONICAL_VALUES ? "L9" : "W9";
    zt_break(check_report(c, p->component), rule, "byte %llu is 0x%02x: a bool is 0 or 1", where,
             other);
  }
  return SQLITE_OK;
}

/* Check the minimum length, which some layouts do not check. */
static void check_length(zt_check *c, const zt_component *component){
  uint64_t n;
  if( component->least==0
   || zt_payload_length(&c->object, component, &n)!=ZT_LENGTH_KNOWN || n>=component->least ) return;
  if( component->least==UINT64_MAX ){
    zt_break(check_report(c, component), "D1", "its elements are 2^64-1 bytes or more, and it has"
             " %llu", n);
  }else{
    zt_break(check_report(c, component), "D1", "its elements are %llu bytes, and it has %llu",
             component->least, n);
  }
}

static int check_component(zt_check *c, const zt_payload *p, zt_error *err){
  const zt_component *component = p->component;
  const zt_encoding *encoding = zt_encoding_of(component);
  const zt_dtype *dtype;
  if( component->dtype.z || (c->object.layout!=ZT_LAYOUT_UNKNOWN && !component->fault) ){
    zt_array_dtype(p, &dtype, check_report(c, component));
    if( check_judge(c, err) ) return err->rc;
  }
  check_length(c, component);
  if( component->codec==ZT_CODEC_RAW && component->has_decoded_length
   && component->decoded_length!=component->length ){
    zt_break(check_report(c, component), "E3", "raw: %llu bytes, not the %llu that the manifest"
             " states", component->length, component->decoded_length);
  }
  if( (component->rules & ZT_RULE_U64_INDICES) && check_is_index(&c->object, component->role)
   && !zt_text_is(component->dtype, "u64") ){
    zt_break(check_report(c, component), "W12", "indices of '%.*s', not u64",
             zt_shown(component->dtype), component->dtype.z);
  }
  if( (component->rules & ZT_RULE_DECODED_LENGTH) && !component->has_decoded_length && encoding
   && encoding->next ){
    zt_break(check_report(c, component), "W13", "encoding '%s' without uncompressed_length",
             encoding->name);
  }
  return SQLITE_OK;
}

static int check_step_component(zt_check *c, zt_error *err){
  zt_component component;
  zt_payload p = {
    .source = c->source, .object = &c->object, .component = &component, .budget = &c->budget
  };
  check_seen bytes = CHECK_NOT_READ;
  bool readable, again = false;   /* again: the digest's reading did not check everything */
  zt_stream *s = NULL;
  zt_error *e;
  if( c->iComponent==zt_container_first(c->container, c->iObject+1) ){
    c->stage = CHECK_TENSOR;
    return SQLITE_OK;
  }
  zt_container_component(c->container, c->iObject, c->iComponent++, ZT_COMPONENT_ALL, &component);
  if( check_component(c, &p, err) ) return err->rc;
  e = check_report(c, &component);
  readable = zt_stream_open(&p, &s, e)==SQLITE_OK;
  /* The encoding of an object without values is the writer's own */
  if( c->object.no_values && e->rule && strcmp(e->rule, "E1")==0 ) zt_error_clear(e);
  c->unavailable |= check_is_loss(e);
  if( check_judge(c, err) || check_digest(c, &p, readable, &bytes, err) ) goto end;
  c->unavailable |= bytes==CHECK_LOST;
  if( bytes==CHECK_NOT_READ || check_is_bool(&c->object, &component) ){
    again = c->full && bytes!=CHECK_LOST;
  }else if( bytes==CHECK_READ ){
    again = component.codec!=ZT_CODEC_RAW && !(component.rules & ZT_RULE_DIGEST_OF_DECODED);
  }
  if( s && again ) check_bytes(c, &p, s, err);
end:
  zt_stream_close(s);
  return err->rc;
}

/* --- Objects --- */

static int check_step_object(zt_check *c){
  if( c->iObject==c->end ){
    c->stage = CHECK_END;
    return SQLITE_OK;
  }
  zt_container_object(c->container, c->iObject, &c->object);
  c->iComponent = zt_container_first(c->container, c->iObject);
  c->unavailable = false;
  c->stage = CHECK_COMPONENT;
  return SQLITE_OK;
}

static bool check_has_packed(const zt_check *c){
  for(uint32_t k=zt_container_first(c->container, c->iObject);
      k<zt_container_first(c->container, c->iObject+1); k++){
    zt_component component;
    zt_container_component(c->container, c->iObject, k, ZT_COMPONENT_ELEMENT, &component);
    if( component.element && zt_dtype_is_packed(component.element) ) return true;
  }
  return false;
}

/* True if a component of the current object has reported this fault. */
static bool check_is_fault(const zt_check *c, const zt_error *e){
  for(uint32_t k=zt_container_first(c->container, c->iObject);
      e->rule && k<zt_container_first(c->container, c->iObject+1); k++){
    zt_component component;
    zt_container_component(c->container, c->iObject, k, ZT_COMPONENT_ALL, &component);
    if( component.fault && strcmp(component.fault_rule, e->rule)==0 ) return true;
  }
  return false;
}

/* True if checking the components has reported this finding. L9 for booleans is; L9 for spare bits
** is found only by reading elements. */
static bool check_is_of_components(const zt_check *c, const zt_error *e){
  static const char *const rules[] = {
    "L2", "L5", "L6", "L8", "L9", "E1", "E2", "E3", "E4", "Y1", "Y2", "Y3", "Y4", "CH1", "CH2"
  };
  if( check_is_loss(e) ) return c->unavailable;
  if( check_is_fault(c, e) ) return true;
  if( e->rule && strcmp(e->rule, "L9")==0 && check_has_packed(c) ) return false;
  for(size_t i=0; e->rule && i<sizeof(rules)/sizeof(*rules); i++){
    if( strcmp(e->rule, rules[i])==0 ) return true;
  }
  return false;
}

/* Check all rules of a sparse tensor's stored elements, and their order. */
static int check_order(zt_check *c, zt_tensor *t, zt_error *err){
  zt_error *e = check_report(c, NULL);
  zt_order order;
  bool sound = zt_sparse_order(t, &order, e)==SQLITE_OK;
  if( check_is_of_components(c, e) ) zt_error_clear(e);
  if( check_judge(c, err) || !sound ) return err->rc;
  if( !order.ascending && !(c->object.rules & ZT_RULE_ORDER) ){
    zt_break(check_report(c, NULL), "W10",
             "stored element %llu lies in a cell before that of an earlier one", order.at);
  }
  if( order.repeated ){
    zt_break(check_report(c, NULL), "W11",
             "%llu of %llu stored elements lie in a cell that has one already", order.repeated,
             t->stored);
  }
  return SQLITE_OK;
}

static int check_step_tensor(zt_check *c, zt_error *err){
  ZT_NUMBERS(ZT_ELEMENT_MAX/8) element;
  zt_error *e = check_report(c, NULL);
  zt_tensor t;
  bool sound = zt_tensor_open(c->source, c->container, &c->object, &c->budget, &t, e)==SQLITE_OK;
  if( sound && c->full && (c->object.rules & ZT_RULE_CANONICAL_VALUES) && !zt_tensor_is_sparse(&t)
   && c->object.elements>0 && check_has_packed(c) ){
    zt_tensor_read(&t, c->object.elements-1, 1, &element, e);
  }
  if( check_is_of_components(c, e) ) zt_error_clear(e);
  if( check_judge(c, err)==SQLITE_OK && sound && c->full && zt_tensor_is_sparse(&t) ){
    check_order(c, &t, err);
  }
  zt_tensor_close(&t);
  c->iObject++;
  if( c->stage!=CHECK_END ) c->stage = CHECK_OBJECT;
  return err->rc;
}

/* --- Steps --- */

static int check_step(zt_check *c, zt_error *err){
  c->budget = c->limits;
  if( ++c->steps%CHECK_POLL_STEPS==0 && zt_interrupt_check(&c->budget.interrupt, err) ){
    return err->rc;
  }
  switch( c->stage ){
    case CHECK_VERSION:
      check_version(c);
      c->stage = CHECK_NOTES;
      break;
    case CHECK_NOTES:     return check_step_note(c, err);
    case CHECK_BLOBS:     return check_step_blob(c, err);
    case CHECK_SHARDS:    return check_step_shard(c, err);
    case CHECK_MEMBERS:   return check_step_member(c, err);
    case CHECK_OBJECT:    return check_step_object(c);
    case CHECK_COMPONENT: return check_step_component(c, err);
    case CHECK_TENSOR:    return check_step_tensor(c, err);
    case CHECK_END:       break;
  }
  return SQLITE_OK;
}

static bool check_next_step(zt_check *c, zt_error *finding, zt_error *err){
  const zt_budget *limits = &c->limits;
  while( c->iFound==c->nFound && c->stage!=CHECK_END ){
    if( c->stage==CHECK_OBJECT && limits->pool && c->full ) return false;
    c->iFound = c->nFound = 0;
    if( check_step(c, err) ) return false;
  }
  if( c->iFound==c->nFound ) return false;
  *finding = c->found[c->iFound++];
  if( finding->rc!=SQLITE_NOMEM ) return true;
  zt_fail_nomem(err);
  return false;
}

/* --- Objects by several threads --- */

static void check_part_work(zt_job *job, const zt_interrupt *interrupt){
  check_part *p = (check_part*)job;
  p->check->limits.interrupt = *interrupt;
  while( p->nFound<CHECK_PART_MAX
      && check_next_step(p->check, &p->found[p->nFound], &p->err) ) p->nFound++;
  p->ended = p->nFound<CHECK_PART_MAX;
  check_drop_window(p->check);   /* There may be many parts */
}

static bool check_part_next(void *context, uint64_t *number){
  return ++*number<((const zt_check*)context)->end;
}

static zt_job *check_part_make(void *context, uint64_t number){
  const zt_check *c = context;
  check_part *p = sqlite3_malloc64(sizeof(*p));
  zt_error err = ZT_ERROR_NONE;
  if( !p ) return NULL;
  *p = (check_part){ .job.work = check_part_work };
  if( zt_check_open(c->source, c->container, c->full, &c->limits, c->path, &p->check, &err) ){
    sqlite3_free(p);
    return NULL;
  }
  p->check->limits.pool = NULL;
  p->check->limits.spare = NULL;
  p->check->stage = CHECK_OBJECT;
  p->check->iObject = (uint32_t)number;
  p->check->end = (uint32_t)number+1;
  return &p->job;
}

static const zt_jobs check_parts = { check_part_next, check_part_make, check_part_drop };

/* Return the next finding of the current part; false at its end, and on failure. */
static bool check_next_of_part(zt_check *c, zt_error *finding, zt_error *err){
  check_part *p = c->part;
  if( p->iFound<p->nFound ){
    *finding = p->found[p->iFound++];
    return true;
  }
  if( p->err.rc ){
    *err = p->err;
    p->err = ZT_ERROR_NONE;
    return false;
  }
  p->check->limits.interrupt = c->limits.interrupt;
  return !p->ended && check_next_step(p->check, finding, err);
}

static bool check_next_part(zt_check *c, zt_error *finding, zt_error *err){
  const uint32_t remaining = c->end-c->iObject;
  if( c->part ){
    if( check_next_of_part(c, finding, err) ) return true;
    if( err->rc ) return false;
    if( c->part->check->changed ) c->stage = CHECK_END;
    check_part_drop(&c->part->job);
    c->part = NULL;
  }else if( remaining==0 ){
    c->stage = CHECK_END;
  }else{
    c->prefetch.jobs = &check_parts;
    c->prefetch.tasks.pool = c->limits.pool;
    c->part = (check_part*)zt_prefetch_take(&c->prefetch, c, c->iObject++, remaining-1,
                                            &c->limits.interrupt, err);
  }
  return false;
}

bool zt_check_next(zt_check *c, zt_error *finding, zt_error *err){
  if( check_next_step(c, finding, err) ) return true;
  while( !err->rc && c->stage==CHECK_OBJECT ) if( check_next_part(c, finding, err) ) return true;
  return false;
}
