"""Parts that the programs for operators share: lines for a shell, hosts that may call, files of one writer."""
