# tools.cmake - the three commands, what they import, and their completions.

# SPDX-License-Identifier: Apache-2.0
drng_folders(Unspecified "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_SBINDIR}" "${CMAKE_INSTALL_MANDIR}/man1"
             "${CMAKE_INSTALL_MANDIR}/man8" "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
foreach(name drng-conf drng-enable drng-status)
    install(FILES conf/completions/drng.bash RENAME ${name}
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endforeach()
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
