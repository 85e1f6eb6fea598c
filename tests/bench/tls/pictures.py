# SPDX-License-Identifier: Apache-2.0
"""Two pictures of a report: the ratios with their spread, and the generator's share of the CPU time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"built-in": "#8a8f98", "drng": "#1f6fb4"}


def _labels(results: list[dict[str, Any]]) -> list[str]:
    return [f"{r['server']}: {r['workload']}" for r in results]


def _pyplot() -> Any:
    """Imported where it is used: a machine whose matplotlib does not load has the figures without pictures."""
    import matplotlib

    matplotlib.use("Agg")
    # The same report gives the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "bench-tls", "font.size": 9})
    from matplotlib import pyplot

    return pyplot


def save(figure: Figure, output: Path, name: str) -> list[Path]:
    paths = [output / f"{name}.svg", output / f"{name}.png"]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=120, bbox_inches="tight", metadata=metadata)
    _pyplot().close(figure)
    return paths


def axes(labels: list[str]) -> tuple[Figure, Any]:
    """A row for each label, the first on top."""
    figure, found = _pyplot().subplots(figsize=(8, 1 + 0.3 * len(labels)))
    found.set_yticks(range(len(labels)), labels)
    found.invert_yaxis()
    found.grid(axis="x", alpha=0.3)
    for side in ("top", "right"):
        found.spines[side].set_visible(False)
    return figure, found


def ratios(results: list[dict[str, Any]], output: Path) -> list[Path]:
    figure, rows = axes(_labels(results))
    for offset, key, label, marker in ((-0.15, "rate_ratio", "rate", "o"), (0.15, "cpu_ratio", "CPU time", "s")):
        spreads = [r[key] for r in results]
        medians = [s["median"] for s in spreads]
        rows.errorbar(
            medians,
            [i + offset for i in range(len(results))],
            xerr=[
                [s["median"] - s["low"] for s in spreads],
                [s["high"] - s["median"] for s in spreads],
            ],
            fmt=marker,
            markersize=4,
            capsize=2,
            label=label,
        )
    rows.axvline(1, color="black", linewidth=0.8)
    rows.set_xlabel("drng / built-in: median, lowest and highest of the repeats")
    rows.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return save(figure, output, "tls-ratios")


def shares(results: list[dict[str, Any]], output: Path) -> list[Path]:
    figure, rows = axes(_labels(results))
    for offset, side in ((-0.2, "built-in"), (0.2, "drng")):
        rows.barh(
            [i + offset for i in range(len(results))],
            [100 * r["share"][side] for r in results],
            height=0.38,
            color=COLOURS[side],
            label=side,
        )
    rows.set_xlabel("the generator's share of the server's CPU time for a request, %")
    rows.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return save(figure, output, "tls-shares")


def draw(report: dict[str, Any], output: Path) -> list[Path]:
    return ratios(report["results"], output) + shares(report["results"], output)
