/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IBM Z: what the processor is, its instruction, its registers. STORE FACILITY LIST EXTENDED and the query function of
 * PRNO say what it is, and the kernel on what it runs.
 */

#define _GNU_SOURCE

#include "mixing/machine/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "mixing/machine/instructions_z.h"

static const unsigned long hwcap_stfle = 1UL << 2; /* Linux, arch/s390/include/asm/elf.h */

enum { MSA_5 = 57, FACILITIES = 2 }; /* message-security-assist extension 5, which brings PRNO; doublewords */

/* Whether bit `which` is set; bit 0 is the highest of the first byte. */
static bool has_bit(const uint8_t *bits, unsigned which)
{
    return (bits[which / 8] >> (7 - which % 8) & 1) != 0;
}

static void store_facilities(uint8_t facilities[FACILITIES * 8])
{
    register uint64_t last __asm__("r0") = FACILITIES - 1;
    __asm__ volatile(".insn s,0xb2b00000,0(%[list])" : "+d"(last) : [list] "a"(facilities) : "cc", "memory");
}

static bool has_prno(void)
{
    uint8_t facilities[FACILITIES * 8] __attribute__((aligned(8))) = {0};
    if ((getauxval(AT_HWCAP) & hwcap_stfle) == 0) {
        return false;
    }
    store_facilities(facilities);
    return has_bit(facilities, MSA_5);
}

/* A program always runs in a logical partition (LPAR), which nobody can copy; a z/VM or KVM in it is level VM00. */
bool drng_z_is_virtual(FILE *sysinfo)
{
    char *line = NULL;
    size_t size = 0;
    bool partition = false;
    bool virtual = false;
    while (getdelim(&line, &size, '\n', sysinfo) > 0) {
        partition |= strncmp(line, "LPAR ", 5) == 0;
        virtual |= strncmp(line, "VM00 ", 5) == 0;
    }
    free(line);
    return virtual || !partition || feof(sysinfo) == 0;
}

static bool is_virtual(void)
{
    FILE *sysinfo = fopen("/proc/sysinfo", "re");
    const bool virtual = sysinfo == NULL || drng_z_is_virtual(sysinfo);
    if (sysinfo != NULL) {
        (void)fclose(sysinfo);
    }
    return virtual;
}

void drng_cpu_identify(struct drng_cpu *cpu)
{
    uint8_t functions[16] = {0};
    memset(cpu, 0, sizeof(*cpu));
    if (has_prno()) {
        drng_execute_prno_query(functions);
        cpu->has[DRNG_TRNG] = has_bit(functions, DRNG_PRNO_TRNG);
    }
    cpu->hypervisor = is_virtual();
}

/* A CPU that stops early may have stored a part of the word or nothing: a failure, and the next execution starts over.
 */
static bool read_trng(uint64_t *word)
{
    return drng_execute_trng(word) == 0;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_TRNG] = {.name = "TRNG", .read = read_trng, .mask_bit = 64 + 63 - DRNG_PRNO_TRNG % 64, DRNG_SEED_GRADE},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};

/*
 * The floating point registers of IBM Z that a function need not preserve: compilers keep there what the general ones
 * have no room for. Each is a half of a vector register; a compiler that is told of machines with vectors uses those,
 * too. memcpy() goes from memory to memory.
 */
#ifdef __VX__
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                     "vzero %%v\\n\n\t"
                     ".endr"
                     :
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                       "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31");
}
#else
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7\n\tlzdr %%f\\n\n\t.endr"
                     :
                     :
                     : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7");
}
#endif
