# uninstall.cmake - takes away the files that MANIFEST names, and then the folders of drng's that are empty. What somebody has
# put beside them is in no manifest, and stays with its folder.

# SPDX-License-Identifier: Apache-2.0
if(NOT EXISTS "${MANIFEST}")
    message(FATAL_ERROR "${MANIFEST} is not there: nothing has been installed from this folder")
endif()
# Without the module a strict openssl.cnf leaves every program without random numbers.
foreach(file IN ITEMS ssl/openssl.cnf pki/tls/openssl.cnf pki/tls/openssl.d/drng-enable.conf)
    set(conf "$ENV{DESTDIR}/etc/${file}")
    if(EXISTS "${conf}")
        file(STRINGS "${conf}" block REGEX "^# >>> drng-enable")
        if(block)
            message(FATAL_ERROR "drng is on in ${conf}: drng-enable off --all first")
        endif()
    endif()
endforeach()
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
