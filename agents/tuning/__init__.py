"""The tuner: Optuna chooses hyperparameters, and the exact score on a track judges them."""
