# SPDX-License-Identifier: Apache-2.0
"""The packages: what is in them, and the life of the .debs on a copy of this machine."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.drng import VERSION
from tests.support.builds import CONF, PAGES, ROOT, need, said_by
from tests.support.image import STOCK
from tests.support.packages import installed_pages

# Links in /etc, which are no conffiles, to the package's own files.
LINKS = sorted(f"/etc/ssl/drng/{p.name}" for p in CONF.glob("*.cnf"))
PROFILES = sorted([*LINKS, *(f"/usr/share/drng/profiles/{p.name}" for p in CONF.glob("*.cnf"))])
# The .rpms have no place for it but among the examples.
ABSTRACTION = "/etc/apparmor.d/abstractions/drng"
# Has what is compiled be made anew for another Python.
BYTECODE = "/usr/share/python3/runtime.d/drng-tools.rtupdate"
CONFFILES = [ABSTRACTION]
# What has a place of its own is no example: completions, and the collector's units.
EXAMPLES = sorted(
    f"/usr/share/doc/drng/examples/{p.relative_to(CONF)}"
    for p in CONF.rglob("*")
    if p.is_file() and p.parent != CONF and "completions" not in p.parts and "collector" not in p.name
)


# The provider, and its commands, which go first.
NAMES = ("openssl-provider-drng", "drng-tools")
LIBRARY = ("libdrng0", "libdrng-dev")


@pytest.fixture(scope="module")
def debs(packages: Path) -> list[Path]:
    return [next(packages.glob(f"{name}_*.deb")) for name in NAMES]


@pytest.fixture(scope="module")
def unpacked(debs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each .deb as a tree, its control files in DEBIAN."""
    trees = {name: tmp_path_factory.mktemp("unpacked") / "tree" for name in NAMES}
    for deb, tree in zip(debs, trees.values(), strict=True):
        said_by("dpkg-deb", "-R", deb, tree)
    return trees


def files(tree: Path) -> dict[str, Path]:
    paths = (p for p in tree.rglob("*") if not p.is_dir() and "DEBIAN" not in p.parts)
    return {f"/{p.relative_to(tree)}": p for p in paths}


def libcryptos_modules() -> str:
    return said_by("pkg-config", "--variable=modulesdir", "libcrypto").strip()


COMMANDS = ("drng-conf", "drng-enable", "drng-status")
UNITS = {f"/usr/lib/systemd/system/drng-status-collector.{kind}" for kind in ("service", "timer")}


def expected(suffix: str, *documentation: str, modules: str = "") -> set[str]:
    """What every package holds, and its own documentation."""
    module = f"{modules or libcryptos_modules()}/drng.so"
    pages = [f"/usr/share/man/man{p[-1]}/{p}{suffix}" for p in PAGES if not p.endswith(".3")]
    programs = ["/usr/bin/drng-conf", "/usr/bin/drng-status", "/usr/sbin/drng-enable"]
    imported = [
        f"/usr/share/drng/{p.relative_to(ROOT / 'scripts/drng')}" for p in (ROOT / "scripts/drng").rglob("*.py")
    ]
    articles = [str(p.relative_to(ROOT)) for p in installed_pages()]
    read = [f"/usr/share/doc/drng/{name}" for name in ("README.md", "SECURITY.md", *articles, *documentation)]
    completions = [f"/usr/share/bash-completion/completions/{name}" for name in COMMANDS]
    return {module, *PROFILES, *EXAMPLES, *UNITS, *completions, *pages, *programs, *imported, *read}


# ---- What is in them ----


def own_documentation(name: str) -> set[str]:
    """What Debian's policy asks of each."""
    return {f"/usr/share/doc/{name}/{file}" for file in ("changelog.gz", "changelog.Debian.gz", "copyright")}


