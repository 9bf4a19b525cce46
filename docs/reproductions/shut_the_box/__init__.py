"""*V(initial)*, notes on two-player Shut the Box."""
