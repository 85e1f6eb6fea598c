/* brief.h - how often a register of the short requests has gone through a round, the last rounds not counted. */

#ifndef DRNG_BRIEF_H
#define DRNG_BRIEF_H

unsigned long brief_rounds(void);

#endif
