#!/bin/sh
# Mutants of the golden files through every table and function: sh tests/fuzz/mutate.sh TARGET COUNT, TARGET being a fuzz_diff
# that replays.
#
# Mutant i is made of seed i, the same one in each run; `fuzz_diff --random i 1` tries it alone. Several processes share
# them.
set -eu

target=$1 count=$2
share=500
log=${target%/*}/mutate.log

seq 0 $share $((count-1)) | xargs -P "$(nproc)" -I SEED sh -c \
  "n=\$(($count-SEED)); [ \$n -le $share ] || n=$share; '$target' --random SEED \$n" >"$log" 2>&1 || {
  grep -vE 'inputs replayed$|are readable files$' "$log"
  echo "mutate: that is what failed; all of the output is in $log"
  exit 1
}
awk -v count="$count" '/inputs replayed$/ { n += $(NF-2) } /are readable files$/ { readable += $(NF-3) }
     END {
       print "mutate: " n+0 " mutated files, " readable+0 " of them readable: no finding"
       exit n==count && readable>0 ? 0 : 1
     }' "$log"
