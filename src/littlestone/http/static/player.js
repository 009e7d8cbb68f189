// Runs a program that somebody typed. The policy of this file alone allows that, and forbids it every
// request; it can talk to the page, which makes the moves.
"use strict";
let play = null, calls = 0;
const waiting = new Map();
const memory = {};  // state that a program may keep between games

function move(what) {
  return new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    postMessage({ call: calls, move: what });
  });
}

async function game(facts) {
  const opened = await move({});
  const world = {
    facts, memory, shown: opened.shown, sent: 0,
    async send(x, y, times = 1) {
      const answer = await move({ game: opened.game, example: [x, y], times });
      world.sent = answer.sent;
      return (world.shown = answer.shown);
    },
    async challenge(zero, one) {
      return (world.shown = (await move({ game: opened.game, pair: [zero, one] })).shown);
    },
  };
  let guess = await play(world);
  if (guess !== 0 && guess !== 1) guess = null;
  const { bit } = await move({ game: opened.game, guess });
  if (world.ended) world.ended(bit);
}

async function many(games, atOnce, facts) {
  let left = games;
  const table = async () => { while (left-- > 0) await game(facts); };
  await Promise.all(Array.from({ length: Math.min(atOnce, games) }, table));
}

onmessage = async ({ data }) => {
  if (data.call) {
    const { resolve, reject } = waiting.get(data.call);
    waiting.delete(data.call);
    data.answer.error ? reject(new Error(data.answer.error)) : resolve(data.answer);
    return;
  }
  try {
    play = new Function(`"use strict";\n${data.code}\nreturn play;`)();
    if (typeof play !== "function") throw new Error("a program must define play(world)");
    await many(data.games, data.atOnce, data.facts);
    postMessage({ done: true });
  } catch (problem) {
    postMessage({ done: true, problem: String(problem) });
  }
};
