/*
** Files of torch.save as far as tensors do not matter: what a file says of itself, its pickles, and
** where the bytes of storages are. The rest does not know which kind of file it is. Zip archives
** are in torch_archive.c, several pickles in a row in torch_legacy.c. Interface to code in
** torch_storage.c.
*/
#ifndef ZT_CONTAINER_TORCH_STORAGE_H
#define ZT_CONTAINER_TORCH_STORAGE_H

#include "container/builder.h"
#include "container/torch_call.h"

typedef enum zt_torch_which { ZT_TORCH_DATA, ZT_TORCH_CONSTANTS } zt_torch_which;

/* A pickle that was read. */
typedef struct zt_torch_pickle {
  zt_pickle *pickle;         /* Owned; NULL: there is no such */
  zt_span bytes;             /* Owned, too */
  uint64_t offset, length;   /* What it takes of the file, */
  bool stored;               /* where its bytes are as they are */
} zt_torch_pickle;

void zt_torch_pickle_clear(zt_torch_pickle *p);

/* The bytes of a storage. */
typedef struct zt_torch_storage {
  uint64_t offset, length;   /* As they are stored; nothing is known of them if there is a fault */
  uint64_t size;             /* After decoding */
  bool exact;                /* The pickle has to say just as many */
  zt_codec_id codec;
  uint32_t encoding;         /* Position of a text with a NUL behind it; 0: raw */
  uint32_t fault;            /* Likewise; 0: there is none */
  const char *rule;          /* Of the fault */
} zt_torch_storage;

typedef struct zt_torch_file zt_torch_file;

typedef struct zt_torch_kinds {
  int (*read)(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out);
  int (*find)(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out);
  void (*close)(zt_torch_file *f);
} zt_torch_kinds;

/* The head of what each kind has. */
struct zt_torch_file {
  const zt_torch_kinds *kind;
  zt_builder *b;
  zt_text archive;           /* What the names of an archive's records begin with; z NULL: it is
                             ** no archive */
  zt_text version;           /* z NULL: the file does not say */
  zt_text byte_order;        /* Likewise */
  uint64_t storages;         /* About how many there are, at least: 0 if that is not known */
};

/* Open a zip archive, or pickles and storages in a row. *out is NULL on failure. */
int zt_torch_open_archive(zt_builder *b, const zt_head_tail *input, zt_torch_file **out);
int zt_torch_open_legacy(zt_builder *b, const zt_head_tail *input, zt_torch_file **out);

/* Read a pickle, which out->pickle tells whether there is; *out needs zt_torch_pickle_clear(). From
** now on storages are those of this pickle. */
static inline int zt_torch_read(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out){
  return f->kind->read(f, which, out);
}

/* Find the storage of a view. What is wrong with it alone is its fault. */
static inline int zt_torch_find(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out){
  return f->kind->find(f, v, out);
}

static inline void zt_torch_close(zt_torch_file *f){   /* NULL is nothing to close */
  if( f ) f->kind->close(f);
}

/* Keep a text with a NUL behind it; *at is where. */
ZT_FORMAT(3, 0)
int zt_torch_keep_text(zt_builder *b, uint32_t *at, const char *format, va_list list);

/* Set what is wrong with a storage. SQLITE_OK unless memory is short. */
ZT_FORMAT(4, 5)
int zt_torch_set_fault(zt_builder *b, zt_torch_storage *s, const char *rule, const char *format,
                       ...);

#endif
