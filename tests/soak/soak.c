/*
** soak SECONDS VERSIONS LIVE EXTENSION GROWTH
**
** Many threads ask over files that another process replaces all the while. VERSIONS is what versions.py wrote, LIVE the
** directory in which the files are put, EXTENSION the shared library: some connections load it, others use the sources that
** are linked in. GROWTH: KiB by which resident memory may grow after the first tenth of the time; 0: not judged.
**
** The right answers are recorded before the threads start: for every question, file and version a hash of the rows. Then a row
** is wrong unless a version gave it that may have been in place while the statement ran; rows that come from one
** opened file must all be of one and the same version. No error is allowed but those that the way of replacing a file
** brings about. After each tenth of the time all connections are closed, and nothing may be left of them: no byte of
** SQLite's memory, no descriptor.
*/
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
# include <malloc.h>
# define KNOWS_HEAP __GLIBC_PREREQ(2, 33)
#else
# define KNOWS_HEAP 0
#endif
#include "../oom/rows.h"

int sqlite3_ztensor_init(sqlite3 *db, char **message, const void *api);
int sqlite3_ztensor_nofs_init(sqlite3 *db, char **message, const void *api);

enum { VERSIONS = 5, ROUNDS = 10, OWN = 5, SHARING = 2, WORKERS = OWN+1+SHARING, PATH_SIZE = 4096 };

/* --- What is asked about --- */

/* How the next version of a file comes. A rewritten one keeps its inode and size, and may be read half old and half new; a
** shard and its model are renamed one after the other, so that for a moment they do not fit. */
typedef enum way { RENAMED, REWRITTEN, SHARDED } way;

typedef struct place {
  const char *name, *shard;
  way how;
} place;

static const place slots[] = {
  { "v0.1.zt", NULL, RENAMED }, { "v1.0.zt", NULL, RENAMED }, { "v1.1.zt", NULL, RENAMED }, { "v1.2.zt", NULL, RENAMED },
  { "v2.zt", NULL, RENAMED }, { "rewritten.zt", NULL, REWRITTEN }, { "rewritten2.zt", NULL, REWRITTEN },
  { "sharded.zt", "sharded-part.zt", SHARDED },
};

enum { SLOTS = sizeof(slots)/sizeof(*slots), FILES = SLOTS+1, SHARD_SLOT = SLOTS-1, SHARD = SLOTS };

enum { A_FILE = 1, AN_IMAGE = 2, A_DIRECTORY = 4, ANY = 7 };

/* Column 0 is the path of the file that the row is about, or NULL if there is just one. */
typedef struct question {
  const char *sql;
  unsigned about;        /* The kinds of ?1 */
  bool each;             /* Every row may be of another version: it is of a function call, or of an inner scan, of its own */
  bool alike;            /* All versions have the same answer */
} question;

