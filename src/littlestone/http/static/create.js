// An owner's two requests from a page: create a run, and delete one that never read an event.
"use strict";

async function said(answer) {
  const content = await answer.json().catch(() => ({}));
  return content.error ?? `the service answered ${answer.status}`;
}

document.getElementById("create")?.addEventListener("submit", async event => {
  event.preventDefault();
  const problem = document.getElementById("created");
  const asked = {};
  for (const [name, value] of new FormData(event.target)) {
    if (value.trim() === "") continue; // the default of every request
    if (["rounds", "epsilon", "delta", "publish_every"].includes(name)) asked[name] = Number(value);
    else if (name !== "schema") asked[name] = value.trim();
    else {
      try { asked.schema = JSON.parse(value); }
      catch (error) { problem.textContent = `schema is not JSON: ${error.message}`; return; }
    }
  }
  problem.textContent = "creating";
  const answer = await fetch("/runs", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked),
  });
  if (answer.ok) location.assign(`/view/${asked.name}`);
  else problem.textContent = await said(answer);
});

document.getElementById("delete")?.addEventListener("click", async () => {
  const answer = await fetch(`/runs/${document.body.dataset.run}`, { method: "DELETE" });
  if (answer.ok) location.assign("/");
  else document.getElementById("deleted").textContent = await said(answer);
});
