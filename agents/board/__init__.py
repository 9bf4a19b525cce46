"""Many runs: the benchmark, its cells, the leaderboard and its page; entries from elsewhere."""
