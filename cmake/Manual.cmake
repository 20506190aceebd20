# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions, made from what the programs' --help says.

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
  set(pages ${ARGN})
  list(TRANSFORM pages REPLACE "(.+)" "${into}/man/\\1.1")
  set(bash ${ARGN})
  list(TRANSFORM bash PREPEND ${into}/bash/)
  set(zsh ${ARGN})
  list(TRANSFORM zsh PREPEND ${into}/zsh/_)
  set(fish ${ARGN})
  list(TRANSFORM fish REPLACE "(.+)" "${into}/fish/\\1.fish")
  set(binaries ${ARGN})
  list(TRANSFORM binaries REPLACE "(.+)" "$<TARGET_FILE:\\1>")

  file(GLOB generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/packaging/*.py
    ${PROJECT_SOURCE_DIR}/scripts/packaging/man/*.roff)
  # The time that SOURCE_DATE_EPOCH sets, else today.
  string(TIMESTAMP date "%Y-%m-%d" UTC)
  add_custom_command(OUTPUT ${pages} ${bash} ${zsh} ${fish}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/packaging/generate.py
      --into ${into} --date ${date} ${binaries}
    DEPENDS ${ARGN} ${generator} VERBATIM
    COMMENT "Writing manual pages and completions")
  add_custom_target(manual ALL DEPENDS ${pages} ${bash} ${zsh} ${fish})

  install(FILES ${bash} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT runtime)
  install(FILES ${fish} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT runtime)
  # Debian's package has these two in other places, or another form (Package.cmake).
  install(FILES ${zsh} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT manual)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT manual)
  set(EXECCRED_MAN_PAGES ${pages} PARENT_SCOPE)
  set(EXECCRED_ZSH_COMPLETIONS ${zsh} PARENT_SCOPE)
endfunction()
