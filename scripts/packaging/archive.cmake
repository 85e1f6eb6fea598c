# archive.cmake - makes the .tar.gz that cpack has made anew, with its files in the order of their names and root's: cpack
# takes them in the order of the folder, and from whoever builds. cpack runs it afterwards.

# SPDX-License-Identifier: Apache-2.0
file(GLOB top RELATIVE "${CPACK_TEMPORARY_DIRECTORY}" "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(package IN LISTS CPACK_PACKAGE_FILES)
    execute_process(
        COMMAND tar --directory "${CPACK_TEMPORARY_DIRECTORY}" --sort=name --format=gnu --owner=root:0 --group=root:0
                --mtime=@$ENV{SOURCE_DATE_EPOCH} --create -- ${top}
        COMMAND gzip -9 --no-name
        OUTPUT_FILE "${package}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
