/*
** host [--db FILE] [--ext FILE]... [--touch MB] SCENARIO ...
**
** A small SQLite host: opens a connection (to :memory: unless told), loads the extensions, then times one scenario.
** The clock runs from before the statement is prepared, which is before any file it reads is opened, until it is
** finalized. --touch has so much memory allocated, written and freed again before that: see harness.py. In SQL, ?1,
** ?2 ... are the TEXT arguments. SQL may be several statements, which run in turn, in the scenarios exec, once, again,
** peak and fill. Scenarios:
**
**   exec SQL [TEXT...]          run it; no clock
**   once SQL [TEXT...]          run it and print its last row
**   again SQL [TEXT...]         the same, run twice in this connection; the clock runs for the second
**   peak [SQL [TEXT...]]        peak resident bytes in place of seconds; without SQL, of loading alone
**   lookup NAMES SQL [TEXT...]  prepare once, then reset, bind and step for every line of the file NAMES, which is
**                               bound after the TEXTs. One row of one integer is expected for each; prints how many
**                               names, and the sum. The first look-up, which opens the file, is not timed
**   rows [--check] SQL [TEXT..] step over all rows; prints their number and the sum of the first column's sizes in
**                               bytes; with --check also a checksum of these bytes
**   calls [--check] LIST SQL [TEXT...]  the same, but SQL is prepared once and run for every row of LIST, whose first
**                               column is bound after the TEXTs; so each result is freed before the next is made,
**                               while SQLite keeps a row's values until the next row's are there
**   fill SCHEMA SQL CHECK [TEXT...]  run SQL, which inserts something; SCHEMA is run before and CHECK after it, both
**                               without a clock. Prints the only row of CHECK
**   fails SQL [TEXT...]         step a statement that fails; prints the result code
**   interrupt MS THREADS SQL [TEXT...]  the same with so many threads (zt_threads; 0: as it is), but another one calls
**                               sqlite3_interrupt() MS milliseconds after the first step began, and the clock runs from
**                               there until the statement is finalized
*/
#define _DEFAULT_SOURCE
#include "bench.h"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_EXTENSION = 2 };

typedef struct host_setup {
  const char *zDb;                   /* NULL: in memory */
  const char *azExt[MAX_EXTENSION];  /* to load; NULL where there are fewer */
} host_setup;

static sqlite3 *connection_open(const host_setup *pSetup){
  sqlite3 *db = NULL;
  char *zErr = NULL;
  const char *zDb = pSetup->zDb ? pSetup->zDb : ":memory:";
  if( sqlite3_open(zDb, &db)!=SQLITE_OK ) die("%s: %s", zDb, sqlite3_errmsg(db));
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int*)NULL);
  for(int i=0; i<MAX_EXTENSION && pSetup->azExt[i]!=NULL; i++){
    if( sqlite3_load_extension(db, pSetup->azExt[i], NULL, &zErr)!=SQLITE_OK ) die("%s: %s", pSetup->azExt[i], zErr);
  }
  return db;
}

/*
** Prepares the first statement of zSql and binds to it as many of the TEXTs as it has parameters.
** *pzTail is what follows it.
*/
static sqlite3_stmt *prepare_next(sqlite3 *db, const char *zSql, char **azText, int nText,
                                  const char **pzTail){
  sqlite3_stmt *pStmt = NULL;
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, pzTail)!=SQLITE_OK ) die("%s", sqlite3_errmsg(db));
  int n = sqlite3_bind_parameter_count(pStmt);
  for(int i=0; i<nText && i<n; i++){
    int rc = sqlite3_bind_text(pStmt, i + 1, azText[i], -1, SQLITE_STATIC);
    if( rc!=SQLITE_OK ) die("%s", sqlite3_errmsg(db));
  }
  return pStmt;
}

static sqlite3_stmt *prepare_bound(sqlite3 *db, char **azArg, int nArg){
  if( nArg<1 ) die("SQL is missing");
  return prepare_next(db, azArg[0], azArg + 1, nArg - 1, NULL);
}

/* Steps a statement that must end well. Returns whether there is a row. */
static int step(sqlite3 *db, sqlite3_stmt *pStmt){
  int rc = sqlite3_step(pStmt);
  if( rc!=SQLITE_ROW && rc!=SQLITE_DONE ) die("%s", sqlite3_errmsg(db));
  return rc==SQLITE_ROW;
}

