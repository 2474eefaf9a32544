/*
** A file in the making: bytes that are appended, and a file that has its name only when all of it
** is on the disk. In memory, the same with a bound on its size. Interface to code in output.c; the
** system calls are in os_posix.c and os_windows.c.
**
** A file is made in its target's directory: without a name where the system allows that (O_TMPFILE),
** so that nothing is left of a process that dies; else as `.NAME.*.partial`. The target is a regular
** file or missing; symbolic links are followed once, when the output is opened. The steps of a commit
** are, in this order:
**
**   zt_output_sync()     the bytes are on the disk (fsync)
**   zt_output_place()    the target is the new file (link, or rename), and so says the directory
**                        (fsync); the old file keeps a hidden second name
**   zt_output_keep()     the second name goes: nothing can be undone
**   zt_output_undo()     instead: the target is the old file again, or missing, as before
**
** Between any two system calls the target is the old file or the new one. zt_output_close() before
** zt_output_place() leaves nothing.
*/
#ifndef ZT_CORE_OUTPUT_H
#define ZT_CORE_OUTPUT_H

#include "core/os.h"

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

/* Fail as zt_output_open() would if it were called now: for an early answer. Makes nothing. */
int zt_output_check(const char *path, zt_output_mode mode, zt_error *err);

/* Begin a file. sync: fsync() where the table above says so. Messages name the target. */
int zt_output_open(const char *path, zt_output_mode mode, bool sync, zt_output **out,
                   zt_error *err);

/* Begin a file in memory, of at most so many bytes: SQLITE_TOOBIG beyond. */
int zt_output_open_memory(uint64_t most, zt_output **out, zt_error *err);

/* Bytes appended so far. */
uint64_t zt_output_size(const zt_output *o);

/* Append bytes. Bytes that are 0 may become a hole. SQLITE_FULL or SQLITE_IOERR on failure, which
** sticks. */
int zt_output_append(zt_output *o, zt_span bytes, zt_error *err);
int zt_output_append_zeros(zt_output *o, uint64_t n, zt_error *err);

/* Room for n bytes to be appended that the caller fills and hands back: no copy. *p has the room
** that was asked for, at most ZT_OUTPUT_WINDOW. zt_output_filled() appends the first n of it. */
#define ZT_OUTPUT_WINDOW ((size_t)1 << 20)
int zt_output_room(zt_output *o, size_t n, uint8_t **p, zt_error *err);
void zt_output_filled(zt_output *o, size_t n);

/* Write over bytes that were appended: lengths and checksums that are known only later. */
int zt_output_patch(zt_output *o, uint64_t offset, zt_span bytes, zt_error *err);

/* Read n bytes back that were appended. */
int zt_output_read(zt_output *o, uint64_t offset, void *p, size_t n, zt_error *err);

/* Forget the bytes from there on. */
int zt_output_truncate(zt_output *o, uint64_t size, zt_error *err);

int zt_output_sync(zt_output *o, zt_error *err);
int zt_output_place(zt_output *o, zt_error *err);
void zt_output_keep(zt_output *o);
int zt_output_undo(zt_output *o, zt_error *err);

/* Hand over the bytes of an output in memory, from sqlite3_malloc64(). */
uint8_t *zt_output_take(zt_output *o, uint64_t *n);

void zt_output_close(zt_output *o);

#endif
