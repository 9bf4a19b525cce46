"""*Fate stochastic management and policy benchmark in 421* (Pierre Albarede, 2024)."""
