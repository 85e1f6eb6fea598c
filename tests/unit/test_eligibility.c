/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction may be used: every reason against it, and their order. */

#include <string.h>

#include "mixing/machine/eligibility.h"
#include "tests/unit/unit.h"

/* A machine with everything, and nothing against it. */
static struct drng_evidence clean(void)
{
    return (struct drng_evidence){.cpu = {.vendor = "GenuineIntel", .family = 6, .model = 85, .has = {true, true}},
                                  .kernel = {.known = true, .has = {true, true}}};
}

/* One with every reason at once. */
static struct drng_evidence hopeless(void)
{
    return (struct drng_evidence){.cpu = {.vendor = "AuthenticAMD", .family = 0x15, .model = 1},
                                  .masked[DRNG_RDRAND] = true,
                                  .masked[DRNG_RDSEED] = true,
                                  .kernel = {.known = true}};
}

static struct drng_evidence part(const char *vendor, unsigned family, unsigned model)
{
    struct drng_evidence e = clean();
    memcpy(e.cpu.vendor, vendor, strlen(vendor) + 1);
    e.cpu.family = family;
    e.cpu.model = model;
    return e;
}

/* One for whose RDSEED the kernel decides. */
static struct drng_evidence zen5(void)
{
    return part("AuthenticAMD", 0x1a, 0x02);
}

static bool decides(const struct drng_evidence *e, int choice, enum drng_denial rdseed, enum drng_denial rdrand,
                    enum drng_denial fresh)
{
    const struct drng_eligibility d = drng_eligibility_decide(e, choice);
    return d.seeds[DRNG_RDSEED] == rdseed && d.seeds[DRNG_RDRAND] == rdrand && d.words[DRNG_WORDS_INSTRUCTION] == fresh;
}

/* The same answer for all three. */
static bool all_are(const struct drng_evidence *e, enum drng_denial denial)
{
    return decides(e, DRNG_CHOICE_AUTO, denial, denial, denial);
}

UNIT_TEST("nothing against it allows all")
{
    const struct drng_evidence e = clean();
    CU_ASSERT_TRUE(all_are(&e, DRNG_ALLOWED));
}

UNIT_TEST("a choice denies the other one")
{
    const struct drng_evidence e = clean();
    CU_ASSERT_TRUE(decides(&e, DRNG_RDSEED, DRNG_ALLOWED, DRNG_NOT_CHOSEN, DRNG_ALLOWED));
    CU_ASSERT_TRUE(decides(&e, DRNG_RDRAND, DRNG_NOT_CHOSEN, DRNG_ALLOWED, DRNG_ALLOWED));
}

UNIT_TEST("each reason denies its own instruction")
{
    struct drng_evidence e = clean();
    e.cpu.has[DRNG_RDSEED] = false;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_ABSENT, DRNG_ALLOWED, DRNG_ALLOWED));
    e = clean();
    e.cpu.has[DRNG_RDRAND] = false;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_ALLOWED, DRNG_ABSENT, DRNG_ABSENT));
    e = clean();
    e.masked[DRNG_RDSEED] = true;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_MASKED, DRNG_ALLOWED, DRNG_ALLOWED));
    e = clean();
    e.masked[DRNG_RDRAND] = true;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_ALLOWED, DRNG_MASKED, DRNG_MASKED));
    e = zen5();
    e.kernel.has[DRNG_RDSEED] = false;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_VETOED, DRNG_ALLOWED, DRNG_ALLOWED));
}

/* Taking away the reason that is given brings out the next one. */
UNIT_TEST("the reasons come in their order")
{
    struct drng_evidence e = hopeless();
    CU_ASSERT_TRUE(decides(&e, DRNG_RDSEED, DRNG_ABSENT, DRNG_NOT_CHOSEN, DRNG_ABSENT));
    CU_ASSERT_TRUE(decides(&e, DRNG_RDRAND, DRNG_NOT_CHOSEN, DRNG_ABSENT, DRNG_ABSENT));
    CU_ASSERT_TRUE(all_are(&e, DRNG_ABSENT));
    e.cpu.has[DRNG_RDRAND] = e.cpu.has[DRNG_RDSEED] = true;
    CU_ASSERT_TRUE(all_are(&e, DRNG_MASKED));
    e.masked[DRNG_RDRAND] = e.masked[DRNG_RDSEED] = false;
    CU_ASSERT_TRUE(all_are(&e, DRNG_KNOWN_BROKEN));
    e.cpu.family = 0x1a;
    CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_VETOED, DRNG_ALLOWED, DRNG_ALLOWED));
    e.kernel.has[DRNG_RDSEED] = true;
    CU_ASSERT_TRUE(all_are(&e, DRNG_ALLOWED));
}

