/*
 * fork.pml - requests of one generator in processes that fork at any step: no two processes put out a block under the
 * same Key and V, no two threads use one state at once, and nobody waits for ever.
 *
 * A process is its memory. A frame is what a thread, or a signal handler on top of it, is doing: each step below is one
 * access to memory that others may come between. The code that a step stands for is named beside it, and
 * tests/system/test_proofs.py compares these names with the code: "function: text".
 *
 * Key and V are a pair of numbers: which seed, and how many requests since. Seed 0 is memory that was wiped. A seed is
 * another number whenever one is taken. What a frame has put out stays, so a block under the same pair is seen. A
 * generator has a slot; a handler in a child may give it another one.
 *
 * What may happen between any two steps, as often as FORKS, SIGNALS and CANCELS say:
 * - a signal handler forks; its child goes on in the interrupted code, and so does the parent. Other threads and
 *   handlers of the parent come between the handler before the fork and the fork itself;
 * - a signal handler draws from the same generator;
 * - a thread is cancelled while its source of seeds is at work.
 *
 * KERNEL_WIPES    the kernel wipes pages in a child (MADV_WIPEONFORK); otherwise the handler of pthread_atfork() does
 * NEW             the first process is a child itself, which has not asked for its generation yet
 * RAW_CLONE       clone() makes the children, so that no handler of pthread_atfork() runs in them
 * THREADS         1 or 2 threads share the generator, under its lock
 *
 * Protections that can be taken out, and then an error must be found: NO_LOOK_AFTER, NO_START_OVER, NO_REFUSAL,
 * SAME_SLOT, CANCELLABLE, NO_WIPE; and two defects that were: SHARES, of 0.2.0, where a handler shared a lock that its
 * thread held, and the mutex was given back before the note of who holds it went; and BY_GENERATION, where a child was
 * told by the generation that its parent had before the fork.
 */

#ifndef FORKS
#define FORKS 1
#endif
#ifndef SIGNALS
#define SIGNALS 1
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef THREADS
#define THREADS 1
#endif

#define PROCESSES (1 + FORKS)
#define FRAMES    (THREADS + SIGNALS + 3 * FORKS)
#define SLOTS     (1 + SIGNALS)
#define SEEDS     16
#define NOBODY    255
#define MOST_COUNT (3 + THREADS + SIGNALS)

mtype = {
    enter, note, begin, again, replace, pick, take, hold, fresh, wipe, stamp, has_seed, fill, instantiate, counter,
    generate, update, release, give, leave, in_child
};

typedef place_of {
    /* wiped in a child */
    byte mutex;  /* the thread that has it; 0: nobody */
    byte holder; /* the thread that has noted that it has it */
    byte epoch;
    byte generation;
    byte seed;
    byte count;
    byte entropy;
};

typedef memory {
    /* wiped in a child */
    byte generation;
    byte forked;
    place_of slot[SLOTS];
    /* kept */
    byte inside[THREADS + 1]; /* by thread: the generation in which it entered; 0: it is in no call */
    byte place;               /* the generator's slot */
    byte slots;               /* how many are in use */
    byte last_generation;
    byte forking_generation; /* with BY_GENERATION */
};

typedef activity {
    bool lives;
    bool waits; /* a frame on top of it runs */
    bool forks; /* it is between the handlers of its fork */
    byte below;
    mtype at;
    byte process;
    byte thread;
    byte before; /* what the thread had noted */
    byte mine;   /* the generation of this attempt */
    byte epoch;
    byte at_slot;
    byte key;
    byte v;
    bool shares;
};

memory mem[PROCESSES];
activity f[FRAMES];
byte processes = 1;
byte seeds = 0;
byte forks_left = FORKS;
byte signals_left = SIGNALS;
byte cancels_left = CANCELS;
byte living = 0;
bool put_out[SEEDS * MOST_COUNT];

