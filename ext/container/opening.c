/* Opening: the driver that claims a file fills its container. See container.h. */
#include "container/builder.h"

#include "container/driver.h"
#include "container/foreign.h"

/* Prefetch the metadata that the guess expects, if the file is long enough. The first bytes of a
** remote file are there already. */
static int opening_read_guess(zt_builder *b, zt_container_guess guess){
  const uint64_t size = zt_source_size(b->source);
  const uint32_t n = guess.tail ? guess.tail : guess.head;
  assert( n<=ZT_GUESS_MAX );
  if( n==0 || n>size || zt_source_is_remote(b->source) ) return SQLITE_OK;
  return zt_builder_prefetch(b, guess.tail ? size-n : 0, n);
}

/* Have the driver fill an empty container; trim the memory of a new one. */
static int opening_fill(zt_builder *b, zt_container_guess guess, bool is_new){
  zt_container *c = b->container;
  zt_error *err = b->err;
  zt_head_tail_buffer buffer;
  zt_head_tail input = { 0 };
  if( opening_read_guess(b, guess)
   || zt_head_tail_read(b->source, b, &buffer, &input, err) ) return err->rc;
  c->driver = zt_driver_for(&input, err);
  if( err->rc ) return err->rc;
  if( !c->driver && zt_tail_read(b->source, &buffer, &input, err) ) return err->rc;
  if( !c->driver ) return zt_foreign_fail(&input, err);
  c->names.interrupt = c->shard_names.interrupt = b->interrupt;
  c->driver->open(b, &input);
  c->names.interrupt = c->shard_names.interrupt = NULL;
  if( is_new && !err->rc ) zt_builder_trim(b);
  return err->rc;
}

int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err){
  return zt_container_open_in(NULL, source, (zt_container_guess){ 0 }, interrupt, out, err);
}

int zt_container_open_in(zt_container *emptied, zt_source *source, zt_container_guess guess,
                         const zt_interrupt *interrupt, zt_container **out, zt_error *err){
  const zt_identity *id = zt_source_identity(source);
  zt_container *c = emptied ? emptied : zt_container_new();
  zt_builder b = { source, c, interrupt, err, 0, 0 };
  *out = NULL;
  if( !c ) return zt_fail_nomem(err);
  if( zt_source_etag(source) && (c->etag = sqlite3_mprintf("%s", zt_source_etag(source)))==NULL ){
    zt_fail_nomem(err);
  }
  c->is_file = id!=NULL;
  if( id ) c->identity = *id;
  c->file_size = c->end = zt_source_size(source);
  if( !err->rc ) opening_fill(&b, guess, !emptied);
  err->object.z = err->component.z = NULL;
  if( err->rc ) zt_container_close(c);
  else *out = c;
  return err->rc;
}
