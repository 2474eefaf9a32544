/*
** A file in the making: bytes that are appended, and a file that has its name only when all of
** it is on the disk. In memory, the same with a bound on its size. Interface to code in
** output.c; the system calls are in os_write_posix.c and os_write_windows.c.
**
** A file is made in its target's directory: without a name where the system allows that
** (O_TMPFILE), so that nothing is left of a process that dies; else as `.NAME.*.partial`. The
** target is a regular file or missing; symbolic links are followed once, when the output is
** opened. The steps of a commit are, in this order:
**
**   zt_output_sync()     the bytes are on the disk (fsync)
**   zt_output_place()    the target is the new file, and so says the directory (fsync); the old
**                        file has a hidden name
**   zt_output_keep()     the hidden name goes: nothing can be undone
**   zt_output_undo()     instead: the target is the old file again, or missing, as before
**
** Between any two system calls the target is the old file or the new one. The two files exchange
** their names where the system can do that in one instant. Elsewhere the old file gets a second
** name (a hard link) first; where it cannot have one, the replacement fails.
**
** zt_output_close() leaves nothing of a file that was not placed, and undoes one that was placed
** but not kept. The first failure of a file sticks: what follows fails in the same way, so that
** no second fsync() hides that the first one failed. Messages begin with the place in err, which
** the caller sets.
*/
#ifndef ZT_CORE_OUTPUT_H
#define ZT_CORE_OUTPUT_H

#include "core/source.h"

typedef struct zt_output zt_output;

/* The n bytes of a number, little-endian. */
static inline void zt_put_le(uint8_t *p, uint64_t u, unsigned n){
  for(unsigned i=0; i<n; i++, u>>=8) p[i] = (uint8_t)u;
}

typedef enum zt_output_mode {
  ZT_OUTPUT_CREATE,      /* An existing target is an error: at once, and again when it is placed */
  ZT_OUTPUT_REPLACE,     /* The target may exist. Its permission bits are kept */
  ZT_OUTPUT_UPDATE       /* The target must exist */
} zt_output_mode;

/* Find the target, and fail if none can be there. *target is the absolute path with symbolic links
** followed, owned; NULL after a failure. This and the next fail as zt_output_open() would if it
** were called now, as far as can be known without making a file: for an early answer. */
int zt_output_find(const char *path, zt_output_mode mode, char **target, zt_error *err);

/* Fail unless a file may be made beside the target that was found. */
int zt_output_check(const char *target, zt_error *err);

/* Begin a file. target: as zt_output_find() found it before, and path names it in messages; NULL:
** path leads to it now. sync: fsync() where the table above says so. *out is NULL after a failure:
** SQLITE_FULL if there is no room, otherwise SQLITE_ERROR. */
int zt_output_open(const char *path, const char *target, zt_output_mode mode, bool sync,
                   zt_output **out, zt_error *err);

/* Begin a file in memory, of at most so many bytes: SQLITE_TOOBIG beyond. */
int zt_output_open_memory(uint64_t most, zt_output **out, zt_error *err);

/* Bytes appended so far. */
uint64_t zt_output_size(const zt_output *o);

/* Append bytes. Zeros may become a hole, which costs neither time nor space. SQLITE_FULL or
** SQLITE_IOERR on failure. */
int zt_output_append(zt_output *o, zt_span bytes, zt_error *err);
int zt_output_append_zeros(zt_output *o, uint64_t n, zt_error *err);

/* Say that the file will have about so many bytes: appending behind holes then takes the system a
** fifth less time, because the file does not grow each time. A size that no file may have is no
** failure yet. */
int zt_output_expect(zt_output *o, uint64_t size, zt_error *err);

/* Room for n bytes, at most ZT_OUTPUT_WINDOW, which the caller fills: no copy. zt_output_filled()
** appends the first n of them. Any other call forgets the room. */
#define ZT_OUTPUT_WINDOW ((size_t)1 << 20)
int zt_output_room(zt_output *o, size_t n, uint8_t **p, zt_error *err);
void zt_output_filled(zt_output *o, size_t n);

/* Write over bytes that were appended: lengths and checksums that are known only later. */
int zt_output_patch(zt_output *o, uint64_t offset, zt_span bytes, zt_error *err);

/* Read n bytes back that were appended. */
int zt_output_read(zt_output *o, uint64_t offset, void *p, size_t n, zt_error *err);

/* Forget the bytes from there on. */
int zt_output_truncate(zt_output *o, uint64_t size, zt_error *err);

/* A source of the bytes so far, to be closed by the caller. Nothing may be appended, patched or
** forgotten while it is open; an output in memory must outlive it. Its path is the target's. */
int zt_output_source(zt_output *o, zt_source **out, zt_error *err);

/* Hold the target's directory until zt_os_close(), as zt_os_hold_directory() does. */
zt_file zt_output_hold(const zt_output *o, const zt_interrupt *interrupt, zt_error *err);

/* Of a file, in the order above. After a failure of place the target is as before. place calls
** sync if that was not done. */
int zt_output_sync(zt_output *o, zt_error *err);
int zt_output_place(zt_output *o, zt_error *err);
void zt_output_keep(zt_output *o);
int zt_output_undo(zt_output *o, zt_error *err);

/* Hand over the bytes of an output in memory, from sqlite3_malloc64(); NULL if there are none. */
uint8_t *zt_output_take(zt_output *o, uint64_t *n);

void zt_output_close(zt_output *o);

#endif
