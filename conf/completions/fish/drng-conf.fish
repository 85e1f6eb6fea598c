complete -c drng-conf -l help -d 'print a summary of the options'
complete -c drng-conf -l version -d 'print the version'
