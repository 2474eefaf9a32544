/* The operating system, as it answers and refuses: core/os.h, core/os_write.h, core/thread.h and core/pool.h. */
#include "refused.h"

#include <sys/wait.h>
#include "../oom/memory.h"
#include "core/os_system.h"
#include "core/os_write.h"
#include "core/pool.h"

TEST(kinds_have_names){
  static const struct { zt_kind kind; const char *name; } rows[] = {
    { ZT_KIND_MISSING, "missing" }, { ZT_KIND_FILE, "a regular file" }, { ZT_KIND_DIRECTORY, "a directory" }, { ZT_KIND_FIFO, "a FIFO" },
    { ZT_KIND_SOCKET, "a socket" }, { ZT_KIND_DEVICE, "a device" }, { ZT_KIND_UNKNOWN, "no regular file" }
  };
  for(size_t i=0; i<COUNT(rows); i++) assert_string_equal(zt_kind_name(rows[i].kind), rows[i].name);
}

#if REFUSED_HERE
static char path[] = "/tmp/ztensor-system-XXXXXX";

static int make_file(void **state){
  const int fd = mkstemp(path);
  (void)state;
  return fd<0 || write(fd, "four", 4)!=4 || close(fd);
}

static int remove_file(void **state){
  (void)state;
  return unlink(path);
}

/* --- Files --- */

static struct stat pretended;

static void pretend(struct stat *s){
  s->st_mode = pretended.st_mode;
  s->st_mtim = pretended.st_mtim;
  s->st_uid += pretended.st_uid;
  s->st_gid += pretended.st_gid;
}

TEST(kinds_and_times_that_files_here_do_not_have){
  static const struct { mode_t mode; time_t seconds; zt_kind kind; int64_t mtime; } rows[] = {
    { S_IFREG, 1, ZT_KIND_FILE, 1000000007 }, { S_IFBLK, -1, ZT_KIND_DEVICE, -999999993 }, { S_IFCHR, 0, ZT_KIND_DEVICE, 7 },
    { S_IFLNK, INT64_MAX, ZT_KIND_UNKNOWN, INT64_MAX }, { S_IFSOCK, INT64_MIN, ZT_KIND_SOCKET, INT64_MIN },
    { S_IFIFO, INT64_MAX/1000000000, ZT_KIND_FIFO, INT64_MAX }, { S_IFDIR, INT64_MIN/1000000000, ZT_KIND_DIRECTORY, INT64_MIN }
  };
  for(size_t i=0; i<COUNT(rows); i++){
    zt_stat s;
    pretended = (struct stat){ .st_mode = rows[i].mode, .st_mtim = { rows[i].seconds, 7 } };
    instead.stat = pretend;
    assert_int_equal(zt_os_stat(path, &s), 0);
    refuse_nothing();
    check( s.kind==rows[i].kind && s.id.mtime==rows[i].mtime, "%zu: %d, %lld", i, (int)s.kind, (long long)s.id.mtime );
  }
}

TEST(a_file_system_without_births){
  refuse("statx", EOF, 1, 1);
  assert_int_equal(zt_os_birth(path), 0);
  refuse_nothing();
}

TEST(places_and_lengths_of_reads){
  int error_number = 0;
  char four[4];
  zt_file file = zt_os_open_any(path, &error_number);
  void *large = zt_os_map((size_t)INT_MAX);
  assert_true(file>=0 && large);
  assert_int_equal(zt_os_read(file, INT64_MAX, four, 1, &error_number), -1);
  assert_int_equal(error_number, EOVERFLOW);
  assert_int_equal(zt_os_read(file, (uint64_t)INT64_MAX-1, four, 1, &error_number), 0);
  assert_int_equal(zt_os_read_once(file, 0, large, (size_t)INT_MAX, &error_number), 4);
  assert_memory_equal(large, "four", 4);
  assert_int_equal(instead.n_read, INT_MAX/2);   /* In one call */
  zt_os_unmap(large, (size_t)INT_MAX);
  zt_os_close(file);
}

/* --- Writing --- */

TEST(other_files_rights){
  /* With the owner, with the group alone, with neither */
  static const struct { uid_t user; gid_t group; int refused, calls; } rows[] = {
    { 0, 0, 0, 0 }, { 1, 0, 0, 1 }, { 0, 1, 0, 1 }, { 1, 1, 1, 2 }, { 1, 1, 2, 2 }
  };
  for(size_t i=0; i<COUNT(rows); i++) for(int mode=0600; mode<=0640; mode+=040){
    struct stat s;
    bool unnamed;
    zt_file file;
    pretended = (struct stat){ .st_mode = S_IFREG|(mode_t)mode, .st_uid = rows[i].user, .st_gid = rows[i].group };
    refuse("fchown", EPERM, 1, rows[i].refused);
    instead.stat = pretend;
    check( zt_os_create(path, path, &unnamed, &file)==0, "%zu", i );
    check( times_called()==rows[i].calls, "%zu: %d", i, times_called() );
    refuse_nothing();
    assert_int_equal(fstat((int)file, &s), 0);
    assert_int_equal(s.st_mode & 07777, mode);
    zt_os_close(file);
  }
}

