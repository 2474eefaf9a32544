#!/bin/sh
# `make coverage`: how much of ext/ the test suite reaches. Builds the sources with gcov's counters, once for the C tests and
# once as the extension, runs the suite, and adds both up. Fails below the least that is allowed. The lines and branches that
# nothing reached are in build/coverage/missing.
set -eu
cd "$(dirname "$0")/.."

least_lines=95 least_branches=90
build=build/coverage
# No test can reach the failure of an assertion; and each branch of an inline function is counted once, not in every caller
flags='-O0 -g --coverage -DNDEBUG -D"ZT_INLINE=static inline"'
quiet='--quiet --rc lcov_branch_coverage=1'

# Some tests read as another user, who must be able to add to the extension's counters: it is loaded once with this, so that
# all of them are there.
umask 0
shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
trap 'exit 1' HUP INT TERM
chmod 777 "$shared"
rm -rf "$build"
mkdir -p "$build"

# say COMMAND...: it goes to the log, whose end is shown if it fails.
say() {
  "$@" >>"$build/log" 2>&1 || { tail -n 40 "$build/log"; exit 1; }
}

extension=$shared/ztensor.so
python=${PYTHON:-/usr/bin/python3}
say make -s B="$shared" CC=gcc OPT="$flags" "$extension"
say make -s B="$build" CC=gcc OPT="$flags" LOADED="$extension" unit oom replay build/faults.so
say sqlite3 :memory: ".load $extension"
umask 022
say make -s build/static/faults/write_file.so   # Writing without SQL, which is not measured
say env ZTENSOR="$extension" "$python" -m pytest -q tests/sql
say env ZTENSOR="$extension" "$python" -m pytest -q tests/remote
say env ZTENSOR="$extension" LD_PRELOAD="$PWD/build/faults.so" "$python" -m pytest -q tests/faults \
  -k 'not test_every_call_that_the_extension_makes_of_the_system_can_fail'   # gcov makes calls, too

# shellcheck disable=SC2086  # Flags are words
{
  lcov $quiet --capture --directory "$build" --directory "$shared" --base-directory . --output-file "$build/all"
  lcov $quiet --extract "$build/all" "$PWD/ext/*" --output-file "$build/info"
}

# The totals, and for each file the lines and branches that no test reached.
awk -F '[:,]' -v here="$PWD/" -v missing="$build/missing" -v lines="$least_lines" -v branches="$least_branches" '
  /^SF:/ { file = $2; sub(here, "", file) }
  /^DA:/ { nLines++; if( $3>0 ) reachedLines++; else print file ":" $2 ": line" >missing }
  /^BRDA:/ { nBranches++; if( $5!="-" && $5>0 ) reachedBranches++; else print file ":" $2 ": branch " $4 >missing }
  END {
    if( nLines==0 || nBranches==0 ){ print "coverage: nothing was measured"; exit 1 }
    l = 100*reachedLines/nLines; b = 100*reachedBranches/nBranches
    printf "coverage: %.1f %% of %d lines, %.1f %% of %d branches of ext/; ", l, nLines, b, nBranches
    printf "at least %d and %d are asked for\n", lines, branches
    exit l>=lines && b>=branches ? 0 : 1
  }' "$build/info"
