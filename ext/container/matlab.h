/*
** MATLAB files: what matlab.c and matlab4.c, the walks through matrices of level 5 and of level 4,
** matlab_text.c, their texts, and matlab_object.c, the objects of the container, share.
*/
#ifndef ZT_CONTAINER_MATLAB_H
#define ZT_CONTAINER_MATLAB_H

#include "container/builder.h"
#include "container/matlab_input.h"
#include "core/cbor_write.h"
#include "core/renamed_duplicates.h"

/* Classes of matrices. */
enum {
  ZT_MATLAB_CELL = 1, ZT_MATLAB_STRUCT, ZT_MATLAB_OBJECT, ZT_MATLAB_CHAR, ZT_MATLAB_SPARSE,
  ZT_MATLAB_DOUBLE, ZT_MATLAB_UINT64 = 15, ZT_MATLAB_FUNCTION, ZT_MATLAB_OPAQUE
};

/* The head of a matrix. */
typedef struct zt_matlab_head {
  uint32_t class;
  bool complex, global, logical;
  bool triplets;            /* Of a sparse matrix: it has `coords` */
  bool shaped;              /* The dimensions are not negative, and at most ZT_MAX_RANK */
  uint32_t rank;
  uint64_t shape[ZT_MAX_RANK];
  uint64_t count;           /* Elements; only if shaped */
  uint64_t end;             /* Position behind the matrix */
} zt_matlab_head;

#define ZT_MATLAB_PARTS 4

/* A component. Memory of a record, which is kept as it is. */
typedef struct zt_matlab_part {
  uint64_t offset, length;  /* Stored bytes: the part's, or the compressed element's */
  uint64_t skip, behind;    /* Their decoded bytes in front of the part and behind it */
  uint64_t size;            /* Decoded bytes of the part itself */
  uint32_t role;            /* ZT_MATLAB_ROLE_ */
  uint32_t type;            /* Of the stored numbers */
  uint32_t kept;            /* ZT_MATLAB_ROLE_COORDS: position of them, u64 little-endian, in the
                            ** kept bytes; UINT32_MAX: they are none */
  bool packed;              /* In a compressed element */
  bool big;                 /* The file's byte order */
} zt_matlab_part;

enum {
  ZT_MATLAB_ROLE_DATA, ZT_MATLAB_ROLE_REAL, ZT_MATLAB_ROLE_IMAG, ZT_MATLAB_ROLE_INDICES,
  ZT_MATLAB_ROLE_INDPTR, ZT_MATLAB_ROLE_VALUES, ZT_MATLAB_ROLE_COORDS
};

typedef struct zt_matlab_scan {
  zt_builder *b;
  zt_error *err;
  zt_matlab_in in;
  zt_cbor_out path;         /* Text: the path of the current matrix */
  zt_cbor_out values;       /* Attributes: pairs of a map */
  uint64_t metadata, most;  /* ML9 */
  uint64_t parts_end;       /* Behind the last part of numbers that was read */
  uint64_t packed_end;      /* Length of the compressed element's content */
  uint32_t attributes[ZT_MATLAB_UINT64+2][2];   /* Kept attributes of a class, global or not, plus
                                            ** 1; 0: not kept yet. The last class is `logical` */
  zt_renamed repeats;
  uint32_t steps;           /* Counts up to a check for an interrupt */
} zt_matlab_scan;

/* A walk through a file; NULL: out of memory. It is freed by zt_matlab_scan_free(). */
zt_matlab_scan *zt_matlab_scan_new(zt_builder *b, uint64_t size);
void zt_matlab_scan_free(zt_matlab_scan *s);

/* Append a text to the path (ML5). */
bool zt_matlab_push(zt_matlab_scan *s, const char *z, size_t n);

/* Keep the attributes, and the manifest, which has `description` unless z is NULL. */
void zt_matlab_keep_values(zt_matlab_scan *s, zt_text description);

/* Count n bytes of what is kept (ML9). */
bool zt_matlab_may_keep(zt_matlab_scan *s, uint64_t n);

/* Add an attribute at the path: the text of a char matrix, whose data are next; or what stands for
** something opaque. */
bool zt_matlab_add_text(zt_matlab_scan *s, const zt_matlab_head *m);
bool zt_matlab_add_units(zt_matlab_scan *s, const zt_matlab_head *m, zt_span bytes,
                         const uint32_t *units, size_t n);   /* NULL: the bytes are no text */
bool zt_matlab_add_opaque(zt_matlab_scan *s, const char *what, size_t n);
/* A warning of the matrix at the path. */
bool zt_matlab_note(zt_matlab_scan *s, const char *rule, const char *what);
bool zt_matlab_add_empty(zt_matlab_scan *s, zt_cbor_type type);   /* An array, or a map */

/* Add an object at the path, whose parts are described. */
bool zt_matlab_add(zt_matlab_scan *s, const zt_matlab_head *m, const zt_matlab_part *parts,
                   uint32_t n);

/* Bytes of a stored number; 0: the type is unknown, or of no number. */
unsigned zt_matlab_width(uint32_t type);

extern const zt_rule zt_rules_matlab[];   /* Of both levels */

/* The drivers'. */
void zt_matlab_object(const zt_container *c, uint32_t i, zt_object *out);
void zt_matlab_component(const zt_container *c, uint32_t i, uint32_t k, unsigned want,
                         zt_component *out);

#endif
