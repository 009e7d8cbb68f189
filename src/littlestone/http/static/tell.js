// Game two: guess in which of two worlds one is, by hand or by program.
import { $, ask, choose, made, once, say } from "./arena.js";

const SAMPLES = {
  keys: [
    ["one more report", `// "a" is one report below its threshold.
// World 0 gets one more, world 1 does not.
async function play(world) {
  await world.send("a", 1, world.facts.reports - 1);
  if (world.shown.ones.includes("a")) return null;
  await world.challenge(["a", 1], ["b", 0]);
  return world.shown.ones.includes("a") ? 0 : null;
}`],
    ["the noise of others", `// How many reports do other keys need?
async function play(world) {
  let most = 0;
  for (const key of ["p", "q", "r", "s", "t", "u"]) {
    await world.send(key, 1, 80);
    most = Math.max(most, world.sent);
  }
  await world.send("a", 1, most - 1);
  if (world.shown.ones.includes("a")) return null;
  await world.challenge(["a", 1], ["b", 0]);
  return world.shown.ones.includes("a") ? null : 1;
}`],
  ],
  forest: [
    ["the last mistake", `// "a" is released, then one mistake is missing.
async function play(world) {
  while (!world.shown.ones.includes("a")) await world.send("a", 1, 50);
  const before = JSON.stringify(world.shown);
  const left = world.facts.switch - 1;
  if (left) await world.send("a", 0, left);
  if (JSON.stringify(world.shown) !== before) return null;
  await world.challenge(["a", 0], ["a", 1]);
  return JSON.stringify(world.shown) === before ? null : 0;
}`],
    ["the noise of the first copy", `// Measure the noise with one copy, use it on the next.
async function play(world) {
  while (!world.shown.ones.includes("a")) await world.send("a", 1, 50);
  await world.send("a", 0, 100);
  if (world.sent > world.facts.switch) return null;
  while (!world.shown.ones.includes("a")) await world.send("a", 1, 50);
  const before = JSON.stringify(world.shown);
  await world.challenge(["a", 0], ["a", 1]);
  if (JSON.stringify(world.shown) !== before) return null;
  await world.send("a", 1, 30);
  return JSON.stringify(world.shown) === before ? 1 : null;
}`],
  ],
  majority: [
    ["drawn again and again", `// Then no mistake any more: which key is drawn?
async function play(world) {
  await world.challenge([0, 1], [1, 1]);
  let lead = 0;
  for (let phase = 0; phase < 28; phase++) {
    const had = world.shown.ones;
    await world.send(0, +had.includes(0), 20);
    const [key] = world.shown.ones;
    if (!had.length) lead += [1, -1][key] ?? 0;
  }
  return lead > 3 ? 0 : lead < -3 ? 1 : null;
}`],
    ["the first mistake", `// World 0 has a mistake in its first round.
async function play(world) {
  const before = JSON.stringify(world.shown);
  await world.challenge([0, 1], [0, 0]);
  return JSON.stringify(world.shown) === before ? null : 0;
}`],
  ],
};

let arena = null;               // what the server says about this learner
let hand = null;                // the game that is played by hand
let script = [];                // its moves, to play them again
let worker = null, alive = 0;   // the program, and when it last answered
const open = new Set();         // games that are neither guessed nor passed

// Moves of all games wait for each other's answers, and go together.
let waiting = [], under_way = false;
function move(what) {
  return new Promise((resolve, reject) => { waiting.push({ what, resolve, reject }); flush(); });
}
async function flush() {
  if (under_way || !waiting.length) return;
  under_way = true;
  await new Promise(later => setTimeout(later, 1));  // what is asked for in this moment goes along
  const now = waiting.splice(0, 64), here = arena;
  try {
    const { answers, score } = await ask(`/arena/games/tell/${here.id}`, { moves: now.map(one => one.what) });
    if (arena === here) scored(score);
    now.forEach(({ what, resolve }, at) => {
      if (answers[at].game) open.add(answers[at].game);
      if ("bit" in answers[at]) open.delete(what.game);
      resolve(answers[at]);
    });
  } catch (problem) {
    now.forEach(one => one.reject(problem));
  }
  under_way = false;
  flush();
}
async function moved(what) {
  const answer = await move(what);
  if (answer.error) throw new Error(answer.error);
  return answer;
}

