# no_lto.cmake - ends the build if one of OBJECTS waits for link-time optimization: GCC's intermediate code, or LLVM's.

# SPDX-License-Identifier: Apache-2.0
foreach(object IN LISTS OBJECTS)
    file(READ "${object}" magic LIMIT 4 HEX)
    file(STRINGS "${object}" sections REGEX "\\.gnu\\.lto_" LIMIT_COUNT 1)
    if(NOT magic STREQUAL "7f454c46" OR sections)
        message(FATAL_ERROR "${object} was compiled for link-time optimization, which leaves secrets on the stack: "
                            "build without -flto")
    endif()
endforeach()
