/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.pml - calls of the guard (mixing/state/guard.h) in processes that fork, and on machines that are copied, at any
 * step: no two put out the same, no child keeps what is its parent's, every call ends, and every lock is free then.
 *
 * A process is an array of bytes, with the stacks of its threads: a fork is a copy of it in which what the kernel wipes
 * is zero, a copy of the machine is a copy with a new marker. Processes share nothing, so one runs at a time, to its
 * end, and those that it has made wait. On a stack a frame is a call, or the call of a signal handler on top of it.
 *
 * Each step is one access to memory that a fork, a copy, a handler or another thread may come before. The code that it
 * stands for is named beside it, and tests/system/test_proofs.py compares these names with the code: "function: text".
 *
 * A seed is a number in steps of eight, another one whenever one is taken, and what is drawn from a generator of that
 * seed for the first time, the second, ... is the number plus 1, 2, ... Zero is memory that was wiped. A call takes the
 * generator's slot (level 0), that of its parent and of the parent's root, as far as each has to seed the one before.
 *
 * LEVELS      how many of them there are; with ROOT the last is a root, without it a generator with a source
 * FOREIGN     the source calls out to a generator that is not drng's
 * PIECEWISE   two pieces of a root's seed, by the runner for work in pieces
 * FORKS, COPIES, SIGNALS   how many may come. Each signal is a handler that draws; whatever runs may fork
 * THREADS     1 or 2 share the generator, under its lock; LOCKING: one, and a lock
 * ATFORK      the kernel does not wipe, but the handlers of pthread_atfork() do; RAW_CLONE: they are not called
 *
 * Protections that can be taken out, and then an error must be found: NO_LOOK, EARLY_LOOK (before the last write),
 * NO_LOOK_IN_PIECES, NO_LOOK_AT_SOURCE, NO_WIPE (in start_over), NO_WIPE_BACK, NO_TAKEN, NO_SELF_CHECK (of a lock),
 * ENTERS_IN_CHILD, CANCELLABLE; and two designs that were: LEFT, in which a handler in a child drew from another slot,
 * and a mark in the old one said that the call below must wipe it; and BY_GENERATION, by which a child was told.
 */

#ifndef LEVELS
#define LEVELS 1
#endif
#ifndef FORKS
#define FORKS 0
#endif
#ifndef COPIES
#define COPIES 0
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifdef LEFT
#define ENTERS_IN_CHILD
#endif

#define MADE    (FORKS + COPIES)
#define NUMBERS (32 / (1 + MADE)) /* for the seeds of each process */
#define DEPTH   (1 + SIGNALS)
#define SLOTS   (LEVELS + 1) /* the last is another one for level 0 */
#define OUTPUTS (2 * (THREADS + SIGNALS) * (1 + MADE))

/* ---- The memory of a process ---- */

/* Wiped in a child: */
#define GENERATION 0
#define FORKED     1
#define SLOT(l_)   (2 + 7 * (l_)) /* and in a slot: */
#define MUTEX      0
#define HOLDER     1
#define EPOCH      2 /* of a slot, and of a frame */
#define SEED       3
#define COUNT      4 /* 0 where there is no seed */
#define ENTROPY    5
#define MARK       6
#define WIPED      SLOT(SLOTS)
/* Kept: */
#define LAST       (WIPED + 0) /* last_generation */
#define COPIED     (WIPED + 1) /* the marker is a new one */
#define NOTICED    (WIPED + 2) /* drng_clone_watch.count */
#define LIBC       (WIPED + 3) /* a lock of malloc's or libcrypto's: the thread that has it */
#define BORN       (WIPED + 4) /* the first number of this process's own */
#define NUMBER     (WIPED + 5) /* the next */
#define PLACE      (WIPED + 6) /* the slot of level 0 */
#define FORKING    (WIPED + 7) /* with BY_GENERATION */
#define THREAD(t_) (WIPED + 8 + (3 + DEPTH * 13) * (t_)) /* and of a thread: */
#define INSIDE     0
#define ENTERED    1 /* the generation in which it noted that */
#define TOP        2 /* frames on its stack */
#define FRAME(n_)  (3 + 13 * (n_)) /* and in a frame: */
#define AT         0
#define BEFORE     1 /* EPOCH is 2 */
#define ASKS       3 /* the generation that it will give its process, which has none */
#define LEVEL      4
#define KEY        5
#define V          6
#define RESULT     7
#define MINE       8
#define FORKS_NOW  9 /* it is between the handlers of its fork */
#define ABOVE      10 /* the generation in which the call below entered */
#define OWN        11 /* the slot of level 0 */
#define TRIES      12
#define SIZE       THREAD(THREADS)

