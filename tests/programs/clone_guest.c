/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone_guest.c - the first and only program of a virtual machine that is cloned: tests/support/clones.py runs it.
 *
 *     clone_guest [threads=N] [processes=N] [user=ID] [size=BYTES] [busy]
 *
 * Every thread of every process is a worker, and draws with each kind of generator before the machine is cloned. It
 * says "ready" then, and each worker watches the port for another number of the machine. A clone has another number, so
 * the workers draw from its first instruction on, and say "done" after their last draw. Then they wait for the next
 * clone. With "busy" they never wait: they draw from drng all the time, so that the snapshot falls into its requests.
 *
 * What it says, line by line, on the port (guest_port.h):
 *
 *     # NAME VALUE                                                  what this guest is
 *     @ WORKER MICROSECONDS KIND whole|across BYTES PROTECTION      a draw that ended in a clone
 *     ! MESSAGE                                                     the guest is broken, and ends
 *     ready, done
 *
 * "across": the draw had begun before the machine was cloned. BYTES are the first 16 and the last 16 of what was drawn,
 * in hexadecimal, or "failed". PROTECTION is drng's parameter clone-protection, or "-".
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <linux/random.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#include "tests/programs/guest_port.h"

enum {
    AT_ONCE = 10,   /* rounds of draws without a pause, after the machine was cloned */
    LATER = 30,     /* rounds after that, */
    PAUSE_MS = 10,  /* each after this time: long enough for the kernel to hear of the clone by ACPI */
    END = 16,       /* bytes that are shown of each end of a draw */
    LARGEST = 65536 /* one request of CTR_DRBG */
};

/* Shared by all workers. */
struct board {
    atomic_flag writing;
    atomic_uint ready;
    atomic_uint finished;
};

struct worker {
    unsigned number;
    unsigned machine; /* the number that it has seen last */
    uint64_t cloned;  /* when it saw another one */
    EVP_RAND_CTX *own;
    unsigned char *out;
};

static struct board *board;
static unsigned threads = 1;
static unsigned processes; /* none: the workers are threads of the first process */
static unsigned user;      /* whom the processes belong to, after they have been forked by root */
static size_t size = 2 * END;
static bool busy;

static OSSL_LIB_CTX *builtin; /* where OpenSSL's own generator serves */
static OSSL_PROVIDER *drng;
static const volatile unsigned char *vmclock;

/* ---- What it says ---- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    while (atomic_flag_test_and_set(&board->writing)) {
        (void)sched_yield();
    }
    port_write(line, (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
    atomic_flag_clear(&board->writing);
}

static void check(bool good, const char *what)
{
    if (!good) {
        say("! %s: %s\n", what, ERR_reason_error_string(ERR_peek_last_error()));
        _exit(EXIT_FAILURE);
    }
}

/* ---- Kinds of draws: 1 where the bytes are there ---- */

static int draw_public(const struct worker *worker)
{
    return RAND_bytes(worker->out, (int)size);
}

static int draw_private(const struct worker *worker)
{
    return RAND_priv_bytes(worker->out, (int)size);
}

static int draw_own(const struct worker *worker)
{
    return EVP_RAND_generate(worker->own, worker->out, size, 0, 0, NULL, 0);
}

static int draw_builtin(const struct worker *worker)
{
    return RAND_bytes_ex(builtin, worker->out, size, 0);
}

static int draw_kernel(const struct worker *worker)
{
    return getrandom(worker->out, size, 0) == (ssize_t)size;
}

