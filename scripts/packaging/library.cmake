# library.cmake - the .deb's of libdrng: libdrng0 for programs, libdrng-dev for whoever builds them. Each has a
# configuration of its own for cpack, which takes what the others have from packages.cmake.

# The packages named drng are without the library: what has no component of its own.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};Unspecified;/")

set(LIBRARY_PACKAGES "${PROJECT_BINARY_DIR}/packaging")
function(drng_library_package name section summary description depends more)
    file(WRITE "${LIBRARY_PACKAGES}/${name}.cmake" "include(\"${PROJECT_BINARY_DIR}/CPackConfig.cmake\")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${name})
set(CPACK_DEBIAN_PACKAGE_NAME ${name})
set(CPACK_DEBIAN_PACKAGE_SOURCE drng)
set(CPACK_DEBIAN_PACKAGE_SECTION ${section})
set(CPACK_DEBIAN_PACKAGE_DEPENDS \"${depends}\")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA)
set(CPACK_DRNG_LINTIAN)
set(CPACK_DRNG_LIBCRYPTO)
set(CPACK_DRNG_NEEDS libc)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY \"${summary}\")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION)
set(CPACK_PACKAGE_DESCRIPTION \"${description}\")
set(CPACK_INSTALL_CMAKE_PROJECTS \"${PROJECT_BINARY_DIR};${PROJECT_NAME};${name};/\")
${more}")
    install(DIRECTORY DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${name}) # readable whatever the umask
    # For debian.cmake, as the packages named drng have it.
    install(FILES CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${name})
endfunction()

set(description "libdrng gives programs the numbers of the CPU's own generator, RDSEED and
RDRAND or their like, without OpenSSL: words that have passed health tests,
conditioned seeds, and random bytes of a CTR_DRBG that forks and threads may
share.")
# Debian wants a trigger for ldconfig. cpack adds scripts that call it, too; they are not to be had without.
file(WRITE "${LIBRARY_PACKAGES}/shlibs" "libdrng 0 libdrng0 (>= ${PROJECT_VERSION})\n")
file(WRITE "${LIBRARY_PACKAGES}/triggers" "activate-noawait ldconfig\n")
drng_library_package(libdrng0 libs "random numbers from the CPU's own generator" "${description}" ""
                     "set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA \"${LIBRARY_PACKAGES}/shlibs\" \"${LIBRARY_PACKAGES}/triggers\")
set(CPACK_DRNG_LINTIAN \"libdrng0: maintscript-calls-ldconfig *\\n\")\n")
drng_library_package(libdrng-dev libdevel "random numbers from the CPU's own generator (development files)" "${description}
.
This package has the header, the static library and the manual page."
                     "libdrng0 (= ${PROJECT_VERSION}-1)" "set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)\nset(CPACK_DRNG_NEEDS libdrng0)\n")
