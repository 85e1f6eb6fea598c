/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a guest is one that does not trust its host, by the answers of CPUID. */

#include <string.h>

#include "mixing/machine/cpu.h"
#include "tests/unit/unit.h"

enum { LEAVES = 5 };

static const unsigned TDX = 0x21;
static const unsigned SEV = 0x8000001f;
static const unsigned NAME = 0x40000000;
static const unsigned FEATURES = 0x40000003;
static const unsigned ISOLATION = 0x4000000c;

static struct {
    unsigned leaf;
    struct drng_cpuid answer;
} leaves[LEAVES];
static unsigned known;

static void ask(unsigned leaf, struct drng_cpuid *answer)
{
    *answer = (struct drng_cpuid){0};
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

static void hyper_v(unsigned highest, unsigned features, unsigned isolation)
{
    known = 0;
    add(NAME, (struct drng_cpuid){highest, word("Micr"), word("osof"), word("t Hv")});
    add(FEATURES, (struct drng_cpuid){.ebx = features});
    add(ISOLATION, (struct drng_cpuid){.ebx = isolation});
}

UNIT_TEST("a machine that says nothing is not")
{
    known = 0;
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
    add(NAME, (struct drng_cpuid){0x40000001, word("KVMK"), word("VMKV"), word("M\0\0\0")});
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
}

UNIT_TEST("TDX and SEV are seen")
{
    known = 0;
    add(TDX, (struct drng_cpuid){.ebx = word("Inte"), .edx = word("lTDX"), .ecx = word("    ")});
    CU_ASSERT_TRUE(drng_x86_is_confidential(ask));
    leaves[0].answer.ecx = word("no  ");
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
    known = 0;
    add(SEV, (struct drng_cpuid){.eax = 2});
    CU_ASSERT_TRUE(drng_x86_is_confidential(ask));
    leaves[0].answer.eax = 1; /* SME, of a host */
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
}

/* Azure: neither of the leaves above is shown. 1 is VBS, 2 SEV-SNP, 3 TDX. */
UNIT_TEST("a guest behind a paravisor is seen")
{
    for (unsigned type = 1; type <= 3; type++) {
        hyper_v(ISOLATION, 1U << 22, type);
        CU_ASSERT_TRUE(drng_x86_is_confidential(ask));
    }
    hyper_v(ISOLATION, 1U << 22, 0);
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
    hyper_v(ISOLATION, 0, 2);
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
    hyper_v(ISOLATION - 1, 1U << 22, 2); /* an older one, whose leaf means nothing */
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
    hyper_v(ISOLATION, 1U << 22, 2);
    leaves[0].answer.edx = word("t XX");
    CU_ASSERT_FALSE(drng_x86_is_confidential(ask));
}

UNIT_MAIN("confidential")
