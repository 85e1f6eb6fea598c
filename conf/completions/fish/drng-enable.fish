complete -c drng-enable -f
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a on -d 'put the profile into effect'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a off -d 'remove what on wrote'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a status -d 'say whether drng is on'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a confirm -d 'end a trial, and leave drng on'
complete -c drng-enable -l system -d 'the openssl.cnf of the system'
complete -c drng-enable -l service -d 'one systemd service' -x -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-enable -l profile -d 'the profile to put into effect' -x -a 'strict permissive random-provider fips'
complete -c drng-enable -l try -d 'switch off again after a time, unless confirmed' -x -a '10m 1h'
complete -c drng-enable -l dry-run -d 'print the changes, and write nothing'
complete -c drng-enable -l conf -d 'use this openssl.cnf' -r -F
complete -c drng-enable -l profiles -d 'read the profiles from here' -x -a '(__fish_complete_directories)'
complete -c drng-enable -l root -d 'work on the system image under this folder' -x -a '(__fish_complete_directories)'
complete -c drng-enable -l help -d 'print a summary of the options'
complete -c drng-enable -l version -d 'print the version'