/* zRow gets the row that the statement is on, each column after a TAB. */
static void show_row(sqlite3_stmt *pStmt, char *zRow, size_t nRow){
  size_t n = 0;
  for(int i=0; i<sqlite3_column_count(pStmt); i++){
    const char *z = (const char*)sqlite3_column_text(pStmt, i);
    int k = snprintf(zRow + n, nRow - n, "\t%s", z ? z : "NULL");
    if( k<0 || (size_t)k>=nRow - n ) die("the row is too long");
    n += (size_t)k;
  }
}

/* Runs statements to their end; zRow gets the last row. */
static void run(sqlite3 *db, char **azArg, int nArg, char *zRow, size_t nRow){
  if( nArg<1 ) die("SQL is missing");
  zRow[0] = '\0';
  for(const char *zSql=azArg[0]; *zSql!='\0'; ){
    sqlite3_stmt *pStmt = prepare_next(db, zSql, azArg + 1, nArg - 1, &zSql);
    if( pStmt==NULL ) break;  /* only spaces were left */
    while( step(db, pStmt) ) show_row(pStmt, zRow, nRow);
    sqlite3_finalize(pStmt);
  }
}

static void scenario_once(sqlite3 *db, char **azArg, int nArg){
  char zRow[1000];
  stopwatch start = stopwatch_start();
  run(db, azArg, nArg, zRow, sizeof(zRow));
  stopwatch_print(stopwatch_stop(start));
  printf("%s\n", zRow);
}

static void scenario_exec(sqlite3 *db, char **azArg, int nArg){
  char zRow[1000];
  run(db, azArg, nArg, zRow, sizeof(zRow));
}

static void scenario_again(sqlite3 *db, char **azArg, int nArg){
  scenario_exec(db, azArg, nArg);
  scenario_once(db, azArg, nArg);
}

/* The whole file NAMES; its lines become strings, *pn of them. */
static char **read_lines(const char *zFile, size_t *pn){
  FILE *f = fopen(zFile, "rb");
  if( f==NULL || fseek(f, 0, SEEK_END)!=0 ) die("cannot read %s", zFile);
  long size = ftell(f);
  if( size<0 || fseek(f, 0, SEEK_SET)!=0 ) die("cannot read %s", zFile);
  char *a = must_alloc((size_t)size + 1);
  if( fread(a, 1, (size_t)size, f)!=(size_t)size ) die("cannot read %s", zFile);
  fclose(f);
  a[size] = '\0';
  size_t n = 0;
  for(long i=0; i<size; i++) n += a[i]=='\n';
  char **az = must_alloc((n + 1)*sizeof(*az));
  *pn = 0;
  for(char *z = strtok(a, "\n"); z!=NULL && *pn<n; z = strtok(NULL, "\n")) az[(*pn)++] = z;
  return az;
}

static sqlite3_int64 look_up(sqlite3 *db, sqlite3_stmt *pStmt, int iParam, const char *zName){
  sqlite3_bind_text(pStmt, iParam, zName, -1, SQLITE_STATIC);
  if( !step(db, pStmt) ) die("no row for %s", zName);
  sqlite3_int64 v = sqlite3_column_int64(pStmt, 0);
  if( step(db, pStmt) ) die("more than one row for %s", zName);
  sqlite3_reset(pStmt);
  return v;
}

static void scenario_lookup(sqlite3 *db, char **azArg, int nArg){
  size_t n;
  sqlite3_int64 sum = 0;
  if( nArg<2 ) die("lookup: NAMES and SQL are needed");
  char **azName = read_lines(azArg[0], &n);
  if( n==0 ) die("%s is empty", azArg[0]);
  sqlite3_stmt *pStmt = prepare_bound(db, azArg + 1, nArg - 1);
  int iParam = nArg - 1;
  look_up(db, pStmt, iParam, azName[0]);

  stopwatch start = stopwatch_start();
  for(size_t i=0; i<n; i++) sum += look_up(db, pStmt, iParam, azName[i]);
  stopwatch_print(stopwatch_stop(start));

  printf("\t%zu\t%lld\n", n, (long long)sum);
  sqlite3_finalize(pStmt);
  free(azName[0]);
  free(azName);
}

typedef struct bytes_seen {
  int doCheck;
  uint64_t nRow, nByte, sum;
} bytes_seen;

