#!/bin/sh
# `make windows`: build/windows/ztensor.dll, for 64-bit Windows, by MinGW-w64; and what Windows says of it, wine being
# Windows here: the C tests that need nothing of POSIX and those of tests/unit/windows_*.c, what fuzzing found, and what the
# sqlite3 shells of both systems say about the golden and the hostile files.
#
# The libraries are built from Debian's sources (without Debian's patches) into build/windows/sysroot, so that only the
# first run downloads and builds them. apt is given a state of its own beside them: the system's stays as it is.
set -eu
cd "$(dirname "$0")/../.."

build=build/windows
sysroot=$build/sysroot
sources='sqlite3 libzstd libisal xxhash cmocka'
host=x86_64-w64-mingw32
cc=$host-gcc
statements=tests/cross/statements.sql

wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
for tool in apt-get $host-gcc nasm tclsh xz "$wine"; do
  command -v "$tool" >/dev/null || { echo "windows: no $tool; on Debian, make deps-machines installs what is missing" >&2; exit 1; }
done

# --- The libraries ---

# private_apt ARGUMENT...
private_apt() {
  apt-get -q -c "$build/apt/apt.conf" "$@"
}

# The system's sources, but of source packages. The hooks of its configuration would clean up after its own state.
configure_apt() {
  mkdir -p "$build/apt/state/lists/partial" "$build/apt/cache/archives/partial" "$build/apt/parts"
  : >"$build/apt/status"
  : >"$build/apt/sources.list"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >>"$build/apt/sources.list"
  done
  for list in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$build/apt/parts/${list##*/}"
  done
  cat >"$build/apt/apt.conf" <<CONF
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Dir::State "$PWD/$build/apt/state";
Dir::State::status "$PWD/$build/apt/status";
Dir::Cache "$PWD/$build/apt/cache";
Dir::Etc::SourceList "$PWD/$build/apt/sources.list";
Dir::Etc::SourceParts "$PWD/$build/apt/parts";
Debug::NoLocking "true";
CONF
}

fetch_sources() {
  configure_apt
  echo 'windows: fetching the sources of the libraries'
  # shellcheck disable=SC2086  # Packages are words
  if ! { private_apt update && (cd "$build/apt" && apt-get -q -c apt.conf --tar-only source $sources)
  } >"$build/apt/log" 2>&1; then
    cat "$build/apt/log"
    echo "windows: apt cannot get the sources of these from this system's sources: $sources" >&2
    exit 1
  fi
  for package in $sources; do
    mkdir -p "$build/source/$package"
    tar -xf "$build/apt/${package}"_*.orig.tar.* -C "$build/source/$package" --strip-components=1
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
  quietly $cc -O1 -c -o "$bld/sqlite3.o" "$bld/sqlite3.c"
  quietly $cc -O1 -o "$build/sqlite3.exe" -I"$bld" "$bld/shell.c" "$bld/sqlite3.o"
  quietly $host-ar cr "$sysroot/lib/libsqlite3.a" "$bld/sqlite3.o"
  cp "$bld/sqlite3.h" "$bld/sqlite3ext.h" "$sysroot/include"
}

build_libraries() {
  jobs=$(nproc)
  zstd=$build/source/libzstd/lib isal=$build/source/libisal cmocka=$build/source/cmocka
  mkdir -p "$sysroot/include/isa-l" "$sysroot/lib"
  echo 'windows: building the libraries'
  build_sqlite
  quietly make -C "$zstd" -j"$jobs" CC=$cc AR=$host-ar OS=Windows_NT TARGET_SYSTEM=MINGW MOREFLAGS=-O2 \
    ZSTD_LEGACY_SUPPORT=0 ZSTD_LIB_DICTBUILDER=0 ZSTD_LIB_DEPRECATED=0 libzstd.a
  quietly make -C "$isal" -j"$jobs" -f Makefile.unx arch=mingw CC=$cc host_cpu=x86_64 AS=nasm \
    units=crc lib_name=libisal.a lib
  quietly $cc -O1 -DHAVE_MALLOC_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -I"$cmocka/include" -c -o "$build/cmocka.o" \
    "$cmocka/src/cmocka.c"
  quietly $host-ar cr "$sysroot/lib/libcmocka.a" "$build/cmocka.o"
  cp "$zstd/zstd.h" "$zstd/zstd_errors.h" "$build/source/xxhash/xxhash.h" "$cmocka/include/cmocka.h" "$sysroot/include"
  cp "$isal"/include/*.h "$sysroot/include/isa-l"
  cp "$zstd/libzstd.a" "$isal/libisal.a" "$sysroot/lib"
}

# A list of sources that changed is fetched anew, and everything built with it.
if [ "$(cat "$sysroot/complete" 2>/dev/null)" != "$sources" ]; then
  rm -rf "$build"
  fetch_sources
  build_libraries
  rm -rf "$build/source" "$build/apt"
  echo "$sources" >"$sysroot/complete"
fi

# --- The system ---

# A place for wine's files that consists of wine's own libraries where they are: it would copy all of them otherwise, which
# takes longer than the tests.
export WINEPREFIX="$PWD/$build/wine" WINEDEBUG=-all
if [ ! -d "$WINEPREFIX" ]; then
  for libraries in /usr/lib/*/wine/x86_64-windows /usr/lib/wine/x86_64-windows; do
    [ ! -d "$libraries" ] || break
  done
  mkdir -p "$WINEPREFIX/drive_c/windows"
  echo disable >"$WINEPREFIX/.update-timestamp"
  ln -s "$libraries" "$WINEPREFIX/drive_c/windows/system32"
fi

# --- The extension ---

# for_windows TARGET-OR-VARIABLE...
for_windows() {
  MAKEFLAGS='' make --no-print-directory B="$build" SO=dll EXE=.exe RUN="$wine" CC=$cc \
    CPPFLAGS="-I$sysroot/include" LIBS='-lzstd -lisal -lbcrypt -lm' "$@"
}

# MinGW's isnan() has an expression for each type, all of which are compiled.
quietly for_windows OPT=-O2 CFLAGS='-Werror -Wno-float-conversion' LDFLAGS="-L$sysroot/lib -s" "$build/ztensor.dll"

# --- C tests ---

# sum PATTERN: of the numbers in the lines of the log that match the pattern.
sum() {
  tr -d '\r' <"$build/log" | sed -nE "s/$1/\1/p" | awk '{ n += $1 } END { print n+0 }'
}

# Not those that need mkdtemp(), symbolic links, a socket or other processes, which windows_os.c stands in for; and not
# test_json.c, which holds MinGW's strtod() to what it does not do: some doubles just below a power of two come back as that.
unit=
for test in tests/unit/test_*.c tests/unit/windows_*.c; do
  case $test in
    */test_json.c | */test_locale.c | */test_oom_*.c | */test_paths.c | */test_shard.c | */test_source.c) ;;
    *) unit="$unit $test" ;;
  esac
