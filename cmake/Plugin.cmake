# SPDX-License-Identifier: Apache-2.0

# execcred_add_plugin(NAME [LIBRARIES...]): the binary execcred-NAME from the folder NAME.
# LIBRARIES are the execcred:: targets it needs beyond core; naming them here is what keeps
# curl and crypto out of the binaries that can do without.
function(execcred_add_plugin name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_executable(execcred-${name} ${sources})
  target_link_libraries(execcred-${name} PRIVATE
    execcred::core ${ARGN} execcred_warnings execcred_hardening execcred_binary)
  set_property(GLOBAL APPEND PROPERTY EXECCRED_PLUGINS execcred-${name})
  install(TARGETS execcred-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
