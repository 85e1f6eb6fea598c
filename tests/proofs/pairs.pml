/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.pml - a pair of generators that threads share (random_bytes.c): how it is made and used, forks by any thread at
 * any step, and signal handlers on top of any step, whose children go on. A thread that finds its pair taken goes to the
 * last one, and waits for that (OTHERS is 1 here). Beside drng's locks there is one of the C
 * library's allocator, which a call takes for its seed; a thread that holds it must not want it once more.
 *
 * A fork goes on as the child: the other threads vanish where they are, drng's locks are zero, and the rest stays.
 * Without the fork it is the parent. A frame is what a thread, or a handler on top of it, is doing. As in fork.pml each
 * step is one access, and tests/system/test_proofs.py compares the names beside it with the code: "function: text".
 *
 * THREADS    that draw once
 * FORKS      0 or 1, by a thread or by a handler
 * SIGNALS    handlers that draw, also on top of each other
 *
 * Protections that can be taken out, and then an error must be found: NO_LOCK, NO_SECOND_LOOK, NO_SLOT_LOCK,
 * NO_LAST_LOCK, NO_WIPE, ENTERS (a handler is not refused), RAISES (a refused call raises an error), RAISES_OUTSIDE (it
 * does where its thread has not noted that it may allocate).
 */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef FORKS
#define FORKS 0
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif

#define FRAMES (THREADS + SIGNALS)
#define NOBODY 255

mtype = {
    at_look, at_enter, at_lock, at_again, at_make, at_made, at_unlock, at_leave, at_enter_draw, at_slot, at_last_slot, at_allocate,
    at_allocated, at_give_back, at_last, at_refused, at_raising
};

typedef activity {
    bool lives;
    bool waits; /* a handler on top of it runs */
    byte below;
    byte thread;
    byte epoch;
    bit pair; /* 1 is the last one */
    mtype at;
};

activity f[FRAMES];
bool inside[THREADS];
bool allocates[THREADS]; /* what a thread would have noted for RAISES_OUTSIDE */
bool made;
byte making; /* the thread that makes the pair, from 1 on */
byte using[2]; /* and those that generate */
byte pairs_holder;
byte slot_holder[2];
byte heap_holder; /* of the C library's allocator */
byte epoch = 1;
byte living = 0;
byte forks_left = FORKS;
byte signals_left = SIGNALS;

hidden byte i;
hidden byte j;

#define ME       (f[t].thread + 1)
#define RUNS(pc_) (f[t].lives && !f[t].waits && f[t].at == pc_)

inline done()
{
    if
    :: f[t].below != NOBODY -> f[f[t].below].waits = false
    :: else -> skip
    fi;
    f[t].below = NOBODY;
    f[t].lives = false;
    living--
}

/* drng_guard_enter: drng_inside != DRNG_OUTSIDE */
/* drng_guard_enter: guard->before = drng_guard_note(DRNG_INSIDE) */
/* drng_guard_enter: guard->epoch = drng_epoch() */
inline enter(then_)
{
    if
#ifndef ENTERS
    :: inside[f[t].thread] -> f[t].at = at_refused
#endif
    :: else -> inside[f[t].thread] = true; f[t].epoch = epoch; f[t].at = then_
    fi
}

/* drng_unlock: atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self() */
inline unlock(holder_)
{
    if
    :: holder_ == ME -> holder_ = 0
    :: else -> skip
    fi
}

