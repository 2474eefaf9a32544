# ztensor: tensor files as SQL tables. `make help` lists the targets.

CC ?= cc
OPT ?= -O2 -g -flto=auto
PYTHON ?= /usr/bin/python3
SECONDS ?= 30
COUNT ?= 100000
N ?= 1000
KILLS ?= 20
REMOTE ?= 1
prefix ?= /usr/local
libdir ?= $(prefix)/lib
datadir ?= $(prefix)/share
# END OF USER SETTINGS. NOTHING BELOW NEEDS A CHANGE.

ifeq ($(shell uname -s),Darwin)
  SO = dylib
  LINK = -dynamiclib
  BREW := $(shell brew --prefix 2>/dev/null)
  CPPFLAGS += -I$(BREW)/include -I$(BREW)/opt/sqlite/include -I$(BREW)/opt/openssl/include
  LDFLAGS += -L$(BREW)/lib -L$(BREW)/opt/openssl/lib
else
  SO = so
  LINK = -shared
  FAULTS = faults   # Preloading a library is Linux's
endif

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
# A product and a sum are rounded one after the other: a compiler that may fuse them, as clang does by itself, makes other
# statistics on processors that can
STRICT = -std=c11 $(WARN) -ffp-contract=off -fPIC -fvisibility=hidden
LIBS = -lzstd -lz -lcrypto -lisal -ldl -lm -lpthread
# Without REMOTE there are no sources on web servers, in S3 and on the hub, nor their entry point
REMOTE_SRC := $(wildcard ext/core/fetch.c ext/core/http*.c ext/core/hub.c ext/core/origins.c ext/core/os_net.c ext/core/remote*.c \
  ext/core/s3*.c ext/core/sigv4.c ext/core/url.c ext/sqlite/function_remote.c)
ifeq ($(REMOTE),0)
  LEFT_OUT := $(REMOTE_SRC) tests/unit/test_http.c tests/unit/test_http_answer.c tests/unit/test_listings.c tests/unit/test_sigv4.c tests/unit/test_url.c
  STRICT += -DZT_REMOTE=0
