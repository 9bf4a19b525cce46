"""*Dice Game*, the notebook on the lowest-score game."""