static const struct kind {
    const char *name;
    int (*draw)(const struct worker *worker);
    bool of_drng;
} kinds[] = {
    {"getrandom", draw_kernel, false}, {"RAND_bytes", draw_public, true}, {"RAND_priv_bytes", draw_private, true},
    {"EVP_RAND", draw_own, true},      {"built-in", draw_builtin, false},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* drng's parameter, as text; "-" where drng has none of that name. */
static const char *parameter(const char *name, char text[32])
{
    const char *word = NULL;
    uint64_t number = 0;
    const OSSL_PARAM *known = OSSL_PARAM_locate_const(OSSL_PROVIDER_gettable_params(drng), name);
    if (known == NULL) {
        return "-";
    }
    const bool is_number = known->data_type == OSSL_PARAM_UNSIGNED_INTEGER || known->data_type == OSSL_PARAM_INTEGER;
    OSSL_PARAM asked[] = {OSSL_PARAM_construct_utf8_ptr(name, (char **)&word, 0), OSSL_PARAM_construct_end()};
    if (is_number) {
        asked[0] = OSSL_PARAM_construct_uint64(name, &number);
    }
    if (OSSL_PROVIDER_get_params(drng, asked) != 1) {
        return "-";
    }
    (void)snprintf(text, 32, "%llu", (unsigned long long)number);
    return is_number ? text : word;
}

/* ---- Workers ---- */

static uint64_t now_us(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void say_draw(const struct worker *worker, const struct kind *kind, bool across, bool drawn)
{
    char hex[4 * END + 1] = "failed";
    char text[32];
    const unsigned long long since = now_us() - worker->cloned;
    for (size_t i = 0; drawn && i < END; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", worker->out[i]);
    }
    for (size_t i = 0; drawn && i < END; i++) {
        (void)snprintf(hex + 2 * (END + i), 3, "%02x", worker->out[size - END + i]);
    }
    say("@ %u %llu %s %s %s %s\n", worker->number, since, kind->name, across ? "across" : "whole", hex,
        kind->of_drng ? parameter("clone-protection", text) : "-");
}

static void note_the_clone(struct worker *worker, unsigned machine)
{
    worker->machine = machine;
    worker->cloned = now_us();
    if (worker->number == 0 && vmclock != NULL) {
        say("# vmclock %llu\n", (unsigned long long)*(const volatile uint64_t *)(vmclock + 16));
    }
}

/* One draw. It is said where it ended in another machine than the worker was started in. */
static void draw(struct worker *worker, const struct kind *kind, unsigned first)
{
    const unsigned before = port_read();
    const bool drawn = kind->draw(worker) == 1;
    const unsigned after = port_read();
    if (after != worker->machine) {
        note_the_clone(worker, after);
    }
    if (after != first) {
        say_draw(worker, kind, before != after, drawn);
    }
}

static void draw_round(struct worker *worker, unsigned first)
{
    for (size_t i = 0; i < KINDS; i++) {
        draw(worker, &kinds[i], first);
    }
}

/* The draw that the snapshot fell into is the last one. */
static void draw_until_cloned(struct worker *worker, unsigned first)
{
    for (size_t i = 0; worker->machine == first; i = (i + 1) % KINDS) {
        if (kinds[i].of_drng) {
            draw(worker, &kinds[i], first);
        }
    }
}

static void wait_for_a_clone(struct worker *worker)
{
    unsigned machine = 0;
    while ((machine = port_read()) == worker->machine) {
        (void)sched_yield();
    }
    note_the_clone(worker, machine);
}

/* From here to the end of what is drawn in the next clone. */
static void draw_in_a_clone(struct worker *worker)
{
    const unsigned first = worker->machine;
    if (busy) {
        draw_until_cloned(worker, first);
    } else {
        wait_for_a_clone(worker);
    }
    for (int round = 0; round < AT_ONCE; round++) {
        draw_round(worker, first);
    }
    for (int round = 0; !busy && round < LATER; round++) {
        const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
        (void)nanosleep(&pause, NULL);
        draw_round(worker, first);
    }
}

/* The last worker says it. */
static void say_once_all_are(atomic_uint *count, const char *word)
{
    const unsigned all = threads * (processes > 0 ? processes : 1);
    if ((atomic_fetch_add(count, 1) + 1) % all == 0) {
        say("%s\n", word);
    }
}

__attribute__((noreturn)) static void *work(void *number)
{
    struct worker worker = {.number = (unsigned)(uintptr_t)number, .machine = port_read(), .out = malloc(LARGEST)};
    EVP_RAND *rand = EVP_RAND_fetch(NULL, "CTR-DRBG", "provider=drng");
    worker.own = EVP_RAND_CTX_new(rand, RAND_get0_primary(NULL));
    EVP_RAND_free(rand);
    check(worker.own != NULL && worker.out != NULL, "no generator of its own");
    for (size_t i = 0; i < KINDS; i++) {
        check(kinds[i].draw(&worker) == 1, kinds[i].name);
    }
    say_once_all_are(&board->ready, "ready");
    for (;;) {
        draw_in_a_clone(&worker);
        say_once_all_are(&board->finished, "done");
    }
}

static void start_threads(unsigned first)
{
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        check(pthread_create(&thread, NULL, work, (void *)(uintptr_t)(first + i)) == 0, "no thread");
    }
}

static void start_workers(void)
{
    for (unsigned i = 0; i < processes; i++) {
        const pid_t child = fork();
        check(child >= 0, "no process");
        if (child == 0) {
            check(setuid(user) == 0, "no such user");
            start_threads(i * threads);
            (void)pause();
        }
    }
    if (processes == 0) {
        start_threads(0);
    }
}

/* ---- The machine ---- */

static void mount_systems(void)
{
    (void)mount("proc", "/proc", "proc", 0, NULL);
    (void)mount("sys", "/sys", "sysfs", 0, NULL);
    (void)mount("dev", "/dev", "devtmpfs", 0, NULL);
}

/*
 * Without RDRAND it would wait for the timing of interrupts: for minutes, where the machine has nothing else to do.
 * What is credited, laid out as struct rand_pool_info, is no secret: the clones of this machine share all that it has.
 */
static void make_the_kernels_generator_ready(void)
{
    int credited[2 + 8] = {256, 8 * sizeof(int)};
    const int file = open("/dev/random", O_RDWR | O_CLOEXEC);
    check(ioctl(file, RNDADDENTROPY, credited) == 0, "RNDADDENTROPY");
    (void)close(file);
}

static void load_modules(void)
{
    DIR *folder = opendir("/modules");
    const struct dirent *entry = NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (entry->d_name[0] != '.') {
            check(syscall(SYS_finit_module, file, "", 0) == 0, entry->d_name);
        }
        (void)close(file);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

static void map_vmclock(void)
{
    const int file = open("/dev/vmclock0", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
        check(page != MAP_FAILED, "/dev/vmclock0 cannot be mapped");
        vmclock = page;
        say("# vmclock %llu\n", (unsigned long long)*(const volatile uint64_t *)(vmclock + 16));
    }
    (void)close(file);
}

static void make_board(void)
{
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || !port_open()) {
        _exit(EXIT_FAILURE);
    }
}

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        unsigned value = 0;
        if (strcmp(argv[i], "busy") == 0) {
            busy = true;
        } else if (sscanf(argv[i], "threads=%u", &value) == 1) {
            threads = value;
        } else if (sscanf(argv[i], "processes=%u", &value) == 1) {
            processes = value;
        } else if (sscanf(argv[i], "user=%u", &value) == 1) {
            user = value;
        } else if (sscanf(argv[i], "size=%u", &value) == 1 && value >= 2 * END && value <= LARGEST) {
            size = value;
        } else {
            check(false, argv[i]);
        }
    }
}

