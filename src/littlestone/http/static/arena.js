// What both games share: elements, questions to the server, pictures.
export const $ = id => document.getElementById(id);

export function made(tag, attributes = {}, ...children) {
  const svg = ["rect", "line", "path", "text", "svg"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export async function ask(path, body) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

export function say(id, words, bad = false) {
  $(id).textContent = words;
  $(id).classList.toggle("bad", bad);
}

// One thing at a time: what is pressed while a question is under way is dropped, not queued.
// What is chosen meanwhile is kept, since the page shows it: the last choice follows the answer.
let busy = false, choice = null;
export async function once(work, id = "said") {
  if (busy) return;
  document.body.dataset.busy = busy = true;
  try { await work(); } catch (problem) { say(id, problem.message, true); }
  busy = false;
  delete document.body.dataset.busy;
  if (choice) { const chosen = choice; choice = null; await once(chosen, id); }
}
export function choose(work) {
  if (busy) choice = work; else once(work);
}
