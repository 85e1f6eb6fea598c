"""The packages: what is in them, and the life of the .debs on an image of a system; test-package.sh has more."""

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
from tests.support.packages import PROBES, in_chroot, installed_pages, output, probes

PROFILES = sorted(f"/etc/ssl/drng/{p.name}" for p in CONF.glob("*.cnf"))
# The .rpms have no place for it but among the examples.
ABSTRACTION = "/etc/apparmor.d/abstractions/drng"
CONFFILES = sorted((*PROFILES, ABSTRACTION))
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
        output("dpkg-deb", "-R", deb, tree)
    return trees


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
    articles = [str(p.relative_to(ROOT)) for p in installed_pages()]
    read = [f"/usr/share/doc/drng/{name}" for name in ("README.md", "SECURITY.md", *articles, *documentation)]
    completions = [f"/usr/share/bash-completion/completions/{name}" for name in COMMANDS]
    completions += [f"/usr/share/fish/vendor_completions.d/{name}.fish" for name in COMMANDS]
    completions.append(f"/usr/share/zsh/{zsh}/_drng")
    return {module, *PROFILES, *EXAMPLES, *UNITS, *completions, *pages, *programs, *imported, *read}


# ---- What is in them ----


def test_packages_of_other_architectures_stay(packages: Path) -> None:
    """Where those of this one make way: what the fixture found left of what lay in the folder."""
    native = output("dpkg", "--print-architecture").strip()
    other = "arm64" if native == "amd64" else "amd64"
    left = (packages.parent / "packages.left").read_text().split()
    assert left == sorted(f"{name}_0.0.1-1_{other}.deb" for name in (NAMES[0], *LIBRARY))


def own_documentation(name: str, architecture: str = "") -> set[str]:
    """What Debian's policy asks of each, and its SBOM: several architectures may be installed at once."""
    sbom = f"{name}.{architecture}.spdx.json" if architecture else f"{name}.spdx.json"
    return {f"/usr/share/doc/{name}/{file}" for file in ("changelog.gz", "changelog.Debian.gz", "copyright", sbom)}


def test_the_debs_hold_everything(unpacked: dict[str, Path]) -> None:
    native = output("dpkg", "--print-architecture").strip()
    provider, tools = (set(files(unpacked[name])) for name in NAMES)
    assert not provider & tools
    assert own_documentation(NAMES[0], native) <= provider
    own = {*own_documentation(NAMES[0], native), *own_documentation(NAMES[1]), ABSTRACTION}
    assert (provider | tools) - own - {"/usr/share/lintian/overrides/drng-tools"} == expected(".gz")
    pages = {f"/usr/share/man/man{page[-1]}/{page}.gz" for page in PAGES if page[-1] in "57"}
    module = f"{libcryptos_modules()}/drng.so"
    assert provider == {*CONFFILES, module, *pages, *own_documentation(NAMES[0], native)}
    control = {name: {p.name for p in (unpacked[name] / "DEBIAN").iterdir()} for name in NAMES}
    assert control == {
        "openssl-provider-drng": {"conffiles", "control", "md5sums", "prerm"},
        "drng-tools": {"control", "md5sums", "postinst", "postrm", "prerm"},
    }


def test_the_configurations_and_nothing_else_are_conffiles(unpacked: dict[str, Path]) -> None:
    provider, tools = (unpacked[name] for name in NAMES)
    assert sorted((provider / "DEBIAN/conffiles").read_text().split()) == CONFFILES
    assert sorted(name for name in files(provider) if name.startswith("/etc/")) == CONFFILES
    assert not (tools / "etc").exists()


def test_they_depend_on_what_they_need(debs: list[Path]) -> None:
    """The commands need openssl and python3; drng.so takes libcrypto from the program that loads it."""
    provider, tools = (output("dpkg-deb", "-f", deb, "Depends").strip().split(", ") for deb in debs)
    assert [package.split(" (>= ")[0] for package in provider] == ["libc6"]
    assert {package.split(" (>= ")[0] for package in tools} == {"openssl", "openssl-provider-drng", "python3"}


