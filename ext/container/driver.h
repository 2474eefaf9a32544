/*
** The interface of file formats, and the table of formats. A new format is one file that defines a
** driver, and one line in driver.c. The driver has all knowledge of the format, including the names
** of its files and their rules. Interface to code in driver.c and container.c, for them and the
** drivers.
**
**   T1  the file is of a known format
**   T2  the file is of a supported format (foreign.c)
*/
#ifndef ZT_CONTAINER_DRIVER_H
#define ZT_CONTAINER_DRIVER_H

#include <stdatomic.h>
#include "container/container.h"
#include "container/rule.h"
#include "core/keys.h"
#include "core/u32_array.h"

/* The bytes that tell a file's format. A driver may read a little more of the source. */
typedef struct zt_head_tail {
  zt_source *source;
  uint64_t size;       /* Of the file */
  zt_span head;        /* The first ZT_HEAD_SIZE bytes, or all */
  zt_span tail;        /* The last ZT_TAIL_SIZE bytes, or all; none of a remote file that no driver
                       ** wants the tail of */
  const zt_interrupt *interrupt;   /* May be NULL */
  struct zt_zip **zip; /* For zt_zip_of() (zip.h). *zip is NULL before its first call */
} zt_head_tail;
#define ZT_HEAD_SIZE 16
#define ZT_TAIL_SIZE 48   /* The longest footer, rounded up; excludes blobs before a manifest */

/* True if the file begins, or ends, with n bytes: at most ZT_HEAD_SIZE, or ZT_TAIL_SIZE. */
static inline bool zt_head_is(const zt_head_tail *input, const char *bytes, size_t n){
  return input->head.n>=n && memcmp(input->head.p, bytes, n)==0;
}
static inline bool zt_tail_is(const zt_head_tail *input, const char *bytes, size_t n){
  return input->tail.n>=n && memcmp(input->tail.p+input->tail.n-n, bytes, n)==0;
}

/* The answer of a driver's probe. */
typedef enum zt_probe {
  ZT_PROBE_NO,
  ZT_PROBE_END,        /* It ends with the format's magic number, as data of others may, too: the
                       ** file is of this format unless another driver claims it */
  ZT_PROBE_PERHAPS,    /* The file is of this format unless another driver says yes */
  ZT_PROBE_YES         /* It has the format's magic number */
} zt_probe;

typedef struct zt_builder zt_builder;   /* builder.h */

/* The steps of a walk through a driver's values (value.h). */
typedef struct zt_steps {
  /* Go to the first item in an array or map: set w->at, and the driver's own fields of *level. */
  void (*enter)(zt_walk *w, const zt_value *of, zt_level *level);

  /* Read the next item. False at the end, with w->at behind it, and after a failure. *key and
  ** *value come as ZT_VALUE_NONE; in an array *key stays so. If the value is an array or map, w->at
  ** has no meaning afterwards. */
  bool (*next)(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);

  /* Set w->at to the position behind an array or map. */
  void (*skip)(zt_walk *w, const zt_value *value);

  /* As zt_walk_stored_type(). NULL: the format has no words for types. */
  zt_text (*stored_type)(zt_walk *w, const zt_value *value);

  /* The bytes of the value of a key of attributes, as the file has them and its encoder writes them
  ** again. False: they cannot be written so. NULL: never. */
  bool (*stored)(const zt_container *c, const zt_value *key, const zt_value *value, zt_span *out);
  bool stored_is_cbor;
} zt_steps;

#define ZT_DRIVER_RULES 5

typedef struct zt_driver {
  const char *name;    /* For tests; unique */
  const char *format;  /* As in zt_files.container */
  const char *files;   /* Patterns of file names, separated by spaces; a directory source includes
                       ** such files. NULL: another driver of the format has them */
  const zt_rule *rules[ZT_DRIVER_RULES+1];   /* Lists of rules that its files may break, shared
                                             ** lists first, without those of bytes and values
                                             ** (tensor/); ends with NULL */

  const char *tailed;  /* The first bytes of its files if it looks at their tail, too; NULL: it does
                       ** not */
  bool own_attributes; /* Attributes of objects are what a user stored, and derived from nothing */

  /* At most one driver says yes to a file; if none does, at most one says perhaps. Failures to read
  ** are recorded in err. */
  zt_probe (*probe)(const zt_head_tail *input, zt_error *err);

  /* Read and check all metadata, add all objects and components, and set the container's fields
  ** that are marked so below. */
  int (*open)(zt_builder *b, const zt_head_tail *input);

  /* Decode object i. *out comes with its index, name and defaults. */
  void (*object)(const zt_container *c, uint32_t i, zt_object *out);

  /* Decode component k, which belongs to object i. *out comes with defaults. */
  void (*component)(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                    zt_component *out);

  const zt_steps *steps;   /* NULL: no value is an array or a map */

  /* Decode shard i, whose name is set. NULL: the format has none. */
  void (*shard)(const zt_container *c, uint32_t i, zt_shard *out);

  /* Fail unless head and tail are those of a sound file. NULL: no shard is of this format. */
  int (*check_head_tail)(const zt_head_tail *input, zt_error *err);

  /* Free c->state. NULL: there is none. */
  void (*close)(zt_container *c);
} zt_driver;

