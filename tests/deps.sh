#!/bin/sh
# Installs what building and testing need and is missing: `make deps`; with the argument `machines`, also what the tests on
# further machines need: `make deps-machines`; with `torch`, also PyTorch, which `make interop` and `make bench` need:
# `make deps-torch`; with `packages`, what making packages needs: `make deps-packages`; with `spark`, the Java that
# `make test-spark` needs; with `browser`, the browser of `make test-browser`: `make deps-browser`. Nothing is downloaded if
# nothing is missing.
#
# A thing must work here, whichever package it came from: each check below compiles, runs or imports
# what the build needs. Only what fails is installed, with apt-get, dnf or brew, and then checked again.

also=${1:-}
CC=${CC:-cc}
PYTHON=${PYTHON:-/usr/bin/python3}
system=$(uname -s)

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Homebrew keeps its headers where a compiler does not look by itself; the Makefile looks there as well.
if [ "$system" = Darwin ] && brew=$(brew --prefix 2>/dev/null); then
  CPPFLAGS="$CPPFLAGS -I$brew/include -I$brew/opt/sqlite/include -I$brew/opt/openssl/include"
  LDFLAGS="$LDFLAGS -L$brew/lib -L$brew/opt/sqlite/lib -L$brew/opt/openssl/lib"
fi

# --- How to find out whether something is there: each succeeds silently, or fails silently ---

# compiles COMPILER C-LINE FLAG...: a program with that line in it compiles, links and runs.
compiles() {
  compiler=$1 line=$2
  shift 2
  printf '%s\nint main(void){ return 0; }\n' "$line" >"$work/try.c"
  # shellcheck disable=SC2086  # Flags are words, and CC may be a wrapper and its compiler
  $compiler $CPPFLAGS -o "$work/try" "$work/try.c" $LDFLAGS "$@" >/dev/null 2>&1 && "$work/try" >/dev/null 2>&1
}

# fuzzes: clang has libFuzzer, and the sanitizers that go with it.
fuzzes() {
  printf '%s\n' 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n);' \
    'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n){ return n>0 && p==0; }' >"$work/fuzz.c"
  clang -fsanitize=fuzzer,address,undefined -o "$work/fuzz" "$work/fuzz.c" >/dev/null 2>&1 &&
    "$work/fuzz" -runs=1 >/dev/null 2>&1
}

# measures_mcdc: for `make coverage`, which does without it.
measures_mcdc() {
  compiles clang-19 '' "-fprofile-instr-generate=$work/profile" -fcoverage-mapping -fcoverage-mcdc &&
    runs llvm-cov-19 --version
}

# runs COMMAND...: it ends with status 0.
runs() {
  "$@" >/dev/null 2>&1 </dev/null
}

# Debian's package puts it where no shell looks.
find_wine() {
  command -v wine64 || command -v wine || [ -x /usr/lib/wine/wine64 ]
}

# --- What is needed: the check, and the packages for apt-get, dnf and brew ("-": nothing to install there) ---

# need WHAT APT DNF BREW CHECK...
need() {
  what=$1 apt=$2 dnf=$3 brew_formula=$4
  shift 4
  "$@" && return
  missing="$missing$what
"
  case $manager in
    apt-get) packages="$packages $apt" ;;
    dnf) packages="$packages $dnf" ;;
    brew) packages="$packages $brew_formula" ;;
  esac
}

