#!/bin/sh
# enable.sh - turns drng on and off: in the system's openssl.cnf, or for one systemd service. Installed as drng-enable.
#
# What is to become of openssl.cnf is tried out on a copy first: it must load, say all that the file says, activate no
# provider more than drng, and give random numbers from it. Only then does it take the place of the file, in one step.

set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)

# The system's own openssl and python3, and what services see: nothing of the caller's environment.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
unset OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ia32cap LD_LIBRARY_PATH LD_PRELOAD
export LC_ALL=C

usage()
{
    cat <<'EOF'
usage: drng-enable on     --system | --service NAME  [--profile PROFILE] [--dry-run] [...]
       drng-enable off    --system | --service NAME  [--dry-run] [...]
       drng-enable status --system | --service NAME  [...]

on      puts the profile into effect: strict (the default), permissive, or random-provider (OpenSSL 3.5 and later)
off     takes away what `on` wrote, and nothing else
status  says whether `on` was here, and who serves; exits with 0 if drng does, else with 1

--system        the system's openssl.cnf: every program
--service NAME  one systemd service, by a drop-in that sets OPENSSL_CONF
--profile P     strict, permissive or random-provider
--dry-run       check everything, print the changes, write nothing
--conf FILE     another openssl.cnf than the system's
--profiles DIR  where the profiles are (/etc/ssl/drng)
--root DIR      work on the system image under DIR
EOF
}

say()
{
    printf 'drng-enable: %s\n' "$*"
}

warn()
{
    printf 'drng-enable: warning: %s\n' "$*" >&2
}

die()
{
    printf 'drng-enable: %s\n' "$*" >&2
    exit 1
}

# ---- Arguments ----

verb='' scope='' service='' profile='' dry_run='' conf='' profiles=/etc/ssl/drng root=''

need_value()
{
    [ $# -ge 2 ] || die "$1 takes a value; --help has more"
}

while [ $# -gt 0 ]; do
    case $1 in
    on | off | status)
        [ -z "$verb" ] || die "one of on, off and status; --help has more"
        verb=$1
        ;;
    --system) scope=${scope}system ;;
    --service)
        need_value "$@"
        scope=${scope}service service=${2%.service}
        shift
        ;;
    --profile)
        need_value "$@"
        profile=$2
        shift
        ;;
    --dry-run) dry_run=yes ;;
    --conf)
        need_value "$@"
        conf=$2
        shift
        ;;
    --profiles)
        need_value "$@"
        profiles=$2
        shift
        ;;
    --root)
        need_value "$@"
        root=$(cd "$2" && pwd -P) || exit 1
        [ "$root" != / ] || root=
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die "unknown argument: $1; --help has more" ;;
    esac
    shift
done

[ -n "$verb" ] || die "one of on, off and status; --help has more"
case $scope in
system) ;;
service)
    case $service in
    '' | *[!A-Za-z0-9:_.@-]* | .* | -*) die "'$service' is not the name of a service" ;;
    esac
    ;;
*) die "one of --system and --service NAME; --help has more" ;;
esac
[ -z "$profile" ] || [ "$verb" = on ] || die "--profile goes with on"
case ${profile:=strict} in
strict) profile_file=$profiles/drng.cnf random_section=drng_strict ;;
permissive) profile_file=$profiles/drng-permissive.cnf random_section=drng_permissive ;;
random-provider) profile_file=$profiles/drng-random-provider.cnf random_section=drng_random_provider ;;
*) die "no profile '$profile': strict, permissive or random-provider" ;;
esac

for path in "$conf" "$profiles" "$root"; do
    case $path in
    *[!A-Za-z0-9/._+-]*) die "'$path': only letters, digits and / . _ + - in a path" ;;
    esac
done

# ---- Where things are ----

work=$(mktemp -d)
new=''
trap 'rm -rf "$work"; [ -z "$new" ] || rm -f "$new"' EXIT
trap 'exit 1' INT TERM HUP

