// Keeps the page of a run up to date: what the server renders is fetched again when it publishes.
"use strict";
const run = document.body.dataset.run;
const live = document.getElementById("live");
const charts = {};

function chart(id, xs, ys, label) {
  const place = document.getElementById(id);
  if (!place || xs.length < 2) return;
  const ink = getComputedStyle(document.body).color;
  const grid = { stroke: "rgba(128,128,128,.25)" };
  const options = {
    width: place.clientWidth, height: 220, legend: { live: false }, cursor: { drag: { x: false } },
    scales: { x: { time: false } },
    axes: [{ stroke: ink, grid, label: "round" }, { stroke: ink, grid, size: 60 }],
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

const source = new EventSource(`/runs/${run}/releases`);
source.addEventListener("release", event => { heard(JSON.parse(event.data)); later(); });
source.onopen = () => { live.textContent = "live"; };
source.onerror = () => { live.textContent = "not connected; trying again"; };
addEventListener("resize", later);
fragment("baselines");
curve();
