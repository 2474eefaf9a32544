/* A library that is preloaded: the name inside.test leads to this machine, as names of a private network may. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out){
  int (*system)(const char*, const char*, const struct addrinfo*, struct addrinfo**);
  *(void**)&system = dlsym(RTLD_NEXT, "getaddrinfo");
  return system(name && strcmp(name, "inside.test")==0 ? "127.0.0.1" : name, service, hints, out);
}