static const question questions[] = {
  { "SELECT path, size, version, objects, stored_bytes, attributes, error FROM zt_files(?1)", ANY, false, false },
  { "SELECT path, object, format, dtype, shape, elements, attributes FROM zt_objects(?1)", ANY, false, false },
  { "SELECT path, object, component, encoding, offset, length, digest FROM zt_components(?1)", ANY, false, false },
  { "SELECT path, object, component, digest_status, data FROM zt_components(?1)", ANY, false, false },
  { "SELECT path, object, stored FROM zt_components(?1, 'skip') WHERE object IN ('large', 'dense')", ANY, false, false },
  { "SELECT path, object, key, value, type, stored_type FROM zt_attributes(?1)", ANY, false, false },
  { "SELECT path, object, zeros, min, max, mean, std, l2, error FROM zt_stats(?1)", ANY, false, false },
  { "SELECT path, object, fingerprint, fingerprint_error FROM zt_objects(?1)", ANY, false, false },
  { "SELECT path, min(min), max(max), count(*) FROM zt_stats(?1, 'skip') GROUP BY path", A_FILE|A_DIRECTORY, false, false },
  { "SELECT path, position, value FROM zt_elements(?1, 'dense')", ANY, false, false },
  { "SELECT path, coords, value FROM zt_elements(?1, 'coo')", ANY, false, false },
  { "SELECT path, position, value FROM zt_elements(?1, 'csr') WHERE position BETWEEN 17 AND 200", ANY, false, false },
  { "SELECT path, row, vector FROM zt_rows(?1, 'compressed', 'f16')", ANY, false, false },
  { "SELECT path, row, vector FROM zt_rows(?1, 'packed') WHERE row > 50", ANY, false, false },
  { "SELECT path, object, component, rule, message FROM zt_check(?1, 'full')", ANY, false, true },
  { "SELECT NULL, zt_manifest(?1)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_content_id(?1)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_fingerprint(?1)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_blob(?1, 'large')", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_blob(?1, 'compressed', 'data', 5000, 2000)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_dense(?1, 'packed', 'f16', 3, 40)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_dense(?1, 'coo')", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_json(?1, 'csr')", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_value(?1, 'dense', 63, 31)", A_FILE|AN_IMAGE, false, false },
  { "SELECT NULL, zt_hash(?1, 'large', 'data', column1) FROM (VALUES ('sha256'), ('crc32c'), ('xxh3'))",
    A_FILE|AN_IMAGE, true, false },
  { "SELECT path, object, zt_json(path, object) FROM zt_objects(?1) WHERE object IN ('csr', 'packed')",
    A_FILE|A_DIRECTORY, true, false },
  { "SELECT a.path, a.object, b.component, b.digest_status, b.data FROM zt_objects(?1) AS a"
    " CROSS JOIN zt_components(a.path) AS b USING (object) WHERE object <> 'large'", A_FILE|A_DIRECTORY, true, false },
  { "SELECT NULL, a.object, b.position, b.value FROM zt_objects(?1) AS a CROSS JOIN zt_elements(?1, a.object) AS b"
    " WHERE a.object IN ('coo', 'packed')", A_FILE|AN_IMAGE, true, false },
};

enum { QUESTIONS = sizeof(questions)/sizeof(*questions) };

/* About the one large file, which stays as it is: long enough to be interrupted, or with large results. */
static const char *const long_questions[] = {
  "SELECT NULL, zt_hash(?1, 'w', 'data', 'sha256')",
  "SELECT NULL, zt_dense(?1, 'w', 'f16')",
  "SELECT NULL, zt_blob(?1, 'w', 'data', 10000000, 6000000)",
  "SELECT path, object, min, max, mean FROM zt_stats(?1)",
  "SELECT NULL, zt_fingerprint(?1)",
  "SELECT path, rule, message FROM zt_check(?1, 'full')",
  "SELECT path, count(value) FROM zt_elements(?1, 'w') WHERE position < 200000",
};

enum { LONG_QUESTIONS = sizeof(long_questions)/sizeof(*long_questions) };

/* --- What goes wrong --- */

static atomic_uint violations;

/* Something that must not be. The first few are told. */
__attribute__((format(printf, 1, 2))) static void violation(const char *format, ...){
  va_list ap;
  if( atomic_fetch_add(&violations, 1)>=10 ) return;
  flockfile(stderr);
  va_start(ap, format);
  fputs("violated: ", stderr);
  vfprintf(stderr, format, ap);
  fputc('\n', stderr);
  va_end(ap);
  funlockfile(stderr);
}

/* The soak itself cannot go on. */
_Noreturn static void die(const char *what){
  fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
  exit(2);
}

/* --- The files --- */

static const char *live, *extension;
static char paths[FILES][PATH_SIZE], huge[PATH_SIZE];

typedef struct content {
  uint8_t *p;
  size_t n;
} content;

static content contents[FILES][VERSIONS];

/* Both processes see this. Every slot counts its versions on and on; number n has the content n modulo VERSIONS. */
typedef struct board {
  atomic_ullong begun[SLOTS], done[SLOTS];   /* Number of the version whose putting in place has begun, has ended */
  atomic_ullong replaced;
  atomic_bool stop;
} board;

static board *common;

static const char *name_of(unsigned file){
  return file==SHARD ? slots[SHARD_SLOT].shard : slots[file].name;
}

static unsigned slot_of(unsigned file){
  return file==SHARD ? SHARD_SLOT : file;
}

/* A whole file, in memory that the caller frees. */
static content slurp(const char *path){
  content c = { NULL, 0 };
  off_t size;
  int fd = open(path, O_RDONLY|O_CLOEXEC);
  if( fd<0 || (size = lseek(fd, 0, SEEK_END))<0 ) die(path);
  c.p = malloc((size_t)size+1);
  while( c.n<(size_t)size ){
    ssize_t got = pread(fd, c.p+c.n, (size_t)size-c.n, (off_t)c.n);
    if( got<=0 ) die(path);
    c.n += (size_t)got;
  }
  close(fd);
  return c;
}

static void read_versions(const char *directory){
  char path[PATH_SIZE];
  for(unsigned f=0; f<FILES; f++) for(unsigned v=0; v<VERSIONS; v++){
    snprintf(path, sizeof(path), "%s/%u/%s", directory, v+1, name_of(f));
    contents[f][v] = slurp(path);
  }
  for(unsigned f=0; f<FILES; f++) snprintf(paths[f], sizeof(paths[f]), "%s/%s", live, name_of(f));
  snprintf(huge, sizeof(huge), "%s/huge.zt", directory);
}

static void write_all(const char *path, int flags, const content *c){
  size_t done = 0;
  int fd = open(path, O_WRONLY|O_CLOEXEC|flags, 0644);
  if( fd<0 ) die(path);
  while( done<c->n ){
    ssize_t n = write(fd, c->p+done, c->n-done);
    if( n<=0 ) die(path);
    done += (size_t)n;
  }
  close(fd);
}

/* The hidden name beside it is none that a directory's rows have. */
static void replace(unsigned file, unsigned version){
  char fresh[PATH_SIZE];
  snprintf(fresh, sizeof(fresh), "%s/.new", live);
  write_all(fresh, O_CREAT|O_TRUNC, &contents[file][version]);
  if( rename(fresh, paths[file]) ) die(paths[file]);
}

/* Put version number n of a slot in place. */
static void put(unsigned s, unsigned long long n){
  unsigned version = (unsigned)(n%VERSIONS);
  atomic_store(&common->begun[s], n);
  if( slots[s].how==REWRITTEN && n>=VERSIONS ) write_all(paths[s], 0, &contents[s][version]);
  else replace(s, version);
  if( slots[s].how==SHARDED ) replace(SHARD, version);
  atomic_store(&common->done[s], n);
}

static uint64_t next_random(uint64_t *state){
  *state ^= *state<<13;
  *state ^= *state>>7;
  *state ^= *state<<17;
  return *state;
}

/* The writer's process: bursts, in which several versions come within one tick of the clock, and pauses, in which files
** settle and caches fill. */
static void write_versions(pid_t parent){
  static const useconds_t pauses[] = { 0, 0, 500, 2000, 10000, 80000 };
  uint64_t random = 88172645463325252u;
  while( !atomic_load(&common->stop) && getppid()==parent ){
    unsigned s = (unsigned)(next_random(&random)%SLOTS);
    put(s, atomic_load(&common->done[s])+1);
    atomic_fetch_add(&common->replaced, 1);
    usleep(pauses[next_random(&random)%(sizeof(pauses)/sizeof(*pauses))]);
  }
  _exit(0);
}

/* --- What is right --- */

/* The answer to a question about a file in one version: a hash of all rows together, or one for each row. */
typedef struct answer {
  uint64_t *hashes;
  unsigned n;
} answer;

static answer answers[QUESTIONS][FILES][VERSIONS];
static uint64_t long_answers[LONG_QUESTIONS];

static bool names_shard(sqlite3_stmt *s){
  for(int i=1; i<sqlite3_column_count(s); i++){
    if( sqlite3_column_type(s, i)!=SQLITE_TEXT ) continue;
    if( strstr((const char*)sqlite3_column_text(s, i), slots[SHARD_SLOT].shard) ) return true;
  }
  return false;
}

/* A file's versions have different answers, so that one tells the version. */
static bool tells(unsigned q, unsigned f){
  for(unsigned a=0; a<VERSIONS; a++) for(unsigned b=0; b<a; b++){
    const answer *x = &answers[q][f][a], *y = &answers[q][f][b];
    if( x->n==0 || y->n==0 || x->hashes[0]==y->hashes[0] ) return false;
  }
  return true;
}

/* --- One statement --- */

typedef struct worker {
  pthread_t thread;
  unsigned number;
  uint64_t random;
  sqlite3 *shared;                 /* The connection that it shares; NULL: opens its own */
  bool interrupted;                /* Another thread interrupts it */
  unsigned versions_seen;          /* Bits */
  unsigned long long statements, rows, opened, wrong, interrupts, torn, unfit;
} worker;

/* A statement that runs, and where it is. */
typedef struct asking {
  worker *w;
  unsigned question;
  int about;                       /* The one file; -1: the directory */
  unsigned long long before[SLOTS];
  unsigned record;                 /* The version to record the answers of; VERSIONS: judge them */
  int file;                        /* Whose rows are coming; -1: none yet */
  uint64_t hash;
  unsigned n;                      /* Rows of the file so far, or 1 for all of them together */
  bool names_shard;
  unsigned met;                    /* Files that had rows: bits */
  char row[1000];                  /* The last row, as far as there is room: told with what is wrong, be it of another row */
} asking;

/* Did the file change since the statement began, in a way that may show? */
static bool may_show(const asking *a, unsigned file){
  unsigned s = slot_of(file);
  return slots[s].how!=RENAMED && atomic_load(&common->begun[s])!=a->before[s];
}

/* zt_files says that the file was replaced between two columns of the row, and it was: that is no row of two states. */
static bool says_replaced(const asking *a, unsigned file){
  const unsigned s = slot_of(file);
  return strstr(questions[a->question].sql, "FROM zt_files(") && strstr(a->row, "the file was replaced while it was read")
      && atomic_load(&common->begun[s])!=a->before[s];
}

/* Part i of the answer about the current file has this hash: was that right in a version that may have been there? */
static bool is_right(const asking *a, unsigned i, uint64_t hash){
  unsigned s = slot_of((unsigned)a->file);
  unsigned long long after = atomic_load(&common->begun[s]);
  for(unsigned long long n=a->before[s]; n<=after && n<a->before[s]+VERSIONS; n++){
    const answer *right = &answers[a->question][a->file][n%VERSIONS];
    if( i>=right->n || right->hashes[i]!=hash ) continue;
    if( tells(a->question, (unsigned)a->file) ) a->w->versions_seen |= 1u<<n%VERSIONS;
    return true;
  }
  return false;
}

static void record_part(const asking *a, unsigned i, uint64_t hash){
  answer *right = &answers[a->question][a->file][a->record];
  right->hashes = realloc(right->hashes, (i+1)*sizeof(*right->hashes));
  right->hashes[i] = hash;
  right->n = i+1;
}

static void judge_part(asking *a, unsigned i, uint64_t hash){
  unsigned slot = slot_of((unsigned)a->file);
  bool excused = may_show(a, (unsigned)a->file);
  if( a->record<VERSIONS ) record_part(a, i, hash);
  else if( is_right(a, i, hash) ) return;
  else if( (slots[slot].how==REWRITTEN && excused) || says_replaced(a, (unsigned)a->file) ) a->w->torn++;
  else if( slots[slot].how==SHARDED && a->names_shard && excused ) a->w->unfit++;
  else{
    a->w->wrong++;
    violation("row %u about %s is of none of the versions %llu to %llu: %s; the last row:%s", i, name_of((unsigned)a->file),
              a->before[slot], (unsigned long long)atomic_load(&common->begun[slot]), questions[a->question].sql, a->row);
  }
}

/* All rows of the current file are there. */
static void leave_file(asking *a){
  if( a->file<0 ) return;
  if( !questions[a->question].each ) judge_part(a, 0, a->hash);
  else if( a->record==VERSIONS && a->n!=answers[a->question][a->file][0].n && !may_show(a, (unsigned)a->file) ){
    violation("%u rows about %s, not %u: %s", a->n, name_of((unsigned)a->file), answers[a->question][a->file][0].n,
              questions[a->question].sql);
  }
  a->met |= 1u<<a->file;
  a->file = -1;
}

static int file_of(const asking *a, const char *path){
  if( !path ) return a->about;
  for(int f=0; f<FILES; f++) if( strcmp(path, paths[f])==0 ) return f;
  return -1;
}

static void describe_row(asking *a, sqlite3_stmt *s){
  size_t n = 0;
  for(int i=1; i<sqlite3_column_count(s) && n<sizeof(a->row); i++){
    const bool text = sqlite3_column_type(s, i)!=SQLITE_BLOB;
    const char *z = text ? (const char*)sqlite3_column_text(s, i) : "(bytes)";
    n += (size_t)snprintf(a->row+n, sizeof(a->row)-n, " | %.300s", z ? z : "NULL");
  }
}

static void take_row(asking *a, sqlite3_stmt *s){
  int file = file_of(a, (const char*)sqlite3_column_text(s, 0));
  a->w->rows++;
  if( file<0 || (a->met>>file & 1) ){
    violation("rows about %s: %s", (const char*)sqlite3_column_text(s, 0), questions[a->question].sql);
    return;
  }
  if( file!=a->file ){
    leave_file(a);
    a->file = file;
    a->n = 0;
    a->hash = 0;
    a->names_shard = false;
  }
  a->hash = hash_row(questions[a->question].each ? 0 : a->hash, s, 1);
  a->names_shard = a->names_shard || names_shard(s);
  describe_row(a, s);
  if( questions[a->question].each ) judge_part(a, a->n, a->hash);
  a->n++;
}

/* The statement came to its end: every file that has an answer had its rows. */
static void end_rows(asking *a){
  leave_file(a);
  for(unsigned f=0; f<FILES; f++){
    if( (a->met>>f & 1) || (a->about>=0 && (unsigned)a->about!=f) || a->record<VERSIONS ) continue;
    if( answers[a->question][f][0].n==0 || may_show(a, f) ) continue;
    violation("no rows about %s: %s", name_of(f), questions[a->question].sql);
  }
}

/* A failure names the file that changed, in a way that may show. */
static void judge_error(asking *a, int rc, const char *message){
  if( rc==SQLITE_INTERRUPT && a->w->interrupted ){
    a->w->interrupts++;
    return;
  }
  for(unsigned f=0; f<FILES && rc==SQLITE_ERROR; f++){
    if( !strstr(message, paths[f]) || !may_show(a, f) ) continue;
    if( slots[slot_of(f)].how==SHARDED ) a->w->unfit++;
    else a->w->torn++;
    return;
  }
  violation("error %d: %s: %s", rc, message, questions[a->question].sql);
}

/* Step, and copy the message of a failure before another thread's statement can put its own in its place. */
static int step(sqlite3_stmt *s, char *message, int size){
  sqlite3 *db = sqlite3_db_handle(s);
  int rc;
  sqlite3_mutex_enter(sqlite3_db_mutex(db));
  rc = sqlite3_step(s);
  if( rc!=SQLITE_ROW && rc!=SQLITE_DONE ) sqlite3_snprintf(size, message, "%s", sqlite3_errmsg(db));
  sqlite3_mutex_leave(sqlite3_db_mutex(db));
  return rc;
}

/* Run a statement to its end, or leave it after `most` rows. */
static void run(asking *a, sqlite3_stmt *s, unsigned most){
  char message[PATH_SIZE];
  int rc;
  a->file = -1;
  a->met = 0;
  a->w->statements++;
  while( (rc = step(s, message, sizeof(message)))==SQLITE_ROW ){
    take_row(a, s);
    if( most--==0 ) return;
  }
  if( rc==SQLITE_DONE ) end_rows(a);
  else judge_error(a, rc, message);
}

static void look_at_versions(asking *a){
  for(unsigned s=0; s<SLOTS; s++) a->before[s] = atomic_load(&common->done[s]);
}

/* SQLite calls it a failure of the table if an interrupt comes while it parses what the table declares. */
static bool interrupted_while_preparing(int rc, const char *message){
  return rc==SQLITE_INTERRUPT || (rc==SQLITE_ERROR && strncmp(message, "vtable constructor failed", 25)==0);
}

static sqlite3_stmt *prepare(worker *w, sqlite3 *db, const char *sql){
  char message[PATH_SIZE] = "";
  sqlite3_stmt *s = NULL;
  int rc;
  sqlite3_mutex_enter(sqlite3_db_mutex(db));
  rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
  if( rc ) sqlite3_snprintf(sizeof(message), message, "%s", sqlite3_errmsg(db));
  sqlite3_mutex_leave(sqlite3_db_mutex(db));
  if( rc && w->interrupted && interrupted_while_preparing(rc, message) ) w->interrupts++;
  else if( rc ) violation("preparing failed with %d, %s: %s", rc, message, sql);
  return s;
}

/* Ask one question about a file (by its path or its image) or, if file is -1, the directory. */
static void ask(worker *w, sqlite3 *db, unsigned q, int file, bool image, unsigned record){
  asking a = { .w = w, .question = q, .about = file, .record = record };
  bool judged = record==VERSIONS;
  content c = { NULL, 0 };
  sqlite3_stmt *s = prepare(w, db, questions[q].sql);
  if( !s ) return;
  look_at_versions(&a);
  if( image ) c = slurp(paths[file]);
  if( image ) sqlite3_bind_blob64(s, 1, c.p, c.n, SQLITE_STATIC);
  else sqlite3_bind_text(s, 1, file<0 ? live : paths[file], -1, SQLITE_STATIC);
  for(unsigned again=judged ? (unsigned)(next_random(&w->random)%3) : 0; ; again--){
    run(&a, s, judged && next_random(&w->random)%16==0 ? 1 : UINT32_MAX);
    if( again==0 ) break;
    sqlite3_reset(s);
    if( !image ) look_at_versions(&a);
  }
  sqlite3_finalize(s);
  free(c.p);
}

/* Ask a long question. */
static void ask_long(worker *w, sqlite3 *db, unsigned q, bool record){
  sqlite3_stmt *s = prepare(w, db, long_questions[q]);
  char message[PATH_SIZE];
  uint64_t hash = 0;
  int rc;
  if( !s ) return;
  sqlite3_bind_text(s, 1, huge, -1, SQLITE_STATIC);
  w->statements++;
  while( (rc = step(s, message, sizeof(message)))==SQLITE_ROW ) hash = hash_row(hash, s, 1);
  if( rc==SQLITE_INTERRUPT && w->interrupted ) w->interrupts++;
  else if( rc!=SQLITE_DONE ) violation("error %d: %s: %s", rc, message, long_questions[q]);
  else if( record ) long_answers[q] = hash;
  else if( hash!=long_answers[q] ) violation("another answer than before: %s", long_questions[q]);
  sqlite3_finalize(s);
}

/* --- Connections --- */

static int load(sqlite3 *db, bool nofs, bool linked, char **message){
  if( linked ) return nofs ? sqlite3_ztensor_nofs_init(db, message, NULL) : sqlite3_ztensor_init(db, message, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int*)NULL);
  return sqlite3_load_extension(db, extension, nofs ? "sqlite3_ztensor_nofs_init" : "sqlite3_ztensor_init", message);
}

