/*
** Sockets and libraries, for http.c. Interface to code in os_net.c, which is for POSIX systems.
*/
#ifndef ZT_CORE_OS_NET_H
#define ZT_CORE_OS_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads the first library of these names, which stays loaded. NULL names end them, and NULL is
** returned if there is none. */
void *zt_net_library(const char *const *names);

/* Copies the address of a function of the library to *function, the address of a pointer to
** functions. False if there is none. */
bool zt_net_symbol(void *library, const char *name, void *function);

/* Copies the bytes of an internet address from a sockaddr. Returns their number, 4 or 16; 0 if it
** is of another family. */
size_t zt_net_address(const void *sockaddr, uint8_t out[16]);

/* Reads a host of n bytes that is written as an address, in any way that resolvers read: [::1],
** 127.0.0.1, 127.1, 0x7f000001, 2130706433. Returns the number of its bytes; 0: it is a name. */
size_t zt_net_literal(const char *host, size_t n, uint8_t out[16]);

/* Opens a socket, which programs that are started do not inherit. -1 after a failure. */
int zt_net_socket(int family, int type, int protocol);

/* Keeps SIGPIPE, which writing to a closed connection causes, from this thread, and lets it go on:
** one that came meanwhile is dropped. */
typedef struct zt_net_signals {
  uint64_t before[16];       /* A sigset_t */
  bool pending;
} zt_net_signals;
void zt_net_hold_signals(zt_net_signals *s);
void zt_net_release_signals(const zt_net_signals *s);

/* Returns seconds since 1970. */
int64_t zt_net_now(void);

#endif
