/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_guest - a program that does all that programs do with drng, phase by phase, and says how each ended.
 *
 *     sweep_guest drng|builtin [phase=load|first-draw,KILLED,KILLED...]
 *
 * "builtin" is the control: the same program on libcrypto's own generator. The other argument makes it put a filter
 * around itself after that phase, which kills at the calls that are named. A line for each phase goes to standard
 * output when it is over: its name, and hardware, fallback, served (by libcrypto's own), done, or refused and the
 * error's text.
 */

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/conf.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#include "tests/process/calls.h"
#include "tests/process/filter.h"
#include "tests/process/sweep_mark.h"

enum { CONTEXTS = 100, THREADS = 8, KILLED = 16 };

static OSSL_LIB_CTX *libctx;
static OSSL_PROVIDER *provider;
static OSSL_PROVIDER *beside; /* libcrypto's own, for AES */
static bool ours;

static const char *filter_after = "";
static long killed[KILLED];
static unsigned killed_count;

/* ---- Saying it ---- */

/* One write() and no stdio: the next call may be the last. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (len > 0 && write(STDOUT_FILENO, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1) < 0) {
        _exit(1);
    }
}

static const char *why(void)
{
    const char *data = NULL;
    int flags = 0;
    const unsigned long error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags);
    static char text[256];
    if (error == 0) {
        return "no error";
    }
    /* The first is the cause. */
    const char *reason = ERR_reason_error_string(error);
    const bool has_data = (flags & ERR_TXT_STRING) != 0 && data[0] != '\0';
    (void)snprintf(text, sizeof(text), "%s%s%s", reason != NULL ? reason : "", reason != NULL && has_data ? ": " : "",
                   has_data ? data : "");
    ERR_clear_error();
    return text;
}

static const char *source(void)
{
    char *active = NULL;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr("active-source", &active, 0), OSSL_PARAM_construct_end()};
    if (!ours) {
        return "served";
    }
    if (OSSL_PROVIDER_get_params(provider, params) != 1 || active == NULL) {
        return "unknown";
    }
    return strncmp(active, "rd", 2) == 0 ? "hardware" : active;
}

static void end(const char *phase, bool good, const char *result)
{
    sweep_mark("");
    if (good) {
        say("%s: %s\n", phase, result);
    } else {
        say("%s: refused: %s\n", phase, why());
    }
    if (strcmp(phase, "load") == 0 && getenv("SWEEP_NO_FILES") != NULL) {
        const struct rlimit none = {0};
        (void)setrlimit(RLIMIT_NOFILE, &none);
    }
    if (strcmp(phase, filter_after) == 0 && !filter_kill(killed, killed_count)) {
        _exit(1);
    }
}

/* ---- Phases ---- */

static bool draw(void)
{
    unsigned char out[32];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 && RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) == 1;
}

static bool load(void)
{
    const char *folder = getenv("OPENSSL_MODULES");
    if (OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) != 1) {
        return false;
    }
    libctx = OSSL_LIB_CTX_new();
    if (libctx == NULL || (folder != NULL && OSSL_PROVIDER_set_default_search_path(libctx, folder) != 1)) {
        return false;
    }
    /* The module alone is what is looked at: libcrypto's own is loaded before, outside the phase. */
    beside = OSSL_PROVIDER_load(libctx, "default");
    if (beside == NULL) {
        return false;
    }
    if (ours && (RAND_set_DRBG_type(libctx, "CTR-DRBG", "provider=drng", NULL, NULL) != 1 ||
                 RAND_set_seed_source_type(libctx, "DRNG-SEED", "provider=drng") != 1)) {
        return false;
    }
    sweep_mark("load");
    provider = OSSL_PROVIDER_load(libctx, ours ? "drng" : "default");
    return provider != NULL;
}

static bool reseed(void)
{
    return EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0) == 1 && draw();
}

static void child_ends(bool good)
{
    if (!good) {
        say("refused: %s\n", why());
    }
    (void)syscall(SYS_exit_group, good ? 0 : 3);
}

