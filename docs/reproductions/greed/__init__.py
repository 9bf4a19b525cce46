"""*A Guide to Optimal Play in Greed* (Chance Addis, 2023)."""
