#!/bin/sh
# `make coverage`: how much of ext/ the test suite reaches. Builds the sources with counters, once for the C tests and once as
# the extension, runs the suite, and adds both up. Fails below the least that is allowed. The lines and branches that nothing
# reached are in build/coverage/missing. A clang that measures MC/DC counts all three, else gcc counts lines and branches.
# MC/DC is that of core/, container/ and tensor/: each condition of a decision decides it alone once with either value.
# build/coverage/mcdc lists the files by what is missing.
set -eu
cd "$(dirname "$0")/.."

least_lines=98 least_branches=92
build=build/coverage
# No test can reach the failure of an assertion; and each branch of an inline function is counted once, not in every caller,
# and that of a loop once, not for every processor it is compiled for
flags='-O0 -g -DNDEBUG -D"ZT_INLINE=static inline" -DZT_VECTOR='
if llvm-cov-19 --version >/dev/null 2>&1; then
  cc=clang-19 flags="$flags -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc"
else
  cc=gcc flags="$flags --coverage"
fi

# Some tests read as another user, who must be able to add to the extension's counters: it is loaded once with this, so that
# all of them are there.
umask 0
shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
trap 'exit 1' HUP INT TERM
chmod 777 "$shared"
rm -rf "$build"
mkdir -p "$build"
export LLVM_PROFILE_FILE="$shared/%m.profraw"   # Processes add up in one file for each program

# say COMMAND...: it goes to the log, whose end is shown if it fails.
say() {
  "$@" >>"$build/log" 2>&1 || { tail -n 40 "$build/log"; exit 1; }
}

extension=$shared/ztensor.so
python=${PYTHON:-/usr/bin/python3}
say make -s B="$shared" CC="$cc" OPT="$flags" "$extension"
say make -s B="$build" CC="$cc" OPT="$flags" LOADED="$extension" unit oom replay build/faults.so
say sqlite3 :memory: ".load $extension"
umask 022
say make -s build/static/faults/write_file.so   # Writing without SQL, which is not measured
say env ZTENSOR="$extension" "$python" -m pytest -q tests/sql
say env ZTENSOR="$extension" "$python" -m pytest -q tests/remote
say env ZTENSOR="$extension" LD_PRELOAD="$PWD/build/faults.so" "$python" -m pytest -q tests/faults \
  -k 'not test_every_call_that_the_extension_makes_of_the_system_can_fail'   # gcov makes calls, too

# to_info: both builds' counters as lcov's records.
to_info() {
  if [ "$cc" = gcc ]; then
    quiet='--quiet --rc lcov_branch_coverage=1'
    # shellcheck disable=SC2086  # Flags are words
    lcov $quiet --capture --directory "$build" --directory "$shared" --base-directory . --output-file "$build/all" &&
      lcov $quiet --extract "$build/all" "$PWD/ext/*" --output-file "$build/info"
    return
  fi
  set --
  for program in "$build"/unit/test_* "$build"/oom/test_* "$build"/replay/fuzz_*; do
    [ -x "$program" ] && set -- "$@" -object "$program"
  done
  llvm-profdata-19 merge --sparse -o "$build/profile" "$shared"/*.profraw &&
    llvm-cov-19 export --format=lcov -instr-profile="$build/profile" "$extension" "$@" ext >"$build/info" 2>"$build/log.cov" &&
    llvm-cov-19 export --summary-only -instr-profile="$build/profile" "$extension" "$@" ext >"$build/summary" 2>>"$build/log.cov"
}
to_info

[ "$cc" = gcc ] || "$python" - "$build" <<'END'
import json, sys
rows, branches, inline = [], [0, 0], []
for file in json.load(open(f"{sys.argv[1]}/summary"))["data"][0]["files"]:
    name, found = "ext/" + file["filename"].rpartition("/ext/")[2], file["summary"]["mcdc"]
    all_of, reached = (file["summary"]["branches"][key] for key in ("count", "covered"))
    branches = [branches[0] + all_of, branches[1] + reached]
    if name.endswith(".h") and reached < all_of:
        inline.append(f"{name}: {all_of - reached} of {all_of} branches, in the source that reaches most\n")
    if name.split("/")[1] in ("core", "container", "tensor"):
        rows.append((found["count"] - found["covered"], found["count"], name))
with open(f"{sys.argv[1]}/mcdc", "w") as out:
    out.writelines(f"{missing:5} of {n:5}  {name}\n" for missing, n, name in sorted(rows, reverse=True))
with open(f"{sys.argv[1]}/branches", "w") as out:
    out.write("{} {}".format(*branches))
with open(f"{sys.argv[1]}/inline", "w") as out:
    out.writelines(inline)
missing, n = (sum(column) for column in list(zip(*rows))[:2])
print(f"coverage: MC/DC of {100 * (n - missing) / n:.1f} % of {n} conditions of core/, container/ and tensor/")
END

# The totals, and for each file the lines and branches that no test reached. clang's records have the branches of an inline
# function once for each source that includes it, its summary has them once.
once=$([ ! -e "$build/branches" ] || cat "$build/branches")
awk -F '[:,]' -v here="$PWD/" -v missing="$build/missing" -v lines="$least_lines" -v branches="$least_branches" -v once="$once" '
  /^SF:/ { file = $2; sub(here, "", file) }
  /^DA:/ { nLines++; if( $3>0 ) reachedLines++; else print file ":" $2 ": line" >missing }
  /^BRDA:/ {
    nBranches++
    if( $5!="-" && $5>0 ) reachedBranches++
    else if( !once || file !~ /\.h$/ ) print file ":" $2 ": branch " $4 >missing
  }
  END {
    if( nLines==0 || nBranches==0 ){ print "coverage: nothing was measured"; exit 1 }
    if( once ){ split(once, n, " "); nBranches = n[1]; reachedBranches = n[2] }
    l = 100*reachedLines/nLines; b = 100*reachedBranches/nBranches
    printf "coverage: %.1f %% of %d lines, %.1f %% of %d branches of ext/; ", l, nLines, b, nBranches
    printf "at least %d and %d are asked for\n", lines, branches
    exit l>=lines && b>=branches ? 0 : 1
  }' "$build/info" || failed=1
[ ! -e "$build/inline" ] || cat "$build/inline" >>"$build/missing"
exit "${failed:-0}"
