/*
** Any bytes through the walk of pickles (ext/container/pickle.h), and through that of PyTorch's values (torch_tree.h).
**
** Properties:
**   - what fails breaks a rule PK1 to PK6, and the failure is of the file
**   - every node is of a kind, its children are nodes, there are as many as it says, those of a dict in pairs, those of
**     a tuple the same one by one
**   - memory is bounded by the pickle's bytes
**   - nothing is read behind where the pickle ended: cut there, it is the same, unless a frame goes on
**   - both walks over the values meet the same, and what they put is CBOR
**   - in pieces it is the same as in one
*/
#include <string.h>
#include "container/pickle_open.h"
#include "container/torch_tree.h"
#include "core/host.h"
#include "fuzz.h"

#define FIXED (64<<10)   /* Bytes that any pickle may take */
#define TIMES 100        /* and as many for each of its own */
#define MOST_PUT (1<<20) /* Bytes of values that are looked at */

int LLVMFuzzerInitialize(int *argc, char ***argv){
  (void)argc;
  (void)argv;
  CHECK(sqlite3_initialize()==SQLITE_OK, "initialize");
  return 0;
}

static uint32_t check_node(const zt_pickle *p, zt_pickle_node node){
  zt_pickle_cursor c = zt_pickle_begin(p, node);
  zt_pickle_value v;
  uint32_t n = 0;
  zt_pickle_get(p, node, &v);
  CHECK(v.kind==zt_pickle_kind_of(p, node) && v.kind<=ZT_PICKLE_PERSISTENT, "kind %d", v.kind);
  for(zt_pickle_node child; (child = zt_pickle_next(p, &c))!=0; n++){
    CHECK(child<=zt_pickle_nodes(p), "child %u", child);
    CHECK(v.kind!=ZT_PICKLE_TUPLE || zt_pickle_child(p, node, n)==child, "child %u", n);
  }
  CHECK(n==v.n && zt_pickle_child(p, node, n)==0, "%u children, not %u", n, v.n);
  CHECK(v.kind!=ZT_PICKLE_DICT || n%2==0, "%u children of a dict", n);
  CHECK(v.kind!=ZT_PICKLE_TEXT || zt_utf8_valid(v.bytes.p, v.bytes.n), "no UTF-8");
  CHECK(v.kind!=ZT_PICKLE_INTEGER || !v.bytes.p || v.bytes.n>8, "%zu bytes", v.bytes.n);
  if( v.kind==ZT_PICKLE_CALL ) CHECK(v.callee && v.args, "no call");
  return n;
}

/* The events of a walk. */
typedef struct seen {
  const zt_pickle *pickle;
  uint64_t leaves, tensors, bytes, size;
  uint64_t put;
  zt_cbor_out out;
} seen;

/* The value must be CBOR, and not much larger than announced. */
static void check_put(seen *s, uint64_t size){
  zt_error err = ZT_ERROR_NONE;
  zt_cbor cbor;
  zt_cbor_init(&cbor, s->out.p, s->out.n, &err);
  CHECK(zt_cbor_skip(&cbor) && zt_cbor_finish(&cbor), "%s", err.message);
  CHECK(s->out.n<=2*size+64, "%zu bytes instead of %llu", s->out.n, (unsigned long long)size);
  zt_cbor_out_reset(&s->out);
}

static void meet(seen *s, zt_text path, uint64_t size){
  s->bytes += path.n;
  s->size += size;
  CHECK(size>=path.n, "%llu bytes for a path of %zu", (unsigned long long)size, path.n);
  CHECK(!s->out.err || path.n==0 || zt_utf8_valid((const uint8_t*)path.z, path.n), "a path that is not UTF-8");
}

static void leaf(void *context, zt_text path, uint64_t size, zt_pickle_node node, zt_torch_shown shown){
  seen *s = context;
  s->leaves++;
  meet(s, path, size);
  if( !s->out.err || s->put>=MOST_PUT ) return;
  zt_torch_put(s->pickle, node, shown, &s->out);
  s->put += s->out.n;
  check_put(s, size);
}

static void tensor(void *context, zt_text path, uint64_t size, const zt_torch_tensor *t){
  seen *s = context;
  s->tensors++;
  meet(s, path, size);
  CHECK(t->n<=ZT_TORCH_VIEWS && t->states<=ZT_TORCH_STATES && t->rank<=ZT_MAX_RANK, "%u views, %u states", t->n, t->states);
  for(uint32_t i=0; i<t->n; i++){
    const zt_torch_view *v = &t->views[i];
    CHECK(v->rank<=ZT_MAX_RANK && v->key.z && v->location.z, "a tensor without a storage");
    if( !s->out.err || !v->quantizer || s->put>=MOST_PUT ) continue;
    zt_torch_put_quantizer(s->pickle, v->quantizer, &s->out);
    s->put += s->out.n;
    check_put(s, size);
  }
}

