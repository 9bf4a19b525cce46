// Shows a game that the server plays. It knows no rules: a move is one of the choices that the
// server lists, and the pieces on the board say by data-part which of them a choice takes.

const $ = (id) => document.getElementById(id);
let game = null; // what the server said last
let chosen = new Set(); // parts that are selected
let offers = null;

async function ask(path, body) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" } };
  document.body.classList.add("busy");
  try {
    const reply = await fetch(path, body === undefined ? {} : { ...post, body: JSON.stringify(body) });
    const said = await reply.json();
    if (!reply.ok) throw new Error(said.error);
    return said;
  } finally {
    document.body.classList.remove("busy");
  }
}

async function attempt(step, place = "error") {
  $(place).hidden = true;
  try {
    await step();
  } catch (error) {
    $(place).textContent = error.message;
    $(place).hidden = false;
  }
}

function element(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

// ------------------------------------------------------------------ choosing

// Pieces that show the same are the same: what is chosen is what they show.
const shown = (parts) => [...parts].map((part) => game.labels[part]).sort().join(" ");

function matching() {
  return game.choices.find((one) => shown(one.parts) === shown(chosen));
}

function fits(one) {
  const left = [...one.parts].map((part) => game.labels[part]);
  return [...chosen].every((part) => {
    const place = left.indexOf(game.labels[part]);
    if (place >= 0) left.splice(place, 1);
    return place >= 0;
  });
}

// Where every choice holds the smaller ones (the lowest dice), a click takes all up to it.
function nested() {
  const sizes = game.choices.map((one) => one.parts).sort((a, b) => a.length - b.length);
  return sizes.every((parts, i) => i === 0 || sizes[i - 1].every((part) => parts.includes(part)));
}

function click(part) {
  if (nested()) {
    const holding = game.choices.filter((one) => one.parts.includes(part));
    const least = holding.sort((a, b) => a.parts.length - b.parts.length)[0];
    chosen = new Set(least ? least.parts : []);
  } else {
    chosen.has(part) ? chosen.delete(part) : chosen.add(part);
    if (!game.choices.some(fits)) chosen = new Set([part]);
    if (!game.choices.some(fits)) chosen = new Set();
  }
  light();
}

function mark(parts) {
  for (const piece of $("board").querySelectorAll("rect[data-part]")) {
    piece.classList.toggle("lit", parts.has(Number(piece.dataset.part)));
  }
}

function light() {
  mark(chosen);
  const sliding = !$("count-label").hidden;
  const now = sliding ? game.choices[Number($("count").value)] : matching();
  const how = game.over ? "The game is over" : "Choose pieces on the board";
  $("do").textContent = now ? now.words[0].toUpperCase() + now.words.slice(1) : how;
  $("do").disabled = !now;
  $("do").dataset.action = now ? now.action : "";
  if (sliding) $("count-words").textContent = now.words;
  for (const button of $("choices").children) {
    const one = game.choices.find((choice) => choice.action === Number(button.dataset.action));
    button.classList.toggle("fits", chosen.size > 0 && fits(one));
  }
}

// -------------------------------------------------------------------- showing

function show(said) {
  game = { ...said, id: said.id ?? game.id };
  location.hash = game.id;
  chosen = new Set(game.choices.length === 1 ? game.choices[0].parts : []);
  document.title = `${game.title} · exactdice`;
  $("faced").textContent = game.faced;
  $("rules").textContent = game.rules;
  $("board").innerHTML = game.board; // of the server's own making
  $("ending").hidden = !game.over;
  $("ending").textContent = game.ending ?? "";
  $("coach").checked = game.coach;
  $("undo").disabled = game.moves === 0;
  $("ask").disabled = game.over;
  $("again").textContent = `Seed ${game.seed}: ${game.command} is the same game in the terminal.`;
  showChoices();
  showStory();
  showWorth(game.worth, "Your last move");
  showAccount(game.account);
}

function showChoices() {
  const bare = game.choices.every((one) => one.parts.length === 0);
  const sliding = bare && game.choices.length > 3;
  $("count-label").hidden = !sliding;
  $("count").max = game.choices.length - 1;
  if (sliding) $("count").value = Math.min(Number($("count").value), game.choices.length - 1);
  const takes = new Set(game.choices.flatMap((one) => one.parts));
  for (const piece of $("board").querySelectorAll("[data-part]")) {
    const part = Number(piece.dataset.part);
    if (!takes.has(part) && !game.choices.some((one) => one.parts.some(
      (other) => game.labels[other] === game.labels[part]))) continue;
    piece.classList.add("can");
    piece.addEventListener("click", () => click(part));
  }
  $("hint").textContent = takes.size ? "Click pieces on the board, or choose a move:" : "";
  $("choices").replaceChildren(...(sliding ? [] : game.choices.map((one) => {
    const button = element("button", one.words);
    button.type = "button";
    button.dataset.action = one.action;
    button.addEventListener("click", () => move(one.action));
    for (const [on, parts] of [["mouseenter", one.parts], ["focus", one.parts]]) {
      button.addEventListener(on, () => mark(new Set(parts)));
    }
    for (const off of ["mouseleave", "blur"]) button.addEventListener(off, () => mark(chosen));
    return button;
  })));
  light();
}

function showStory() {
  $("story").replaceChildren(...game.story.map((event) =>
    element("li", `${event.who} ${event.words}`, event.who === "you" ? "you" : "")));
  $("story").scrollTop = $("story").scrollHeight;
}

function showWorth(worth, title) {
  $("worth").hidden = !worth;
  if (!worth) return;
  $("worth-title").textContent = title;
  $("said").textContent = worth.said;
  $("meaning").textContent = `The numbers are ${worth.meaning}`;
  $("bars").replaceChildren(...worth.moves.map((one) => {
    const line = element("li", "", one.made ? "made" : "");
    const bar = element("span", "", "bar");
    bar.style.width = `${4 + 96 * one.share}%`;
    const numbers = element("span", one.value, "number");
    numbers.append(element("small", one.cost));
    line.append(bar, element("span", one.words), numbers);
    return line;
  }));
}

function showAccount(account) {
  $("account").hidden = !account;
  if (!account) return;
  $("account-said").textContent = account.said;
  const ends = account.bars.map((bar) => bar.number);
  const low = Math.min(0, ...ends), span = Math.max(...ends, 1e-9, 0) - low || 1;
  $("account-bars").replaceChildren(...account.bars.map(({ name, number, said }) => {
    const line = element("li", "", number < 0 ? "minus" : "");
    const track = element("span", "", "track"), bar = element("span", "", "bar");
    bar.style.left = `${(100 * (Math.min(0, number) - low)) / span}%`;
    bar.style.width = `${Math.max(0.7, (100 * Math.abs(number)) / span)}%`;
    track.append(bar);
    line.append(element("span", name), track, element("span", said, "number"));
    return line;
  }));
}

// --------------------------------------------------------------------- asking

function move(action) {
  if (document.body.classList.contains("busy")) return; // one move at a time
  attempt(async () => show(await ask(`game/${game.id}/move`, { action, moves: game.moves })));
}
$("do").addEventListener("click", () => move(Number($("do").dataset.action)));
$("count").addEventListener("input", light);
$("undo").addEventListener("click", () =>
  attempt(async () => show(await ask(`game/${game.id}/undo`, {}))));
$("coach").addEventListener("change", () =>
  attempt(async () => show(await ask(`game/${game.id}/coach`, { coach: $("coach").checked }))));
$("ask").addEventListener("click", () => attempt(async () =>
  showWorth(await ask(`game/${game.id}/advice`), "What the optimum would do")));

// ------------------------------------------------------------------- new games

function option(value, text = value) {
  const made = element("option", text);
  made.value = value;
  return made;
}

function offer() {
  const one = offers.games.find((known) => known.game === $("new-game").value);
  const order = ["first", "second", "third", "fourth", "fifth", "sixth"];
  const seats = [...Array(Math.max(one.players, one.for_two ? 2 : 1)).keys()];
  const known = one.policies.length ? one.policies : ["optimal", "random"];
  $("new-against").replaceChildren(option("", `as usual (${one.default})`), ...known.map((name) => option(name)));
  $("new-seat").replaceChildren(...seats.map((seat) => option(seat, order[seat] ?? `${seat + 1}th`)));
  $("new-against").disabled = $("new-seat").disabled = one.players < 2;
  $("new-options").value = one.players < 2 && one.for_two ? one.for_two.replace(/[="']+/g, " ").trim() : "";
  if ($("new-options").value) $("new-against").disabled = $("new-seat").disabled = false;
}

$("open-new").addEventListener("click", () => attempt(async () => {
  offers ??= await ask("games");
  $("new-game").replaceChildren(...offers.games.map((one) => option(one.game, one.title)));
  $("new-game").value = game && offers.games.some((one) => one.title === game.title)
    ? offers.games.find((one) => one.title === game.title).game : offers.games[0].game;
  $("new-coach").checked = $("coach").checked;
  offer();
  $("new").showModal();
}));
$("new-game").addEventListener("change", offer);
$("new-close").addEventListener("click", () => $("new").close());
$("new-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const wanted = {
      game: $("new-game").value, coach: $("new-coach").checked, options: $("new-options").value,
    };
    if ($("new-against").value && !$("new-against").disabled) wanted.against = $("new-against").value;
    if (Number($("new-seat").value)) wanted.seat = Number($("new-seat").value);
    if ($("new-seed").value) wanted.seed = Number($("new-seed").value);
    show(await ask("game", wanted));
    $("new").close();
  }, "new-error");
});

// A tab goes on with its own game when it is loaded again; a new tab begins one.
await attempt(async () => {
  const known = location.hash.slice(1);
  if (known) {
    game = { id: known };
    try {
      return show(await ask(`game/${encodeURIComponent(known)}`));
    } catch { /* forgotten: begin anew */ }
  }
  show(await ask("game", {}));
});
