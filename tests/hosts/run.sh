#!/bin/sh
# The extension in programs other than Debian's: languages whose drivers bring their own SQLite, and the SQL suite with other
# versions of SQLite. What is fetched (from PyPI, npm, the Go module proxy, the crates registry, Maven's repository, each as
# this machine has them configured) and what is built stays in build/hosts.
set -eu
cd "$(dirname "$0")/../.."

build=$PWD/build/hosts
extension=$PWD/ztensor
tools="${PYTHON:-/usr/bin/python3} sqlite3 cc ldd nm cargo go java javac mvn node npm"
echo "hosts: needs $tools"
missing=
for tool in $tools; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
[ -z "$missing" ] || { echo "hosts: missing:$missing" >&2; exit 1; }

# A process with two SQLite libraries must not have the extension call the wrong one.
if ldd ztensor.so | grep libsqlite3 || nm -D --undefined-only ztensor.so | grep sqlite3; then
  echo 'hosts: ztensor.so calls an SQLite library by name, not the one that loads it' >&2
  exit 1
fi

# step NAME COMMAND...: run it, and say how long that took.
step() {
  name=$1 begun=$(date +%s)
  shift
  "$@"
  echo "hosts: $name: $(($(date +%s) - begun)) s"
}

go_driver() {
  go -C tests/hosts/go build -o "$build/go/smoke" .
  "$build/go/smoke" "$extension"
}

rust() {
  mkdir -p "$build/rust"
  cp -pR tests/hosts/rust/. "$build/rust"
  cargo build -q --manifest-path "$build/rust/Cargo.toml"
  "$build/rust/target/debug/smoke" "$extension"
}

java_driver() {
  jar=sqlite-jdbc-3.50.3.0
  [ -e "$build/java/$jar.jar" ] ||
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="org.xerial:${jar%-*}:${jar##*-}" \
      -DoutputDirectory="$build/java"
  javac -d "$build/java" -cp "$build/java/$jar.jar" tests/hosts/java/Smoke.java
  java -cp "$build/java:$build/java/$jar.jar" Smoke "$extension"
}

# package NAME VERSION: that npm package in $build/NAME-VERSION. A driver is compiled where no binary of it can be had; the
# headers that came with node will do.
package() {
  directory=$build/$1-$2
  [ ! -e "$directory/complete" ] || return 0
  prefix=$(dirname "$(dirname "$(command -v node)")")
  mkdir -p "$directory"
  (
    [ ! -e "$prefix/include/node/node.h" ] || export npm_config_nodedir="$prefix"
    npm --prefix "$directory" --silent --no-audit --no-fund install "$1@$2"
  )
  touch "$directory/complete"
}

better_sqlite3() {
  package better-sqlite3 12.11.1
  NODE_PATH=$directory/node_modules node tests/hosts/node/smoke.js "$extension"
}

# node:sqlite came with Node 22.
node_sqlite() {
  package node 24.9.0
  "$directory/node_modules/node/bin/node" --no-warnings tests/hosts/node/builtin.js "$extension"
}

step Go go_driver
step Rust rust
step Java java_driver
step better-sqlite3 better_sqlite3
step node:sqlite node_sqlite
step 'Python, and the SQL suite through apsw' sh tests/hosts/python.sh suite
step 'the SQL suite with other versions of SQLite' sh tests/hosts/sqlite.sh