# The path of a program that comes with this one: beside it in the sources, in bin where sbin is installed.
companion()
{
    for directory in "$here" "$here/../bin"; do
        if [ -x "$directory/$1" ]; then
            printf '%s\n' "$directory/$1"
            return
        fi
    done
    die "$1 is not installed beside drng-enable"
}

# Follows links without leaving the image, since /usr/lib/ssl/openssl.cnf is one, to be replaced where it leads.
follow()
{
    path=$1 links=0
    while [ -L "$root$path" ] && [ $links -lt 40 ]; do
        target=$(readlink "$root$path")
        case $target in
        /*) path=$target ;;
        *) path=$(dirname "$path")/$target ;;
        esac
        links=$((links + 1))
    done
    real=$(readlink -f "$root$path") || real=
    [ -f "$real" ] || die "$root$path: there is no such file"
    case $real in
    "$root"/*) printf '%s\n' "$path" ;;
    *) die "$root$path leads out of $root" ;;
    esac
}

command -v openssl >/dev/null || die "openssl is not installed"
drng_status=$(companion drng-status)
drng_conf=$(companion drng-conf)
[ -n "$conf" ] || conf=$(openssl version -d | sed 's/^[^"]*"\(.*\)"$/\1/')/openssl.cnf
conf=$(follow "$conf")
service_conf=$profiles/service/$service.cnf
drop_in=/etc/systemd/system/$service.service.d/drng.conf

# The image's module, not the machine's.
if [ -n "$root" ]; then
    OPENSSL_MODULES=$root$(openssl version -m | sed 's/^[^"]*"\(.*\)"$/\1/')
    export OPENSSL_MODULES
fi

# ---- What was written before ----

has_block()
{
    grep -q '^# >>> drng-enable' "$1"
}

# The file without our lines, byte for byte what it was before they came.
without_block()
{
    if ! has_block "$1"; then
        cat "$1"
        return
    fi
    marks=$(sed -n 's/^# \(>>>\|<<<\) drng-enable.*/\1/p' "$1" | tr -d '\n')
    [ "$marks" = '>>><<<' ] || die "$1: the marks of drng-enable are out of order; take its lines out by hand"
    sed '/^# >>> drng-enable/,/^# <<< drng-enable/d' "$1" >"$work/stripped"
    if grep -q '^# >>> drng-enable.*(no newline before)' "$1" && tail -n 1 "$1" | grep -q '^# <<<'; then
        truncate -s -1 "$work/stripped"
    fi
    cat "$work/stripped"
}

# ---- What is to be written ----

# A copy to be tried out: what an image includes is under its root.
to_try()
{
    sed "s|^\([[:space:]]*\.include[[:space:]=]*\)/|\1$root/|" "$1"
}

# Our lines, to stand after $1. Where that has other names for its sections than the profile, the profile's have put
# themselves in their place, and are put back.
block()
{
    conf_init='' conf_random='' conf_providers='' conf_default='' conf_drng=''
    # Its warnings are repeated once the profile is in; here only a file that does not parse stops us.
    to_try "$1" >"$work/readable"
    "$drng_conf" --shell "$work/readable" >"$work/names" 2>"$work/errors" || [ $? = 1 ] || die "$(cat "$work/errors")"
    # shellcheck source=/dev/null
    . "$work/names"
    if [ -n "$conf_drng" ] && ! has_block "$root$conf"; then
        die "$conf activates drng by lines of its own; take them out, or leave it at that"
    fi
    [ -z "$conf_random" ] || has_block "$root$conf" ||
        warn "[$conf_init] random = $conf_random is set aside while drng is on"

    note=
    [ -z "$(tail -c 1 "$1")" ] || note=' (no newline before)'
    [ -z "$note" ] || echo
    echo "# >>> drng-enable: $profile$note"
    echo "# drng-enable off takes these lines away, and on writes them anew; settings of drng's go into the file named here."
    echo ".include $profile_file"
    : "${conf_init:=openssl_init}" "${conf_providers:=provider_sect}" "${conf_default:=default_sect}"
    if [ "$conf_init $conf_providers $conf_default" != "openssl_init provider_sect default_sect" ]; then
        printf '%s\n' '[default]' "openssl_conf = $conf_init" \
            "[$conf_init]" "random = $random_section" "providers = $conf_providers" \
            "[$conf_providers]" "default = $conf_default" "drng = drng_sect" \
            "[$conf_default]" 'activate = 1' '[default]'
    fi
    echo "# <<< drng-enable"
}

