// Messages marked for comparison. Loaded with the first mark, or where there are marks already.
import { $, $$, count, tell } from "./dom.js";
import { current } from "./rows.js";

const key = "headerglass-marks";
const most = 8;

function marked() {
  try {
    return JSON.parse(sessionStorage.getItem(key) || "[]").filter((seq) => /^([\w.-]+:)?\d+$/.test(seq)).slice(0, most);
  } catch {
    return [];
  }
}

function keep(seqs) {
  try {
    sessionStorage.setItem(key, JSON.stringify(seqs));
  } catch {
    // Without a memory there is nothing to compare later.
  }
  draw();
}

function address(seqs) {
  return `${$(".brand").getAttribute("href")}diff?${seqs.map((seq) => `m=${seq}`).join("&")}`;
}

function here() {
  return current()?.dataset.seq || $("#inspector article")?.dataset.seq;
}

/** Marks a message, the one in focus if none is named, or takes its mark away. */
export function mark(seq = here()) {
  if (!seq) return;
  const seqs = marked();
  if (seqs.includes(seq)) {
    keep(seqs.filter((s) => s !== seq));
    tell(`Message ${seq} is not marked any more`);
  } else if (seqs.length === most) {
    tell(`At most ${most} messages are compared at once`);
  } else {
    keep([...seqs, seq]);
    tell(`Message ${seq} marked, ${count(seqs.length + 1, "message")} in all`);
  }
}

/** Compares what is marked; with one mark, that and the message in focus. */
export function diff() {
  let seqs = marked();
  const seq = here();
  if (seqs.length === 1 && seq && seq !== seqs[0]) seqs = [...seqs, seq];
  if (seqs.length < 2) tell("Mark two messages with x first");
  else location.assign(address(seqs));
}

function draw() {
  const seqs = marked();
  for (const row of $$("#rows tr[data-seq]")) row.classList.toggle("marked", seqs.includes(row.dataset.seq));
  $("#mark")?.setAttribute("aria-pressed", String(seqs.includes($("#inspector article")?.dataset.seq)));
  let bar = $("#marks");
  if (!seqs.length) {
    bar?.remove();
    return;
  }
  if (!bar) {
    bar = document.createElement("aside");
    bar.id = "marks";
    bar.setAttribute("aria-label", "Marked messages");
    bar.append(document.createElement("span"), document.createElement("a"), document.createElement("button"));
    bar.children[1].className = "button go";
    bar.children[1].textContent = "Compare";
    bar.children[2].type = "button";
    bar.children[2].textContent = "Clear";
    bar.children[2].onclick = () => keep([]);
    document.body.append(bar);
  }
  bar.children[0].textContent = `${seqs.length} marked`;
  bar.children[1].hidden = seqs.length < 2;
  bar.children[1].href = address(seqs);
}

draw();
for (const part of $$("#rows, #inspector")) new MutationObserver(draw).observe(part, { childList: true });
