#!/bin/sh
# Mutated files of each format, or of FORMAT, read by its own library and by the extension, for SECONDS a format: see run.py.
# SEED makes other mutants.
set -eu
cd "$(dirname "$0")/../.."
. tests/interop/environments.sh

export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-/usr/bin/python3}
seeds=build/versus/seeds

# written FORMAT LIBRARY SCRIPT: small files that the library has just written are seeds, too.
written() {
  library "$2"
  mkdir -p "$seeds/$1"
  "$build/$2/bin/python" "tests/interop/$3.py" "$seeds/$1"
}

seeds_of() {
  case $1 in
    ztensor-1) written "$1" 1.2.3 write_1_2 ;;
    ztensor-2) written "$1" 2.1.2 write_2 ;;
    npy | npz | matlab) written "$1" numpy "write_$1" ;;
    tflite) written "$1" litert write_tflite ;;
    *) written "$1" "$1" "write_$1" ;;
  esac
}

status=0
for format in ${FORMAT:-safetensors npy npz gguf hdf5 matlab ztensor-1 ztensor-2 msgpack onnx tflite}; do
  [ -e "$seeds/$format/complete" ] || { seeds_of "$format"; touch "$seeds/$format/complete"; }
  "$python" tests/versus/run.py "$format" "${SECONDS_EACH:-60}" "${SEED:-1}" ${NUMBER:+$NUMBER} || status=1
done
exit $status
