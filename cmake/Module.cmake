# SPDX-License-Identifier: Apache-2.0

# execcred_add_module(NAME LINKS MODULES... PUBLIC HEADERS...): the module that the current folder
# holds, as the target execcred::NAME. A header is included by its path, <execcred/NAME/FILE.hpp>; the
# test docs-modules checks that only those include it who link NAME. The PUBLIC headers are installed.
function(execcred_add_module name)
  cmake_parse_arguments(arg "" "" "LINKS;PUBLIC" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(execcred_${name} STATIC ${sources})
  add_library(execcred::${name} ALIAS execcred_${name})
  set_target_properties(execcred_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(execcred_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/libexeccred FILES ${arg_PUBLIC})
  target_compile_features(execcred_${name} PUBLIC cxx_std_20)
  list(TRANSFORM arg_LINKS PREPEND execcred::)
  target_link_libraries(execcred_${name} PUBLIC ${arg_LINKS}
    PRIVATE $<BUILD_INTERFACE:execcred_warnings> $<BUILD_INTERFACE:execcred_hardening>)
  execcred_precompile(execcred_${name})
  execcred_install_library(${name} ${arg_LINKS})
endfunction()

# execcred_link(NAME MODULE LIBRARIES...): pkg-config's MODULE, which is these libraries.
function(execcred_link name module)
  string(MAKE_C_IDENTIFIER "EXECCRED_${module}" prefix)
  pkg_check_modules(${prefix} REQUIRED ${module})
  target_include_directories(execcred_${name} SYSTEM
    PUBLIC "$<BUILD_INTERFACE:${${prefix}_INCLUDE_DIRS}>")
  if(EXECCRED_STATIC)
    set(archives)
    foreach(library ${ARGN})
      find_library(${prefix}_${library} NAMES lib${library}.a REQUIRED
        HINTS ${${prefix}_LIBRARY_DIRS})
      list(APPEND archives ${${prefix}_${library}})
    endforeach()
  else()
    set(archives ${${prefix}_LINK_LIBRARIES})
  endif()
  target_link_libraries(execcred_${name} PUBLIC "$<BUILD_INTERFACE:${archives}>")
  execcred_install_module(${name} ${module})
endfunction()
