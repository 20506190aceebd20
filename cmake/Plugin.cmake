# SPDX-License-Identifier: Apache-2.0

# execcred_fix_address(TARGET LIBRARIES...): a static binary with libcrypto in it is linked for a fixed
# address. Moving it means 16,000 relocations at each start, twice the time of everything that the
# binary does when it needs no cryptography (docs/third-party.md).
function(execcred_fix_address target)
  if(EXECCRED_STATIC AND "${ARGN}" MATCHES "execcred::(x509|http|oauth|aws|hub|spiffe|sources)")
    target_link_options(${target} PRIVATE -no-pie)
  endif()
endfunction()

# execcred_add_plugin(NAME [LIBRARIES...]): the binary execcred-NAME from the folder NAME.
# LIBRARIES are the execcred:: targets it needs beyond core; naming them here is what keeps
# curl and crypto out of the binaries that can do without.
# All but main.cpp is a library of its own, execcred_plugin_NAME, for the plugin's tests, and for
# execcred lint, which knows the plugin's options by it.
function(execcred_add_plugin name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  string(MAKE_C_IDENTIFIER "execcred_plugin_${name}" library)
  add_executable(execcred-${name} ${name}/main.cpp)
  if(sources)
    add_library(${library} STATIC ${sources})
    # The second for others than the plugin: <NAME/options.hpp>.
    target_include_directories(${library} PUBLIC
      ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${library} PUBLIC execcred::exec ${ARGN}
      PRIVATE execcred_warnings execcred_hardening)
    execcred_precompile(${library})
    target_link_libraries(execcred-${name} PRIVATE ${library})
  endif()
  target_link_libraries(execcred-${name} PRIVATE
    execcred::exec ${ARGN} execcred_warnings execcred_hardening execcred_binary)
  execcred_fix_address(execcred-${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY EXECCRED_PLUGINS execcred-${name})
  install(TARGETS execcred-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endfunction()
