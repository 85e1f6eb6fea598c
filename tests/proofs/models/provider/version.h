/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - for the build the version is made by CMake; a proof holds for any. */

#ifndef DRNG_VERSION_H
#define DRNG_VERSION_H

#define DRNG_VERSION "0.0.0"

#endif
