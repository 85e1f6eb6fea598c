# packages.cmake - what cpack makes: .rpm and .tar.gz. scripts/packaging/package.sh calls it; the .debs are debian/'s.

set(CPACK_GENERATOR RPM TGZ)
set(CPACK_PACKAGE_NAME drng)
set(CPACK_PACKAGE_VENDOR drng)
set(DRNG_CONTACT "drng maintainers <maintainers@drng.invalid>" CACHE STRING
    "Whom packages name as their maintainer; whoever hands them out puts in their own name")
set(CPACK_PACKAGE_CONTACT "${DRNG_CONTACT}")
set(DRNG_URL "" CACHE STRING "Where drng is to be had, for packages to name; none where it is empty")
set(CPACK_PACKAGE_HOMEPAGE_URL "${DRNG_URL}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "drng gives every program on libcrypto its random numbers from the CPU's
own generator, RDSEED and RDRAND: tested, conditioned, and expanded by a
CTR_DRBG, with OpenSSL's default seed source as the fallback. Installing it
activates nothing: drng-enable does, for the system or for one service.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")

# Files go to /usr and /etc, the profiles and the module to paths that are absolute.
# The library has components of its own, which are in the .debs alone.
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
set(CPACK_PRE_BUILD_SCRIPTS "${PACKAGING}/rpm.cmake" "${PACKAGING}/sealed.cmake")
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
set(CPACK_DRNG_MODULES_DIR "${DRNG_MODULES_DIR}")

list(TRANSFORM DRNG_PROFILES PREPEND "${DRNG_CONF_DIR}/")

# ---- .rpm ----

# Of Fedora and RHEL; what Debian's own libcrypto looks in is no use to theirs.
set(DRNG_RPM_MODULES_DIR /usr/lib64/ossl-modules CACHE PATH "Where the libcrypto that the .rpm is for looks for providers")
set(CPACK_DRNG_RPM_MODULES_DIR "${DRNG_RPM_MODULES_DIR}")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_PACKAGE_REQUIRES "openssl, python3")
set(CPACK_RPM_PACKAGE_REQUIRES_POST "python3, sed")
set(CPACK_RPM_PACKAGE_REQUIRES_PREUN "coreutils, grep, openssl, python3, sed")
set(CPACK_RPM_PACKAGE_REQUIRES_POSTUN coreutils)
# Those of Debian's packages: what they do when they go is done in their order.
set(DEBIAN "${PROJECT_SOURCE_DIR}/debian")
file(READ "${DEBIAN}/drng-tools.prerm" tools)
file(READ "${DEBIAN}/openssl-provider-drng.prerm" provider)
file(WRITE "${PROJECT_BINARY_DIR}/packaging/prerm" "${tools}${provider}")
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE "${DEBIAN}/drng-tools.postinst")
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE "${PROJECT_BINARY_DIR}/packaging/prerm")
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE "${DEBIAN}/drng-tools.postrm")
# The date and the machine of the build are no part of what is built. drng.so is stripped and has no build-id links.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global packager ${DRNG_CONTACT}
%global _buildhost drng.invalid
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _build_id_links none")
# The SBOM has the sums of the files as they are: rpmbuild is not to strip or compress any.
set(CPACK_RPM_SPEC_INSTALL_POST "%{nil}")
list(TRANSFORM DRNG_PROFILES PREPEND "%config(noreplace) " OUTPUT_VARIABLE CPACK_RPM_USER_FILELIST)
# Named, because cpack takes every file with an absolute path for a configuration.
list(APPEND CPACK_RPM_USER_FILELIST "%attr(0644, root, root) ${DRNG_RPM_MODULES_DIR}/drng.so")
# Where no shell has made them, they come and go with the package.
list(APPEND CPACK_RPM_USER_FILELIST "%dir /usr/share/fish" "%dir /usr/share/fish/vendor_completions.d" "%dir /usr/share/zsh"
     "%dir /usr/share/zsh/site-functions")
get_filename_component(DRNG_RPM_LIB_DIR "${DRNG_RPM_MODULES_DIR}" DIRECTORY)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /etc /etc/ssl "${DRNG_RPM_LIB_DIR}" "${DRNG_RPM_MODULES_DIR}" /usr/sbin /usr/share/man /usr/share/man/man1
    /usr/share/man/man5 /usr/share/man/man7 /usr/share/man/man8 /usr/share/doc /usr/lib/systemd /usr/lib/systemd/system
    /usr/share/bash-completion /usr/share/bash-completion/completions)

include(CPack)
