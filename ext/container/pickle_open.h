/* Pickles that come in pieces, because their files have other bytes between the opcodes: joblib's
** arrays. A piece ends behind each BUILD, and behind STOP. Several pickles, one behind the other,
** have one tree. Interface to code in pickle_open.c; for pickles in one piece, see pickle.h. */
#ifndef ZT_CONTAINER_PICKLE_OPEN_H
#define ZT_CONTAINER_PICKLE_OPEN_H

#include "container/pickle.h"

typedef struct zt_pickle_pieces zt_pickle_pieces;

/* *out is NULL on failure. */
int zt_pickle_pieces_open(const zt_interrupt *interrupt, zt_pickle_pieces **out, zt_error *err);
void zt_pickle_pieces_close(zt_pickle_pieces *s);   /* NULL is allowed */

/* Find where the piece that begins at *at ends. PK2: not in these bytes; more may help. */
int zt_pickle_piece(zt_span bytes, size_t *at, const zt_interrupt *interrupt, zt_error *err);

/* Walk the piece that begins at a position. Bytes between pieces are skipped. All bytes may have
** moved since the last call, together. */
int zt_pickle_pieces_add(zt_pickle_pieces *s, zt_span bytes, size_t from, zt_error *err);

/* The tree so far. It is the caller's after the last piece. */
zt_pickle *zt_pickle_pieces_tree(const zt_pickle_pieces *s);
zt_pickle *zt_pickle_pieces_take(zt_pickle_pieces *s);

/* The object whose state the last piece has set; 0: it ended with STOP. */
zt_pickle_node zt_pickle_pieces_built(const zt_pickle_pieces *s);

/* Say what stands behind that BUILD: bytes from this offset of the file on; */
int zt_pickle_pieces_place(zt_pickle_pieces *s, uint64_t offset, zt_error *err);

/* or another pickle: the next pieces are its own, with their own stack and memo, through its STOP.
** There are none within it. */
int zt_pickle_pieces_enter(zt_pickle_pieces *s, zt_error *err);
bool zt_pickle_pieces_inside(const zt_pickle_pieces *s);

bool zt_pickle_pieces_ended(const zt_pickle_pieces *s);   /* By the STOP that is its own */

/* Begin another pickle behind one that has ended: the next pieces are its own. They have their own
** memo, as pickle.dump() writes them, or go on with that of the pickles before, as one Pickler does
** that dumps several. */
int zt_pickle_pieces_next(zt_pickle_pieces *s, bool own_memo, zt_error *err);

/* Behind the last piece, whose bytes may have moved: if there are several pickles, the tree's root
** becomes a tuple of their values. */
int zt_pickle_pieces_join(zt_pickle_pieces *s, zt_span bytes, zt_error *err);

#endif
