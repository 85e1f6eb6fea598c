complete -c drng-enable -f
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a on -d 'put the profile into effect'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a off -d 'remove what on wrote'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a status -d 'say what is on and who serves'
complete -c drng-enable -n 'not __fish_seen_subcommand_from on off status confirm' -a confirm -d 'end a trial, and leave drng on'
complete -c drng-enable -l system -d 'the openssl.cnf of the system'
complete -c drng-enable -l service -d 'one systemd service' -x -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-enable -l profile -d 'the profile to put into effect' -x -a 'strict permissive random-provider fips'
complete -c drng-enable -l all -d 'the system and every service'
complete -c drng-enable -l set -d 'a setting of drng' -x -a 'source= fallback= os_mixing= request_mixing= conditioner= reseed_bytes='
complete -c drng-enable -l restart -d 'restart the services, and see who serves them'
complete -c drng-enable -l try -d 'switch off again after a time, unless confirmed' -x -a '10m 1h'
complete -c drng-enable -l dry-run -d 'print the changes, and write nothing'
complete -c drng-enable -l json -d 'print one answer for programs'
complete -c drng-enable -n '__fish_seen_subcommand_from on off status' -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-enable -l help -d 'print a summary of the options'
complete -c drng-enable -l version -d 'print the version'
