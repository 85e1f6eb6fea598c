"""The packages: what is in them, and the life of the .deb on an image of a system; test-package.sh has more."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.drng.enable import trial
from tests.support.builds import CONF, PAGES, ROOT
from tests.support.image import STOCK, Image
from tests.support.packages import PROBES, in_chroot, output, probes

PROFILES = sorted(f"/etc/ssl/drng/{p.name}" for p in CONF.glob("*.cnf"))
# The .rpm has no place for it but among the examples.
ABSTRACTION = "/etc/apparmor.d/abstractions/drng"
CONFFILES = sorted((*PROFILES, ABSTRACTION))
# What has a place of its own is no example: completions, and the collector's units.
EXAMPLES = sorted(
    f"/usr/share/doc/drng/examples/{p.relative_to(CONF)}"
    for p in CONF.rglob("*")
    if p.is_file() and p.parent != CONF and "completions" not in p.parts and "collector" not in p.name
)


@pytest.fixture(scope="module")
def deb(packages: Path) -> Path:
    return next(packages.glob("drng_*.deb"))


@pytest.fixture(scope="module")
def unpacked(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The .deb as a tree, its control files in DEBIAN."""
    tree = tmp_path_factory.mktemp("unpacked") / "tree"
    output("dpkg-deb", "-R", deb, tree)
    return tree


def files(tree: Path) -> dict[str, Path]:
    paths = (p for p in tree.rglob("*") if not p.is_dir() and "DEBIAN" not in p.parts)
    return {f"/{p.relative_to(tree)}": p for p in paths}


def libcryptos_modules() -> str:
    return output("pkg-config", "--variable=modulesdir", "libcrypto").strip()


COMMANDS = ("drng-conf", "drng-enable", "drng-status")
UNITS = {f"/usr/lib/systemd/system/drng-status-collector.{kind}" for kind in ("service", "timer")}


def expected(suffix: str, *documentation: str, modules: str = "", zsh: str = "vendor-completions") -> set[str]:
    """What every package holds, and its own documentation."""
    module = f"{modules or libcryptos_modules()}/drng.so"
    pages = [f"/usr/share/man/man{p[-1]}/{p}{suffix}" for p in PAGES if not p.endswith(".3")]
    programs = ["/usr/bin/drng-conf", "/usr/bin/drng-status", "/usr/sbin/drng-enable"]
    imported = [
        f"/usr/share/drng/{p.relative_to(ROOT / 'scripts/drng')}" for p in (ROOT / "scripts/drng").rglob("*.py")
    ]
    docs = ROOT / "docs"
    articles = [str(p.relative_to(ROOT)) for p in (*docs.glob("*.md"), *(docs / "pictures").iterdir())]
    own = ("README.md", "SECURITY.md", "drng.spdx.json", *articles, *documentation)
    read = [f"/usr/share/doc/drng/{name}" for name in own]
    completions = [f"/usr/share/bash-completion/completions/{name}" for name in COMMANDS]
    completions += [f"/usr/share/fish/vendor_completions.d/{name}.fish" for name in COMMANDS]
    completions.append(f"/usr/share/zsh/{zsh}/_drng")
    return {module, *PROFILES, *EXAMPLES, *UNITS, *completions, *pages, *programs, *imported, *read}


# ---- What is in them ----


def test_packages_of_other_architectures_stay(tmp_path: Path) -> None:
    """In a folder that is named as the caller sees it."""
    native = output("dpkg", "--print-architecture").strip()
    other = "arm64" if native == "amd64" else "amd64"
    (tmp_path / "out").mkdir()
    for name in ("drng", "libdrng0", "libdrng-dev"):
        for architecture in (native, other):
            (tmp_path / "out" / f"{name}_0.0.1-1_{architecture}.deb").touch()
    script = str(ROOT / "scripts/packaging/package.sh")
    env = {**os.environ, "DRNG_LINT": "no"}
    subprocess.run([script, "out", "-G", "DEB"], cwd=tmp_path, env=env, check=True, capture_output=True)
    found = {path.name for path in (tmp_path / "out").glob("*_0.0.1-1_*.deb")}
    assert found == {f"{name}_0.0.1-1_{other}.deb" for name in ("drng", "libdrng0", "libdrng-dev")}
    assert len(list((tmp_path / "out").glob(f"drng_*_{native}.deb"))) == 1