#define OUTSIDE   0
#define IS_INSIDE 1
#define CALLS_OUT 2

#define OK     0
#define BUSY   1
#define FAILED 2

#define NOT_MINE 0
#define IS_MINE  1
#define NO_SLOT  2 /* nor is it mine, and there is nothing to be wiped */

mtype = {
    enter, note, begin, take, hold, fresh, over, wipe, stamp, work, ask, get, got, put, back_in, free_theirs,
    back_again, look, instantiate, set, forget, release, released, counter, generate, hand, update, mine, leave, back,
    unhold, unlock, bare, quit
};

byte m[SIZE]; /* of the process that runs */
byte waiting[MADE * SIZE + 1];
byte waits = 0;
byte processes = 1;
bool runs = true;
byte forks_left = FORKS;
byte copies_left = COPIES;
byte signals_left = SIGNALS;
byte output[2 * OUTPUTS];
byte outputs = 0;

/* Of one step each, so they are no part of a state. */
hidden byte i;
hidden byte epoch;
hidden short j;
hidden short base;

#define T(field_)        m[THREAD(t) + field_]
#define F(field_)        m[THREAD(t) + FRAME(T(TOP) - 1) + field_]
#define SLOT_OF(l_)      SLOT((l_ == 0 -> F(OWN) : l_))
#define S(field_)        m[SLOT_OF(F(LEVEL)) + field_]
#define BELOW(field_)    m[SLOT_OF(F(LEVEL) - 1) + field_]
#define LIVES            (runs && T(TOP) > 0)
#define RUNS(at_)        (LIVES && F(AT) == at_ && !F(FORKS_NOW))
#define SEES(at_)        (RUNS(at_) && (m[GENERATION] != 0 || F(ASKS)))
#define IS_LAST          (F(LEVEL) == LEVELS - 1)
#define IN_EPOCH         (epoch == F(EPOCH))

#ifdef EARLY_LOOK
#define LOOKS_FIRST  leave
#define LOOKED_FIRST update
#define LOOKS_LAST   back
#else
#define LOOKS_FIRST  update
#define LOOKED_FIRST (F(MINE) == IS_MINE -> quit : begin)
#define LOOKS_LAST   unhold
#endif
#ifdef LEFT
#define LIBC_HELD 0 /* it had other means against these locks */
#else
#define LIBC_HELD (t + 1)
#endif
#ifdef NO_SELF_CHECK
#define IS_HELD false
#else
#define IS_HELD (S(HOLDER) == t + 1)
#endif
#ifdef NO_TAKEN
#define IS_TAKEN false
#else
#define IS_TAKEN (S(HOLDER) != 0 && F(BEFORE) == CALLS_OUT)
#endif
#ifdef ENTERS_IN_CHILD
#define IN_ITS_PROCESS (T(ENTERED) == m[GENERATION])
#else
#define IN_ITS_PROCESS true
#endif
#ifdef ROOT
#define IS_ROOT IS_LAST
#else
#define IS_ROOT false
#endif
#ifdef FOREIGN
#define IS_FOREIGN IS_LAST
#else
#define IS_FOREIGN false
#endif
#if THREADS > 1 || defined(LOCKING) || defined(PIECEWISE)
#define LOCKS true
#else
#define LOCKS (F(LEVEL) > 0)
#endif

/* A look at the epoch. What is noted in the page is this sum, or 0 after a fork and where copies may come. */
inline see()
{
    /* drng_epoch: atomic_load_explicit(&drng_fork_page->epoch, memory_order_relaxed) */
    /* drng_fork_enter: atomic_compare_exchange_strong(&drng_fork_page->generation, &generation, next) */
    m[GENERATION] = (m[GENERATION] == 0 -> F(ASKS) : m[GENERATION]);
    F(ASKS) = 0;
    /* look_closely: atomic_fetch_add(&drng_clone_watch.count, 1) + 1 */
    m[NOTICED] = m[NOTICED] + m[COPIED];
    m[COPIED] = 0;
    epoch = m[GENERATION] + m[NOTICED]
}

