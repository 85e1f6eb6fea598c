# library.cmake - libdrng: mixing/ for programs that do without OpenSSL. It needs the C library alone.

# SPDX-License-Identifier: Apache-2.0
configure_file(library/version.c.in library/version.c @ONLY)
set(LIBRARY_SOURCES library/handle.c library/open.c library/words.c)
add_library(library OBJECT ${LIBRARY_SOURCES} "${PROJECT_BINARY_DIR}/library/version.c")
target_link_libraries(library PUBLIC drng_flags)
set_target_properties(library PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden C_EXTENSIONS OFF)

# ---- libdrng.so.0 ----

# It stays loaded after dlclose(): other threads may be in it, and the locks and pages of the process are its own. Its
# calls of its own functions stay inside, also in a program that has libdrng.a and exports its names.
set(LIBRARY_MAP "${PROJECT_SOURCE_DIR}/library/drng.map")
add_library(libdrng SHARED $<TARGET_OBJECTS:library>)
target_link_libraries(libdrng PRIVATE mixing)
target_link_options(libdrng PRIVATE "LINKER:--version-script=${LIBRARY_MAP}" LINKER:-z,nodelete
                    LINKER:-Bsymbolic-functions)
if(NOT DRNG_SANITIZE)
    target_link_options(libdrng PRIVATE LINKER:-z,defs)
endif()
set_target_properties(libdrng PROPERTIES OUTPUT_NAME drng VERSION 0.${PROJECT_VERSION} SOVERSION 0
                      LINK_DEPENDS "${LIBRARY_MAP}" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

# ---- libdrng.a ----

# One object, in which only drng.h's calls are global: mixing/'s own names must not meet those of a program.
set(LIBRARY_ARCHIVE "${PROJECT_BINARY_DIR}/libdrng.a")
set(LIBRARY_OBJECT "${PROJECT_BINARY_DIR}/library/libdrng.o")
separate_arguments(LIBRARY_FLAGS UNIX_COMMAND "${CMAKE_C_FLAGS} -fno-lto")
add_custom_command(
    OUTPUT "${LIBRARY_ARCHIVE}"
    COMMAND ${CMAKE_C_COMPILER} ${LIBRARY_FLAGS} -r -nostdlib -o "${LIBRARY_OBJECT}" $<TARGET_OBJECTS:library> $<TARGET_OBJECTS:mixing>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden "${LIBRARY_OBJECT}"
    COMMAND ${CMAKE_COMMAND} -E rm -f "${LIBRARY_ARCHIVE}"
    COMMAND ${CMAKE_AR} rcsD "${LIBRARY_ARCHIVE}" "${LIBRARY_OBJECT}"
    DEPENDS library mixing $<TARGET_OBJECTS:library> $<TARGET_OBJECTS:mixing>
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(libdrng_archive ALL DEPENDS "${LIBRARY_ARCHIVE}")
