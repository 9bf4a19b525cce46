"""What people look at: charts of games, strategies and agents, as pictures and as pages."""
