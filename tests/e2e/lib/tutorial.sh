# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the commands of a page of docs/ in order, as a reader would. A block of shell commands is run if
# this comment precedes it:
#
#   <!-- run STATUS [TEXT] -->    the block must end with this exit status and print this text
#
# Each block runs in its own bash. All blocks run in the check's directory.

# blocks PAGE: writes block-N (its commands), block-N.status and block-N.text, from 1.
blocks() {
  awk '
    /^<!-- run [0-9]+.* -->$/ {
      match($0, /[0-9]+/)
      status = substr($0, RSTART, RLENGTH)
      text = substr($0, RSTART + RLENGTH + 1)
      sub(/ *-->$/, "", text)
      is_next = 1
      next
    }
    is_next && /^```sh$/ {
      name = "block-" ++count
      print status >(name ".status")
      print text >(name ".text")
      is_next = 0
      is_block = 1
      next
    }
    is_block && /^```$/ { is_block = 0; close(name); next }
    is_block { print >name }
    is_next { print "the comment stands before no block: " $0 >"/dev/stderr"; exit 1 }
  ' "$1"
}

# tutorial PAGE AT_LEAST [SED_COMMAND...]: the sed commands replace values that each reader has to choose.
tutorial() {
  local page=$EXECCRED_ROOT/docs/$1 at_least=$2 number=1 text changes=()
  shift 2
  for text; do changes+=(-e "$text"); done
  blocks "$page"
  while [ -e "block-$number" ]; do
    [ "${#changes[@]}" -eq 0 ] || sed -i "${changes[@]}" "block-$number"
    run bash -e "block-$number"
    expect_status "$(cat "block-$number.status")"
    text=$(cat "block-$number.text")
    [ -z "$text" ] || grep -qF -e "$text" stdout stderr || unexpected "'$text' of $(cat "block-$number")"
    number=$((number + 1))
  done
  [ "$number" -gt "$at_least" ] || unexpected "$at_least blocks of $page, not $((number - 1))"
}
