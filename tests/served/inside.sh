# shellcheck shell=bash
# inside.sh - what the table's commands may use, in the machine that is booted; to be sourced.

# SPDX-License-Identifier: Apache-2.0
C=/etc/tls/cert.pem K=/etc/tls/key.pem B=/etc/tls/both.pem
export C K B

# wait_for PORT - until something listens there
wait_for()
{
    n=0
    until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do
        n=$((n + 1))
        [ $n -lt 150 ] || return 1
        sleep 0.2
    done
}

# tls PORT [PROTOCOL] - prints what the server has drawn for one connection: the sum of its ServerHello
tls()
{
    wait_for "$1" || { echo "nothing listens at $1" >&2; return 1; }
    # shellcheck disable=SC2086 # two words
    hello=$(timeout 20 openssl s_client -connect "127.0.0.1:$1" ${2:+-starttls $2} -msg </dev/null 2>/dev/null |
        sed -n '/<<< .*, ServerHello$/,/^[<>]/p' | grep '^    ')
    [ -n "$hello" ] || { echo "no ServerHello at $1" >&2; return 1; }
    printf '%s\n' "$hello" | sha256sum | cut -c 1-16
}

# https URL...
https()
{
    timeout 20 curl -ksS -o /dev/null "$@"
}

# bundled MODULE - 16 bytes of the libcrypto that a wheel brings for it
bundled()
{
    /opt/venv/bin/python -c '
import ctypes, importlib, re, sys
importlib.import_module(sys.argv[1])
path = next(p for p in re.findall(r"/\S+", open("/proc/self/maps").read()) if "/opt/" in p and "libcrypto" in p)
sys.exit(ctypes.CDLL(path).RAND_bytes(ctypes.create_string_buffer(16), 16) != 1)' "$1"
}
