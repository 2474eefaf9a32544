/*
** Runs a fuzz target once over each file named on the command line: no libFuzzer, no clang. `make test` keeps the inputs
** in tests/fuzz/regressions from failing again with it, and tries the golden and the hostile files on the way.
**
**   replay FILE...
**   replay --random SEED COUNT    that many random inputs instead, the same ones for the same seed
*/
#include <signal.h>
#include <string.h>
#include "fuzz.h"

#define RANDOM_LENGTH 64      /* Bytes of a random input */

/* The sanitizers' way to tell that they end the program; not there without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max){
  (void)data;
  (void)max;
  return n;   /* Only libFuzzer mutates; the target's mutator must link, but nothing calls it */
}

static char current[4096] = "no input yet";

/* Say which input it was. What else there is to say was said. */
static void report(void){
  fprintf(stderr, "the input is %s\n", current);
}

static void report_signal(int number){
  report();
  signal(number, SIG_DFL);
  raise(number);
}

/* The file's bytes, exactly as many as there are, so that a sanitizer sees what is read beyond them. */
static uint8_t *slurp(const char *path, size_t *n){
  FILE *f = fopen(path, "rb");
  long size;
  uint8_t *p;
  if( !f || fseek(f, 0, SEEK_END) || (size = ftell(f))<0 || fseek(f, 0, SEEK_SET) ){
    perror(path);
    exit(2);
  }
  *n = (size_t)size;
  p = malloc(*n ? *n : 1);
  if( !p || fread(p, 1, *n, f)!=*n ){
    perror(path);
    exit(2);
  }
  fclose(f);
  return p;
}

static int replay_files(char **paths, int n){
  for(int i=0; i<n; i++){
    size_t size;
    uint8_t *p = slurp(paths[i], &size);
    snprintf(current, sizeof(current), "%s", paths[i]);
    LLVMFuzzerTestOneInput(p, size);
    free(p);
  }
  return n;
}

/* The generator xorshift64* (Marsaglia, Vigna). */
static uint8_t next_byte(uint64_t *state){
  *state ^= *state>>12;
  *state ^= *state<<25;
  *state ^= *state>>27;
  return (uint8_t)(*state*0x2545F4914F6CDD1Du >> 56);
}

/* Each input has a seed of its own, so that a finding is run again alone: its seed, and a count of 1. */
static int run_random(uint64_t seed, int n){
  for(int i=0; i<n; i++){
    uint64_t state = (seed+(uint64_t)i+1)*0x9E3779B97F4A7C15u;
    uint8_t bytes[RANDOM_LENGTH];
    snprintf(current, sizeof(current), "--random %llu 1", (unsigned long long)seed+(unsigned long long)i);
    for(size_t k=0; k<sizeof(bytes); k++) bytes[k] = next_byte(&state);
    LLVMFuzzerTestOneInput(bytes, sizeof(bytes));
  }
  return n;
}

int main(int argc, char **argv){
  int n;
  if( __sanitizer_set_death_callback ) __sanitizer_set_death_callback(report);
  else signal(SIGSEGV, report_signal);
  signal(SIGABRT, report_signal);
  LLVMFuzzerInitialize(&argc, &argv);
  if( argc==4 && strcmp(argv[1], "--random")==0 ) n = run_random(strtoull(argv[2], NULL, 10), atoi(argv[3]));
  else n = replay_files(argv+1, argc-1);
  printf("%s: %d inputs replayed\n", argv[0], n);
  return n>0 ? 0 : 2;   /* Nothing to replay is a mistake in how it is called */
}
