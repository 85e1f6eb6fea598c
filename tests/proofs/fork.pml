/*
 * fork.pml - requests of one generator in processes that fork at any step: no two processes put out a block under the
 * same Key and V, and nobody waits for ever.
 *
 * A process is its memory. A frame is what a thread, or a signal handler on top of it, is doing: each step below is one
 * access to memory that others may come between. The code that a step stands for is named beside it, and
 * tests/system/test_proofs.py compares these names with the code: "function: text".
 *
 * Key and V are a pair of numbers: which seed, and how many requests since. Seed 0 is memory that was wiped. A seed is
 * another number whenever one is taken. What a frame has put out stays, so a block under the same pair is seen.
 *
 * What may happen between any two steps, as often as FORKS, SIGNALS and CANCELS say:
 * - a signal handler forks; its child goes on in the interrupted code, and so does the parent;
 * - a signal handler draws from the same generator;
 * - a thread that may be cancelled ends.
 *
 * KERNEL_WIPES    the kernel wipes pages in a child (MADV_WIPEONFORK); otherwise ids of processes tell them apart
 * RAW_CLONE       clone() makes the children, so that no handler of pthread_atfork() runs in them
 * SAME_ID         a child may have the id of the process that forked it: both are the first of a PID namespace
 * THREADS         1 or 2 threads share the generator, under its lock
 *
 * Protections that can be taken out, and then an error must be found: NO_LOOK_AFTER, NO_EPOCH_OF_SEED, NO_BUSY,
 * MARK_IS_WIPED, FORGET_AFTER_MARK, CANCELLABLE, SIGNALS_WHILE_WIPING, ID_IS_ENOUGH, NO_WIPE.
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
#define SEEDS     16
#define NOBODY    255
#define MOST_COUNT (3 + THREADS + SIGNALS)

mtype = {
    lock, ask, enter, claim_owner, wipe, own, busy, take, has_seed, forget, fill, instantiate, ready, note_epoch,
    counter, generate, update, leave, still, forget_state, clear, clear_again, unlock, apart_ask, apart_seed,
    apart_still, in_child, finished
};

typedef memory {
    /* wiped in a child */
    byte generation;
    byte seed;
    byte count;
    byte entropy;
    byte holder; /* the thread that holds it; 0: nobody */
    /* kept */
    bool is_ready;
    byte under_way; /* the thread that is in the middle of a request; 0: nobody */
    byte epoch;
    byte last_generation;
    byte forking_generation;
    byte owner;
    bool wiping;
    byte owners_generation;
    /* the kernel's */
    byte id;
};

