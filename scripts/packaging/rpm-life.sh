#!/bin/sh
# rpm-life.sh - what test-rpm.sh does in the tree, a step at a time: untouched, on, still-on, served NAME.

# SPDX-License-Identifier: Apache-2.0
set -eu
# shellcheck source=scripts/packaging/living.sh
. /living.sh

# has_policy COMMAND... - whether openssl has the policy's one cipher of TLS 1.2, and no other.
has_policy()
{
    [ "$("$@" openssl ciphers -s -tls1_2)" = ECDHE-ECDSA-AES256-GCM-SHA384 ]
}

policy_holds()
{
    has_policy env "$@" || fail "the crypto policy is not in force: $*"
    printf '%s\n' "the crypto policy is in force${*:+ under $*}"
}

case $1 in
untouched)
    policy_holds
    served_by default
    ;;
on)
    drng-enable on --system --profile strict
    served_by drng
    policy_holds
    serve 3
    drng-enable on nginx
    policy_holds "$(nginx_variable)"
    # By the profile alone there is no policy, since it takes the place of the system's openssl.cnf.
    ! has_policy env OPENSSL_CONF=/etc/ssl/drng/drng.cnf ||
        fail "a profile alone has the policy, too: docs/platforms.md says that it does not"
    ;;
still-on)
    served_by drng
    serve 3
    drng-enable status nginx || fail "nginx, which was on, is not known as on"
    ;;
served) served_by "$2" ;;
esac
