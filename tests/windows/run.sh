#!/bin/sh
# `make windows`: build/windows/ztensor.dll, for 64-bit Windows, by MinGW-w64; and what Windows says of it, wine being
# Windows here: the C tests that need nothing of POSIX and those of tests/unit/windows_*.c, what fuzzing found, and what the
# sqlite3 shells of both systems say about the golden and the hostile files. With an argument, a library built for Windows,
# only its answers are compared.
#
# The libraries are built from Debian's sources (without Debian's patches) into build/windows/sysroot, so that only the
# first run downloads and builds them.
set -eu
cd "$(dirname "$0")/../.."

machine=windows library=${1:-}
build=build/windows
sysroot=$build/sysroot
sources='sqlite3 libzstd zlib libisal xxhash cmocka'
host=x86_64-w64-mingw32
compiler=$host-gcc
. tests/cross/machine.sh

wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
need apt-get apt-cache $compiler nasm tclsh xz "$wine"

# --- The libraries ---

# The system's sources, but of source packages.
configure_sources() {
  mkdir -p "$apt/parts"
  : >"$apt/sources.list"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >>"$apt/sources.list"
  done
  for list in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/${list##*/}"
  done
  configure_apt <<CONF
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "$apt/parts";
CONF
}

# fetch_source PACKAGE: its newest version that can be had: an archive may list one whose file it does not have.
fetch_source() {
  for version in $(apt-cache -c "$apt/apt.conf" showsrc "$1" | sed -n 's/^Version: //p' | sort -Vru); do
    (cd "$apt" && private_apt --tar-only source "$1=$version") && return
  done
  echo "windows: apt cannot get the sources of $1 from this system's sources" >&2
  return 1
}

fetch_sources() {
  configure_sources
  echo 'windows: fetching the sources of the libraries'
  private_apt update >"$apt/log" 2>&1 || { cat "$apt/log"; exit 1; }
  for package in $sources; do
    fetch_source "$package" >>"$apt/log" 2>&1 || { cat "$apt/log"; exit 1; }
    mkdir -p "$build/source/$package"
    tar -xf "$apt/${package}"_*.orig.tar.* -C "$build/source/$package" --strip-components=1
  done
}

# quietly COMMAND...: what it says is shown only if it fails.
quietly() {
  "$@" >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
}

# Its amalgamation and its shell are put together by programs of this machine.
build_sqlite() {
  bld=$build/source/sqlite3/build
  mkdir -p "$bld"
  quietly make -C "$bld" -f ../main.mk TOP=.. TCC=cc BCC=cc NAWK=awk OPTS= sqlite3.c shell.c
  quietly $compiler -O1 -c -o "$bld/sqlite3.o" "$bld/sqlite3.c"
  quietly $compiler -O1 -o "$build/sqlite3.exe" -I"$bld" "$bld/shell.c" "$bld/sqlite3.o"
  quietly $host-ar cr "$sysroot/lib/libsqlite3.a" "$bld/sqlite3.o"
  cp "$bld/sqlite3.h" "$bld/sqlite3ext.h" "$sysroot/include"
}

build_libraries() {
  jobs=$(nproc)
  zstd=$build/source/libzstd/lib isal=$build/source/libisal cmocka=$build/source/cmocka zlib=$build/source/zlib
  mkdir -p "$sysroot/include/isa-l" "$sysroot/lib"
  echo 'windows: building the libraries'
  build_sqlite
  quietly make -C "$zstd" -j"$jobs" CC=$compiler AR=$host-ar OS=Windows_NT TARGET_SYSTEM=MINGW MOREFLAGS=-O2 \
    ZSTD_LEGACY_SUPPORT=0 ZSTD_LIB_DICTBUILDER=0 ZSTD_LIB_DEPRECATED=0 libzstd.a
  for part in adler32 compress crc32 deflate trees zutil; do   # Compression
    quietly $compiler -O2 -c -o "$zlib/$part.o" "$zlib/$part.c"
  done
  quietly $host-ar cr "$zlib/libz.a" "$zlib"/*.o
  quietly make -C "$isal" -j"$jobs" -f Makefile.unx arch=mingw CC=$compiler host_cpu=x86_64 AS=nasm \
    units="crc igzip" lib_name=libisal.a lib
  quietly $compiler -O1 -DHAVE_MALLOC_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -I"$cmocka/include" -c -o "$build/cmocka.o" \
    "$cmocka/src/cmocka.c"
  quietly $host-ar cr "$sysroot/lib/libcmocka.a" "$build/cmocka.o"
  cp "$zstd/zstd.h" "$zstd/zstd_errors.h" "$build/source/xxhash/xxhash.h" "$cmocka/include/cmocka.h" \
    "$zlib/zlib.h" "$zlib/zconf.h" "$sysroot/include"
  cp "$isal"/include/*.h "$sysroot/include/isa-l"
  cp "$zstd/libzstd.a" "$zlib/libz.a" "$isal/libisal.a" "$sysroot/lib"
}

# A list of sources that changed is fetched anew, and everything built with it.
if [ "$(cat "$sysroot/complete" 2>/dev/null)" != "$sources" ]; then
  rm -rf "$build"
  fetch_sources
  build_libraries
  rm -rf "$build/source" "$apt"
  echo "$sources" >"$sysroot/complete"
fi

# --- The system ---

# A place for wine's files that consists of wine's own libraries where they are: it would copy all of them otherwise, which
# takes longer than the tests.
# Names of files beyond ASCII are those of the locale, which a bare environment has not.
export WINEPREFIX="$PWD/$build/wine" WINEDEBUG=-all LC_ALL=C.UTF-8
if [ ! -d "$WINEPREFIX" ]; then
  for libraries in /usr/lib/*/wine/x86_64-windows /usr/lib/wine/x86_64-windows; do
    [ ! -d "$libraries" ] || break
  done
  mkdir -p "$WINEPREFIX/drive_c/windows"
  echo disable >"$WINEPREFIX/.update-timestamp"
  ln -s "$libraries" "$WINEPREFIX/drive_c/windows/system32"
fi

# --- The files, in the shell ---

compare_files() {
  # Windows keeps the times of files in units of 100 ns.
  sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <tests/cross/statements.sql >"$build/raw"
  sed 's/"mtime"/CAST("mtime" AS INTEGER)/g' "$build/raw" >"$build/statements"
  compare_answers "$1" "$wine" "$build/sqlite3.exe"
}

if [ -n "$library" ]; then
  compare_files "$library"
  exit
fi

# --- The extension ---

# for_windows TARGET-OR-VARIABLE...
for_windows() {
  MAKEFLAGS='' make --no-print-directory B="$build" REMOTE=0 SO=dll EXE=.exe RUN="$wine" CC=$compiler \
    CPPFLAGS="-I$sysroot/include" LIBS='-lzstd -lz -lisal -lbcrypt -lm' "$@"
}

# MinGW's isnan() has an expression for each type, all of which are compiled. A variable of each thread needs libgcc.
quietly for_windows OPT=-O2 CFLAGS='-DNDEBUG -Werror -Wno-float-conversion' LDFLAGS="-L$sysroot/lib -s -static-libgcc" \
  "$build/ztensor.dll"
if $host-objdump -p "$build/ztensor.dll" | sed -n 's/.*DLL Name: //p' | grep -vixE 'bcrypt\.dll|kernel32\.dll|msvcrt\.dll'; then
  echo 'windows: ztensor.dll needs these, which Windows does not have' >&2
  exit 1
fi

# --- C tests ---

# Not those that need mkdtemp(), glob(), pread(), symbolic links, a socket, pthreads or other processes, which windows_os.c
# stands in for; and not test_json.c, which holds MinGW's strtod() to what it does not do: some doubles just below a power of two
# come back as that.
unit=
for test in tests/unit/test_*.c tests/unit/windows_*.c; do
  case $test in
    */test_dirents.c | */test_failing_reads.c | */test_json.c | */test_locale.c | */test_oom_*.c | */test_output.c) ;;
    */test_paths.c | */test_pool.c | */test_shard.c | */test_source.c | */test_system.c) ;;
    */test_http.c | */test_http_answer.c | */test_listings.c | */test_sigv4.c | */test_url.c) ;;   # Remote sources, which Windows does not have yet
    *) unit="$unit $test" ;;
  esac
done

# fuzz_diff.c needs mkdtemp() and glob(), too.
fuzz=
for target in tests/fuzz/fuzz_*.c; do
  [ "$target" = tests/fuzz/fuzz_diff.c ] || fuzz="$fuzz $target"
done

# Formats are MinGW's own, but cmocka declares them to be those of Windows.
c_tests for_windows OPT=-O1 CFLAGS='-Wno-float-conversion -Wno-format -Wno-format-extra-args' LDFLAGS="-L$sysroot/lib" \
  UNIT="$unit" FUZZ="$fuzz"

compare_files "$build/ztensor"
