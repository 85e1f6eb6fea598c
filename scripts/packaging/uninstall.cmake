# uninstall.cmake - takes away the files that MANIFEST names, and then the folders of drng's that are empty. A profile that
# was kept because it had been edited is in no manifest, and stays with its folder.

if(NOT EXISTS "${MANIFEST}")
    message(FATAL_ERROR "${MANIFEST} is not there: nothing has been installed from this folder")
endif()
file(STRINGS "${MANIFEST}" files)
set(folders "")
foreach(file IN LISTS files)
    set(file "$ENV{DESTDIR}${file}")
    file(REMOVE "${file}")
    get_filename_component(folder "${file}" DIRECTORY)
    # Those with a name of drng's on the way; all others are the system's.
    while(folder MATCHES "/drng(/|$)")
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
