#!/bin/sh
# Writes the files and runs the soak: sh tests/soak/run.sh build/static/soak build/static/ztensor.so 600 4096
# The last number is the KiB by which resident memory may grow; 0: that is not judged.
set -eu
cd "$(dirname "$0")/../.."

program=$1 extension=$2 seconds=$3 growth=$4
work=$program.files
rm -rf "$work"
mkdir -p "$work/live"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-/usr/bin/python3}" tests/soak/versions.py "$work/versions"
"$program" "$seconds" "$work/versions" "$work/live" "$extension" "$growth"
