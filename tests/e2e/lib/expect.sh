# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs a command and checks its result. A check that fails shows the command,
# its exit status and all of its output.

STATUS=
COMMAND=()

# run COMMAND...: sets STATUS; its output is in the files stdout and stderr.
run() {
  COMMAND=("$@")
  STATUS=0
  timeout 240 "$@" >stdout 2>stderr </dev/null || STATUS=$?
}

# unexpected MESSAGE: fails, and shows the last command.
unexpected() {
  printf 'expected %s\n' "$1"
  if [ "${#COMMAND[@]}" -gt 0 ]; then
    printf '$ %s\nstatus: %s\n--- stdout\n' "${COMMAND[*]}" "$STATUS"
    cat stdout
    printf -- '--- stderr\n'
    cat stderr
  fi
  exit 1
}

expect_status() { [ "$STATUS" -eq "$1" ] || unexpected "status $1"; }
expect_success() { expect_status 0; }
expect_failure() { [ "$STATUS" -ne 0 ] || unexpected "a failure"; }

expect_equal() { # WHAT WANTED ACTUAL
  [ "$2" = "$3" ] || unexpected "$1 to be '$2', not '$3'"
}

# expect_stdout TEXT: stdout is exactly this text, except the final newline.
expect_stdout() { expect_equal "stdout" "$1" "$(cat stdout)"; }
expect_no_stdout() { [ ! -s stdout ] || unexpected "an empty stdout"; }
expect_silent_stderr() { [ ! -s stderr ] || unexpected "an empty stderr"; }

# expect_json FILTER VALUE: jq finds this value in stdout.
expect_json() {
  local value
  value=$(jq -r "$1" stdout) || unexpected "JSON on stdout"
  expect_equal "$1" "$2" "$value"
}

# expect_in FILE TEXT...: the file contains each text.
expect_in() {
  local file=$1 text
  for text in "${@:2}"; do
    grep -qF -e "$text" "$file" || unexpected "'$text' in $file"
  done
}

# expect_error_line PROGRAM TEXT...: stderr has one error line of the program, which contains each text.
expect_error_line() {
  local line text
  line=$(grep -E "^$1: error: " stderr) || unexpected "a line '$1: error: ...' on stderr"
  for text in "${@:2}"; do
    [[ $line == *"$text"* ]] || unexpected "'$text' in the line '$line'"
  done
}