/* Before Linux 6.0 such a file might have these bits whatever the umask, so that a named one is made. */
TEST(an_unnamed_file_with_all_rights_is_not_used){
  char name[sizeof(path)+4];
  const mode_t mask = umask(0);
  bool unnamed = true;
  zt_file file;
  snprintf(name, sizeof(name), "%s.new", path);
  assert_int_equal(zt_os_create(name, NULL, &unnamed, &file), 0);
  umask(mask);
  assert_false(unnamed);
  zt_os_close(file);
  assert_int_equal(unlink(name), 0);
}

TEST(a_path_without_a_directory_is_in_this_one){
  assert_int_equal(zt_os_may_create("none-such"), zt_os_may_create("./none-such"));
  assert_int_equal(zt_os_may_create("none-such/none-such"), ENOENT);
}

TEST(the_size_limit){
  refuse("getrlimit", EINVAL, 1, 1);
  assert_true(zt_os_size_limit()==INT64_MAX);
  refuse_nothing();
  instead.most = (rlim_t)INT64_MAX+5;
  assert_true(zt_os_size_limit()==INT64_MAX);
  instead.most = 12345;
  assert_int_equal(zt_os_size_limit(), 12345);
  instead.most = RLIM_INFINITY;
  assert_true(zt_os_size_limit()==INT64_MAX);
  refuse_nothing();
}

TEST(many_bytes_are_written_in_several_calls){
  const size_t n = ((size_t)2<<30)+5;
  void *p = zt_os_map(n);
  assert_non_null(p);
  refuse("pwrite", INT_MAX, 1, ALWAYS);
  assert_int_equal(zt_os_write(-1, 0, p, n), 0);
  assert_int_equal(times_called(), 3);
  refuse_nothing();
  zt_os_unmap(p, n);
}

static bool stop_at_the_third(void *context){
  return ++*(int*)context==3;
}

TEST(a_directory_that_others_hold){
  const zt_interrupt unhurried = { NULL, NULL };
  int asked = 0;
  const zt_interrupt hurried = { stop_at_the_third, &asked };
  zt_error err = ZT_ERROR_NONE;
  zt_file held;
  refuse("flock", EWOULDBLOCK, 1, 3);
  refuse("nanosleep", EINTR, 1, ALWAYS);
  held = zt_os_hold_directory(path, &unhurried, &err);
  assert_true(held>=0);
  assert_int_equal(times_called(), 4);
  zt_os_close(held);
  refuse_nothing();
  refuse("flock", EWOULDBLOCK, 1, ALWAYS);
  refuse("nanosleep", EINTR, 1, ALWAYS);
  assert_true(zt_os_hold_directory(path, &unhurried, &err)==-1);
  assert_int_equal(times_called(), 1000);
  refuse_nothing();
  refuse("flock", EWOULDBLOCK, 1, ALWAYS);
  assert_true(zt_os_hold_directory(path, &hurried, &err)==-1);
  assert_int_equal(times_called(), 3);
  assert_int_equal(err.rc, SQLITE_INTERRUPT);
  zt_error_clear(&err);
  refuse_nothing();
  refuse("flock", ENOLCK, 1, ALWAYS);
  assert_true(zt_os_hold_directory(path, &unhurried, &err)==-1);
  assert_int_equal(times_called(), 1);
  refuse_nothing();
}

/* --- The user and the machine --- */

TEST(a_home_without_a_variable){
  char before[PATH_MAX] = "";
  zt_error err = ZT_ERROR_NONE;
  char *home;
  if( getenv("HOME") ) snprintf(before, sizeof(before), "%s", getenv("HOME"));
  assert_int_equal(unsetenv("HOME"), 0);
  home = zt_os_home(&err);
  if( home ) assert_true(*home=='/');
  else assert_failed(&err, "there is no home directory for ~ to stand for", "this user's");
  sqlite3_free(home);
  for(int error=ENOENT; error<=EIO; error+=EIO-ENOENT){   /* An entry without a directory, and none */
    refuse("getpwuid_r", error, 1, 1);
    assert_null(zt_os_home(&err));
    assert_failed(&err, "there is no home directory for ~ to stand for", "refused");
    refuse_nothing();
  }
  memory_arm(1, true);
  assert_null(zt_os_home(&err));
  memory_arm(0, false);
  assert_int_equal(err.rc, SQLITE_NOMEM);
  zt_error_clear(&err);
  if( *before ) setenv("HOME", before, 1);
}

