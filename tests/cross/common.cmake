# Debian's cross compiler for CROSS_ARCH, on the libraries that scripts/ci/cross.sh has unpacked; CROSS_TRIPLET is its
# name. The tests run under QEMU's user mode, on the CPU that QEMU_CPU names.

# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CROSS_ARCH})
set(CMAKE_C_COMPILER ${CROSS_TRIPLET}-gcc)
get_filename_component(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../../build/cross/${CROSS_ARCH}/sysroot" ABSOLUTE)
# The compiler and the linker look into /usr/${CROSS_TRIPLET} before they look into the sysroot: this machine may have
# another C library for that architecture there.
set(CMAKE_C_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/${CROSS_TRIPLET} -isystem ${CMAKE_SYSROOT}/usr/include/${CROSS_TRIPLET} \
-isystem ${CMAKE_SYSROOT}/usr/include")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CROSS_ARCH};-L;${CMAKE_SYSROOT})

# Programs are this machine's, and everything else is the other one's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/${CROSS_TRIPLET}/pkgconfig")
