# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Manual pages and completions: well-formed, and nothing that --help lists is missing. Sourced by
# checks.sh.

MAN_SECTIONS=(NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT 'EXIT STATUS' 'SEE ALSO')

# Names the commands of a program of PREFIX, as they are typed: one, or "execcred get" and so on.
commands_of() {
  local prefix=$1 program=$2 names
  names=$("$prefix/bin/$program" --help | awk '/^Commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }')
  if [ -n "$names" ]; then
    awk -v program="$program" '{ print program, $1 }' <<<"$names"
  else
    echo "$program"
  fi
}

# flags_of PREFIX COMMAND: every long option that --help has at the start of a line, sorted.
flags_of() {
  local words
  read -ra words <<<"$2"
  "$1/bin/${words[0]}" "${words[@]:1}" --help |
    sed -nE 's/^  (-., )?(--[a-z][a-z0-9-]*).*/\2/p' | sort
}

man_text() { MANWIDTH=200 man --warnings -l "$1" 2>&1 | col -bx; }
mandoc_finds_nothing() { mandoc -T lint -W warning "$1"; }
groff_warns_of_nothing() { [ -z "$(man --warnings -E UTF-8 -l "$1" 2>&1 >/dev/null)" ]; }

has_all_sections() {
  local text section
  text=$(man_text "$1")
  for section in "${MAN_SECTIONS[@]}"; do
    grep -qx "$section" <<<"$text" || { echo "no section $section" && return 1; }
  done
}

# Options stand at the start of a line there too.
has_all_flags() {
  local prefix=$1 program=$2 page=$3 command missing
  while IFS= read -r command; do
    missing=$(comm -23 <(flags_of "$prefix" "$command") \
      <(man_text "$page" | sed -nE 's/^ +(-., )?(--[a-z][a-z0-9-]*).*/\2/p' | sort -u))
    [ -z "$missing" ] || { echo "$command: no $missing" && return 1; }
  done < <(commands_of "$prefix" "$program")
}

check_manual() {
  local program page
  step "testing manual pages"
  for program in $(programs_of "$1"); do
    page=$1/share/man/man1/$program.1.gz
    check "$program(1): mandoc finds no problem" mandoc_finds_nothing "$page"
    check "$program(1): man has no warning" groff_warns_of_nothing "$page"
    check "$program(1): has all sections" has_all_sections "$page"
    check "$program(1): has every option of --help" has_all_flags "$1" "$program" "$page"
  done
}

# complete SHELL PREFIX: completes each line of standard input in this shell.
complete() { /usr/bin/python3 -B "$EXECCRED_ROOT/tests/package/complete.py" "$@"; }

# LINE => candidates, or the line after TAB. The shells differ in what they append.
COMPLETIONS='TAB execcred li => execcred lint
execcred -- => --help --version
execcred get --na => --name --namespace
execcred get -m a-f => a-file.yaml a-folder
execcred get --clusterprofile-provider-file a-f => a-file.yaml a-folder
execcred get --clusterprofile-provider-file=a-f => a-file.yaml a-folder
execcred get -o  => exec-credential header json name text token wide yaml
execcred get --output= => exec-credential header json name text token wide yaml
execcred resolve --output=ar => argocd-secret
execcred lint  => a-file.yaml a-folder
execcred lint --plugin-dir= => a-folder
execcred cache  => clear list path
execcred install  => a-folder
execcred-token-file --token-file=a-fi => a-file.yaml
execcred-aws --cache-dir  => a-folder
execcred-spiffe --type= => jwt x509
execcred-oidc-federation --flow  => client-credentials jwt-bearer pass-through pinniped refresh-token token-exchange
TAB execcred-spiffe --trust => execcred-spiffe --trust-domain'

# Every command and every option that --help lists is offered, and nothing else.
all_words() {
  local prefix=$1 program command
  printf 'execcred  => %s\n' \
    "$(commands_of "$prefix" execcred | cut -d' ' -f2 | sort | paste -sd' ')"
  for program in $(programs_of "$prefix"); do
    # kubectl completes its plugin by a program of its own (kubectl_complete-execcred).
    [ "$program" != kubectl-execcred ] || continue
    commands_of "$prefix" "$program" | while IFS= read -r command; do
      printf '%s -- => %s\n' "$command" "$(flags_of "$prefix" "$command" | paste -sd' ')"
    done
  done
}

offered_words_are_taken() {
  /usr/bin/python3 -B "$EXECCRED_ROOT/tests/package/choices.py" "$1/bin/execcred" "$1"/bin/execcred*
}

check_completions() {
  local prefix=$1 shell expected lines answer line wanted
  expected=$COMPLETIONS$'\n'$(all_words "$prefix")
  # shellcheck disable=SC2001
  lines=$(sed 's/ => .*//' <<<"$expected")
  check "the programs accept the words that completion offers for values" offered_words_are_taken "$prefix"
  for shell in bash zsh fish; do
    step "testing completion in $shell"
    while IFS= read -r line && IFS=$'\t' read -r -u 3 _ answer; do
      wanted=${line#* => }
      line=${line%% => *}
      check "$shell: $line" completes_to "$wanted" "$answer"
    done <<<"$expected" 3< <(complete "$shell" "$prefix" <<<"$lines")
  done
}

completes_to() {
  # shellcheck disable=SC2001
  [ "$1" = "$(sed 's/[= ]*$//' <<<"$2")" ] || { printf 'wanted: %s\n   got: %s\n' "$1" "$2" && return 1; }
}
