# sealed.cmake - the last step before a tree becomes a package: its SBOM, and one date for all that is in it, so that the
# same sources give the same package. cpack runs it.

# SPDX-License-Identifier: Apache-2.0
set(tree "${CPACK_TEMPORARY_DIRECTORY}")

# package.sh sets it; where cpack is run by hand, the version's date does.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND date --utc --date "${CPACK_DRNG_DATE}" +%s OUTPUT_VARIABLE seconds
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(ENV{SOURCE_DATE_EPOCH} "${seconds}")
endif()

set(doc "${tree}/usr/share/doc/${CPACK_PACKAGE_NAME}")
list(TRANSFORM CPACK_DRNG_NEEDS PREPEND --needs= OUTPUT_VARIABLE needs)
if(CPACK_DRNG_LIBCRYPTO)
    list(APPEND needs "--library=openssl=${CPACK_DRNG_LIBCRYPTO}")
endif()
execute_process(
    COMMAND "${CPACK_DRNG_PACKAGING}/sbom.py" --name "${CPACK_PACKAGE_NAME}" --version "${CPACK_PACKAGE_VERSION}"
            --tool "${CPACK_DRNG_COMPILER}" ${needs}
            "${tree}" "${doc}/${CPACK_PACKAGE_NAME}.spdx.json"
    COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND find "${tree}" -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
                COMMAND_ERROR_IS_FATAL ANY)
