# SPDX-License-Identifier: Apache-2.0
"""A table as the pages of docs/ have it; for the modules beside this one."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