service_base()
{
    echo "# made by drng-enable for $service.service: what the system's openssl.cnf says, then drng."
    echo ".include $conf"
}

service_drop_in()
{
    echo "# made by drng-enable"
    echo "[Service]"
    echo "Environment=OPENSSL_CONF=$service_conf"
}

# ---- The check ----

# Names of the providers that are active under a file; fails where it parses and does not load. With one that does not
# parse openssl goes on in silence: that is for drng-conf to find.
providers_under()
{
    OPENSSL_CONF=$1 openssl list -providers >"$work/providers" 2>"$work/errors" || return 1
    sed -n 's/^  \([^ ].*\)/\1/p' "$work/providers"
}

# Says who serves under a file; fails unless it is drng in every role.
served_by_drng()
{
    OPENSSL_CONF=$1 "$drng_status" --json >"$work/status" || return 1
    python3 - "$work/status" <<'EOF'
import json
import sys

with open(sys.argv[1]) as file:
    status = json.load(file)
generators = {role: status[role] for role in ("primary", "public", "private")}
for line in status["errors"]:
    print(f"drng-enable: {line}")
for role, generator in generators.items():
    print(f"drng-enable: {role}: {generator['name']} of provider {generator['provider']}" if generator else
          f"drng-enable: {role}: no generator")
drng = status["drng"] or {}
if drng:
    print(f"drng-enable: seeds: {drng['active-source']}" +
          (f" ({drng['disabled-reason']})" if drng["disabled-reason"] else ""))
sys.exit(not (status["rand_bytes"] and all(g and g["provider"] == "drng" for g in generators.values())))
EOF
}

in_a_row()
{
    printf '%s' "$1" | tr '\n' ' '
}

loads()
{
    { "$drng_conf" "$1" >/dev/null 2>"$work/errors" || [ $? = 1 ]; } && providers_under "$1" >/dev/null
}

# Why the module did not load, which the core keeps to itself unless it is asked for by name.
why_not_loaded()
{
    OPENSSL_CONF=$1 openssl list -provider drng -providers 2>&1 >/dev/null | sed 's/^/drng-enable: /' >&2 || true
}

# A file that names its providers and leaves the default one out, for FIPS perhaps, means it.
refuse_without_default()
{
    case " $(in_a_row "$1") " in
    *' default '*) ;;
    *) die "$conf does without the default provider, which drng's profiles activate; nothing has been changed" ;;
    esac
}

# Nothing is written unless the second file does for drng what it should, and leaves alone what the first one says.
check()
{
    to_try "$1" >"$work/try-before"
    to_try "$2" >"$work/try-after"
    "$drng_conf" --before "$work/try-before" "$work/try-after" >/dev/null 2>"$work/warnings" || [ $? = 1 ] ||
        die "$conf would not load: $(cat "$work/warnings")"
    sed 's/^drng-conf: /drng-enable: warning: /' "$work/warnings" >&2
    ! grep -q 'no longer holds' "$work/warnings" ||
        die "$conf would not say what it says now; nothing has been changed"
    before=$(providers_under "$work/try-before") || die "$conf does not load as it is: $(head -n 1 "$work/errors")"
    refuse_without_default "$before"
    after=$(providers_under "$work/try-after") || die "$conf would not load: $(head -n 1 "$work/errors")"
    wanted=$(printf '%s\n' "$before" drng | sort -u)
    if [ "$(printf '%s\n' "$after" | sort -u)" != "$wanted" ]; then
        why_not_loaded "$work/try-after"
        die "the providers would be $(in_a_row "$after"), not $(in_a_row "$wanted"); nothing has been changed"
    fi
    if ! served_by_drng "$work/try-after" >"$work/served"; then
        cat "$work/served" >&2
        die "random numbers would not come from drng; nothing has been changed"
    fi
    cat "$work/served"
}

