"""Training runs: options, hyperparameters, folders, exact scores while they train."""