inline wipe_slot()
{
    S(SEED) = 0;
    S(COUNT) = 0;
    S(ENTROPY) = 0
}

inline put_out(seed_, count_)
{
    assert(seed_ != 0);
    for (i : 1 .. outputs) {
        assert(output[2 * i - 2] != seed_ || output[2 * i - 1] != count_);
    }
    output[2 * outputs] = seed_;
    output[2 * outputs + 1] = count_;
    outputs++
}

/* The work of this level has come to its end. */
inline end_work()
{
    if
#ifdef EARLY_LOOK
    :: F(LEVEL) == 0 -> F(AT) = leave
#elif !defined(PIECEWISE)
    :: F(LEVEL) == 0 -> F(AT) = unhold
#endif
    :: else -> F(AT) = mine
    fi
}

/* The level has no slot, or has given it back. */
inline go_on()
{
    if
    :: F(LEVEL) > 0 ->
        F(LEVEL) = F(LEVEL) - 1;
        if
        :: F(RESULT) == OK -> F(AT) = look
        :: else -> end_work()
        fi
#ifdef PIECEWISE
    :: F(LEVEL) == 0 && F(RESULT) == OK && F(V) == 0 -> F(V) = F(KEY); F(KEY) = 0; F(AT) = take
    :: F(LEVEL) == 0 && (F(RESULT) != OK || F(V) != 0) -> F(AT) = bare
#else
#ifdef EARLY_LOOK
    :: F(LEVEL) == 0 && F(MINE) == IS_MINE -> F(AT) = quit
    :: F(LEVEL) == 0 && F(MINE) != IS_MINE -> F(AT) = begin
#else
    :: F(LEVEL) == 0 -> F(AT) = leave
#endif
#endif
    fi
}

inline no_slot()
{
    F(RESULT) = BUSY;
    if
    :: F(LEVEL) == 0 -> F(AT) = bare
    :: else -> go_on()
    fi
}

/* A child, or a copy, waits until this process has come to its end. */
inline make_process(is_child_)
{
    base = waits * SIZE;
    for (j : 0 .. SIZE - 1) {
        waiting[base + j] = m[j];
    }
    if
    :: is_child_ ->
#ifdef ATFORK
        /* in_forked_child: atomic_load(&drng_fork_page->forked) == 0 */
        if
#ifdef BY_GENERATION
        :: m[GENERATION] == 0 || m[GENERATION] != m[FORKING] -> skip
#else
        :: m[FORKED] == 0 -> skip
#endif
        :: else ->
#endif
        /* kernel_wipes: madvise(memory, size, MADV_WIPEONFORK) == 0 */
        for (j : 0 .. WIPED - 1) {
            waiting[base + j] = 0;
        }
#ifdef ATFORK
        fi;
#endif
        for (i : 0 .. THREADS - 1) {
            if
            :: i != t ->
                for (j : THREAD(i) .. THREAD(i + 1) - 1) {
                    waiting[base + j] = 0;
                }
            :: else -> skip
            fi
        }
        if
        :: m[LIBC] != t + 1 -> waiting[base + LIBC] = 0
        :: else -> skip
        fi;
        waiting[base + BORN] = NUMBERS * processes
    :: else -> waiting[base + COPIED] = 1
    fi;
    waiting[base + NUMBER] = NUMBERS * processes;
    waits++;
    processes++
}

inline next_process()
{
    if
    :: waits == 0 ->
        runs = false;
        for (j : 0 .. SIZE - 1) {
            m[j] = 0;
        }
    :: else ->
        waits--;
        base = waits * SIZE;
        for (j : 0 .. SIZE - 1) {
            m[j] = waiting[base + j];
            waiting[base + j] = 0;
        }
    fi
}