struct zt_container {
  const zt_driver *driver;
  atomic_int references;   /* Several threads may share one */
  uint64_t file_size;
  bool is_file;
  zt_identity identity;      /* If is_file */
  char *etag;                /* Of a remote file; owned, NULL: none */

  /* The driver's, unless its open() sets others: */
  const char *format;        /* Static */
  bool own_attributes;

  /* Set by the driver's open(): */
  zt_text version;           /* z NULL: it has none; may lie in the kept bytes */
  unsigned rules;            /* ZT_RULE_ bits */
  bool newer;
  bool named_by_path;        /* Its objects, or its shards, are named by */
  zt_key stem;               /* zt_container_stem(), which is among the kept bytes */
  uint64_t begin, end;       /* Blobs and manifest lie between; the default is all of the file */
  uint64_t gap;              /* Maximum bytes of alignment between two blobs */
  zt_value attributes;       /* Of the file; none by default */
  zt_value manifest;         /* All metadata; none by default */
  const char *member_rule;   /* As zt_container_member_rule() */
  zt_key unlisted;           /* zt_container_unlisted(), which is among the kept bytes */
  uint64_t own_end;          /* Where its own bytes end: another file may follow. 0: unknown */
  void *state;               /* The driver's own, owned */
  size_t state_size;         /* In bytes, for accounts */

  /* Through the builder: */
  struct {
    uint8_t *p;              /* Owned */
    size_t n, capacity;
  } kept;
  uint64_t manifest_offset;  /* Offset of the manifest_length bytes that were read as the first kept
                             ** ones, apart from the driver's changes; or, if it keeps other bytes,
                             ** of all bytes it used */
  uint64_t manifest_length;
  bool from_file;            /* zt_builder_read() read them */
  zt_keys names;             /* Of the objects, in their order */
  zt_u32_array objects;      /* The driver's */
  uint32_t single;           /* These objects have one component each, of the object's own number;
                             ** the last may have more */
  zt_u32_array first;        /* First component of each further object */
  zt_u32_array components;   /* The driver's */
  zt_keys shard_names;
  zt_u32_array shards;       /* The driver's */
  zt_u32_array notes;        /* Positions in the kept bytes */
  uint32_t behind;           /* Number of the object that is another file (behind.h), plus 1; 0:
                             ** there is none */
};

/* The driver that claims the file, NULL if none does. */
const zt_driver *zt_driver_for(const zt_head_tail *input, zt_error *err);

/* All drivers, ended by NULL. */
extern const zt_driver *const zt_drivers[];

/* A buffer for head and tail of a file. */
typedef struct zt_head_tail_buffer {
  uint8_t head[ZT_HEAD_SIZE], tail[ZT_TAIL_SIZE];
  struct zt_zip *zip;  /* Owned: zt_zip_close() it after probing. NULL: none */
} zt_head_tail_buffer;

/* Returns whether a driver looks at the tail of a file that begins so. */
bool zt_driver_wants_tail(zt_span head);

/* Read head and tail of a source into a buffer, or copy them from the builder's prefetched bytes. b
** may be NULL. The tail of a remote file costs a request: it is read only if a driver wants it. */
int zt_head_tail_read(zt_source *source, const zt_builder *b, zt_head_tail_buffer *buffer,
                      zt_head_tail *out, zt_error *err);

/* Read the tail, if it was not. */
int zt_tail_read(zt_source *source, zt_head_tail_buffer *buffer, zt_head_tail *out, zt_error *err);

/* An empty container. NULL: out of memory. */
zt_container *zt_container_new(void);

/* Fail unless head and tail of the source are those of a sound file of that format. */
int zt_driver_check(const zt_driver *driver, zt_source *source, zt_error *err);

/* As zt_container_open(), by that driver, whatever it would say to the file. */
int zt_driver_open(const zt_driver *driver, zt_source *source, const zt_interrupt *interrupt,
                   zt_container **out, zt_error *err);

/* The name of an object that has none in the file: the last part of the path without its extension;
** `data` for an image (path NULL), or if that part is not UTF-8. */
zt_text zt_container_stem(const char *path);

static inline zt_span zt_container_kept(const zt_container *c){
  return (zt_span){ c->kept.p, c->kept.n };
}

#endif
