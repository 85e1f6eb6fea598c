/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.pml - the generators of threads that random_bytes.c keeps: how a draw finds them, the end of a thread against
 * the end of an instance, forks by any thread at any step, and signal handlers on top of any step, whose children go on.
 *
 * Memory of the heap is numbered and never used again, so that an access to what was freed is seen. A fork goes on as
 * the child: the other threads vanish where they are, the locks are zero, and the rest stays. Without the fork it is the
 * parent. A frame is what a thread, or a handler on top of it, is doing. As in fork.pml each step is one access, and
 * tests/system/test_proofs.py compares the names beside it with the code: "function: text".
 *
 * THREADS    that draw from each instance and end; one may free instance 0, when nobody draws any more
 * LATE       as many more, which begin when they like, in the parent or in the child
 * INSTANCES  1 or 2 contexts with random_provider
 * FORKS      0 or 1, by a thread or by a handler
 * SIGNALS    handlers that draw, from an instance of their choice
 *
 * Protections that can be taken out, and then an error must be found: NO_LOCK, ENTERS_IN_CHILD, NO_SECOND_LOOK, NO_NEW_TABLE,
 * NO_WIPE, NO_MEND, ENTRY_STAYS (free_thread() leaves the entry), FREES_OLD (table_for() frees the table it outgrew).
 */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef INSTANCES
#define INSTANCES 1
#endif
#ifndef FORKS
#define FORKS 0
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif

#define ALL    (THREADS + LATE)
#define FRAMES (ALL + SIGNALS)
#define NODES  (ALL * INSTANCES + SIGNALS + 1)  /* 0 is NULL */
#define TABLES (ALL * INSTANCES + SIGNALS + 1)  /* 0 is NULL */
#define NOBODY 255

mtype = {
    at_idle, at_look, at_entry, at_use, at_in, at_lock, at_again, at_make_table, at_got_table,
    at_copy, at_move, at_mine, at_make_node, at_link, at_head, at_back, at_set, at_unlock, at_quit,
    at_ends, at_freeing, at_clear, at_join, at_out, at_free_node, at_free_table, at_closed
};

mtype = { NEW, END, CLOSE }; /* which call of begin() */

typedef node_of {
    bool made;
    bool freed;
    byte next;
    byte link; /* a node, whose next it is, or 0, the instance's head */
    byte table;
    byte instance;
};

typedef table_of {
    bool freed;
    byte outgrown;
    byte size;
    byte entry[INSTANCES];
};

typedef thread_of {
    byte mine;
    byte specific; /* the value of the pthread key */
    byte inside;   /* the generation in which it entered; 0: in no call */
    bool in_allocator;
};

typedef activity {
    bool lives;
    bool waits; /* a handler on top of it runs */
    byte below;
    byte thread;
    mtype at;
    mtype call;
    byte instance;
    byte table;
    byte old;
    byte node;
    byte before;
};

node_of nodes[NODES];
table_of tables[TABLES];
thread_of threads[ALL];
activity f[FRAMES];
byte head[INSTANCES];
byte holder = 0; /* of DRNG_LOCK_THREADS: a thread, from 1 on */
byte generation = 1;
byte linked_in = 1;
byte next_node = 1;
byte next_table = 1;
byte living = 0;
byte forks_left = FORKS;
byte signals_left = SIGNALS;
bool late[ALL];
bool no_more_draws = false;

hidden byte i;
hidden byte j;

#define T threads[f[t].thread]
#define N nodes[f[t].node]
/* A handler starts no thread that draws, so none begins in a child before the call below has ended (guard.h). */
#define IN_NO_OLD_CALL(k_) (!f[k_].waits && (threads[k_].inside == 0 || threads[k_].inside == generation))
#define RUNS(pc_) (f[t].lives && !f[t].waits && f[t].at == pc_)

inline live_node(n_)
{
    assert(n_ != 0 && nodes[n_].made && !nodes[n_].freed)
}

inline live_table(n_)
{
    assert(n_ != 0 && !tables[n_].freed)
}

inline drop(t_)
{
    f[t_].lives = false;
    f[t_].waits = false;
    f[t_].at = 0;
    f[t_].call = 0;
    f[t_].table = 0;
    f[t_].old = 0;
    f[t_].node = 0;
    f[t_].before = 0;
    f[t_].instance = 0;
    living--
}

/* A draw is done: the frame of a handler goes, and a thread does what it likes next. */
inline done()
{
    f[t].table = 0;
    f[t].node = 0;
    f[t].old = 0;
    f[t].call = 0;
    if
    :: f[t].below != NOBODY -> f[f[t].below].waits = false; f[t].below = NOBODY; drop(t)
    :: else -> f[t].at = at_idle
    fi
}

