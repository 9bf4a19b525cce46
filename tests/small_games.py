"""Games small enough to be listed move by move."""

#: Sizes small enough to list P, by game.
SMALL = {
    "Greed": [{"max_score": 5, "sides": 3}, {"max_score": 4, "sides": 2, "tie": "lost"}],
    "LowestScore": [
        {"dice": 2, "faces": 3, "zero_face": 2, "players": 3},
        {"dice": 2, "faces": 3, "zero_face": 3, "players": 3, "objective": "share"},
        {"dice": 3, "faces": 2, "zero_face": 1, "players": 2, "objective": "score"},
    ],
    "LowestScoreMatch": [
        {"dice": 2, "faces": 2, "zero_face": 1, "wins": 2},
        {"dice": 1, "faces": 2, "zero_face": 1, "players": 3, "wins": 2, "tie": "first"},
    ],
    "ShutTheBox": [
        {"tiles": 3, "dice": 2, "sides": 2, "one_die": "sum<=2"},
        {"tiles": 3, "dice": 1, "sides": 3, "shut_wins": False},
        {"tiles": 4, "dice": 2, "sides": 3, "one_die": "never", "objective": "sum"},
    ],
    "FourTwoOne": [
        {"dice": 2, "faces": 3, "casts": 3, "utility": "goal:12"},
        {"dice": 2, "faces": 3, "casts": 3, "utility": "sum", "duration": 2},
        {"dice": 3, "faces": 2, "casts": 2, "utility": "set"},
        {"dice": 3, "faces": 2, "casts": 2, "utility": "set", "tie": "lost"},
    ],
    "FourTwoOneMatch": [
        {"tokens": 2, "faces": 2, "charge_casts": 1, "discharge_casts": 2},
        {"tokens": 2, "faces": 2, "charge_casts": 1, "discharge_casts": 1, "tie": "replay"},
    ],
}
