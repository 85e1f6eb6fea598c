#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/, drawn from what the pages say.

    pictures.py            draws all of them into docs/pictures
    pictures.py FOLDER     there instead
    pictures.py --check    whether those in docs/pictures are what this script draws; needs no matplotlib

Needs matplotlib (Debian's python3-matplotlib). Colours are apart from each other in grey, too.
Each file holds a text that says from what it was drawn.
"""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLACK = "#000000"


def drawn_from() -> str:
    """Changes with this script."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def subplots(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"font.size": 9, "figure.constrained_layout.use": True})
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height))


def save(figure: Any, folder: Path, name: str) -> Path:
    """In a few colours, so that it is small."""
    from PIL import Image, PngImagePlugin

    plain = io.BytesIO()
    figure.savefig(plain, dpi=110)
    text = PngImagePlugin.PngInfo()
    text.add_text("Source", drawn_from())
    path = folder / f"{name}.png"
    Image.open(plain).convert("RGB").quantize(64).save(path, optimize=True, pnginfo=text)
    return path


# ---- Diagrams: boxes and arrows ----

END = {"good": "#d5e8d4", "care": "#ffe6b3", "bad": "#f4c7c3"}


def height_of(text: str) -> float:
    return 0.2 + 0.19 * (text.count("\n") + 1)


