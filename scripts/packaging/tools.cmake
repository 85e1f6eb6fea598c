# tools.cmake - the three commands, what they import, and their completions.

# SPDX-License-Identifier: Apache-2.0
# Where Debian's zsh looks; elsewhere that is zsh/site-functions.
set(DRNG_ZSH_DIR "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" CACHE STRING "The folder of zsh's completions")
drng_folders(Unspecified "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_SBINDIR}" "${CMAKE_INSTALL_MANDIR}/man1"
             "${CMAKE_INSTALL_MANDIR}/man8" "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
             "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" "${DRNG_ZSH_DIR}")
install(DIRECTORY conf/completions/bash/ DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY conf/completions/fish/ DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(DIRECTORY conf/completions/zsh/ DESTINATION "${DRNG_ZSH_DIR}")
# One program, which goes by its name.
install(PROGRAMS scripts/drng-status DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(PROGRAMS scripts/drng-status DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME drng-conf)
install(PROGRAMS scripts/drng-status DESTINATION "${CMAKE_INSTALL_SBINDIR}" RENAME drng-enable)
# They look where the profiles go.
file(READ scripts/drng/__init__.py text)
string(REGEX REPLACE "CONF_DIR = \"[^\"]*\"" "CONF_DIR = \"${DRNG_CONF_DIR}\"" text "${text}")
file(WRITE "${PROJECT_BINARY_DIR}/scripts/__init__.py" "${text}")
install(FILES "${PROJECT_BINARY_DIR}/scripts/__init__.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/drng")
install(DIRECTORY scripts/drng/ DESTINATION "${CMAKE_INSTALL_DATADIR}/drng" FILES_MATCHING PATTERN "*.py"
    PATTERN __pycache__ EXCLUDE REGEX "scripts/drng/__init__\\.py$" EXCLUDE)
