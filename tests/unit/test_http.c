/* A request and a fork: core/http.h, core/fetch.h. Tests of requests that reach a server are in tests/remote. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>
#include "core/fetch.h"

static zt_http_request request(void){
  return (zt_http_request){ .url = "http://127.0.0.1:1/", .any_address = true, .most = 1, .timeout = 10000000000 };
}

/* Ends a request. Returns whether it is known to be the parent's. */
static bool is_left(zt_http *h, zt_http_request *r, bool waits){
  zt_error err = ZT_ERROR_NONE;
  bool left;
  if( waits ) assert_int_equal(zt_http_wait(h, r, NULL, &err), SQLITE_OK);
  else zt_http_cancel(h, r);
  left = r->answer.outcome==ZT_HTTP_LEFT;
  zt_http_clear(r);
  return left;
}

/* The child leaves to its parent what was under way, and sends what it begins itself, in either order. */
TEST(test_a_forked_process_leaves_requests_to_its_parent){
  for(int order=0; order<2; order++){
    zt_http *h = zt_http_new();
    zt_http_request ended = request(), r[2] = { request(), request() };
    zt_http_outcome outcome;
    zt_error err = ZT_ERROR_NONE;
    int status = -1;
    pid_t child;
    assert_non_null(h);
    zt_http_begin(h, &ended);
    assert_int_equal(zt_http_wait(h, &ended, NULL, &err), SQLITE_OK);
    outcome = ended.answer.outcome;
    assert_true(outcome==ZT_HTTP_NO_CONNECTION || outcome==ZT_HTTP_NO_LIBRARY);
    for(int i=0; i<2; i++) zt_http_begin(h, &r[i]);
    child = fork();
    if( child==0 ){
      zt_http_request own = request();
      bool same = zt_http_wait(h, &ended, NULL, &err)==SQLITE_OK && ended.answer.outcome==outcome;
      alarm(20);
      if( order==0 ) same = is_left(h, &r[0], false) && is_left(h, &r[1], true) && same;
      zt_http_begin(h, &own);
      same = zt_http_wait(h, &own, NULL, &err)==SQLITE_OK && own.answer.outcome==outcome && same;
      if( order==1 ) same = is_left(h, &r[0], true) && is_left(h, &r[1], false) && same;
      zt_http_clear(&own);
      zt_http_clear(&ended);
      zt_http_free(h);
      LEAVE_CHILD(same ? 0 : 1);
    }
    assert_true(child>0 && waitpid(child, &status, 0)==child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status)==0);
    for(int i=0; i<2; i++){
      assert_int_equal(zt_http_wait(h, &r[i], NULL, &err), SQLITE_OK);
      assert_int_equal(r[i].answer.outcome, outcome);
      zt_http_clear(&r[i]);
    }
    zt_http_clear(&ended);
    zt_http_free(h);
  }
}

TEST(test_a_forked_process_fetches_again_what_its_parent_began){
  zt_remote *r = NULL;
  zt_error err = ZT_ERROR_NONE, said = ZT_ERROR_NONE;
  zt_remote_settings settings;
  zt_fetch f;
  int status = -1;
  pid_t child;
  assert_int_equal(zt_remote_new("http://127.0.0.1:1", (zt_interrupt){ 0 }, &r, &err), SQLITE_OK);
  settings = zt_remote_get(r);
  settings.retries = 0;
  zt_remote_set(r, &settings);
  f = (zt_fetch){ .remote = r, .url = "http://127.0.0.1:1/m.zt", .what = "open", .n = 1, .most = 1 };
  zt_fetch_begin(&f);
  child = fork();
  if( child==0 ){
    alarm(20);
    zt_fetch_end(&f, &said);
    zt_fetch_clear(&f);
    status = said.rc==SQLITE_ERROR && said.kind && strcmp(said.kind, "transient")==0 ? 0 : 1;
    zt_remote_free(r);
    LEAVE_CHILD(status);
  }
  assert_true(child>0 && waitpid(child, &status, 0)==child);
  assert_int_equal(zt_fetch_end(&f, &err), SQLITE_ERROR);
  assert_true(WIFEXITED(status));
  /* Without libcurl, nothing can be sent at all */
  assert_int_equal(WEXITSTATUS(status), strcmp(err.kind, "transient")==0 ? 0 : 1);
  zt_fetch_clear(&f);
  zt_error_clear(&err);
  zt_remote_free(r);
}

int main(void){
  return run_all("http", NULL, NULL);
}
