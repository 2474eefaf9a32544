#!/bin/sh
# The SQL suite with other versions of SQLite in place of the system's: sqlite.sh [VERSION]...
# The sources are those that the crate libsqlite3-sys carries, fetched by cargo. Python's sqlite3 and the sqlite3 shell of this
# system run on each library, which the dynamic linker finds first. Prints one line a version; what pytest says stays in
# build/hosts/sqlite/VERSION/suite.log.
set -eu
cd "$(dirname "$0")/../.."

python=${PYTHON:-/usr/bin/python3}
build=build/hosts/sqlite
# SQLite, and a release of the crate that has it.
crates='
3.31.0 0.17.3
3.33.0 0.20.1
3.35.4 0.22.2
3.37.0 0.23.2
3.38.2 0.24.2
3.39.2 0.25.2
3.41.2 0.26.0
3.44.0 0.27.0
3.45.0 0.28.0
3.46.0 0.30.1
3.49.2 0.34.0
3.50.2 0.35.0
3.51.3 0.37.0
3.54.1 0.39.1
'
# As Debian builds it; JSON and sqlite3_serialize() had to be asked for once.
options='-DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_DESERIALIZE -DSQLITE_ENABLE_FTS3
  -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_PREUPDATE_HOOK
  -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_ENABLE_UNLOCK_NOTIFY
  -DSQLITE_THREADSAFE=1 -DSQLITE_USE_URI -DHAVE_ISNAN'

# fetch CRATE DIRECTORY: the crate's sources below DIRECTORY/vendor.
fetch() {
  mkdir -p "$2/src"
  : >"$2/src/lib.rs"
  cat >"$2/Cargo.toml" <<TOML
[package]
name = "amalgamation"
version = "0.0.0"
[dependencies]
libsqlite3-sys = { version = "=$1", default-features = false }
[workspace]
TOML
  (cd "$2" && cargo vendor -q vendor >/dev/null)
}

# library VERSION CRATE DIRECTORY: DIRECTORY/libsqlite3.so.0 of that version.
library() {
  [ -e "$3/libsqlite3.so.0" ] && return
  fetch "$2" "$3"
  source=$3/vendor/libsqlite3-sys/sqlite3
  id=$(sqlite3 :memory: 'SELECT sqlite_source_id()')
  # shellcheck disable=SC2086  # Options are words
  cc -c -fPIC -O2 -w $options -Dsqlite3_sourceid=sqlite3_own_sourceid -o "$3/sqlite3.o" "$source/sqlite3.c"
  cc -c -fPIC -O2 -DSHELL_SOURCE_ID="\"$id\"" -I"$source" -o "$3/shell.o" tests/hosts/shell.c
  cc -shared -Wl,-soname,libsqlite3.so.0 -o "$3/new.so" "$3/sqlite3.o" "$3/shell.o" -lm -ldl -lpthread
  mv "$3/new.so" "$3/libsqlite3.so.0"
}

# headers DIRECTORY: the extension compiles with those of that version.
headers() {
  for file in ext/*.c ext/*/*.c; do
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$1/vendor/libsqlite3-sys/sqlite3" -Iext "$file" || return
  done
}

# check VERSION DIRECTORY: the extension compiles with its headers, both hosts run on the library, and the suite passes.
check() {
  rm -f "$2/suite.log"
  headers "$2" || return
  export LD_LIBRARY_PATH="$PWD/$2"
  [ "$("$python" -c 'import sqlite3; print(sqlite3.sqlite_version)')" = "$1" ] &&
    [ "$(sqlite3 :memory: 'SELECT sqlite_version()')" = "$1" ] &&
    "$python" -m pytest -q -rs --tb=short tests/sql >"$2/suite.log" 2>&1 &&
    [ -n "$(passed "$2")" ]
}

# passed DIRECTORY: pytest's last line, if any test passed.
passed() {
  tail -n 1 "$1/suite.log" | grep ' passed'
}

failures=0
for version in ${*:-$(echo "$crates" | awk '{ print $1 }')}; do
  crate=$(echo "$crates" | awk -v version="$version" '$1==version { print $2 }')
  [ -n "$crate" ] || { echo "hosts: no crate is known that carries SQLite $version" >&2; exit 1; }
  directory=$build/$version
  library "$version" "$crate" "$directory"
  if (check "$version" "$directory"); then
    echo "SQLite $version: $(passed "$directory")"
  else
    failures=$((failures + 1))
    echo "SQLite $version: FAILED"
    [ ! -e "$directory/suite.log" ] || sed -n -E '/^(FAILED|ERROR) |^=* ?[0-9]+ (failed|passed|error)/p' "$directory/suite.log"
  fi
done
[ "$failures" = 0 ]
