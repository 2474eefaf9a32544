#!/bin/sh
# sh native/answers.sh PLATFORM: the library that build.py built for it says the same of the golden and hostile files as the one
# that `make` built, to the last byte: here, under qemu, or under wine.
set -eu
cd "$(dirname "$0")/../../.."

platform=${1:?which platform}
library=$PWD/build/packages/native/$platform/ztensor
case $platform in
  linux-x64)
    machine=$platform build=build/packages/answers
    . tests/cross/machine.sh
    mkdir -p "$build"
    sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <tests/cross/statements.sql >"$build/statements"
    compare_answers "$library" sqlite3
    ;;
  linux-arm64) sh tests/cross/run.sh arm64 "$library" ;;
  win32-x64) sh tests/windows/run.sh "$library" ;;
  *) echo "answers: nothing here runs the library for $platform" >&2; exit 2 ;;
esac
