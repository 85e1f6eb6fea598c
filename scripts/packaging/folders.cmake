# folders.cmake - makes folders that everybody may read, whatever the umask of whoever installs: a program that may not read
# its profile gets OpenSSL's generator, and no error. CMake itself makes those above a file as the umask says.

# SPDX-License-Identifier: Apache-2.0
# drng_below(RESULT PREFIX FOLDER) - FOLDER below PREFIX, or as it is where it is absolute, as Nix has all of them
function(drng_below result prefix folder)
    if(IS_ABSOLUTE "${folder}")
        set(${result} "${folder}" PARENT_SCOPE)
    else()
        set(${result} "${prefix}/${folder}" PARENT_SCOPE)
    endif()
endfunction()

# drng_folders(COMPONENT FOLDER...) - each is absolute, or below the prefix
function(drng_folders component)
    set(folders "")
    foreach(folder IN LISTS ARGN)
        drng_below(folder "\${CMAKE_INSTALL_PREFIX}" "${folder}")
        string(APPEND folders " \"\$ENV{DESTDIR}${folder}\"")
    endforeach()
    install(CODE "execute_process(COMMAND sh -c [=[umask 022 && exec mkdir -p -- \"$@\"]=] sh${folders}
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
endfunction()
