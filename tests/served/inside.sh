# shellcheck shell=bash
# inside.sh - what the table's commands may use, in the machine that is booted; to be sourced.

# SPDX-License-Identifier: Apache-2.0
C=/etc/tls/cert.pem K=/etc/tls/key.pem B=/etc/tls/both.pem
export C K B

# wait_for PORT - until something listens there; TRIES, of 0.2 seconds, where nothing may be expected to
wait_for()
{
    n=0
    until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do
        n=$((n + 1))
        [ $n -lt "${TRIES:-150}" ] || return 1
        sleep 0.2
    done
}

# clean COMMAND... - one that helps to try a program: drng does not concern it, and its libraries are not the program's
clean()
{
    env -u LD_DEBUG -u LD_DEBUG_OUTPUT OPENSSL_CONF=/dev/null "$@"
}

# beside_https COMMAND... - with a server at 127.0.0.1:8443, which gives out the files of /etc/tls
beside_https()
{
    clean timeout 60 python3 -I -c '
import functools, http.server, ssl, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="/etc/tls")
server = http.server.HTTPServer(("127.0.0.1", 8443), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()' $C $K >/dev/null 2>&1 </dev/null &
    server=$!
    wait_for 8443 && "$@"
    status=$?
    kill $server
    return $status
}

# tls PORT [PROTOCOL] - prints what the server has drawn for one connection: the sum of its ServerHello
tls()
{
    wait_for "$1" || { echo "nothing listens at $1" >&2; return 1; }
    # shellcheck disable=SC2086 # two words
    hello=$(clean timeout 20 openssl s_client -connect "127.0.0.1:$1" ${2:+-starttls $2} -msg </dev/null 2>/dev/null |
        sed -n '/<<< .*, ServerHello$/,/^[<>]/p' | grep '^    ')
    [ -n "$hello" ] || { echo "no ServerHello at $1" >&2; return 1; }
    printf '%s\n' "$hello" | sha256sum | cut -c 1-16
}

# https URL...
https()
{
    clean timeout 20 curl -ksS -o /dev/null "$@"
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
