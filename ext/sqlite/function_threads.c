/*
** The number of threads.
**
**   zt_threads(), zt_threads(n)
**     INTEGER: the number of threads that a statement of this connection may use. `n`, 1 to 64,
**     sets it; NULL restores the default, the number of processors available to the process, at
**     most 16. Running statements keep their number
*/
#include "sqlite/tables.h"

static void threads_function(sqlite3_context *ctx, int n, sqlite3_value **args){
  zt_connection *c = sqlite3_user_data(ctx);
  zt_connection **wanted = n==1 ? sqlite3_value_pointer(args[0], ZT_CONNECTION_POINTER) : NULL;
  uint64_t threads = 0;
  zt_error err = ZT_ERROR_NONE;
  if( wanted ){   /* An entry point that is loaded later asks */
    *wanted = c;
    return;
  }
  if( n==1 ){
    if( sqlite3_value_type(args[0])!=SQLITE_NULL
     && (!zt_value_whole(args[0], &threads) || threads<1 || threads>ZT_THREADS_MAX) ){
      zt_fail(&err, SQLITE_ERROR, "the number of threads must be an integer from 1 to %d, not '%s'",
              ZT_THREADS_MAX, zt_value_shown(args[0]));
      zt_result_error(ctx, &err);
      return;
    }
    c->threads = (int)threads;
  }
  sqlite3_result_int(ctx, zt_connection_threads(c));
}

const zt_function zt_function_threads[] = {
  { "zt_threads", 0, SQLITE_UTF8|SQLITE_INNOCUOUS, threads_function },
  { "zt_threads", 1, SQLITE_UTF8|SQLITE_DIRECTONLY, threads_function },
  { NULL, 0, 0, NULL },
};