# ---- Writing ----

# Puts $1 in the place of $2 in one step, with the attributes of what is there.
replace()
{
    new=$(mktemp "$2.XXXXXX") || die "$(dirname "$2") cannot be written; nothing has been changed"
    if [ -e "$2" ]; then
        cp -a "$2" "$new"
    else
        chmod 644 "$new"
    fi
    cat "$1" >"$new"
    cmp -s "$1" "$new" || die "$2 could not be written whole; nothing has been changed"
    sync "$new"
    mv -f "$new" "$2"
    new=
}

# The changes between two files, as they would be in the second's place.
show_changes()
{
    diff -u --label "$3" --label "$3 (new)" "$1" "$2" || [ $? = 1 ]
}

# ---- The system's openssl.cnf ----

system_on()
{
    live=$root$conf
    cp "$live" "$work/live"
    without_block "$work/live" >"$work/base"
    cp "$work/base" "$work/candidate"
    block "$work/base" >>"$work/candidate"
    check "$work/base" "$work/candidate"
    if cmp -s "$work/live" "$work/candidate"; then
        say "$conf: $profile is on already"
        return
    fi
    if [ -n "$dry_run" ]; then
        show_changes "$work/live" "$work/candidate" "$conf"
        return
    fi
    cmp -s "$live" "$work/live" || die "$conf has just been changed by somebody else; nothing has been changed"
    if ! has_block "$work/live"; then
        cp -a "$live" "$live.before-drng" || die "no backup could be made; nothing has been changed"
        say "backup: $conf.before-drng"
    fi
    replace "$work/candidate" "$live"
    say "$conf: $profile is on; programs that run take it up when they are restarted"
}

system_off()
{
    live=$root$conf
    if ! has_block "$live"; then
        say "$conf: is off already"
        return
    fi
    cp "$live" "$work/live"
    without_block "$work/live" >"$work/base"
    to_try "$work/live" >"$work/try-before"
    to_try "$work/base" >"$work/try-after"
    if loads "$work/try-before" && ! loads "$work/try-after"; then
        die "$conf would not load without drng's lines: $(head -n 1 "$work/errors")"
    fi
    if [ -n "$dry_run" ]; then
        show_changes "$work/live" "$work/base" "$conf"
        return
    fi
    replace "$work/base" "$live"
    if cmp -s "$live" "$live.before-drng" 2>/dev/null; then
        rm -f "$live.before-drng"
    elif [ -e "$live.before-drng" ]; then
        say "$conf has been changed since drng was turned on: the backup $conf.before-drng is left"
    fi
    say "$conf: drng is off; programs that run let go of it when they are restarted"
    if served_by_drng "$work/try-after" >/dev/null; then
        warn "drng serves all the same, by lines of $conf's own"
    fi
}

system_status()
{
    live=$root$conf
    if has_block "$live"; then
        say "$conf: $(sed -n 's/^# >>> drng-enable: \([a-z-]*\).*/\1/p' "$live") is on"
    else
        say "$conf: is off"
    fi
    to_try "$live" >"$work/try-after"
    served_by_drng "$work/try-after"
}

# ---- One service ----

UNITS="/etc/systemd/system /run/systemd/system /run/systemd/generator.late /usr/local/lib/systemd/system
/usr/lib/systemd/system /lib/systemd/system"