/* Counts the first column of every row. */
static void see_rows(sqlite3 *db, sqlite3_stmt *pStmt, bytes_seen *p){
  while( step(db, pStmt) ){
    const void *pData = sqlite3_column_blob(pStmt, 0);
    size_t n = (size_t)sqlite3_column_bytes(pStmt, 0);
    p->nRow++;
    p->nByte += n;
    if( p->doCheck ) p->sum = checksum(p->sum, pData, n);
  }
}

static void print_seen(stopwatch passed, const bytes_seen *p){
  stopwatch_print(passed);
  printf("\t%llu\t%llu", (unsigned long long)p->nRow, (unsigned long long)p->nByte);
  if( p->doCheck ) printf("\t%016llx", (unsigned long long)p->sum);
  printf("\n");
}

static void scenario_rows(sqlite3 *db, char **azArg, int nArg){
  bytes_seen seen = {nArg>0 && strcmp(azArg[0], "--check")==0, 0, 0, 0};
  azArg += seen.doCheck;
  nArg -= seen.doCheck;

  stopwatch start = stopwatch_start();
  sqlite3_stmt *pStmt = prepare_bound(db, azArg, nArg);
  see_rows(db, pStmt, &seen);
  sqlite3_finalize(pStmt);
  print_seen(stopwatch_stop(start), &seen);
}

static void scenario_calls(sqlite3 *db, char **azArg, int nArg){
  bytes_seen seen = {nArg>0 && strcmp(azArg[0], "--check")==0, 0, 0, 0};
  azArg += seen.doCheck;
  nArg -= seen.doCheck;
  if( nArg<2 ) die("calls: LIST and SQL are needed");
  char *zList = azArg[0];

  stopwatch start = stopwatch_start();
  sqlite3_stmt *pStmt = prepare_bound(db, azArg + 1, nArg - 1);
  azArg[1] = zList;  /* LIST is bound to the same TEXTs */
  sqlite3_stmt *pList = prepare_bound(db, azArg + 1, nArg - 1);
  while( step(db, pList) ){
    sqlite3_bind_value(pStmt, nArg - 1, sqlite3_column_value(pList, 0));
    see_rows(db, pStmt, &seen);
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pList);
  sqlite3_finalize(pStmt);
  print_seen(stopwatch_stop(start), &seen);
}

static void scenario_fill(sqlite3 *db, char **azArg, int nArg){
  char zRow[1000];
  if( nArg<3 ) die("fill: SCHEMA, SQL and CHECK are needed");
  char *zCheck = azArg[2];
  run(db, azArg, 1, zRow, sizeof(zRow));
  azArg[2] = azArg[1];  /* SQL stands before its TEXTs */

  stopwatch start = stopwatch_start();
  run(db, azArg + 2, nArg - 2, zRow, sizeof(zRow));
  stopwatch passed = stopwatch_stop(start);

  run(db, &zCheck, 1, zRow, sizeof(zRow));
  stopwatch_print(passed);
  printf("%s\n", zRow);
}

/* Steps a statement, which has to fail, and finalizes it. Returns the result code. */
static int fail(sqlite3_stmt *pStmt){
  int rc = sqlite3_step(pStmt);
  sqlite3_finalize(pStmt);
  return rc;
}

static void scenario_fails(sqlite3 *db, char **azArg, int nArg){
  stopwatch start = stopwatch_start();
  int rc = fail(prepare_bound(db, azArg, nArg));
  stopwatch_print(stopwatch_stop(start));
  printf("\t%d\n", rc);
}

typedef struct interrupter {
  sqlite3 *db;
  long delay;    /* milliseconds */
  double start;  /* when it interrupted */
} interrupter;

static void *interrupt_later(void *pArg){
  interrupter *p = pArg;
  struct timespec delay = {p->delay/1000, p->delay%1000*1000000};
  nanosleep(&delay, NULL);
  p->start = seconds_now();
  sqlite3_interrupt(p->db);
  return NULL;
}

