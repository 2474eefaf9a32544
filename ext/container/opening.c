/* Opening: the driver that claims a file fills its container. See container.h. */
#include "container/behind.h"

#include "container/driver.h"
#include "container/foreign.h"
#include "container/zip.h"

/* Prefetch the metadata that the guess expects, if the file is long enough. The first bytes of a
** remote file are there already. */
static int opening_read_guess(zt_builder *b, zt_container_guess guess){
  const uint64_t size = zt_source_size(b->source);
  const uint32_t n = guess.tail ? guess.tail : guess.head;
  assert( n<=ZT_GUESS_MAX );
  if( n==0 || n>size || zt_source_is_remote(b->source) ) return SQLITE_OK;
  return zt_builder_prefetch(b, guess.tail ? size-n : 0, n);
}

/* The driver that claims the file. The last bytes of a remote one are read only if that takes
** them. */
static const zt_driver *opening_find(zt_source *source, zt_head_tail_buffer *buffer,
                                     zt_head_tail *input, zt_error *err){
  const zt_driver *driver = zt_driver_for(input, err);
  if( driver || err->rc || input->tail.n || input->size==0 ) return driver;
  return zt_tail_read(source, buffer, input, err) ? NULL : zt_driver_for(input, err);
}

/* Have the driver fill an empty container. */
static int opening_drive(zt_builder *b, const zt_driver *driver, zt_head_tail_buffer *buffer,
                         zt_head_tail *input){
  zt_container *c = b->container;
  zt_error *err = b->err;
  c->driver = driver ? driver : opening_find(b->source, buffer, input, err);
  if( err->rc ) return err->rc;
  if( !c->driver ) return zt_foreign_fail(input, err);
  c->format = c->driver->format;
  c->own_attributes = c->driver->own_attributes;
  c->names.interrupt = c->shard_names.interrupt = b->interrupt;
  if( c->driver->open(b, input)==SQLITE_OK ) zt_behind_add(b);
  c->names.interrupt = c->shard_names.interrupt = NULL;
  return err->rc;
}

/* Fill an empty container; trim the memory of a new one. driver NULL: the one that claims the
** file. */
static int opening_fill(zt_builder *b, const zt_driver *driver, zt_container_guess guess,
                        bool is_new){
  zt_head_tail_buffer buffer;
  zt_head_tail input = { 0 };
  if( opening_read_guess(b, guess)
   || zt_head_tail_read(b->source, b, &buffer, &input, b->err) ) return b->err->rc;
  opening_drive(b, driver, &buffer, &input);
  zt_zip_close(buffer.zip);
  if( is_new && !b->err->rc ) zt_builder_trim(b);
  return b->err->rc;
}

int zt_container_open(zt_source *source, const zt_interrupt *interrupt, zt_container **out,
                      zt_error *err){
  return zt_container_open_in(NULL, source, (zt_container_guess){ 0 }, interrupt, out, err);
}

/* As zt_container_open_in(). driver NULL: the one that claims the file. */
static int opening_open(zt_container *emptied, zt_source *source, const zt_driver *driver,
                        zt_container_guess guess, const zt_interrupt *interrupt,
                        zt_container **out, zt_error *err){
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
  if( !err->rc ) opening_fill(&b, driver, guess, !emptied);
  err->object.z = err->component.z = NULL;
  if( err->rc ) zt_container_close(c);
  else *out = c;
  return err->rc;
}

int zt_container_open_in(zt_container *emptied, zt_source *source, zt_container_guess guess,
                         const zt_interrupt *interrupt, zt_container **out, zt_error *err){
  return opening_open(emptied, source, NULL, guess, interrupt, out, err);
}

int zt_driver_open(const zt_driver *driver, zt_source *source, const zt_interrupt *interrupt,
                   zt_container **out, zt_error *err){
  return opening_open(NULL, source, driver, (zt_container_guess){ 0 }, interrupt, out, err);
}