check_all() {
  missing= packages=
  need 'a C compiler' 'gcc libc6-dev' 'gcc glibc-devel' gcc compiles "$CC" ''
  need 'gcc with AddressSanitizer' 'gcc libc6-dev' 'gcc libasan libubsan' gcc compiles gcc '' -fsanitize=address,undefined
  need 'gcc with ThreadSanitizer' 'gcc libc6-dev' 'gcc libtsan' gcc compiles gcc '' -fsanitize=thread
  need make make make make runs make --version
  need 'the SQLite library and its headers' libsqlite3-dev sqlite-devel sqlite compiles "$CC" '#include <sqlite3ext.h>' -lsqlite3
  need 'libzstd and its headers' libzstd-dev libzstd-devel zstd compiles "$CC" '#include <zstd.h>' -lzstd
  need 'zlib and its headers' zlib1g-dev zlib-devel zlib compiles "$CC" '#include <zlib.h>' -lz
  need "xxHash's headers" libxxhash-dev xxhash-devel xxhash compiles "$CC" '#define XXH_INLINE_ALL
#include <xxhash.h>'
  need 'ISA-L and its headers' libisal-dev isa-l-devel isa-l compiles "$CC" '#include <isa-l/crc.h>' -lisal
  need 'libcrypto and its headers' libssl-dev openssl-devel openssl compiles "$CC" '#include <openssl/sha.h>' -lcrypto
  need 'cmocka and its headers' libcmocka-dev libcmocka-devel cmocka compiles "$CC" '#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>' -lcmocka
  need "libcurl, for remote sources" libcurl4 libcurl curl runs "$PYTHON" -c '
import ctypes, sys
for name in ("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"):
    try:
        sys.exit(not ctypes.CDLL(name).curl_multi_poll)
    except OSError:
        pass
sys.exit(1)'
  need 'openssl, which makes certificates' openssl openssl openssl runs openssl version
  need 'the sqlite3 shell' sqlite3 sqlite sqlite runs sqlite3 :memory: 'SELECT 1'
  need 'clang' clang clang llvm compiles clang ''
  need "clang's libFuzzer and sanitizers" libclang-rt-dev compiler-rt llvm fuzzes
  need "$PYTHON, whose sqlite3 loads extensions" python3 python3 python runs "$PYTHON" -c '
import sqlite3
sqlite3.connect(":memory:").enable_load_extension(True)'
  need "numpy of $PYTHON" python3-numpy python3-numpy - runs "$PYTHON" -c 'import numpy'
  need "pytest of $PYTHON" python3-pytest python3-pytest - runs "$PYTHON" -m pytest --version
  need "venv of $PYTHON" python3-venv python3 python runs "$PYTHON" -c 'import ensurepip, venv'
  if [ "$system" = Linux ]; then   # Some exist nowhere else, and gcc is another compiler there
    need strace strace strace - runs strace -V
    need valgrind 'valgrind libc6-dbg' valgrind - runs valgrind -q true
    need clang-tidy clang-tidy clang-tools-extra llvm runs clang-tidy --version
    need "gcc's analyzer" gcc gcc gcc compiles gcc '' -fanalyzer
  fi
  if [ "$manager" = apt-get ]; then   # Other machines' libraries come from Debian alone
    need 'a compiler for s390x' gcc-s390x-linux-gnu - - runs s390x-linux-gnu-gcc --version
    need 'an emulator of s390x' qemu-user - - runs qemu-s390x --version
    need "a clang that measures MC/DC" 'clang-19 llvm-19 libclang-rt-19-dev' - - measures_mcdc
  fi
  if [ "$also" = torch ]; then
    need "torch of $PYTHON" python3-torch python3-torch pytorch runs "$PYTHON" -c 'import torch'
  fi
  if [ "$also" = spark ]; then
    need 'Java' default-jre-headless java-latest-openjdk-headless openjdk runs java -version
  fi
  if [ "$also" = browser ]; then
    need chromium chromium chromium chromium runs chromium --version
    need 'a font' fonts-dejavu-core dejavu-sans-fonts - runs sh -c 'fc-list | grep .'
  fi
  if [ "$also" = packages ]; then
    need 'nasm, which assembles ISA-L for packages' nasm nasm nasm runs nasm -v
    need 'cargo, which fetches sources of packages' cargo cargo rust runs cargo --version
    need 'npm' npm nodejs-npm node runs npm --version
  fi
  if [ "$manager$also" = apt-getpackages ]; then   # Debian's own package
    need debhelper debhelper - - runs sh -c "command -v dh"
    need lintian lintian - - runs lintian --version
    need "Debian's compilers" 'build-essential fakeroot' - - runs fakeroot dpkg-buildpackage --version
  fi
  if [ "$manager$also" = apt-getmachines ]; then
    need 'a compiler for arm64' gcc-aarch64-linux-gnu - - runs aarch64-linux-gnu-gcc --version
    need 'a compiler for armhf' gcc-arm-linux-gnueabihf - - runs arm-linux-gnueabihf-gcc --version
    need 'a compiler for Windows' gcc-mingw-w64-x86-64 - - runs x86_64-w64-mingw32-gcc --version
    need 'an assembler for ISA-L' nasm - - runs nasm --version
    need "tclsh, for SQLite's sources" tcl - - runs tclsh /dev/null
    need "xz, for Debian's sources" xz-utils - - runs xz --version
    need wine wine64 - - runs find_wine
  fi
}

# --- Installing ---

find_manager() {
  for manager in apt-get dnf brew; do
    command -v $manager >/dev/null 2>&1 && return
  done
  manager=
}

# The packages, each once and in the order of the checks.
distinct() {
  for p in $packages; do echo "$p"; done | awk '$0!="-" && !seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
}

# Say what to do by hand, and give up.
give_up() {
  echo "deps: $1. Missing:"
  printf '%s' "$missing" | sed 's/^/  /'
  case $manager in
    '') echo 'Install them with the packages of this system. On Debian they are:'
        manager=apt-get; check_all; echo "  apt-get install $(distinct)" ;;
    brew) echo "Try: brew install $(distinct); for pytest: $PYTHON -m pip install pytest" ;;
    *) echo "Try, as root: $manager install $(distinct)" ;;
  esac
  exit 1
}

# as_root COMMAND...
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install() {
  # shellcheck disable=SC2086  # Packages are words
  case $manager in
    apt-get)
      as_root apt-get -q update &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $1 ;;
    dnf) as_root dnf -y --setopt=install_weak_deps=False install $1 ;;
    brew) brew install $1 ;;
  esac
}

find_manager
check_all
if [ -z "$missing" ]; then
  echo 'deps: nothing is missing'
  exit 0
fi
[ -n "$manager" ] || give_up 'no package manager that this script knows'
[ "$manager" = brew ] || [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 || give_up 'installing needs root or sudo'
list=$(distinct)
[ -n "$list" ] || give_up "$manager has no package for it"
echo "deps: installing $list"
install "$list" || give_up "$manager failed"
check_all
[ -z "$missing" ] || give_up 'still not there after installing'
echo 'deps: everything is there now'
