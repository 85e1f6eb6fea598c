"""Pictures of what scripts/evidence/nist-90b.sh has collected: bits, restarts, retries and autocorrelation."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from assess_page import INK, LINE, MUTED
from assess_statistics import measure

SIDE = 256  # bits, of an image
RESTARTS = 1000


def image(data: bytes, row_bytes: int) -> np.ndarray:
    """SIDE rows, each of the first SIDE bits of so many bytes."""
    rows = np.frombuffer(data, dtype=np.uint8)[: SIDE * row_bytes].reshape(SIDE, row_bytes)
    return np.unpackbits(rows[:, : SIDE // 8], axis=1, bitorder="little")


def bits(directory: Path, sources: Sequence[str]) -> plt.Figure:
    figure, axes = plt.subplots(2, len(sources), figsize=(3.2 * len(sources), 7), layout="constrained")
    for column, source in enumerate(sources):
        for line, (name, row_bytes) in enumerate(((f"{source}.bin", SIDE // 8), (f"{source}.restarts.bin", RESTARTS))):
            data = (directory / name).read_bytes()
            axes[line, column].imshow(image(data, row_bytes), cmap="gray_r", interpolation="nearest")
            axes[line, column].set(xticks=[], yticks=[])
        axes[0, column].set_title(source)
    axes[0, 0].set_ylabel("samples in a row")
    axes[1, 0].set_ylabel("a restart in each row")
    return figure


def retries(directory: Path, sources: Sequence[str]) -> plt.Figure:
    figure, axes = plt.subplots(1, len(sources), figsize=(5.5 * len(sources), 3.2), layout="constrained", squeeze=False)
    for axis, source in zip(axes[0], sources, strict=True):
        counts = np.bincount(np.fromfile(directory / f"{source}.retries.bin", dtype="<u8").astype(np.int64))
        axis.bar(np.arange(len(counts)), counts, color=LINE, width=0.9)
        axis.set_yscale("log")
        axis.set(
            title=f"{source}: executions without a word before a word",
            xlabel="how many",
            ylabel="words",
            ylim=(0.5, None),
        )
        axis.set_xlim(-0.8, max(10, len(counts)))
    return figure


def correlation(directory: Path, sources: Sequence[str]) -> plt.Figure:
    figure, axes = plt.subplots(1, len(sources), figsize=(3.6 * len(sources), 3), layout="constrained")
    for axis, source in zip(axes, sources, strict=True):
        sigmas = measure((directory / f"{source}.bin").read_bytes()).correlation
        axis.axhspan(-5, 5, color=MUTED, alpha=0.5, linewidth=0)
        axis.vlines(np.arange(1, len(sigmas) + 1), 0, sigmas, color=LINE, linewidth=1.3)
        reach = max(8.0, 1.1 * float(np.max(np.abs(sigmas))))
        axis.set(title=source, xlabel="lag, in bits", ylim=(-reach, reach))
    axes[0].set_ylabel("autocorrelation, in sigma (grey: 5)")
    return figure


def draw(directory: Path, sources: Sequence[str]) -> list[Path]:
    plt.rcParams.update({"font.size": 9, "axes.edgecolor": MUTED, "text.color": INK, "axes.titlesize": 10})
    read = [s for s in sources if (directory / f"{s}.retries.bin").exists()]
    made = []
    for name, figure in (
        ("bits", bits(directory, sources)),
        ("correlation", correlation(directory, sources)),
        *((("retries", retries(directory, read)),) if read else ()),
    ):
        made.append(directory / f"nist-90b-{name}.png")
        figure.savefig(made[-1], dpi=90)
        plt.close(figure)
    return made
