#!/bin/sh
# `make test-s390x` and the like, sh tests/cross/run.sh MACHINE: the same results on another machine. Builds the extension
# and the C tests for it, runs them, under qemu where this machine cannot, and compares what the sqlite3 shells of both
# machines say about the golden and the hostile files. With one more argument, a library built for that machine, only its
# answers are compared.
#
# The libraries are Debian's, unpacked into build/MACHINE/sysroot, so that only the first run downloads.
set -eu
cd "$(dirname "$0")/../.."

# --- The machines: Debian's name; the compiler, the directory of the libraries, their loader, the emulator ---

machine=${1:?which machine} library=${2:-}
case $machine in
  s390x) set -- s390x-linux-gnu-gcc s390x-linux-gnu ld64.so.1 qemu-s390x ;;                    # Big-endian
  arm64) set -- aarch64-linux-gnu-gcc aarch64-linux-gnu ld-linux-aarch64.so.1 qemu-aarch64 ;;  # char is unsigned
  armhf) set -- arm-linux-gnueabihf-gcc arm-linux-gnueabihf ld-linux-armhf.so.3 qemu-arm ;;    # size_t has 32 bits
  *) echo "$machine: not in the table of machines in $0" >&2; exit 2 ;;
esac
compiler=$1 libraries=$2 loader=$3 emulator=$4

build=build/$machine
sysroot=$build/sysroot
packages='libc6-dev libsqlite3-dev libzstd-dev zlib1g-dev libssl-dev libxxhash-dev libisal-dev libcmocka-dev sqlite3'

. tests/cross/machine.sh
need apt-get dpkg "$compiler" "$emulator"

# --- The machine's libraries ---

# A linker follows a link from the root as one of this machine's: make it one within the sysroot.
make_links_relative() {
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfrn "$sysroot$(readlink "$link")" "$link"
  done
}

# A list of packages that changed is fetched anew, and everything built with it.
fetch_sysroot() {
  [ "$(cat "$sysroot/complete" 2>/dev/null)" != "$packages" ] || return 0
  rm -rf "$build"
  configure_apt <<CONF
APT::Architecture "$machine";
APT::Architectures { "$machine"; };
APT::Install-Recommends "false";
CONF
  echo "$machine: fetching the libraries"
  # One list of several may be missing for a while, as when its mirror is behind: what counts is whether the packages come.
  # shellcheck disable=SC2086  # Packages are words
  if ! { private_apt update; private_apt --download-only install $packages; } >"$apt/log" 2>&1; then
    cat "$apt/log"
    echo "$machine: apt cannot get these for $machine from this system's sources: $packages" >&2
    exit 1
  fi
  for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  rm -rf "$apt/cache"
  make_links_relative
  echo "$packages" >"$sysroot/complete"
}

fetch_sysroot

# Its loader is told where the libraries are. (qemu's -L would show the sysroot in place of this machine's directories, to
# the tests as well.)
run="$sysroot/lib/$loader --library-path $sysroot/lib/$libraries:$sysroot/usr/lib/$libraries"
$run "$sysroot/usr/bin/sqlite3" -version >/dev/null 2>&1 || run="$emulator $run"

# --- C tests; and the files, in the shell ---

if [ -z "$library" ]; then
  library=./$build/ztensor
  c_tests env MAKEFLAGS= make --no-print-directory B="$build" CC="$compiler --sysroot=$sysroot" CFLAGS=-Werror RUN="$run" \
    "$build/ztensor.so"
fi

sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <tests/cross/statements.sql >"$build/statements"
# shellcheck disable=SC2086  # A command with arguments
compare_answers "$library" $run "$sysroot/usr/bin/sqlite3"
