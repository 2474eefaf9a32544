/* Files of torch.save without their tensors: what a file says of itself, its pickles, and the
** places of storages. Zip archives are in torch_archive.c, pickles in sequence in
** torch_legacy.c, and pickles that are not PyTorch's in torch_plain.c. Other code does not know
** the kind of file. */
#ifndef ZT_CONTAINER_TORCH_STORAGE_H
#define ZT_CONTAINER_TORCH_STORAGE_H

#include "container/builder.h"
#include "container/torch_call.h"

typedef struct zt_torch_file zt_torch_file;

typedef enum zt_torch_which { ZT_TORCH_DATA, ZT_TORCH_CONSTANTS } zt_torch_which;

typedef struct zt_torch_pickle {
  zt_pickle *pickle;         /* Owned; NULL: the file has none */
  zt_span bytes;             /* Owned */
  uint64_t offset, length;   /* Its range in the file */
  zt_text folder;            /* Of its storages, if that is not the usual one; otherwise n is 0 */
  bool stored;               /* The file has the bytes as they are; */
  const zt_torch_file *file; /* where, this tells (zt_torch_place()); NULL: from offset on */
} zt_torch_pickle;

void zt_torch_pickle_clear(zt_torch_pickle *p);

/* The bytes of a storage. */
typedef struct zt_torch_storage {
  uint64_t offset, length;   /* As stored; not set if there is a fault */
  uint64_t size;             /* Decoded */
  bool exact;                /* The pickle must state this size */
  zt_codec_id codec;
  uint32_t encoding;         /* Position of a NUL-terminated text; 0: raw */
  uint32_t fault;            /* The same; 0: none */
  const char *rule;          /* The fault's */
} zt_torch_storage;

typedef struct zt_torch_kinds {
  int (*read)(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out);
  int (*find)(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out);
  void (*close)(zt_torch_file *f);
  uint64_t (*place)(const zt_torch_file *f, size_t at);   /* NULL: not needed */
  bool (*next_other)(const zt_torch_file *f, uint32_t *i, zt_text *name);   /* NULL: none */
} zt_torch_kinds;

/* The first member of each kind's struct. */
struct zt_torch_file {
  const zt_torch_kinds *kind;
  zt_builder *b;
  zt_text archive;           /* The folder of an archive's records; z NULL: not an archive */
  zt_text version;           /* z NULL: not stated */
  zt_text byte_order;        /* The same */
  bool plain;                /* A pickle that is not PyTorch's: leaves and names are its own */
  zt_torch_storage whole;    /* If encoding is set: the file, as one compressed stream */
  uint64_t storages;         /* About how many there are at least; 0: unknown */
};

/* Open a zip archive, pickles in sequence, or a pickle that is not PyTorch's. *out is NULL on
** failure. */
int zt_torch_open_archive(zt_builder *b, const zt_head_tail *input, zt_torch_file **out);
int zt_torch_open_legacy(zt_builder *b, const zt_head_tail *input, zt_torch_file **out);
int zt_torch_open_plain(zt_builder *b, const zt_head_tail *input, zt_torch_file **out);

/* Read a pickle; out->pickle is NULL if the file has none. *out needs zt_torch_pickle_clear().
** Storages are this pickle's from then on. */
static inline int zt_torch_read(zt_torch_file *f, zt_torch_which which, zt_torch_pickle *out){
  return f->kind->read(f, which, out);
}

/* Find the storage of a view. A fault of this storage alone is set in *out. */
static inline int zt_torch_find(zt_torch_file *f, const zt_torch_view *v, zt_torch_storage *out){
  return f->kind->find(f, v, out);
}

/* The file's offset of a byte of a pickle; of a compressed file, the decoded one. */
static inline uint64_t zt_torch_place(const zt_torch_pickle *p, size_t at){
  return p->file ? p->file->kind->place(p->file, at) : p->offset+at;
}

/* The next other tensor file in the file, which is not read: *name is a path, or empty. *i is 0 at
** first. False: there is none. */
static inline bool zt_torch_next_other(const zt_torch_file *f, uint32_t *i, zt_text *name){
  return f->kind->next_other && f->kind->next_other(f, i, name);
}

static inline void zt_torch_close(zt_torch_file *f){   /* NULL is allowed */
  if( f ) f->kind->close(f);
}

/* Keep a NUL-terminated text; *at is its position. */
ZT_FORMAT(3, 0)
int zt_torch_keep_text(zt_builder *b, uint32_t *at, const char *format, va_list list);

/* Set a storage's fault. Fails only if memory is short. */
ZT_FORMAT(4, 5)
int zt_torch_set_fault(zt_builder *b, zt_torch_storage *s, const char *rule, const char *format,
                       ...);

#endif
