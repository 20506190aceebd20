# SPDX-License-Identifier: Apache-2.0
# execcred_embed(NAME FILE): the text of a file of the repository as the constant
# execcred::embedded::NAME, in <embedded/NAME.hpp>. The build configures again when the file changes.
function(execcred_embed name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded.hpp.in
    ${PROJECT_BINARY_DIR}/generated/embedded/${name}.hpp @ONLY)
endfunction()
