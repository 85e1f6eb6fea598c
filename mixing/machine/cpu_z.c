/* What the processor is; IBM Z. STORE FACILITY LIST EXTENDED and the query function of PRNO say it. */

#include "mixing/machine/cpu.h"

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

void drng_cpu_identify(struct drng_cpu *cpu)
{
    uint8_t functions[16] = {0};
    memset(cpu, 0, sizeof(*cpu));
    if (has_prno()) {
        drng_execute_prno_query(functions);
        cpu->has[DRNG_TRNG] = has_bit(functions, DRNG_PRNO_TRNG);
    }
    cpu->hypervisor = true; /* a program always runs in a partition, and mostly in a virtual machine */
}