static void array(void *context, zt_text path, uint64_t size, const zt_numpy_array *a){
  seen *s = context;
  uint8_t *bytes;
  s->tensors++;
  meet(s, path, size);
  CHECK(a->npy.rank<=ZT_MAX_RANK && a->npy.format.z, "rank %u", a->npy.rank);
  if( !s->out.err || !a->has_data || a->fault || s->put>=MOST_PUT ) return;
  CHECK(a->data.n<=a->data.span.n, "%zu bytes of %zu", a->data.n, a->data.span.n);
  bytes = malloc(a->data.n ? a->data.n : 1);
  zt_pickle_copy_bytes(&a->data, bytes, a->data.n);
  s->put += a->data.n;
  free(bytes);
}

static void visit(void *context, const zt_torch_found *found){
  if( found->tensor ) tensor(context, found->path, found->size, found->tensor);
  else if( found->array ) array(context, found->path, found->size, found->array);
  else leaf(context, found->path, found->size, found->node, found->shown);
}

/* The walk of PyTorch's values, or of a plain pickle's. */
static void check_values(const zt_pickle *p, size_t n, bool plain){
  zt_error first = ZT_ERROR_NONE, second = ZT_ERROR_NONE;
  seen lengths = { .pickle = p }, paths = { .pickle = p, .out = { .err = &second } };
  zt_torch_visitor visitor = { .visit = visit, .context = &lengths, .no_paths = true, .plain = plain };
  if( zt_torch_walk(p, (zt_text){ "p", 1 }, n, &visitor, NULL, &first) ){   /* A failed walk ends */
    CHECK(first.rc==SQLITE_ERROR && first.rule, "%s", first.message);
    zt_error_clear(&first);
    return;
  }
  visitor = (zt_torch_visitor){ .visit = visit, .context = &paths, .plain = plain };
  zt_torch_walk(p, (zt_text){ "p", 1 }, n, &visitor, NULL, &second);
  CHECK(second.rc==SQLITE_OK, "%s", second.message);
  CHECK(lengths.leaves==paths.leaves && lengths.tensors==paths.tensors && lengths.bytes==paths.bytes && lengths.size==paths.size,
        "another walk");
  zt_cbor_out_clear(&paths.out);
  zt_error_clear(&second);
}

/* In pieces, with other bytes between them, it is the same. */
static void check_pieces(const zt_pickle *p, zt_span pickle){
  uint8_t *bytes = malloc(2*pickle.n+1);
  zt_pickle_pieces *pieces = NULL;
  zt_error err = ZT_ERROR_NONE;
  size_t at = 0, n = 0;
  zt_pickle_pieces_open(NULL, &pieces, &err);
  while( at<pickle.n && !err.rc ){
    const size_t from = at;
    if( zt_pickle_piece(pickle, &at, NULL, &err) ) break;
    memcpy(bytes+n, pickle.p+from, at-from);
    zt_pickle_pieces_add(pieces, (zt_span){ bytes, n+(at-from) }, n, &err);
    n += at-from;
    bytes[n++] = 0xFF;
  }
  CHECK(!err.rc && zt_pickle_pieces_ended(pieces), "%s", err.message ? err.message : "it did not end");
  CHECK(zt_pickle_nodes(zt_pickle_pieces_tree(pieces))==zt_pickle_nodes(p)
        && zt_pickle_root(zt_pickle_pieces_tree(pieces))==zt_pickle_root(p), "in pieces, it is another");
  for(zt_pickle_node i=1; i<=zt_pickle_nodes(p); i++) check_node(zt_pickle_pieces_tree(pieces), i);
  zt_pickle_pieces_close(pieces);
  zt_error_clear(&err);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n){
  uint8_t *exact = malloc(n ? n : 1);
  zt_error err = ZT_ERROR_NONE;
  zt_pickle *p, *cut;
  sqlite3_int64 before = sqlite3_memory_used();
  size_t used = 0, again = 0;
  if( n ) memcpy(exact, data, n);
  sqlite3_memory_highwater(1);
  zt_pickle_open((zt_span){ exact, n }, NULL, &p, &used, &err);
  CHECK(sqlite3_memory_highwater(0)-before<=FIXED+TIMES*(sqlite3_int64)n, "%zu bytes take %lld", n, (long long)sqlite3_memory_highwater(0)-before);
  CHECK((p!=NULL)==(err.rc==SQLITE_OK) && (!err.rc || (err.rc==SQLITE_ERROR && err.rule && memcmp(err.rule, "PK", 2)==0)), "%d", err.rc);
  if( p ){
    CHECK(used>0 && used<=n && exact[used-1]=='.', "it ended at %zu", used);
    for(zt_pickle_node i=1; i<=zt_pickle_nodes(p); i++) check_node(p, i);
    check_values(p, used, false);
    check_values(p, used, true);
    check_pieces(p, (zt_span){ exact, used });
    zt_pickle_open((zt_span){ exact, used }, NULL, &cut, &again, &err);
    CHECK(cut || strstr(err.message, "FRAME: it goes beyond"), "%s", err.message);
    CHECK(!cut || again==used, "it ended at %zu", again);
    CHECK(!cut || (zt_pickle_nodes(cut)==zt_pickle_nodes(p) && zt_pickle_root(cut)==zt_pickle_root(p)), "cut, it is another");
    zt_pickle_close(cut);
  }
  zt_pickle_close(p);
  zt_error_clear(&err);
  free(exact);
  CHECK(sqlite3_memory_used()==before, "memory is lost");
  return 0;
}
