// Game one: choose examples that the published rule gets wrong.
import { $, ask, choose, made, once, say } from "./arena.js";

let game = null;     // what the server says about the game
let history = [];    // every turn: [x, y, wrong, changed]
let marks = null;    // floor and built-in adversaries
let watched = null;  // a recorded game that is being looked at
let clock = null;
const setup = $("setup");
const same = (a, b) => String(a) === String(b);

// The board.

// Buttons stay where they are, so that the focus does, too, and a click is soon drawn.
function buttons(points) {
  const names = points.map(x => JSON.stringify(x)), board = $("board");
  if ([...board.children].map(cell => cell.dataset.x).join() !== names.join()) {
    board.replaceChildren(...names.map((name, place) => made("button",
      { type: "button", "data-x": name, tabindex: place ? -1 : 0 },
      String(points[place]), made("span", { class: "said", "aria-hidden": "true" }))));
  }
  return [...board.children];
}

function cells(points, ones, open, turns) {
  const given = new Map(turns.map(([x, y]) => [String(x), y]));
  const blocked = new Set(ones.map(String)), last = turns.at(-1);
  $("board").className = game.look;
  $("board").dataset.size = points.length;
  buttons(points).forEach((cell, place) => {
    const x = points[place], one = blocked.has(String(x)), label = given.get(String(x));
    const allowed = open ? open[place] : "01", kinds = ["cell"];
    const words = [`${x}: the rule says ${one ? 1 : 0}`];
    if (label !== undefined) words.push(`you said ${label}`);
    if (allowed.length === 1) { kinds.push("settled"); words.push(`only ${allowed} is possible`); }
    if (one) kinds.push("one");
    if (allowed === (one ? "1" : "0")) kinds.push("stuck");
    if (last && same(last[0], x)) kinds.push("last", last[2] ? "wrong" : "right");
    cell.className = kinds.join(" ");
    cell.lastChild.textContent = label === undefined ? "" : `=${label}`;
    cell.setAttribute("aria-label", words.join(", "));
  });
}

function words(ones, points, look) {
  if (look === "keys") return ones.length ? `blocked: ${ones.join(", ")}` : "the list is empty";
  if (!ones.length) return "the rule now: 0 everywhere";
  if (look === "grid") return `the rule now: 1 on ${ones.join(", ")}`;
  const runs = [];
  for (const x of ones) runs.length && runs.at(-1)[1] === x - 1 ? (runs.at(-1)[1] = x) : runs.push([x, x]);
  return `the rule now: 1 on ${runs.map(([a, b]) => (a === b ? a : `${a}–${b}`)).join(", ")}`;
}

$("board").addEventListener("keydown", event => {
  const all = [...$("board").children], at = all.indexOf(document.activeElement);
  const wide = Math.max(1, all.filter(cell => cell.offsetTop === all[0].offsetTop).length);
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key];
  if (step === undefined || at < 0) return;
  event.preventDefault();
  all[Math.min(all.length - 1, Math.max(0, at + step))].focus();
});

// The score.

function bars() {
  const rows = [["you", game.mistakes, "you"]];
  if (marks) {
    rows.push(["no learner can do better", Math.floor(marks.floor * 10) / 10, "limit"]);
    for (const [name, value] of Object.entries(marks.rivals)) rows.push([name, value, "them"]);
  }
  rows.push(["proved bound (95 %)", game.bound, "limit"]);
  const most = Math.max(1, ...rows.map(row => row[1]).filter(value => value < game.rounds));
  $("bars").replaceChildren(...rows.flatMap(([name, value, kind]) => [
    made("span", { class: kind }, name),
    made("span", { class: "track", "aria-hidden": "true" },
      made("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none" },
        made("rect", { class: kind, width: Math.min(100, 100 * value / most), height: 4 }))),
    made("span", { class: kind }, value >= game.rounds ? `${game.rounds} (all)` : (Math.round(value * 10) / 10).toString()),
  ]));
}

function curve() {
  $("curve").toggleAttribute("hidden", !history.length);
  const picture = $("curve"), wide = 320, high = 90, total = Math.max(20, history.length);
  const most = Math.max(5, game.mistakes, game.bound < 4 * game.mistakes ? game.bound : 0);
  const x = round => 4 + (wide - 8) * round / total, y = value => high - 12 - (high - 22) * value / most;
  let path = `M${x(0)} ${y(0)}`, mistakes = 0;
  history.forEach((turn, at) => { mistakes += turn[2] ? 1 : 0; path += `L${x(at + 1).toFixed(1)} ${y(mistakes).toFixed(1)}`; });
  picture.replaceChildren(made("path", { d: path }), made("text", { x: 4, y: high - 2 }, "round 0"),
    made("text", { x: wide - 4, y: high - 2, "text-anchor": "end" }, String(total)));
  if (game.bound <= most) picture.append(made("path", { class: "limit", d: `M4 ${y(game.bound)}H${wide - 4}` }));
}

// What the server answered.

function show() {
  cells(game.points, game.ones, game.open, history);
  $("rule").textContent = words(game.ones, game.points, game.look);
  $("mistakes").textContent = game.mistakes;
  $("what").textContent = game.mistakes === 1 ? "mistake" : "mistakes";
  $("round").textContent = game.round;
  $("rounds").textContent = game.rounds;
  $("again").disabled = $("until").disabled = game.over || !history.length;
  $("fresh").disabled = !history.length;
  for (const button of document.querySelectorAll(".force")) button.disabled = game.over;
  bars(); curve();
}

