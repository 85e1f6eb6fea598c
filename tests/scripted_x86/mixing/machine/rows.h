/* The rows of x86-64 in the place of the machine's own: what is made of rows is tested with the same ones everywhere. */

#ifndef DRNG_ROWS_H
#define DRNG_ROWS_H

#include "mixing/machine/rows_x86.h"

#endif
