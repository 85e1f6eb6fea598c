/*
 * cancel.h - a stretch of code in which the thread is not cancelled.
 *
 * The type is set beside the state: glibc 2.36 ends a thread whose type is asynchronous, although its state is
 * "disabled", if the cancellation was on its way when the state was set.
 */

#ifndef DRNG_CANCEL_H
#define DRNG_CANCEL_H

#include <pthread.h>

/* What the caller had. */
struct drng_cancel {
    int state;
    int type;
};

static inline struct drng_cancel drng_cancel_disable(void)
{
    struct drng_cancel before = {.state = PTHREAD_CANCEL_ENABLE, .type = PTHREAD_CANCEL_DEFERRED};
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    return before;
}

/* May end the thread: a cancellation that came meanwhile is due now. */
static inline void drng_cancel_restore(struct drng_cancel before)
{
    int unused = 0;
    (void)pthread_setcanceltype(before.type, &unused);
    (void)pthread_setcancelstate(before.state, &unused);
}

#endif