def test_the_deb_holds_everything(unpacked: Path) -> None:
    documentation = ("changelog.gz", "changelog.Debian.gz", "copyright")
    own = {"/usr/share/lintian/overrides/drng", ABSTRACTION}
    assert set(files(unpacked)) - own == expected(".gz", *documentation)
    assert own <= set(files(unpacked))
    control = {"conffiles", "control", "md5sums", "postinst", "postrm", "prerm"}
    assert {p.name for p in (unpacked / "DEBIAN").iterdir()} == control


def test_the_configurations_and_nothing_else_are_conffiles(unpacked: Path) -> None:
    assert sorted((unpacked / "DEBIAN/conffiles").read_text().split()) == CONFFILES
    assert sorted(name for name in files(unpacked) if name.startswith("/etc/")) == CONFFILES


def test_it_depends_on_what_it_needs(deb: Path) -> None:
    """The commands need openssl and python3; drng.so takes libcrypto from the program that loads it."""
    depends = output("dpkg-deb", "-f", deb, "Depends").strip().split(", ")
    assert {package.split(" ")[0] for package in depends} == {"libc6", "openssl", "python3"}
    assert any(package.startswith("libc6 (>= ") for package in depends)


def test_its_sums_are_right(unpacked: Path) -> None:
    sums = dict(reversed(line.split("  ")) for line in (unpacked / "DEBIAN/md5sums").read_text().splitlines())
    found = {name[1:]: hashlib.md5(path.read_bytes()).hexdigest() for name, path in files(unpacked).items()}
    assert found == sums


def test_everything_belongs_to_root_and_the_module_is_stripped(deb: Path, unpacked: Path) -> None:
    lines = [line.split(maxsplit=5) for line in output("dpkg-deb", "-c", deb).splitlines()]
    assert {line[1] for line in lines} == {"root/root"}
    modes = {line[5]: line[0] for line in lines}
    assert {mode for name, mode in modes.items() if name.endswith("/")} == {"drwxr-xr-x"}
    executable = {Path(name).name for name, mode in modes.items() if mode == "-rwxr-xr-x"}
    assert executable == {"drng-conf", "drng-status", "drng-enable"}
    module = next(path for name, path in files(unpacked).items() if name.endswith("/drng.so"))
    assert probes(module) == PROBES
    assert ".symtab" not in output("readelf", "--wide", "--sections", module)


def library_package(packages: Path, name: str, into: Path) -> tuple[set[str], str]:
    """What one of the library's packages holds beside its documentation, and its control file."""
    (package,) = packages.glob(f"{name}_*.deb")
    output("dpkg-deb", "-R", package, into)
    held = {path for path in files(into) if not path.startswith((f"/usr/share/doc/{name}/", "/usr/share/lintian/"))}
    return held, (into / "DEBIAN/control").read_text()


def test_the_library_has_packages_of_its_own(packages: Path, tmp_path: Path, deb: Path) -> None:
    lib = output("pkg-config", "--variable=libdir", "libcrypto").strip()
    version = output("dpkg-deb", "-f", deb, "Version").strip()
    upstream = version.partition("-")[0]
    held, control = library_package(packages, "libdrng0", tmp_path / "run")
    assert held == {f"{lib}/libdrng.so.0", f"{lib}/libdrng.so.{upstream}"}
    assert f"\nVersion: {version}\n" in control
    assert "\nDepends: libc6 (>= " in control
    assert (tmp_path / "run/DEBIAN/shlibs").read_text() == f"libdrng 0 libdrng0 (>= {upstream})\n"
    assert (tmp_path / "run/DEBIAN/triggers").read_text() == "activate-noawait ldconfig\n"
    assert ".symtab" not in output("readelf", "--wide", "--sections", tmp_path / f"run{lib}/libdrng.so.0")

    held, control = library_package(packages, "libdrng-dev", tmp_path / "dev")
    cmake = {f"{lib}/cmake/drng/drng-config{part}.cmake" for part in ("", "-version")}
    page = "/usr/share/man/man3/libdrng.3.gz"
    calls = re.findall(r"^    (drng_\w+);", (ROOT / "mixing" / "library" / "drng.map").read_text(), flags=re.M)
    assert len(calls) >= 20
    assert held == {
        "/usr/include/drng.h",
        page,
        *(f"/usr/share/man/man3/{call}.3.gz" for call in calls),
        *cmake,
        *(f"{lib}/{n}" for n in ("libdrng.a", "libdrng.so", "pkgconfig/drng.pc")),
    }
    assert f"\nDepends: libdrng0 (= {version})\n" in control


