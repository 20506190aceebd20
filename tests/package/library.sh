# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks of the installed library for a program that uses it. Sourced by checks.sh.

LIBRARY_PAGE=$EXECCRED_ROOT/docs/library.md
WARNINGS=(-Wall -Wextra -Wpedantic -Werror)

pc() { PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig pkg-config "$@"; }

# The files that give paths to other programs, which must not be those of the build.
names_no_place_of() {
  ! grep -rF "${@/#/-e}" --include='*.cmake' --include='*.pc' --include='*.hpp' "$PREFIX"
}
# Those that the table of libexeccred/README.md names: `folder/name` or `folder/{name,name}`.
headers_of_readme() {
  awk -F '`' '/^\| (controllers|authors of plugins) \|/ {
    for (i = 2; i <= NF; i += 2) {
      count = split($i, part, /[{,}]/)
      if (count == 1) print part[1] ".hpp"
      for (name = 2; name < count; name++) print part[1] part[name] ".hpp"
    }
  }' "$EXECCRED_ROOT/libexeccred/README.md" | LC_ALL=C sort
}
headers_are_the_public_ones() {
  diff <(cd "$PREFIX/include/execcred" && find . -type f -printf '%P\n' | LC_ALL=C sort) <(headers_of_readme)
}
macros_are_prefixed() {
  ! grep -rnE '^[[:space:]]*#[[:space:]]*define[[:space:]]+' "$PREFIX/include/execcred" |
    grep -vE '#[[:space:]]*define[[:space:]]+EXECCRED_'
}
headers_compile_alone() {
  # shellcheck disable=SC2016
  find "$PREFIX/include/execcred" -name '*.hpp' -print0 |
    xargs -0 -n 8 -P "$EXECCRED_JOBS" bash -c '
      include=$1
      shift
      for header; do
        echo "#include \"$header\"" |
          g++ -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror "-I$include" -x c++ - ||
          exit 255
      done' bash "$PREFIX/include"
}