// What is proved.

function scored(score) {
  const claim = arena.epsilon, most = Math.max(2 * claim, score.bound * 1.15), wide = 620;
  const x = value => 10 + wide * Math.min(1, value / most);
  $("scale").replaceChildren(
    made("rect", { class: "zeros", x: 10, y: 32, width: wide, height: 14, rx: 7 }),
    made("rect", { class: score.refuted ? "you" : "ones", x: 10, y: 32, width: Math.max(0, x(score.bound) - 10), height: 14, rx: 7 }),
    made("line", { class: "mark", x1: x(claim), x2: x(claim), y1: 24, y2: 54 }),
    made("text", { x: x(claim), y: 18, "text-anchor": "middle" }, `claimed ε = ${claim}`),
    made("text", { x: Math.min(x(score.bound), wide - 240), y: 76 }, `your guesses show ε ≥ ${score.bound.toFixed(2)}`));
  $("scale").setAttribute("aria-label", `claimed ${claim}, shown at least ${score.bound.toFixed(2)}`);
  $("tally").textContent = `${score.games} games, ${score.right} guesses right, ${score.wrong} wrong; next look at ${score.next} guesses`;
  say("verdict", score.refuted ? `Refuted: the claim ε = ${claim} (δ = ${arena.delta}) is wrong, unless you had luck of one in a hundred.`
    : "Not refuted up to here, which does not mean that it is private.", score.refuted);
  if (score.refuted && worker) stopped(`The program has caught it, after ${score.games} games.`);
}

// By hand.

const sentence = shown => `${shown.ones.length ? `{${shown.ones.join(", ")}}` : "{ }"}  ${shown.status}`;
function noted(words, shown, kind = "") {
  const changed = JSON.stringify(shown) !== JSON.stringify(hand.shown);
  hand.shown = shown;
  const line = made("li", { class: `${kind} ${changed ? "changed" : ""}` }, `${words} → ${sentence(shown)}`);
  $("stream").append(line);
  line.scrollIntoView?.({ block: "nearest" });
}
function guessing(can) {
  for (const button of document.querySelectorAll(".guess")) button.disabled = !can;
  $("challenge").querySelector("button").disabled = can;
}

async function opened() {
  const { game, shown } = await moved({});
  hand = { game, shown, challenged: false };
  $("stream").replaceChildren(made("li", {}, `before the first round: ${sentence(shown)}`));
  guessing(false);
}
async function made_move(step) {
  const answer = await moved({ game: hand.game, ...step });
  if (step.pair) {
    const [zero, one] = step.pair.map(([x, y]) => `(${x}, ${y})`);
    hand.challenged = true;
    noted(`special: ${zero} or ${one}`, answer.shown, "special");
    guessing(true);
    say("said", "Which world is it?");
  } else {
    noted(`(${step.example.join(", ")}) × ${answer.sent}`, answer.shown);
  }
}
async function step(what) { await made_move(what); script.push(what); }

const point = text => (/^\d{1,15}$/.test(text) ? Number(text) : text);
$("send").onsubmit = event => {
  event.preventDefault();
  const { x, y, times } = event.target;
  once(() => step({ example: [point(x.value), Number(y.value)], times: Number(times.value) }));
};
$("challenge").onsubmit = event => {
  event.preventDefault();
  const { x0, y0, x1, y1 } = event.target;
  once(() => step({ pair: [[point(x0.value), Number(y0.value)], [point(x1.value), Number(y1.value)]] }));
};
for (const button of document.querySelectorAll(".guess")) {
  button.onclick = () => once(async () => {
    const guess = button.dataset.bit === "" ? null : Number(button.dataset.bit);
    const { bit } = await moved({ game: hand.game, guess });
    const words = guess === null ? `It was world ${bit}.` : guess === bit ? `Right: world ${bit}.` : `Wrong: it was world ${bit}.`;
    const again = script;
    script = [];
    await opened();
    if ($("same").checked) {
      for (const one of again) await step(one);
      say("said", `${words} The same moves were played again: which world is it now?`);
      button.parentElement.querySelector(".guess").focus();
    } else say("said", words);
  });
}

