# SPDX-License-Identifier: Apache-2.0
# Manual pages, made from what the programs declare, and completions, which execcred prints.

set(EXECCRED_MANUAL ON)
if(CMAKE_CROSSCOMPILING OR EXECCRED_FUZZ OR CMAKE_CXX_FLAGS MATCHES "-fsanitize|--coverage")
  set(EXECCRED_MANUAL OFF)
else()
  find_package(Python3 3.10 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(WARNING "python3 is missing: no manual pages and completions are made")
    set(EXECCRED_MANUAL OFF)
  endif()
endif()

# execcred_add_manual(PROGRAM...): the target "manual", and its installation.
function(execcred_add_manual)
  set(into ${PROJECT_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${into})
  set(pages ${ARGN})
  list(TRANSFORM pages REPLACE "(.+)" "${into}/\\1.1")

  file(GLOB generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/packaging/*.py
    ${PROJECT_SOURCE_DIR}/scripts/packaging/man/*.roff)
  # The time that SOURCE_DATE_EPOCH sets, else today.
  string(TIMESTAMP date "%Y-%m-%d" UTC)
  add_custom_command(OUTPUT ${pages}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/packaging/generate.py
      $<TARGET_FILE:plugin-facts> man --into ${into} --date ${date}
    DEPENDS plugin-facts ${generator} VERBATIM
    COMMENT "Writing manual pages")
  set(completions)
  foreach(shell bash zsh fish)
    add_custom_command(OUTPUT ${into}/execcred.${shell}
      COMMAND execcred completion ${shell} > ${into}/execcred.${shell}
      DEPENDS execcred VERBATIM COMMENT "Writing the completion for ${shell}")
    list(APPEND completions ${into}/execcred.${shell})
  endforeach()
  add_custom_target(manual ALL DEPENDS ${pages} ${completions})

  # bash and fish search for a file with the program's name.
  foreach(program ${ARGN})
    install(FILES ${into}/execcred.bash RENAME ${program} COMPONENT runtime
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${into}/execcred.fish RENAME ${program}.fish COMPONENT runtime
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endforeach()
  # Debian's package has these two in other places, or another form (Package.cmake).
  install(FILES ${into}/execcred.zsh RENAME _execcred COMPONENT manual
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT manual)
  set(EXECCRED_MAN_PAGES ${pages} PARENT_SCOPE)
  set(EXECCRED_ZSH_COMPLETION ${into}/execcred.zsh PARENT_SCOPE)
endfunction()
