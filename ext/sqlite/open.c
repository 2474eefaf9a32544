/* Opens files through the cache. See open.h. */
#include "sqlite/open.h"

#include <assert.h>

/* Read an opened file, unless the cache has a container of this state. */
static int open_read_opened(zt_connection *c, zt_source *opened, const char *path, bool scan,
                            const zt_interrupt *interrupt, zt_opened *out, zt_error *err){
  const bool settled = zt_source_settled(opened);
  zt_cache_help help;
  zt_source_set_pool(opened, c->pool);
  out->container = zt_cache_find(c->cache, path, zt_source_identity(opened), scan, &help);
  if( out->container ) return SQLITE_OK;
  if( zt_container_open_in(help.emptied, opened, help.guess, interrupt, &out->container, err) ){
    zt_source_explain(opened, err);
  }else if( zt_source_unchanged(opened, err) ){
    zt_container_close(out->container);
    out->container = NULL;
  }
  out->worth = settled && out->container;
  return err->rc;
}

/* Open a container. If the cache has it, the file is not opened. */
static int open_read_container(zt_connection *c, const char *path, const zt_stat *state, bool scan,
                               const zt_interrupt *interrupt, zt_opened *out, zt_error *err){
  zt_source opened;
  zt_stat now;
  if( !state ){
    zt_os_stat(path, &now);   /* Opening reports a failure */
    state = &now;
  }
  if( state->kind==ZT_KIND_FILE && state->id.inode ){
    out->container = zt_cache_find(c->cache, path, &state->id, scan, NULL);
    if( out->container ) return SQLITE_OK;
  }
  if( zt_source_begin(&opened, path, state, err)==SQLITE_OK ){
    open_read_opened(c, &opened, path, scan, interrupt, out, err);
    zt_source_end(&opened);
  }
  return err->rc;
}

#if ZT_REMOTE
/* Opens the source of a remote file and its container. Only what is not known of its state is asked
** for: nothing if the state is fresh and the cache has the container; whether it changed if that is
** all that is in doubt; else its first bytes. */
static int open_read_remote(zt_connection *c, const char *path, const zt_stat *state, bool scan,
                            bool source, const zt_interrupt *interrupt, zt_opened *out,
                            zt_error *err){
  const zt_remote_state *listed = state ? state->remote : NULL;
  bool forgotten = false;   /* It is asked for again */
  zt_remote_state *seen = listed ? zt_remote_state_copy(listed)
                        : zt_remote_seen(c->remote, path, &forgotten);
  const bool fresh = seen && zt_remote_is_fresh(c->remote, listed ? zt_os_elapsed() : seen->seen);
  zt_container *known = NULL;
  zt_remote_ask ask = ZT_REMOTE_HEAD;
  zt_identity id;
  if( seen && zt_remote_state_is_strong(seen) ){
    if( !zt_remote_identity(path, seen, &id) ) zt_fail_nomem(err);
    else known = zt_cache_find(c->cache, path, &id, scan, NULL);
  }
  if( known ) ask = listed || fresh ? ZT_REMOTE_NOTHING : ZT_REMOTE_CHANGE;
  if( known && source && seen->whole ) ask = ZT_REMOTE_HEAD;
  if( !err->rc
   && zt_source_open_remote(c->remote, path, seen, ask, &out->source, err)==SQLITE_OK ){
    const zt_identity *opened = zt_source_identity(out->source);
    assert( opened );
    if( known && zt_same_state(opened, &id) ){
      zt_source_set_pool(out->source, c->pool);
      out->container = known;
      known = NULL;
    }else{
      open_read_opened(c, out->source, path, scan, interrupt, out, err);
    }
  }
  zt_container_close(known);
  sqlite3_free(seen);
  return err->rc;
}
#endif

int zt_open_read(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
                 const zt_interrupt *interrupt, zt_opened *out, zt_error *err){
  *out = (zt_opened){ NULL, NULL, false };
#if ZT_REMOTE
  if( c->remote && zt_path_is_url(path) ){
    open_read_remote(c, path, state, scan, source, interrupt, out, err);
    if( source && !err->rc ) return SQLITE_OK;
    zt_source_close(out->source);
    out->source = NULL;
    return err->rc;
  }
#endif
  if( !source ) return open_read_container(c, path, state, scan, interrupt, out, err);
  if( zt_source_open(path, state, &out->source, err)
   || open_read_opened(c, out->source, path, scan, interrupt, out, err) ){
    zt_source_close(out->source);
    out->source = NULL;
  }
  return err->rc;
}

void zt_open_keep(zt_connection *c, const zt_opened *opened, bool scan){
  if( opened->worth ) zt_cache_keep(c->cache, opened->container, scan);
}

int zt_open(zt_connection *c, const char *path, const zt_stat *state, bool scan, bool source,
            zt_opened *out, zt_error *err){
  const zt_interrupt interrupt = zt_connection_interrupt(c);
  if( zt_open_read(c, path, state, scan, source, &interrupt, out, err) ) return err->rc;
  zt_open_keep(c, out, scan);
  return SQLITE_OK;
}
