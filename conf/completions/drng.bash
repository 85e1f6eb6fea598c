# shellcheck shell=bash
# What each command takes is what its --help names.

_drng()
{
    # Not a program of that name in some folder: whoever completes a word has not run it yet.
    local name=${1##*/} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} choices line
    COMPREPLY=()
    case $name:$before:$word in
    *:--output:* | drng-conf:*:[!-]* | drng-conf:*:) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    *:--profile:*) choices="strict permissive random-provider fips" ;;
    *:--pid:*) choices=$(ps -e -o pid=) ;;
    *:*:-*) choices="--help $("$name" --help 2>/dev/null </dev/null | grep -o -e '--[a-z][a-z-]*')" ;;
    drng-enable:"$1":*) choices="on off status confirm" ;;
    *) choices=$(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null </dev/null |
        sed 's/\.service .*//; s/^[^A-Za-z0-9]*//') ;;
    esac
    while read -r line; do
        printf -v line %q "$line"
        [[ $line != "$word"* ]] || COMPREPLY+=("$line")
    done < <(tr -s ' ' '\n' <<<"$choices" | sort -u)
}

complete -F _drng drng-conf drng-enable drng-status