typedef activity {
    bool lives;
    bool waits; /* a frame on top of it runs */
    byte below;
    mtype at;
    mtype back; /* where a call of drng_epoch() returns to */
    byte process;
    byte thread;
    byte got;
    byte next;
    byte epoch;
    byte key;
    byte v;
    bool holds;
    bool masked; /* signals are blocked, and cancellation is disabled */
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

inline put(key_, v_)
{
    assert(key_ != 0); /* no block under memory that was wiped, and no request that fails */
    assert(!put_out[key_ * MOST_COUNT + v_]);
    put_out[key_ * MOST_COUNT + v_] = true;
}

inline wipe_all(p_)
{
    mem[p_].generation = 0;
#ifdef MARK_IS_WIPED
    mem[p_].under_way = 0;
#endif
    mem[p_].seed = 0;
    mem[p_].count = 0;
    mem[p_].entropy = 0;
    mem[p_].holder = 0;
}

inline end_process(p_)
{
    wipe_all(p_);
    mem[p_].is_ready = false;
    mem[p_].under_way = 0;
    mem[p_].epoch = 0;
    mem[p_].last_generation = 0;
    mem[p_].forking_generation = 0;
    mem[p_].owner = 0;
    mem[p_].wiping = false;
    mem[p_].owners_generation = 0;
    mem[p_].id = 0;
}

inline call_epoch(back_)
{
    f[t].back = back_;
    f[t].at = ask;
}

/*
 * The last look: the block is put out, or the request starts over. The look and what follows from it are one step: a
 * child that is forked behind the look holds what its parent holds, since the request has been served.
 */
inline decide()
{
    if
#ifdef NO_LOOK_AFTER
    :: f[t].at == still ->
#else
    :: f[t].at == still && f[t].got == f[t].epoch ->
#endif
        put(f[t].key, f[t].v);
        f[t].at = clear
    :: f[t].at == apart_still && f[t].got == f[t].epoch ->
        put(f[t].key, f[t].v);
        f[t].at = unlock
#ifndef NO_LOOK_AFTER
    :: f[t].at == still && f[t].got != f[t].epoch ->
#ifdef FORGET_AFTER_MARK
        M.under_way = 0;
#endif
        M.seed = 0;
        M.count = 0;
        f[t].at = forget_state
#endif
    :: f[t].at == apart_still && f[t].got != f[t].epoch -> call_epoch(apart_seed)
    fi;
    f[t].got = 0;
    f[t].epoch = 0;
    f[t].key = 0;
    f[t].v = 0
}

inline answer(generation_)
{
    f[t].got = generation_;
    f[t].at = f[t].back;
    f[t].back = 0;
    if
    :: f[t].at == still || f[t].at == apart_still -> decide()
    :: else -> skip
    fi
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
    f[t].back = 0;
    f[t].got = 0;
    f[t].next = 0;
    f[t].epoch = 0;
    f[t].key = 0;
    f[t].v = 0;
    f[t].holds = false;
    f[t].masked = false;
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
    f[to_].below = NOBODY;
    f[to_].at = f[from_].at;
    f[to_].back = f[from_].back;
    f[to_].process = child;
    f[to_].thread = f[from_].thread;
    f[to_].got = f[from_].got;
    f[to_].next = f[from_].next;
    f[to_].epoch = f[from_].epoch;
    f[to_].key = f[from_].key;
    f[to_].v = f[from_].v;
    f[to_].holds = f[from_].holds;
    f[to_].masked = f[from_].masked;
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
    mem[f[t].process].forking_generation = mem[f[t].process].generation; /* before_fork: atomic_store(&forking_generation, */
    mem[child].generation = M.generation;
    mem[child].seed = M.seed;
    mem[child].count = M.count;
    mem[child].entropy = M.entropy;
    mem[child].holder = M.holder;
    mem[child].is_ready = M.is_ready;
    mem[child].under_way = M.under_way;
    mem[child].epoch = M.epoch;
    mem[child].last_generation = M.last_generation;
    mem[child].forking_generation = M.forking_generation;
    mem[child].owner = M.owner;
    mem[child].wiping = M.wiping;
    mem[child].owners_generation = M.owners_generation;
    mem[child].id = child + 1;
#ifdef SAME_ID
    if
    :: mem[child].id = M.id
    :: skip
    fi;
#endif
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

#define RUNS(pc_) (f[t].lives && !f[t].waits && f[t].at == pc_)
#define INTERRUPTIBLE (f[t].lives && !f[t].waits && f[t].at != in_child && !f[t].masked)

#ifdef CANCELLABLE
#define MAY_END true
#else
#define MAY_END (M.holder != f[t].thread)
#endif

proctype frame(byte t)
{
    do
    /* ---- A request ---- */
    /* drng_lock_or_share: is_mine(lock) */
    /* take: pthread_mutex_lock(&lock->mutex) */
    :: atomic {
        RUNS(lock) && (THREADS == 1 || M.holder == 0 || M.holder == f[t].thread) ->
        f[t].holds = (M.holder != f[t].thread);
        M.holder = f[t].thread;
        call_epoch(busy)
    }

    /* enter: *epoch = drng_epoch() */
    /* enter: atomic_load_explicit(&d->under_way, memory_order_relaxed) == self */
    :: atomic {
        RUNS(busy) ->
        f[t].epoch = f[t].got;
        f[t].got = 0;
        if
#ifndef NO_BUSY
        :: M.under_way == f[t].thread -> call_epoch(apart_seed)
#endif
        :: else -> f[t].at = take
        fi
    }

    /* enter: atomic_store_explicit(&d->under_way, self, memory_order_relaxed) */
    :: atomic { RUNS(take) -> M.under_way = f[t].thread; f[t].at = has_seed }

    /* has_seed: d->state == EVP_RAND_STATE_READY && d->epoch == epoch */
    :: atomic {
        RUNS(has_seed) ->
        if
#ifdef NO_EPOCH_OF_SEED
        :: M.is_ready -> f[t].at = counter
#else
        :: M.is_ready && M.epoch == f[t].epoch -> f[t].at = counter
#endif
        :: else -> f[t].at = forget
        fi
    }

    /* restart: drng_drbg_forget(d) */
    :: atomic {
        RUNS(forget) ->
        M.seed = 0;
        M.count = 0;
        M.is_ready = false;
        call_epoch(note_epoch)
    }

    /* drng_drbg_seed_first: d->epoch = drng_epoch() */
    :: atomic {
        RUNS(note_epoch) ->
        M.epoch = f[t].got;
        f[t].got = 0;
        f[t].at = fill
    }

    /* seed_from_own: *seed = (struct seed){d->secrets->entropy, len} */
    :: atomic { RUNS(fill) -> seeds++; assert(seeds < SEEDS); M.entropy = seeds; f[t].at = instantiate }

    /* instantiate_from: drng_ctr_drbg_instantiate( */
    /* instantiate_from: free_seed(d, &seed) */
    :: atomic { RUNS(instantiate) -> M.seed = M.entropy; M.entropy = 0; M.count = 1; f[t].at = ready }

    /* note_seeded: d->state = EVP_RAND_STATE_READY */
    :: atomic {
        RUNS(ready) ->
        M.is_ready = true;
        f[t].at = counter
    }

    /* counter_of: *(const volatile uint64_t *)&drbg->reseed_counter */
    :: atomic {
        RUNS(counter) ->
        f[t].key = 0;
        f[t].v = 0;
        if
        :: M.count == 0 -> f[t].at = leave
        :: else -> f[t].at = generate
        fi
    }

    /* output_and_update: m->aes->ctr(drbg->key, m->key_len, drbg->v, out, whole, tail, */
    :: atomic { RUNS(generate) -> f[t].key = M.seed; f[t].v = M.count; f[t].at = update }

    /* output_and_update: set_key_and_v(drbg, m, */
    :: atomic {
        RUNS(update) ->
        M.seed = f[t].key;
        M.count = f[t].v + 1;
        assert(M.count < MOST_COUNT);
        f[t].at = leave
    }

    /* leave: drng_epoch_is_still(epoch) */
    :: atomic { RUNS(leave) -> call_epoch(still) }
    :: atomic { RUNS(still) -> decide() }

    /* leave: drng_drbg_forget(d) */
    :: atomic { RUNS(forget_state) -> M.is_ready = false; f[t].at = clear_again }

    /* leave: atomic_store_explicit(&d->under_way, 0, memory_order_relaxed) */
    :: atomic { RUNS(clear) -> M.under_way = 0; f[t].at = unlock }
    :: atomic { RUNS(clear_again) -> M.under_way = 0; call_epoch(busy) }

    /* drng_unlock: is_held(&mine.held[i], lock) */
    :: atomic {
        RUNS(unlock) ->
        if
        :: f[t].holds && M.holder == f[t].thread -> M.holder = 0
        :: else -> skip
        fi;
        f[t].holds = false;
        end_frame()
    }

    /* ---- A request in the middle of another ---- */

    /* drng_drbg_generate_apart: epoch = drng_epoch() */
    /* serve: drng_seeding_fill_apart(d->provctx, apart->entropy, entropy_len) */
    :: atomic {
        RUNS(apart_seed) ->
        f[t].epoch = f[t].got;
        f[t].got = 0;
        seeds++;
        assert(seeds < SEEDS);
        f[t].key = seeds;
        f[t].v = 1;
        call_epoch(apart_still)
    }

    /* drng_drbg_generate_apart: drng_epoch_is_still(epoch) */
    :: atomic { RUNS(apart_still) -> decide() }

    /* ---- Which process is this ---- */

#ifdef KERNEL_WIPES
    /* drng_epoch: atomic_load_explicit(&drng_fork_page->generation, memory_order_relaxed) */
    /* enter_wiped: atomic_fetch_add(&last_generation, 1) + 1 */
    :: atomic {
        RUNS(ask) ->
        if
        :: M.generation != 0 -> answer(M.generation)
        :: else -> M.last_generation++; f[t].next = M.last_generation; f[t].at = enter
        fi
    }

    /* enter_wiped: atomic_compare_exchange_strong(&drng_fork_page->generation, &generation, next) */
    :: atomic {
        RUNS(enter) ->
        if
        :: M.generation == 0 -> M.generation = f[t].next
        :: else -> skip
        fi;
        f[t].next = 0;
        answer(M.generation)
    }

    /* in_forked_child: is_still_the_parents() */
    :: atomic {
        RUNS(in_child) ->
        if
        :: M.generation != 0 && M.generation == M.forking_generation -> wipe_all(f[t].process)
        :: else -> skip
        fi;
        end_frame()
    }
#else
    /* enter_by_process_id: (int)getpid() */
    /* enter_by_process_id: atomic_load(&owner) != self */
    :: atomic {
        RUNS(ask) ->
        if
        :: M.owner == M.id && !M.wiping -> answer(M.owners_generation)
        :: else ->
#ifndef SIGNALS_WHILE_WIPING
            f[t].masked = true; /* become_owner: block_signals(&before) */
#endif
            f[t].at = claim_owner
        fi
    }

    /* become_owner: atomic_compare_exchange_weak(&owner, &seen, -self) */
    /* become_owner: sched_yield() */
    :: atomic {
        RUNS(claim_owner) && !(M.owner == M.id && M.wiping) ->
        if
        :: M.owner == M.id -> f[t].masked = false; f[t].at = ask
        :: else -> M.owner = M.id; M.wiping = true; f[t].at = wipe
        fi
    }

    /* become_owner: wipe_all() */
    :: atomic { RUNS(wipe) -> wipe_all(f[t].process); f[t].at = own }

    /* become_owner: atomic_store(&owners_generation, atomic_fetch_add(&last_generation, 1) + 1) */
    /* become_owner: atomic_store(&owner, self) */
    :: atomic {
        RUNS(own) ->
        M.last_generation++;
        M.owners_generation = M.last_generation;
        M.wiping = false;
        f[t].masked = false;
        f[t].at = ask
    }

    /* in_forked_child: atomic_store(&owner, 0) */
    :: atomic {
        RUNS(in_child) ->
#ifndef ID_IS_ENOUGH
        M.owner = 0;
        M.wiping = false;
#endif
        call_epoch(finished)
    }
    :: atomic { RUNS(finished) -> end_frame() }
#endif

    /* ---- What comes between ---- */
    :: atomic { INTERRUPTIBLE && forks_left > 0 -> forks_left--; fork_here() }
    :: atomic { INTERRUPTIBLE && f[t].below == NOBODY && signals_left > 0 -> signals_left--; push_frame(lock) }
    /* note: drng_cancel_disable() */
    :: atomic {
        INTERRUPTIBLE && f[t].below == NOBODY && cancels_left > 0 && MAY_END ->
        cancels_left--;
        end_frame()
    }
    :: atomic { living == 0 -> break }
    od
}

init
{
    atomic {
        mem[0].generation = 1; /* open_once: atomic_store(&drng_fork_page->generation, 1) */
        mem[0].last_generation = 1;
        mem[0].owners_generation = 1;
        mem[0].id = 1;
        mem[0].owner = 1;
        for (i : 0 .. FRAMES - 1) {
            f[i].below = NOBODY;
        }
        for (i : 0 .. THREADS - 1) {
            f[i].lives = true;
            f[i].at = lock;
            f[i].thread = i + 1;
        }
        living = THREADS;
        for (i : 0 .. FRAMES - 1) {
            run frame(i);
        }
    }
}
