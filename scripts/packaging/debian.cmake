# debian.cmake - what Debian's policy asks of a tree that is about to become a .deb; cpack runs it for every package.

if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(output "${output}" PARENT_SCOPE)
endfunction()

set(tree "${CPACK_TEMPORARY_DIRECTORY}")
set(doc "${tree}/usr/share/doc/${CPACK_PACKAGE_NAME}")

# The licence is in Debian already; the copyright file says where.
file(REMOVE "${doc}/LICENSE")
configure_file("${CPACK_DRNG_PACKAGING}/copyright" "${doc}/copyright" COPYONLY)

run(date --utc --rfc-email --date "${CPACK_DRNG_DATE}")
set(date "${output}")
configure_file("${CPACK_DRNG_PACKAGING}/changelog.Debian.in" "${doc}/changelog.Debian" @ONLY)
file(RENAME "${doc}/CHANGELOG.md" "${doc}/changelog")

file(GLOB_RECURSE pages "${tree}/usr/share/man/*")
run(gzip -9 --no-name ${pages} "${doc}/changelog" "${doc}/changelog.Debian")

# It is about the first upload to Debian's archive.
file(WRITE "${tree}/usr/share/lintian/overrides/${CPACK_PACKAGE_NAME}"
     "${CPACK_PACKAGE_NAME}: initial-upload-closes-no-bugs *\n${CPACK_DRNG_LINTIAN}")
