/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: what the processor is, from CPUID, and its vector registers. */

#include "mixing/machine/cpu.h"

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#include "mixing/machine/instructions_x86.h"

/* ---- What it is ---- */

enum {
    LEAF1_ECX_SSE42 = 1 << 20,
    LEAF1_ECX_AES = 1 << 25,
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_AVX = 1 << 28,
    LEAF1_ECX_RDRAND = 1 << 30,
    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_RDSEED = 1 << 18,
    LEAF7_ECX_VAES = 1 << 9,
    LEAF_TDX = 0x21, /* Intel, TDX module: its signature, in a trust domain */
    SEV_EAX_ACTIVE_IN_GUEST = 1 << 1,
    HYPER_V_FEATURES = 0x3, /* after leaf_hypervisor */
    HYPER_V_ISOLATION = 0xc,
    HYPER_V_EBX_ISOLATION = 1 << 22,
    HYPER_V_EBX_ISOLATION_TYPE = 0xf, /* 0: none */
    XCR0_YMM = 0x06,                  /* SSE and AVX state */
    XCR0_ZMM = 0xe6,                  /* the same, and opmask and both halves of the ZMM registers */
};

static const unsigned leaf1_ecx_hypervisor = 1U << 31;
static const unsigned leaf_sev = 0x8000001f;        /* AMD APM volume 3, E.4.17 */
static const unsigned leaf_hypervisor = 0x40000000; /* its name, and its highest leaf */
static const unsigned leaf_extended = 0x80000000;
static const unsigned leaf7_ebx_avx512 = 1U << 16 | 1U << 30 | 1U << 31; /* AVX-512F, BW and VL */

/* The register states that the operating system saves; 0 if the CPU cannot tell. */
__attribute__((target("xsave"))) static uint64_t saved_state(unsigned leaf1_ecx)
{
    return (leaf1_ecx & LEAF1_ECX_OSXSAVE) != 0 ? (uint64_t)_xgetbv(0) : 0;
}

static void identify_model(struct drng_cpu *cpu, unsigned signature)
{
    const unsigned base_family = signature >> 8 & 0xf;
    const unsigned base_model = signature >> 4 & 0xf;
    cpu->family = base_family == 0xf ? base_family + (signature >> 20 & 0xff) : base_family;
    cpu->model = base_family == 0xf || base_family == 0x6 ? base_model | (signature >> 12 & 0xf0) : base_model;
}

/* Executed no oftener than it must be: a virtual machine leaves for its host at each. */
static void execute_cpuid(unsigned leaf, struct drng_cpuid *answer)
{
    __cpuid_count(leaf, 0, answer->eax, answer->ebx, answer->ecx, answer->edx);
}

/*
 * Of AMD SEV and Intel TDX. A host shows its guest that it has SEV only if it starts it so; a guest that is shown it by
 * mistake loses nothing. Hyper-V may put a paravisor between the two, which hides both leaves, and says itself that the
 * guest is isolated (Azure; Linux, include/hyperv/hvgdk.h). `highest` is the highest leaf of the first range.
 */
static bool is_confidential(const char *vendor, unsigned highest, drng_cpuid_asked *ask)
{
    struct drng_cpuid answer;
    struct drng_cpuid more;
    ask(leaf_hypervisor, &answer);
    if (memcmp(&answer.ebx, "Micr", 4) == 0 && memcmp(&answer.ecx, "osof", 4) == 0 &&
        memcmp(&answer.edx, "t Hv", 4) == 0 && answer.eax >= leaf_hypervisor + HYPER_V_ISOLATION) {
        ask(leaf_hypervisor + HYPER_V_FEATURES, &answer);
        ask(leaf_hypervisor + HYPER_V_ISOLATION, &more);
        return (answer.ebx & HYPER_V_EBX_ISOLATION) != 0 && (more.ebx & HYPER_V_EBX_ISOLATION_TYPE) != 0;
    }
    if (strcmp(vendor, "GenuineIntel") != 0) {
        ask(leaf_extended, &answer);
        more = (struct drng_cpuid){0};
        if (answer.eax >= leaf_sev) {
            ask(leaf_sev, &more);
        }
        return (more.eax & SEV_EAX_ACTIVE_IN_GUEST) != 0;
    }
    if (highest < LEAF_TDX) {
        return false;
    }
    ask(LEAF_TDX, &answer);
    return memcmp(&answer.ebx, "Inte", 4) == 0 && memcmp(&answer.edx, "lTDX", 4) == 0 &&
           memcmp(&answer.ecx, "    ", 4) == 0;
}

/* The registers that the CPU has. */
static enum { SSE, AVX, AVX512 } owned;

void drng_x86_identify(struct drng_cpu *cpu, drng_cpuid_asked *ask)
{
    struct drng_cpuid name;
    struct drng_cpuid leaf1;
    struct drng_cpuid leaf7 = {0};
    ask(0, &name);
    ask(1, &leaf1);
    if (name.eax >= 7) {
        ask(7, &leaf7);
    }
    memset(cpu, 0, sizeof(*cpu));
    memcpy(cpu->vendor, &name.ebx, 4);
    memcpy(cpu->vendor + 4, &name.edx, 4);
    memcpy(cpu->vendor + 8, &name.ecx, 4);
    identify_model(cpu, leaf1.eax);
    cpu->hypervisor = (leaf1.ecx & leaf1_ecx_hypervisor) != 0;
    cpu->confidential = cpu->hypervisor && is_confidential(cpu->vendor, name.eax, ask);
    cpu->has[DRNG_RDRAND] = (leaf1.ecx & LEAF1_ECX_RDRAND) != 0;
    cpu->has[DRNG_RDSEED] = (leaf7.ebx & LEAF7_EBX_RDSEED) != 0;

    const uint64_t saved = saved_state(leaf1.ecx);
    const bool has_ymm = (leaf1.ecx & LEAF1_ECX_AVX) != 0 && (saved & XCR0_YMM) == XCR0_YMM;
    const bool has_zmm =
        has_ymm && (leaf7.ebx & leaf7_ebx_avx512) == leaf7_ebx_avx512 && (saved & XCR0_ZMM) == XCR0_ZMM;
    cpu->aes = (leaf1.ecx & LEAF1_ECX_AES) != 0 && (leaf1.ecx & LEAF1_ECX_SSE42) != 0;
    cpu->avx = cpu->aes && has_ymm;
    const bool vaes = cpu->aes && (leaf7.ecx & LEAF7_ECX_VAES) != 0;
    cpu->vaes256 = vaes && (leaf7.ebx & LEAF7_EBX_AVX2) != 0 && has_ymm;
    cpu->vaes512 = cpu->vaes256 && has_zmm;
    owned = has_zmm ? AVX512 : has_ymm ? AVX : SSE;
}

void drng_cpu_identify(struct drng_cpu *cpu)
{
    drng_x86_identify(cpu, execute_cpuid);
}

/* ---- Its vector registers ---- */

/* The upper sixteen are used by memcpy() of the C library, and by no code for plain x86-64, so they are no clobbers. */
void drng_cpu_clear_vectors(void)
{
    if (owned == SSE) {
        drng_cpu_clear_sse();
        return;
    }
    if (owned == AVX512) {
        __asm__ volatile(".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                         "vpxord %xmm\\n, %xmm\\n, %xmm\\n\n\t"
                         ".endr");
    }
    drng_cpu_clear_avx();
    __asm__ volatile("vzeroupper" : : : DRNG_LOW_REGISTERS);
}
