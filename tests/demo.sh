#!/bin/sh
# `make demo`: audit a small collection of real files in the sqlite3 shell. Fails if a statement does.
set -eu
mkdir -p build/demo
sqlite3 -batch -bail :memory: < tests/demo.sql
printf '\nNow try it yourself:  sqlite3 :memory: ".load ./ztensor" "SELECT * FROM zt_files('"'"'tests/formats/ztensor/golden'"'"')"\n'