def test_the_debs_hold_everything(unpacked: dict[str, Path]) -> None:
    provider, tools = (set(files(unpacked[name])) for name in NAMES)
    assert not provider & tools
    assert own_documentation(NAMES[0]) <= provider
    own = {*own_documentation(NAMES[0]), *own_documentation(NAMES[1]), ABSTRACTION}
    assert (provider | tools) - own - {"/usr/share/lintian/overrides/drng-tools", BYTECODE} == expected(".gz")
    pages = {f"/usr/share/man/man{page[-1]}/{page}.gz" for page in PAGES if page[-1] in "57" and "status" not in page}
    module = f"{libcryptos_modules()}/drng.so"
    assert provider == {*CONFFILES, *PROFILES, module, *pages, *own_documentation(NAMES[0])}
    control = {name: {p.name for p in (unpacked[name] / "DEBIAN").iterdir()} for name in NAMES}
    assert control == {
        "openssl-provider-drng": {"conffiles", "control", "md5sums", "postrm", "prerm"},
        "drng-tools": {"control", "md5sums", "postinst", "postrm", "prerm", "triggers"},
    }


def test_the_configurations_and_nothing_else_are_conffiles(unpacked: dict[str, Path]) -> None:
    provider, tools = (unpacked[name] for name in NAMES)
    assert sorted((provider / "DEBIAN/conffiles").read_text().split()) == CONFFILES
    assert (
        sorted(n for n, path in files(provider).items() if n.startswith("/etc/") and not path.is_symlink()) == CONFFILES
    )
    assert not (tools / "etc").exists()


def test_they_depend_on_what_they_need(debs: list[Path]) -> None:
    """The commands need openssl and python3; drng.so takes libcrypto from the program that loads it."""
    provider, tools = (said_by("dpkg-deb", "-f", deb, "Depends").strip().split(", ") for deb in debs)
    assert [package.split(" (>= ")[0] for package in provider] == ["libc6"]
    assert {package.split(" (>= ")[0] for package in tools} == {"openssl", "openssl-provider-drng", "python3:any"}


