/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps copies of a virtual machine apart, as an operator sees it: the provider on the scripted CPU. */

#include <endian.h>
#include <stdalign.h>
#include <string.h>

#include <openssl/rand.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/state/clone.h"
#include "provider/observe/report.h"
#include "provider/observe/stats.h"
#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static alignas(4096) uint8_t page[4096];
static struct drng_vmclock *const device = (struct drng_vmclock *)(void *)page;

static OSSL_LIB_CTX *libctx; /* of the case that runs */

/* A process that has seen nothing yet, in or out of a virtual machine, with or without its clock device. */
static void on_machine(scripted_behaviour *rdseed, scripted_behaviour *rdrand, const char *keys, bool virtual_machine,
                       bool with_device)
{
    OSSL_LIB_CTX_free(libctx);
    scripted_reset(rdseed, rdrand);
    memset(page, 0, sizeof(page));
    device->magic = htole32(DRNG_VMCLOCK_MAGIC);
    device->size = htole32(sizeof(page));
    device->version = htole16(DRNG_VMCLOCK_VERSION);
    scripted_vmclock = with_device ? device : NULL;
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
    drng_process.machine.instructions[DRNG_RDRAND] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND]};
    drng_process.machine.evidence.cpu.hypervisor = virtual_machine;
    libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
}

/* In the parameters, and in the counters that drng-status reads. */
static bool protection_is(const char *name, const char *reason)
{
    return strcmp(evp_text(libctx, "clone-protection"), name) == 0 &&
           strcmp(drng_clone_protections[drng_stats.head->clone_protection], name) == 0 &&
           strstr(drng_stats.head->clone_reason, reason) != NULL;
}

static bool draw(void)
{
    unsigned char out[16];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1;
}

static uint64_t words_of_a_request(void)
{
    CU_ASSERT_TRUE(draw());
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_TRUE(draw());
    return scripted_rdrand.executions - before;
}

/* ---- The words ---- */

enum { DRY_REQUESTS = 64 };

/* Announced, and never there: after some requests that asked in vain it is the kernel that serves, and drng says so. */
UNIT_TEST("an instruction that never answers protects nobody")
{
    on_machine(scripted_dry, scripted_dry, "", true, false);
    for (unsigned i = 0; i < DRY_REQUESTS; i++) {
        CU_ASSERT_TRUE(draw());
    }
    const uint64_t counted = evp_counter(libctx, "kernel-words");
    CU_ASSERT_EQUAL(words_of_a_request(), 0);
    CU_ASSERT_EQUAL(evp_counter(libctx, "kernel-words"), counted + 2);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "clone-protection"), "kernel");
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_TRUE(protection_is("kernel", "no instruction gives words"));

    /* It answers again, and is heard with the next seed. */
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "clone-protection"), "instruction");
}

/* ---- The counter ---- */

UNIT_TEST("where the machine tells requests take no words")
{
    on_machine(scripted_good, scripted_good, "", true, true);
    CU_ASSERT_TRUE(protection_is("counter", "vmclock"));
    CU_ASSERT_EQUAL(drng_stats.head->virtual_machine, 1);
    CU_ASSERT_EQUAL(words_of_a_request(), 0);

    on_machine(scripted_good, scripted_good, "request_mixing = yes\n", true, true);
    CU_ASSERT_TRUE(protection_is("counter", "vmclock"));
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
}

/* The host's word adds reseeds, and leaves nothing out. */
UNIT_TEST("a confidential guest takes words all the same")
{
    drng_process.machine.evidence.cpu.confidential = true;
    on_machine(scripted_good, scripted_good, "", true, true);
    CU_ASSERT_TRUE(protection_is("counter", "vmclock"));
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
    device->disruption_marker = htole64(1);
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 2);

    on_machine(scripted_good, scripted_good, "request_mixing = no\n", true, true);
    CU_ASSERT_EQUAL(words_of_a_request(), 0);
    drng_process.machine.evidence.cpu.confidential = false;
}