# The service's unit file and drop-ins, but for ours.
unit_files()
{
    case $service in
    *@*) template=${service%%@*}@ ;;
    *) template=$service ;;
    esac
    for directory in $UNITS; do
        for file in "$root$directory/$service.service" "$root$directory/$template.service" \
            "$root$directory/$service.service.d"/*.conf "$root$directory/$template.service.d"/*.conf; do
            [ ! -f "$file" ] || [ "$file" = "$root$drop_in" ] || printf '%s\n' "$file"
        done
    done | sort -u
}

# What Debian's apachectl reads on its way from the unit to Apache, for apache2 and for apache2@NAME.
envvars()
{
    case $service in
    apache2) printf '%s\n' "$root/etc/apache2/envvars" ;;
    apache2@*) printf '%s\n' "$root/etc/apache2-${service#*@}/envvars" ;;
    esac
}

# Another OPENSSL_CONF would win over ours or lose against it by the name of its file.
check_unit()
{
    unit_files >"$work/units"
    grep -q '\.service$' "$work/units" || die "there is no unit $service.service; nothing has been changed"
    while read -r file; do
        sed -n 's/^[[:space:]]*EnvironmentFile=-\{0,1\}\(\/.*\)/\1/p' "$file" | sed "s|^|$root|"
        printf '%s\n' "$file"
    done <"$work/units" >"$work/sources"
    envvars >>"$work/sources"
    while read -r file; do
        if [ -f "$file" ] && grep -q '^[^#;]*\<OPENSSL_CONF\>' "$file"; then
            die "$file has a say in OPENSSL_CONF already; nothing has been changed"
        fi
    done <"$work/sources"
}

reload_systemd()
{
    if [ -n "$root" ] || [ ! -d /run/systemd/system ]; then
        say "systemd does not run here; the change holds when it starts"
    else
        systemctl daemon-reload
        say "now: systemctl restart $service"
    fi
}

service_on()
{
    check_unit
    [ ! -e "$root$drop_in" ] || grep -q '^# made by drng-enable$' "$root$drop_in" ||
        die "$drop_in is there, and not by drng-enable; nothing has been changed"
    service_base >"$work/base"
    cp "$work/base" "$work/candidate"
    block "$work/base" >>"$work/candidate"
    service_drop_in >"$work/drop-in"
    check "$work/base" "$work/candidate"
    if cmp -s "$work/candidate" "$root$service_conf" && cmp -s "$work/drop-in" "$root$drop_in"; then
        say "$service.service: $profile is on already"
        return
    fi
    if [ -n "$dry_run" ]; then
        for pair in "$service_conf candidate" "$drop_in drop-in"; do
            old=$root${pair% *}
            [ -e "$old" ] || old=/dev/null
            show_changes "$old" "$work/${pair#* }" "${pair% *}"
        done
        return
    fi
    # First what the drop-in points to.
    for directory in "$(dirname "$service_conf")" "$(dirname "$drop_in")"; do
        mkdir -p "$root$directory" || die "$directory cannot be made; nothing has been changed"
    done
    replace "$work/candidate" "$root$service_conf"
    replace "$work/drop-in" "$root$drop_in"
    say "$service.service: $profile is on, by $drop_in and $service_conf"
    reload_systemd
}

service_off()
{
    if [ ! -e "$root$drop_in" ] && [ ! -e "$root$service_conf" ]; then
        say "$service.service: is off already"
        return
    fi
    [ ! -e "$root$drop_in" ] || grep -q '^# made by drng-enable$' "$root$drop_in" ||
        die "$drop_in is not by drng-enable; nothing has been changed"
    if [ -n "$dry_run" ]; then
        for file in "$drop_in" "$service_conf"; do
            [ ! -e "$root$file" ] || show_changes "$root$file" /dev/null "$file"
        done
        return
    fi
    # First what points to the other.
    rm -f "$root$drop_in"
    rm -f "$root$service_conf"
    rmdir "$root$(dirname "$drop_in")" "$root$(dirname "$service_conf")" 2>/dev/null || true
    say "$service.service: drng is off"
    reload_systemd
}

service_status()
{
    if [ ! -e "$root$drop_in" ] || [ ! -e "$root$service_conf" ]; then
        say "$service.service: is off"
        return 1
    fi
    say "$service.service: $(sed -n 's/^# >>> drng-enable: \([a-z-]*\).*/\1/p' "$root$service_conf") is on"
    to_try "$root$service_conf" >"$work/try-after"
    served_by_drng "$work/try-after"
}

if [ "$verb" = on ]; then
    [ -f "$root$profile_file" ] || die "$profile_file is not installed: cmake --install puts it there"
    case $profile:$(openssl version) in
    'random-provider:OpenSSL 3.'[0-4].*) die "random-provider takes OpenSSL 3.5 or later: this is $(openssl version)" ;;
    esac
fi
"${scope}_$verb"
