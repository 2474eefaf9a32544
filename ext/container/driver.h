/*
** What a file format gives the model, and the table of formats. A new format is one file that
** defines a driver, and one line in driver.c. The driver has all that is known of the format: also
** the names of its files, and the rules that they may break. Interface to code in driver.c and
** container.c, and between them and the drivers.
**
**   T1  the file is of a format that is known
**   T2  and of one that is read (foreign.c)
*/
#ifndef ZT_CONTAINER_DRIVER_H
#define ZT_CONTAINER_DRIVER_H

#include <stdatomic.h>
#include "container/container.h"
#include "container/rule.h"
#include "core/keys.h"
#include "core/u32_array.h"

/* What tells a file's format. A driver may read a little more of the source. */
typedef struct zt_head_tail {
  zt_source *source;
  uint64_t size;       /* Of the file */
  zt_span head;        /* The first ZT_HEAD_SIZE bytes, fewer if the file has fewer */
  zt_span tail;        /* The last ZT_TAIL_SIZE bytes, fewer if the file has fewer */
  const zt_interrupt *interrupt;   /* May be NULL */
} zt_head_tail;
#define ZT_HEAD_SIZE 16
#define ZT_TAIL_SIZE 48   /* Longest footer of any format, rounded up; short enough to stay clear of
                          ** the blobs before a manifest */

/* Whether a file is of a format. */
typedef enum zt_probe {
  ZT_PROBE_NO,
  ZT_PROBE_PERHAPS,    /* Nothing speaks against it: it is, unless another format has a magic number
                       ** that it has */
  ZT_PROBE_YES         /* It has the format's magic number */
} zt_probe;

typedef struct zt_builder zt_builder;   /* builder.h */

/* The steps of a walk through values (value.h). All of a driver's values have these. */
typedef struct zt_steps {
  /* Stand before the first thing in an array or a map: set w->at, and what is the driver's own
  ** of *level. */
  void (*enter)(zt_walk *w, const zt_value *of, zt_level *level);

  /* Read what comes next. False at the end, w->at being behind it, and after a failure. *key and
  ** *value are ZT_VALUE_NONE; in an array *key stays so. Behind an array or a map that is the
  ** value, w->at is of no meaning. */
  bool (*next)(zt_walk *w, zt_level *level, zt_value *key, zt_value *value);

  /* Set w->at to what comes behind an array or a map. */
  void (*skip)(zt_walk *w, const zt_value *value);

  /* As zt_walk_stored_type(). NULL: the format has no words for types. */
  zt_text (*stored_type)(zt_walk *w, const zt_value *value);
} zt_steps;

#define ZT_DRIVER_RULES 5

typedef struct zt_driver {
  const char *name;    /* For tests: no two drivers have the same */
  const char *format;  /* The file format's name, as zt_files.container shows it */
  const char *files;   /* Names of its files: patterns, a space between two. A directory as source
                       ** stands for the files that have such names. NULL: another driver of the
                       ** format has them */
  const zt_rule *rules[ZT_DRIVER_RULES+1];   /* Lists of the rules that its files may break, shared
                                             ** ones first; those of bytes and values (tensor/) are
                                             ** not among them. NULL ends them */

  /* At most one driver says yes, or else perhaps, to any file. What cannot be read is recorded
  ** in err. */
  zt_probe (*probe)(const zt_head_tail *input, zt_error *err);

  /* Read and check all metadata, and add all objects and components. Sets of the container what is
  ** marked so below. */
  int (*open)(zt_builder *b, const zt_head_tail *input);

  /* Decode object i. *out has its index, name and the defaults of what a file need not say. */
  void (*object)(const zt_container *c, uint32_t i, zt_object *out);

  /* Decode component k, which is one of object i. *out has the defaults of what a file need
  ** not say. */
  void (*component)(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                    zt_component *out);

  const zt_steps *steps;   /* NULL: no value of it is an array or a map */

  /* Decode shard i, whose name is set. NULL: the format has none. */
  void (*shard)(const zt_container *c, uint32_t i, zt_shard *out);

  /* Fail unless the two ends are those of a sound file. NULL: no shard is of this format. */
  int (*check_head_tail)(const zt_head_tail *input, zt_error *err);

  /* Free c->state. NULL: there is none. */
  void (*close)(zt_container *c);
} zt_driver;

struct zt_container {
  const zt_driver *driver;
  atomic_int references;   /* Several threads may have one */
  uint64_t file_size;
  bool is_file;
  zt_identity identity;      /* If it is a file */

  /* Set by the driver's open: */
  zt_text version;           /* z NULL: it has none; may lie in the kept bytes */
  unsigned rules;            /* ZT_RULE_ bits */
  bool newer;
  bool named_by_path;        /* Its one object is called as zt_container_stem() says */
  uint64_t begin, end;       /* Blobs and manifest lie between; at first, all of the file */
  uint64_t gap;              /* Most bytes between blobs that alignment explains */
  zt_value attributes;       /* Of the file; at first none */
  zt_value manifest;         /* All metadata; at first none */
  void *state;               /* Whatever the driver remembers besides */
  size_t state_size;         /* Bytes of it, for accounts */

  /* Through the builder: */
  struct {
    uint8_t *p;              /* Owned */
    size_t n, capacity;
  } kept;
  uint64_t manifest_offset;  /* Where the first manifest_length of them were read, but for what the
                             ** driver rewrote; or, if it keeps others, where it read all that it
                             ** went by */
  uint64_t manifest_length;
  bool from_file;            /* zt_builder_read() read them */
  zt_keys names;             /* Of the objects, in their order */
  zt_u32_array objects;      /* Their numbers */
  uint32_t single;           /* So many objects have one component each, but for the last of them:
                             ** the first component has the object's own number */
  zt_u32_array first;        /* Of each object behind those: its first component */
  zt_u32_array components;   /* Their numbers */
  zt_keys shard_names;
  zt_u32_array shards;       /* Their numbers */
};

/* The driver that claims the file, NULL if none does. */
const zt_driver *zt_driver_for(const zt_head_tail *input, zt_error *err);

/* All drivers, ended by NULL. */
extern const zt_driver *const zt_drivers[];

/* Where the two ends of a file are read to. */
typedef struct zt_head_tail_buffer {
  uint8_t head[ZT_HEAD_SIZE], tail[ZT_TAIL_SIZE];
} zt_head_tail_buffer;

/* Read the two ends of a source into a buffer, or find them in what the builder, if there is one,
** has read ahead. */
int zt_head_tail_read(zt_source *source, const zt_builder *b, zt_head_tail_buffer *buffer,
                      zt_head_tail *out,
                      zt_error *err);

/* A container of nothing. NULL: there is no memory. */
zt_container *zt_container_new(void);

/* Fail unless the source is a sound file of that format, as far as its two ends tell. */
int zt_driver_check(const zt_driver *driver, zt_source *source, zt_error *err);

/* What a file calls its one object that has no name in it: the last part of its path without the
** extension; `data`, if it is an image (NULL), or if that is no UTF-8. */
zt_text zt_container_stem(const char *path);

/* The kept bytes. */
static inline zt_span zt_container_kept(const zt_container *c){
  return (zt_span){ c->kept.p, c->kept.n };
}

#endif
