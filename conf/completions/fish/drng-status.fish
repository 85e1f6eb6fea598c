complete -c drng-status -f
complete -c drng-status -l pid -d 'show this process and its children' -x -a '(__fish_complete_pids)'
complete -c drng-status -l service -d 'show the processes of a systemd service' -x -a "(systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | sed 's/\.service .*//; s/^[^A-Za-z0-9]*//')"
complete -c drng-status -l all -d 'show all processes that use drng'
complete -c drng-status -l json -d 'print JSON, an object a line'
complete -c drng-status -l long -d 'print rows for each process'
complete -c drng-status -l needs-restart -d 'print the units of which processes need a restart'
complete -c drng-status -l prometheus -d 'print metrics'
complete -c drng-status -l state -d 'add counters, whose sums are kept here' -r -F
complete -c drng-status -l output -d 'replace this file in one step' -r -F
complete -c drng-status -l check -d 'print one line and exit with 0, 1, 2 or 3'
complete -c drng-status -l perfdata -d 'add performance data'
complete -c drng-status -l warning -d 'status 1 above this number' -x -a 'fallback-seeds= failures='
complete -c drng-status -l critical -d 'status 2 above this number' -x -a 'fallback-seeds= failures='
complete -c drng-status -l watch -d 'repeat every 2 seconds, or every SECONDS' -x
complete -c drng-status -l help -d 'print a summary of the options'
complete -c drng-status -l version -d 'print the version'
