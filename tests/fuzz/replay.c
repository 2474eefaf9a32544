/*
** Runs a fuzz target once over each file named on the command line: no libFuzzer, no clang. `make test` keeps the inputs
** in tests/fuzz/regressions from failing again with it.
*/
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max){
  (void)data;
  (void)max;
  return n;   /* Only libFuzzer mutates; the target's mutator must link, but nothing calls it */
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
  LLVMFuzzerInitialize(&argc, &argv);
  for(int i=1; i<argc; i++){
    size_t n;
    uint8_t *p = slurp(argv[i], &n);
    fprintf(stderr, "%s\n", argv[i]);   /* What a crash was about */
    LLVMFuzzerTestOneInput(p, n);
    free(p);
  }
  printf("%s: %d inputs replayed\n", argv[0], argc-1);
  return argc>1 ? 0 : 2;
}
