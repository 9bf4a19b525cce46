"""Charts of games, policies and agents, as picture files and on web pages."""