# configure SOURCE BUILD [ARGUMENT...]: configures a project that finds the package, as users do.
configure() {
  cmake -G Ninja -S "$1" -B "$2" "-DCMAKE_PREFIX_PATH=$PREFIX" -DCMAKE_BUILD_TYPE=Release "${@:3}" \
    >"$2.log" 2>&1
}
# file_of_page NAME: the block that follows "`NAME`:" on the page of the library.
file_of_page() {
  awk -v name="\`$1\`:" '
    $0 == name { is_next = 1; next }
    is_next && /^```/ { is_in = !is_in; if (!is_in) exit; next }
    is_in' "$LIBRARY_PAGE"
}
# The page's program, as a reader has it after starting with an empty folder.
write_controller() {
  local name
  mkdir "$1"
  for name in CMakeLists.txt controller.cpp; do
    file_of_page "$name" >"$1/$name"
    [ -s "$1/$name" ] || return 1
  done
}
builds_with_cmake() {
  { configure "$1" "$1/build" "-DCMAKE_CXX_FLAGS=${WARNINGS[*]}" &&
    cmake --build "$1/build" >>"$1/build.log" 2>&1; } || { cat "$1/build.log" && return 1; }
}
# The plugin gets the room that its cluster may choose, no other, and keeps its token.
plugin_follows_the_rules() {
  local plugin=$1 folder=$2 room status
  printf 'secret' >"$folder/password"
  chmod 600 "$folder/password"
  for room in a b; do
    status=0
    KUBERNETES_EXEC_INFO='{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":{
      "server":"https://spoke.example:6443","config":{"room":"'$room'"}},"interactive":false}}' \
      "$plugin" "--password-file=$folder/password" --allow-room=a "--allow-server=https://spoke.example:6443" \
      "--cache-dir=$folder/cache" >"$folder/$room" 2>&1 || status=$?
    echo "$status" >>"$folder/$room"
  done
  { grep -qF '"token":"token-of-a"' "$folder/a" && grep -qx 0 "$folder/a" && grep -qx 1 "$folder/b" &&
    grep -qF -- '--allow-room' "$folder/b" && ls "$folder"/cache/*.credential >/dev/null; } ||
    { cat "$folder/a" "$folder/b" && return 1; }
}
builds_with_pkg_config() {
  local flags
  read -ra flags <<<"$(pc --cflags --libs execcred)"
  g++ -std=c++20 -O2 "${WARNINGS[@]}" "$1/controller.cpp" -o "$1/by-pkg-config" "${flags[@]}"
}

# refuses MESSAGE SOURCE BUILD ARGUMENT...: configuring fails with this message.
refuses() {
  local message=$1
  shift
  ! configure "$@" || { echo "it was configured" && return 1; }
  tr -s ' \n' ' ' <"$2.log" | grep -qF "$message" || { cat "$2.log" && return 1; }
}

# project TEXT DIR: a project that consists of find_package.
project() {
  mkdir -p "$2"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\n%s\n' "$1" \
    >"$2/CMakeLists.txt"
}

# CMake and pkg-config must name everything that an archive needs. This links the whole archive, while
# a program links only the parts that it uses.
each_library_links_whole_by_cmake() {
  # shellcheck disable=SC2016
  project 'find_package(execcred 0.2 REQUIRED)
    file(WRITE ${CMAKE_BINARY_DIR}/main.cpp "int main() {}")
    foreach(name ${execcred_components})
      add_executable(whole-${name} ${CMAKE_BINARY_DIR}/main.cpp)
      target_link_libraries(whole-${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,execcred::${name}>)
    endforeach()' "$1"
  { configure "$1" "$1/build" && cmake --build "$1/build" >>"$1/build.log" 2>&1; } ||
    { cat "$1/build.log" && return 1; }
}
links_whole_by_pkg_config() {
  local archive=$PREFIX/lib/libexeccred_$1.a flags
  read -ra flags <<<"$(pc --libs "execcred-$1")"
  echo 'int main() {}' | g++ -x c++ - -x none -o "$2" -Wl,--whole-archive "$archive" \
    -Wl,--no-whole-archive "${flags[@]}"
}

# The mapping names the plugin of the installed tree.
write_controller_files() {
  make_input "$1"
  cat >"$1/mapping.json" <<END
{"providers": [{"name": "token-file", "execConfig": {
  "apiVersion": "client.authentication.k8s.io/v1",
  "command": "$PREFIX/bin/execcred-token-file",
  "args": ["--token-file=$1/volume/token", "--allow-server=https://spoke-1.example.com:6443"],
  "provideClusterInfo": true, "interactiveMode": "Never"}}]}
END
  # A provider that the mapping lacks is ignored.
  cp "$EXECCRED_ROOT/config/examples/clusterprofile-access-providers.yaml" "$1/profiles.yaml"
}
controller_gets_credential() {
  local line token pattern
  token=$(cat "$2/volume/token")
  pattern="^fleet/spoke-1 at https://spoke-1\.example\.com:6443 by token-file until "
  line=$("$1" "$2/mapping.json" "$2/profiles.yaml") || return 1
  [[ $line =~ ${pattern}[0-9-]{10}T[0-9:]{8}Z$ && $line != *"$token"* ]] ||
    { echo "$line" && return 1; }
}
# The controller gets the plugin's exit code and message.
controller_tells_failure() {
  local status=0
  sed 's|volume/token|nope|' "$2/mapping.json" >"$2/broken.json"
  "$1" "$2/broken.json" "$2/profiles.yaml" >"$2/stdout" 2>"$2/stderr" || status=$?
  [ "$status" -eq 2 ] && [ ! -s "$2/stdout" ] && grep -qF "cannot read '$2/nope'" "$2/stderr"
}

check_controller() {
  local name=$1 binary=$2 input=$3
  check "$name: gets a credential, with the installed plugin" \
    controller_gets_credential "$binary" "$input"
  check "$name: reports why it gets none" controller_tells_failure "$binary" "$input"
}

# check_library SCRATCH: the tree is moved after it was installed, and tested there.
check_library() {
  local scratch=$1 archive name
  step "testing what cmake --install gives"
  PREFIX=$scratch/moved/here
  cmake --install "$BUILD" --prefix "$scratch/installed" >/dev/null
  mkdir "$scratch/moved"
  mv "$scratch/installed" "$PREFIX"
  check "it has the public headers, and no other" headers_are_the_public_ones
  check "each header compiles alone" headers_compile_alone
  check "each macro begins with EXECCRED_" macros_are_prefixed
  check "no file names the folder of its build or installation" \
    names_no_place_of "$EXECCRED_ROOT" "$scratch/installed" "$PREFIX"
  check "each whole library links, by CMake" each_library_links_whole_by_cmake "$scratch/whole"
  for archive in "$PREFIX"/lib/libexeccred_*.a; do
    name=${archive##*/libexeccred_}
    name=${name%.a}
    check "the whole $name links, by pkg-config" links_whole_by_pkg_config "$name" "$scratch/whole-$name"
  done
  mkdir "$scratch/controller-input"
  write_controller_files "$scratch/controller-input"
  check "docs/library.md has a controller" write_controller "$scratch/controller"
  check "it builds with CMake" builds_with_cmake "$scratch/controller"
  check_controller "built with CMake" "$scratch/controller/build/controller" "$scratch/controller-input"
  check "it builds with pkg-config" builds_with_pkg_config "$scratch/controller"
  check_controller "built with pkg-config" "$scratch/controller/by-pkg-config" "$scratch/controller-input"
  cp -r "$EXECCRED_ROOT/tests/package/plugin" "$scratch/plugin"
  check "a plugin of one's own builds" builds_with_cmake "$scratch/plugin"
  mkdir "$scratch/plugin-input"
  check "it has the cache and the rules of the others" \
    plugin_follows_the_rules "$scratch/plugin/build/vault" "$scratch/plugin-input"
  check_refusals "$scratch"
}

check_refusals() {
  project 'find_package(execcred 0.3 REQUIRED)' "$1/newer"
  check "another minor version is refused" \
    refuses 'compatible with requested version "0.3"' "$1/newer" "$1/newer/build"
  project 'find_package(execcred 0.2 REQUIRED COMPONENTS base nonsense)' "$1/unknown"
  check "an unknown component is refused" refuses 'there is no component nonsense' "$1/unknown" "$1/unknown/build"
  project 'set(ENV{PKG_CONFIG_LIBDIR} /nonexistent)
    find_package(execcred 0.2 REQUIRED COMPONENTS engine)' "$1/without"
  check "a missing library is named" \
    refuses 'pkg-config does not find yaml-0.1, which the component yaml needs' \
    "$1/without" "$1/without/build"
  project 'set(ENV{PKG_CONFIG_LIBDIR} /nonexistent)
    find_package(execcred 0.2 REQUIRED COMPONENTS exec cache)' "$1/alone"
  check "exec and cache need no other library" configure "$1/alone" "$1/alone/build"
}
