#!/bin/bash
# The checks that take too long for a change, in one run, each to its end; the last lines tell each step's time.
# make nightly
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/steps.sh

step ci bash .ci/run
step analyze make analyze
step valgrind make valgrind
step kills make faults KILLS=300
step interop make interop
step asan make asan
tests_ran asan
step mutate make mutate COUNT=100000
step fuzz make fuzz SECONDS=300
step threads make threads
tests_ran threads
step tsan make tsan SECONDS=60
step soak make soak SECONDS=300
step coverage make coverage
step test-s390x make test-s390x
step machines make deps-machines test-arm64 test-armhf windows
step hosts make hosts
step test-spark make test-spark
step browser make deps-browser test-browser
step packages make deps-packages test-packages
all_taken
