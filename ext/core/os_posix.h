/* Descriptors and interrupted calls, for the files for POSIX systems: os_posix.c, os_write_posix.c
** and os_net.c. */
#ifndef ZT_CORE_OS_POSIX_H
#define ZT_CORE_OS_POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Repeats a call that a signal interrupted: a host may have handlers without SA_RESTART. errno is 0
** unless the call failed and set it. */
#define ZT_OS_UNINTERRUPTED(failed) do errno = 0; while( (failed) && errno==EINTR )

/* Moves a new descriptor above those of the standard streams. A host may have closed these, and
** would print into the file that took their number. Returns -1 and sets errno for -1, or after a
** failure, which closes the descriptor. */
static inline int zt_os_above_standard(int fd){
  int above, error_number;
  if( fd<0 || fd>STDERR_FILENO ) return fd;
  above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO+1);
  error_number = above<0 && errno==EINVAL ? EMFILE : errno;   /* There are no more than those */
  close(fd);
  errno = error_number;
  return above;
}

#endif
