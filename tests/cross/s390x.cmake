# SPDX-License-Identifier: Apache-2.0
set(CROSS_ARCH s390x)
set(CROSS_TRIPLET s390x-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
