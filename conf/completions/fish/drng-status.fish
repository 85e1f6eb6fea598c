complete -c drng-status -f
complete -c drng-status -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-status -l pid -d 'show processes and their children' -x -a '(__fish_complete_pids)'
complete -c drng-status -l service -d 'show the processes of a systemd service' -x -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-status -l all -d 'show all processes that have libcrypto'
complete -c drng-status -l json -d 'print JSON, an object in a line'
complete -c drng-status -l long -d 'print rows for each process'
complete -c drng-status -l needs-restart -d 'print the units of which processes need a restart'
complete -c drng-status -l prometheus -d 'print metrics'
complete -c drng-status -l output -d 'replace this file in one step' -r -F
complete -c drng-status -l check -d 'print a line for each unit and exit with 0, 1, 2 or 3'
complete -c drng-status -l help -d 'print a summary of the options'
complete -c drng-status -l version -d 'print the version'