TEST(the_host){
  zt_error err = ZT_ERROR_NONE;
  char *name = zt_os_host(&err);
  assert_succeeded(&err, "host");
  assert_true(*name);
  sqlite3_free(name);
  refuse("gethostname", ENAMETOOLONG, 1, 1);
  assert_null(zt_os_host(&err));
  assert_failed(&err, "cannot tell the host's name: File name too long", "refused");
  refuse_nothing();
}

TEST(a_clock_that_stands_still){
  refuse("clock_gettime", EINVAL, 1, ALWAYS);
  assert_int_equal(zt_os_elapsed(), 1);
  refuse_nothing();
  assert_true(zt_os_elapsed()>1);
}

TEST(a_program_that_does_not_know_its_own_file){
  refuse("dladdr", EOF, 1, 1);
  zt_os_stay_loaded();
  assert_int_equal(times_called(), 1);
  refuse_nothing();
}

/* --- Processors --- */

TEST(processors_of_an_affinity_and_of_a_quota){
  static const struct { const char *text; int n; } rows[] = {
    { "max 100000\n", 8 }, { "200000 100000\n", 2 }, { "150000 100000\n", 2 }, { "1000 100000\n", 1 }, { "900000 100000\n", 8 },
    { "0 100000\n", 8 }, { "-1 100000\n", 8 }, { "100000\n", 8 }, { "100000 0\n", 8 }, { "100000 -5\n", 8 }, { "", 8 }, { "none", 8 }
  };
  cpu_set_t set;
  CPU_ZERO(&set);
  instead.processors = &set;
  assert_int_equal(zt_thread_processors(false), 1);
  for(size_t i=0; i<8; i++) CPU_SET(i, &set);
  assert_int_equal(zt_thread_processors(false), 8);
  instead.quota = "/nonesuch/none";
  assert_int_equal(zt_thread_processors(true), 8);
  instead.quota = path;
  for(size_t i=0; i<COUNT(rows); i++){
    write_file(path, rows[i].text, strlen(rows[i].text));
    check( zt_thread_processors(true)==rows[i].n, "%s: %d", rows[i].text, zt_thread_processors(true) );
  }
  refuse_nothing();
  refuse("sched_getaffinity", EINVAL, 1, 1);
  assert_int_equal(zt_thread_processors(false), sysconf(_SC_NPROCESSORS_ONLN));
  refuse_nothing();
}

/* --- Threads --- */

static void nothing(void *context){
  ++*(int*)context;
}

TEST(threads_and_monitors_that_cannot_be_made){
  static const struct { const char *call; int first; bool thread; } rows[] = {
    { "pthread_mutex_init", 1, false }, { "pthread_cond_init", 1, false }, { "pthread_cond_init", 2, false },
    { "pthread_attr_init", 1, true }, { "pthread_sigmask", 1, true }
  };
  const size_t before = memory.outstanding;
  int n = 0;
  for(size_t i=0; i<COUNT(rows); i++){
    refuse(rows[i].call, EAGAIN, rows[i].first, 1);
    check( rows[i].thread ? !zt_thread_start(nothing, &n) : !zt_monitor_new(), "%zu", i );
    refuse_nothing();
  }
  for(int i=0; i<2; i++){
    memory_arm(1, false);
    assert_true(i ? !zt_thread_start(nothing, &n) : !zt_monitor_new());
    memory_arm(0, false);
  }
  zt_monitor_free(NULL);
  assert_int_equal(memory.outstanding, before);
  assert_int_equal(n, 0);
  zt_thread_join(zt_thread_start(nothing, &n));
  assert_int_equal(n, 1);
}

/* --- The pool --- */

typedef struct counted {
  zt_task task;
  pthread_t by;
  int n;
} counted;

static void count(zt_task *task, const zt_interrupt *interrupt){
  counted *t = (counted*)task;
  (void)interrupt;
  t->by = pthread_self();
  t->n++;
}

static void count_later(zt_task *task, const zt_interrupt *interrupt){
  usleep(20*1000);
  count(task, interrupt);
}

