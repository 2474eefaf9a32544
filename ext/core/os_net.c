/* Sockets and libraries. See os_net.h. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the C library's */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64   /* One fcntl() for all files */
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "core/remote.h"

#if ZT_REMOTE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "core/os_net.h"
#include "core/os_posix.h"

void *zt_net_library(const char *const *names){
  void *found = NULL;
  for(int i=0; !found && names[i]; i++){
    found = dlopen(names[i], RTLD_NOW|RTLD_LOCAL|RTLD_NODELETE);
  }
  return found;
}

bool zt_net_symbol(void *library, const char *name, void *function){
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof(found));
  return found!=NULL;
}

size_t zt_net_address(const void *sockaddr, uint8_t out[16]){
  struct sockaddr_in in4;
  struct sockaddr_in6 in6;
  sa_family_t family;
  memcpy(&family, (const uint8_t*)sockaddr+offsetof(struct sockaddr, sa_family), sizeof(family));
  if( family==AF_INET ){
    memcpy(&in4, sockaddr, sizeof(in4));
    memcpy(out, &in4.sin_addr, 4);
    return 4;
  }
  if( family!=AF_INET6 ) return 0;
  memcpy(&in6, sockaddr, sizeof(in6));
  memcpy(out, &in6.sin6_addr, 16);
  return 16;
}

size_t zt_net_literal(const char *host, size_t n, uint8_t out[16]){
  char z[64];
  struct in_addr in4;
  const bool brackets = n>2 && host[0]=='[' && host[n-1]==']';
  if( brackets ){
    host++;
    n -= 2;
  }
  while( n>0 && host[n-1]=='.' ) n--;
  if( n==0 || n>=sizeof(z) ) return 0;
  memcpy(z, host, n);
  z[n] = 0;
  if( brackets ) return inet_pton(AF_INET6, z, out)==1 ? 16 : 0;
  if( !inet_aton(z, &in4) ) return 0;
  memcpy(out, &in4, 4);
  return 4;
}

int zt_net_socket(int family, int type, int protocol){
#ifdef SOCK_CLOEXEC
  return zt_os_above_standard(socket(family, type|SOCK_CLOEXEC, protocol));
#else
  const int fd = zt_os_above_standard(socket(family, type, protocol));
  if( fd>=0 ) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
#endif
}

static bool net_is_pending(void){
  sigset_t pending;
  return sigpending(&pending)==0 && sigismember(&pending, SIGPIPE)==1;
}

void zt_net_hold_signals(zt_net_signals *s){
  sigset_t held;
  s->pending = net_is_pending();
  sigemptyset(&held);
  sigaddset(&held, SIGPIPE);
  _Static_assert( sizeof(sigset_t)<=sizeof(s->before), "room for a mask" );
  pthread_sigmask(SIG_BLOCK, &held, (sigset_t*)s->before);
}

void zt_net_release_signals(const zt_net_signals *s){
  if( !s->pending && net_is_pending() ){
    sigset_t held;
    int which;
    sigemptyset(&held);
    sigaddset(&held, SIGPIPE);
    (void)sigwait(&held, &which);
  }
  pthread_sigmask(SIG_SETMASK, (const sigset_t*)s->before, NULL);
}

int64_t zt_net_now(void){
  return (int64_t)time(NULL);
}
#else
typedef int zt_net_is_left_out;   /* A file of C has a declaration */
#endif