static sqlite3 *connect_new(bool nofs, bool linked){
  sqlite3 *db = NULL;
  char *message = NULL;
  if( sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE|SQLITE_OPEN_FULLMUTEX, NULL) ) die("sqlite3_open_v2");
  if( load(db, nofs, linked, &message) ) violation("loading failed: %s", message ? message : sqlite3_errmsg(db));
  sqlite3_free(message);
  return db;
}

static void disconnect(sqlite3 *db){
  if( sqlite3_close(db) ) violation("closing failed: %s", sqlite3_errmsg(db));
}

/* --- Threads --- */

static atomic_bool round_over;

/* The connection that is interrupted, while it is open. */
static pthread_mutex_t victim_mutex = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *victim;

static void set_victim(sqlite3 *db){
  pthread_mutex_lock(&victim_mutex);
  victim = db;
  pthread_mutex_unlock(&victim_mutex);
}

static void *interrupt_all_the_while(void *context){
  uint64_t random = 362436069;
  (void)context;
  while( !atomic_load(&round_over) ){
    usleep((useconds_t)(next_random(&random)%60000));
    pthread_mutex_lock(&victim_mutex);
    if( victim ) sqlite3_interrupt(victim);
    pthread_mutex_unlock(&victim_mutex);
  }
  return NULL;
}

