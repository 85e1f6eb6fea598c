# packages.cmake - what cpack makes: .deb, .rpm and .tar.gz. scripts/packaging/package.sh calls it.

set(CPACK_GENERATOR DEB RPM TGZ)
set(CPACK_PACKAGE_NAME drng)
set(CPACK_PACKAGE_VENDOR drng)
set(DRNG_CONTACT "drng maintainers <maintainers@drng.invalid>" CACHE STRING
    "Whom packages name as their maintainer; whoever hands them out puts in their own name")
set(CPACK_PACKAGE_CONTACT "${DRNG_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "drng gives every program on libcrypto its random numbers from the CPU's
own generator, RDSEED and RDRAND: tested, conditioned, and expanded by a
CTR_DRBG, with OpenSSL's default seed source as the fallback. Installing it
activates nothing: drng-enable does, for the system or for one service.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")

# Files go to /usr and /etc, the profiles and the module to paths that are absolute.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Whatever the umask of whoever builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The .tar.gz is for `tar -C / -x`.
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)

set(PACKAGING "${CMAKE_CURRENT_LIST_DIR}")
list(TRANSFORM DRNG_PROFILES PREPEND "${DRNG_CONF_DIR}/")

# ---- .deb ----

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openssl, python3")
list(JOIN DRNG_PROFILES "\n" conffiles)
file(WRITE "${PROJECT_BINARY_DIR}/packaging/conffiles" "${conffiles}\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/packaging/conffiles" "${PACKAGING}/prerm" "${PACKAGING}/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PACKAGING}/debian.cmake")
# For debian.cmake.
set(CPACK_DRNG_PACKAGING "${PACKAGING}")
set(CPACK_DRNG_DATE "${DRNG_DATE}")

# ---- .rpm ----

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_REQUIRES "openssl, python3")
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE "${PACKAGING}/prerm")
list(TRANSFORM DRNG_PROFILES PREPEND "%config(noreplace) " OUTPUT_VARIABLE CPACK_RPM_USER_FILELIST)
# Named, because cpack takes every file with an absolute path for a configuration.
list(APPEND CPACK_RPM_USER_FILELIST "%attr(0644, root, root) ${DRNG_MODULES_DIR}/drng.so")
get_filename_component(DRNG_LIB_DIR "${DRNG_MODULES_DIR}" DIRECTORY)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /etc /etc/ssl "${DRNG_LIB_DIR}" "${DRNG_MODULES_DIR}" /usr/sbin /usr/share/man /usr/share/man/man1 /usr/share/man/man5
    /usr/share/man/man7 /usr/share/man/man8 /usr/share/doc)

include(scripts/packaging/library.cmake)
include(CPack)
