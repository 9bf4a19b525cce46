"""Tasks, and problems: tasks made ready."""