/* Any question about anything that a connection may be asked. An image is of a file that is whole whenever it is read. */
static void ask_something(worker *w, sqlite3 *db, bool nofs){
  static const unsigned kinds[] = { A_FILE, A_FILE, AN_IMAGE, A_DIRECTORY };
  unsigned kind, q, slot;
  if( !nofs && next_random(&w->random)%(w->interrupted ? 2 : 64)==0 ){
    ask_long(w, db, (unsigned)(next_random(&w->random)%LONG_QUESTIONS), false);
    return;
  }
  do{
    kind = nofs ? AN_IMAGE : kinds[next_random(&w->random)%4];
    q = (unsigned)(next_random(&w->random)%QUESTIONS);
    slot = (unsigned)(next_random(&w->random)%SLOTS);
  }while( !(questions[q].about & kind) || (kind==AN_IMAGE && slots[slot].how!=RENAMED) );
  ask(w, db, q, kind==A_DIRECTORY ? -1 : (int)slot, kind==AN_IMAGE, VERSIONS);
}

/* One connection's life. */
static void use_connection(worker *w){
  bool nofs = !w->interrupted && next_random(&w->random)%4==0;
  sqlite3 *db = connect_new(nofs, next_random(&w->random)%2);
  w->opened++;
  if( w->interrupted ) set_victim(db);
  for(uint64_t n=next_random(&w->random)%60; n>0 && !atomic_load(&round_over); n--) ask_something(w, db, nofs);
  if( w->interrupted ) set_victim(NULL);
  disconnect(db);
}

