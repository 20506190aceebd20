# SPDX-License-Identifier: Apache-2.0
# The Debian package, for people's machines: cpack, after the target "debian" (scripts/package).

set(EXECCRED_MAINTAINER "execcred maintainers <maintainers@execcred.invalid>" CACHE STRING
  "Who the Debian package says maintains it")

set(execcred_debian ${PROJECT_BINARY_DIR}/debian)
set(EXECCRED_DEBIAN_VERSION ${PROJECT_VERSION}-1)
# The time that SOURCE_DATE_EPOCH sets, else now.
string(TIMESTAMP EXECCRED_DEBIAN_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(scripts/packaging/debian/changelog.in ${execcred_debian}/changelog.Debian @ONLY)
configure_file(CHANGELOG.md ${execcred_debian}/changelog COPYONLY)

set(execcred_compressed)
foreach(file ${EXECCRED_MAN_PAGES} ${execcred_debian}/changelog.Debian ${execcred_debian}/changelog)
  get_filename_component(name ${file} NAME)
  add_custom_command(OUTPUT ${execcred_debian}/${name}.gz
    COMMAND gzip -9 -n -c ${file} > ${execcred_debian}/${name}.gz DEPENDS ${file} VERBATIM)
  list(APPEND execcred_compressed ${execcred_debian}/${name}.gz)
endforeach()
add_custom_target(debian DEPENDS programs ${execcred_compressed})

set(execcred_pages ${execcred_compressed})
list(FILTER execcred_pages INCLUDE REGEX "\\.1\\.gz$")
file(CREATE_LINK execcred.1.gz ${execcred_debian}/kubectl-execcred.1.gz SYMBOLIC)
list(APPEND execcred_pages ${execcred_debian}/kubectl-execcred.1.gz)
install(FILES ${execcred_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${EXECCRED_ZSH_COMPLETION} RENAME _execcred
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES scripts/packaging/debian/copyright ${execcred_debian}/changelog.gz
  ${execcred_debian}/changelog.Debian.gz
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_SOURCE_GENERATOR "")
set(CPACK_PACKAGE_NAME execcred)
set(CPACK_PACKAGE_CONTACT "${EXECCRED_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "credential plugins for multi-cluster Kubernetes controllers")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Small programs that give a Kubernetes client a short-lived credential for
one cluster, by the exec credential protocol: from token files, Secrets of
a hub, OAuth 2.0 servers, SPIFFE agents, Google Cloud, Azure and AWS.

The command execcred shows what a provider mapping file and a ClusterProfile
lead to, runs it, writes kubeconfigs for a whole inventory, and checks all of
these files.")
include(CPack)
