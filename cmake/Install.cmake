# SPDX-License-Identifier: Apache-2.0
# The library for others: headers, archives, the CMake package "execcred" with a component for each
# library, and the same for pkg-config. No installed file contains an absolute path, so the tree may
# be moved.
include(CMakePackageConfigHelpers)

set(EXECCRED_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/execcred)

# execcred_install_library(NAME LIBRARIES...): the archive, and the file that defines its target.
function(execcred_install_library name)
  list(TRANSFORM ARGN REPLACE "^execcred::" "" OUTPUT_VARIABLE requires)
  set_property(GLOBAL APPEND PROPERTY EXECCRED_COMPONENTS ${name})
  set_property(GLOBAL PROPERTY EXECCRED_REQUIRES_${name} ${requires})
  install(TARGETS execcred_${name} EXPORT execcred-${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT execcred-${name} NAMESPACE execcred:: FILE execcred-${name}.cmake
    DESTINATION ${EXECCRED_CMAKE_DIR} COMPONENT development)
endfunction()

# execcred_install_module(NAME MODULE): pkg-config's MODULE, which users of the archive link too.
function(execcred_install_module name module)
  set_property(GLOBAL APPEND PROPERTY EXECCRED_MODULES_${name} ${module})
  string(MAKE_C_IDENTIFIER "EXECCRED_${module}" prefix)
  target_link_libraries(execcred_${name} PUBLIC $<INSTALL_INTERFACE:PkgConfig::${prefix}>)
endfunction()

# execcred_install_pc(FILE DESCRIPTION LIBRARY REQUIRES...): an empty LIBRARY stands for none. What an
# archive needs is in Requires, not Requires.private: there is no shared library that would bring it.
function(execcred_install_pc file description library)
  set(name ${file})
  string(JOIN ", " requires ${ARGN})
  set(libs)
  if(library)
    set(libs "-L\${libdir} -l${library}")
  endif()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/execcred.pc.in
    ${PROJECT_BINARY_DIR}/pkgconfig/${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${file}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

# Called when all libraries are there.
function(execcred_install_package)
  get_property(components GLOBAL PROPERTY EXECCRED_COMPONENTS)
  set(table "set(execcred_components ${components})\n")
  foreach(name ${components})
    get_property(requires GLOBAL PROPERTY EXECCRED_REQUIRES_${name})
    get_property(modules GLOBAL PROPERTY EXECCRED_MODULES_${name})
    string(APPEND table "set(execcred_requires_${name} ${requires})\n"
      "set(execcred_modules_${name} ${modules})\n")
    list(TRANSFORM requires PREPEND execcred-)
    execcred_install_pc(execcred-${name} "libexeccred's part ${name}" execcred_${name}
      ${requires} ${modules})
  endforeach()
  execcred_install_pc(execcred "Credentials for clusters of an inventory, for controllers" ""
    execcred-engine)

  set(EXECCRED_COMPONENT_TABLE ${table})
  configure_package_config_file(cmake/execcred-config.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/execcred-config.cmake INSTALL_DESTINATION ${EXECCRED_CMAKE_DIR}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/execcred-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/execcred-config.cmake
    ${PROJECT_BINARY_DIR}/cmake/execcred-config-version.cmake
    DESTINATION ${EXECCRED_CMAKE_DIR} COMPONENT development)
endfunction()
