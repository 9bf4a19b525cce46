"""Charts of games, policies and agents, as picture files and as web pages."""
