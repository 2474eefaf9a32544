#!/bin/sh
# Has the formats' own libraries write files, each from PyPI in a virtual environment of its own, but torch, which is the
# system's, and reads them with the extension; hands vectors to sqlite-vec; has experiment trackers write databases, and joins them;
# asks the same of Python's two drivers of SQLite; has Datasette and DuckDB browse a catalog; reads from moto's S3.
# The environments stay in build/interop, so that only the first run downloads.
set -eu
cd "$(dirname "$0")/../.."

tests=tests/interop
. $tests/environments.sh

# write VERSION SCRIPT ARGUMENT...: files written by that release, each with a record of what was handed to it.
write() {
  library "$1"
  version=$1 script=$2
  shift 2
  mkdir -p "$build/files/$version"
  "$build/$version/bin/python" "$tests/$script" "$build/files/$version" "$@"
}

rm -rf "$build/files"
write 0.1.4 write_0_1.py
write 1.0.1 write_1_0.py 1.0
write 1.1.1 write_1_0.py 1.1
write 1.2.3 write_1_2.py
write 2.1.2 write_2.py
environment sqlite-vec sqlite-vec==0.1.6

# foreign PYTHON FORMAT...: files of other formats, written by their own libraries, which that Python has, and what those read
# in them.
foreign() {
  python=$1
  shift
  for format in "$@"; do
    mkdir -p "$build/foreign/$format"
    "$python" "$tests/write_$format.py" "$build/foreign/$format"
  done
}

rm -rf "$build/foreign"
library safetensors
foreign "$build/safetensors/bin/python" safetensors
library gguf
foreign "$build/gguf/bin/python" gguf
library numpy
foreign "$build/numpy/bin/python" npy npz matlab tensorflow
environment sklearn scikit-learn==1.6.1 joblib==1.4.2 scipy==1.15.3 numpy==2.2.6
foreign "$build/sklearn/bin/python" pickle
# Before numpy 2, whose modules have other names
environment sklearn-older scikit-learn==1.3.2 joblib==1.2.0 scipy==1.11.4 numpy==1.26.4
mkdir -p "$build/foreign/pickle_older"
"$build/sklearn-older/bin/python" "$tests/write_pickle.py" "$build/foreign/pickle_older"
environment archive safetensors==0.8.0 gguf==0.19.0 numpy==2.2.6
foreign "$build/archive/bin/python" archive
library onnx
foreign "$build/onnx/bin/python" onnx
library litert
foreign "$build/litert/bin/python" tflite
library msgpack
foreign "$build/msgpack/bin/python" msgpack
environment thinc thinc==9.1.1 msgpack-numpy==0.4.8 numpy==2.2.6
foreign "$build/thinc/bin/python" msgpack_numpy
library hdf5
foreign "$build/hdf5/bin/python" hdf5
# Keras's backend of numpy imports scipy and jax, which Keras does not require. With jax for the processor, 450 MB; TensorFlow takes
# 1.7 GB, and is not installed
environment jax keras==3.15.1 h5py==3.16.0 flax==0.12.8 jax==0.10.2 optax==0.2.8 scipy==1.17.1 numpy==2.4.6 ml_dtypes==0.6.0
foreign "$build/jax/bin/python" keras flax
# Not PyPI's torch, which comes with gigabytes of CUDA
PYTHON="${PYTHON:-/usr/bin/python3}" sh tests/deps.sh torch
foreign "${PYTHON:-/usr/bin/python3}" pytorch

# track NAME SCRIPT PACKAGE...: a database that an experiment tracker writes, and the model files that its runs logged. $given
# is one more argument of the script.
track() {
  name=$1 script=$2
  shift 2
  environment "$name" "$@" ztensor==1.2.3 numpy==2.2.6 ml_dtypes==0.5.1
  "$build/$name/bin/python" "$tests/$script" "$build/trackers/$name" ${given:+"$given"}
}

rm -rf "$build/trackers"
given=tests/formats/pytorch/checkpoints
track mlflow write_mlflow.py mlflow-skinny==3.17.2 sqlalchemy==2.1.9 alembic==1.20.1 pandas==2.2.3
given=
track optuna-4 write_optuna.py optuna==4.9.0 sqlalchemy==2.1.9
track optuna-5 write_optuna.py optuna==5.0.0 sqlalchemy==2.1.9
track sacred write_sacred.py sacred==0.8.7 sqlalchemy==2.1.9

# Servers of S3. versitygw, which verifies signatures, takes minutes to build
environment moto 'moto[s3,server]==5.2.5' boto3==1.44.8
[ -e "$build/gateway/versitygw" ] || GOBIN="$PWD/$build/gateway" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

# Tools that browse a catalog
environment datasette datasette==0.65.5
environment duckdb duckdb==1.5.5 duckdb-extension-sqlite-scanner==1.5.5

sh tests/hosts/python.sh
"${PYTHON:-/usr/bin/python3}" -m pytest -q -p no:cacheprovider "$tests"
