/*
** Positioned reads of one remote file, of one state of it. Interface to code in remote_file.c. Any
** thread may read.
**
** Small reads close behind each other, and reads that were announced, are answered from blocks that
** are asked for ahead; others are requests of exactly their bytes, several at once for many.
*/
#ifndef ZT_CORE_REMOTE_FILE_H
#define ZT_CORE_REMOTE_FILE_H

#include "core/remote.h"

typedef struct zt_remote_file zt_remote_file;

/* What opening asks the server for. */
typedef enum zt_remote_ask {
  ZT_REMOTE_NOTHING,         /* The known state is taken; reads fail if it is another one */
  ZT_REMOTE_CHANGE,          /* Its first bytes, unless the known state is still so */
  ZT_REMOTE_HEAD             /* Its first bytes, and its last ones if its name tells that they
                             ** matter */
} zt_remote_ask;

#if ZT_REMOTE
/* Opens a file by its source. `known` is needed for ZT_REMOTE_NOTHING and _CHANGE, and may be NULL
** else. *out is NULL after a failure. */
int zt_remote_file_open(zt_remote *r, const char *path, const zt_remote_state *known,
                        zt_remote_ask ask, zt_remote_file **out, zt_error *err);
void zt_remote_file_close(zt_remote_file *f);

/* Asks for the first bytes of a file that is likely to be opened, in this statement. Nothing waits,
** and failures are those of opening it. */
void zt_remote_file_begin(zt_remote *r, const char *path);

/* Ends what began and was not opened. */
void zt_remote_file_drop_begun(zt_remote *r);

/* Its state, which lives as long as the file. */
const zt_remote_state *zt_remote_file_state(const zt_remote_file *f);

/* Copies n bytes at offset, which the file has. err->shard is set for messages, if needed. */
int zt_remote_file_read(zt_remote_file *f, uint64_t offset, uint8_t *buffer, size_t n,
                        zt_error *err);

/* Announces that n bytes at offset will be read, in this order. */
void zt_remote_file_expect(zt_remote_file *f, uint64_t offset, uint64_t n);

/* Counts what is kept of it as ahead, from now until it is closed. False: that would be too much,
** and the caller closes it. Only a file whose server reads no ranges is that large. */
bool zt_remote_file_hold_ahead(zt_remote_file *f);

zt_remote *zt_remote_file_remote(const zt_remote_file *f);

/* Its path as a name: that of a URL is percent-decoded and without its query. */
const char *zt_remote_file_plain_path(const zt_remote_file *f);

#else
/* There are no remote files. */
#define zt_remote_file_close(f) ((void)(f))
#define zt_remote_file_expect(f, offset, n) ((void)(f), (void)(offset), (void)(n))
#define zt_remote_file_hold_ahead(f) ((void)(f), true)
#endif

#endif
