"""An image of a system with drng installed in it, and drng-enable on it: live, or from outside by --root.

Live is in a mount namespace in which the image's folders stand in the place of the machine's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD, RELEASE, served_by_drng

STOCK = Path("/etc/ssl/openssl.cnf")
NOBODY = 65534

# In a namespace of its own: the root of the image, its modules directory, and where that belongs; then the command.
LIVE = """
set -e
mkdir -p /usr/lib/systemd/system
mount --bind "$1/etc" /etc
mount --bind "$1/usr/lib/systemd/system" /usr/lib/systemd/system
mount --bind "$2" "$3"
mount -t tmpfs -o mode=755 run /run
shift 3
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
    def backup(self) -> Path:
        return self.root / "etc/ssl/openssl.cnf.before-drng"

    @property
    def drop_in(self) -> Path:
        return self.root / "etc/systemd/system/nginx.service.d/drng.conf"

    # Changed from outside, by --root.
    offline: bool = False

    @property
    def command(self) -> list[str]:
        return [str(self.root / "usr/sbin/drng-enable")]

    def run(self, *arguments: str, user: int | None = None, **kwargs: Any) -> subprocess.CompletedProcess[str]:
        # The caller's environment must not leak into the check: with this one, nothing would load.
        env = {"PATH": os.environ["PATH"], "OPENSSL_CONF": "/nowhere", "OPENSSL_MODULES": "/nowhere"}
        kwargs = {"env": env, "cwd": "/", "timeout": 60, **kwargs}
        seen = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in kwargs["env"].items())]
        if self.offline:
            command = [*self.command, *arguments, "--root", str(self.root)]
        else:
            switch = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            # For drng-enable, not for what makes the namespace.
            kwargs["env"] = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
            start = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", LIVE, "sh", *self.mounts()]
            command = [*start, *switch, *seen, *self.command, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)

    def mounts(self) -> list[str]:
        modules = str(self.modules)
        return [str(self.root), modules, modules.removeprefix(str(self.root))]

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

    def readable(self, path: Path) -> Path:
        """The file with what it includes from the image, for programs outside of it; not under etc."""
        text = re.sub(r"^\.include /", f".include {self.root}/", path.read_text(), flags=re.MULTILINE)
        copy = self.root / "readable.cnf"
        copy.write_text(text)
        # One more level: a service's file includes the system's, which includes the profile.
        if ".include" in (included := self.conf.read_text()):
            deeper = self.root / "readable-system.cnf"
            deeper.write_text(re.sub(r"^\.include /", f".include {self.root}/", included, flags=re.MULTILINE))
            copy.write_text(text.replace(f".include {self.conf}", f".include {deeper}"))
        return copy

    @property
    def modules(self) -> Path:
        return next((self.root / "usr/lib").rglob("ossl-modules"))

    def env(self, path: Path) -> dict[str, str]:
        return {"OPENSSL_CONF": str(self.readable(path)), "OPENSSL_MODULES": str(self.modules)}

    def served(self, path: Path) -> bool:
        answer = RELEASE.probe(None, self.env(path))
        return answer["rand_bytes"] == 1 and served_by_drng(answer)

    def output(self, path: Path, *command: str) -> str:
        result = RELEASE.run(command, self.env(path))
        assert result.returncode == 0, result.stderr
        return result.stdout

    def providers(self, path: Path) -> set[str]:
        return set(re.findall(r"^  (\w+)$", self.output(path, "openssl", "list", "-providers"), flags=re.MULTILINE))

    def ciphers(self, path: Path) -> str:
        return self.output(path, "openssl", "ciphers", "-s", "-v")


def install(root: Path) -> None:
    """What an image begins as: drng as the build installs it, OpenSSL's file as it came, and two services."""
    subprocess.run(
        ["cmake", "--install", str(BUILD / "release"), "--prefix", "/usr"],
        env={"DESTDIR": str(root), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    # drng-enable itself never writes these, so that each run would compile all of it. By the sources' sums: they are
    # taken for theirs in every copy, and never for what a test has changed.
    subprocess.run(
        ["/usr/bin/python3", "-m", "compileall", "-q", "--invalidation-mode=checked-hash", root / "usr/share/drng"],
        check=True,
    )
    modules = next((root / "usr/lib").rglob("ossl-modules"))
    legacy = subprocess.run(
        ["pkg-config", "--variable=modulesdir", "libcrypto"], capture_output=True, text=True, check=True
    ).stdout.strip()
    shutil.copy(Path(legacy) / "legacy.so", modules)
    (root / "usr/lib/ssl").mkdir(parents=True)
    (root / "usr/lib/ssl/openssl.cnf").symlink_to("/etc/ssl/openssl.cnf")
    shutil.copy(STOCK, root / "etc/ssl/openssl.cnf")
    units = root / "usr/lib/systemd/system"
    units.mkdir(parents=True, exist_ok=True)
    (units / "nginx.service").write_text("[Service]\nExecStart=/usr/sbin/nginx\n")
    (units / "stunnel@.service").write_text("[Service]\nExecStart=/usr/bin/stunnel\n")