done

# fuzz_diff.c needs mkdtemp() and glob(), too.
fuzz=
for target in tests/fuzz/fuzz_*.c; do
  [ "$target" = tests/fuzz/fuzz_diff.c ] || fuzz="$fuzz $target"
done

# Formats are MinGW's own, but cmocka declares them to be those of Windows.
if ! for_windows OPT=-O1 CFLAGS='-Wno-float-conversion -Wno-format -Wno-format-extra-args' LDFLAGS="-L$sysroot/lib" \
     UNIT="$unit" FUZZ="$fuzz" unit replay >"$build/log" 2>&1; then
  tr -d '\r' <"$build/log" | grep -vE "^($cc|\[ +(RUN|OK|PASSED) +\]|\[=+\]) "
  echo "windows: that is what failed; all of the output is in $build/log" >&2
  exit 1
fi
passed=$(sum '^\[  PASSED  \] ([0-9]+) test\(s\)\.?$')
replayed=$(sum '^.*: ([0-9]+) inputs replayed$')
echo "windows: $passed C tests passed, $replayed inputs replayed"
[ "$passed" -gt 0 ] && [ "$replayed" -gt 0 ]

# --- The files, in the shell ---

# answers NAME EXTENSION SHELL...: what that shell says to the statements goes to NAME.out, its errors to NAME.err, with the
# lines' ends of this system. Some of the statements must fail, which makes the shell's status 1; a signal makes it another.
answers() {
  name=$1 extension=$2
  shift 2
  "$@" -batch -cmd ".load $extension" :memory: <"$build/statements" >"$build/raw.out" 2>"$build/raw.err" || [ $? -eq 1 ]
  for stream in out err; do tr -d '\r' <"$build/raw.$stream" >"$build/$name.$stream"; done
}

# Windows keeps the times of files in units of 100 ns.
sqlite3 -batch -bail -cmd '.load ./ztensor' :memory: <"$statements" >"$build/raw"
sed 's/"mtime"/CAST("mtime" AS INTEGER)/g' "$build/raw" >"$build/statements"
answers here ./ztensor sqlite3
answers windows "$build/ztensor" "$wine" "$build/sqlite3.exe"

for stream in out err; do
  diff "$build/here.$stream" "$build/windows.$stream" >"$build/$stream.diff" && continue
  head -n 40 "$build/$stream.diff" | cut -c 1-300
  echo "windows: the answers differ; all of them: diff $build/here.$stream $build/windows.$stream" >&2
  exit 1
done

# A function or column that does not exist fails in the same way on both systems, and is not tested by that.
if grep '^Parse error' "$build/here.err" | cut -d: -f2- | sort -u | grep .; then
  echo 'windows: statements that the shell does not understand' >&2
  exit 1
fi
asked=$(sed -n '/^SELECT/p' "$build/statements" | wc -l)
rows=$(sed '/^SELECT/d' "$build/windows.out" | wc -l)
errors=$(sed -n '/ error near line /p' "$build/windows.err" | wc -l)
echo "windows: $asked statements, $rows lines of answers and $errors errors, the same on both systems"
[ "$(tail -n 1 "$build/windows.out")" = 'the end' ] && [ "$errors" -lt "$asked" ] && [ "$rows" -gt 0 ]
