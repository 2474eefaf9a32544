/* Fingerprints of tensors and files. See fingerprint.h. */
#include "tensor/fingerprint.h"

#include "core/host.h"
#include "core/prefetch.h"
#include "core/sort.h"
#include "tensor/assemble.h"

static void fingerprint_put_u64(zt_digest *d, uint64_t u){
  uint8_t bytes[8];
  for(unsigned i=0; i<8; i++) bytes[i] = (uint8_t)(u >> 8*i);
  zt_digest_update(d, (zt_span){ bytes, sizeof(bytes) });
}

static void fingerprint_put_text(zt_digest *d, zt_text text){
  fingerprint_put_u64(d, text.n);
  zt_digest_update(d, (zt_span){ (const uint8_t*)text.z, text.n });
}

static void fingerprint_put_named(zt_digest *d, zt_text name, const uint8_t *bytes){
  fingerprint_put_text(d, name);
  zt_digest_update(d, (zt_span){ bytes, ZT_DIGEST_XXH3_128_BYTES });
}

static void fingerprint_finish(zt_digest *d, zt_fingerprint *out){
  zt_digest_xxh3_128(d, out->bytes);
  zt_digest_text(d, out->text);
}

static void fingerprint_take(void *digest, zt_span bytes){
  zt_digest_update(digest, bytes);
}

static int fingerprint_tensor(zt_tensor *t, zt_fingerprint *out, zt_error *err){
  const zt_object *object = t->object;
  zt_digest *d = zt_digest_begin(ZT_DIGEST_XXH3_128, err);
  if( !d ) return err->rc;
  fingerprint_put_text(d, (zt_text){ t->dtype->name, strlen(t->dtype->name) });
  fingerprint_put_u64(d, object->rank);
  for(uint32_t i=0; i<object->rank; i++) fingerprint_put_u64(d, object->shape[i]);
  if( zt_assemble_pieces(t, t->dtype, fingerprint_take, d, err)==SQLITE_OK ){
    fingerprint_finish(d, out);
  }
  zt_digest_close(d);
  return err->rc;
}

int zt_fingerprint_object(zt_source *source, const zt_container *c, uint32_t i, zt_budget *budget,
                          zt_fingerprint *out, zt_error *err){
  zt_object object;
  zt_tensor t;
  zt_container_object(c, i, &object);
  if( zt_tensor_open(source, c, &object, budget, &t, err)==SQLITE_OK ){
    fingerprint_tensor(&t, out, err);
  }
  zt_tensor_close(&t);
  return err->rc;
}

typedef struct fingerprint_run {
  zt_source *source;           /* Borrowed, as are the next two */
  const zt_container *container;
  zt_budget *budget;
  const uint32_t *order;       /* Objects in the order of the run; NULL: the file's */
  uint32_t known;              /* So many objects of the file have their fingerprint */
  zt_error place;              /* The place of errors */
} fingerprint_run;

typedef struct fingerprint_job {
  zt_job job;                  /* First */
  const fingerprint_run *of;
  zt_budget budget;
  zt_fingerprint fingerprint;
  zt_error err;
} fingerprint_job;

static uint32_t fingerprint_at(const fingerprint_run *run, uint64_t number){
  return run->order ? run->order[number] : (uint32_t)number;
}

static void fingerprint_work(zt_job *job, const zt_interrupt *interrupt){
  fingerprint_job *j = (fingerprint_job*)job;
  j->budget.interrupt = *interrupt;
  zt_fingerprint_object(j->of->source, j->of->container, fingerprint_at(j->of, job->number),
                        &j->budget, &j->fingerprint, &j->err);
  job->unavailable = j->err.kind!=NULL;
}

static bool fingerprint_next(void *context, uint64_t *number){
  const fingerprint_run *run = context;
  const uint32_t n = zt_container_objects(run->container);
  while( ++*number<n && fingerprint_at(run, *number)<run->known ){}
  return *number<n;
}

static zt_job *fingerprint_make(void *context, uint64_t number){
  const fingerprint_run *run = context;
  fingerprint_job *j = sqlite3_malloc64(sizeof(*j));
  if( !j ) return NULL;
  *j = (fingerprint_job){
    .job.work = fingerprint_work, .of = run, .budget = *run->budget, .err = run->place
  };
  j->budget.pool = NULL;
  j->budget.spare = NULL;
  j->err.object = zt_container_name(run->container, fingerprint_at(run, number));
  return &j->job;
}

static void fingerprint_drop(zt_job *job){
  zt_error_clear(&((fingerprint_job*)job)->err);
  sqlite3_free(job);
}

static const zt_jobs fingerprint_jobs = { fingerprint_next, fingerprint_make, fingerprint_drop };

typedef uint8_t fingerprint_bytes[ZT_DIGEST_XXH3_128_BYTES];

/* Take the fingerprint of object i of the run. */
static int fingerprint_take_object(fingerprint_run *run, zt_prefetch *prefetch, uint32_t i,
                                   fingerprint_bytes *out, zt_error *err){
  const uint32_t remaining = zt_container_objects(run->container)-1-i;
  fingerprint_job *j = (fingerprint_job*)zt_prefetch_take(prefetch, run, i, remaining,
                                                          &run->budget->interrupt, err);
  if( !j ) return err->rc;
  run->budget->decoded = j->budget.decoded;
  if( j->err.rc ){
    *err = j->err;
    j->err = ZT_ERROR_NONE;
  }else{
    memcpy(out[fingerprint_at(run, i)], j->fingerprint.bytes, sizeof(*out));
  }
  fingerprint_drop(&j->job);
  return err->rc;
}

