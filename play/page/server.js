// Requests to the server, with a notice while an answer takes long.

import { by } from "./element.js";

const WAIT = "One moment: the game is being solved exactly.";

// Return the answer to a request. `words` tell of a long wait; without words nothing is told.
export async function ask(path, body, words = WAIT) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let asking = 0;
  const waiting = setTimeout(() => {
    by("waiting").textContent = words;
    by("busy").hidden = !words;
    asking = setInterval(showProgress, 500);
  }, 250);
  try {
    const answer = await fetch(path, options);
    const said = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(said.error), { status: answer.status });
    return said;
  } catch (error) {
    throw error instanceof TypeError
      ? new Error("The server does not answer. Is exactdice play --web still running?") : error;
  } finally {
    clearTimeout(waiting);
    clearInterval(asking);
    by("busy").hidden = true;
  }
}

// Say how far the server is with a long computation.
async function showProgress() {
  try {
    const { percent } = await (await fetch("/api/progress")).json();
    if (percent !== null) by("waiting").textContent = `${WAIT} ${percent} %`;
  } catch { /* the answer that is waited for tells of a server that is gone */ }
}