UNIT_TEST("an explicit choice overrides the veto")
{
    struct drng_evidence e = zen5();
    e.kernel.has[DRNG_RDSEED] = false;
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_CHOICE_AUTO).seeds[DRNG_RDSEED], DRNG_VETOED);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_ALLOWED);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDRAND).words[DRNG_RDSEED], DRNG_VETOED);
}

UNIT_TEST("an explicit choice overrides nothing else")
{
    struct drng_evidence e = hopeless();
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_ABSENT);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDRAND).seeds[DRNG_RDRAND], DRNG_ABSENT);
    e.cpu.has[DRNG_RDRAND] = e.cpu.has[DRNG_RDSEED] = true;
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_MASKED);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDRAND).seeds[DRNG_RDRAND], DRNG_MASKED);
    e.masked[DRNG_RDRAND] = e.masked[DRNG_RDSEED] = false;
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_KNOWN_BROKEN);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDRAND).seeds[DRNG_RDRAND], DRNG_KNOWN_BROKEN);
}

/* It is not asked: the health tests find out what its instructions are worth. */
UNIT_TEST("the kernel decides for no other CPU")
{
    struct drng_evidence e = zen5();
    CU_ASSERT_TRUE(drng_eligibility_asks_kernel(&e.cpu));
    e = clean();
    CU_ASSERT_FALSE(drng_eligibility_asks_kernel(&e.cpu));
    e.kernel = (struct drng_kernel_flags){.known = true};
    CU_ASSERT_TRUE(all_are(&e, DRNG_ALLOWED));
    e.kernel.known = false;
    CU_ASSERT_TRUE(all_are(&e, DRNG_ALLOWED));
    e = part("AuthenticAMD", 0x16, 0x30); /* broken whatever it says */
    CU_ASSERT_FALSE(drng_eligibility_asks_kernel(&e.cpu));
}

/* Neither the kernel nor a hypervisor makes up for what CPUID denies, or for a broken part. */
UNIT_TEST("a kernel that allows overrides nothing")
{
    struct drng_evidence e = part("AuthenticAMD", 0x16, 0x30);
    e.cpu.hypervisor = true;
    CU_ASSERT_TRUE(all_are(&e, DRNG_KNOWN_BROKEN));
    e.cpu.has[DRNG_RDRAND] = e.cpu.has[DRNG_RDSEED] = false;
    CU_ASSERT_TRUE(all_are(&e, DRNG_ABSENT));
}