#define DRAWS(t_) (f[t_].at != at_idle && f[t_].at != at_ends && f[t_].call != END)

/* i becomes the first frame that is in a draw, or FRAMES. */
inline somebody_draws()
{
    i = 0;
    do
    :: i < FRAMES && !(f[i].lives && (f[i].below != NOBODY || DRAWS(i))) -> i++
    :: else -> break
    od
}

proctype frame(byte t)
{
    do
    /* ---- What a thread does ---- */
    :: atomic {
        RUNS(at_idle) ->
        if
        :: !no_more_draws && f[t].instance < INSTANCES -> f[t].at = at_look
        :: f[t].instance > 0 || no_more_draws -> f[t].at = at_ends
        :: !no_more_draws && f[t].instance == INSTANCES ->
            somebody_draws();
            if
            :: i == FRAMES -> no_more_draws = true; f[t].call = CLOSE; f[t].at = at_in
            :: else -> skip
            fi
        fi
    }

    /* ---- A draw ---- */
    /* thread_at: const struct table *table = mine */
    :: atomic { RUNS(at_look) -> f[t].table = T.mine; f[t].at = at_entry }

    /* thread_at: table != NULL && index < table->size ? table->entry[index] : NULL */
    :: atomic {
        RUNS(at_entry) ->
        f[t].node = 0;
        if
        :: f[t].table != 0 ->
            live_table(f[t].table);
            if
            :: f[t].instance < tables[f[t].table].size -> f[t].node = tables[f[t].table].entry[f[t].instance]
            :: else -> skip
            fi
        :: else -> skip
        fi;
        f[t].table = 0;
        if
        :: f[t].node != 0 -> f[t].at = at_use
        :: else -> f[t].call = NEW; f[t].at = at_in
        fi
    }

    /* drng_random_bytes: drng_generator_generate(g, buffer, len, strength, false, */
    :: atomic {
        RUNS(at_use) ->
        live_node(f[t].node);
        assert(N.instance == f[t].instance);
        if
        :: f[t].below == NOBODY -> f[t].instance++
        :: else -> skip
        fi;
        done()
    }

    /* ---- begin() ---- */
    /* begin: if (!drng_guard_enter(guard)) */
    :: atomic {
        RUNS(at_in) ->
        if
#ifdef ENTERS_IN_CHILD
        :: T.inside == generation -> assert(f[t].below != NOBODY); done() /* refused */
#else
        :: T.inside != 0 -> assert(f[t].below != NOBODY); done() /* refused */
#endif
        :: else ->
            f[t].before = T.inside;
            T.inside = generation; /* begin: drng_guard_note(DRNG_ALLOCATES) */
            f[t].at = at_lock
        fi
    }

    /* begin: drng_lock(drng_process_lock(DRNG_LOCK_THREADS)) */
    :: atomic {
#ifdef NO_LOCK
        RUNS(at_lock) ->
#else
        RUNS(at_lock) && holder == 0 ->
        holder = f[t].thread + 1;
#endif
        /* begin: linked_in != drng_fork_generation() */
        /* mend_links: (*link)->link = link */
        if
#ifndef NO_MEND
        :: linked_in != generation ->
            for (j : 0 .. INSTANCES - 1) {
                i = 0;
                do
                :: (i == 0 && head[j] != 0) -> nodes[head[j]].link = 0; i = head[j]
                :: (i != 0 && nodes[i].next != 0) -> nodes[nodes[i].next].link = i; i = nodes[i].next
                :: else -> break
                od
            }
            linked_in = generation
#endif
        :: else -> skip
        fi;
        if
        :: f[t].call == NEW -> f[t].at = at_again
        :: else -> f[t].at = at_freeing
        fi
    }

    /* ---- new_thread() ---- */
    /* new_thread: struct drng_thread *thread = thread_at(provctx->threads->index) */
    :: atomic {
        RUNS(at_again) ->
        f[t].node = 0;
        f[t].old = T.mine; /* table_for: struct table *old = mine */
        if
        :: f[t].old != 0 && f[t].instance < tables[f[t].old].size ->
            live_table(f[t].old);
            f[t].node = tables[f[t].old].entry[f[t].instance];
            f[t].table = f[t].old;
            if
#ifndef NO_SECOND_LOOK
            :: f[t].node != 0 -> f[t].at = at_unlock
            :: else -> f[t].at = at_make_node
#else
            :: f[t].at = at_make_node
#endif
            fi
        :: else -> f[t].at = at_make_table
        fi
    }

    /* table_for: calloc(1, sizeof(*table) + size * sizeof(struct drng_thread *)) */
    :: atomic { RUNS(at_make_table) -> assert(!T.in_allocator); T.in_allocator = true; f[t].at = at_got_table }

    /* table_for: pthread_setspecific(key, table) != 0 */
    :: atomic {
        RUNS(at_got_table) ->
        T.in_allocator = false;
        assert(next_table < TABLES);
        f[t].table = next_table;
        next_table++;
        tables[f[t].table].size = f[t].instance + 1;
        T.specific = f[t].table;
        f[t].at = at_copy
    }

    /* table_for: table->entry[i] = old->entry[i] */
    /* With two instances the old table has one entry at most. */
    :: atomic {
        RUNS(at_copy) ->
        f[t].node = 0;
        if
        :: f[t].old != 0 ->
            live_table(f[t].old);
            f[t].node = tables[f[t].old].entry[0];
            tables[f[t].table].entry[0] = f[t].node
        :: else -> skip
        fi;
        f[t].at = at_move
    }

    /* table_for: table->entry[i]->table = table */
    :: atomic {
        RUNS(at_move) ->
        if
#ifndef NO_NEW_TABLE
        :: f[t].node != 0 -> live_node(f[t].node); N.table = f[t].table
#endif
        :: else -> skip
        fi;
        f[t].node = 0;
        f[t].at = at_mine
    }

    /* table_for: mine = table */
    :: atomic {
        RUNS(at_mine) ->
        T.mine = f[t].table;
#ifdef FREES_OLD
        if
        :: f[t].old != 0 -> tables[f[t].old].freed = true
        :: else -> skip
        fi;
#else
        tables[f[t].table].outgrown = f[t].old; /* table_for: table->outgrown = old */
#endif
        f[t].old = 0;
        f[t].at = at_make_node
    }

    /* make_thread: calloc(1, sizeof(*thread)) */
    :: atomic {
        RUNS(at_make_node) ->
        assert(!T.in_allocator);
        T.in_allocator = true;
        f[t].old = 0;
        f[t].at = at_link
    }

    /* make_thread: thread->table = table */
    /* make_thread: thread->next = threads->threads */
    /* make_thread: thread->link = &threads->threads */
    :: atomic {
        RUNS(at_link) ->
        T.in_allocator = false;
        assert(next_node < NODES);
        f[t].node = next_node;
        next_node++;
        N.made = true;
        N.instance = f[t].instance;
        N.table = f[t].table;
        N.next = head[f[t].instance];
        N.link = 0;
        f[t].at = at_head
    }

    /* make_thread: threads->threads = thread */
    :: atomic { RUNS(at_head) -> head[f[t].instance] = f[t].node; f[t].at = at_back }

    /* make_thread: thread->next->link = &thread->next */
    :: atomic {
        RUNS(at_back) ->
        if
        :: N.next != 0 -> live_node(N.next); nodes[N.next].link = f[t].node
        :: else -> skip
        fi;
        f[t].at = at_set
    }

    /* make_thread: table->entry[threads->index] = thread */
    :: atomic {
        RUNS(at_set) ->
        live_table(f[t].table);
        assert(tables[f[t].table].entry[f[t].instance] == 0);
        tables[f[t].table].entry[f[t].instance] = f[t].node;
        f[t].at = at_unlock
    }

    /* ---- end() ---- */
    /* end: drng_unlock(drng_process_lock(DRNG_LOCK_THREADS)) */
    :: atomic {
        RUNS(at_unlock) ->
        if
        :: holder == f[t].thread + 1 -> holder = 0
        :: else -> skip
        fi;
        f[t].at = at_quit
    }

    /* end: drng_guard_note(guard->before) */
    :: atomic {
        RUNS(at_quit) ->
        T.inside = f[t].before;
        f[t].before = 0;
        if
        :: f[t].call == NEW && f[t].node != 0 -> f[t].call = 0; f[t].at = at_use
        :: f[t].call == NEW && f[t].node == 0 -> done() /* refused */
        :: f[t].call == END -> f[t].at = at_free_table
        :: f[t].call == CLOSE -> f[t].at = at_closed
        fi
    }

    /* ---- thread_ends() ---- */
    /* thread_ends: mine = NULL */
    :: atomic {
        RUNS(at_ends) ->
        if
        :: T.specific != 0 ->
            f[t].table = T.specific; /* thread_ends: struct table *table = vtable */
            T.specific = 0;
            T.mine = 0;
            f[t].call = END;
            f[t].at = at_in
        :: else -> drop(t)
        fi
    }

    /* thread_ends: table->entry[i] != NULL */
    /* drng_threads_close: thread != NULL */
    :: atomic {
        RUNS(at_freeing) ->
        f[t].node = 0;
        if
        :: f[t].call == END ->
            live_table(f[t].table);
            for (j : 0 .. INSTANCES - 1) {
                if
                :: f[t].node == 0 && j < tables[f[t].table].size -> f[t].node = tables[f[t].table].entry[j]
                :: else -> skip
                fi
            }
        :: else -> f[t].node = head[0]
        fi;
        if
        :: f[t].node != 0 -> live_node(f[t].node); f[t].at = at_clear
        :: else -> f[t].at = at_unlock
        fi
    }

    /* free_thread: thread->table->entry[thread->provctx->threads->index] = NULL */
    :: atomic {
        RUNS(at_clear) ->
        live_node(f[t].node);
        live_table(N.table);
#ifdef ENTRY_STAYS
        if
        :: f[t].call == END -> tables[N.table].entry[N.instance] = 0
        :: else -> skip
        fi;
#else
        tables[N.table].entry[N.instance] = 0;
#endif
        f[t].at = at_join
    }

    /* free_thread: thread->next->link = thread->link */
    :: atomic {
        RUNS(at_join) ->
        live_node(f[t].node);
        if
        :: N.next != 0 -> live_node(N.next); nodes[N.next].link = N.link
        :: else -> skip
        fi;
        f[t].at = at_out
    }

    /* free_thread: *thread->link = thread->next */
    :: atomic {
        RUNS(at_out) ->
        live_node(f[t].node);
        if
        :: N.link == 0 -> head[N.instance] = N.next
        :: else -> live_node(N.link); nodes[N.link].next = N.next
        fi;
        f[t].at = at_free_node
    }

    /* free_thread: free(thread) */
    :: atomic { RUNS(at_free_node) -> live_node(f[t].node); N.freed = true; f[t].at = at_freeing }

    /* thread_ends: free(table) */
    :: atomic {
        RUNS(at_free_table) ->
        do
        :: f[t].table != 0 ->
            live_table(f[t].table);
            tables[f[t].table].freed = true;
            f[t].table = tables[f[t].table].outgrown
        :: else -> break
        od;
        f[t].call = 0;
        f[t].at = at_ends
    }

    /* drng_threads_close: free(threads) */
    /* Its index is another instance's next, so no thread may have generators there. */
    :: atomic {
        RUNS(at_closed) ->
        assert(head[0] == 0);
        for (j : 0 .. ALL - 1) {
            if
            :: threads[j].mine != 0 -> assert(tables[threads[j].mine].entry[0] == 0)
            :: else -> skip
            fi
        }
        f[t].call = 0;
        f[t].at = at_ends
    }

    /* ---- What comes between ---- */
    :: atomic {
        f[t].lives && !f[t].waits && forks_left > 0 ->
        forks_left--;
        generation++;
        for (j : 0 .. FRAMES - 1) {
            if
            :: f[j].lives && f[j].thread != f[t].thread ->
                if
                :: f[j].below != NOBODY -> f[j].below = NOBODY
                :: else -> skip
                fi;
                threads[f[j].thread].mine = 0;
                threads[f[j].thread].specific = 0;
                threads[f[j].thread].inside = 0;
                threads[f[j].thread].in_allocator = false;
                drop(j)
            :: else -> skip
            fi
        }
#ifndef NO_WIPE
        holder = 0;
#endif
    }
    :: atomic {
        f[t].lives && !f[t].waits && f[t].below == NOBODY && signals_left > 0 && !no_more_draws ->
        signals_left--;
        i = ALL;
        do
        :: f[i].lives -> i++
        :: else -> break
        od;
        f[i].lives = true;
        f[i].below = t;
        f[i].thread = f[t].thread;
        f[i].at = at_look;
        f[t].waits = true;
        living++;
        if
        :: f[i].instance = 0
        :: INSTANCES > 1 -> f[i].instance = INSTANCES - 1
        fi
    }
    :: atomic {
        t >= THREADS && t < ALL && late[t] && living > 0 && !no_more_draws && IN_NO_OLD_CALL(0) && IN_NO_OLD_CALL(1) ->
        late[t] = false;
        f[t].lives = true;
        f[t].at = at_idle;
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
            if
            :: i < ALL -> f[i].thread = i; late[i] = (i >= THREADS)
            :: else -> skip
            fi
        }
        for (i : 0 .. THREADS - 1) {
            f[i].lives = true;
            f[i].at = at_idle;
        }
        living = THREADS;
        for (i : 0 .. FRAMES - 1) {
            run frame(i);
        }
    }
}
