# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The published documentation site: its content, and the same bytes from a build elsewhere. Sourced by
# checks.sh, after package.sh.

# docs_form ARCHIVE: owned by root, readable by all users, without links, and inside its folder.
docs_form() {
  listing "$1" | awk -v folder="$(basename "$1" .tar.gz)/" '
    $2 != "0/0" { print "owner: " $0; bad = 1 }
    $1 != (substr($3, length($3)) == "/" ? "drwxr-xr-x" : "-rw-r--r--") { print "mode: " $0; bad = 1 }
    index($3, folder) != 1 || $3 ~ /\/\.\.?\// { print "path: " $0; bad = 1 }
    END { exit bad || NR == 0 }'
}

# docs_have_pages SITE: each page that the repository has in docs/, and what a browser needs for them.
docs_have_pages() {
  local page name
  for page in "$EXECCRED_ROOT"/docs/*.md; do
    name=${page##*/}
    [ -s "$1/docs/${name%.md}/index.html" ] || { echo "no page of docs/$name" && return 1; }
  done
  for name in index.html search/search_index.json site/mermaid.min.js licenses/execcred.txt \
    licenses/mkdocs-material.txt licenses/material-icons.txt licenses/mermaid.txt; do
    [ -s "$1/$name" ] || { echo "no $name" && return 1; }
  done
}

docs_have_links() { /usr/bin/python3 -B "$EXECCRED_ROOT/scripts/site/check_links.py" "$1"; }
docs_name_no_path_of() { ! grep -rlaF -e "$EXECCRED_ROOT" -e "$CACHE" "$1"; }

# docs_again DIR: a build of another checkout, at a longer path, with another umask, time zone and locale.
docs_again() {
  local other=$1/at/another/place/execcred
  mkdir -p "$other"
  (copy_tree "$other")
  (umask 077 && export TZ=Asia/Tokyo LC_ALL=C && build_docs "$other" "$1/log") || return 1
  pack_docs "$other/build/docs/site" "$1"
  cmp "$EXECCRED_ROOT/dist/release/$(docs_name)" "$1/$(docs_name)"
}

# check_docs DIR
check_docs() {
  local archive name
  name=$(docs_name)
  archive=$EXECCRED_ROOT/dist/release/$name
  step "testing the documentation site"
  mkdir "$1"
  check "docs: owner, modes and paths" docs_form "$archive"
  tar -xzf "$archive" -C "$1"
  check "docs: a page for each of docs/, a search, the script for diagrams and the licences" \
    docs_have_pages "$1/${name%.tar.gz}"
  check "docs: every link and anchor has its target in the site" docs_have_links "$1/${name%.tar.gz}"
  check "docs: contains no path of the build" docs_name_no_path_of "$1/${name%.tar.gz}"
  check "docs: a build elsewhere has the same bytes" docs_again "$1"
}