// By program.

function samples() {
  $("sample").replaceChildren(...SAMPLES[$("setup").learner.value].map(([name], at) => made("option", { value: at }, name)));
  sampled();
}
function sampled() { $("code").value = SAMPLES[$("setup").learner.value][Number($("sample").value)][1]; }

function playable(can) {
  for (const button of document.querySelectorAll(".play")) button.disabled = !can;
}
function stopped(words, bad = false) {
  worker?.terminate();
  worker = null;
  $("stop").disabled = true;
  playable(true);
  say("ran", words, bad);
  for (const game of open) if (game !== hand?.game) move({ game }).catch(() => {});
}
function start(games) {
  stopped("");
  playable(false);
  $("stop").disabled = false;
  say("ran", "The program plays.");
  const mine = worker = new Worker("/static/player.js");
  alive = performance.now();
  const watch = setInterval(() => {
    if (worker !== mine) clearInterval(watch);
    else if (!under_way && performance.now() - alive > 10000) stopped("The program was stopped: it made no move for ten seconds.", true);
  }, 500);
  mine.onmessage = async ({ data }) => {
    alive = performance.now();
    if (data.done) return stopped(data.problem ?? "The program has played.", Boolean(data.problem));
    let answer;
    try { answer = await move(data.move); } catch (problem) { answer = { error: problem.message }; }
    alive = performance.now();
    if (worker === mine) mine.postMessage({ call: data.call, answer });
  };
  mine.onerror = event => { event.preventDefault(); stopped(event.message ?? "The program could not start.", true); };
  mine.postMessage({ code: $("code").value, games, atOnce: 48, facts: arena.facts });
}
for (const button of document.querySelectorAll(".play")) button.onclick = () => start(Number(button.dataset.games));
$("stop").onclick = () => stopped("Stopped.");
$("sample").onchange = sampled;

// The setup.

async function begin() {
  if (worker) stopped("");
  playable(false); // a program started now would play against the learner before
  try {
    arena = await ask("/arena/games/tell", { learner: $("setup").learner.value, wanted: $("setup").wanted.value });
  } finally { playable(true); }
  open.clear(); script = [];
  const facts = Object.entries(arena.facts).map(([name, value]) => `${name}: ${value}`).join(", ");
  $("facts").textContent = `${arena.title}. Claimed: ε = ${arena.epsilon}, δ = ${arena.delta}. Known thresholds: ${facts}.`;
  const first = Object.values(arena.facts)[0];
  $("send").times.value = Math.max(1, first - 1);
  [$("send").x.value, $("challenge").x1.value] = arena.points;
  $("challenge").x0.value = arena.points[0];
  $("truth").textContent = "";
  $("reveal").disabled = false;
  say("said", "Send some examples, then toss the coin.");
  scored(arena.score);
  await opened();
}
$("reveal").onclick = () => once(async () => {
  if (worker) stopped("");
  const { truth } = await ask(`/arena/games/tell/${arena.id}/reveal`);
  $("truth").textContent = truth;
  $("reveal").disabled = true;
  guessing(false);
  say("said", "Press Begin for another learner.");
});
$("restart").onclick = () => once(async () => scored(await ask(`/arena/games/tell/${arena.id}/restart`)));
$("setup").onsubmit = event => { event.preventDefault(); once(begin); };
$("setup").learner.onchange = () => { samples(); choose(begin); };
$("setup").wanted.onchange = () => choose(begin);
samples();
once(begin);
