"""The engine of all environments: flat tables of moves, and lanes of games played by them."""
