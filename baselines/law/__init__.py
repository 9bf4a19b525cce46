"""Laws that users give, as dictionaries, matrices or outcomes, and the games made of them."""
