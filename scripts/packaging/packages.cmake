# packages.cmake - what cpack makes: the .tar.gz. scripts/packaging/package.sh calls it; the .debs are debian/'s, the .rpms
# drng.spec's.

# SPDX-License-Identifier: Apache-2.0
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME drng)
set(CPACK_PACKAGE_VERSION "${DRNG_VERSION}")
# The sources are drng-VERSION.tar.gz.
set(CPACK_PACKAGE_FILE_NAME "drng-${DRNG_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")

# Files go to /usr and /etc, the profiles and the module to paths that are absolute.
# The library has components of its own, which are in the .debs and the .rpms alone.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};Unspecified;/")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Whatever the umask of whoever builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The .tar.gz is for `tar -C / -x`.
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)

set(PACKAGING "${CMAKE_CURRENT_LIST_DIR}")
set(CPACK_PRE_BUILD_SCRIPTS "${PACKAGING}/sealed.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PACKAGING}/archive.cmake")
# For these scripts.
set(CPACK_DRNG_PACKAGING "${PACKAGING}")
set(CPACK_DRNG_DATE "${DRNG_DATE}")
# By the name that distributions and lists of vulnerabilities have for it: CMake calls GCC "GNU".
string(TOLOWER "${CMAKE_C_COMPILER_ID}" compiler)
string(REGEX REPLACE "^gnu$" "gcc" compiler "${compiler}")
set(CPACK_DRNG_COMPILER "${compiler}=${CMAKE_C_COMPILER_VERSION}")
set(CPACK_DRNG_LIBCRYPTO "${LIBCRYPTO_VERSION}")
set(CPACK_DRNG_NEEDS openssl python3 libc)

include(CPack)