def test_the_version_is_that_of_the_changelog(packages: Path) -> None:
    (package,) = packages.glob("drng-tools_*.deb")
    heading = re.search(r"^## (?:Not released yet: (\S+)|(\S+) - )", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert heading
    wanted = f"{heading[1]}~dev-1" if heading[1] else f"{heading[2]}-1"
    assert said_by("dpkg-deb", "-f", package, "Version").strip() == wanted, "debian/changelog"
    version = said_by("rpm", "-qp", "--queryformat", "%{VERSION}-%{RELEASE}", rpm(packages, "drng"))
    assert version == wanted, "scripts/packaging/drng.spec"


def test_everything_belongs_to_root_and_the_module_is_stripped(debs: list[Path], unpacked: dict[str, Path]) -> None:
    lines = [line.split(maxsplit=5) for deb in debs for line in said_by("dpkg-deb", "-c", deb).splitlines()]
    assert {line[1] for line in lines} == {"root/root"}
    modes = {line[5]: line[0] for line in lines}
    assert {mode for name, mode in modes.items() if name.endswith("/")} == {"drwxr-xr-x"}
    executable = {Path(name).name for name, mode in modes.items() if mode == "-rwxr-xr-x"}
    assert executable == {"drng-conf", "drng-status", "drng-enable", "drng-tools.rtupdate"}
    module = next(path for name, path in files(unpacked[NAMES[0]]).items() if name.endswith("/drng.so"))
    assert ".symtab" not in said_by("readelf", "--wide", "--sections", module)


def library_package(packages: Path, name: str, into: Path) -> tuple[set[str], str]:
    """What one of the library's packages holds beside its documentation, and its control file."""
    (package,) = packages.glob(f"{name}_*.deb")
    said_by("dpkg-deb", "-R", package, into)
    held = {path for path in files(into) if not path.startswith((f"/usr/share/doc/{name}/", "/usr/share/lintian/"))}
    return held, (into / "DEBIAN/control").read_text()


def test_the_library_has_packages_of_its_own(packages: Path, tmp_path: Path) -> None:
    lib = said_by("pkg-config", "--variable=libdir", "libcrypto").strip()
    version = said_by("dpkg-deb", "-f", next(packages.glob("libdrng0_*.deb")), "Version").strip()
    upstream = version.partition("-")[0]
    held, control = library_package(packages, "libdrng0", tmp_path / "run")
    assert held == {f"{lib}/libdrng.so.0", f"{lib}/libdrng.so.0.{VERSION.partition('~')[0]}"}
    assert f"\nVersion: {version}\n" in control
    assert "\nDepends: libc6 (>= " in control
    assert (tmp_path / "run/DEBIAN/shlibs").read_text() == f"libdrng 0 libdrng0 (>= {upstream})\n"
    assert "activate-noawait ldconfig\n" in (tmp_path / "run/DEBIAN/triggers").read_text()
    symbols = (ROOT / "debian/libdrng0.symbols").read_text()
    assert (tmp_path / "run/DEBIAN/symbols").read_text() == symbols
    assert ".symtab" not in said_by("readelf", "--wide", "--sections", tmp_path / f"run{lib}/libdrng.so.0")

    held, control = library_package(packages, "libdrng-dev", tmp_path / "dev")
    cmake = {f"{lib}/cmake/drng/drng-config{part}.cmake" for part in ("", "-version")}
    page = "/usr/share/man/man3/libdrng.3.gz"
    calls = re.findall(r"^    (drng_\w+);", (ROOT / "library" / "drng.map").read_text(), flags=re.M)
    assert len(calls) >= 20
    assert held == {
        "/usr/include/drng.h",
        page,
        *(f"/usr/share/man/man3/{call}.3.gz" for call in calls),
        *cmake,
        *(f"{lib}/{n}" for n in ("libdrng.a", "libdrng.so", "pkgconfig/drng.pc")),
    }
    assert f"\nDepends: libdrng0 (= {version})\n" in control


def test_a_call_that_goes_ends_the_build(packages: Path, tmp_path: Path) -> None:
    """The failing twin of the symbols file: programs that are linked to such a call would no longer start."""
    library_package(packages, "libdrng0", tmp_path / "run")
    (tmp_path / "debian").mkdir()
    shutil.copy(ROOT / "debian/control", tmp_path / "debian")
    command = [
        "dpkg-gensymbols",
        "-plibdrng0",
        f"-P{tmp_path}/run",
        "-v1.0.0",
        f"-I{tmp_path}/symbols",
        "-O/dev/null",
    ]
    text = (ROOT / "debian/libdrng0.symbols").read_text()
    for more, status in (("", 0), (" drng_gone@DRNG_1.0 1.0.0~\n", 1)):
        (tmp_path / "symbols").write_text(text + more)
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (result.returncode, "drng_gone" in result.stdout) == (status, bool(more)), result.stdout + result.stderr


def test_lintian_finds_nothing(packages: Path) -> None:
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not installed")
    options = ("--allow-root", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs")
    assert said_by("lintian", *options, *packages.glob("*.deb")) == ""


def rpm(packages: Path, name: str) -> Path:
    (found,) = packages.glob(f"{name}-[0-9]*.rpm")
    return found


def rpm_files(packages: Path, name: str) -> set[str]:
    return set(said_by("rpm", "-qlp", rpm(packages, name)).split())


def rpm_file(packages: Path, name: str, path: str) -> str:
    return said_by("sh", "-ec", 'rpm2cpio "$1" | cpio --to-stdout --quiet -i ".$2"', "sh", rpm(packages, name), path)


def test_the_rpms_hold_the_same(packages: Path) -> None:
    """And their scripts are those of the .debs."""
    drop_in = "/etc/pki/tls/openssl.d/drng.conf"
    held = {name: rpm_files(packages, name) for name in ("drng", "drng-tools")}
    assert not held["drng"] & held["drng-tools"]
    license = {name for name in held["drng"] if name.startswith("/usr/share/licenses/")}
    wanted = {*expected(".gz", "CHANGELOG.md", modules="/usr/lib64/ossl-modules"), drop_in}
    assert wanted <= held["drng"] | held["drng-tools"]
    folders = {str(p) for name in wanted for p in Path(name).parents}
    left = held["drng"] | held["drng-tools"]
    assert left - wanted - license <= folders
    others = {"/etc", "/etc/ssl", "/usr/bin", "/usr/lib64", "/usr/lib64/ossl-modules", "/usr/sbin", "/usr/share/man"}
    others |= {"/etc/pki", "/etc/pki/tls", "/etc/pki/tls/openssl.d"}
    assert not others & left, "not their own"
    module = rpm(packages, "drng")
    assert said_by("rpm", "-qp", "--configfiles", module).split() == [drop_in]
    text = rpm_file(packages, "drng", drop_in)
    assert text == (CONF / "openssl.d/drng.conf").read_text()
    assert all(line.startswith("#") for line in text.splitlines()), "it switches nothing on"
    for name, scripts in (("drng", "openssl-provider-drng"), ("drng-tools", "drng-tools")):
        said = said_by("rpm", "-qp", "--scripts", rpm(packages, name))
        ours = list((ROOT / "debian").glob(f"{scripts}.p*"))
        assert ours and all(path.read_text() in said for path in ours)
    requires = said_by("rpm", "-qp", "--requires", module)
    assert "libc.so.6" in requires and "libcrypto" not in requires and "libssl" not in requires
    requires = said_by("rpm", "-qp", "--requires", rpm(packages, "drng-tools"))
    assert {"openssl", "python3"} <= set(requires.split()) and "drng >= " in requires


def test_the_library_has_rpms_of_its_own(packages: Path) -> None:
    held = {name: rpm_files(packages, name) for name in ("libdrng", "libdrng-devel", "libdrng-static")}
    assert {"/usr/lib64/libdrng.so.0"} <= held["libdrng"]
    assert {"/usr/include/drng.h", "/usr/lib64/libdrng.so", "/usr/lib64/pkgconfig/drng.pc"} <= held["libdrng-devel"]
    assert "/usr/share/doc/libdrng-devel/examples/fill.c" in held["libdrng-devel"]
    assert held["libdrng-static"] == {"/usr/lib64/libdrng.a"}


def test_rpmlint_finds_nothing(packages: Path) -> None:
    if shutil.which("rpmlint") is None:
        pytest.skip("rpmlint is not installed")
    spec, config = ROOT / "scripts/packaging/drng.spec", ROOT / "scripts/packaging/rpmlint.toml"
    said = said_by("rpmlint", "--strict", "--config", config, spec, *packages.glob("*drng*.rpm"))
    assert "5 packages and 1 specfiles checked; 0 errors, 0 warnings" in said


def test_they_run_on_enterprise_linux_9(packages: Path) -> None:
    """glibc 2.34 and Python 3.9."""
    needs = [
        name for package in packages.glob("*drng*.rpm") for name in said_by("rpm", "-qp", "--requires", package).split()
    ]
    versions = [name.split("GLIBC_")[1].split(")")[0] for name in needs if "GLIBC_" in name]
    assert versions
    assert max(tuple(map(int, version.split("."))) for version in versions) <= (2, 34)


# ---- Built again ----


@pytest.mark.nightly("one build of the packages")
def test_the_same_sources_give_the_same_packages(packages: Path) -> None:
    """Elsewhere, a year later, by another user, in another order."""
    said = said_by(ROOT / "scripts/ci/reproducible.sh", packages)
    assert len(re.findall(r"^[0-9a-f]{64}  ", said, flags=re.M)) == 9


def test_other_sources_give_other_packages(packages: Path, tmp_path: Path) -> None:
    """The failing twin: the comparison compares."""
    for package in packages.glob("*drng*.*"):
        (tmp_path / package.name).write_bytes(package.read_bytes() + b"more")
    result = subprocess.run(
        [ROOT / "scripts/ci/reproducible.sh", packages, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "is another one when it is built elsewhere" in result.stderr


# ---- The life of the .debs, on a copy of this machine ----

# A mount namespace that stays, with a copy of the machine, of which the changes are in memory.
COPY = """
set -e
mount -t tmpfs none "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount -t tmpfs run "$1/root/run"
mount --rbind /dev "$1/root/dev"
printf '#!/bin/sh\nexit 101\n' >"$1/root/usr/sbin/policy-rc.d"
rm -f "$1/root/var/lib/man-db/auto-update" # or each dpkg -i indexes all pages of this machine
echo ready
exec sleep infinity
"""


@dataclass
class System:
    """A copy of this machine, whose openssl.cnf is that of the distribution."""

    pid: int
    folder: Path

    @property
    def root(self) -> Path:
        return Path(f"/proc/{self.pid}/root{self.folder}/root")

    @property
    def conf(self) -> Path:
        return self.root / "etc/ssl/openssl.cnf"

    @property
    def drop_in(self) -> Path:
        return self.root / "etc/systemd/system/nginx.service.d/drng.conf"

    def run(self, *command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", **env}
        enter = ["nsenter", f"--target={self.pid}", "--mount", "chroot", f"{self.folder}/root"]
        return subprocess.run([*enter, *command], capture_output=True, text=True, check=False, env=env, cwd="/")

    def does(self, *arguments: str | Path) -> str:
        result = self.run("dpkg", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def ok(self, *words: str) -> str:
        result = self.run("drng-enable", *words)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def everything(self) -> dict[str, bytes]:
        """What differs from this machine, but for dpkg's own, and for what ldconfig and man-db keep."""
        changes = Path(f"/proc/{self.pid}/root{self.folder}/changes")
        kept = ("/var/", "/etc/ld.so.cache", "/usr/sbin/policy-rc.d")
        found = {name: path for name, path in files(changes).items() if not name.startswith(kept)}
        return {
            name: os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            for name, path in found.items()
            if "__pycache__" not in name and (path.is_symlink() or path.is_file())
        }

    def served(self) -> bool:
        listed = self.run("openssl", "list", "-providers")
        return listed.returncode == 0 and "\n  drng\n" in listed.stdout


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    if os.geteuid() != 0:
        pytest.skip("a copy of the machine takes root")
    machine = STOCK.read_bytes()
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", COPY, "sh", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield System(process.pid, tmp_path)
        finally:
            process.kill()
    assert STOCK.read_bytes() == machine, "the machine's own is left alone"


def test_the_commands_are_compiled(system: System, debs: list[Path]) -> None:
    """Root runs them, and they write no bytecode themselves: each start would compile all of them."""
    system.does("-i", *debs)
    compiled = list((system.root / "usr/share/drng").rglob("*.pyc"))
    assert {path.name.partition(".")[0] for path in compiled} >= {"act", "files", "who"}
    system.does("-r", *reversed(NAMES))
    assert not list((system.root / "usr/share/drng").rglob("*"))


def test_an_upgrade_of_openssl_that_takes_drng_away_says_so(system: System, debs: list[Path]) -> None:
    """And with which command it comes back."""
    system.does("-i", *debs)
    stock = system.conf.read_bytes()
    system.ok("on", "--system", "--profile", "permissive", "--set", "fallback=no")
    trigger = ("dpkg-trigger", "--no-await", "--by-package=openssl", "/etc/ssl/openssl.cnf")
    assert system.run(*trigger).returncode == 0
    assert "has gone" not in system.does("--triggers-only", "-a")
    system.conf.write_bytes(stock)
    assert system.run(*trigger).returncode == 0
    said = system.does("--triggers-only", "-a")
    assert "`drng-enable on --system --profile permissive --set fallback=no` brings it back" in said


LINE = ".include /etc/ssl/drng/system.cnf"


@pytest.mark.parametrize("how", ["off", "trial"])
def test_removal_and_purge_edit_nothing_of_another_package(system: System, debs: list[Path], how: str) -> None:
    """Debian Policy 10.7.3; and nothing stops apt half-way. What is left in openssl.cnf does nothing."""
    before, stock = system.everything(), system.conf.read_bytes()
    system.does("-i", *debs)
    if how == "trial":
        for folder in (
            "etc/ssl/drng/system.cnf",
            "run/drng/system.cnf",
            "run/systemd/system/x.service.d/drngz-trial.conf",
        ):
            (system.root / folder).parent.mkdir(parents=True, exist_ok=True)
            (system.root / folder).write_text("# made by drng-enable: strict crc32:0\n")
        system.conf.write_text(f"{stock.decode()}{LINE}\n")
    text = system.conf.read_bytes()
    said = system.does("-r", *reversed(NAMES))
    assert (f"keeps the line {LINE}" in said) == (how == "trial")
    left = {**before, ABSTRACTION: (system.root / ABSTRACTION[1:]).read_bytes()}
    left |= {"/etc/ssl/openssl.cnf": text} if how != "off" else {}
    assert system.everything() == left and not (system.root / "run/drng").exists()
    assert not system.served() and system.run("openssl", "rand", "-hex", "8").returncode == 0
    system.does("-P", *reversed(NAMES))
    del left[ABSTRACTION]
    assert system.everything() == left
    assert not (system.root / "etc/ssl/drng").exists()


def test_removal_and_purge_leave_what_is_somebody_s_own(system: System, debs: list[Path]) -> None:
    """Only what drng-enable wrote goes, and what a killed run left half written; and no link is followed."""
    system.does("-i", *debs)
    folder, outside = system.root / "etc/ssl/drng", system.root / "outside"
    own = {folder / "mine.cnf": "my own\n", folder / "keys/secret.pem": "secret\n"}
    for path, text in own.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    outside.mkdir()
    (outside / "drng.conf").write_text("# made by drng-enable: strict crc32:0\n")
    (folder / "old.cnf").symlink_to("/outside/drng.conf")
    drop_ins = system.root / "etc/systemd/system/nginx.service.d"
    drop_ins.mkdir(parents=True)
    for left in (folder, folder.parent, drop_ins):
        (left / ".drng-enable-0123456789abcdef.tmp").write_text("half")
    system.does("-P", *reversed(NAMES))
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()} == own
    assert not list(folder.parent.glob(".drng-enable-*")) and not drop_ins.exists()
    assert (outside / "drng.conf").exists() and (folder / "old.cnf").is_symlink()


def test_purge_names_who_runs_drng_still(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    system.ok("on", "--system", "--profile", "strict")
    program = "import hashlib, ssl, sys; ssl.RAND_bytes(8); print('ready', flush=True); sys.stdin.read()"
    enter = ["nsenter", f"--target={system.pid}", "--mount", "chroot", f"{system.folder}/root"]
    words = [*enter, "/usr/bin/python3", "-I", "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        said = system.does("-P", *reversed(NAMES))
        process.stdin.close()
        assert f"process {process.pid} (python3) runs drng until it is restarted" in said


def test_a_service_by_hand_is_spoken_of(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    system.drop_in.parent.mkdir(parents=True)
    shutil.copy(CONF / "systemd/nginx.service.d/drng.conf", system.drop_in)
    assert "nginx.service.d/drng.conf names a profile of drng's" in system.does("-r", *reversed(NAMES))
    assert system.drop_in.exists()


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_the_whole_life(system: System, packages: Path, kind: str) -> None:
    for name in ("nginx", "curl", "rpm"):
        need(name)
    words = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", ROOT / "scripts/packaging/life.sh"]
    result = system.run(*words, kind, packages)
    assert result.returncode == 0, result.stdout + result.stderr