def test_a_program_is_built_from_the_library_s_packages(packages: Path, tmp_path: Path) -> None:
    """Both unpacked over one another, as dpkg would do it."""
    for name in ("libdrng0", "libdrng-dev"):
        output("dpkg-deb", "-x", next(packages.glob(f"{name}_*.deb")), tmp_path)
    (lib,) = (path.parent for path in tmp_path.rglob("libdrng.a"))
    example = tmp_path / "usr/share/doc/libdrng-dev/examples/fill.c"
    output(
        "gcc",
        example,
        "-o",
        tmp_path / "fill",
        "-I",
        tmp_path / "usr/include",
        "-L",
        lib,
        "-ldrng",
        f"-Wl,-rpath,{lib}",
    )
    assert "seeded by " in output(tmp_path / "fill")


def test_the_changelog_is_of_this_version(deb: Path, unpacked: Path) -> None:
    text = gzip.decompress((unpacked / "usr/share/doc/drng/changelog.Debian.gz").read_bytes()).decode()
    assert text.startswith(f"drng ({output('dpkg-deb', '-f', deb, 'Version').strip()}) ")
    upstream = gzip.decompress((unpacked / "usr/share/doc/drng/changelog.gz").read_bytes())
    assert upstream == (ROOT / "CHANGELOG.md").read_bytes()


def test_lintian_finds_nothing(deb: Path) -> None:
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not installed")
    assert output("lintian", "--fail-on", "error,warning", deb, *deb.parent.glob("libdrng*.deb")) == ""


def test_the_tar_gz_holds_the_same(packages: Path) -> None:
    with tarfile.open(next(packages.glob("drng-*.tar.gz"))) as archive:
        names = {f"/{member.name}" for member in archive if not member.isdir()}
        assert {member.uid for member in archive} == {0}
    assert names == {ABSTRACTION, *expected("", "CHANGELOG.md", "LICENSE")}


def test_the_rpm_holds_the_same(packages: Path) -> None:
    rpm = next(packages.glob("drng-*.rpm"))
    listing = set(output("rpm", "-qlp", rpm).split())
    wanted = expected(".gz", "CHANGELOG.md", "LICENSE", modules="/usr/lib64/ossl-modules", zsh="site-functions")
    assert wanted <= listing
    folders = {str(p) for name in wanted for p in Path(name).parents}
    assert listing - wanted <= folders
    others = {"/etc", "/etc/ssl", "/usr/bin", "/usr/lib64", "/usr/lib64/ossl-modules", "/usr/sbin", "/usr/share/man"}
    assert not others & listing, "not its own"
    assert output("rpm", "-qp", "--configfiles", rpm).split() == PROFILES
    scripts = output("rpm", "-qp", "--scripts", rpm)
    for name in ("prerm", "postrm"):
        assert (ROOT / "scripts/packaging" / name).read_text() in scripts
    requires = output("rpm", "-qp", "--requires", rpm)
    for needed in ("libc.so.6", "openssl\n", "python3\n"):
        assert needed in requires
    assert "libcrypto" not in requires
    assert "libssl" not in requires


# ---- The life of the .deb, on an image; dpkg runs its scripts here, and tells them where the image is ----