/* The first draw is made here, as a server's is before it makes its workers. */
static void open_generators(void)
{
    char text[32];
    unsigned char bytes[END];
    check(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1, "openssl.cnf");
    check(RAND_bytes(bytes, sizeof(bytes)) == 1 && RAND_priv_bytes(bytes, sizeof(bytes)) == 1, "no random bytes");
    EVP_RAND_CTX *served[] = {RAND_get0_primary(NULL), RAND_get0_public(NULL), RAND_get0_private(NULL)};
    for (size_t i = 0; i < 3; i++) {
        const EVP_RAND *rand = EVP_RAND_CTX_get0_rand(served[i]);
        const char *provider = OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(rand));
        check(strcmp(provider, "drng") == 0, provider);
    }
    drng = OSSL_PROVIDER_load(NULL, "drng");
    check(drng != NULL, "drng");
    builtin = OSSL_LIB_CTX_new();
    check(builtin != NULL && RAND_bytes_ex(builtin, bytes, sizeof(bytes), 0) == 1, "OpenSSL's own generator");
    const EVP_RAND *rand = EVP_RAND_CTX_get0_rand(RAND_get0_public(builtin));
    check(strcmp(OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(rand)), "default") == 0,
          "the control is not the control");
    say("# active-source %s\n", parameter("active-source", text));
    say("# disabled-reason %s\n", parameter("disabled-reason", text));
}

int main(int argc, char **argv)
{
    mount_systems();
    make_board();
    say("# booted yes\n");
    read_arguments(argc, argv);
    make_the_kernels_generator_ready();
    load_modules();
    map_vmclock();
    open_generators();
    start_workers();
    for (;;) {
        (void)pause();
    }
}
