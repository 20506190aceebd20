# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-spiffe while SPIRE's agent is missing, starts, hangs, or has no entry for the workload: each
# call ends before its deadline, with a valid credential or with one error line and a hint.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/spiffe.sh
. "$E2E_DIR/lib/spiffe.sh"

JWT=(--type=jwt --audience="$AUDIENCE")
# A user ID that no entry and no other process of this machine uses.
OTHER_USER=54321
# The time that a process may take in addition to its --timeout on a busy machine.
SLACK_MS=10000

# before SECONDS WORKLOAD ARGUMENT...: runs the plugin with this --timeout, and checks that it is kept.
before() {
  local begin taken
  begin=$(date +%s%3N)
  ask "$2" --timeout="$1s" "${@:3}"
  taken=$(($(date +%s%3N) - begin))
  [ "$taken" -le $(($1 * 1000 + SLACK_MS)) ] || unexpected "an end within $1 s, not after $taken ms"
}

# --- no agent

no_agent() { # TYPE
  before 1 controller "--type=$1" "${@:2}"
  expect_refused 3 "$SPIRE_SOCKET"
}

# The socket of an agent that was killed.
a_socket_without_an_agent() {
  spire_up
  kill -KILL "$(pid_of agent)"
  wait_until 120 dead agent
  [ -S "$SPIRE_SOCKET" ]
  before 1 controller "${JWT[@]}"
  expect_refused 3 "$SPIRE_SOCKET" refused
}

an_agent_that_hangs() { # TYPE
  spire_up
  kill -STOP "$(pid_of agent)"
  before 2 controller "--type=$1" "${@:2}"
  kill -CONT "$(pid_of agent)"
  expect_refused 3 "timed out"
}

# later ARGUMENT...: starts the controller's plugin in the background, with a long time limit.
later() {
  "$(workload controller)" --timeout=50s "$@" >stdout 2>stderr &
  LATER=$!
}
expect_later() {
  STATUS=0
  COMMAND=("the plugin that was started earlier")
  wait "$LATER" || STATUS=$?
  expect_identity controller
}

an_agent_that_starts_late() {
  stop agent
  later "${JWT[@]}"
  spire_up
  expect_later
}

as_other_user() { # WORKLOAD
  run setpriv --reuid="$OTHER_USER" --regid="$OTHER_USER" --clear-groups \
    "$(workload "$1")" "${JWT[@]}" --timeout=1s
}

a_socket_of_others() {
  spire_up
  chmod 700 "$SPIRE_SOCKET"
  as_other_user controller
  chmod 777 "$SPIRE_SOCKET"
  expect_refused 2 "$SPIRE_SOCKET" "Permission denied"
}

# --- no entry

expect_unregistered() { # UID GID
  expect_refused 1 "no identity issued" "$SPIRE_SOCKET"
  expect_in stderr "unix:uid:$1" "unix:gid:$2"
}

an_unregistered_program() { # TYPE
  spire_up
  before 1 stranger "$@"
  expect_unregistered "$(id -u)" "$(id -g)"
}

its_own_pid_is_named() {
  local pid
  spire_up
  "$(workload stranger)" --timeout=1s "${JWT[@]}" >stdout 2>stderr &
  pid=$!
  STATUS=0
  wait "$pid" || STATUS=$?
  expect_refused 1 "no identity issued"
  expect_in stderr "pid $pid:"
}

registering_helps() {
  spire_up
  before 1 stranger "${JWT[@]}"
  expect_status 1
  entry stranger stranger
  before 20 stranger "${JWT[@]}"
  expect_identity stranger
  forget stranger
}

registering_helps_another_user() {
  spire_up
  as_other_user stranger
  expect_unregistered "$OTHER_USER" "$OTHER_USER"
  registered user -selector "unix:uid:$OTHER_USER"
  # The entry reaches the agent after a while.
  wait_until 120 another_user_is_served
  forget user
}
another_user_is_served() {
  as_other_user stranger
  expect_identity user
}

registering_while_it_waits() {
  spire_up
  forget controller
  wait_until 120 is_refused "${JWT[@]}"
  later "${JWT[@]}"
  entry controller controller -dns controller.example.org
  expect_later
}
is_refused() {
  ask controller --timeout=1s "$@"
  [ "$STATUS" -eq 1 ]
}

# --- no server

without_a_server() {
  spire_up
  before 20 controller "${JWT[@]}"
  expect_identity controller
  before 20 controller --type=x509
  expect_success
  stop server
  before 3 controller "${JWT[@]}"
  expect_identity controller
  before 3 controller --type=x509
  expect_success
  # For this audience the agent has no token, and would have to call the server.
  before 2 controller --type=jwt --audience=new
  expect_refused 3 Unavailable
  spire_up
  before 40 controller --type=jwt --audience=new
  expect_identity controller
}