/* By the instruction, whatever the kernel has. */
UNIT_TEST("a copy seeds before its next byte")
{
    on_machine(scripted_good, scripted_good, "fallback = no\n", true, true);
    CU_ASSERT_TRUE(draw());
    const uint64_t before = evp_counter(libctx, "seeds-rdseed");
    device->disruption_marker = htole64(1);
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdseed"), before + 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 2); /* public, and the primary that seeds it */
    CU_ASSERT_EQUAL(scripted_waits, 0);
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdseed"), before + 1);
}

UNIT_TEST("if the device stops requests take words again")
{
    on_machine(scripted_good, scripted_good, "", true, true);
    CU_ASSERT_EQUAL(words_of_a_request(), 0);
    device->sequence = htole32(1);
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 2);
    CU_ASSERT_TRUE(protection_is("instruction", "fresh word"));

    /* It stays so. */
    device->sequence = htole32(2);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
}

static uint64_t words_of_a_seed(EVP_RAND_CTX *rand)
{
    unsigned char out[16];
    const uint64_t before = scripted_rdseed.executions;
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    return scripted_rdseed.executions - before;
}

/* The seed source starts over, with its start-up tests. */
UNIT_TEST("a copy draws a key of its own")
{
    on_machine(scripted_good, scripted_good, "", true, true);
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
    const uint64_t key = DRNG_CONDITIONER_KEY_LEN / sizeof(uint64_t);
    (void)words_of_a_seed(rand);
    const uint64_t later = words_of_a_seed(rand);
    device->disruption_marker = htole64(1);
    CU_ASSERT_EQUAL(words_of_a_seed(rand), DRNG_STARTUP_WORDS + key + later);
    CU_ASSERT_EQUAL(words_of_a_seed(rand), later);
    EVP_RAND_CTX_free(rand);
}

/* RDRAND is drng's own: two copies of a child of its must not draw the same. */
UNIT_TEST("children of RDRAND take words")
{
    unsigned char out[16];
    on_machine(scripted_good, scripted_good, "", true, false);
    EVP_RAND_CTX *parent = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    EVP_RAND_CTX *child = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    CU_ASSERT_TRUE_FATAL(parent != NULL && child != NULL);
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(scripted_rdrand.executions - before, 1);
    CU_ASSERT_TRUE(protection_is("instruction", "fresh word"));
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
}

/* What is reported holds for every generator that lives. */
UNIT_TEST("a foreign parent protects from nothing")
{
    on_machine(scripted_good, scripted_good, "", true, true);
    EVP_RAND_CTX *parent = evp_rand(libctx, "TEST-RAND", "provider=default", NULL);
    CU_ASSERT_TRUE(protection_is("counter", "vmclock"));
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", parent);
    EVP_RAND_CTX *grandchild = evp_rand(libctx, "CTR-DRBG", "provider=drng", child);
    CU_ASSERT_TRUE_FATAL(parent != NULL && child != NULL && grandchild != NULL);
    CU_ASSERT_TRUE(protection_is("none", "another provider"));
    EVP_RAND_CTX_free(grandchild);
    CU_ASSERT_TRUE(protection_is("none", "another provider"));
    EVP_RAND_CTX_free(child);
    CU_ASSERT_TRUE(protection_is("counter", "vmclock"));
    EVP_RAND_CTX_free(parent);
}

/* The kernel's bytes may be those of every other copy. */
UNIT_TEST("without instructions a copy waits for the kernel")
{
    on_machine(scripted_dry, scripted_dry, "", true, true);
    CU_ASSERT_TRUE(draw());
    const uint64_t before = scripted_clock_ns;
    const unsigned waits = scripted_waits;
    device->disruption_marker = htole64(1);
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_TRUE(scripted_clock_ns - before >= DRNG_CLONE_KERNEL_NS);
    CU_ASSERT_TRUE(scripted_waits > waits);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-fallback"), 2);

    on_machine(scripted_dry, scripted_good, "source = rdrand\nfallback = no\n", true, true);
    CU_ASSERT_TRUE(draw());
    scripted_rdrand.behaviour = scripted_dry;
    device->disruption_marker = htole64(1);
    CU_ASSERT_FALSE(draw());
}