endif
SRC := $(filter-out $(LEFT_OUT),$(wildcard ext/*.c ext/*/*.c))
LIB := $(filter-out $(LEFT_OUT),$(wildcard ext/core/*.c ext/container/*.c ext/tensor/*.c))
UNIT := $(filter-out $(LEFT_OUT),$(wildcard tests/unit/test_*.c))
FUZZ := $(wildcard tests/fuzz/fuzz_*.c)
# Sources linked straight against the library instead of through the extension API; with one thread, so that one run is like
# the other, unless threads are what is tested; and with little of what is worth a thread, or read at once, so that there is more
THREADS ?= 1
LITTLE = -DZT_AHEAD_WORTH=0 -DZT_TOGETHER_WORTH=1 -DZT_SOURCE_PART=64 -DZT_SEGMENT=64 -DZT_CALL_WORTH=1 -DZT_AUTOMATIC_LEAST=0 -DZT_AUTOMATIC_PATIENCE=0
STATIC = -DSQLITE_CORE -DZT_THREADS=$(THREADS) $(LITTLE) -DZT_STREAM_PIECE='((size_t)1<<18)'

OBJ = $(SRC:ext/%.c=build/ext/%.o)

.PHONY: all help deps deps-machines deps-torch deps-packages deps-browser demo test test-c objects unit oom replay sql sql-odd \
  sql-even remote faults warnings analyze asan asan-quick asan-c asan-sql nightly valgrind fuzz mutate mutants hostile coverage interop \
  versus hosts random amalgamation test-s390x test-arm64 test-armhf windows threads tsan soak bench growth bench-table install wheel wheels npm deb \
  test-page test-browser test-spark test-packages clean

# The first target
all: ztensor.$(SO)                  ## build the extension (the default)

ztensor.$(SO): $(OBJ)
	$(CC) $(LINK) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJ) $(LIBS)

# What is shipped has no assertions; what tests and sanitizers build, below, has
build/ext/%.o: ext/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(STRICT) -DNDEBUG $(OPT) $(CPPFLAGS) $(CFLAGS) -Iext -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)

help:                               ## list the targets
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*##/\1\t/p' Makefile | expand -t 15

deps:                               ## install missing tools for building and testing
	@CC='$(CC)' PYTHON='$(PYTHON)' sh tests/deps.sh

deps-machines:                      ## install further tools for test-arm64, test-armhf, windows and test-packages (Debian)
	@CC='$(CC)' PYTHON='$(PYTHON)' sh tests/deps.sh machines

deps-torch:                         ## install further tools for bench: PyTorch, 600 MB of Debian's packages; interop installs it, too
	@CC='$(CC)' PYTHON='$(PYTHON)' sh tests/deps.sh torch

deps-packages:                      ## install further tools for wheel, wheels, npm, deb and test-packages
	@CC='$(CC)' PYTHON='$(PYTHON)' sh tests/deps.sh packages

deps-browser:                       ## install further tools for test-browser
	@CC='$(CC)' PYTHON='$(PYTHON)' sh tests/deps.sh browser

demo: all                           ## audit a small collection of real files in the sqlite3 shell
	@sh tests/demo.sh

# The C tests one after the other, also with -j: they share objects. So does faults, a part of sql: objects come first
test: all                           ## run the whole test suite
	$(SIDE_BY_SIDE) objects
	$(SIDE_BY_SIDE) test-c sql remote

test-c:
	@for t in unit oom replay; do $(MAKE) --no-print-directory $$t || exit 1; done

# --- C tests: the sources, linked straight against the library, below $(B); $(RUN) runs what this machine cannot. Each
# program is run by a target of its own, PROGRAM.run, as many side by side as there are processors ---

SIDE_BY_SIDE = @+$(MAKE) --no-print-directory -O $(if $(findstring jobserver,$(MAKEFLAGS)),,-j"$$(getconf _NPROCESSORS_ONLN)")

B ?= build/static
RUN =
EXE =
.SECONDARY: $(SRC:ext/%.c=$(B)/ext/%.o)
$(B)/ext/%.o: ext/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(OPT) -fno-lto $(CPPFLAGS) $(CFLAGS) $(STATIC) -Iext -MMD -MP -c -o $@ $<

-include $(SRC:ext/%.c=$(B)/ext/%.d)

objects: $(LIB:ext/%.c=$(B)/ext/%.o)

# A program of the C files and objects among its prerequisites
PROGRAM = $(CC) $(STRICT) $(OPT) -fno-lto $(CPPFLAGS) $(CFLAGS) $(STATIC) -Iext -o $@ $(filter %.c %.o,$^) $(LDFLAGS) $(LIBS) -lsqlite3

unit:                               ## run the C tests of core, container and tensor
	$(SIDE_BY_SIDE) $(UNIT:tests/unit/%.c=$(B)/unit/%.run)
$(UNIT:tests/unit/%.c=$(B)/unit/%.run): %.run: %$(EXE)
	@$(RUN) $<

$(B)/unit/%$(EXE): tests/unit/%.c $(wildcard tests/unit/*.h tests/oom/*.h) $(LIB:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM) -Itests/unit -lcmocka

# The tests of parts of sqlite/ and of what stands above it
$(B)/unit/test_attribute_value$(EXE) $(B)/unit/test_bindings$(EXE): $(SRC:ext/%.c=$(B)/ext/%.o)

# The extension as a file that the test loads
LOADED ?= ztensor.$(SO)

oom: $(B)/oom/test_sql $(LOADED)    ## run every statement while one allocation after the other fails
	@$< $(abspath $(LOADED)) >$(B)/oom/log 2>&1 || { grep -v -e '^\[ *RUN' -e '^\[ *OK' $(B)/oom/log; exit 1; }
	@tail -n 1 $(B)/oom/log

$(B)/oom/%: tests/oom/%.c $(wildcard tests/oom/*.h tests/unit/*.h) $(SRC:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM) -Itests/unit -lcmocka

# Lists the tensor files of every format, good and broken, without what describes them. They are too many for one command
TENSOR_FILES = find tests/formats/*/golden tests/formats/*/hostile -type f ! -name '*.json' ! -name '*.md' ! -name '*.txt' | LC_ALL=C sort

replay:                             ## run the fuzz targets over the test files and earlier findings
	$(SIDE_BY_SIDE) $(FUZZ:tests/fuzz/%.c=$(B)/replay/%.run)
$(FUZZ:tests/fuzz/%.c=$(B)/replay/%.run): %.run: %$(EXE)
	@{ find tests/fuzz/regressions -type f -path '*/$(*F)/*'; $(TENSOR_FILES); } | xargs -n 300 $(RUN) $<

$(B)/replay/%$(EXE): tests/fuzz/%.c tests/fuzz/replay.c $(wildcard tests/fuzz/*.h tests/oom/*.h) $(SRC:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM)

# The extension below $(B): for another machine, or with other options
$(B)/loaded/%.o: ext/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(OPT) $(CPPFLAGS) $(CFLAGS) -Iext -MMD -MP -c -o $@ $<

-include $(SRC:ext/%.c=$(B)/loaded/%.d)

$(B)/ztensor.$(SO): $(SRC:ext/%.c=$(B)/loaded/%.o)
	$(CC) $(LINK) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- SQL tests: the extension as its users load it ---

sql: all $(FAULTS)                  ## run the SQL tests, through the sqlite3 shell and Python
	$(SIDE_BY_SIDE) sql-odd sql-even

# Every other file, so that each half takes about as long
sql-odd:
	$(PYTHON) -m pytest -q $$(ls tests/sql/test_*.py | sed -n 'p;n')

sql-even:
	$(PYTHON) -m pytest -q $$(ls tests/sql/test_*.py | sed -n 'n;p')

remote: all build/resolver.so       ## run the tests of remote sources, over servers on loopback
	$(PYTHON) -m pytest -q tests/remote

# Libraries that are preloaded
PRELOADED = @mkdir -p $(@D); $(CC) -std=c11 $(WARN) -O2 -fPIC -shared $(CPPFLAGS) -o $@ $< -ldl
build/resolver.so: tests/remote/resolver.c Makefile
	$(PRELOADED)

build/faults.so: tests/faults/faults.c Makefile
	$(PRELOADED)

# Writing without SQL
$(B)/faults/write_file.so: tests/faults/write_file.c $(LIB:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM) -shared

FAULTS_NEED = build/faults.so build/static/faults/write_file.so
faults: all $(FAULTS_NEED)           ## run tests while system calls fail or are interrupted, and files change
	KILLS=$(KILLS) LD_PRELOAD=$(CURDIR)/build/faults.so $(PYTHON) -m pytest -q tests/faults

# --- Longer checks ---

# For a processor that can multiply and add in one step, fma() being called by another name: there is no such step by itself
FUSED = [[:space:]]v?fn?m(add|sub|la|ls)
FUSING = $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v3) -Dfma=not_by_itself

# Some hosts' threads have a stack of 128 KiB.
warnings:                           ## build with gcc and clang, with warnings as errors, small frames and no fused operations
	@mkdir -p build/warnings
	@for cc in gcc clang; do for f in $(SRC); do out=build/warnings/$$cc.s; \
	  $$cc $(STRICT) -Wframe-larger-than=36864 -O2 -Werror $(CPPFLAGS) -Iext $(FUSING) -S -o $$out $$f || exit 1; \
	  if grep -m 1 -E '$(FUSED)' $$out; then echo "$$cc fuses a product and a sum in $$f"; exit 1; fi; \
	  done; echo "$$cc: no warnings, nothing fused"; done
	@for f in $(UNIT) $(wildcard tests/oom/*.c tests/fuzz/*.c tests/soak/*.c); do \
	  gcc $(STRICT) -Werror $(CPPFLAGS) $(STATIC) -Iext -Itests/unit -fsyntax-only $$f || exit 1; done; echo "tests: no warnings"

# Each file by itself, and again only after a change; written for the clang-tidy and gcc of Debian 12
ANALYZED = $(SRC:ext/%.c=build/analyze/%.tidy) $(SRC:ext/%.c=build/analyze/%.gcc)

analyze:                            ## run clang-tidy and gcc -fanalyzer over ext/, with findings as errors
	$(SIDE_BY_SIDE) -s -k $(ANALYZED)
	@tidy=$(words $(filter %.tidy,$(ANALYZED))) gcc=$(words $(filter %.gcc,$(ANALYZED))); \
	  echo "clang-tidy: $$tidy files without a finding; gcc -fanalyzer: $$gcc files"; test $$tidy -gt 0 && test $$gcc -gt 0

build/analyze/%.tidy: ext/%.c $(wildcard ext/*/*.h) .clang-tidy Makefile
	@mkdir -p $(@D)
	clang-tidy --quiet --config-file=.clang-tidy $< -- $(STRICT) $(CPPFLAGS) -Iext 2>$@.log || { cat $@.log; false; }
	@touch $@

build/analyze/%.gcc: ext/%.c $(wildcard ext/*/*.h) Makefile
	@mkdir -p $(@D)
	gcc $(STRICT) -O2 -fanalyzer -Werror $(CPPFLAGS) -Iext -c -o /dev/null $<
	@touch $@

SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN = B=build/asan CC=gcc OPT="$(SANITIZE)"
ASAN_ENV = ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
ASAN_LIBS = $$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)

asan:                               ## run the whole test suite under AddressSanitizer and UBSan
	$(MAKE) $(ASAN) build/asan/ztensor.$(SO)
	$(SIDE_BY_SIDE) asan-c asan-sql

# The files of every format, sound, broken and cut, and what decodes them
MANY_FILES = golden hostile truncate compare dense quantized sparse zt2
asan-quick:                         ## do the same with the C tests, and the SQL tests that read many files
	$(MAKE) $(ASAN) build/asan/ztensor.$(SO)
	$(SIDE_BY_SIDE) asan-c asan-sql SQL_TESTS='$(MANY_FILES:%=tests/sql/test_%.py)'

asan-c:
	@for t in unit oom replay; do $(MAKE) $(ASAN) $$t LOADED=build/asan/ztensor.$(SO) || exit 1; done

SQL_TESTS ?= tests/sql
asan-sql: $(FAULTS_NEED) build/resolver.so
	$(ASAN_ENV) ZTENSOR=$(CURDIR)/build/asan/ztensor.$(SO) LD_PRELOAD="$(ASAN_LIBS)" $(PYTHON) -m pytest -q $(SQL_TESTS)
	$(ASAN_ENV) ZTENSOR=$(CURDIR)/build/asan/ztensor.$(SO) LD_PRELOAD="$(ASAN_LIBS)" $(PYTHON) -m pytest -q tests/remote
	$(ASAN_ENV) ZTENSOR=$(CURDIR)/build/asan/ztensor.$(SO) LD_PRELOAD="$(ASAN_LIBS) $(CURDIR)/build/faults.so" \
	  $(PYTHON) -m pytest -q tests/faults

nightly:                            ## run all checks, two at once, which takes hours; FROM=step goes on there, STEP=step runs that one
	@FROM='$(FROM)' STEP='$(STEP)' bash tests/nightly.sh

valgrind: all                       ## run the main paths of the SQL suite under valgrind, with leaks and bad reads as errors
	@sh tests/valgrind.sh

FUZZER = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

fuzz:                               ## fuzz each target for SECONDS=30
	$(SIDE_BY_SIDE) -s B=build/fuzz CC=clang OPT="$(FUZZER)" $(FUZZ:tests/fuzz/%.c=build/fuzz/%)
	@failed=0; for t in $(FUZZ:tests/fuzz/%.c=build/fuzz/%); do \
	  PYTHON='$(PYTHON)' SEED='$(SEED)' sh tests/fuzz/run.sh $$t $(SECONDS) || failed=1; \
	done; exit $$failed

$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h tests/oom/*.h) $(SRC:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM) -fsanitize=fuzzer

mutate:                             ## read COUNT=100000 mutated files through every table and function, under the sanitizers
	$(SIDE_BY_SIDE) -s $(ASAN) build/asan/replay/fuzz_diff
	@sh tests/fuzz/mutate.sh build/asan/replay/fuzz_diff $(COUNT)

hostile:                            ## measure the max cost of each hostile file, under the sanitizers
	$(SIDE_BY_SIDE) -s $(ASAN) build/asan/replay/fuzz_diff
	@$(PYTHON) tests/fuzz/hostile.py build/asan/replay/fuzz_diff

mutants: build/faults.so            ## change N=1000 places of ext/ one at a time; fails if fewer than 99 % make a test fail
	@PYTHON='$(PYTHON)' $(PYTHON) tests/mutants/run.py $(N) $(if $(SEED),--seed $(SEED))

coverage:                           ## measure coverage of ext/: lines, branches and MC/DC, by clang 19
	@PYTHON='$(PYTHON)' sh tests/coverage.sh

interop: all                        ## compare with the formats' own libraries, over files that these have just written
	@PYTHON='$(PYTHON)' sh tests/interop/run.sh

versus: all                         ## compare with the formats' own libraries, over mutated files, SECONDS=30 for each format, or for FORMAT
	@PYTHON='$(PYTHON)' FORMAT='$(FORMAT)' SECONDS_EACH='$(SECONDS)' SEED='$(SEED)' sh tests/versus/run.sh

hosts: all                          ## run tests in hosts with their own SQLite, and with other versions of SQLite; needs many tools
	@PYTHON='$(PYTHON)' sh tests/hosts/run.sh

random: all                         ## run RANDOM_QUERIES=2000 for each table, with this SQLite and with the newest, from apsw
	$(PYTHON) -m pytest -q tests/sql/test_random.py
	@PYTHON='$(PYTHON)' sh tests/hosts/python.sh random

amalgamation: all                   ## put all sources into build/amalgamation/ztensor.c, compile it alone, and compare its answers
	@PYTHON='$(PYTHON)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' sh tests/amalgamation/run.sh

test-s390x: all                     ## run the C tests and read the test files on a big-endian machine, under qemu
	@sh tests/cross/run.sh s390x

test-arm64: all                     ## do the same on a 64-bit ARM
	@sh tests/cross/run.sh arm64

test-armhf: all                     ## do the same on a 32-bit ARM
	@sh tests/cross/run.sh armhf

# Many threads ask over files that another process replaces: of all rows it is known what they must be
$(B)/soak: tests/soak/soak.c tests/oom/rows.h $(SRC:ext/%.c=$(B)/ext/%.o)
	@mkdir -p $(@D)
	$(PROGRAM) -lpthread

# Eight threads, at work on whatever there is
EIGHT = THREADS=8 CPPFLAGS='$(CPPFLAGS) -DZT_THREADS=8 $(LITTLE)'
threads: $(FAULTS_NEED)              ## run the SQL tests and faults with eight threads, also while memory runs out in them
	$(SIDE_BY_SIDE) -s B=build/threads $(EIGHT) build/threads/oom/test_sql build/threads/ztensor.$(SO)
	ZTENSOR=$(CURDIR)/build/threads/ztensor.$(SO) $(PYTHON) -m pytest -q tests/sql
	ZTENSOR=$(CURDIR)/build/threads/ztensor.$(SO) LD_PRELOAD=$(CURDIR)/build/faults.so $(PYTHON) -m pytest -q tests/faults
	@$(MAKE) --no-print-directory B=build/threads $(EIGHT) oom LOADED=build/threads/ztensor.$(SO)

TSAN = B=build/tsan $(EIGHT) OPT="-O1 -g -fno-omit-frame-pointer -fsanitize=thread" CC=gcc

tsan:                               ## read files that are being replaced, with many threads, for SECONDS=30, under ThreadSanitizer
	$(SIDE_BY_SIDE) -s $(TSAN) build/tsan/soak build/tsan/ztensor.$(SO)
	@PYTHON='$(PYTHON)' sh tests/soak/run.sh build/tsan/soak build/tsan/ztensor.$(SO) $(SECONDS) 0

soak: build/static/soak build/static/ztensor.$(SO)  ## do the same without ThreadSanitizer, with a check for lost memory; e.g. SECONDS=600
	@PYTHON='$(PYTHON)' sh tests/soak/run.sh build/static/soak build/static/ztensor.$(SO) $(SECONDS) 4096

windows: all                        ## build build/windows/ztensor.dll with MinGW-w64, and run its tests under wine
	@sh tests/windows/run.sh

bench: all                          ## compare speed with other tools, or with another build: AGAINST=../other
	@$(PYTHON) tests/bench/bench.py $(if $(AGAINST),--against '$(AGAINST)')

growth: all                         ## measure how time and memory grow from 1 to 100 times the work
	@$(PYTHON) tests/bench/growth.py

bench-table:                        ## put the ratios and limits of the last `make bench` into README and reference
	@$(PYTHON) tests/bench/table.py

# --- What is installed ---

install: all                        ## install the library and the scripts below prefix=/usr/local
	install -d '$(DESTDIR)$(libdir)' '$(DESTDIR)$(datadir)/ztensor'
	install -m 644 ztensor.$(SO) '$(DESTDIR)$(libdir)'
	install -m 644 sql/*.sql '$(DESTDIR)$(datadir)/ztensor'

# Scripts below ext/packages make the packages; the library in those for other machines is not that of this build
wheel:                              ## build build/packages/dist/*.whl, the Python package for this machine; needs cargo, nasm
	@$(PYTHON) ext/packages/native/build.py this
	@$(PYTHON) ext/packages/python/make_wheel.py this

wheels:                             ## do the same for all systems
	@$(PYTHON) ext/packages/native/build.py all
	@$(PYTHON) ext/packages/python/make_wheel.py all

npm: wheels                         ## build build/packages/dist/*.tgz: packages for Node, archives for sqlpkg, and recipes
	@$(PYTHON) ext/packages/npm/make_npm.py
	@$(PYTHON) ext/packages/sqlpkg/make_sqlpkg.py
	@$(PYTHON) ext/packages/make_recipes.py

deb:                                ## build build/packages/dist/*.deb, the package for this Debian
	@$(PYTHON) ext/packages/debian/make_deb.py

test-spark: all                     ## test the Python package in a Spark cluster of this machine, also while an executor is killed
	@PYTHON='$(PYTHON)' sh tests/spark/run.sh

PAGE_TESTS = $(addprefix ext/packages/python/tests/test_,collection.py models.py tree.py diff.py convert.py check.py remote_models.py \
  every_file.py command.py sources.py options.py terminal.py page.py page_compare.py \
  page_model.py page_tables.py)
test-page: all                      ## test the command ztensor-sql and its page, as they are in the source tree
	$(PYTHON) -m pytest -q -p no:cacheprovider $(PAGE_TESTS)

test-browser: all                   ## test that page in a browser, after make deps-browser
	$(PYTHON) -m pytest -q -s -p no:cacheprovider ext/packages/python/tests/browser.py

test-packages: all npm deb          ## test the packages on a bare system, the installed wheel among them, and compare their answers
	INSTALLED=1 $(PYTHON) -m pytest -q -p no:cacheprovider ext/packages

clean:                              ## remove all built files
	rm -rf build ztensor.$(SO)