static void *work(void *context){
  worker *w = context;
  while( !atomic_load(&round_over) ){
    if( w->shared ) ask_something(w, w->shared, false);
    else use_connection(w);
  }
  return NULL;
}

static void start(pthread_t *thread, void *(*routine)(void*), void *context){
  if( (errno = pthread_create(thread, NULL, routine, context))!=0 ) die("pthread_create");
}

static void nap(double seconds){
  struct timespec t = { (time_t)seconds, (long)((seconds-(double)(time_t)seconds)*1e9) };
  while( nanosleep(&t, &t) && errno==EINTR ) continue;
}

/* All threads, for a while. When it returns, all their connections are closed. */
static void do_round(worker *workers, double seconds, bool linked){
  sqlite3 *shared = connect_new(false, linked);
  pthread_t interrupter;
  atomic_store(&round_over, false);
  for(unsigned i=0; i<WORKERS; i++){
    workers[i].shared = i<OWN+1 ? NULL : shared;
    start(&workers[i].thread, work, &workers[i]);
  }
  start(&interrupter, interrupt_all_the_while, NULL);
  nap(seconds);
  atomic_store(&round_over, true);
  for(unsigned i=0; i<WORKERS; i++) pthread_join(workers[i].thread, NULL);
  pthread_join(interrupter, NULL);
  disconnect(shared);
}

