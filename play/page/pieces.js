// Find the moves that fit the pieces chosen on the board. Pieces with the same face are equal, as the
// game lists only one of the moves that take the same faces.

export function facesOf(parts, pieces) {
  const counts = new Map();
  for (const part of parts) counts.set(pieces[part], (counts.get(pieces[part]) ?? 0) + 1);
  return counts;
}

function covers(large, small) {
  return [...small].every(([face, count]) => (large.get(face) ?? 0) >= count);
}

// Return the moves that take all chosen pieces, and perhaps more.
export function fitting(chosen, choices, pieces) {
  const wanted = facesOf(chosen, pieces);
  return choices.filter((choice) => covers(facesOf(choice.parts, pieces), wanted));
}

// Return the move that takes exactly the chosen pieces, or undefined.
export function exactMove(chosen, choices, pieces) {
  return fitting(chosen, choices, pieces).find((choice) => choice.parts.length === chosen.size);
}

// Choose a piece, and with it the pieces that every move with the chosen pieces takes.
export function withPiece(part, chosen, choices, pieces) {
  const grown = new Set(chosen).add(part);
  let fit = fitting(grown, choices, pieces);
  if (!fit.length) { // no move takes it together with the others: start again with this piece
    grown.clear();
    grown.add(part);
    fit = fitting(grown, choices, pieces);
  }
  const counts = fit.map((choice) => facesOf(choice.parts, pieces));
  for (const [other, face] of Object.entries(pieces)) {
    const needed = Math.min(...counts.map((count) => count.get(face) ?? 0));
    if ((facesOf(grown, pieces).get(face) ?? 0) < needed) grown.add(Number(other));
  }
  return grown;
}

// Drop a piece, and with it the pieces that no move takes without it.
export function withoutPiece(part, chosen, choices, pieces) {
  const left = new Set(chosen);
  left.delete(part);
  const room = facesOf(left, pieces);
  const within = choices.filter((choice) => covers(room, facesOf(choice.parts, pieces)));
  const largest = within.reduce((a, b) => (b.parts.length > a.parts.length ? b : a), { parts: [] });
  const counts = facesOf(largest.parts, pieces);
  for (const other of [...left].reverse()) {
    const face = pieces[other];
    if ((facesOf(left, pieces).get(face) ?? 0) > (counts.get(face) ?? 0)) left.delete(other);
  }
  return left;
}