/* Of one step each, so they are no part of a state. */
hidden byte i;
hidden byte top;
hidden byte child;

#define M mem[f[t].process]
#define S M.slot[f[t].at_slot]
#define NOTED M.inside[f[t].thread]

inline wipe_slot(p_, s_)
{
    mem[p_].slot[s_].mutex = 0;
    mem[p_].slot[s_].holder = 0;
    mem[p_].slot[s_].epoch = 0;
    mem[p_].slot[s_].generation = 0;
    mem[p_].slot[s_].seed = 0;
    mem[p_].slot[s_].count = 0;
    mem[p_].slot[s_].entropy = 0
}

inline wipe_all(p_)
{
    mem[p_].generation = 0;
    mem[p_].forked = 0;
    for (i : 0 .. SLOTS - 1) {
        wipe_slot(p_, i)
    }
}

/* drng_fork_enter: atomic_fetch_add(&last_generation, 1) + 1 */
/* drng_fork_enter: atomic_compare_exchange_strong(&drng_fork_page->generation, &generation, next) */
inline ask()
{
    if
    :: M.generation == 0 -> M.last_generation++; M.generation = M.last_generation
    :: else -> skip
    fi
}

inline end_process(p_)
{
    wipe_all(p_);
    for (i : 0 .. THREADS) {
        mem[p_].inside[i] = 0
    }
    mem[p_].place = 0;
    mem[p_].slots = 0;
    mem[p_].last_generation = 0;
    mem[p_].forking_generation = 0
}

/* What nobody looks at any more is zero, so that states which differ in nothing else are one. */
inline end_frame()
{
    living--;
    if
    :: f[t].below != NOBODY -> f[f[t].below].waits = false
    :: else -> skip
    fi;
    f[t].lives = false;
    f[t].below = NOBODY;
    f[t].at = 0;
    f[t].before = 0;
    f[t].mine = 0;
    f[t].epoch = 0;
    f[t].at_slot = 0;
    f[t].key = 0;
    f[t].v = 0;
    f[t].shares = false;
    f[t].forks = false;
    f[t].thread = 0;
    i = 0;
    do
    :: i < FRAMES && !(f[i].lives && f[i].process == f[t].process) -> i++
    :: else -> break
    od;
    if
    :: i == FRAMES -> end_process(f[t].process)
    :: else -> skip
    fi;
    f[t].process = 0
}

inline copy_frame(to_, from_)
{
    f[to_].lives = true;
    f[to_].waits = f[from_].waits;
    f[to_].forks = false;
    f[to_].below = NOBODY;
    f[to_].at = f[from_].at;
    f[to_].process = child;
    f[to_].thread = f[from_].thread;
    f[to_].before = f[from_].before;
    f[to_].mine = f[from_].mine;
    f[to_].epoch = f[from_].epoch;
    f[to_].at_slot = f[from_].at_slot;
    f[to_].key = f[from_].key;
    f[to_].v = f[from_].v;
    f[to_].shares = f[from_].shares;
    living++;
}

inline find_free(i_)
{
    i_ = 0;
    do
    :: i_ < FRAMES && f[i_].lives -> i_++
    :: else -> break
    od;
    assert(i_ < FRAMES);
}

/* A handler on top of frame t: at_ is where it begins. */
inline push_frame(at_)
{
    find_free(i);
    f[i].lives = true;
    f[i].below = t;
    f[i].at = at_;
    f[i].process = f[t].process;
    f[i].thread = f[t].thread;
    f[t].waits = true;
    living++;
}

