/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a guest is one that does not trust its host, by the answers of CPUID; and how often CPUID is executed. */

#include <string.h>

#include "mixing/machine/cpu.h"
#include "tests/unit/unit.h"

enum { LEAVES = 8, MOST = 6 };

static const unsigned TDX = 0x21;
static const unsigned EXTENDED = 0x80000000;
static const unsigned SEV = 0x8000001f;
static const unsigned NAME = 0x40000000;
static const unsigned FEATURES = 0x40000003;
static const unsigned ISOLATION = 0x4000000c;

static struct {
    unsigned leaf;
    struct drng_cpuid answer;
} leaves[LEAVES];
static unsigned known;
static unsigned asked;

/* A leaf that is not there is asked for by mistake: QEMU answers with another one then. */
static void ask(unsigned leaf, struct drng_cpuid *answer)
{
    asked++;
    memset(answer, 0xff, sizeof(*answer));
    for (unsigned i = 0; i < known; i++) {
        if (leaves[i].leaf == leaf) {
            *answer = leaves[i].answer;
        }
    }
}

static void add(unsigned leaf, struct drng_cpuid answer)
{
    leaves[known].leaf = leaf;
    leaves[known++].answer = answer;
}

static unsigned word(const char *text)
{
    unsigned value;
    memcpy(&value, text, sizeof(value));
    return value;
}

/* A guest on a CPU of this maker, "GenuineIntel", whose highest leaves are these. */
static void guest(const char *vendor, unsigned highest, unsigned extended)
{
    known = 0;
    add(0, (struct drng_cpuid){highest, word(vendor), word(vendor + 8), word(vendor + 4)});
    add(1, (struct drng_cpuid){.ecx = 1U << 31});
    add(7, (struct drng_cpuid){0});
    add(EXTENDED, (struct drng_cpuid){.eax = extended});
}

static void hyper_v(unsigned highest, unsigned features, unsigned isolation)
{
    guest("AuthenticAMD", 0x10, 0x80000020);
    add(NAME, (struct drng_cpuid){highest, word("Micr"), word("osof"), word("t Hv")});
    add(FEATURES, (struct drng_cpuid){.ebx = features});
    add(ISOLATION, (struct drng_cpuid){.ebx = isolation});
    add(SEV, (struct drng_cpuid){0});
}

static struct drng_cpuid *leaf(unsigned number)
{
    unsigned i = 0;
    while (leaves[i].leaf != number) {
        i++;
    }
    return &leaves[i].answer;
}

static bool is_confidential(void)
{
    struct drng_cpu cpu;
    asked = 0;
    drng_x86_identify(&cpu, ask);
    CU_ASSERT_TRUE(asked <= MOST);
    return cpu.confidential;
}

UNIT_TEST("a machine that says nothing is not")
{
    guest("AuthenticAMD", 0x10, 0x80000020);
    add(NAME, (struct drng_cpuid){0x40000001, word("KVMK"), word("VMKV"), word("M\0\0\0")});
    add(SEV, (struct drng_cpuid){0});
    CU_ASSERT_FALSE(is_confidential());
    guest("AuthenticAMD", 0x10, 0x80000008); /* an older one */
    add(NAME, (struct drng_cpuid){0});
    CU_ASSERT_FALSE(is_confidential());
    guest("GenuineIntel", 0x16, 0x80000008);
    add(NAME, (struct drng_cpuid){0});
    CU_ASSERT_FALSE(is_confidential());
    leaf(1)->ecx = 0; /* no guest */
    CU_ASSERT_FALSE(is_confidential());
    CU_ASSERT_EQUAL(asked, 3);
}

UNIT_TEST("TDX and SEV are seen")
{
    guest("GenuineIntel", 0x21, 0x80000008);
    add(NAME, (struct drng_cpuid){0});
    add(TDX, (struct drng_cpuid){.ebx = word("Inte"), .edx = word("lTDX"), .ecx = word("    ")});
    CU_ASSERT_TRUE(is_confidential());
    leaf(TDX)->ecx = word("no  ");
    CU_ASSERT_FALSE(is_confidential());
    guest("AuthenticAMD", 0x10, 0x80000020);
    add(NAME, (struct drng_cpuid){0});
    add(SEV, (struct drng_cpuid){.eax = 2});
    CU_ASSERT_TRUE(is_confidential());
    leaf(SEV)->eax = 1; /* SME, of a host */
    CU_ASSERT_FALSE(is_confidential());
}

/* Azure: neither of the leaves above is shown. 1 is VBS, 2 SEV-SNP, 3 TDX. */
UNIT_TEST("a guest behind a paravisor is seen")
{
    for (unsigned type = 1; type <= 3; type++) {
        hyper_v(ISOLATION, 1U << 22, type);
        CU_ASSERT_TRUE(is_confidential());
    }
    hyper_v(ISOLATION, 1U << 22, 0);
    CU_ASSERT_FALSE(is_confidential());
    hyper_v(ISOLATION, 0, 2);
    CU_ASSERT_FALSE(is_confidential());
    hyper_v(ISOLATION - 1, 1U << 22, 2); /* an older one, whose leaf means nothing */
    CU_ASSERT_FALSE(is_confidential());
    hyper_v(ISOLATION, 1U << 22, 2);
    leaf(NAME)->edx = word("t XX");
    CU_ASSERT_FALSE(is_confidential());
}

UNIT_MAIN("confidential")
