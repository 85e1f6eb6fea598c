# profiles.cmake - installs PROFILES into FOLDER. A profile there that is another one stays, since somebody may have edited
# it: the new one is installed beside it.

foreach(profile IN LISTS PROFILES)
    get_filename_component(name "${profile}" NAME)
    set(place "$ENV{DESTDIR}${FOLDER}/${name}")
    set(as "${name}")
    if(EXISTS "${place}")
        file(SHA256 "${profile}" new)
        file(SHA256 "${place}" old)
        if(NOT new STREQUAL old)
            set(as "${name}.new")
            message(STATUS "${place} has been changed, or is another version's, and is kept: the new one is ${as} beside it")
        endif()
    endif()
    file(INSTALL "${profile}" DESTINATION "${FOLDER}" RENAME "${as}")
endforeach()
