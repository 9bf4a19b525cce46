"""The engine of all environments: the flat tables of a task, and lanes of games."""