/* How many of a pool's tasks another thread did. */
static int run_tasks(void){
  zt_pool *pool = zt_pool_new(2);
  zt_tasks tasks = { .pool = pool };
  counted a[3] = { 0 };
  zt_error err = ZT_ERROR_NONE;
  int others = 0;
  for(size_t i=0; i<COUNT(a); i++){
    a[i].task.run = count_later;
    zt_pool_add(&tasks, &a[i].task, false);
  }
  for(size_t i=0; i<COUNT(a); i++){
    assert_int_equal(zt_pool_wait(&tasks, &a[i].task, NULL, &err), SQLITE_OK);
    assert_int_equal(a[i].n, 1);
    others += !pthread_equal(a[i].by, pthread_self());
  }
  zt_pool_free(pool);
  return others;
}

/* Threads are never started then. Whether they may be is known for good, so that another process asks. */
TEST(mutexes_that_exclude_nobody){
  int status = -1;
  const pid_t child = fork();
  if( child==0 ){
    refuse("sqlite3_mutex_try", EOF, 1, 1);
    status = run_tasks();
    LEAVE_CHILD(status==0 && run_tasks()==0 && times_called()==1 ? 0 : 1);
  }
  assert_true(child>0 && waitpid(child, &status, 0)==child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status)==0);
}

/* The thread that waits does all of the work then. Threads are possible again in the next pool. */
TEST(a_pool_without_threads){
  refuse("sqlite3_threadsafe", EOF, 1, ALWAYS);
  assert_int_equal(run_tasks(), 0);
  refuse_nothing();
  memory_arm(3, false);   /* After the pool and its monitor, a mutex */
  assert_int_equal(run_tasks(), 0);
  memory_arm(0, false);
  refuse("pthread_attr_init", EAGAIN, 1, ALWAYS);
  assert_int_equal(run_tasks(), 0);
  refuse_nothing();
  refuse("pthread_attr_init", EAGAIN, 2, ALWAYS);   /* The first one tried SQLite's mutexes */
  assert_int_equal(run_tasks(), 0);
  refuse_nothing();
  assert_true(run_tasks()>0);
}

TEST(a_clock_that_fails_while_a_thread_is_waited_for){
  for(int refusing=0; refusing<2; refusing++){
    zt_pool *pool = zt_pool_new(1);
    zt_tasks tasks = { .pool = pool };
    counted t = { .task.run = count_later };
    zt_error err = ZT_ERROR_NONE;
    zt_pool_add(&tasks, &t.task, false);
    usleep(5*1000);   /* The thread most likely has it */
    if( refusing ) refuse("clock_gettime", EINVAL, 1, ALWAYS);
    assert_int_equal(zt_pool_wait(&tasks, &t.task, NULL, &err), SQLITE_OK);
    refuse_nothing();
    assert_int_equal(t.n, 1);
    zt_pool_free(pool);
  }
}

TEST(a_pool_is_not_wider_than_it_may_be){
  zt_pool *pool = zt_pool_new(ZT_POOL_MAX+1);
  assert_int_equal(zt_pool_threads(pool), ZT_POOL_MAX+1);
  zt_pool_free(pool);
  zt_pool_widen(NULL, 2);
  assert_int_equal(zt_pool_threads(NULL), 1);
  assert_null(zt_pool_new(0));
  for(uint64_t n=1; n<=2; n++){
    memory_arm(n, false);
    assert_null(zt_pool_new(1));
    memory_arm(0, false);
  }
}

static void until_interrupted(zt_task *task, const zt_interrupt *interrupt){
  zt_error err = ZT_ERROR_NONE;
  count(task, interrupt);
  while( zt_interrupt_check(interrupt, &err)==SQLITE_OK ){}
}

TEST(without_a_pool_who_waits_does_each_task_once){
  zt_tasks tasks = { 0 };
  counted t = { .task.run = count };
  caller c = { 0, 3 };
  const zt_interrupt interrupt = { caller_stops, &c };
  zt_error err = ZT_ERROR_NONE;
  zt_pool_add(&tasks, &t.task, false);
  for(int i=0; i<2; i++) assert_int_equal(zt_pool_wait(&tasks, &t.task, NULL, &err), SQLITE_OK);
  assert_int_equal(t.n, 1);
  t.task.run = until_interrupted;
  zt_pool_add(&tasks, &t.task, false);
  assert_int_equal(zt_pool_wait(&tasks, &t.task, &interrupt, &err), SQLITE_INTERRUPT);
  assert_true(t.n==2 && c.asked==3);
  zt_error_clear(&err);
}
#else
static int make_file(void **state){ (void)state; return 0; }
static int remove_file(void **state){ (void)state; return 0; }
#endif

int main(void){
  memory_install();
  return run_all("system", make_file, remove_file);
}
