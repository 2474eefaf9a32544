/*
** Runs a fuzz target once over each file named on the command line: no libFuzzer, no clang. `make test` keeps the inputs
** in tests/fuzz/regressions from failing again with it, and tries the golden and the hostile files on the way.
*/
#include <signal.h>
#include "fuzz.h"

/* The sanitizers' way to tell that they end the program; not there without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max){
  (void)data;
  (void)max;
  return n;   /* Only libFuzzer mutates; the target's mutator must link, but nothing calls it */
}

static const char *current = "no input yet";

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

int main(int argc, char **argv){
  if( __sanitizer_set_death_callback ) __sanitizer_set_death_callback(report);
  else signal(SIGSEGV, report_signal);
  signal(SIGABRT, report_signal);
  LLVMFuzzerInitialize(&argc, &argv);
  for(int i=1; i<argc; i++){
    size_t n;
    uint8_t *p = slurp(argv[i], &n);
    current = argv[i];
    LLVMFuzzerTestOneInput(p, n);
    free(p);
  }
  printf("%s: %d inputs replayed\n", argv[0], argc-1);
  return argc>1 ? 0 : 2;   /* Nothing to replay is a mistake in how it is called */
}
