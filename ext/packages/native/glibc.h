/*
** Included before every C file for glibc: these functions are glibc's own, which knows what the
** processor has, and not those of the compiler's runtime, which a linker would find first.
*/
#if defined(__x86_64__)
# define GLIBC_FIRST "GLIBC_2.2.5"
#else
# define GLIBC_FIRST "GLIBC_2.17"
#endif

__asm__(".symver memcpy, memcpy@" GLIBC_FIRST);
__asm__(".symver memmove, memmove@" GLIBC_FIRST);
__asm__(".symver memset, memset@" GLIBC_FIRST);
__asm__(".symver memcmp, memcmp@" GLIBC_FIRST);
__asm__(".symver strlen, strlen@" GLIBC_FIRST);
