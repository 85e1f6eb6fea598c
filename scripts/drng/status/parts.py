"""What is known of processors whose instructions are slow or wrong, beside what drng itself decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SRBDS = Path("/sys/devices/system/cpu/vulnerabilities/srbds")

# AMD-SB-7055: the models of family 1Ah that are Zen 5, and by model and stepping the least microcode that mends them.
FAMILY = 0x1A
ZEN_5 = (range(0x30), range(0x40, 0x50), range(0x60, 0x80), range(0xD0, 0xD8))
MENDED = {
    (0x02, 1): 0x0B00215A,
    (0x08, 1): 0x0B008121,
    (0x11, 0): 0x0B101054,
    (0x24, 0): 0x0B204037,
    (0x44, 0): 0x0B404035,
    (0x44, 1): 0x0B404108,
    (0x60, 0): 0x0B600037,
    (0x68, 0): 0x0B608038,
    (0x70, 0): 0x0B700037,
}


def number(text: str | None, base: int = 10) -> int:
    try:
        return int(text or "", base)
    except ValueError:
        return -1


def zen_5(info: Mapping[str, str], in_cpu: bool | None) -> str:
    """Of a processor without RDSEED, by the CPU or by the kernel; info is /proc/cpuinfo. "" for any other."""
    model, stepping = number(info.get("model")), number(info.get("stepping"))
    flags = info.get("flags", "").split()
    of_amd = info.get("vendor_id") == "AuthenticAMD" and number(info.get("cpu family")) == FAMILY
    if not of_amd or not any(model in models for models in ZEN_5) or (in_cpu is not False and "rdseed" in flags):
        return ""
    runs, least = number(info.get("microcode"), 16), MENDED.get((model, stepping))
    needs = f"{least:#x} or later mends it" if least else "none that mends this stepping is known here"
    if least and runs >= least:
        needs = f"{least:#x} mends it, and the kernel or the hypervisor hides RDSEED all the same"
    guest = ", a number of the hypervisor's choice" if "hypervisor" in flags else ""
    said = f"{runs:#x}{guest}" if runs >= 0 else "unknown"
    return f"Zen 5, whose 16- and 32-bit RDSEED may be wrong; drng executes neither. Microcode {said}; {needs}"


def srbds() -> str:
    """What the kernel says where RDRAND and RDSEED are slow for it (CVE-2020-0543); "" where nothing is affected."""
    try:
        said = SRBDS.read_text("ascii", "replace").strip()
    except OSError:
        return ""
    return "" if said == "Not affected" else said
