#!/bin/sh
# The formats' own libraries, for run.sh and versus/run.sh: each from PyPI in a virtual environment of its own, which stays below
# build/interop, so that only the first run downloads. It is read at the project's top.

build=build/interop

# environment NAME PACKAGE...: make $build/NAME with those packages. Not every Python has wheels of each; the first that has
# them will do.
environment() {
  env=$build/$1
  name=$1
  shift
  [ -e "$env/complete" ] && return
  for python in "${PYTHON:-/usr/bin/python3}" python3; do
    rm -rf "$env"
    if "$python" -m venv "$env" &&
       "$env/bin/python" -m pip -q --disable-pip-version-check install --only-binary :all: "$@"; then
      touch "$env/complete"
      echo "environment $name: $("$env/bin/python" -V)"
      return
    fi
  done
  echo "environment $name: no Python here can install $*" >&2
  exit 1
}

# library NAME: the environment of one format's library, or of one version of zTensor's.
library() {
  case $1 in
    [0-9]*) environment "$1" "ztensor==$1" numpy==2.2.6 ml_dtypes==0.5.1 ;;
    safetensors) environment safetensors safetensors==0.8.0 numpy==2.2.6 ;;
    gguf) environment gguf gguf==0.19.0 numpy==2.2.6 ;;
    numpy) environment numpy numpy==2.2.6 scipy==1.15.3 ;;
    onnx) environment onnx onnx==1.23.2 numpy==2.2.6 ml_dtypes==0.6.0 ;;
    litert) environment litert ai-edge-litert==2.3.0 flatbuffers==25.12.19 numpy==2.2.6 ;;
    msgpack) environment msgpack msgpack==1.2.4 numpy==2.2.6 ml_dtypes==0.6.0 ;;
    hdf5) environment hdf5 h5py==3.16.0 tables==3.11.1 numpy==2.4.6 ml_dtypes==0.6.0 ;;
    *) echo "environment: no library is called $1" >&2; exit 1 ;;
  esac
}
