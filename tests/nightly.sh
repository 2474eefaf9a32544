#!/bin/bash
# The checks that take too long for a change, each to its end; the last lines tell each step's time, and which failed.
# make nightly [FROM=step | STEP=step]
# Two steps run at once, the second one in a clone of the last commit: most need one processor.
set -euo pipefail
cd "$(dirname "$0")/.."

# The longest ones come early.
steps='ci hosts asan machines fuzz test-s390x threads coverage packages mutate interop analyze kills test-spark browser soak tsan
  valgrind'

# take NAME: what that step runs.
take() {
  case $1 in
    ci) step ci bash .ci/run ;;
    kills) step kills make faults KILLS=300 ;;
    asan)
      step asan make asan
      tests_ran asan
      ;;
    threads)
      step threads make threads
      tests_ran threads sql   # The sweep of C has a line of its own
      ;;
    mutate) step mutate make mutate COUNT=100000 ;;
    fuzz) step fuzz make fuzz SECONDS=300 ;;
    tsan) step tsan make tsan SECONDS=60 ;;
    soak) step soak make soak SECONDS=300 ;;
    machines) step machines make deps-machines test-arm64 test-armhf windows ;;
    browser) step browser make deps-browser test-browser ;;
    packages) step packages make deps-packages test-packages ;;
    *) step "$1" make "$1" ;;
  esac
}

if [ -n "${STEP:-}" ]; then
  case " $(echo $steps) " in *" $STEP "*) ;; *) echo "$STEP: there is no such step"; exit 1 ;; esac
  name=$STEP
  unset STEP FROM
  . tests/steps.sh
  take "$name"
  exit
fi

case " $(echo $steps) " in *" ${FROM:-ci} "*) ;; *) echo "$FROM: there is no such step"; exit 1 ;; esac
work=build/nightly
rm -rf "$work"
mkdir -p "$work"
for name in $steps; do
  [ "$name" != "${FROM:-ci}" ] || started=1
  [ -z "${started:-}" ] || echo "$name"
done >"$work/left"
unset FROM
git clone -q . "$work/second"
make deps deps-machines deps-browser deps-packages   # One at a time: packages are installed under a lock

# next: the first step that is left, which is taken away.
next() {
  (
    flock 9
    sed -n 1p "$work/left"
    sed -i 1d "$work/left"
  ) 9>"$work/lock"
}

# lane DIRECTORY: take one step after another there.
lane() {
  local name begun result
  while name=$(next) && [ -n "$name" ]; do
    begun=$EPOCHSECONDS result=passed
    (cd "$1" && STEP=$name bash tests/nightly.sh) >"$work/$name.log" 2>&1 || result=FAILED
    printf '%6d s  %s: %s\n' $((EPOCHSECONDS-begun)) "$name" "$result" | tee -a "$work/times"
  done
}

lane . &
lane "$work/second" &
wait
echo '=== times'
cat "$work/times"
if grep FAILED "$work/times"; then exit 1; fi
echo 'all checks passed'
