# SPDX-License-Identifier: Apache-2.0
"""An image of a system with drng installed in it, and drng-enable in it: in a mount namespace in which the image's
folders stand in the place of the machine's.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD, Flavour, said_by, served_by_drng

STOCK = Path("/etc/ssl/openssl.cnf")
NOBODY = 65534

# In a namespace of its own: what comes first, the image, its modules directory, and where that belongs; then the
# command.
LIVE = """
set -e
eval "$1"
mkdir -p /usr/lib/systemd/system
mount --rbind "$2/etc" /etc
mount --bind "$3" "$4"
mount -t tmpfs -o mode=755 run /run
shift 4
exec "$@"
"""


@dataclass
class Image:
    """A system under a directory, with drng installed in it."""

    root: Path

    @property
    def conf(self) -> Path:
        return self.root / "etc/ssl/openssl.cnf"

    @property
    def system(self) -> Path:
        """What drng-enable writes for the system, and openssl.cnf includes."""
        return self.root / "etc/ssl/drng/system.cnf"

    @property
    def own(self) -> Path:
        """What drng-enable writes for nginx, in place of openssl.cnf."""
        return self.root / "etc/ssl/drng/nginx.cnf"

    @property
    def drop_in(self) -> Path:
        return self.root / "etc/systemd/system/nginx.service.d/drng.conf"

    @property
    def command(self) -> list[str]:
        return [str(self.root / "usr/sbin/drng-enable")]

    def enter(self, before: str = "") -> list[str]:
        """What runs a command in the image; `before` is a line of shell, which has the image's root as $2."""
        modules = str(self.modules)
        places = [str(self.root), modules, modules.removeprefix(str(self.root))]
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", LIVE, "sh", before, *places]

    def run(
        self, *arguments: str, user: int | None = None, before: str = "", script: str = "", **kwargs: Any
    ) -> subprocess.CompletedProcess[str]:
        """drng-enable with these arguments; or a script of sh, which has it as "$@"."""
        # The caller's environment must not leak into the check: with this one, nothing would load.
        env = {"PATH": os.environ["PATH"], "OPENSSL_CONF": "/nowhere", "OPENSSL_MODULES": "/nowhere"}
        kwargs = {"env": env, "cwd": "/", "timeout": 60, **kwargs}
        seen = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in kwargs["env"].items())]
        switch = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        # For drng-enable, not for what makes the namespace.
        kwargs["env"] = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        shell = ["/bin/sh", "-c", script, "sh"] if script else []
        command = [*self.enter(before), *shell, *switch, *seen, *self.command, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)

    def answer(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """For programs."""
        result = self.run(*arguments, "--json")
        assert result.returncode == status, result.stdout + result.stderr
        return json.loads(result.stdout)

    def about(self, name: str = "system") -> dict[str, Any]:
        """What the bare command says of the system, or of a service that is on; nothing of one that is off."""
        result = self.run("--json")
        found = json.loads(result.stdout)["targets"]
        return next((entry for entry in found if entry["name"] == name), {})

    def ok(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def refused(self, *arguments: str, user: int | None = None) -> str:
        """Fails, and leaves every file as it was."""
        before = self.files()
        result = self.run(*arguments, user=user)
        assert result.returncode == 1, result.stdout + result.stderr
        assert self.files() == before
        return result.stderr

    def files(self) -> dict[str, bytes]:
        return {
            str(p): os.readlink(p).encode() if p.is_symlink() else p.read_bytes()
            for p in (self.root / "etc").rglob("*")
            if p.is_symlink() or p.is_file()
        }

    @property
    def modules(self) -> Path:
        return next((self.root / "usr/lib").rglob("ossl-modules"))

    def inside(self, path: Path) -> Path:
        """As a program in the image names a file of it."""
        return Path("/") / path.relative_to(self.root)

    def probe(self, path: Path) -> dict[str, Any]:
        """Who serves a program in the image under this file."""
        return self._flavour.probe(None, self._env(path))

    @property
    def _flavour(self) -> Flavour:
        return Flavour("image", "release", tuple(self.enter()))

    def _env(self, path: Path) -> dict[str, str]:
        return {"OPENSSL_CONF": str(self.inside(path)), "OPENSSL_MODULES": f"/{self.modules.relative_to(self.root)}"}

    def served(self, path: Path) -> bool:
        answer = self.probe(path)
        return answer["rand_bytes"] == 1 and served_by_drng(answer)

    def output(self, path: Path, *command: str) -> str:
        return self._flavour.says(command, self._env(path))

    def providers(self, path: Path) -> set[str]:
        return set(re.findall(r"^  (\w+)$", self.output(path, "openssl", "list", "-providers"), flags=re.MULTILINE))

    def ciphers(self, path: Path) -> str:
        return self.output(path, "openssl", "ciphers", "-s", "-v")


def install(root: Path) -> None:
    """What an image begins as: drng as the build installs it, and OpenSSL's file as it came."""
    env = {"DESTDIR": str(root), "PATH": "/usr/bin:/bin"}
    said_by("cmake", "--install", BUILD / "release", "--prefix", "/usr", env=env)
    # drng-enable itself never writes these, so that each run would compile all of it. By the sources' sums: they are
    # taken for theirs in every copy, and never for what a test has changed.
    compileall = ("-m", "compileall", "-q", "--invalidation-mode=checked-hash")
    said_by("/usr/bin/python3", *compileall, root / "usr/share/drng")
    modules = next((root / "usr/lib").rglob("ossl-modules"))
    legacy = said_by("pkg-config", "--variable=modulesdir", "libcrypto").strip()
    shutil.copy(Path(legacy) / "legacy.so", modules)
    (root / "usr/lib/ssl").mkdir(parents=True)
    (root / "usr/lib/ssl/openssl.cnf").symlink_to("/etc/ssl/openssl.cnf")
    shutil.copy(STOCK, root / "etc/ssl/openssl.cnf")
    for name in ("passwd", "group"):
        shutil.copy(f"/etc/{name}", root / "etc")
