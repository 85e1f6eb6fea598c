"""The report of scripts/evidence/assess.py: one HTML file, its pictures inside."""

import base64
import html
import io
from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from assess_statistics import LONGEST_RUN, Statistics

INK, LINE, MUTED = "#1f2933", "#2463a6", "#c2c9d1"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #dde2e7; vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; }
img { max-width: 100%; }
.found { color: #a61b1b; font-weight: 600; }
.wrong { background: #ffe3e3; }
h2 { margin-top: 2.5rem; border-top: 1px solid #dde2e7; padding-top: 1rem; }
"""


def picture(s: Statistics, p_values: Sequence[float]) -> bytes:
    """What the statistics looked at, in five plots side by side."""
    plt.rcParams.update({"font.size": 9, "axes.edgecolor": MUTED, "text.color": INK, "axes.titlesize": 10})
    figure, axes = plt.subplots(1, 5, figsize=(18, 3.1), layout="constrained")

    frequencies = s.byte_counts / max(1, s.byte_counts.sum()) * 256
    axes[0].stairs(frequencies, np.arange(257) - 0.5, fill=True, color=LINE)
    axes[0].axhline(1, color=INK, linewidth=0.8)
    axes[0].set(title="Bytes: frequency over 1/256", xlabel="value", xlim=(-1, 256))

    half = 5 * 0.5 / np.sqrt(max(1, s.bits / 64))
    axes[1].axhspan(0.5 - half, 0.5 + half, color=MUTED, alpha=0.5, linewidth=0)
    axes[1].plot(s.ones_by_position, ".", color=LINE)
    reach = max(2 * half, 1.2 * float(np.max(np.abs(s.ones_by_position - 0.5))))
    axes[1].set(
        title="Bits: share of ones in a word (grey: 5 sigma)", xlabel="position", ylim=(0.5 - reach, 0.5 + reach)
    )

    lags = np.arange(1, len(s.correlation) + 1)
    axes[2].axhspan(-5, 5, color=MUTED, alpha=0.5, linewidth=0)
    axes[2].vlines(lags, 0, s.correlation, color=LINE, linewidth=1)
    axes[2].set(title="Autocorrelation of bits (sigma)", xlabel="lag")

    lengths = np.arange(1, LONGEST_RUN + 1)
    axes[3].semilogy(lengths, np.maximum(s.expected_runs, 0.5), color=INK, linewidth=0.8, label="expected")
    axes[3].semilogy(lengths, np.maximum(s.runs, 0.5), "o", color=LINE, markersize=4, label="found")
    axes[3].set(title="Runs of equal bits", xlabel=f"length ({LONGEST_RUN}: and longer)")
    axes[3].legend(frameon=False)

    axes[4].plot([0, 1], [0, 1], color=INK, linewidth=0.8)
    axes[4].step(np.sort(s.block_p), np.arange(1, len(s.block_p) + 1) / max(1, len(s.block_p)), color=LINE)
    if p_values:
        axes[4].plot(np.sort(p_values), np.arange(1, len(p_values) + 1) / len(p_values), "x", color="#a61b1b")
    axes[4].set(title="p-values: blocks (line), tests (crosses)", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90)
    plt.close(figure)
    return buffer.getvalue()


def embedded(png: bytes, about: str) -> str:
    return f'<img alt="{html.escape(about)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML."""
    lines = ["<table><tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>"]
    lines += ["<tr>" + "".join(f'<td class="number">{cell}</td>' for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])


def page(title: str, introduction: Sequence[str], parts: Sequence[str]) -> str:
    paragraphs = "\n".join(f"<p>{p}</p>" for p in introduction)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"</head><body>\n<h1>{title}</h1>\n{paragraphs}\n" + "\n".join(parts) + "\n</body></html>\n"
    )
