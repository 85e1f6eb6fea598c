/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a processor without an instruction in the place of the machine's own. */

#pragma once

#undef __x86_64__
#include "../../../../../mixing/machine/rows.h"
#define __x86_64__ 1
