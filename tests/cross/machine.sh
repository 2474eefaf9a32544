# The tests on other machines share these functions; sourced by run.sh and ../windows/run.sh in the project's directory. They set before:
#   machine    its name, for messages
#   build      the directory of everything made for it
#   compiler   the C compiler for it

apt=$PWD/$build/apt

# need TOOL...
need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null && continue
    echo "$machine: no $tool; on Debian, make deps-machines installs what is missing" >&2
    exit 1
  done
}

# --- apt, with a state of its own: the system's package lists, architectures and packages stay as they are ---

# private_apt ARGUMENT...
private_apt() {
  apt-get -q -y -c "$apt/apt.conf" "$@"
}

# configure_apt: what the standard input has of settings is added. The hooks of the system's configuration would clean up
# after the system's own state.
configure_apt() {
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/status"
  cat >"$apt/apt.conf" <<CONF
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Debug::NoLocking "true";
$(cat)
CONF
}

# --- C tests ---

# sum PATTERN: of the numbers in the lines of the log that match the pattern.
sum() {
  tr -d '\r' <"$build/log" | sed -nE "s/$1/\1/p" | awk '{ n += $1 } END { print n+0 }'
}

# c_tests COMMAND...: makes the targets unit and replay by that command, and counts.
c_tests() {
  if ! "$@" unit replay >"$build/log" 2>&1; then
    tr -d '\r' <"$build/log" | grep -vE "^($compiler|\[ +(RUN|OK|PASSED) +\]|\[=+\]) "
    echo "$machine: that is what failed; all of the output is in $build/log" >&2
    exit 1
  fi
  passed=$(sum '^\[  PASSED  \] ([0-9]+) test\(s\)\.?$')
  replayed=$(sum '^.*: ([0-9]+) inputs replayed$')
  echo "$machine: $passed C tests passed, $replayed inputs replayed"
  [ "$passed" -gt 0 ] && [ "$replayed" -gt 0 ]
}

# --- The files, in the shell ---

# answers NAME EXTENSION SHELL...: what that shell says to the statements goes to NAME.out, its errors to NAME.err, with this
# system's ends of lines. Some of the statements must fail, which makes the shell's status 1; a signal makes it another.
answers() {
  name=$1 extension=$2
  shift 2
  "$@" -batch -cmd ".load $extension" :memory: <"$build/statements" >"$build/raw.out" 2>"$build/raw.err" || [ $? -eq 1 ]
  for stream in out err; do tr -d '\r' <"$build/raw.$stream" >"$build/$name.$stream"; done
}

# compare_answers EXTENSION SHELL...: to $build/statements, that shell says what this machine's says.
compare_answers() {
  answers here ./ztensor sqlite3
  answers there "$@"
  for stream in out err; do
    diff "$build/here.$stream" "$build/there.$stream" >"$build/$stream.diff" && continue
    head -n 40 "$build/$stream.diff" | cut -c 1-300
    echo "$machine: the answers differ; all of them: diff $build/here.$stream $build/there.$stream" >&2
    exit 1
  done
  # A function or column that does not exist fails in the same way on both machines, and is not tested by that.
  if grep '^Parse error' "$build/here.err" | cut -d: -f2- | sort -u | grep .; then
    echo "$machine: statements that the shell does not understand" >&2
    exit 1
  fi
  statements=$(sed -n '/^SELECT/p' "$build/statements" | wc -l)
  rows=$(sed '/^SELECT/d' "$build/there.out" | wc -l)
  errors=$(sed -n '/ error near line /p' "$build/there.err" | wc -l)
  echo "$machine: $statements statements, $rows lines of answers and $errors errors, the same on both machines"
  [ "$(tail -n 1 "$build/there.out")" = 'the end' ] && [ "$errors" -lt "$statements" ] && [ "$rows" -gt 0 ]
}
