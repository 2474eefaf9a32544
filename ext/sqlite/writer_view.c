/* The rows of a file outside of a transaction. See writer_view.h. */
#include "sqlite/writer_view.h"

#include "core/os.h"
#include "sqlite/writer_load.h"

struct zt_writer_view {
  zt_writer *owner;              /* Borrowed; outlives its cursors */
  unsigned references;           /* One per cursor */
  zt_identity id;                /* Of the file, before it was read */
  sqlite3 *db;                   /* Owned */
  zt_writer writer;              /* Its arguments are the owner's */
};

/* The state of the target; zeros: there is no such file. */
static zt_identity view_identity(const zt_writer *w){
  zt_stat s;
  if( zt_os_stat(w->arguments.path, &s) ) s.id = (zt_identity){ .size = 0 };
  return s.id;
}

static bool view_is_same(const zt_identity *a, const zt_identity *b){
  return a->device==b->device && a->inode==b->inode && a->ctime==b->ctime && zt_same_state(a, b);
}

/* Make the database with its table, in one transaction that never ends. */
static int view_open_rows(zt_writer_view *v, zt_error *err){
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int rc = sqlite3_open_v2(":memory:", &v->db, flags, NULL);
  if( rc==SQLITE_OK ) rc = sqlite3_exec(v->db, "BEGIN", NULL, NULL, NULL);
  if( rc==SQLITE_OK ) rc = zt_writer_rows_open(v->db, "view", true, &v->writer.stored, NULL);
  return rc ? zt_writer_fail_of(v->db, rc, err) : SQLITE_OK;
}

static int view_load(zt_writer_view *v, zt_error *err){
  if( view_open_rows(v, err)==SQLITE_OK && zt_writer_begin(&v->writer, err)==SQLITE_OK ){
    zt_writer_load(&v->writer, err);
  }
  zt_writer_end(&v->writer);
  return err->rc;
}

int zt_writer_view_open(zt_writer *w, zt_writer_view **out, zt_error *err){
  const zt_identity id = view_identity(w);
  zt_writer_view *v = w->view;
  *out = NULL;
  if( v && view_is_same(&v->id, &id) ){
    v->references++;
    *out = v;
    return SQLITE_OK;
  }
  v = sqlite3_malloc64(sizeof(*v));
  if( !v ) return zt_fail_nomem(err);
  *v = (zt_writer_view){
    .owner = w, .references = 1, .id = id,
    .writer = { .connection = w->connection, .arguments = w->arguments, .reads = true }
  };
  if( view_load(v, err) ){
    zt_writer_view_close(v);
    return err->rc;
  }
  w->view = v;
  *out = v;
  return SQLITE_OK;
}

zt_writer_rows *zt_writer_view_rows(const zt_writer_view *v){
  return v->writer.stored;
}

void zt_writer_view_close(zt_writer_view *v){
  if( !v || --v->references>0 ) return;
  if( v->owner->view==v ) v->owner->view = NULL;
  zt_writer_rows_close(v->writer.stored);
  sqlite3_close(v->db);
  sqlite3_free(v);
}
