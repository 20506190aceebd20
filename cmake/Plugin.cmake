# SPDX-License-Identifier: Apache-2.0

# execcred_add_plugin(NAME [LINKS MODULES...]): the binary execcred-NAME from the current folder. Without one of
# the MODULES, as in a static build without libcurl, nothing is built. MODULES are those it needs beyond exec;
# naming them here is what keeps curl and crypto out of the binaries that can do without. The folder's sources are a library,
# execcred_plugin_NAME, for the plugin's tests and for the command line. One of them defines
# PluginDefinition plugin() in the namespace execcred::NAME (with _ for -).
function(execcred_add_plugin name)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  list(TRANSFORM arg_LINKS PREPEND execcred::)
  foreach(module ${arg_LINKS})
    if(NOT TARGET ${module})
      return()
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  string(MAKE_C_IDENTIFIER ${name} namespace)
  set(library execcred_plugin_${namespace})
  add_library(${library} STATIC ${sources})
  # The second for others than the plugin: <NAME/options.hpp>.
  target_include_directories(${library} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/plugins)
  target_link_libraries(${library} PUBLIC execcred::exec ${arg_LINKS}
    PRIVATE execcred_warnings execcred_hardening)
  execcred_precompile(${library})
  file(CONFIGURE OUTPUT main.cpp @ONLY CONTENT [=[
#include <execcred/exec/plugin_main.hpp>

namespace execcred::@namespace@ {
PluginDefinition plugin();
}

int main(int argc, char** argv) {
  return execcred::plugin_main(execcred::@namespace@::plugin(), argc, argv);
}
]=])
  add_executable(execcred-${name} ${CMAKE_CURRENT_BINARY_DIR}/main.cpp)
  target_link_libraries(execcred-${name} PRIVATE
    ${library} execcred_warnings execcred_hardening execcred_binary)
  set_property(GLOBAL APPEND PROPERTY EXECCRED_PLUGINS execcred-${name})
  set_property(GLOBAL APPEND PROPERTY EXECCRED_PLUGIN_LIBRARIES ${library})
  set_property(GLOBAL APPEND PROPERTY EXECCRED_PLUGIN_NAMESPACES ${namespace})
  install(TARGETS execcred-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endfunction()
