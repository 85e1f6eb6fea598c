# SPDX-License-Identifier: Apache-2.0
set(CROSS_ARCH ppc64le)
set(CROSS_TRIPLET powerpc64le-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
