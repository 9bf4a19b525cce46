// The page holds the first board, but an address with a game shows that game.
if ((location.hash || location.search).length > 1) document.getElementById("board").replaceChildren();