/* --- What is left --- */

#define HEAP_NOISE 65536   /* Bytes that threads, locales and the like may have come to hold */

typedef struct holdings {
  sqlite3_int64 sqlite;   /* Bytes */
  size_t heap;            /* Bytes in use of whatever malloc() gave, SQLite's or a library's; 0: not known */
  unsigned descriptors;
  long resident;          /* KiB */
} holdings;

/* Free memory goes back to the system at once, so that resident memory shows the memory in use: else each arena keeps the
** memory that its threads once needed. */
static void keep_nothing_free(void){
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1<<17);
  mallopt(M_TRIM_THRESHOLD, 1<<17);
#endif
}

static holdings look_at_holdings(void){
  holdings h = { .sqlite = sqlite3_memory_used() };
  DIR *d;
  FILE *f;
  long pages;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
#if KNOWS_HEAP
  struct mallinfo2 m = mallinfo2();
  h.heap = m.uordblks+m.hblkhd;
#endif
  d = opendir("/proc/self/fd");
  f = fopen("/proc/self/statm", "r");
  if( !d || !f || fscanf(f, "%*d %ld", &pages)!=1 ) die("/proc/self");
  fclose(f);
  while( readdir(d) ) h.descriptors++;
  closedir(d);
  h.resident = pages*(sysconf(_SC_PAGESIZE)/1024);
  return h;
}

