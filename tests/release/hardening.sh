# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The hardening of the release binaries: hardening.py on each, and its own test. Sourced by
# checks.sh.

HARDENING=$EXECCRED_ROOT/tests/release/hardening.py

# hardened BINARY PROPERTY
hardened() { /usr/bin/python3 -B "$HARDENING" "$@" >/dev/null; }

# check_hardening NAME BINARY
check_hardening() {
  local property
  for property in $(/usr/bin/python3 -B "$HARDENING" --list); do
    check "$1: $property" hardened "$2" "$property"
  done
}

# Each object has a property that shows whether its branches are protected.
all_objects_protected() {
  readelf -nW "$1" 2>/dev/null | awk '
    /^File: / { objects++ }
    /Properties: .*(IBT, SHSTK|BTI, PAC)/ { protected_ones++ }
    END { exit !(objects > 0 && objects == protected_ones) }'
}

# check_archives ARCH: the archives that were compiled here and may be linked into a binary.
check_archives() {
  local archive
  while IFS= read -r archive; do
    check "$1 ${archive##*/}: branches are protected in each object" all_objects_protected "$archive"
  done < <(find "$EXECCRED_ROOT/build/musl/$1/lib" "$EXECCRED_ROOT/build/release-$1" -name '*.a' | sort)
}

# check_allocator ARCH INPUT: the malloc of the binaries must detect misuse.
check_allocator() {
  local musl=$EXECCRED_ROOT/build/musl/$1 what
  "$musl/bin/cc" -O0 "$EXECCRED_ROOT/tests/release/allocator.c" "$musl/lib/malloc.o" -o "$2/allocator"
  check "$1 malloc: allocates and frees memory" "${RUNNER[@]}" "$2/allocator" use
  for what in double-free overflow one-byte-overflow foreign-pointer; do
    check "$1 malloc: ends the process after: $what" crashes "${RUNNER[@]}" "$2/allocator" "$what"
  done
}

# crashes COMMAND...: dies by a signal.
crashes() {
  local status=0
  # shellcheck disable=SC2016
  bash -c 'ulimit -c 0; "$@"; exit "$?"' crashes "$@" >/dev/null 2>&1 || status=$?
  [ "$status" -gt 128 ]
}

# sample NAME OPTION...: a program that hardening.py accepts, except for what the options change.
sample() {
  local output=$1
  shift
  gcc -O2 -fPIE -pie -fstack-protector-strong -Wl,-z,relro,-z,now,-z,noexecstack "$@" \
    "$EXECCRED_ROOT/tests/release/hardening_sample.c" -o "$output" 2>/dev/null
}

# lacks BINARY PROPERTY: hardening.py finds that only this property is missing.
lacks() { [ "$(/usr/bin/python3 -B "$HARDENING" "$1")" = "$2" ]; }

# refuses PROPERTY DIR KEY [OPTION...]: a sample with these options, and without this line in its note,
# has all properties but this one.
refuses() {
  check "hardening.py refuses a program without: $1 (${3:+no $3=}${*:4})" made_without "$@"
}

made_without() {
  sample "$2/sample" "$(note "$3")" "${@:4}" && lacks "$2/sample" "$1"
}

# note [KEY]: the note of a hardened program, as an option of the compiler, without this line.
note() {
  local branches=cet option=-fcf-protection=full
  [ "$(uname -m)" = x86_64 ] || branches=bti,pac option=-mbranch-protection=standard
  printf '%s\n' stack-protector=strong libc++=extensive bounds=checked "branches=$branches" \
    "libraries=-fPIE -fstack-protector-strong $option" allocator=mallocng |
    awk -v without="${1:-}=" 'BEGIN { printf "-DNOTE=\"" }
      index($0, without) != 1 { printf "%s\\\\n", $0 }
      END { print "\"" }'
}

# check_hardening_checker DIR
check_hardening_checker() {
  local dir=$1
  need_packages gcc libc6-dev
  step "testing hardening.py"
  mkdir -p "$dir"
  check "hardening.py accepts a hardened program" accepts "$dir"
  refuses position-independent "$dir" '' -no-pie -fno-pie
  refuses full-relro "$dir" '' -Wl,-z,norelro
  refuses full-relro "$dir" '' -Wl,-z,lazy
  refuses no-executable-stack "$dir" '' -Wl,-z,execstack
  refuses no-writable-code "$dir" '' -DWRITABLE_CODE
  refuses no-text-relocations "$dir" '' -DTEXT_RELOCATION -Wl,-z,notext
  refuses stack-protector "$dir" '' -fno-stack-protector
  refuses stack-protector "$dir" stack-protector
  refuses libc++-extensive "$dir" libc++
  refuses bounds-checked "$dir" bounds
  refuses branches-protected "$dir" branches
  refuses libraries-hardened "$dir" libraries
  refuses allocator-checked "$dir" allocator
  check "hardening.py refuses a program without a note" refuses_without_note "$dir"
}

accepts() { sample "$1/sample" "$(note)" && hardened "$1/sample"; }

# All properties that a note proves are missing.
refuses_without_note() {
  sample "$1/sample" && lacks "$1/sample" \
    "$(/usr/bin/python3 -B "$HARDENING" --list | sed -n '/^stack-protector$/,$p')"
}
