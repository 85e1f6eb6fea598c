# library.cmake - the installation of libdrng: what programs need to run with it, and to be built with it.

# SPDX-License-Identifier: Apache-2.0
set(DRNG_LIBRARY_EXAMPLES_DIR "${CMAKE_INSTALL_DATADIR}/doc/libdrng" CACHE STRING "Where the examples of libdrng go")
if(NOT DRNG_LIBRARY)
    return()
endif()

include(CMakePackageConfigHelpers)
configure_package_config_file(scripts/packaging/drng-config.cmake.in "${PROJECT_BINARY_DIR}/library/drng-config.cmake"
    INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/drng" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/library/drng-config-version.cmake"
                                 COMPATIBILITY SameMajorVersion)
drng_folders(libdrng0 "${CMAKE_INSTALL_LIBDIR}")
drng_folders(libdrng-dev "${CMAKE_INSTALL_LIBDIR}/cmake/drng" "${CMAKE_INSTALL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_INCLUDEDIR}"
             "${CMAKE_INSTALL_MANDIR}/man3" "${DRNG_LIBRARY_EXAMPLES_DIR}")
install(DIRECTORY DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/drng" COMPONENT libdrng-dev)
install(DIRECTORY DESTINATION "${DRNG_LIBRARY_EXAMPLES_DIR}" COMPONENT libdrng-dev)
install(TARGETS libdrng LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libdrng0
        NAMELINK_COMPONENT libdrng-dev)
install(FILES "${LIBRARY_ARCHIVE}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libdrng-dev)
install(FILES library/drng.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT libdrng-dev)
# The prefix is that of the installation.
drng_below(DRNG_PC_INCLUDEDIR "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
drng_below(DRNG_PC_LIBDIR "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
configure_file(scripts/packaging/drng.pc.in library/drng.pc @ONLY)
install(CODE "file(READ \"${PROJECT_BINARY_DIR}/library/drng.pc\" text)
    string(REGEX REPLACE \"^prefix=[^\n]*\" \"prefix=\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/library/installed/drng.pc\" \"\${text}\")" COMPONENT libdrng-dev)
install(FILES "${PROJECT_BINARY_DIR}/library/installed/drng.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT libdrng-dev)
install(FILES "${PROJECT_BINARY_DIR}/library/drng-config.cmake"
        "${PROJECT_BINARY_DIR}/library/drng-config-version.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/drng" COMPONENT libdrng-dev)
configure_file(docs/libdrng.3 docs/libdrng.3 @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/docs/libdrng.3" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" COMPONENT libdrng-dev)
# `man drng_open` shows the same page.
file(STRINGS library/drng.map LIBRARY_CALLS REGEX "^    drng_")
foreach(line IN LISTS LIBRARY_CALLS)
    string(REGEX MATCH "drng_[a-z0-9_]+" call "${line}")
    file(WRITE "${PROJECT_BINARY_DIR}/library/man3/${call}.3" ".so man3/libdrng.3\n")
    install(FILES "${PROJECT_BINARY_DIR}/library/man3/${call}.3" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3"
            COMPONENT libdrng-dev)
endforeach()
install(DIRECTORY docs/library/ DESTINATION "${DRNG_LIBRARY_EXAMPLES_DIR}/examples" COMPONENT libdrng-dev
        PATTERN __pycache__ EXCLUDE)
