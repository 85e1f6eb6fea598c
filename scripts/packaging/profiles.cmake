# profiles.cmake - the profiles, which name the module by its path: a libcrypto that a program brings with it looks for
# modules where there are none. They are the package's, and no configuration: in DRNG_CONF_DIR are links to them.

# SPDX-License-Identifier: Apache-2.0
# glibc's dlopen() puts a program's own library directory in the place of $LIB, so that programs of either word size have
# theirs. In openssl.cnf a dollar begins a variable, but for one behind a backslash.
include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h DRNG_HAS_GLIBC)
set(DRNG_MODULE "${DRNG_MODULES_DIR}/drng.so")
if(DRNG_HAS_GLIBC AND DRNG_MODULES_DIR MATCHES "^/usr/lib(64|/[a-z0-9_]+-linux-gnu[a-z0-9]*)?/ossl-modules$")
    set(DRNG_MODULE [[/usr/\$LIB/ossl-modules/drng.so]])
endif()
set(folder "${CMAKE_INSTALL_DATADIR}/drng/profiles")
drng_below(profiles "\${CMAKE_INSTALL_PREFIX}" "${folder}")
# Whatever the umask of whoever installs.
install(DIRECTORY DESTINATION "${folder}")
foreach(name IN ITEMS drng.cnf drng-fips.cnf drng-permissive.cnf drng-random-provider.cnf)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/conf/${name}")
    file(READ "${PROJECT_SOURCE_DIR}/conf/${name}" text)
    string(REGEX REPLACE "\n(# )?module = [^\n]*drng\\.so\n" "\nmodule = @DRNG_MODULE@\n" text "${text}")
    string(CONFIGURE "${text}" text @ONLY)
    file(WRITE "${PROJECT_BINARY_DIR}/profiles/${name}" "${text}")
    install(FILES "${PROJECT_BINARY_DIR}/profiles/${name}" DESTINATION "${folder}")
    install(CODE "
        set(link \"\$ENV{DESTDIR}${DRNG_CONF_DIR}/${name}\")
        set(profile \"${profiles}/${name}\")
        if(EXISTS \"\${link}\" AND NOT IS_SYMLINK \"\${link}\")
            message(STATUS \"\${link} is no link, perhaps of an earlier version, and is kept: the profile is \${profile}\")
        else()
            file(MAKE_DIRECTORY \"\$ENV{DESTDIR}${DRNG_CONF_DIR}\")
            file(CREATE_LINK \"\${profile}\" \"\${link}\" SYMBOLIC)
            list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"${DRNG_CONF_DIR}/${name}\")
        endif()")
endforeach()