def test_drng_is_what_the_one_package_of_before_becomes(packages: Path, debs: list[Path], tmp_path: Path) -> None:
    """Were that removed and not upgraded, its prerm would switch everything off."""
    (package,) = packages.glob("drng_*.deb")
    output("dpkg-deb", "-R", package, tmp_path / "tree")
    assert set(files(tmp_path / "tree")) == own_documentation("drng")
    assert {p.name for p in (tmp_path / "tree/DEBIAN").iterdir()} == {"control", "md5sums"}
    # The module is there at any time: the new one before the one package of before is unpacked.
    assert output("dpkg-deb", "-f", package, "Pre-Depends").startswith("openssl-provider-drng (>= ")
    assert output("dpkg-deb", "-f", package, "Depends").startswith("drng-tools (>= ")
    for deb in debs:
        for field in ("Breaks", "Replaces"):
            assert output("dpkg-deb", "-f", deb, field) == "drng (<< 0.3.0~)\n"


def test_the_version_is_that_of_the_changelog(packages: Path) -> None:
    (package,) = packages.glob("drng_*.deb")
    heading = re.search(r"^## (?:Not released yet: (\S+)|(\S+) - )", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert heading
    wanted = f"{heading[1]}~dev-1" if heading[1] else f"{heading[2]}-1"
    assert output("dpkg-deb", "-f", package, "Version").strip() == wanted, "debian/changelog"
    version = output("rpm", "-qp", "--queryformat", "%{VERSION}-%{RELEASE}", rpm(packages, "drng"))
    assert version == wanted, "scripts/packaging/drng.spec"


@pytest.mark.parametrize("name", NAMES)
def test_their_sums_are_right(unpacked: dict[str, Path], name: str) -> None:
    """dh leaves out those of configurations, which dpkg keeps by itself."""
    tree = unpacked[name]
    sums = dict(reversed(line.split("  ")) for line in (tree / "DEBIAN/md5sums").read_text().splitlines())
    held = {file[1:]: path for file, path in files(tree).items() if not file.startswith("/etc/")}
    assert {file: hashlib.md5(path.read_bytes()).hexdigest() for file, path in held.items()} == sums


def test_everything_belongs_to_root_and_the_module_is_stripped(debs: list[Path], unpacked: dict[str, Path]) -> None:
    lines = [line.split(maxsplit=5) for deb in debs for line in output("dpkg-deb", "-c", deb).splitlines()]
    assert {line[1] for line in lines} == {"root/root"}
    modes = {line[5]: line[0] for line in lines}
    assert {mode for name, mode in modes.items() if name.endswith("/")} == {"drwxr-xr-x"}
    executable = {Path(name).name for name, mode in modes.items() if mode == "-rwxr-xr-x"}
    assert executable == {"drng-conf", "drng-status", "drng-enable"}
    module = next(path for name, path in files(unpacked[NAMES[0]]).items() if name.endswith("/drng.so"))
    assert probes(module) == PROBES
    assert ".symtab" not in output("readelf", "--wide", "--sections", module)


def library_package(packages: Path, name: str, into: Path) -> tuple[set[str], str]:
    """What one of the library's packages holds beside its documentation, and its control file."""
    (package,) = packages.glob(f"{name}_*.deb")
    output("dpkg-deb", "-R", package, into)
    held = {path for path in files(into) if not path.startswith((f"/usr/share/doc/{name}/", "/usr/share/lintian/"))}
    return held, (into / "DEBIAN/control").read_text()


def test_the_library_has_packages_of_its_own(packages: Path, tmp_path: Path) -> None:
    lib = output("pkg-config", "--variable=libdir", "libcrypto").strip()
    version = output("dpkg-deb", "-f", next(packages.glob("drng_*.deb")), "Version").strip()
    upstream = version.partition("-")[0]
    soname = re.search(r"^project\(drng VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), flags=re.M)
    assert soname
    held, control = library_package(packages, "libdrng0", tmp_path / "run")
    assert held == {f"{lib}/libdrng.so.0", f"{lib}/libdrng.so.{soname[1]}"}
    assert f"\nVersion: {version}\n" in control
    assert "\nDepends: libc6 (>= " in control
    assert (tmp_path / "run/DEBIAN/shlibs").read_text() == f"libdrng 0 libdrng0 (>= {upstream})\n"
    assert "activate-noawait ldconfig\n" in (tmp_path / "run/DEBIAN/triggers").read_text()
    symbols = (ROOT / "debian/libdrng0.symbols").read_text()
    assert (tmp_path / "run/DEBIAN/symbols").read_text() == symbols
    assert ".symtab" not in output("readelf", "--wide", "--sections", tmp_path / f"run{lib}/libdrng.so.0")

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


def test_a_call_that_goes_ends_the_build(packages: Path, tmp_path: Path) -> None:
    """The failing twin of the symbols file: programs that are linked to such a call would no longer start."""
    library_package(packages, "libdrng0", tmp_path / "run")
    (tmp_path / "debian").mkdir()
    shutil.copy(ROOT / "debian/control", tmp_path / "debian")
    command = [
        "dpkg-gensymbols",
        "-plibdrng0",
        f"-P{tmp_path}/run",
        "-v1",
        f"-I{tmp_path}/symbols",
        "-O/dev/null",
    ]
    text = (ROOT / "debian/libdrng0.symbols").read_text()
    for more, status in (("", 0), (" drng_gone@DRNG_0.1 0.2.0\n", 1)):
        (tmp_path / "symbols").write_text(text + more)
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (result.returncode, "drng_gone" in result.stdout) == (status, bool(more)), result.stdout + result.stderr


def test_the_changelog_is_of_this_version(debs: list[Path], unpacked: dict[str, Path]) -> None:
    doc = unpacked[NAMES[0]] / "usr/share/doc" / NAMES[0]
    text = gzip.decompress((doc / "changelog.Debian.gz").read_bytes()).decode()
    assert text.startswith(f"drng ({output('dpkg-deb', '-f', debs[0], 'Version').strip()}) ")
    assert gzip.decompress((doc / "changelog.gz").read_bytes()) == (ROOT / "CHANGELOG.md").read_bytes()


def test_lintian_finds_nothing(packages: Path) -> None:
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not installed")
    assert output("lintian", "--allow-root", "--fail-on", "error,warning", *packages.glob("*.deb")) == ""


def test_the_tar_gz_holds_the_same(packages: Path) -> None:
    with tarfile.open(next(packages.glob("drng-*.tar.gz"))) as archive:
        names = {f"/{member.name}" for member in archive if not member.isdir()}
        assert {member.uid for member in archive} == {0}
    assert names == {ABSTRACTION, *expected("", "CHANGELOG.md", "LICENSE", "drng.spdx.json")}


def rpm(packages: Path, name: str) -> Path:
    (found,) = packages.glob(f"{name}-[0-9]*.rpm")
    return found


def rpm_files(packages: Path, name: str) -> set[str]:
    return set(output("rpm", "-qlp", rpm(packages, name)).split())


def rpm_file(packages: Path, name: str, path: str) -> str:
    return output("sh", "-ec", 'rpm2cpio "$1" | cpio --to-stdout --quiet -i ".$2"', "sh", rpm(packages, name), path)


def test_the_rpms_hold_the_same(packages: Path) -> None:
    """And their scripts are those of the .debs."""
    drop_in = "/etc/pki/tls/openssl.d/drng.conf"
    held = {name: rpm_files(packages, name) for name in ("drng", "drng-tools")}
    assert not held["drng"] & held["drng-tools"]
    license = {name for name in held["drng"] if name.startswith("/usr/share/licenses/")}
    wanted = {*expected(".gz", "CHANGELOG.md", modules="/usr/lib64/ossl-modules", zsh="site-functions"), drop_in}
    assert wanted <= held["drng"] | held["drng-tools"]
    folders = {str(p) for name in wanted for p in Path(name).parents}
    left = held["drng"] | held["drng-tools"]
    assert left - wanted - license <= folders
    others = {"/etc", "/etc/ssl", "/usr/bin", "/usr/lib64", "/usr/lib64/ossl-modules", "/usr/sbin", "/usr/share/man"}
    others |= {"/etc/pki", "/etc/pki/tls", "/etc/pki/tls/openssl.d"}
    assert not others & left, "not their own"
    module = rpm(packages, "drng")
    assert output("rpm", "-qp", "--configfiles", module).split() == [drop_in, *PROFILES]
    text = rpm_file(packages, "drng", drop_in)
    assert text == (CONF / "openssl.d/drng.conf").read_text()
    assert all(line.startswith("#") for line in text.splitlines()), "it switches nothing on"
    for name, scripts in (("drng", "openssl-provider-drng"), ("drng-tools", "drng-tools")):
        said = output("rpm", "-qp", "--scripts", rpm(packages, name))
        ours = list((ROOT / "debian").glob(f"{scripts}.p*"))
        assert ours and all(path.read_text() in said for path in ours)
    requires = output("rpm", "-qp", "--requires", module)
    assert "libc.so.6" in requires and "libcrypto" not in requires and "libssl" not in requires
    requires = output("rpm", "-qp", "--requires", rpm(packages, "drng-tools"))
    assert {"openssl", "python3"} <= set(requires.split()) and "drng = " in requires


def test_the_library_has_rpms_of_its_own(packages: Path) -> None:
    held = {name: rpm_files(packages, name) for name in ("libdrng", "libdrng-devel", "libdrng-static")}
    assert {"/usr/lib64/libdrng.so.0"} <= held["libdrng"]
    assert {"/usr/include/drng.h", "/usr/lib64/libdrng.so", "/usr/lib64/pkgconfig/drng.pc"} <= held["libdrng-devel"]
    assert "/usr/share/doc/libdrng-devel/examples/fill.c" in held["libdrng-devel"]
    assert held["libdrng-static"] == {"/usr/lib64/libdrng.a"}


# ---- The life of the .debs, on an image; dpkg runs its scripts here, and tells them where the image is ----


@dataclass
class System(Image):
    """A system under a directory, with dpkg's database."""

    def dpkg(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        force = ("--force-not-root", "--force-script-chrootless")
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
    entry = f"Architecture: {output('dpkg', '--print-architecture')}Version: 99\nMaintainer: x\nDescription: x\n\n"
    installed = "Status: install ok installed"
    there = "".join(f"Package: {name}\n{installed}\n{entry}" for name in ("libc6", "openssl", "python3"))
    (root / "var/lib/dpkg/status").write_text(there)
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


def test_installing_activates_nothing(system: System, debs: list[Path]) -> None:
    before = system.everything()
    system.does("-i", *debs)
    after = system.everything()
    assert {name: after[name] for name in before} == before
    assert not list((system.root / "etc").rglob("*.service.d"))
    assert not system.served(system.conf)


def test_an_upgrade_leaves_it_on(system: System, debs: list[Path], unpacked: dict[str, Path], tmp_path: Path) -> None:
    system.does("-i", *debs)
    system.ok("on", "--system")
    system.ok("on", "--service", "nginx")
    before = system.files()
    system.does("-i", *debs)
    assert system.files() == before
    newer = ("control", "\nVersion: ", "\nVersion: 9")
    system.does("-i", *(changed(tree, tmp_path / f"{name}.deb", newer) for name, tree in unpacked.items()))
    assert system.files() == before
    assert system.served(system.conf)


def test_an_upgrade_keeps_what_the_operator_has_set(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    profile = system.root / "etc/ssl/drng/drng.cnf"
    text = profile.read_text().replace("[drng_sect]\n", "[drng_sect]\nfallback = no\n")
    profile.write_text(text)
    system.does("--force-confold", "-i", *debs)
    assert profile.read_text() == text


@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_removal_and_purge_leave_openssl_as_it_was(system: System, debs: list[Path], on: bool) -> None:
    before = system.everything()
    system.does("-i", *debs)
    if on:
        system.ok("on", "--system")
        system.ok("on", "--service", "nginx")
        assert system.served(system.conf)
    system.does("-r", *reversed(NAMES))
    assert system.everything() == {**before, **{name: (system.root / name[1:]).read_bytes() for name in CONFFILES}}
    system.does("-P", *reversed(NAMES))
    assert system.everything() == before
    assert not (system.root / "etc/ssl/drng").exists()


def test_what_cannot_be_switched_off_keeps_drng_and_everything_as_it_was(system: System, debs: list[Path]) -> None:
    """All services are asked before one is changed."""
    (system.root / "usr/lib/systemd/system/zz.service").write_text("[Service]\nExecStart=/usr/sbin/zz\n")
    system.does("-i", *debs)
    for service in ("nginx", "zz"):
        system.ok("on", "--service", service)
    own = system.root / "etc/ssl/drng/service/zz.cnf"
    text = own.read_text()
    own.write_text(text + "# mine\n[mine]\na = b\n")
    before = system.files()
    failed = system.dpkg("-r", *reversed(NAMES))
    assert failed.returncode != 0
    assert "zz.cnf has lines that drng-enable did not write" in failed.stdout + failed.stderr
    assert system.files() == before
    own.write_text(text)
    # A service lets go of drng also where somebody has taken openssl.cnf away.
    system.conf.unlink()
    system.does("-r", *reversed(NAMES))
    assert not system.drop_in.exists() and not own.exists()


def test_without_prerm_openssl_would_not_work(system: System, unpacked: dict[str, Path], tmp_path: Path) -> None:
    """The failing twin of the test above."""
    careless = []
    for name, tree in unpacked.items():
        prerm = (tree / "DEBIAN/prerm").read_text()
        careless.append(changed(tree, tmp_path / f"{name}.deb", ("prerm", prerm, "")))
    system.does("-i", *careless)
    system.ok("on", "--system")
    system.does("-r", *reversed(NAMES))
    (system.root / "usr/lib/ossl-modules").mkdir()
    assert b"drng-enable" in system.conf.read_bytes()
    result = subprocess.run(
        ["openssl", "rand", "-hex", "8"], env=system.env(system.conf), capture_output=True, text=True, check=False
    )
    assert result.returncode != 0


def test_purge_takes_the_backup_away(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    system.ok("on", "--system")
    with system.conf.open("a") as file:
        file.write("# mine\n")
    system.does("-r", *reversed(NAMES))
    assert system.backup.exists()
    system.does("-P", *reversed(NAMES))
    assert not system.backup.exists()
    assert system.conf.read_bytes() == STOCK.read_bytes() + b"# mine\n"


def test_purge_leaves_what_is_somebody_s_own(system: System, debs: list[Path]) -> None:
    """Only what drng-enable wrote goes: a service's file, and one that a killed run left half written."""
    system.does("-i", *debs)
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
    system.does("-P", *reversed(NAMES))
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == own
    assert not list(folder.parent.glob(".drng-enable-*"))


@pytest.mark.parametrize("part", ["etc/ssl", "etc/ssl/drng/service", "etc/ssl/openssl.cnf.before-drng"])
def test_purge_follows_no_link(system: System, debs: list[Path], tmp_path: Path, part: str) -> None:
    system.does("-i", *debs)
    system.does("-r", *reversed(NAMES))
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
    system.dpkg("-P", *reversed(NAMES))
    assert files(outside) == before
    assert path.is_symlink()


def test_lines_by_hand_keep_it_from_being_removed(system: System, debs: list[Path]) -> None:
    """Whoever wrote them takes them out; until then, openssl.cnf goes on working."""
    system.does("-i", *debs)
    text = system.conf.read_text()
    system.conf.write_text(f"{text}.include /etc/ssl/drng/drng.cnf\n")
    result = system.dpkg("-r", *reversed(NAMES))
    assert result.returncode != 0
    assert "take them out first" in result.stderr
    assert system.modules.joinpath("drng.so").exists()
    system.conf.write_text(text)
    system.does("-r", *reversed(NAMES))


def test_a_removal_that_is_refused_leaves_the_collector_on(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    wanted = system.root / "etc/systemd/system/timers.target.wants/drng-status-collector.timer"
    written = system.root / "var/lib/prometheus/node-exporter/drng.prom"
    for path in (wanted, written):
        path.parent.mkdir(parents=True)
    wanted.symlink_to("/lib/systemd/system/drng-status-collector.timer")
    written.touch()
    zz = system.root / "usr/lib/systemd/system/zz.service"
    zz.write_text("[Service]\nExecStart=/usr/sbin/zz\n")
    system.ok("on", "--service", "zz")
    own = system.root / "etc/ssl/drng/service/zz.cnf"
    made = own.read_text()
    own.write_text(made + "# mine\n[mine]\na = b\n")
    assert system.dpkg("-r", *reversed(NAMES)).returncode != 0
    assert wanted.is_symlink() and written.exists()
    own.write_text(made)
    system.does("-r", *reversed(NAMES))
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
def test_a_trial_of_another_file_ends_with_the_package(system: System, debs: list[Path], gone: bool) -> None:
    system.does("-i", *debs)
    other = system.root / "etc/ssl/other.cnf"
    shutil.copy(STOCK, other)
    on_trial(system, other)
    assert "drng-enable" in other.read_text()
    if gone:
        other.unlink()
    system.does("-r", *reversed(NAMES))
    assert gone or other.read_bytes() == STOCK.read_bytes()
    assert not list((system.root / "etc/systemd").rglob("*trial*"))
    assert not (system.root / trial.AT_THE_START[1:]).parent.exists()


def test_a_trial_that_cannot_be_taken_back_keeps_drng(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    other = system.root / "etc/ssl/other.cnf"
    shutil.copy(STOCK, other)
    on_trial(system, other)
    spoilt = other.read_text().replace("# <<< drng-enable", "# gone")
    other.write_text(spoilt)
    result = system.dpkg("-r", *reversed(NAMES))
    assert result.returncode != 0 and "/etc/ssl/other.cnf" in result.stderr and "out of order" in result.stderr
    assert other.read_text() == spoilt and system.modules.joinpath("drng.so").exists()
    assert (system.root / trial.RECORD[1:]).exists()


def test_a_service_by_hand_is_spoken_of(system: System, debs: list[Path]) -> None:
    system.does("-i", *debs)
    system.drop_in.parent.mkdir(parents=True)
    shutil.copy(CONF / "systemd/nginx.service.d/drng.conf", system.drop_in)
    assert "nginx.service.d/drng.conf names a profile of drng's" in system.does("-r", *reversed(NAMES))
    assert system.drop_in.exists()


def test_the_scripts_of_the_rpms(system: System, debs: list[Path], packages: Path) -> None:
    """dpkg's, as rpm runs them: the tools first, with the number of versions that stay."""
    system.does("-i", *debs)
    text = system.conf.read_text()
    env = {**os.environ, "DPKG_ROOT": str(system.root)}

    def preun(name: str, remaining: int) -> int:
        said = output("rpm", "-qp", "--queryformat", "%{PREUN}", rpm(packages, name))
        command = ["sh", "-c", said, "sh", str(remaining)]
        return subprocess.run(command, env=env, check=False, capture_output=True).returncode

    system.ok("on", "--system")
    for remaining, on in ((1, True), (0, False)):
        assert preun("drng-tools", remaining) == preun("drng", remaining) == 0
        assert system.served(system.conf) == on
    folder = system.root / "etc/pki/tls/openssl.d"
    folder.mkdir(parents=True)
    for file in (system.conf, folder / "drng.conf"):
        file.write_text(f"{text}.include /etc/ssl/drng/drng.cnf\n")
        assert preun("drng", 0) != 0
        file.write_text(text)
    assert preun("drng", 0) == 0


def test_the_whole_life_in_a_chroot(packages: Path) -> None:
    in_chroot("scripts/ci/test-package.sh", packages)
