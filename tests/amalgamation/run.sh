#!/bin/sh
# `make amalgamation`: build/amalgamation/ztensor.c, all sources in one file, which gcc and clang compile alone and without
# a warning; and each result answers about all golden and hostile files what ./ztensor does, line by line.
set -eu
cd "$(dirname "$0")/../.."

machine=amalgamation
build=build/amalgamation
. tests/cross/machine.sh

mkdir -p "$build"
"$PYTHON" tests/amalgamation/amalgamate.py >"$build/ztensor.c"
sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <tests/cross/statements.sql >"$build/statements"
answers here ./ztensor sqlite3
[ "$(tail -n 1 "$build/here.out")" = 'the end' ]

for cc in gcc clang; do
  mkdir -p "$build/$cc"
  # The command that the file's head tells
  # shellcheck disable=SC2086  # Options are words
  $cc -O2 -Wall -Wextra -Werror ${CPPFLAGS:-} -fPIC -shared -o "$build/$cc/ztensor.so" "$build/ztensor.c" \
    ${LDFLAGS:-} -lzstd -lz -lcrypto -lisal -ldl -lm -lpthread
  # As a part of a program that has SQLite
  # shellcheck disable=SC2086
  $cc -O2 -Wall -Wextra -Werror ${CPPFLAGS:-} -DSQLITE_CORE -fsyntax-only "$build/ztensor.c"
  answers "$cc" "./$build/$cc/ztensor" sqlite3
  for stream in out err; do
    diff "$build/here.$stream" "$build/$cc.$stream" >"$build/$cc.diff" && continue
    head -n 40 "$build/$cc.diff" | cut -c 1-300
    echo "amalgamation: built by $cc it answers otherwise: diff $build/here.$stream $build/$cc.$stream" >&2
    exit 1
  done
  # Names of its own would be those of another copy in the same process, too.
  if [ "$(uname -s)" = Linux ] && nm -D --defined-only "$build/$cc/ztensor.so" | grep -v ' T sqlite3_ztensor_'; then
    echo "amalgamation: built by $cc it exports more than its entry points" >&2
    exit 1
  fi
  echo "$cc: no warnings; $(sed -n '/^SELECT/p' "$build/statements" | wc -l) statements, answered alike"
done
echo "$build/ztensor.c: $(wc -l <"$build/ztensor.c") lines"
