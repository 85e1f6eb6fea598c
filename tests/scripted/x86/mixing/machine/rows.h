/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of x86-64 in the place of the machine's own: what is made of rows is tested with the same ones everywhere.
 */

#pragma once

#define __x86_64__ 1
#include "../../../../../mixing/machine/rows.h"
#undef __x86_64__
