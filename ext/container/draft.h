/*
** A draft: the metadata of a file that is to be written. The mirror of container.h: objects, each
** with components and attributes, and attributes of the file. A draft knows neither a format nor
** where bytes come from. Interface to code in draft.c.
**
** Objects are numbered in the order in which they are added. Components and attributes may be added
** to any object at any time, and keep their order. Nothing is removed: zt_writer keeps rows, and
** makes a draft of them when all are known.
**
** The draft copies all texts and values. An attribute's value is one item of deterministic CBOR
** (RFC 8949, 4.2.1), which encoders read with core/cbor.h.
*/
#ifndef ZT_CONTAINER_DRAFT_H
#define ZT_CONTAINER_DRAFT_H

#include "container/container.h"
#include "core/digest.h"

typedef struct zt_draft zt_draft;

static inline zt_text zt_text_of(const char *z){ return (zt_text){ z, strlen(z) }; }

typedef struct zt_draft_object {
  zt_text name;
  zt_layout_id layout;
  zt_text format;               /* The stored word for the layout; n 0: the encoder's own */
  const zt_ggml_type *blocks;   /* For ZT_LAYOUT_GGML; otherwise NULL */
  uint32_t rank;
  const uint64_t *shape;        /* rank numbers */
  uint32_t kept;                /* 0: a new object. Else 1 and the index of the one in the file that
                                ** is updated, which keeps its stored bytes and its metadata, */
  bool kept_name;               /* and its name */
} zt_draft_object;

#define ZT_DRAFT_UNKNOWN UINT64_MAX

/* How a component is stored. The encoder sets the last three when its bytes are written. */
typedef struct zt_draft_component {
  zt_text role;
  const zt_dtype *element;      /* NULL: bytes without a type */
  uint64_t decoded_length;      /* ZT_DRAFT_UNKNOWN: of a kept object, if no one knows */
  bool elsewhere;               /* Of a kept object: its bytes are in a shard, and stay there */
  zt_codec_id codec;
  int level;                    /* Of the codec */
  unsigned digest;              /* A ZT_DIGEST_ bit; 0: none */
  uint32_t supply;              /* The number of what gives its bytes (tensor/supply.h) */
  uint64_t offset, length;      /* Stored */
  zt_text digest_text;          /* n 0: none */
} zt_draft_component;

typedef struct zt_draft_attribute {
  zt_text key;
  zt_span value;                /* One CBOR item; with `stored`: the format's own bytes */
  zt_text stored_type;          /* GGUF's word; n 0: by the value */
  bool stored;                  /* The value is that of the file that is updated, */
  bool kept_key;                /* and so is the key */
} zt_draft_attribute;

/* True if an object of a file can stay as it is when the file is written again: its stored bytes
** are copied with what the metadata say of them. Asked of each component, whose offset and length
** become those of all stored bytes. */
typedef bool (*zt_encoder_keeps)(const zt_container *c, uint32_t object, zt_component *component);

/* NULL: there is no memory (recorded in err). */
zt_draft *zt_draft_new(zt_error *err);
void zt_draft_free(zt_draft *d);

/* An empty draft in the memory of one that is not needed any more. NULL: there was none, or so much
** that it was freed. */
zt_draft *zt_draft_reuse(zt_draft *d);

/* Add an object. A name that another object has is an error (SQLITE_ERROR). */
int zt_draft_add_object(zt_draft *d, const zt_draft_object *object, uint32_t *number,
                        zt_error *err);

/* Add a component, whose role must be new to the object, which has at most ZT_DRAFT_COMPONENTS; or
** an attribute, whose key must be new. */
#define ZT_DRAFT_COMPONENTS 64
#define ZT_DRAFT_FILE UINT32_MAX   /* As an attribute's object: the file */
int zt_draft_add_component(zt_draft *d, uint32_t object, const zt_draft_component *component,
                           zt_error *err);
int zt_draft_add_attribute(zt_draft *d, uint32_t object, const zt_draft_attribute *attribute,
                           zt_error *err);

/* Read the draft. All texts are borrowed until something is added, digests also until
** zt_draft_store(). */
uint32_t zt_draft_objects(const zt_draft *d);
int64_t zt_draft_find(const zt_draft *d, zt_text name);   /* -1: there is no such object */
void zt_draft_object_get(const zt_draft *d, uint32_t object, zt_draft_object *out);

/* A walk through an object's components, or attributes, in their order. Begin with 0; the next
** place comes back, and 0 at the end. */
uint32_t zt_draft_next_component(const zt_draft *d, uint32_t object, uint32_t place,
                                 zt_draft_component *out);
uint32_t zt_draft_next_attribute(const zt_draft *d, uint32_t object, uint32_t place,
                                 zt_draft_attribute *out);

/* The component at a place. */
void zt_draft_component_get(const zt_draft *d, uint32_t place, zt_draft_component *out);

/* False also if memory is short (recorded in err). */
bool zt_draft_has_attribute(zt_draft *d, uint32_t object, zt_text key, zt_error *err);
bool zt_draft_has_attributes(const zt_draft *d, uint32_t object);

/* Say where the component at a place was stored, and with which digest. */
int zt_draft_store(zt_draft *d, uint32_t place, uint64_t offset, uint64_t length, zt_text digest,
                   zt_error *err);

/* Say that it stands elsewhere: its bytes were there already. */
void zt_draft_move(zt_draft *d, uint32_t place, uint64_t offset);

/* The attributes of an object in the order of compare, and how many; in memory from
** sqlite3_malloc64(). NULL on failure. */
zt_draft_attribute *zt_draft_sort_attributes(const zt_draft *d, uint32_t object,
                                             int (*compare)(zt_text, zt_text), uint32_t *n,
                                             zt_error *err);

/* The numbers of all objects, in memory from sqlite3_malloc64(), by name (bytewise) or by the
** format's own order. NULL on failure. */
typedef int (*zt_draft_compare)(const zt_draft *d, uint32_t a, uint32_t b);
uint32_t *zt_draft_sort(const zt_draft *d, zt_draft_compare compare, const zt_interrupt *interrupt,
                        zt_error *err);
int zt_draft_compare_names(const zt_draft *d, uint32_t a, uint32_t b);

/* The name of an object. */
zt_text zt_draft_name(const zt_draft *d, uint32_t object);

/* The one component of an object, in formats whose objects have no others. Returns its place. */
uint32_t zt_draft_data(const zt_draft *d, uint32_t object, zt_draft_component *out);

#endif
