/*
** The upper halves of AVX's registers. ISA-L leaves values in them. Until they are zero again, a
** Xeon with AVX-512 takes 70 ns longer for each change between code with AVX and code without it,
** as at a memcpy() in code for any x86-64, in the host, too. Interface to code in avx.c.
*/
#ifndef ZT_CORE_AVX_H
#define ZT_CORE_AVX_H

/* Makes the upper halves zero, if there are any. It follows each call of ISA-L over bytes. */
void zt_avx_leave(void);

#endif
