# next-step.cmake - says, at the end of an installation by hand, that nothing is on yet.

# SPDX-License-Identifier: Apache-2.0
if("$ENV{DESTDIR}" STREQUAL "")
    message(STATUS "drng is installed, and nothing uses it yet. Next: drng-enable on SERVICE --restart; drng-enable(8)")
endif()