/* Take those of all objects, in this order; NULL: the file's. */
static int fingerprint_take_all(fingerprint_run *run, const uint32_t *order,
                                fingerprint_bytes *out, zt_error *err){
  zt_prefetch prefetch = { .jobs = &fingerprint_jobs };
  run->order = order;
  /* With a bound, each job needs the number of bytes that earlier jobs decoded */
  if( run->budget->decode==UINT64_MAX ) prefetch.tasks.pool = run->budget->pool;
  for(uint32_t i=0; i<zt_container_objects(run->container); i++){
    if( fingerprint_at(run, i)<run->known ) continue;
    if( fingerprint_take_object(run, &prefetch, i, out, err) ) break;
    if( !order ) run->known = i+1;
  }
  zt_prefetch_clear(&prefetch);
  return err->rc;
}

/* Read tensors in the order of the file, in which their bytes lie. After a failure, the first that
** fails by name is the one that is reported. With a bound, names alone decide which one exceeds
** it. */
static int fingerprint_take_sorted(fingerprint_run *run, const uint32_t *by_name,
                                   fingerprint_bytes *out, zt_error *err){
  zt_error failed = run->place;
  if( run->budget->decode!=UINT64_MAX ) return fingerprint_take_all(run, by_name, out, err);
  if( fingerprint_take_all(run, NULL, out, &failed)==SQLITE_OK ) return SQLITE_OK;
  /* The system's, also of another file (X rules), or no tensor's alone */
  if( failed.rc!=SQLITE_TOOBIG && (!failed.rule || failed.rule[0]=='X') ){
    *err = failed;
    return err->rc;
  }
  zt_error_clear(&failed);
  return fingerprint_take_all(run, by_name, out, err);
}

int zt_fingerprint_file(zt_source *source, const zt_container *c, zt_budget *budget,
                        zt_fingerprint *out, zt_error *err){
  fingerprint_run run = { .source = source, .container = c, .budget = budget, .place = *err };
  const uint32_t n = zt_container_objects(c);
  uint32_t *by_name = zt_container_by_name(c, &budget->interrupt, err);
  fingerprint_bytes *each = by_name ? sqlite3_malloc64((uint64_t)n*sizeof(*each)+1) : NULL;
  zt_digest *d = each ? zt_digest_begin(ZT_DIGEST_XXH3_128, err) : NULL;
  if( by_name && !each ) zt_fail_nomem(err);
  if( d && fingerprint_take_sorted(&run, by_name, each, err)==SQLITE_OK ){
    for(uint32_t i=0; i<n; i++){
      fingerprint_put_named(d, zt_container_name(c, by_name[i]), each[by_name[i]]);
    }
    fingerprint_finish(d, out);
  }
  zt_digest_close(d);
  sqlite3_free(each);
  sqlite3_free(by_name);
  return err->rc;
}

static int fingerprint_digit(char ch){
  if( ch>='0' && ch<='9' ) return ch-'0';
  return ch>='a' && ch<='f' ? ch-'a'+10 : -1;
}

bool zt_fingerprint_parse(zt_text text, uint8_t out[ZT_DIGEST_XXH3_128_BYTES]){
  static const char prefix[] = "xxh3-128:";
  const size_t skip = sizeof(prefix)-1;
  if( text.n!=skip+2*(size_t)ZT_DIGEST_XXH3_128_BYTES ) return false;
  if( memcmp(text.z, prefix, skip)!=0 ) return false;
  for(size_t i=0; i<ZT_DIGEST_XXH3_128_BYTES; i++){
    int high = fingerprint_digit(text.z[skip+2*i]), low = fingerprint_digit(text.z[skip+2*i+1]);
    if( high<0 || low<0 ) return false;
    out[i] = (uint8_t)(high<<4 | low);
  }
  return true;
}

static int fingerprint_compare_named(const void *context, const void *x, const void *y){
  (void)context;
  return zt_text_compare(((const zt_fingerprint_named*)x)->name,
                         ((const zt_fingerprint_named*)y)->name);
}

int zt_fingerprint_join(zt_fingerprint_named *a, size_t n, const zt_interrupt *interrupt,
                        zt_fingerprint *out, zt_error *err){
  const zt_sort_by by = {
    .size = sizeof(*a), .compare = fingerprint_compare_named, .interrupt = interrupt
  };
  zt_digest *d;
  if( zt_sort(a, n, &by, err) || !(d = zt_digest_begin(ZT_DIGEST_XXH3_128, err)) ) return err->rc;
  for(size_t i=0; i<n; i++){
    if( i>0 && zt_text_equal(a[i-1].name, a[i].name) ){
      zt_fail(err, SQLITE_ERROR, "zt_fingerprint: two tensors have the name '%.*s'",
              (int)a[i].name.n, a[i].name.z);
      break;
    }
    fingerprint_put_named(d, a[i].name, a[i].bytes);
  }
  if( !err->rc ) fingerprint_finish(d, out);
  zt_digest_close(d);
  return err->rc;
}
