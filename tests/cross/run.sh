#!/bin/sh
# `make test-s390x` and the like, sh tests/cross/run.sh MACHINE: the same results on another machine. Builds the extension
# and the C tests for it, runs them, under qemu where this machine cannot, and compares what the sqlite3 shells of both
# machines say about the golden and the hostile files.
#
# The libraries are Debian's, unpacked into build/MACHINE/sysroot, so that only the first run downloads. apt is given a
# state of its own beside them: the system's package lists, architectures and packages stay as they are.
set -eu
cd "$(dirname "$0")/../.."

# --- The machines: Debian's name; the compiler, the directory of the libraries, their loader, the emulator ---

machine=${1:?which machine}
case $machine in
  s390x) set -- s390x-linux-gnu-gcc s390x-linux-gnu ld64.so.1 qemu-s390x ;;                    # Big-endian
  arm64) set -- aarch64-linux-gnu-gcc aarch64-linux-gnu ld-linux-aarch64.so.1 qemu-aarch64 ;;  # char is unsigned
  armhf) set -- arm-linux-gnueabihf-gcc arm-linux-gnueabihf ld-linux-armhf.so.3 qemu-arm ;;    # size_t has 32 bits
  *) echo "$machine: not in the table of machines in $0" >&2; exit 2 ;;
esac
compiler=$1 libraries=$2 loader=$3 emulator=$4

build=build/$machine
sysroot=$build/sysroot
packages='libc6-dev libsqlite3-dev libzstd-dev libssl-dev libxxhash-dev libisal-dev libcmocka-dev sqlite3'

for tool in apt-get dpkg "$compiler" "$emulator"; do
  command -v "$tool" >/dev/null || { echo "$machine: no $tool; on Debian, make deps-machines installs what is missing" >&2; exit 1; }
done

# --- The machine's libraries ---

# private_apt ARGUMENT...
private_apt() {
  apt-get -q -y -c "$build/apt/apt.conf" "$@"
}

# The hooks of the system's configuration would clean up after the system's own state.
configure_apt() {
  mkdir -p "$build/apt/state/lists/partial" "$build/apt/cache/archives/partial"
  : >"$build/apt/status"
  cat >"$build/apt/apt.conf" <<CONF
APT::Architecture "$machine";
APT::Architectures { "$machine"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Dir::State "$PWD/$build/apt/state";
Dir::State::status "$PWD/$build/apt/status";
Dir::Cache "$PWD/$build/apt/cache";
Debug::NoLocking "true";
CONF
}

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
  configure_apt
  echo "$machine: fetching the libraries"
  # One list of several may be missing for a while, as when its mirror is behind: what counts is whether the packages come.
  # shellcheck disable=SC2086  # Packages are words
  if ! { private_apt update; private_apt --download-only install $packages; } >"$build/apt/log" 2>&1; then
    cat "$build/apt/log"
    echo "$machine: apt cannot get these for $machine from this system's sources: $packages" >&2
    exit 1
  fi
  for package in "$build"/apt/cache/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  rm -rf "$build/apt/cache"
  make_links_relative
  echo "$packages" >"$sysroot/complete"
}

fetch_sysroot

# Its loader is told where the libraries are. (qemu's -L would show the sysroot in place of this machine's directories, to
# the tests as well.)
run="$sysroot/lib/$loader --library-path $sysroot/lib/$libraries:$sysroot/usr/lib/$libraries"
$run "$sysroot/usr/bin/sqlite3" -version >/dev/null 2>&1 || run="$emulator $run"

# --- C tests ---

# sum PATTERN: of the numbers in the lines of the log that match the pattern.
sum() {
  sed -nE "s/$1/\1/p" "$build/log" | awk '{ n += $1 } END { print n+0 }'
}

status=0
MAKEFLAGS='' make --no-print-directory B="$build" CC="$compiler --sysroot=$sysroot" CFLAGS=-Werror RUN="$run" \
  "$build/ztensor.so" unit replay >"$build/log" 2>&1 || status=$?
if [ $status -ne 0 ]; then
  grep -vE "^($compiler|\[ +(RUN|OK|PASSED) +\]|\[=+\]) " "$build/log"
  echo "$machine: that is what failed; all of the output is in $build/log" >&2
  exit 1
fi
grep -E '^\[  PASSED  \]|inputs replayed$' "$build/log"
passed=$(sum '^\[  PASSED  \] ([0-9]+) test\(s\)\.?$')
replayed=$(sum '^.*: ([0-9]+) inputs replayed$')
echo "$machine: $passed C tests passed, $replayed inputs replayed"
[ "$passed" -gt 0 ] && [ "$replayed" -gt 0 ]

# --- The files, in the shell ---

# answers NAME EXTENSION SHELL...: what that shell says to the statements goes to NAME.out, its errors to NAME.err. Some of
# the statements must fail, which makes the shell's status 1; a signal makes it another.
answers() {
  name=$1 extension=$2
  shift 2
  "$@" -batch -cmd ".load $extension" :memory: <"$build/statements" >"$build/$name.out" 2>"$build/$name.err" || [ $? -eq 1 ]
}

sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <tests/cross/statements.sql >"$build/statements"
answers here ./ztensor sqlite3
# shellcheck disable=SC2086  # A command with arguments
answers there "./$build/ztensor" $run "$sysroot/usr/bin/sqlite3"

for stream in out err; do
  diff "$build/here.$stream" "$build/there.$stream" >"$build/$stream.diff" && continue
  head -n 40 "$build/$stream.diff" | cut -c 1-300
  echo "$machine: the answers differ; all of them: diff $build/here.$stream $build/there.$stream" >&2
  exit 1
done

# A function or column that does not exist fails in the same way on both machines, and is not tested by that.
if grep '^Parse error' "$build/here.err" | cut -d: -f2- | sort -u | grep .; then
  echo "$machine: statements that the shell does not understand" >&2
  exit 1
fi
statements=$(sed -n '/^SELECT/p' "$build/statements" | wc -l)
rows=$(sed '/^SELECT/d' "$build/there.out" | wc -l)
errors=$(sed -n '/ error near line /p' "$build/there.err" | wc -l)
echo "$machine: $statements statements, $rows lines of answers and $errors errors, the same on both machines"
[ "$(tail -n 1 "$build/there.out")" = 'the end' ] && [ "$errors" -lt "$statements" ] && [ "$rows" -gt 0 ]
