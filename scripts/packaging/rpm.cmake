# rpm.cmake - what Fedora and RHEL ask of a tree that is about to become an .rpm; cpack runs it for every package.

if(NOT CPACK_GENERATOR STREQUAL RPM)
    return()
endif()

set(tree "${CPACK_TEMPORARY_DIRECTORY}")

# Their libcrypto looks in another folder than the one that the machine's own looks in.
if(NOT CPACK_DRNG_MODULES_DIR STREQUAL CPACK_DRNG_RPM_MODULES_DIR)
    file(MAKE_DIRECTORY "${tree}${CPACK_DRNG_RPM_MODULES_DIR}")
    file(RENAME "${tree}${CPACK_DRNG_MODULES_DIR}/drng.so" "${tree}${CPACK_DRNG_RPM_MODULES_DIR}/drng.so")
    # With the folders above it that hold nothing else.
    execute_process(COMMAND rmdir --parents --ignore-fail-on-non-empty ".${CPACK_DRNG_MODULES_DIR}"
                    WORKING_DIRECTORY "${tree}" COMMAND_ERROR_IS_FATAL ANY)
    # cpack's list of what is installed by an absolute path; it goes into the .spec file.
    list(TRANSFORM CPACK_ABSOLUTE_DESTINATION_FILES
         REPLACE "^${CPACK_DRNG_MODULES_DIR}/" "${CPACK_DRNG_RPM_MODULES_DIR}/")
endif()

# They have SELinux. For openSUSE the file is among the examples.
file(REMOVE_RECURSE "${tree}/etc/apparmor.d")
list(FILTER CPACK_ABSOLUTE_DESTINATION_FILES EXCLUDE REGEX "^/etc/apparmor\\.d/")

# Debian alone has a folder of its own for the completions of packages.
if(EXISTS "${tree}/usr/share/zsh/vendor-completions")
    file(RENAME "${tree}/usr/share/zsh/vendor-completions" "${tree}/usr/share/zsh/site-functions")
endif()

file(GLOB_RECURSE pages "${tree}/usr/share/man/*")
execute_process(COMMAND gzip -9 --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
