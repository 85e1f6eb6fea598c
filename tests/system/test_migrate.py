# SPDX-License-Identifier: Apache-2.0
"""docs/migrate.md: its commands, typed as they stand on a copy of this machine, and what it says of the old ways."""

import json
import re
from pathlib import Path

from tests.support import typed
from tests.support.builds import ROOT
from tests.support.machine import Machine
from tests.support.typed import type_in

GUIDE = ROOT / "docs" / "migrate.md"

# Servers as Debian configures them, with the lines that people come with. systemctl starts a server as systemd would,
# with the variable of the drop-in that drng-enable has written, and returns once a page is served.
CERTIFICATE = """
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 -keyout /root/key.pem -out /root/cert.pem
cat /root/key.pem /root/cert.pem >/root/both.pem
cat >/usr/local/sbin/systemctl <<'END'
#!/bin/sh
[ "$1" = restart ] || exit 0
export "$(sed -n 's/^Environment=//p' "/etc/systemd/system/$2.service.d/drng.conf")"
case $2 in
apache2) file=/run/apache2/apache2.pid; rm -f $file; apachectl start ;;
haproxy) file=/run/haproxy.pid; haproxy -W -D -p $file -f /etc/haproxy/haproxy.cfg ;;
esac
until [ -s $file ] && curl -sk -o /dev/null https://127.0.0.1/; do sleep 0.05; done
END
"""
APACHE = """
a2enmod -q ssl
grep -q '^SSLRandomSeed connect builtin' /etc/apache2/mods-enabled/ssl.conf
cat >/etc/apache2/sites-enabled/000-default.conf <<'END'
ServerName localhost
<VirtualHost *:443>
    SSLEngine on
    SSLCertificateFile /root/cert.pem
    SSLCertificateKeyFile /root/key.pem
</VirtualHost>
END
"""
# One process, so that its counters are all of them.
ONE_WORKER = (
    "printf 'StartServers 1\\nServerLimit 1\\nThreadsPerChild 25\\nMaxRequestWorkers 25\\n' >>/etc/apache2/apache2.conf"
)
HAPROXY = """
cat >>/etc/haproxy/haproxy.cfg <<'END'
frontend secure
    bind 127.0.0.1:443 ssl crt /root/both.pem
    http-request return status 200 content-type text/plain string "a page\\n"
END
"""
SERVED = r"^served-by +drng$"


def commands(heading: str) -> list[str]:
    return typed.commands(GUIDE, heading)


def program(heading: str) -> str:
    """The lines that save the program of a section."""
    found = re.search(r"^```c\n(.*?)^```$", typed.section(GUIDE, heading), flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    return f"cat >draw.c <<'END'\n{found[1]}END"


def answer_to(command: str, said: str) -> str:
    """What stands between a command, as the shell shows it, and the next."""
    _, found, rest = said.partition(f"\n+ {command}\n")
    assert found, f"{command} in:\n{said}"
    return rest.partition("\n+ ")[0]


def matches(pattern: str, said: str) -> bool:
    return re.search(pattern, said, flags=re.MULTILINE) is not None


def test_the_openssl_command(tmp_path: Path) -> None:
    said = type_in(commands("openssl -engine rdrand"), tmp_path)
    for command in ("openssl rand -provider drng -hex 16", "openssl rand -hex 16"):
        assert matches(r"^[0-9a-f]{32}$", answer_to(command, said))
    assert "-----" not in said, "no key is shown"
    assert matches(SERVED, answer_to("drng-status", said))
    assert matches(r"^active-source +rdrand$", said)


def test_a_program_that_chooses_for_itself(tmp_path: Path) -> None:
    heading = "RAND_set_rand_engine and ENGINE_set_default_RAND"
    said = type_in([program(heading), *commands(heading)], tmp_path)
    assert answer_to("./draw", said) == "served by provider drng"
    assert "no random numbers from drng" in said


def test_apache(tmp_path: Path) -> None:
    said = type_in([CERTIFICATE, APACHE, *commands("Apache"), "curl -sk https://127.0.0.1/"], tmp_path)
    assert "Syntax OK" in said
    assert matches(r"^pid +\d+\nname +apache2\nunit +.*\nowner +.*\nserved-by +drng$", said)
    assert "</html>" in said


def seeds_and_requests(said: str) -> list[tuple[int, int]]:
    """Of all processes together, at each `drng-status --json`."""
    found = []
    for text in re.findall(r'^\{"processes": .*\}$', said, flags=re.MULTILINE):
        processes = json.loads(text)["processes"]
        seeds = sum(process[f"seeds-{way}"] for process in processes for way in ("rdseed", "rdrand", "fallback"))
        found.append((seeds, sum(process["requests"] for process in processes)))
    return found


def test_what_sslrandomseed_costs(tmp_path: Path) -> None:
    """Seeds grow with the connections under Debian's lines, and no longer once they are commented out."""
    look = 'drng-status --json --pid "$(cat /run/apache2/apache2.pid)"'
    connections = ["for i in 1 2 3 4 5 6 7 8 9 10; do curl -sk -o /dev/null https://127.0.0.1/; done"]
    first = ["drng-enable on apache2", "systemctl restart apache2"]
    stop = ["apachectl stop", "while [ -e /run/apache2/apache2.pid ]; do sleep 0.05; done"]
    visited = [*connections, look, *connections, look]
    said = type_in([CERTIFICATE, APACHE, ONE_WORKER, *first, *visited, *stop, *commands("Apache"), *visited], tmp_path)
    counts = seeds_and_requests(said)
    (before, asked), (after, more), (warm, asked_then), (still, more_then) = counts
    assert more > asked
    assert after - before >= 10, f"one for each connection, or more: {counts}"
    assert more_then > asked_then
    assert still == warm, counts


def test_haproxy(tmp_path: Path) -> None:
    old = "sed -i 's/^global$/global\\n    ssl-engine rdrand/' /etc/haproxy/haproxy.cfg"
    refused = "if haproxy -c -f /etc/haproxy/haproxy.cfg; then exit 1; fi"
    said = type_in([CERTIFICATE, HAPROXY, old, refused, *commands("HAProxy"), "curl -sk https://127.0.0.1/"], tmp_path)
    assert "unknown keyword 'ssl-engine'" in said
    assert matches(r"^pid +\d+\nname +haproxy\nunit +.*\nowner +.*\nserved-by +drng$", said)
    assert matches("^a page$", said)


def test_ia32cap(tmp_path: Path) -> None:
    said = type_in(commands("OPENSSL_ia32cap"), tmp_path)
    assert matches("^active-source +rdrand$", answer_to("drng-status", said))
    _, _, masked = said.partition("+ OPENSSL_ia32cap=~0x4000000000000000:~0:~0:~0:~0 drng-status\n")
    assert matches("^active-source +fallback$", masked)
    assert matches("^message +.*OPENSSL_ia32cap", masked)


def test_rngd(tmp_path: Path, machine: Machine) -> None:
    said = type_in(commands("rngd"), tmp_path)
    assert matches(r"^[0-9a-f]{32}$", answer_to("openssl rand -hex 16", said))
    assert matches(SERVED, answer_to("drng-status --long", said))
    assert matches(f"^seeds-{machine.source} +[1-9]", answer_to("drng-status --long", said))


def test_every_command_of_the_page_is_typed() -> None:
    """A section that no test above types would not be seen otherwise."""
    headings = re.findall(r"^## (.*)$", GUIDE.read_text(), flags=re.MULTILINE)
    mine = Path(__file__).read_text()
    assert len(headings) == 6
    assert not [heading for heading in headings if f'"{heading}"' not in mine]
