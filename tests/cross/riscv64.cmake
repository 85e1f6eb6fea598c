# SPDX-License-Identifier: Apache-2.0
set(CROSS_ARCH riscv64)
set(CROSS_TRIPLET riscv64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
