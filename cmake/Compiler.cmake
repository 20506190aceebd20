# SPDX-License-Identifier: Apache-2.0
# Compiler and linker options of every target.

add_library(execcred_warnings INTERFACE)
target_compile_options(execcred_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2 -Wcast-align -Wcast-qual
  -Wextra-semi -Wimplicit-fallthrough -Wundef
  # g++ 12 reports it inside libstdc++ for "literal" + std::string (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${EXECCRED_WERROR}>:-Werror>)

# _FORTIFY_SOURCE needs optimisation, and gets in the sanitizers' way.
add_library(execcred_hardening INTERFACE)
set(execcred_optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
string(CONCAT execcred_recent_clang "$<AND:$<CXX_COMPILER_ID:Clang>,"
  "$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,16>>")
target_compile_options(execcred_hardening INTERFACE
  -fstack-protector-strong -fstack-clash-protection
  # clang 14 accepts it only with another flag.
  $<$<OR:$<CXX_COMPILER_ID:GNU>,${execcred_recent_clang}>:-ftrivial-auto-var-init=zero>
  -ffunction-sections -fdata-sections
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection=full>
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},aarch64>:-mbranch-protection=standard>
  # libc++'s counterpart of _GLIBCXX_ASSERTIONS; Zig's compiler sets it to none.
  $<${execcred_recent_clang}:-U_LIBCPP_HARDENING_MODE>
  $<${execcred_recent_clang}:-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE>
  $<${execcred_optimised}:-U_FORTIFY_SOURCE>
  $<${execcred_optimised}:-D_FORTIFY_SOURCE=3>)
target_compile_definitions(execcred_hardening INTERFACE _GLIBCXX_ASSERTIONS)
target_link_options(execcred_hardening INTERFACE
  -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code -Wl,--gc-sections -Wl,--as-needed)

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# g++ 12 with optimisation warns of overflows in std::string that are none, and does not without
# precompiled headers.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# execcred_precompile(TARGET): a library of the project uses execcred_base's precompiled header, for
# which their options must be the same.
function(execcred_precompile target)
  # ccache needs it to see what a precompiled header holds.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(target STREQUAL "execcred_base")
    target_precompile_headers(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/libexeccred/execcred/base/precompiled.hpp)
  else()
    target_precompile_headers(${target} REUSE_FROM execcred_base)
  endif()
endfunction()

# Nearly half of the work of a build whose objects ccache has is linking.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  find_program(EXECCRED_MOLD mold)
  mark_as_advanced(EXECCRED_MOLD)
  if(EXECCRED_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# The dynamic loader's work on libstdc++ costs more than a plugin's whole run, so the
# binaries carry the part of it they use (docs/benchmarks.md).
add_library(execcred_binary INTERFACE)
if(EXECCRED_STATIC)
  target_link_options(execcred_binary INTERFACE -static-pie $<$<AND:${execcred_optimised},$<BOOL:${EXECCRED_STRIP}>>:-s>)
  if(EXECCRED_MUSL)
    # musl has no _FORTIFY_SOURCE, which would find some of the same.
    target_compile_options(execcred_hardening INTERFACE
      -fsanitize=bounds -fsanitize-trap=bounds)
    # The stack of a thread. By Zig's default, each thread takes 8 MiB of address space. Where that is limited, the
    # thread of a second look-up of a name could not start, and the run waited for it until its deadline.
    target_link_options(execcred_binary INTERFACE -Wl,-z,stack-size=1048576)
    file(STRINGS ${EXECCRED_MUSL}/library_flags EXECCRED_LIBRARY_FLAGS)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/toolchains/hardening_note.cpp.in
      ${PROJECT_BINARY_DIR}/generated/hardening_note.cpp @ONLY)
    target_sources(execcred_binary INTERFACE ${PROJECT_BINARY_DIR}/generated/hardening_note.cpp)
  endif()
else()
  target_link_options(execcred_binary INTERFACE -pie)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(execcred_binary INTERFACE -static-libstdc++ -static-libgcc)
  endif()
endif()