proctype frame(byte t)
{
    do
    /* drng_random_bytes: atomic_load_explicit(&pair->made, memory_order_acquire) */
    :: atomic {
        RUNS(at_look) ->
        if
        :: made -> f[t].at = at_enter_draw
        :: else -> f[t].at = at_enter
        fi
    }

    /* ---- The pair is made ---- */
    /* make: drng_guard_run_piecewise(make_once, &making) */
    :: atomic { RUNS(at_enter) -> enter(at_lock) }
    /* make_once: drng_lock(drng_process_lock(DRNG_LOCK_PAIRS)) */
    :: atomic {
#ifdef NO_LOCK
        RUNS(at_lock) ->
#else
        RUNS(at_lock) && pairs_holder == 0 ->
        pairs_holder = ME;
#endif
        f[t].at = at_again
    }
    /* make_once: !atomic_load(&m->pair->made) */
    :: atomic {
        RUNS(at_again) ->
        if
#ifndef NO_SECOND_LOOK
        :: made -> f[t].at = at_unlock
#endif
        :: else -> f[t].at = at_make
        fi
    }
    /* make_pair: *g = (struct drng_generator){.parent = &provctx->pairs->primary} */
    :: atomic {
        RUNS(at_make) ->
        assert(!made && (making == 0 || making == ME));
        making = ME;
        f[t].at = at_made
    }
    /* make_pair: atomic_store_explicit(&pair->made, true, memory_order_release) */
    :: atomic {
        RUNS(at_made) ->
        assert(making == ME);
        making = 0;
        made = true;
        f[t].at = at_unlock
    }
    /* make_once: drng_unlock(drng_process_lock(DRNG_LOCK_PAIRS)) */
    :: atomic { RUNS(at_unlock) -> unlock(pairs_holder); f[t].at = at_leave }
    /* drng_guard_run_piecewise: if (drng_guard_is_mine(&guard)) */
    /* drng_guard_run_piecewise: (void)drng_guard_note(guard.before) */
    :: atomic {
        RUNS(at_leave) ->
        if
        :: f[t].epoch != epoch -> f[t].epoch = epoch; f[t].at = at_lock
        :: else -> inside[f[t].thread] = false; f[t].at = at_enter_draw
        fi
    }

    /* ---- A draw from one of its generators ---- */
    /* draw_from_any: drng_generator_generate(g, buffer, len, strength, NULL) */
    :: atomic { RUNS(at_enter_draw) -> assert(made); enter(at_slot) }
    /* drng_guard_lock: atomic_exchange_explicit(&slot->lock.holder, 1, memory_order_acquire) == 0 */
    :: atomic {
        RUNS(at_slot) ->
        f[t].pair = 0;
        if
#ifndef NO_SLOT_LOCK
        :: slot_holder[0] != 0 -> f[t].at = at_last_slot
#endif
        :: else ->
            slot_holder[0] = ME;
            assert(using[0] == 0 || using[0] == ME);
            using[0] = ME;
            f[t].at = at_allocate
        fi
    }
    /* drng_guard_lock: drng_lock(&slot->lock) */
    :: atomic {
#ifdef NO_LAST_LOCK
        RUNS(at_last_slot) ->
#else
        RUNS(at_last_slot) && slot_holder[1] == 0 ->
#endif
        slot_holder[1] = ME;
        f[t].pair = 1;
        assert(using[1] == 0 || using[1] == ME);
        using[1] = ME;
        f[t].at = at_allocate
    }
    /* get_entropy: g->source->get(g->source_arg, guard, entropy) */
    :: atomic {
        RUNS(at_allocate) && heap_holder == 0 ->
        heap_holder = ME;
        allocates[f[t].thread] = true;
        f[t].at = at_allocated
    }
    :: atomic {
        RUNS(at_allocated) ->
        assert(using[f[t].pair] == ME);
        unlock(heap_holder);
        allocates[f[t].thread] = false;
        f[t].at = at_give_back
    }
    /* drng_guard_unlock: drng_unlock(&slot->lock) */
    /* drng_guard_unlock: atomic_store_explicit(&slot->lock.holder, 0, memory_order_release) */
    :: atomic {
        RUNS(at_give_back) ->
        using[f[t].pair] = 0;
        if
        :: f[t].pair == 0 -> slot_holder[0] = 0
        :: else -> unlock(slot_holder[1])
        fi;
        f[t].at = at_last
    }
    /* drng_guard_run: if (drng_guard_is_mine(&guard)) */
    /* drng_guard_run: (void)drng_guard_note(guard.before) */
    :: atomic {
        RUNS(at_last) ->
        if
        :: f[t].epoch != epoch -> f[t].epoch = epoch; f[t].at = at_slot
        :: else -> inside[f[t].thread] = false; done()
        fi
    }

    /* ---- A call that is refused: zeros, and 0 ---- */
    /* draw_from_any: drng_wipe(buffer, len) */
    :: atomic {
        RUNS(at_refused) ->
        if
#if defined(RAISES)
        :: true -> f[t].at = at_raising
#elif defined(RAISES_OUTSIDE)
        :: !allocates[f[t].thread] -> f[t].at = at_raising
#endif
        :: else -> done()
        fi
    }
    /* drng_raise_at: core->new_error(core->handle) */
    :: atomic { RUNS(at_raising) && heap_holder == 0 -> heap_holder = ME; f[t].at = 0 }
    :: atomic { RUNS(0) && heap_holder == ME -> unlock(heap_holder); done() }

    /* ---- What comes between ---- */
    :: atomic {
        f[t].lives && !f[t].waits && forks_left > 0 ->
        forks_left--;
        epoch++;
        for (j : 0 .. FRAMES - 1) {
            if
            :: f[j].lives && f[j].thread != f[t].thread ->
                f[j].lives = false;
                f[j].waits = false;
                f[j].below = NOBODY;
                living--
            :: else -> skip
            fi
        }
        /* The C library frees its allocator's lock in a child, unless the thread that forks holds it. */
        if
        :: heap_holder != ME -> heap_holder = 0
        :: else -> skip
        fi;
        if
        :: making != ME -> making = 0
        :: else -> skip
        fi;
        if
        :: using[0] != ME -> using[0] = 0
        :: else -> skip
        fi;
        if
        :: using[1] != ME -> using[1] = 0
        :: else -> skip
        fi
#ifndef NO_WIPE
        ;
        pairs_holder = 0;
        slot_holder[0] = 0;
        slot_holder[1] = 0
#endif
    }
    :: atomic {
        f[t].lives && !f[t].waits && signals_left > 0 ->
        signals_left--;
        i = THREADS;
        do
        :: f[i].lives || f[i].at != at_look -> i++
        :: else -> break
        od;
        f[i].lives = true;
        f[i].below = t;
        f[i].thread = f[t].thread;
        f[t].waits = true;
        living++
    }
    :: atomic { living == 0 -> break }
    od
}

init
{
    atomic {
        for (i : 0 .. FRAMES - 1) {
            f[i].below = NOBODY;
            f[i].at = at_look;
            if
            :: i < THREADS -> f[i].thread = i; f[i].lives = true; living++
            :: else -> skip
            fi
        }
        for (i : 0 .. FRAMES - 1) {
            run frame(i);
        }
    }
}
