// Statistics over the games that are kept in the person's file.

import { by, element } from "./element.js";
import { shape } from "./review.js";
import { ask } from "./server.js";
import { work } from "./work.js";

const ROWS = 10; // games in a table
const SPAN = 10; // games in a moving mean
const POINTS = / points$/; // the heading has the unit, so that the table fits a phone

const noBreak = (words) => words.replaceAll(" ", "\u00a0").replace(/^-/, "\u2212");

const tableOf = (head, rows) => element("table", { class: "totals" },
  element("thead", {}, element("tr", {}, element("td", {}), ...head.map((words) => element("th", { scope: "col" }, words)))),
  element("tbody", {}, ...rows.map(([first, ...numbers]) => element("tr", {}, element("th", { scope: "row" }, first),
    ...numbers.map((number) => element("td", { class: "value" }, noBreak(String(number))))))));

function totals(game) { // a row for each figure, so that the table fits a phone
  const parts = [game.all, ...(game.recent ? [game.recent] : [])];
  const words = { games: "games", decisions: "decisions", lost: "lost per decision", accuracy: "accuracy", luck: "luck per game", payoff: "result per game" };
  return tableOf(["all games", `last ${SPAN}`].slice(0, parts.length),
    Object.entries(words).map(([name, said]) => [said, ...parts.map((part) => part[name])]));
}

// Draw the loss per decision of each game, and its mean over the last games.
function course(game) {
  const lost = game.series.map((one) => one.lost);
  const top = Math.max(...lost) || 1;
  const means = lost.map((_, place) => {
    const some = lost.slice(Math.max(0, place + 1 - SPAN), place + 1);
    return some.reduce((sum, one) => sum + one, 0) / some.length;
  });
  const width = lost.length;
  const room = Math.max(width, SPAN); // bars of a few games stay narrow
  const svg = shape("svg", { viewBox: `0 0 ${room} 1`, preserveAspectRatio: "none", role: "img", class: "course",
    "aria-label": `Loss per decision in ${width} games, and its mean over the last ${SPAN}` });
  lost.forEach((one, place) => {
    const bar = shape("rect", { x: place + 0.15, y: 1 - one / top, width: 0.7, height: one / top, class: "one" });
    const words = shape("title", {});
    words.textContent = `${dateOf(game.series[place])}: ${game.series[place].words.lost} per decision`;
    bar.append(words);
    svg.append(bar);
  });
  for (let place = 1; place < width; place += 1) {
    svg.append(shape("line", { x1: place - 0.5, y1: 1 - means[place - 1] / top, x2: place + 0.5, y2: 1 - means[place] / top, class: "mean" }));
  }
  const highest = game.series[lost.indexOf(Math.max(...lost))].words.lost;
  return element("figure", {}, element("figcaption", {}, `Lost per decision, game by game; the line is the mean of the last ${SPAN} games`),
    element("div", { class: "axis" }, element("span", {}, noBreak(highest)), element("span", {}, "0")), svg);
}

const dateOf = (one) => new Date(one.when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

function latest(game) {
  return tableOf(["lost per decision", "accuracy", "luck", "result"], game.series.slice(-ROWS).reverse().map((one) => [
    element("span", {}, element("a", { href: `/#${one.link}` }, dateOf(one)), one.rivals ? ` against ${one.rivals}` : ""),
    ...["lost", "accuracy", "luck", "payoff"].map((name) => one.words[name].replace(POINTS, ""))]));
}

const section = (game) => element("section", { class: "card" }, element("h2", {}, game.title),
  totals(game), ...(game.series.length > 1 ? [course(game)] : []),
  element("h3", {}, POINTS.test(game.all.lost) ? "Latest games, in points" : "Latest games"), latest(game));

await work(async () => {
  const { games, damaged, file } = await ask("/api/statistics");
  const about = file ? `Your games are kept in ${file}.` : "Your games are not kept (EXACTDICE_DATA is none).";
  by("statistics").replaceChildren(
    ...(games.length ? [] : [element("p", { class: "card" }, "No game yet: play one to its end, and it comes here.")]),
    ...games.map(section),
    ...damaged.map((words) => element("p", { class: "small" }, words)),
    element("p", { class: "small" }, `${about} Accuracy: 100 %: nothing given away; 0 %: as much as by random moves in the same positions. Games of two persons, watched games and second tries do not count.`));
});
