"""Parts that the programs for operators share: command lines for a shell, allowed hosts, files with one writer."""