static void judge_holdings(const holdings *before, const holdings *now){
  if( now->sqlite!=before->sqlite ){
    violation("%lld bytes of SQLite's memory, not %lld", (long long)now->sqlite, (long long)before->sqlite);
  }
  if( now->heap>before->heap+HEAP_NOISE ) violation("%zu bytes in use of the heap, not %zu", now->heap, before->heap);
  if( now->descriptors!=before->descriptors ) violation("%u descriptors, not %u", now->descriptors, before->descriptors);
}

/* --- The whole --- */

/* Every answer, one version after the other, by one thread that nobody disturbs. */
static void record_answers(void){
  worker w = { .random = 1 };
  for(unsigned v=0; v<VERSIONS; v++){
    sqlite3 *db = connect_new(false, v%2);
    for(unsigned s=0; s<SLOTS; s++) put(s, v);
    for(unsigned q=0; q<QUESTIONS; q++){
      if( questions[q].about & A_DIRECTORY ) ask(&w, db, q, -1, false, v);
      else for(int f=0; f<SLOTS; f++) ask(&w, db, q, f, false, v);
    }
    for(unsigned q=0; q<LONG_QUESTIONS && v==0; q++) ask_long(&w, db, q, true);
    disconnect(db);
  }
}

/* A soak that cannot tell one version from another would find nothing. */
static void check_answers(void){
  for(unsigned q=0; q<QUESTIONS; q++){
    bool any = questions[q].alike;
    for(unsigned f=0; f<SLOTS && !any; f++) any = tells(q, f);
    if( !any ) violation("the versions of no file have different answers: %s", questions[q].sql);
    for(unsigned f=0; f<FILES; f++) for(unsigned v=1; v<VERSIONS; v++){
      if( answers[q][f][v].n==answers[q][f][0].n ) continue;
      violation("%s has not as many rows in every version: %s", name_of(f), questions[q].sql);
    }
  }
}

