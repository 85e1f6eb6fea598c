# folders.cmake - makes folders that everybody may read, whatever the umask of whoever installs: a program that may not read
# its profile gets OpenSSL's generator, and no error. CMake itself makes those above a file as the umask says.

# SPDX-License-Identifier: Apache-2.0
# drng_folders(COMPONENT FOLDER...) - each is absolute, or below the prefix
function(drng_folders component)
    set(folders "")
    foreach(folder IN LISTS ARGN)
        if(NOT IS_ABSOLUTE "${folder}")
            string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
        endif()
        string(APPEND folders " \"\$ENV{DESTDIR}${folder}\"")
    endforeach()
    install(CODE "execute_process(COMMAND sh -c [=[umask 022 && exec mkdir -p -- \"$@\"]=] sh${folders}
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
endfunction()