static void scenario_interrupt(sqlite3 *db, char **azArg, int nArg){
  pthread_t thread;
  if( nArg<3 ) die("interrupt: MS, THREADS and SQL are needed");
  interrupter other = {db, atol(azArg[0]), 0};
  char *azThreads[] = {"SELECT zt_threads(?1)", azArg[1]};
  if( strcmp(azArg[1], "0")!=0 ) scenario_exec(db, azThreads, 2);
  sqlite3_stmt *pStmt = prepare_bound(db, azArg + 2, nArg - 2);
  if( pthread_create(&thread, NULL, interrupt_later, &other)!=0 ) die("cannot start a thread");
  int rc = fail(pStmt);
  double end = seconds_now();
  pthread_join(thread, NULL);
  printf("%.9f\t%d\n", end - other.start, rc);
}

/*
** Peak memory is measured in a child that this process forks while it is still small: on Linux a process that was
** started by a bigger one (the driver) reports that one's peak as its own, as ru_maxrss survives exec. The child
** sends its row through a pipe.
*/
static void scenario_peak(const host_setup *pSetup, char **azArg, int nArg){
  int status = 0, aPipe[2];
  char zRow[1000] = "";
  struct rusage usage;
  if( pipe(aPipe)!=0 ) die("cannot make a pipe");
  pid_t pid = fork();
  if( pid<0 ) die("cannot fork");
  if( pid==0 ){
    sqlite3 *db = connection_open(pSetup);
    if( nArg>0 ) run(db, azArg, nArg, zRow, sizeof(zRow));
    if( sqlite3_close(db)!=SQLITE_OK ) die("the connection does not close");
    if( write(aPipe[1], zRow, sizeof(zRow))!=(ssize_t)sizeof(zRow) ) die("cannot write to a pipe");
    _exit(0);
  }
  if( wait4(pid, &status, 0, &usage)!=pid || status!=0 ) die("the child failed");
  if( read(aPipe[0], zRow, sizeof(zRow))!=(ssize_t)sizeof(zRow) ) die("cannot read from a pipe");
#ifdef __APPLE__
  long long peak = usage.ru_maxrss;
#else
  long long peak = usage.ru_maxrss*1024LL;
#endif
  printf("%lld%s\n", peak, zRow);
}

/* Reads the options into *pSetup and *pTouch; returns the index of the first other argument. */
static int read_options(int argc, char **argv, host_setup *pSetup, size_t *pTouch){
  int i = 1, nExt = 0;
  for(; i + 1<argc && strncmp(argv[i], "--", 2)==0; i+=2){
    if( strcmp(argv[i], "--db")==0 ) pSetup->zDb = argv[i + 1];
    else if( strcmp(argv[i], "--ext")==0 && nExt<MAX_EXTENSION ) pSetup->azExt[nExt++] = argv[i + 1];
    else if( strcmp(argv[i], "--touch")==0 ) *pTouch = strtoul(argv[i + 1], NULL, 10)*1000000;
    else die("unknown option %s", argv[i]);
  }
  return i;
}

typedef void (*scenario_fn)(sqlite3 *db, char **azArg, int nArg);

static const struct {
  const char *zName;
  scenario_fn fn;
} aScenario[] = {
  {"exec", scenario_exec},
  {"once", scenario_once},
  {"again", scenario_again},
  {"lookup", scenario_lookup},
  {"rows", scenario_rows},
  {"calls", scenario_calls},
  {"fill", scenario_fill},
  {"fails", scenario_fails},
  {"interrupt", scenario_interrupt},
};

static scenario_fn scenario_find(const char *zName){
  for(size_t i=0; i<sizeof(aScenario)/sizeof(aScenario[0]); i++){
    if( strcmp(zName, aScenario[i].zName)==0 ) return aScenario[i].fn;
  }
  die("unknown scenario %s", zName);
}

int main(int argc, char **argv){
  host_setup setup = {NULL, {NULL}};
  size_t nTouch = 0;
  int i = read_options(argc, argv, &setup, &nTouch);
  if( i>=argc ) die("usage: host [--db FILE] [--ext FILE]... [--touch MB] SCENARIO ...");
  const char *zScenario = argv[i++];
  if( strcmp(zScenario, "peak")==0 ){
    scenario_peak(&setup, argv + i, argc - i);
    return 0;
  }
  scenario_fn scenario = scenario_find(zScenario);
  sqlite3 *db = connection_open(&setup);
  if( nTouch>0 ) touch_memory(nTouch);
  scenario(db, argv + i, argc - i);
  if( sqlite3_close(db)!=SQLITE_OK ) die("the connection does not close");
  return 0;
}
