// Keeps the page of a run up to date: what the server renders is fetched again when it publishes.
"use strict";
const run = document.body.dataset.run;
const live = document.getElementById("live");
const charts = {};
const whole = [...Array(15).keys()].flatMap(power => [1, 2, 5].map(times => times * 10 ** power));

function chart(id, xs, ys, label) {
  const place = document.getElementById(id);
  if (!place || xs.length < 2) return;
  place.setAttribute("aria-label", `${ys.at(-1)} ${label} up to round ${xs.at(-1)}`);
  const ink = getComputedStyle(document.body).color;
  const grid = { stroke: "rgba(128,128,128,.25)" };
  const options = {
    width: place.clientWidth, height: 220, legend: { live: false }, cursor: { drag: { x: false } },
    scales: { x: { time: false } },
    axes: [{ stroke: ink, grid, label: "round" }, { stroke: ink, grid, size: 60, incrs: whole }],
    series: [{}, { label, stroke: getComputedStyle(document.documentElement).getPropertyValue("--main"), width: 2,
                   paths: uPlot.paths.stepped({ align: 1 }) }],
  };
  if (charts[id]) charts[id].destroy();
  charts[id] = new uPlot(options, [xs, ys], place);
}

async function fragment(name) {
  const place = document.getElementById(name);
  const answer = place && await fetch(`/view/${run}/${name}`);
  if (answer?.ok) place.innerHTML = await answer.text();
}

const rounds = [], numbers = [];
function heard(release) {
  rounds.push(release.round); numbers.push(release.release);
}

let waiting = null;
function later() {
  // Many releases in one moment are drawn once.
  if (waiting) return;
  waiting = setTimeout(() => {
    waiting = null;
    chart("timeline", rounds, numbers, "releases");
    fragment("now"); fragment("baselines"); curve();
  }, 100);
}

async function curve() {
  if (!document.getElementById("mistakes")) return;
  const answer = await fetch(`/runs/${run}/curve`);
  if (!answer.ok) return;
  const points = [{ round: 0, mistakes: 0 }, ...(await answer.json())];
  chart("mistakes", points.map(p => p.round), points.map(p => p.mistakes), "mistakes");
}

function listen() {
  const source = new EventSource(`/runs/${run}/releases?after=${numbers.at(-1) ?? 0}`);
  source.addEventListener("release", event => { heard(JSON.parse(event.data)); later(); });
  source.onopen = () => { live.textContent = "live"; };
  source.onerror = () => {
    live.textContent = "not connected; trying again";
    // A browser gives up where the server answers, but not yet with a stream: while it starts.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}
listen();
addEventListener("resize", later);
fragment("baselines");
curve();
