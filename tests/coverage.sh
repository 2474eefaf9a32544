#!/bin/sh
# `make coverage`: how much of ext/ the test suite reaches. Builds the sources with counters, once for the C tests and once as
# the extension, runs the suite, and adds both up. Fails below the least that is allowed, of what tests/unreached.txt does not
# list. The lines, branches and conditions that nothing reached are in build/coverage/missing. MC/DC is that of core/,
# container/ and tensor/: each condition of a decision decides it alone once with either value.
set -eu
cd "$(dirname "$0")/.."

least_lines=99.8 least_branches=98 least_mcdc=97
build=build/coverage
# No test can reach the failure of an assertion; and each branch of an inline function is counted once, not in every caller,
# and that of a loop once, not for every processor it is compiled for
flags='-O0 -g -DNDEBUG -D"ZT_INLINE=static inline" -DZT_VECTOR='
cc=clang-19 flags="$flags -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc"

# Some tests read as another user, who must be able to add to the extension's counters: it is loaded once with this, so that
# all of them are there.
umask 0
shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
trap 'exit 1' HUP INT TERM
chmod 777 "$shared"
rm -rf "$build"
mkdir -p "$build"
export LLVM_PROFILE_FILE="$shared/%m.profraw"   # Processes add up in one file for each program

# say COMMAND...: it goes to the log, whose end is shown if it fails.
say() {
  "$@" >>"$build/log" 2>&1 || { tail -n 40 "$build/log"; exit 1; }
}

extension=$shared/ztensor.so
python=${PYTHON:-/usr/bin/python3}
say make -s B="$shared" CC="$cc" OPT="$flags" "$extension"
say sqlite3 :memory: ".load $extension"
umask 022
say make -s B="$build" CC="$cc" OPT="$flags" LOADED="$extension" unit oom replay build/faults.so build/resolver.so
say make -s build/static/faults/write_file.so   # Writing without SQL, which is not measured
say env ZTENSOR="$extension" "$python" -m pytest -q tests/sql
say env ZTENSOR="$extension" "$python" -m pytest -q tests/remote
say env ZTENSOR="$extension" LD_PRELOAD="$PWD/build/faults.so" "$python" -m pytest -q tests/faults \
  -k 'not test_every_call_that_the_extension_makes_of_the_system_can_fail'   # Counting makes calls, too

set --
for program in "$build"/unit/test_* "$build"/oom/test_* "$build"/replay/fuzz_*; do
  [ -x "$program" ] && set -- "$@" -object "$program"
done
llvm-profdata-19 merge --sparse -o "$build/profile" "$shared"/*.profraw
# exported FORMAT: what was counted, without each function's and each macro's own numbers.
exported() {
  format=$1
  shift
  llvm-cov-19 export --format="$format" -skip-functions -skip-expansions -instr-profile="$build/profile" "$extension" "$@" ext
}
exported lcov "$@" >"$build/info" 2>"$build/log.cov"
exported text "$@" >"$build/export.json" 2>>"$build/log.cov"
"$python" tests/coverage.py "$build" "$least_lines" "$least_branches" "$least_mcdc"
