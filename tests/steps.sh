# For bash scripts that take many steps and say at the end what took how long: .ci/run and tests/nightly.sh read it.
# It is read at the project's top, with `set -euo pipefail`. FROM=name passes over the steps before that one, STEP=name over all
# others.

logs=build/ci
mkdir -p "$logs"
times=()
now= begun=
from=${FROM:-} only=${STEP:-} some=${FROM:-}${STEP:-}
unset FROM STEP   # A step may read this file, too

# step NAME COMMAND...: run it, keep what it says, and note how long it took.
step() {
  [ "$1" != "$from" ] || from=
  passed_over=
  if [ -n "$from" ] || [ "$1" != "${only:-$1}" ]; then
    passed_over=1
    return
  fi
  now=$1 begun=$EPOCHSECONDS
  shift
  echo "=== $now"
  "$@" 2>&1 | tee "$logs/$now.log"
  note "$now"
  now=
}

note() {
  times+=("$(printf '%6d s  %s' $((EPOCHSECONDS-begun)) "$1")")
}

# all_taken: the last step was asked for, or an earlier one; a name that no step has is an error.
all_taken() {
  if [ -n "$from" ] || [ ${#times[@]} -eq 0 ]; then
    echo "${from:-$only}: there is no such step"
    return 1
  fi
  if [ -n "$some" ]; then echo 'these checks passed'; else echo 'all checks passed'; fi
}

# On the way out: what took how long, and where it ended if it did not reach the end.
finish() {
  [ -z "$now" ] || note "$now: failed"
  echo '=== times'
  printf '%s\n' "${times[@]}"
}
trap finish EXIT

# count NAME PATTERN: the sum of the numbers in the lines of that step's output that match the pattern: what the runners
# themselves say how many tests ran.
count() {
  sed -nE "s/$2/\1/p" "$logs/$1.log" | awk '{ n += $1 } END { print n+0 }'
}

# tests_ran NAME [sql]: a run without tests passes, too: it must not. Of some steps only SQL tests are counted.
tests_ran() {
  [ -z "$passed_over" ] || return 0
  local unit sql
  unit=$(count "$1" '^\[  PASSED  \] ([0-9]+) test\(s\)\.?$')
  sql=$(count "$1" '^=*[ ]*([0-9]+) passed.*$')
  echo "$1: $unit C tests, $sql SQL tests passed"
  { [ "$unit" -gt 0 ] || [ "${2:-}" = sql ]; } && [ "$sql" -gt 0 ]
}