static worker sum_of(const worker *workers){
  worker sum = { 0 };
  for(const worker *w=workers; w<workers+WORKERS; w++){
    if( w->statements==0 || (w->versions_seen & (w->versions_seen-1))==0 ){
      violation("thread %u came no further than %llu statements, versions %#x", w->number, w->statements, w->versions_seen);
    }
    sum.statements += w->statements;
    sum.rows += w->rows;
    sum.opened += w->opened;
    sum.wrong += w->wrong;
    sum.interrupts += w->interrupts;
    sum.torn += w->torn;
    sum.unfit += w->unfit;
  }
  return sum;
}

static pid_t start_writer(void){
  pid_t parent = getpid(), child = fork();
  if( child<0 ) die("fork");
  if( child==0 ) write_versions(parent);
  return child;
}

static void stop_writer(pid_t child){
  int status;
  atomic_store(&common->stop, true);
  if( waitpid(child, &status, 0)!=child || status!=0 ) violation("the writer failed");
}

/* All rounds. *warm is what was held after the first, *last at the end. */
static void do_rounds(worker *workers, double seconds, const holdings *first, holdings *warm, holdings *last){
  for(unsigned i=0; i<WORKERS; i++){
    workers[i] = (worker){ .number = i, .random = 2463534242u + 7919*i, .interrupted = i==OWN };
  }
  for(unsigned round=0; round<ROUNDS; round++){
    do_round(workers, seconds/ROUNDS, round%2);
    *last = look_at_holdings();
    if( round==0 ) *warm = *last;
    judge_holdings(first, last);
  }
}

static void tell(const worker *sum, double seconds, const holdings *first, const holdings *warm, const holdings *last){
  printf("soak: %d threads, %.0f s: %llu statements on %llu connections, %llu rows, %llu replacements; %llu wrong rows; "
         "errors: %llu interrupted, %llu of files being rewritten, %llu of shards that did not fit; "
         "resident KiB: %ld before, %ld after a tenth, %ld at the end; %u violations\n",
         WORKERS+1, seconds, sum->statements, sum->opened, sum->rows, (unsigned long long)atomic_load(&common->replaced),
         sum->wrong, sum->interrupts, sum->torn, sum->unfit, first->resident, warm->resident, last->resident,
         atomic_load(&violations));
}

int main(int argc, char **argv){
  static worker workers[WORKERS];
  holdings first, warm = { 0 }, last = { 0 };
  worker sum;
  double seconds;
  long growth;
  pid_t writer;
  if( argc!=6 ) return 2;
  keep_nothing_free();
  seconds = atof(argv[1]);
  live = argv[3];
  extension = argv[4];
  growth = atol(argv[5]);
  common = mmap(NULL, sizeof(*common), PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0);
  if( common==MAP_FAILED ) die("mmap");
  read_versions(argv[2]);
  record_answers();
  check_answers();
  first = look_at_holdings();
  writer = start_writer();
  do_rounds(workers, seconds, &first, &warm, &last);
  stop_writer(writer);
  sum = sum_of(workers);
  if( atomic_load(&common->replaced)==0 || sum.interrupts==0 ) violation("nothing was replaced, or nothing interrupted");
  if( growth && last.resident>warm.resident+growth ) violation("resident memory grew by more than %ld KiB", growth);
  tell(&sum, seconds, &first, &warm, &last);
  return atomic_load(&violations)!=0;
}
