// The explorer in the browser. Every page works without it, but for the live feed.
import { $, $$, on, remember, remembered, root, tell } from "./dom.js";
import * as inspector from "./inspect.js";
import * as live from "./live.js";
import * as list from "./rows.js";
import { start as summarise } from "./summary.js";
import { times } from "./zone.js";

const densities = ["compact", "normal", "comfortable"];

function set(name, value) {
  const plain = { theme: "auto", density: "normal", zone: "page", keyboard: "on" };
  remember({ [name]: value });
  if (value === plain[name]) delete root.dataset[name];
  else root.dataset[name] = value;
  const field = $(`#display [name="${name}"][value="${value}"]`);
  if (field) field.checked = true;
  if (name === "zone") times();
}

function denser(by) {
  const at = densities.indexOf(root.dataset.density || "normal");
  set("density", densities[Math.min(Math.max(at + by, 0), 2)]);
}

/** Follows a link of the header or value in focus in the panel of names. */
function panel(name) {
  const line = document.activeElement?.closest?.("#names li");
  const link = line && $(`:scope > .verbs ${name}`, line);
  link?.click();
  return Boolean(link);
}

// A verb leads to a new page; there the focus is where it was, or in the list.
const spot = "headerglass-focus";
const place = (link) => {
  const row = link?.closest("[data-path]");
  const line = link?.closest("#names > ul > li");
  return row ? ["path", row.dataset.path] : line ? ["name", $("bdi", line).textContent] : [];
};
function leave(done) {
  if (done && document.activeElement !== document.body) sessionStorage.setItem(spot, JSON.stringify(place(document.activeElement)));
  return done;
}
function resume() {
  const kept = sessionStorage.getItem(spot);
  sessionStorage.removeItem(spot);
  if (!kept || location.hash) return;
  const [kind, what] = JSON.parse(kept);
  const row = kind === "path" && $(`#tree tr[data-path="${CSS.escape(what)}"], .props tr[data-path="${CSS.escape(what)}"] .verbs a`);
  const line = kind === "name" && $$("#names > ul > li").find((li) => $("bdi", li).textContent === what);
  (row || (line && $(".has", line)) || $("#rows a") || $("#q"))?.focus();
}

function nothing() {
  tell(inspector.chosen() ? "No filter says that of this value" : "Point at a header first, or move the focus to one");
}

const actions = {
  next: () => list.step(1),
  previous: () => list.step(-1),
  first: () => list.step("first"),
  last: () => list.step("last"),
  open: () => list.open(list.current()),
  full: () => $("#full")?.click(),
  back: () => list.back(),
  query: () => $("#q")?.select(),
  filter: () => leave(inspector.verb("is") || inspector.verb("has") || panel(".is")) || nothing(),
  exclude: () => leave(inspector.verb("not") || panel(".not")) || nothing(),
  column: () => leave(inspector.verb("col") || panel(".col")) || nothing(),
  copy: () => inspector.copyChosen("value") || nothing(),
  "copy-path": () => inspector.copyChosen("path") || nothing(),
  download: () => $("#download")?.click(),
  hex: () => $("#hex")?.focus(),
  pause: () => live.toggle(),
  "show-new": () => live.showNew(),
  mark: () => import("./marks.js").then((marks) => marks.mark()),
  diff: () => import("./marks.js").then((marks) => marks.diff()),
  zone: () => set("zone", root.dataset.zone === "local" ? "page" : "local"),
  denser: () => denser(-1),
  roomier: () => denser(1),
  help: () => $("#help")?.togglePopover(),
};

// The keys are written once, in the table of the help panel.
const keys = new Map();
for (const row of $$("[data-do]")) for (const key of row.dataset.keys.split("\n")) keys.set(key, row.dataset.do);

// What handles keys of its own comes before the keys of the page.
inspector.start();
list.start();

let prefix = "";
document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = target.matches?.("input:not([type=radio]), select, textarea, [contenteditable]");
  if (event.key === "Escape") {
    const sheet = $(".bar details[open]");
    if (sheet) fold(sheet, true);
    else if (typing) target.blur();
    else if (!$(":popover-open")) list.back();
    return;
  }
  if (typing || root.dataset.keyboard === "off") return;
  const pressable = target.closest?.("a, button, summary, input, [role=separator]");
  if (pressable && (event.key === "Enter" || (event.key === " " && !pressable.matches("a")))) return;
  if ($(":popover-open") && event.key !== "?") return;
  const combined = `${prefix} ${event.key}`;
  const action = keys.get(combined) || keys.get(event.key);
  prefix = [...keys.keys()].some((k) => k.startsWith(`${event.key} `)) && !keys.has(combined) ? event.key : "";
  if (!action) return;
  event.preventDefault();
  actions[action]?.();
});

/** Closes a sheet of the query bar. */
function fold(sheet, focus) {
  sheet.open = false;
  if (focus) $("summary", sheet).focus();
}
document.addEventListener("pointerdown", (event) => {
  for (const sheet of $$(".bar details[open]")) if (!sheet.contains(event.target)) fold(sheet);
});

on("click", "#mark", () => import("./marks.js").then((marks) => marks.mark($("#inspector article").dataset.seq)));

// A file that is dropped anywhere is read as bytes from elsewhere.
document.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!event.dataTransfer?.files.length || event.target.matches?.("input[type=file]")) return;
  event.preventDefault();
  const form = document.createElement("form");
  Object.assign(form, { method: "post", enctype: "multipart/form-data", action: $("#inspect").href, hidden: true });
  const file = document.createElement("input");
  Object.assign(file, { type: "file", name: "file", files: event.dataTransfer.files });
  form.append(file);
  document.body.append(form);
  form.submit();
});

on("change", "#display input", (_, field) => set(field.name, field.value));
for (const [name, value] of Object.entries(remembered())) {
  const field = $(`#display [name="${CSS.escape(name)}"][value="${CSS.escape(String(value))}"]`);
  if (field) field.checked = true;
}

summarise();
const filter = $("#q[data-complete]");
if (filter) {
  const combobox = { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" };
  Object.assign(filter, combobox).setAttribute("aria-controls", "q-names");
  filter.addEventListener("focus", () => import("./complete.js").then((complete) => complete.begin()), { once: true });
}
live.start();
try {
  if (JSON.parse(sessionStorage.getItem("headerglass-marks") || "[]").length) import("./marks.js");
} catch {
  // No marks without a memory.
}
times();
resume();