function told(turns) {
  if (game.over) return `The game is over: ${game.mistakes} ${game.mistakes === 1 ? "mistake" : "mistakes"}.`;
  const [x, y, wrong] = turns.at(-1), many = turns.length > 1 ? ` (${turns.length} rounds)` : "";
  const changed = turns.some(turn => turn[3]);
  return `${x} is ${y}: ${wrong ? "a mistake!" : "the rule had it right."}${many} ${changed ? "The rule has changed." : "The rule stays."}`;
}

async function begin(wanted) {
  leave();
  const began = await ask("/arena/games/fool", wanted);
  game = began; history = []; marks = null;
  $("title").textContent = game.title;
  $("promise").textContent = `In every concept, ${game.meaning}. Promise: ${game.promise}.`;
  $("typed").hidden = game.look !== "keys";
  $("download").href = `/arena/games/fool/${game.id}/game.json`;
  say("said", "Click on a point, or choose one with the arrow keys and press Enter.");
  show();
  ask("/arena/scores", wanted).then(found => { if (game.id === began.id) { marks = found; bars(); } });
}

async function move(what) {
  const answer = await ask(`/arena/games/fool/${game.id}`, what);
  Object.assign(game, answer);
  history.push(...answer.turns);
  show();
  if (answer.refused) say("said", answer.refused, true);
  else if (answer.turns.length) say("said", told(answer.turns));
}

function chosen(x) {
  const label = document.querySelector("[name=label]:checked").value;
  const one = game.ones.some(other => same(other, x));
  return { x, y: label === "wrong" ? (one ? 0 : 1) : Number(label) };
}

$("board").addEventListener("click", event => {
  const cell = event.target.closest(".cell");
  if (cell && !watched && !game.over) once(() => move(chosen(JSON.parse(cell.dataset.x))));
});
$("typed").addEventListener("submit", event => {
  event.preventDefault();
  once(() => move(chosen(event.target.key.value)));
});
const lastOne = more => { const [x, y] = history.at(-1); once(() => move({ x, y, ...more })); };
$("again").onclick = () => lastOne({});
$("until").onclick = () => lastOne({ times: 500, until_change: true });
for (const button of document.querySelectorAll(".force")) {
  button.onclick = () => once(() => move({ times: Number(button.dataset.times), until_change: Boolean(button.dataset.until) }));
}

// The setup.

function fitting() {
  const able = setup.board.selectedOptions[0].dataset.learners.split(" ");
  for (const option of setup.learner.options) option.hidden = option.disabled = !able.includes(option.value);
  if (!able.includes(setup.learner.value)) setup.learner.value = able[0];
}
const wanted = () => ({ board: setup.board.value, learner: setup.learner.value, epsilon: Number(setup.epsilon.value) });
setup.board.onchange = () => { fitting(); choose(() => begin(wanted())); };
setup.learner.onchange = setup.epsilon.onchange = () => choose(() => begin(wanted()));
setup.onsubmit = event => { event.preventDefault(); once(() => begin(wanted())); };

// Replay: what a file says is drawn as text and believed about nothing else.

function sound(record) {
  const fine = record?.kind === "littlestone-arena/1" && ["points", "turns", "rules"].every(name => Array.isArray(record[name]))
    && record.turns.length <= 500 && ["line", "grid", "keys"].includes(record.look)
    && record.turns.every(turn => Array.isArray(turn) && turn.length === 4);
  if (!fine) throw new Error("This file is no game of the arena.");
  return record;
}

function watch(at) {
  const turns = watched.turns.slice(0, at);
  const [, ones] = watched.rules.filter(([number]) => number <= at).at(-1);
  const kept = game.look;
  game.look = watched.look;
  cells(watched.points, ones, null, turns);
  game.look = kept;
  $("rule").textContent = words(ones, watched.points, watched.look);
  $("at").value = at;
  $("atwords").textContent = `${at} of ${watched.turns.length}, ${turns.filter(turn => turn[2]).length} mistakes`;
}

function leave() {
  clearInterval(clock); clock = null;
  $("run").textContent = "Play";
  watched = null;
  $("replay").hidden = true;
}

$("file").onchange = () => once(async () => {
  const [file] = $("file").files;
  if (!file) return;
  const record = sound(JSON.parse(await file.text()));
  watched = record;
  $("title").textContent = `Replay: ${record.title}`;
  $("at").max = record.turns.length;
  $("replay").hidden = false;
  $("fresh").disabled = false;
  say("said", "A recorded game: nothing is played.");
  watch(0);
});
$("at").oninput = () => watch(Number($("at").value));
$("run").onclick = () => {
  if (clock) { clearInterval(clock); clock = null; $("run").textContent = "Play"; return; }
  $("run").textContent = "Pause";
  clock = setInterval(() => {
    const at = Number($("at").value);
    if (at >= watched.turns.length) $("run").onclick(); else watch(at + 1);
  }, 60);
};
$("leave").onclick = () => { leave(); $("title").textContent = game.title; show(); };
$("fresh").onclick = () => once(async () => {
  const source = watched ?? { ...game, turns: history };
  const turns = source.turns, before = turns.filter(turn => turn[2]).length;
  setup.board.value = source.board; fitting();
  setup.learner.value = source.learner; setup.epsilon.value = source.epsilon;
  await begin(wanted());
  await move({ again: turns.map(([x, y]) => [x, y]) });
  say("said", `The same ${turns.length} examples: ${game.mistakes} mistakes now, ${before} before. The difference is noise.`);
});

fitting();
once(() => begin(wanted()));