UNIT_TEST("the list of broken parts has sharp edges")
{
    static const struct {
        const char *vendor;
        unsigned family;
        unsigned model;
        bool rdseed_broken;
        bool rdrand_broken;
    } parts[] = {
        {"AuthenticAMD", 0x14, 0x02, true, true},   {"AuthenticAMD", 0x15, 0x00, true, true},
        {"AuthenticAMD", 0x15, 0x70, true, true},   {"AuthenticAMD", 0x16, 0x00, true, true},
        {"AuthenticAMD", 0x16, 0x30, true, true},   {"AuthenticAMD", 0x17, 0x00, false, false},
        {"AuthenticAMD", 0x17, 0x46, false, false}, {"AuthenticAMD", 0x17, 0x47, true, false},
        {"AuthenticAMD", 0x17, 0x48, false, false}, {"AuthenticAMD", 0x17, 0x6f, false, false},
        {"AuthenticAMD", 0x17, 0x70, false, true},  {"AuthenticAMD", 0x17, 0x71, false, true},
        {"AuthenticAMD", 0x17, 0x7f, false, true},  {"AuthenticAMD", 0x17, 0x80, false, false},
        {"AuthenticAMD", 0x18, 0x70, false, false}, {"AuthenticAMD", 0x19, 0x47, false, false},
        {"AuthenticAMD", 0x1a, 0x02, false, false}, {"HygonGenuine", 0x15, 0x00, false, false},
        {"HygonGenuine", 0x17, 0x70, false, false}, {"HygonGenuine", 0x18, 0x00, false, false},
        {"GenuineIntel", 0x06, 0x3a, false, false}, {"GenuineIntel", 0x06, 0x47, false, false},
        {"GenuineIntel", 0x15, 0x00, false, false}, {"GenuineIntel", 0x17, 0x70, false, false},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const struct drng_evidence e = part(parts[i].vendor, parts[i].family, parts[i].model);
        const enum drng_denial rdseed = parts[i].rdseed_broken ? DRNG_KNOWN_BROKEN : DRNG_ALLOWED;
        const enum drng_denial rdrand = parts[i].rdrand_broken ? DRNG_KNOWN_BROKEN : DRNG_ALLOWED;
        CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, rdseed, rdrand, rdrand));
    }
}

/* Zen 5 without the kernel's word, and with it: its word alone decides. Other models of that family are no Zen 5. */
UNIT_TEST("without a verdict Zen 5 makes no seeds of RDSEED")
{
    static const struct {
        unsigned model;
        bool doubtful;
    } models[] = {{0x00, true},  {0x02, true},  {0x2f, true},  {0x30, false}, {0x3f, false}, {0x40, true},
                  {0x4f, true},  {0x50, false}, {0x5f, false}, {0x60, true},  {0x7f, true},  {0x80, false},
                  {0xcf, false}, {0xd0, true},  {0xd7, true},  {0xd8, false}};
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        struct drng_evidence e = part("AuthenticAMD", 0x1a, models[i].model);
        CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, DRNG_ALLOWED, DRNG_ALLOWED, DRNG_ALLOWED));
        e.kernel.known = false;
        const enum drng_denial rdseed = models[i].doubtful ? DRNG_UNJUDGED : DRNG_ALLOWED;
        CU_ASSERT_TRUE(decides(&e, DRNG_CHOICE_AUTO, rdseed, DRNG_ALLOWED, DRNG_ALLOWED));
        CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_ALLOWED);
    }
}

/* Its denials are those of RDRAND, whatever `source` names. */
UNIT_TEST("fresh words are denied for every reason but the choice")
{
    struct drng_evidence e = part("AuthenticAMD", 0x17, 0x71);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).words[DRNG_WORDS_INSTRUCTION], DRNG_KNOWN_BROKEN);
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).seeds[DRNG_RDSEED], DRNG_ALLOWED);
    e.masked[DRNG_RDRAND] = true;
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).words[DRNG_WORDS_INSTRUCTION], DRNG_MASKED);
    e.cpu.has[DRNG_RDRAND] = false;
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).words[DRNG_WORDS_INSTRUCTION], DRNG_ABSENT);
    e = clean();
    CU_ASSERT_EQUAL(drng_eligibility_decide(&e, DRNG_RDSEED).words[DRNG_WORDS_INSTRUCTION], DRNG_ALLOWED);
}

UNIT_TEST("every denial has a text of its own")
{
    static const enum drng_denial denials[] = {DRNG_ALLOWED,      DRNG_NOT_CHOSEN, DRNG_ABSENT, DRNG_MASKED,
                                               DRNG_KNOWN_BROKEN, DRNG_UNJUDGED,   DRNG_VETOED};
    for (size_t i = 0; i < sizeof(denials) / sizeof(*denials); i++) {
        CU_ASSERT_TRUE(strlen(drng_denial_text(denials[i])) > 0);
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_STRING_NOT_EQUAL(drng_denial_text(denials[i]), drng_denial_text(denials[j]));
        }
    }
    CU_ASSERT_STRING_EQUAL(drng_denial_text(DRNG_ABSENT), "not in this CPU");
}

UNIT_MAIN("eligibility")