/* At the end of a thread's call a child has nothing that its parent had; when all have ended, every slot is free. */
inline end_frame()
{
    for (j : 0 .. TRIES) {
        m[THREAD(t) + FRAME(T(TOP) - 1) + j] = 0;
    }
    T(TOP) = T(TOP) - 1;
    if
    :: T(TOP) == 0 ->
        for (i : 0 .. SLOTS - 1) {
            assert(m[SLOT(i) + SEED] == 0 || m[SLOT(i) + SEED] / 8 >= m[BORN]);
            assert(m[SLOT(i) + ENTROPY] == 0 || m[SLOT(i) + ENTROPY] / 8 >= m[BORN]);
        }
        if
        :: THREADS == 1 || m[THREAD(0) + TOP] + m[THREAD(THREADS - 1) + TOP] == 0 ->
            for (i : 0 .. SLOTS - 1) {
                assert(m[SLOT(i) + MUTEX] == 0 && m[SLOT(i) + HOLDER] == 0);
            }
            next_process()
        :: else -> skip
        fi
    :: else -> skip
    fi
}

proctype thread(byte t)
{
    do
    /* ---- Entering ---- */
    /* drng_guard_enter: drng_inside != DRNG_OUTSIDE && drng_inside != DRNG_CALLS_OUT */
    :: atomic {
        RUNS(enter) ->
        if
        :: T(INSIDE) != OUTSIDE && T(INSIDE) != CALLS_OUT && IN_ITS_PROCESS ->
            assert(T(TOP) > 1);
            end_frame() /* refused */
        :: else -> F(AT) = note
        fi
    }

    /* drng_guard_note: const enum drng_inside before = drng_inside */
    /* drng_guard_note: drng_inside = now */
    :: atomic {
        RUNS(note) ->
        F(BEFORE) = T(INSIDE);
        F(ABOVE) = T(ENTERED);
        T(INSIDE) = IS_INSIDE;
        F(AT) = begin
    }

    /* Before a look in a process that has no generation yet. */
    /* drng_fork_enter: atomic_fetch_add(&last_generation, 1) + 1 */
    :: atomic {
        (RUNS(begin) || RUNS(over) || RUNS(look) || RUNS(mine) || RUNS(leave) || RUNS(bare)) && m[GENERATION] == 0 &&
            F(ASKS) == 0 ->
        m[LAST] = m[LAST] + 1;
        F(ASKS) = m[LAST]
    }

    /* drng_guard_enter: guard->epoch = drng_epoch() */
    /* drng_guard_run: guard.epoch = drng_epoch() */
    /* drng_guard_run_piecewise: guard.epoch = drng_epoch() */
    :: atomic {
        SEES(begin) ->
        see();
        F(EPOCH) = epoch;
        F(KEY) = 0;
        F(V) = 0;
        F(RESULT) = OK;
        F(MINE) = NOT_MINE;
        F(TRIES) = F(TRIES) + 1;
        assert(F(TRIES) <= 1 + MADE); /* each but the first takes a fork or a copy */
#ifdef ENTERS_IN_CHILD
        T(ENTERED) = m[GENERATION];
#endif
        F(AT) = take
    }

    /* ---- Taking a slot ---- */
    /* drng_lock: atomic_load_explicit(&lock->holder, memory_order_relaxed) == self */
    /* drng_lock: pthread_mutex_lock(&lock->mutex) */
    /* drng_guard_lock: guard->before == DRNG_CALLS_OUT */
    :: atomic {
        RUNS(take) && (!LOCKS || IS_HELD || S(MUTEX) == 0) ->
#ifdef LEFT
        if
        :: F(LEVEL) == 0 && F(BEFORE) != OUTSIDE && F(ABOVE) != F(EPOCH) && m[PLACE] == 0 ->
            S(MARK) = 1;
            wipe_slot();
            m[PLACE] = LEVELS
        :: else -> skip
        fi;
        F(OWN) = m[PLACE];
#endif
        if
        :: (LOCKS -> IS_HELD : IS_TAKEN) -> no_slot()
        :: LOCKS && !IS_HELD -> S(MUTEX) = t + 1; F(AT) = hold
        :: !LOCKS && !IS_TAKEN -> F(AT) = hold
        fi
    }

    /* drng_lock: atomic_store_explicit(&lock->holder, self, memory_order_relaxed) */
    /* drng_guard_lock: atomic_store_explicit(&slot->lock.holder, 1, memory_order_relaxed) */
    :: atomic { RUNS(hold) -> S(HOLDER) = t + 1; F(AT) = fresh }

    /* drng_guard_take: slot->epoch == guard->epoch */
    :: atomic { RUNS(fresh) -> F(AT) = (S(EPOCH) == F(EPOCH) -> work : over) }

    /* drng_guard_start_over: drng_guard_is_mine(&guard) */
    :: atomic {
        SEES(over) ->
        see();
        if
        :: IN_EPOCH -> F(AT) = wipe
        :: else -> F(RESULT) = BUSY; F(MINE) = NO_SLOT; F(AT) = back
        fi
    }

    /* drng_guard_start_over: drng_guard_wipe(slot, place->size) */
#ifdef NO_WIPE
    :: atomic { RUNS(wipe) -> F(AT) = stamp }
#else
    :: atomic { RUNS(wipe) -> wipe_slot(); F(AT) = stamp }
#endif

    /* drng_guard_start_over: slot->epoch = guard.epoch */
    :: atomic { RUNS(stamp) -> S(EPOCH) = F(EPOCH); F(AT) = work }

    /* ---- Work: a seed ---- */
    /* has_seed: s->drbg.reseed_counter != 0 */
    /* instantiate: atomic_load_explicit(&drng_failed_algorithm, memory_order_relaxed) != NULL */
    /* seed_child: drng_guard_take(guard, &parent->place, parent->locking) */
    :: atomic {
        RUNS(work) ->
        if
        :: IS_ROOT -> F(AT) = ask
        :: !IS_ROOT && S(COUNT) != 0 -> F(AT) = counter
        :: !IS_ROOT && S(COUNT) == 0 -> F(RESULT) = FAILED; end_work()
        :: !IS_ROOT && IS_LAST -> F(AT) = ask /* also of one that has a seed: a reseed */
        :: !IS_ROOT && !IS_LAST -> F(LEVEL) = F(LEVEL) + 1; F(AT) = take
        fi
    }

    /* get_entropy: g->source->get(g->source_arg, guard, entropy) */
    /* call_out: drng_guard_note(DRNG_CALLS_OUT) */
    :: atomic {
        RUNS(ask) && (IS_FOREIGN || m[LIBC] == 0) ->
        F(KEY) = 8 * m[NUMBER];
        m[NUMBER] = m[NUMBER] + 1;
        assert(m[NUMBER] % NUMBERS != 0);
        if
        :: IS_FOREIGN -> T(INSIDE) = CALLS_OUT; F(AT) = back_in
        :: else -> m[LIBC] = LIBC_HELD; F(AT) = get
        fi
    }

    /* come_back: drng_guard_note(outside.inside) */
    :: atomic { RUNS(back_in) -> T(INSIDE) = IS_INSIDE; F(AT) = get }

    /* draw_key: memcpy(task->noise->key, words, sizeof(words)) */
    :: atomic {
        RUNS(get) ->
        S(SEED) = (IS_ROOT -> F(KEY) : S(SEED));
        F(AT) = put
    }

    /* make_seed: memcpy(task->out + done, block, left < sizeof(block) ? left : sizeof(block)) */
    /* from_fallback: policy->fallback(policy->fallback_arg, out, len) */
    :: atomic {
        RUNS(put) ->
        if
#ifndef PIECEWISE
        :: IS_ROOT -> BELOW(ENTROPY) = F(KEY)
        :: !IS_ROOT -> S(ENTROPY) = F(KEY)
#else
        :: true
#endif
        fi;
        F(AT) = (IS_FOREIGN -> free_theirs : got)
    }

    /* get_from_root_and_parent: release(parent, &theirs) */
    :: atomic { RUNS(free_theirs) -> T(INSIDE) = CALLS_OUT; F(AT) = back_again }

    /* get_entropy: s->parent_seedings = entropy->seedings */
    :: atomic {
        (RUNS(got) || RUNS(back_again)) ->
        if
        :: !IS_FOREIGN && m[LIBC] == t + 1 -> m[LIBC] = 0
        :: else -> skip
        fi;
        T(INSIDE) = IS_INSIDE;
        if
        :: IS_ROOT -> end_work()
        :: else -> F(AT) = look
        fi
    }

    /* instantiate: !drng_guard_is_mine(guard) */
    /* reseed: !drng_guard_is_mine(guard) */
    :: atomic {
        SEES(look) ->
        see();
        assert(!IN_EPOCH || S(ENTROPY) != 0); /* no seed was wiped before it was used */
        if
#ifndef NO_LOOK_AT_SOURCE
        :: !IN_EPOCH -> F(RESULT) = BUSY; F(AT) = forget
#endif
        :: else -> F(AT) = instantiate
        fi
    }

    /* instantiate: drng_ctr_drbg_instantiate( */
    /* reseed: drng_ctr_drbg_reseed(&s->drbg, entropy.input, additional, time(NULL)) */
    :: atomic { RUNS(instantiate) -> F(KEY) = (IS_FOREIGN -> F(KEY) : S(ENTROPY)); F(AT) = set }
    :: atomic { RUNS(set) -> S(SEED) = F(KEY); S(COUNT) = 1; F(AT) = forget }

    /* end_seeding: drng_wipe(s->entropy, sizeof(s->entropy)) */
    :: atomic { RUNS(forget) -> S(ENTROPY) = 0; F(KEY) = 0; F(AT) = (IS_FOREIGN -> release : released) }

    /* end_seeding: g->source->release(g->source_arg, entropy) */
    :: atomic { RUNS(release) -> T(INSIDE) = CALLS_OUT; F(AT) = released }
    :: atomic {
        RUNS(released) ->
        T(INSIDE) = IS_INSIDE;
        if
        :: F(RESULT) == OK -> F(AT) = counter
        :: else -> end_work()
        fi
    }

    /* ---- Work: a request ---- */
    /* read_constants: *(const volatile uint64_t *)&drbg->reseed_counter */
    :: atomic {
        RUNS(counter) ->
        if
        :: S(COUNT) == 0 -> F(RESULT) = BUSY; end_work()
        :: else -> F(AT) = generate
        fi
    }

    /* output_and_update: m.aes->ctr(drbg->key, m.key_len, drbg->v, out, whole, tail, */
    :: atomic {
        RUNS(generate) ->
        F(KEY) = S(SEED);
        F(V) = S(COUNT);
        F(AT) = (F(LEVEL) > 0 -> hand : LOOKS_FIRST)
    }
    :: atomic { RUNS(hand) -> BELOW(ENTROPY) = F(KEY) + F(V); F(AT) = update }

    /* output_and_update: set_key_and_v(drbg, &m, */
    :: atomic {
        RUNS(update) ->
        S(SEED) = F(KEY);
        S(COUNT) = F(V) + 1;
        assert(F(V) < 7);
        F(AT) = (F(LEVEL) > 0 -> mine : LOOKS_LAST)
    }

    /* ---- Giving it back ---- */
    /* seed_child: drng_guard_give_back(&parent->place, slot, parent->locking, drng_guard_is_mine(guard)) */
    /* drng_root_give_back: drng_guard_give_back(place, &slot->guarded, DRNG_WAITS, drng_guard_is_mine(guard)) */
    :: atomic { SEES(mine) -> see(); F(MINE) = (IN_EPOCH -> IS_MINE : NOT_MINE); F(AT) = back }

    /*
     * The last look. What follows from it is the same step: a child that is forked behind the look holds what its
     * parent holds, since the request has been served.
     */
    /* drng_guard_run: if (drng_guard_is_mine(&guard)) */
    :: atomic {
        SEES(leave) ->
        see();
        F(MINE) = (IN_EPOCH -> IS_MINE : NOT_MINE);
#ifdef NO_LOOK
        F(MINE) = IS_MINE;
#endif
        if
        :: F(MINE) == IS_MINE && F(RESULT) == OK -> put_out(F(KEY), F(V))
        :: else -> assert(F(MINE) != IS_MINE || F(RESULT) == FAILED || T(TOP) > 1)
        fi;
#ifdef EARLY_LOOK
        F(AT) = (F(RESULT) == OK -> LOOKED_FIRST : back)
#else
        F(AT) = LOOKED_FIRST
#endif
    }

    /* drng_guard_give_back: drng_guard_wipe(slot, place->size) */
    /* drng_guard_run: drng_guard_unlock(slot, locking) */
    :: atomic {
        RUNS(back) ->
        if
#if defined(LEFT)
        :: S(MARK) -> wipe_slot()
#elif !defined(NO_WIPE_BACK)
        :: F(MINE) == NOT_MINE -> wipe_slot()
#endif
        :: else -> skip
        fi;
        F(AT) = unhold
    }

    /* drng_unlock: atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self() */
    /* drng_unlock: atomic_store_explicit(&lock->holder, 0, memory_order_relaxed) */
    /* drng_guard_unlock: atomic_store_explicit(&slot->lock.holder, 0, memory_order_release) */
    :: atomic {
        RUNS(unhold) ->
        if
        :: S(HOLDER) == t + 1 || !LOCKS -> S(HOLDER) = 0; F(AT) = unlock
        :: else -> go_on()
        fi
    }

    /* drng_unlock: pthread_mutex_unlock(&lock->mutex) */
    :: atomic { RUNS(unlock) -> S(MUTEX) = 0; go_on() }

    /* The last look of a call that has no slot. */
    /* drng_guard_run_piecewise: if (drng_guard_is_mine(&guard)) */
    :: atomic {
        SEES(bare) ->
        see();
        if
#ifndef NO_LOOK_IN_PIECES
        :: !IN_EPOCH -> F(AT) = begin
#endif
        :: else ->
            if
            :: F(RESULT) == OK -> put_out(F(KEY), 0); put_out(F(V), 0)
            :: else -> assert(T(TOP) > 1)
            fi;
            F(AT) = quit
        fi
    }

    /* drng_guard_run: drng_guard_note(guard.before) */
    /* drng_guard_run_piecewise: drng_guard_note(guard.before) */
    :: atomic { RUNS(quit) -> T(INSIDE) = F(BEFORE); T(ENTERED) = F(ABOVE); end_frame() }

    /* ---- What comes between ---- */
#ifdef ATFORK
    /* before_fork: atomic_store(&drng_fork_page->forked, 1) */
    :: atomic {
        LIVES && !F(FORKS_NOW) && forks_left > 0 ->
        forks_left--;
        F(FORKS_NOW) = 1;
#ifndef RAW_CLONE
        m[FORKED] = 1;
        m[FORKING] = m[GENERATION]
#endif
    }
    :: atomic { LIVES && F(FORKS_NOW) -> F(FORKS_NOW) = 0; make_process(true) }
#else
    :: atomic { LIVES && forks_left > 0 -> forks_left--; make_process(true) }
#endif
    :: atomic { LIVES && copies_left > 0 -> copies_left--; make_process(false) }
    :: atomic {
        LIVES && T(TOP) < DEPTH && signals_left > 0 ->
        signals_left--;
        T(TOP) = T(TOP) + 1;
        F(AT) = enter
    }
#ifdef CANCELLABLE
    /* get_entropy: pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel) */
    :: atomic { RUNS(get) && T(TOP) == 1 -> end_frame() }
#endif
    :: atomic { !runs -> break }
    od
}

/* Every slot has a seed, or those from level 0 on have none. The first process may be a child itself, which has not
 * asked for its generation yet: then none has. */
init
{
    atomic {
        m[LAST] = 1;
        m[NUMBER] = 1;
        select (i : 0 .. LEVELS);
        for (j : 0 .. LEVELS - 1) {
            if
            :: j >= i ->
                m[SLOT(j) + EPOCH] = 1;
                m[SLOT(j) + SEED] = 8 * m[NUMBER];
                m[SLOT(j) + COUNT] = 1;
                m[NUMBER] = m[NUMBER] + 1
            :: else -> skip
            fi
        }
        if
        :: m[GENERATION] = 1
        :: i == LEVELS
        fi;
        for (i : 0 .. THREADS - 1) {
            m[THREAD(i) + TOP] = 1;
            m[THREAD(i) + FRAME(0) + AT] = enter;
        }
        for (i : 0 .. THREADS - 1) {
            run thread(i);
        }
    }
}
