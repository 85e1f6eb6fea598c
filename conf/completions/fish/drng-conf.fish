complete -c drng-conf -l before -d 'warn of each setting of this file that the other does not have' -r -F
complete -c drng-conf -l help -d 'print a summary of the options'
complete -c drng-conf -l version -d 'print the version'
