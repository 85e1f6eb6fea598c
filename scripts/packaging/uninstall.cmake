# uninstall.cmake - takes away the files that MANIFEST names, and then the folders of drng's that are empty. What somebody has
# put beside them is in no manifest, and stays with its folder.

# SPDX-License-Identifier: Apache-2.0
if(NOT EXISTS "${MANIFEST}")
    message(FATAL_ERROR "${MANIFEST} is not there: nothing has been installed from this folder")
endif()
# What drng-enable has written names the module.
file(GLOB written "$ENV{DESTDIR}/etc/ssl/drng/system.cnf" "$ENV{DESTDIR}/etc/systemd/system/*.service.d/drng.conf")
if(written)
    message(FATAL_ERROR "drng is on, by ${written}: drng-enable off --all first")
endif()
file(STRINGS "${MANIFEST}" files)
set(folders "")
foreach(file IN LISTS files)
    set(file "$ENV{DESTDIR}${file}")
    file(REMOVE "${file}")
    get_filename_component(folder "${file}" DIRECTORY)
    # Those with a name of drng's on the way; all others are the system's.
    while(folder MATCHES "/(lib)?drng[^/]*(/|$)")
        list(APPEND folders "${folder}")
        get_filename_component(folder "${folder}" DIRECTORY)
    endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
# The longest first, so that what is inside goes before what it is in.
list(SORT folders ORDER DESCENDING)
foreach(folder IN LISTS folders)
    execute_process(COMMAND rmdir "${folder}" ERROR_QUIET RESULT_VARIABLE ignored)
endforeach()
file(REMOVE "${MANIFEST}")