/* The child has the frames of the thread that forked, and none of another thread. */
inline fork_here()
{
    child = processes;
    processes++;
    mem[child].generation = M.generation;
    mem[child].forked = M.forked;
    for (i : 0 .. SLOTS - 1) {
        mem[child].slot[i].mutex = M.slot[i].mutex;
        mem[child].slot[i].holder = M.slot[i].holder;
        mem[child].slot[i].epoch = M.slot[i].epoch;
        mem[child].slot[i].generation = M.slot[i].generation;
        mem[child].slot[i].seed = M.slot[i].seed;
        mem[child].slot[i].count = M.slot[i].count;
        mem[child].slot[i].entropy = M.slot[i].entropy
    }
    for (i : 0 .. THREADS) {
        mem[child].inside[i] = M.inside[i]
    }
    mem[child].place = M.place;
    mem[child].slots = M.slots;
    mem[child].last_generation = M.last_generation;
    mem[child].forking_generation = M.forking_generation;
#if defined(KERNEL_WIPES) && !defined(NO_WIPE)
    wipe_all(child); /* kernel_wipes: madvise(memory, size, MADV_WIPEONFORK) == 0 */
#endif
    find_free(i);
    copy_frame(i, t);
    top = i;
    if
    :: f[t].below != NOBODY ->
        find_free(i);
        copy_frame(i, f[t].below);
        f[top].below = i;
        assert(f[f[t].below].below == NOBODY)
    :: else -> skip
    fi;
#ifndef RAW_CLONE
    /* The handler of pthread_atfork() runs in the child before fork() returns there. */
    find_free(i);
    f[i].lives = true;
    f[i].below = top;
    f[i].at = in_child;
    f[i].process = child;
    f[i].thread = f[t].thread;
    f[top].waits = true;
    living++;
#endif
}

/* How in_child tells memory that nobody has wiped yet. */
#ifdef BY_GENERATION
#define NOTE_FORK M.forking_generation = M.generation
#define IS_COPY   (M.generation != 0 && M.generation == M.forking_generation)
#else
#define NOTE_FORK M.forked = 1
#define IS_COPY   (M.forked != 0)
#endif

#define RUNS(pc_) (f[t].lives && !f[t].waits && !f[t].forks && f[t].at == pc_)
#define INTERRUPTIBLE (f[t].lives && !f[t].waits && f[t].at != in_child)

