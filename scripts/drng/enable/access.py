"""Whether programs of every user may read what drng needs: drng-enable is root, and root may read everything."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def closed_to_others(path: str) -> str:
    """The file, or the first directory on the way to it, that some users may not read or pass; empty where all may."""
    real = Path(os.path.realpath(path))
    for part in (*reversed(real.parents), real):
        try:
            mode = os.stat(part).st_mode
        except OSError:
            return ""
        if not mode & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH):
            return str(part)
    return ""