# --- all of these faults during continuous calls

# calls NAME ARGUMENT...: runs the plugin again and again until the file "stop" exists. Each call adds a
# line to NAME.log (number, status, duration), and writes its output to NAME.NUMBER.{out,err}.
calls() {
  local name=$1 n begin status
  for ((n = 1; ; n++)); do
    [ ! -e stop ] || break
    begin=$(date +%s%3N)
    status=0
    "$(workload controller)" --timeout=2s "${@:2}" >"$name.$n.out" 2>"$name.$n.err" || status=$?
    echo "$n $status $(($(date +%s%3N) - begin))" >>"$name.log"
    # A controller does not run the plugin more often either.
    sleep 0.05
  done
}
# Waits until a call of each kind that starts from now on ends with this status.
expect_calls() { # STATUS
  local name
  for name in jwt x509; do
    wait_until 120 has_later_call "$name" "$1" "$(($(wc -l <"$name.log") + 1))" ||
      unexpected "calls for $name that end with $1, not $(tail -n 3 "$name.log" | xargs)"
  done
}
has_later_call() { # NAME STATUS NUMBER
  awk -v status="$2" -v after="$3" \
    '$1 > after && $2 == status { found = 1 } END { exit !found }' "$1.log"
}

what_happens_to_spire() {
  expect_calls 0
  stop agent
  expect_calls 3
  spire_up
  expect_calls 0
  kill -KILL "$(pid_of agent)"
  wait_until 120 dead agent
  expect_calls 3
  spire_up
  expect_calls 0
  stop server
  expect_calls 0
  spire_up
  expect_calls 0
  forget controller
  expect_calls 1
  entry controller controller -dns controller.example.org
  expect_calls 0
}

# Checks one call, whatever fault happened during it.
expect_good_call() { # NAME NUMBER STATUS MILLISECONDS
  local out=$1.$2.out err=$1.$2.err
  cp "$out" stdout
  cp "$err" stderr
  STATUS=$3
  COMMAND=("call $2 of $1")
  [ "$4" -le $((2000 + SLACK_MS)) ] || unexpected "an end within 2 s, not after $4 ms"
  case $3 in
    0)
      expect_silent_stderr
      expect_json '.status | has("token") or has("clientKeyData")' true
      expect_json '.status.expirationTimestamp | fromdate > now' true
      ;;
    1 | 3)
      expect_refused "$3"
      expect_equal "the number of lines" 2 "$(grep -vc '^  while ' stderr)"
      ;;
    *) unexpected "the status 0, 1 or 3" ;;
  esac
}

calls_while_spire_comes_and_goes() {
  local pids=() name number status taken
  spire_up
  : >jwt.log
  : >x509.log
  calls jwt "${JWT[@]}" &
  pids+=("$!")
  calls x509 --type=x509 &
  pids+=("$!")
  what_happens_to_spire
  touch stop
  wait "${pids[@]}"
  for name in jwt x509; do
    while read -r number status taken; do
      expect_good_call "$name" "$number" "$status" "$taken"
    done <"$name.log"
  done
  the_agent_validates_all
}

# Each different token once: the agent returns the same token for half of its lifetime.
the_agent_validates_all() {
  local token
  cat jwt.*.out | jq -r .status.token | sort -u >tokens
  [ -s tokens ]
  while read -r token; do
    validate "$token"
    expect_success
    expect_in stdout "$SPIRE_DOMAIN/controller"
  done <tokens
}

spire_start
entry controller controller -dns controller.example.org

check "a missing socket: the error names it" no_agent jwt --audience="$AUDIENCE"
check "a missing socket: the error names it, X.509" no_agent x509
check "a call waits for an agent that starts later" an_agent_that_starts_late
check "a socket without an agent is reported" a_socket_without_an_agent
check "an agent that hangs ends the call by its time limit" an_agent_that_hangs jwt --audience="$AUDIENCE"
check "an agent that hangs ends the call by its time limit, X.509" an_agent_that_hangs x509
check "a program without an entry: the hint has its selectors" an_unregistered_program "${JWT[@]}"
check "a program without an entry: the hint has its selectors, X.509" an_unregistered_program --type=x509
check "a program without an entry: the error has its process ID" its_own_pid_is_named
check "an entry makes the next call succeed" registering_helps
check "an entry makes a waiting call succeed" registering_while_it_waits
if [ "$(id -u)" -eq 0 ]; then
  check "a user without an entry is refused until an entry exists" registering_helps_another_user
  check "a socket that may not be opened is reported" a_socket_of_others
else
  skip "a user without an entry is refused until an entry exists" "needs root"
  skip "a socket that may not be opened is reported" "needs root"
fi
check "without its server the agent returns what it has" without_a_server
check "calls while agent, server and entry disappear and come back" calls_while_spire_comes_and_goes