static bool succeeded(pid_t pid)
{
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        return false;
    }
    if (WIFSIGNALED(status)) {
        say("child: killed by signal %d\n", WTERMSIG(status));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool fork_and_draw(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        child_ends(draw() && reseed());
    }
    return succeeded(pid) && draw();
}

static bool clone_and_draw(void)
{
    const pid_t pid = (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
    if (pid == 0) {
        child_ends(draw() && reseed());
    }
    return succeeded(pid) && draw();
}

/* As many as there are, with seeds of their own; all are reseeded when all are made. */
static bool make_contexts(void)
{
    static EVP_RAND_CTX *made[CONTEXTS];
    EVP_RAND *algorithm = EVP_RAND_fetch(libctx, "CTR-DRBG", ours ? "provider=drng" : NULL);
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("cipher", cipher, 0), OSSL_PARAM_construct_end()};
    bool good = algorithm != NULL;
    for (unsigned i = 0; i < CONTEXTS && good; i++) {
        made[i] = EVP_RAND_CTX_new(algorithm, NULL);
        good = made[i] != NULL && EVP_RAND_instantiate(made[i], 0, 0, NULL, 0, params) == 1;
    }
    for (unsigned i = 0; i < CONTEXTS && good; i++) {
        good = EVP_RAND_reseed(made[i], 0, NULL, 0, NULL, 0) == 1;
    }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        EVP_RAND_CTX_free(made[i]);
    }
    EVP_RAND_free(algorithm);
    return good;
}

/* The error queue is the thread's own. */
static void *draw_in_thread(void *failed)
{
    if (draw()) {
        return NULL;
    }
    say("refused: %s\n", why());
    return failed;
}

static bool draw_in_threads(size_t stack_size)
{
    pthread_attr_t attributes;
    bool good = pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, stack_size) == 0;
    for (unsigned i = 0; i < THREADS && good; i++) {
        pthread_t id;
        void *failed = NULL;
        if (pthread_create(&id, &attributes, draw_in_thread, &good) != 0) {
            say("refused: libc has no room for a thread\n");
            return false;
        }
        good = pthread_join(id, &failed) == 0 && failed == NULL;
    }
    return good;
}

static bool unload(void)
{
    bool good = OSSL_PROVIDER_unload(provider) == 1;
    sweep_mark("");
    good = OSSL_PROVIDER_unload(beside) == 1 && good;
    sweep_mark("unload");
    OSSL_LIB_CTX_free(libctx);
    return good;
}

static void read_filter(char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || strncmp(text, "phase", 5) != 0) {
        say("no such argument: %s\n", text);
        _exit(2);
    }
    filter_after = strtok(equals + 1, ",");
    for (const char *name = strtok(NULL, ","); name != NULL && killed_count < KILLED; name = strtok(NULL, ",")) {
        killed[killed_count++] = calls_number(name);
    }
}

int main(int argc, char **argv)
{
    ours = argc > 1 && strcmp(argv[1], "drng") == 0;
    if (argc > 2) {
        read_filter(argv[2]);
    }
    const bool loaded = load();
    if (beside == NULL) {
        return 4; /* libcrypto itself has no room */
    }
    end("load", loaded, "done");
    if (!loaded) {
        return 3;
    }
    sweep_mark("first-draw");
    const bool drawn = draw();
    end("first-draw", drawn, source());
    if (!drawn) {
        return 3;
    }
    static const struct {
        const char *name;
        bool (*work)(void);
    } phases[] = {
        {"draw", draw},
        {"reseed", reseed},
        {"fork", fork_and_draw},
        {"clone", clone_and_draw},
        {"contexts", make_contexts},
    };
    for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
        sweep_mark(phases[i].name);
        const bool good = phases[i].work();
        end(phases[i].name, good, source());
    }
    const char *stack = getenv("SWEEP_STACK");
    sweep_mark("threads");
    const bool threads = draw_in_threads(stack != NULL ? strtoul(stack, NULL, 10) : 1 << 20);
    end("threads", threads, source());
    const bool unloaded = unload();
    end("unload", unloaded, "done");
    sweep_mark("exit");
    return 0;
}
