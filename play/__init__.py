"""A person plays a game against any policy, in the terminal or in the browser."""
