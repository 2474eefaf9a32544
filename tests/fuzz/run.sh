#!/bin/sh
# Fuzzes one target for a while: sh tests/fuzz/run.sh build/fuzz/fuzz_cbor 30
#
# Interesting inputs stay in build/fuzz/corpus, so that the next run goes on from there. A finding fails the run;
# the input that shows it is in build/fuzz/findings.
set -eu
cd "$(dirname "$0")/../.."

target=$1 seconds=$2
name=${target##*/}
seeds=build/fuzz/seeds/$name corpus=build/fuzz/corpus/$name findings=build/fuzz/findings
log=build/fuzz/$name.log

rm -rf "$seeds"
mkdir -p "$corpus" "$findings"
set -- "$corpus" "$seeds"
[ ! -d "tests/fuzz/regressions/$name" ] || set -- "$@" "tests/fuzz/regressions/$name"
"${PYTHON:-/usr/bin/python3}" tests/fuzz/seeds.py "$name" "$seeds"

dict=tests/fuzz/${name#fuzz_}.dict
[ -f "$dict" ] || dict=tests/fuzz/cbor.dict
# fuzz_nomem runs a statement again for each of its POINTS
timeout=10
[ "$name" != fuzz_nomem ] || timeout=60
status=0
"$target" ${SEED:+-seed="$SEED"} -max_total_time="$seconds" -timeout=$timeout -rss_limit_mb=1024 -max_len=12288 -dict="$dict" \
  -artifact_prefix="$findings/$name-" -print_final_stats=1 "$@" \
  >"$log" 2>&1 || status=$?

if [ $status -ne 0 ]; then
  grep -E 'ERROR|SUMMARY|violated|runtime error|Test unit written' "$log" || tail -n 40 "$log"
  echo "fuzz: $name failed with status $status; all of its output is in $log"
  exit 1
fi
# libFuzzer's last lines: its state (coverage, corpus), the number of runs, and the executions.
echo "$name: $(grep DONE "$log")"
echo "$name: $(grep '^Done ' "$log"), $(sed -n 's/^stat::number_of_executed_units: */executions: /p' "$log")"