proctype frame(byte t)
{
    do
    /* ---- Entering ---- */
    /* drng_guard_enter: guard->before = drng_inside */
    /* drng_guard_enter: guard->before.generation == drng_fork_generation() */
    :: atomic {
        RUNS(enter) ->
        f[t].before = NOTED;
        ask();
        if
#if !defined(NO_REFUSAL) && !defined(SHARES)
        :: f[t].before == M.generation -> end_frame() /* refused, and nothing is put out */
        :: else -> f[t].at = note
#else
        :: f[t].at = note
#endif
        fi
    }

    /* drng_guard_begin: guard->generation = drng_fork_generation() */
    :: atomic { RUNS(note) -> ask(); f[t].mine = M.generation; f[t].at = begin }

    /* drng_guard_begin: drng_inside = (struct drng_inside){.generation = guard->generation} */
    :: atomic { RUNS(begin) -> NOTED = f[t].mine; f[t].at = again }

    /* drng_guard_begin: guard->epoch = drng_epoch() */
    /* drng_guard_begin: drng_fork_generation() != guard->generation */
    :: atomic {
        RUNS(again) ->
        ask();
        f[t].epoch = M.generation;
        if
        :: M.generation != f[t].mine -> f[t].at = note
        :: else -> f[t].at = replace
        fi
    }

    /* ---- Taking the slot ---- */
    /* drng_guard_take: below != 0 && below != guard->generation */
    /* drng_guard_replace: old->generation == guard->generation */
    /* drng_guard_replace: point_to(place, slot) */
    :: atomic {
        RUNS(replace) ->
#if !defined(SAME_SLOT)
        if
        :: f[t].before != 0 && f[t].before != f[t].mine && M.slot[M.place].generation != f[t].mine ->
            assert(M.slots < SLOTS);
            M.place = M.slots;
            M.slots++;
            M.slot[M.place].generation = f[t].mine
        :: else -> skip
        fi;
#endif
        f[t].at = pick
    }

    /* drng_guard_take: struct drng_guarded *slot = drng_place_slot(place, drng_fork_token()) */
    /* drng_guard_take: drng_fork_generation() != guard->generation */
    :: atomic {
        RUNS(pick) ->
        f[t].at_slot = M.place;
        ask();
        if
        :: M.generation != f[t].mine -> f[t].at = leave
        :: else -> f[t].at = take
        fi
    }

    /* drng_lock: atomic_load_explicit(&lock->holder, memory_order_relaxed) == self */
    /* drng_lock: pthread_mutex_lock(&lock->mutex) */
    :: atomic {
        RUNS(take) && (THREADS == 1 || S.mutex == 0 || S.holder == f[t].thread) ->
        if
#ifdef SHARES
        :: THREADS > 1 && S.holder == f[t].thread -> f[t].shares = true; f[t].at = fresh
#else
        :: THREADS > 1 && S.holder == f[t].thread -> f[t].at = leave
#endif
        :: else -> S.mutex = f[t].thread; f[t].at = hold
        fi
    }

    /* drng_lock: atomic_store_explicit(&lock->holder, self, memory_order_relaxed) */
    :: atomic { RUNS(hold) -> S.holder = f[t].thread; f[t].at = fresh }

    /* drng_guard_take: slot->epoch == guard->epoch */
    /* drng_guard_start_over: drng_epoch() != guard->epoch */
    :: atomic {
        RUNS(fresh) ->
        ask();
        if
#ifdef NO_START_OVER
        :: f[t].at = has_seed
#else
        :: S.epoch == f[t].epoch -> f[t].at = has_seed
        :: S.epoch != f[t].epoch && M.generation == f[t].epoch -> f[t].at = wipe
        :: S.epoch != f[t].epoch && M.generation != f[t].epoch -> f[t].key = 0; f[t].at = release
#endif
        fi
    }

    /* drng_guard_start_over: drng_guard_wipe(slot, size) */
    :: atomic { RUNS(wipe) -> S.seed = 0; S.count = 0; S.entropy = 0; f[t].at = stamp }

    /* drng_guard_start_over: slot->generation = guard->generation */
    /* drng_guard_start_over: slot->epoch = guard->epoch */
    :: atomic { RUNS(stamp) -> S.generation = f[t].mine; S.epoch = f[t].epoch; f[t].at = has_seed }

    /* ---- The request ---- */
    /* has_seed: s->drbg.reseed_counter != 0 */
    :: atomic {
        RUNS(has_seed) ->
        if
        :: S.count != 0 -> f[t].at = counter
        :: else -> f[t].at = fill
        fi
    }

    /* get_entropy: .slot = s->entropy */
    /* get_entropy: g->source->get(g->source_arg, guard, entropy) */
    :: atomic { RUNS(fill) -> seeds++; assert(seeds < SEEDS); S.entropy = seeds; f[t].at = instantiate }

    /* instantiate: drng_ctr_drbg_instantiate( */
    /* instantiate: end_seeding(g, s, guard, &entropy, result) */
    :: atomic { RUNS(instantiate) -> S.seed = S.entropy; S.entropy = 0; S.count = 1; f[t].at = counter }

    /* read_constants: *(const volatile uint64_t *)&drbg->reseed_counter */
    :: atomic {
        RUNS(counter) ->
        f[t].key = 0;
        f[t].v = 0;
        if
        :: S.count == 0 -> f[t].at = release
        :: else -> f[t].at = generate
        fi
    }

    /* output_and_update: m->aes->ctr(drbg->key, m->key_len, drbg->v, out, whole, tail, */
    :: atomic { RUNS(generate) -> f[t].key = S.seed; f[t].v = S.count; f[t].at = update }

    /* output_and_update: set_key_and_v(drbg, m, */
    :: atomic {
        RUNS(update) ->
        S.seed = f[t].key;
        S.count = f[t].v + 1;
        assert(S.count < MOST_COUNT);
        f[t].at = release
    }

    /* ---- Giving it back ---- */
    /* drng_unlock: atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self() */
    /* drng_unlock: atomic_store_explicit(&lock->holder, 0, memory_order_relaxed) */
    :: atomic {
        RUNS(release) ->
        if
        :: f[t].shares || S.holder != f[t].thread -> f[t].shares = false; f[t].at = leave
        :: else ->
#ifdef SHARES
            S.mutex = 0; /* before the note goes */
#else
            S.holder = 0;
#endif
            f[t].at = give
        fi
    }

    /* drng_unlock: pthread_mutex_unlock(&lock->mutex) */
    :: atomic {
        RUNS(give) ->
#ifdef SHARES
        if
        :: S.holder == f[t].thread -> S.holder = 0
        :: else -> skip
        fi;
#else
        S.mutex = 0;
#endif
        f[t].at = leave
    }

    /*
     * The last look: the block is put out, or the request starts over. The look and what follows from it are one step: a
     * child that is forked behind the look holds what its parent holds, since the request has been served.
     */
    /* drng_guard_leave: drng_epoch() == guard->epoch */
    :: atomic {
        RUNS(leave) ->
        ask();
        if
#ifdef NO_LOOK_AFTER
        :: true ->
#else
        :: M.generation == f[t].epoch && f[t].mine == M.generation ->
#endif
            if
            :: f[t].key != 0 ->
                assert(!put_out[f[t].key * MOST_COUNT + f[t].v]);
                put_out[f[t].key * MOST_COUNT + f[t].v] = true
            :: else -> assert(f[t].below != NOBODY) /* only a handler's request may fail */
            fi;
            NOTED = f[t].before;
            end_frame()
#ifndef NO_LOOK_AFTER
        :: else -> f[t].key = 0; f[t].v = 0; f[t].epoch = 0; f[t].mine = 0; f[t].at = note
#endif
        fi
    }

    /* in_forked_child: atomic_load(&drng_fork_page->forked) == 0 */
    :: atomic {
        RUNS(in_child) ->
        if
        :: IS_COPY -> wipe_all(f[t].process)
        :: else -> skip
        fi;
        end_frame()
    }

    /* ---- What comes between ---- */
    /* The handler before the fork runs first; other threads and handlers come between it and the fork. */
    /* before_fork: atomic_store(&drng_fork_page->forked, 1) */
    :: atomic {
        INTERRUPTIBLE && !f[t].forks && forks_left > 0 ->
        forks_left--;
        f[t].forks = true;
#ifndef RAW_CLONE
        NOTE_FORK;
#endif
    }
    :: atomic { INTERRUPTIBLE && f[t].forks -> f[t].forks = false; fork_here() }
    :: atomic { INTERRUPTIBLE && f[t].below == NOBODY && signals_left > 0 -> signals_left--; push_frame(enter) }
#ifdef CANCELLABLE
    /* get_entropy: pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel) */
    :: atomic { RUNS(fill) && f[t].below == NOBODY && cancels_left > 0 -> cancels_left--; end_frame() }
#endif
    :: atomic { living == 0 -> break }
    od
}

init
{
    atomic {
#ifndef NEW
        mem[0].generation = 1; /* open_once: atomic_store(&drng_fork_page->generation, 1) */
#endif
        mem[0].last_generation = 1;
        mem[0].slots = 1;
        for (i : 0 .. FRAMES - 1) {
            f[i].below = NOBODY;
        }
        for (i : 0 .. THREADS - 1) {
            f[i].lives = true;
            f[i].at = enter;
            f[i].thread = i + 1;
        }
        living = THREADS;
        for (i : 0 .. FRAMES - 1) {
            run frame(i);
        }
    }
}
