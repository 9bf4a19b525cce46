"""Many runs: the benchmark, the cells it fills, the leaderboard and its page."""
