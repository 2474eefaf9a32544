/*
** What __builtin_cpu_supports() and target_clones of clang ask of the compiler's runtime on x86-64:
** zig's says that no processor has anything. Here are the answers for what the extension asks:
** avx2, f16c and x86-64-v4; of all else it is said that there is none. The numbers of the bits are
** those of libgcc and compiler-rt.
*/
#if defined(__x86_64__)
# include <cpuid.h>

# define CPU_AVX2 10
# define CPU_F16C 49
# define CPU_X86_64_V4 98

# define CPU_HIDDEN __attribute__((visibility("hidden")))

typedef struct cpu_model {
  unsigned vendor, type, subtype, features[1];
} cpu_model;

CPU_HIDDEN cpu_model __cpu_model;
CPU_HIDDEN unsigned __cpu_features2[3];
CPU_HIDDEN int __cpu_indicator_init(void);

static void cpu_has(unsigned bit){
  if( bit<32 ) __cpu_model.features[0] |= 1u<<bit;
  else __cpu_features2[bit/32-1] |= 1u<<bit%32;
}

static int cpu_all(unsigned bits, unsigned wanted){
  return (bits & wanted)==wanted;
}

/* The registers that the system keeps for each thread. */
static unsigned cpu_kept(void){
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/* Called before other constructors, and before what it writes to is all relocated: it calls nothing
** outside of this file. Whoever comes second writes the same. */
__attribute__((constructor(101)))
int __cpu_indicator_init(void){
  /* Of leaf 1, ECX; of leaf 7, EBX; of leaf 0x80000001, ECX */
  const unsigned osxsave = 1u<<27, avx = 1u<<28, f16c = 1u<<29, fma = 1u<<12, movbe = 1u<<22;
  const unsigned bmi1 = 1u<<3, avx2 = 1u<<5, bmi2 = 1u<<8;
  const unsigned avx512_f = 1u<<16, avx512_dq = 1u<<17, avx512_cd = 1u<<28, avx512_bw = 1u<<30;
  const unsigned avx512_vl = 1u<<31;
  const unsigned avx512 = avx512_f | avx512_dq | avx512_cd | avx512_bw | avx512_vl;
  const unsigned lzcnt = 1u<<5;
  unsigned a, b, c1 = 0, d, b7 = 0, c7, c8 = 0, kept;
  if( !__get_cpuid(1, &a, &b, &c1, &d) || !cpu_all(c1, osxsave|avx) ) return 0;
  __get_cpuid_count(7, 0, &a, &b7, &c7, &d);
  __get_cpuid(0x80000001, &a, &b, &c8, &d);
  kept = cpu_kept();
  if( !cpu_all(kept, 0x06) ) return 0;
  if( c1 & f16c ) cpu_has(CPU_F16C);
  if( b7 & avx2 ) cpu_has(CPU_AVX2);
  if( cpu_all(kept, 0xe6) && cpu_all(c1, f16c|fma|movbe) && (c8 & lzcnt)
   && cpu_all(b7, avx2|bmi1|bmi2|avx512) ){
    cpu_has(CPU_X86_64_V4);
  }
  return 0;
}
#endif
