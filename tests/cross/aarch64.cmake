# SPDX-License-Identifier: Apache-2.0
set(CROSS_ARCH aarch64)
set(CROSS_TRIPLET aarch64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