/* ---- Words ---- */

UNIT_TEST("without a device a word of any instruction protects")
{
    on_machine(scripted_good, scripted_good, "", true, false);
    CU_ASSERT_TRUE(protection_is("instruction", "fresh word"));
    CU_ASSERT_EQUAL(words_of_a_request(), 1);

    scripted_cpu.has[DRNG_RDRAND] = false;
    drng_process.machine.evidence.cpu.has[DRNG_RDRAND] = false;
    on_machine(scripted_good, scripted_good, "", true, false);
    CU_ASSERT_TRUE(protection_is("instruction", "fresh word"));
    CU_ASSERT_TRUE(draw());
    const uint64_t before = scripted_rdseed.executions;
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(scripted_rdseed.executions, before + 1);
    drng_process.machine.evidence.cpu.has[DRNG_RDRAND] = true;
}

static int tell_of_kernel(void *unused)
{
    drng_process.machine.evidence.cpu.has[DRNG_RDSEED] = false;
    drng_process.machine.evidence.cpu.has[DRNG_RDRAND] = false;
    on_machine(scripted_dry, scripted_dry, "", true, false);
    CU_ASSERT_TRUE(protection_is("kernel", "no instruction"));
    const bool drawn = draw();
    const unsigned before = scripted_os_calls;
    return drawn && draw() && scripted_os_calls == before + 1 ? 0 : 1;
}

static int tell_of_none(void *unused)
{
    on_machine(scripted_good, scripted_good, "request_mixing = no\n", true, false);
    return protection_is("none", "request_mixing = no") && words_of_a_request() == 0 ? 0 : 1;
}

static int tell_of_no_virtual_machine(void *unused)
{
    on_machine(scripted_good, scripted_good, "", false, false);
    return protection_is("none", "no hypervisor is announced") && drng_stats.head->virtual_machine == 0 &&
                   words_of_a_request() == 0
               ? 0
               : 1;
}

/* Messages come once in a process. */
UNIT_TEST("nothing repeats in silence")
{
    on_machine(scripted_good, scripted_good, "", false, false);
    CU_ASSERT_EQUAL(child_forked(tell_of_kernel, NULL), 0);
    CU_ASSERT_EQUAL(child_forked(tell_of_none, NULL), 0);
    CU_ASSERT_EQUAL(child_forked(tell_of_no_virtual_machine, NULL), 0);
}

/* ---- When requests take words ---- */

UNIT_TEST("a device that is not watched any more")
{
    on_machine(scripted_good, scripted_good, "", true, true);
    CU_ASSERT_EQUAL(words_of_a_request(), 0);
    scripted_unwatch();
    CU_ASSERT_EQUAL(words_of_a_request(), 1);
}

UNIT_TEST("where requests take words")
{
    static const struct {
        const char *keys;
        bool virtual_machine;
        bool with_device;
        bool confidential;
        bool take_words;
    } cases[] = {
        {"", true, false, false, true},
        {"", true, true, true, true},
        {"request_mixing = yes\n", true, true, false, true},
        {"request_mixing = yes\n", false, false, false, true},
        {"request_mixing = no\n", true, false, false, false},
        {"", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        drng_process.machine.evidence.cpu.confidential = cases[i].confidential;
        on_machine(scripted_good, scripted_good, cases[i].keys, cases[i].virtual_machine, cases[i].with_device);
        CU_ASSERT_EQUAL(words_of_a_request(), cases[i].take_words);
    }
    drng_process.machine.evidence.cpu.confidential = false;
}

int main(void)
{
    (void)drng_fork_open();
    if (!drng_fork_kernel_wipes) {
        return unit_skipped("this kernel wipes nothing, so requests are always mixed");
    }
    const int result = unmask_instructions() ? unit_run("copies") : 1;
    OSSL_LIB_CTX_free(libctx);
    return result;
}