@dataclass
class System(Image):
    """A system under a directory, with dpkg's database."""

    def dpkg(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        force = ("--force-not-root", "--force-depends", "--force-script-chrootless")
        command = ["dpkg", f"--root={self.root}", *force, f"--log={self.root.parent}/dpkg.log", *map(str, arguments)]
        # sbin, where dpkg looks for what it needs.
        env = {**os.environ, "PATH": f"/usr/sbin:/sbin:{os.environ['PATH']}"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    def does(self, *arguments: str | Path) -> str:
        result = self.dpkg(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def everything(self) -> dict[str, bytes]:
        """But for dpkg's own, and for what served() leaves."""
        own = ("/var/lib/dpkg/", "/readable")
        return {name: path.read_bytes() for name, path in files(self.root).items() if not name.startswith(own)}


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    machine = STOCK.read_bytes()
    root = tmp_path / "root"
    for folder in ("var/lib/dpkg/updates", "var/lib/dpkg/info", "etc/ssl", "usr/lib/ssl", "usr/lib/systemd/system"):
        (root / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    shutil.copy(STOCK, root / "etc/ssl/openssl.cnf")
    (root / "usr/lib/ssl/openssl.cnf").symlink_to("/etc/ssl/openssl.cnf")
    (root / "usr/lib/systemd/system/nginx.service").write_text("[Service]\nExecStart=/usr/sbin/nginx\n")
    # From outside, since dpkg's scripts run outside as well.
    yield System(root, offline=True)
    assert STOCK.read_bytes() == machine, "the machine's own is left alone"


def changed(unpacked: Path, deb: Path, *edits: tuple[str, str, str]) -> Path:
    """The package with control files edited; a file that becomes empty goes."""
    tree = deb.parent / f"tree-{deb.stem}"
    shutil.copytree(unpacked, tree)
    for name, old, new in edits:
        path = tree / "DEBIAN" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        if path.stat().st_size == 0:
            path.unlink()
    output("dpkg-deb", "--root-owner-group", "-b", tree, deb)
    return deb


def test_installing_activates_nothing(system: System, deb: Path) -> None:
    before = system.everything()
    system.does("-i", deb)
    after = system.everything()
    assert {name: after[name] for name in before} == before
    assert not list((system.root / "etc").rglob("*.service.d"))
    assert not system.served(system.conf)


def test_an_upgrade_leaves_it_on(system: System, deb: Path, unpacked: Path, tmp_path: Path) -> None:
    system.does("-i", deb)
    system.ok("on", "--system")
    system.ok("on", "--service", "nginx")
    before = system.files()
    system.does("-i", deb)
    assert system.files() == before
    system.does("-i", changed(unpacked, tmp_path / "newer.deb", ("control", "Version: ", "Version: 9")))
    assert system.files() == before
    assert system.served(system.conf)


def test_an_upgrade_keeps_what_the_operator_has_set(system: System, deb: Path) -> None:
    system.does("-i", deb)
    profile = system.root / "etc/ssl/drng/drng.cnf"
    text = profile.read_text().replace("[drng_sect]\n", "[drng_sect]\nfallback = no\n")
    profile.write_text(text)
    system.does("--force-confold", "-i", deb)
    assert profile.read_text() == text


@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_removal_and_purge_leave_openssl_as_it_was(system: System, deb: Path, on: bool) -> None:
    before = system.everything()
    system.does("-i", deb)
    if on:
        system.ok("on", "--system")
        system.ok("on", "--service", "nginx")
        assert system.served(system.conf)
    system.does("-r", "drng")
    assert system.everything() == {**before, **{name: (system.root / name[1:]).read_bytes() for name in CONFFILES}}
    system.does("-P", "drng")
    assert system.everything() == before
    assert not (system.root / "etc/ssl/drng").exists()


def test_what_cannot_be_switched_off_keeps_drng_and_everything_as_it_was(system: System, deb: Path) -> None:
    """All services are asked before one is changed."""
    (system.root / "usr/lib/systemd/system/zz.service").write_text("[Service]\nExecStart=/usr/sbin/zz\n")
    system.does("-i", deb)
    for service in ("nginx", "zz"):
        system.ok("on", "--service", service)
    own = system.root / "etc/ssl/drng/service/zz.cnf"
    text = own.read_text()
    own.write_text(text + "# mine\n[mine]\na = b\n")
    before = system.files()
    failed = system.dpkg("-r", "drng")
    assert failed.returncode != 0
    assert "zz.cnf has lines that drng-enable did not write" in failed.stdout + failed.stderr
    assert system.files() == before
    own.write_text(text)
    # A service lets go of drng also where somebody has taken openssl.cnf away.
    system.conf.unlink()
    system.does("-r", "drng")
    assert not system.drop_in.exists() and not own.exists()


def test_without_prerm_openssl_would_not_work(system: System, unpacked: Path, tmp_path: Path) -> None:
    """The failing twin of the test above."""
    prerm = (unpacked / "DEBIAN/prerm").read_text()
    system.does("-i", changed(unpacked, tmp_path / "careless.deb", ("prerm", prerm, "")))
    system.ok("on", "--system")
    system.does("-r", "drng")
    (system.root / "usr/lib/ossl-modules").mkdir()
    assert b"drng-enable" in system.conf.read_bytes()
    result = subprocess.run(
        ["openssl", "rand", "-hex", "8"], env=system.env(system.conf), capture_output=True, text=True, check=False
    )
    assert result.returncode != 0


def test_purge_takes_the_backup_away(system: System, deb: Path) -> None:
    system.does("-i", deb)
    system.ok("on", "--system")
    with system.conf.open("a") as file:
        file.write("# mine\n")
    system.does("-r", "drng")
    assert system.backup.exists()
    system.does("-P", "drng")
    assert not system.backup.exists()
    assert system.conf.read_bytes() == STOCK.read_bytes() + b"# mine\n"


def test_purge_leaves_what_is_somebody_s_own(system: System, deb: Path) -> None:
    """Only what drng-enable wrote goes: a service's file, and one that a killed run left half written."""
    system.does("-i", deb)
    folder = system.root / "etc/ssl/drng"
    (folder / "service").mkdir()
    own = {
        folder / "mine.cnf": "my own\n",
        folder / "service/mine.cnf": ".include /etc/ssl/drng/drng.cnf\n",
        folder / "keys/secret.pem": "secret\n",
    }
    for path, text in own.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (folder / "service/old.cnf").write_text("# made by drng-enable for old.service: left\n")
    for left in (folder, folder / "service", folder.parent):
        (left / ".drng-enable-0123456789abcdef.tmp").write_text("half")
    system.does("-P", "drng")
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == own
    assert not list(folder.parent.glob(".drng-enable-*"))


@pytest.mark.parametrize("part", ["etc/ssl", "etc/ssl/drng/service", "etc/ssl/openssl.cnf.before-drng"])
def test_purge_follows_no_link(system: System, deb: Path, tmp_path: Path, part: str) -> None:
    system.does("-i", deb)
    system.does("-r", "drng")
    outside = tmp_path / "outside"
    if part.endswith("drng"):
        outside.write_text("precious\n")
    else:
        (outside / "drng/service").mkdir(parents=True)
        for name in ("openssl.cnf.before-drng", "old.cnf", "drng/service/old.cnf"):
            (outside / name).write_text("# made by drng-enable for old.service: precious\n")
    path = system.root / part
    if path.exists():
        shutil.move(path, tmp_path / "aside")
    path.symlink_to(outside)
    before = files(outside)
    system.dpkg("-P", "drng")
    assert files(outside) == before
    assert path.is_symlink()


def test_lines_by_hand_keep_it_from_being_removed(system: System, deb: Path) -> None:
    """Whoever wrote them takes them out; until then, openssl.cnf goes on working."""
    system.does("-i", deb)
    text = system.conf.read_text()
    system.conf.write_text(f"{text}.include /etc/ssl/drng/drng.cnf\n")
    result = system.dpkg("-r", "drng")
    assert result.returncode != 0
    assert "take them out first" in result.stderr
    assert system.modules.joinpath("drng.so").exists()
    system.conf.write_text(text)
    system.does("-r", "drng")


def test_a_removal_that_is_refused_leaves_the_collector_on(system: System, deb: Path) -> None:
    system.does("-i", deb)
    text = system.conf.read_text()
    wanted = system.root / "etc/systemd/system/timers.target.wants/drng-status-collector.timer"
    written = system.root / "var/lib/prometheus/node-exporter/drng.prom"
    for path in (wanted, written):
        path.parent.mkdir(parents=True)
    wanted.symlink_to("/lib/systemd/system/drng-status-collector.timer")
    written.touch()
    system.conf.write_text(f"{text}.include /etc/ssl/drng/drng.cnf\n")
    assert system.dpkg("-r", "drng").returncode != 0
    assert wanted.is_symlink() and written.exists()
    system.conf.write_text(text)
    system.does("-r", "drng")
    assert not wanted.is_symlink() and not written.exists()


def on_trial(system: System, path: Path) -> None:
    """As `on --system --try` leaves it, for which systemd must run."""
    record, link = (system.root / name[1:] for name in (trial.RECORD, trial.AT_THE_START))
    for file in (record, link):
        file.parent.mkdir(parents=True, exist_ok=True)
    conf = f"/{path.relative_to(system.root)}"
    record.write_text(
        trial.TEXT.format(program="/x", conf=conf, boot="b", until=9e9, timer="drng-enable-trial-0123abcd")
    )
    link.symlink_to(trial.RECORD)
    system.ok("on", "--system", "--conf", conf)


@pytest.mark.parametrize("gone", [False, True], ids=["there", "gone"])
def test_a_trial_of_another_file_ends_with_the_package(system: System, deb: Path, gone: bool) -> None:
    system.does("-i", deb)
    other = system.root / "etc/ssl/other.cnf"
    shutil.copy(STOCK, other)
    on_trial(system, other)
    assert "drng-enable" in other.read_text()
    if gone:
        other.unlink()
    system.does("-r", "drng")
    assert gone or other.read_bytes() == STOCK.read_bytes()
    assert not list((system.root / "etc/systemd").rglob("*trial*"))
    assert not (system.root / trial.AT_THE_START[1:]).parent.exists()


def test_a_trial_that_cannot_be_taken_back_keeps_drng(system: System, deb: Path) -> None:
    system.does("-i", deb)
    other = system.root / "etc/ssl/other.cnf"
    shutil.copy(STOCK, other)
    on_trial(system, other)
    spoilt = other.read_text().replace("# <<< drng-enable", "# gone")
    other.write_text(spoilt)
    result = system.dpkg("-r", "drng")
    assert result.returncode != 0 and "/etc/ssl/other.cnf" in result.stderr and "out of order" in result.stderr
    assert other.read_text() == spoilt and system.modules.joinpath("drng.so").exists()
    assert (system.root / trial.RECORD[1:]).exists()


def test_a_service_by_hand_is_spoken_of(system: System, deb: Path) -> None:
    system.does("-i", deb)
    system.drop_in.parent.mkdir(parents=True)
    shutil.copy(CONF / "systemd/nginx.service.d/drng.conf", system.drop_in)
    assert "nginx.service.d/drng.conf names a profile of drng's" in system.does("-r", "drng")
    assert system.drop_in.exists()


def test_the_script_of_the_rpm(system: System, deb: Path) -> None:
    """The same file as dpkg's; rpm calls it with the number of versions that stay."""
    system.does("-i", deb)
    system.ok("on", "--system")
    for remaining, on in (("1", True), ("0", False)):
        command = [str(ROOT / "scripts/packaging/prerm"), remaining]
        subprocess.run(command, env={**os.environ, "DPKG_ROOT": str(system.root)}, check=True, capture_output=True)
        assert system.served(system.conf) == on


def test_the_whole_life_in_a_chroot(deb: Path) -> None:
    in_chroot("scripts/ci/test-package.sh", deb)