class Diagram:
    """Boxes by their centre, in inches."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.figure, self.axes = subplots(width, height)
        self.axes.set(xlim=(0, width), ylim=(0, height))
        self.axes.axis("off")
        self.axes.set_title(title, fontsize=10, loc="left")

    def box(self, x: float, y: float, width: float, text: str, kind: str = "", bold: bool = False) -> None:
        height = height_of(text)
        from matplotlib.patches import FancyBboxPatch

        self.axes.add_patch(
            FancyBboxPatch(
                (x - width / 2, y - height / 2),
                width,
                height,
                boxstyle="round,pad=0.0,rounding_size=0.08" if kind else "square,pad=0.0",
                facecolor=END.get(kind, "white"),
                edgecolor=BLACK,
                lw=1.4 if bold else 0.8,
            )
        )
        self.axes.text(x, y, text, ha="center", va="center", fontsize=8, weight="bold" if bold else "normal")

    def arrow(self, start: tuple[float, float], end: tuple[float, float], text: str = "", dashed: bool = False) -> None:
        style = {"arrowstyle": "-|>", "lw": 0.9, "color": BLACK, "ls": "--" if dashed else "-"}
        self.axes.annotate("", end, start, arrowprops={**style, "shrinkA": 0, "shrinkB": 0})
        if text:
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            white = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none"}
            self.axes.text(*middle, text, ha="center", va="center", fontsize=7.5, style="italic", bbox=white)


def ladder(folder: Path, name: str, title: str, questions: tuple[tuple[str, str, str, str], ...], last: str) -> Path:
    """Questions from above to below, each with the answer that leads to the right, and what stands there."""
    step = 1.2
    d = Diagram(7.6, step * len(questions) + 0.9, title)
    bottom, other = 0.0, ""
    for number, (question, answer, outcome, kind) in enumerate(questions):
        y = step * (len(questions) - number) + 0.4
        half = height_of(question) / 2
        if number:
            d.arrow((2.0, bottom), (2.0, y + half), other)
        bottom, other = y - half, "yes" if answer == "no" else "no"
        d.box(2.0, y, 3.5, question)
        d.box(5.95, y, 3.1, outcome, kind)
        d.arrow((3.75, y), (4.4, y), answer)
    text, kind = last.rsplit("|", 1)
    d.arrow((2.0, bottom), (2.0, 0.4 + height_of(text) / 2), other)
    d.box(2.0, 0.4, 3.5, text, kind)
    return save(d.figure, folder, name)


def draw_profiles(folder: Path) -> Path:
    questions = (
        ("Must ciphers and keys come from\nOpenSSL's FIPS provider?", "yes", "fips\n(OpenSSL 3.5 or later)", "good"),
        (
            "If drng cannot be loaded: is the program to run\nall the same, on OpenSSL's generator?",
            "yes",
            "permissive",
            "care",
        ),
        (
            "Is every OpenSSL that reads the file 3.5 or\nlater, and is the shortest way wanted?",
            "yes",
            "random-provider",
            "good",
        ),
    )
    return ladder(folder, "profiles", "Which profile?", questions, "strict, the default|good")


def draw_clones(folder: Path) -> Path:
    counter = "counter\nthe machine tells of each copy,\nand generators take new seeds"
    word = "instruction\nevery request takes in a fresh word"
    questions = (
        ("May the process read the machine's\nclock device, /dev/vmclock0?", "yes", counter, "good"),
        ("Is request_mixing = no?", "yes", "none\ncopies draw the same bytes", "bad"),
        (
            "Is it a virtual machine, or request_mixing = yes?\n(on CPUs other than x86-64: always)",
            "no",
            "none\nright on bare metal",
            "good",
        ),
        ("May RDRAND, or another\ninstruction, be used?", "yes", word, "good"),
    )
    last = "kernel: every request takes in kernel bytes\nand the time; copies may repeat for a while|care"
    return ladder(folder, "clone-protection", "What clone-protection says", questions, last)


def draw_failures(folder: Path) -> Path:
    strict = "strict: nobody serves, servers do\nnot start; permissive: OpenSSL's\nown generator serves"
    silent = (
        "OpenSSL's own generator serves, in silence;\nstrict, with a mistyped key: an error in some\n"
        "programs, or nobody serves (as in OpenSSL 4)"
    )
    seeded = "drng serves; its seeds are OpenSSL's\n(active-source says fallback)"
    questions = (
        ("Can OpenSSL read openssl.cnf\nup to its end?", "no", silent, "bad"),
        ("Does drng load: is the module there, are\nits values right, is its self-test passed?", "no", strict, "care"),
        (
            "Does RDSEED, else RDRAND, give words\nin time that pass the tests?",
            "yes",
            "drng serves; its seeds are\nthe instruction's",
            "good",
        ),
        ("Is fallback = yes, and does OpenSSL's\ndefault seed source serve?", "yes", seeded, "care"),
    )
    last = "RAND_bytes fails: zeros, and an error|bad"
    return ladder(folder, "failures", "What happens when something fails", questions, last)


def draw_way(folder: Path) -> Path:
    d = Diagram(7.4, 5.0, "The way of a byte")
    d.box(1.3, 4.6, 2.2, "RDSEED, else RDRAND\n(words of 64 bits)")
    d.box(1.3, 3.7, 2.2, "health tests, every word")
    d.box(1.3, 2.8, 2.2, "conditioner\nCBC-MAC or HMAC")
    d.box(4.0, 4.6, 2.3, "the kernel: getrandom()\n(no claim; os_mixing)")
    d.box(4.0, 2.8, 0.9, "XOR")
    d.box(6.3, 4.6, 1.9, "OpenSSL's default\nseed source")
    d.arrow((1.3, 4.31), (1.3, 3.9))
    d.arrow((1.3, 3.5), (1.3, 3.09))
    d.arrow((2.4, 2.8), (3.55, 2.8), "128-bit blocks")
    d.arrow((4.0, 4.31), (4.0, 3.0), "if it is ready\nand allowed")
    d.box(4.0, 1.9, 3.2, "seed of 384 bits", bold=True)
    d.arrow((4.0, 2.6), (4.0, 2.1))
    d.arrow((6.3, 4.31), (5.6, 1.98), "only if no\ninstruction serves,\nand fallback = yes", True)
    d.box(4.0, 1.1, 3.2, "primary CTR_DRBG, one in a process")
    d.arrow((4.0, 1.7), (4.0, 1.3))
    d.box(4.0, 0.3, 3.2, "public and private CTR_DRBG of each thread")
    d.arrow((4.0, 0.9), (4.0, 0.5))
    d.box(1.1, 0.3, 1.7, "a fresh word, where\nrequests are mixed")
    d.arrow((1.95, 0.3), (2.4, 0.3))
    d.arrow((5.6, 0.3), (6.3, 0.3))
    d.box(6.8, 0.3, 1.0, "RAND_bytes", bold=True)
    return save(d.figure, folder, "way-of-a-byte")


DRAWN = (draw_profiles, draw_way, draw_clones, draw_failures)
NAMES = ("profiles", "way-of-a-byte", "clone-protection", "failures")


def check(folder: Path) -> int:
    old = [name for name in NAMES if drawn_from().encode() not in (folder / f"{name}.png").read_bytes()]
    for name in old:
        print(f"{name}.png was drawn from something else: scripts/evidence/pictures.py draws it anew")
    return 1 if old else 0


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return check(DOCS / "pictures")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "pictures"
    for draw in DRAWN:
        print(draw(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
