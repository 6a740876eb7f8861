// The inspector: the tree of headers and its bytes, each showing the place of the other.
import { $, $$, copy, count, on, tell } from "./dom.js";

let runs = []; // {o, e, parts: [element in the hex column, element in the ASCII column], role}
let nodes = []; // {s, e, level, row}
let pinned = null; // a byte
let cursor = 0;
let anchor = null; // where a selection of bytes began
let box = null;
let followed = null; // what was activated inside the inspector, which the answer replaces
let part; // of the tree, that is shown

/** Reads what the server drew; called for every message that is opened. */
export function inspect() {
  refocus();
  const before = part;
  const state = new URLSearchParams(location.search);
  part = `${state.get("at")} ${state.get("skip")}`;
  if (before && before !== part) $(".headers .head")?.scrollIntoView({ block: "nearest" });
  const tree = $("#tree");
  pinned = null;
  nodes = $$("tr[data-f]", tree || document.createElement("table")).map((row) => ({
    row, s: +row.dataset.f, e: +row.dataset.e, level: +row.getAttribute("aria-level"),
  }));
  nodes.forEach((node, i) => (node.row.tabIndex = i ? -1 : 0));
  readBytes();
  const link = $("#link") && new URL($("#link").dataset.link, location);
  if (link?.pathname !== location.pathname) return;
  // The address that is passed on means this message and no other.
  const url = new URL(location);
  url.searchParams.set("f", link.searchParams.get("f"));
  history.replaceState(history.state, "", url);
}

function readBytes() {
  const hex = $("#hex");
  anchor = box = null;
  runs = [];
  if (!hex) return;
  cursor = +hex.dataset.base;
  const byStart = new Map();
  for (const element of $$("b", hex)) {
    const o = +element.dataset.o;
    if (!byStart.has(o)) byStart.set(o, { o, parts: [], role: element.className[0] });
    byStart.get(o).parts.push(element);
  }
  runs = [...byStart.values()].sort((a, b) => a.o - b.o);
  runs.forEach((run, i) => (run.e = runs[i + 1]?.o ?? +hex.dataset.end));
  const marked = runs.filter((run) => run.parts[0].classList.contains("mark"));
  if (marked.length) [anchor, cursor] = [marked[0].o, marked.at(-1).e - 1];
  select();
}

// What an element of the inspector is called, so that its successor on the next page can be told.
function nameOf(element) {
  const words = element.name || element.getAttribute("aria-label") || element.textContent;
  return `${element.closest("section, form")?.className} ${words.replace(/[\d\s\u202f]+/g, "")}`;
}

/** Puts the focus back where it was before the inspector was replaced: a page of it keeps the reader's place. */
function refocus() {
  if (!followed) return;
  const name = followed;
  followed = null;
  if (document.activeElement && document.activeElement !== document.body) return;
  const again = $$("a[hx-get], select", $("#inspector")).find((element) => nameOf(element) === name);
  (again || $("#inspector")).focus({ preventScroll: true });
}

/** The deepest row of the tree that a byte belongs to, and its ancestors. */
function line(byte) {
  const around = nodes.filter((n) => n.s <= byte && byte < n.e).sort((a, b) => a.e - a.s - (b.e - b.s));
  return { node: around[0], ancestors: around.slice(1) };
}

function runAt(byte) {
  return runs.find((r) => r.o <= byte && byte < r.e);
}

function show(byte) {
  for (const element of $$("#tree .on, #tree .near, #hex .on, #hex .near")) element.classList.remove("on", "near");
  if (byte === null) {
    say("");
    return;
  }
  const { node, ancestors } = line(byte);
  node?.row.classList.add("on");
  for (const a of ancestors) a.row.classList.add("near");
  const [s, e] = node ? [node.s, node.e] : [byte, byte + 1];
  const [ps, pe] = ancestors[0] ? [ancestors[0].s, ancestors[0].e] : [s, e];
  for (const run of runs) {
    const name = run.o >= s && run.o < e ? "on" : run.o >= ps && run.o < pe ? "near" : "";
    if (name) for (const part of run.parts) part.classList.add(name);
  }
  say(`byte ${byte} (0x${byte.toString(16)}), ${role(byte)}`);
}

const roles = { l: "length", n: "name", g: "type tag", v: "value", r: "unreadable" };

function role(byte) {
  const row = line(byte).node?.row;
  const name = row ? row.dataset.path || "the damage" : "the table";
  const run = runAt(byte);
  return run ? `${roles[run.role]} of ${name}` : name;
}

function say(text) {
  const where = $("#where");
  if (where) where.textContent = text;
}

/** The bytes that a copy takes: the selection, or else the field that is pinned. */
function chosenBytes() {
  if (anchor !== null) return [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  const node = pinned === null ? null : line(pinned).node;
  return node ? [node.s, node.e - 1] : [cursor, cursor];
}

function copyBytes(as) {
  const [a, z] = chosenBytes();
  const digits = bytesOf(a, z).match(/../g) || [];
  const bytes = digits.map((d) => parseInt(d, 16));
  const text = {
    hex: () => digits.join(" "),
    ascii: () => bytes.map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : ".")).join(""),
    base64: () => btoa(String.fromCharCode(...bytes)),
  }[as]();
  copy(text, `${count(bytes.length, "byte")} as ${as === "ascii" ? "ASCII" : as}`);
}

// Draws the selection, where the browser can draw a range that is no element.
function select() {
  if (!globalThis.Highlight) return;
  CSS.highlights.delete("bytes");
  if (anchor === null) return;
  const [a, z] = chosenBytes();
  const ranges = [];
  for (const run of runs) {
    if (run.e <= a || run.o > z) continue;
    const [from, to] = [Math.max(a, run.o), Math.min(z, run.e - 1)];
    for (const [part, s, e] of [[run.parts[0], digit(run, from), digit(run, to) + 2], [run.parts[1], from - run.o, to - run.o + 1]]) {
      const range = document.createRange();
      range.setStart(part.firstChild, s);
      range.setEnd(part.firstChild, e);
      ranges.push(range);
    }
  }
  CSS.highlights.set("bytes", new Highlight(...ranges));
}

/** Takes the selection of bytes away, from the address too. */
function unselect() {
  anchor = null;
  select();
  for (const element of $$("#hex .mark")) element.classList.remove("mark");
  const url = new URL(location);
  if (!url.searchParams.has("b")) return;
  url.searchParams.delete("b");
  history.replaceState(history.state, "", url);
}

/** Pins the row of the tree that begins at a byte: what was chosen among the bytes is chosen no more. */
function pinRow(byte) {
  unselect();
  box?.remove();
  box = null;
  pin(byte, "hex");
  if (onPage(byte)) cursor = byte;
  else turnTo(byte);
}

function onPage(byte) {
  const { base, end } = $("#hex").dataset;
  return +base <= byte && byte < +end;
}

let turning = 0;
/** Brings the page of the bytes that holds this one, and leaves the rest of the message as it is. */
function turnTo(byte) {
  clearTimeout(turning); // so that only the row where the focus comes to rest counts
  turning = setTimeout(async () => {
    const url = new URL($("#bytes [hx-get]").href);
    url.searchParams.set("hex", byte);
    url.searchParams.delete("b");
    const answer = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null);
    const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
    const old = $("#bytes");
    const bytes = page && $("#bytes", page);
    // Meanwhile the reader may have gone on.
    if (!bytes || !old || pinned !== byte) return;
    old.replaceWith(bytes);
    htmx.process(bytes);
    readBytes();
    pin(byte, "hex");
    cursor = byte;
  }, 120);
}

function pin(byte, scroll) {
  pinned = byte;
  show(byte);
  if (byte === null || !scroll) return;
  const { node } = line(byte);
  if (scroll === "tree") {
    node?.row.scrollIntoView({ block: "nearest" });
  } else {
    const part = runAt(byte)?.parts[0];
    if (part) {
      // Within the pane alone: the inspector around it stays where it is.
      const hex = $("#hex");
      const [box, frame] = [part.getBoundingClientRect(), hex.getBoundingClientRect()];
      if (box.top < frame.top) hex.scrollTop += box.top - frame.top - 4;
      else if (box.bottom > frame.bottom) hex.scrollTop += Math.min(box.bottom - frame.bottom + 4, box.top - frame.top);
    }
  }
}

// Where a byte's two hex digits stand in the text of its run.
function digit(run, byte) {
  let at = 0;
  for (let b = run.o; b < byte; b++) at += 2 + ((b + 1) % 16 === 8 ? 2 : 1);
  return at;
}

// The place of one byte on the page: in the hex column, or in the other one.
function place(byte, ascii = false) {
  const run = runAt(byte);
  if (!run) return null;
  const text = run.parts[+ascii].firstChild;
  const at = ascii ? byte - run.o : digit(run, byte);
  const range = document.createRange();
  range.setStart(text, at);
  range.setEnd(text, at + (ascii ? 1 : 2));
  return range.getBoundingClientRect();
}

// The byte under the pointer, or in the gap before the next.
function byteAt(element, event) {
  const run = runs.find((r) => r.parts.includes(element));
  let byte = run.o;
  while (byte + 1 < run.e && place(byte + 1, element !== run.parts[0]).left - 3 <= event.clientX) byte++;
  return byte;
}

function moveTo(byte, extend) {
  const hex = $("#hex");
  const first = +hex.dataset.base;
  const last = +hex.dataset.end - 1;
  const from = cursor;
  cursor = Math.min(Math.max(byte, first), last);
  if (extend) anchor ??= from;
  else unselect();
  pin(cursor, "hex");
  pin(cursor, "tree");
  if (!box) {
    box = document.createElement("span");
    box.className = "cursor";
    hex.append(box);
  }
  const [a, z] = anchor === null ? [cursor, cursor] : [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  const rect = place(cursor);
  if (rect) {
    const frame = hex.getBoundingClientRect();
    box.style.left = `${rect.left - frame.left + hex.scrollLeft - 3}px`;
    box.style.top = `${rect.top - frame.top + hex.scrollTop - 1}px`;
    box.style.width = `${rect.width + 6}px`;
    box.style.height = `${rect.height + 2}px`;
  }
  const range = anchor === null ? "" : `bytes ${a} to ${z}, `;
  select();
  say(`${range}offset ${cursor}, 0x${bytesOf(cursor, cursor)}, ${role(cursor)}`);
  if (extend) {
    const url = new URL(location);
    url.searchParams.set("b", `${a}-${z}`);
    history.replaceState(history.state, "", url);
  }
}

function bytesOf(a, z) {
  let out = "";
  for (const run of runs) {
    if (run.e <= a || run.o > z) continue;
    const digits = run.parts[0].textContent.replace(/\s/g, "");
    out += digits.slice(2 * Math.max(a - run.o, 0), 2 * (Math.min(z + 1, run.e) - run.o));
  }
  return out;
}

/** The bytes that are shown. */
export function shownBytes() {
  return Uint8Array.from(runs.length ? bytesOf(0, Infinity).match(/../g) : [], (digits) => parseInt(digits, 16));
}

// Rows of the tree.

function visible() {
  return nodes.filter((n) => !n.row.hidden);
}

function fold(node, closed) {
  node.row.setAttribute("aria-expanded", String(!closed));
  let row = node.row.nextElementSibling;
  let until = Infinity; // inside a closed row deeper down
  for (; row && +row.getAttribute("aria-level") > node.level; row = row.nextElementSibling) {
    const level = +row.getAttribute("aria-level");
    if (level <= until) until = Infinity;
    row.hidden = closed || level > until;
    if (until === Infinity && row.getAttribute("aria-expanded") === "false") until = level;
  }
}

function focusRow(node) {
  if (!node) return;
  for (const n of nodes) n.row.tabIndex = -1;
  node.row.tabIndex = 0;
  node.row.focus();
}

/** The row of a header or property in focus, or under the pointer. */
export function chosen() {
  const row = "#tree tr[data-f], .props tr[data-path]";
  return document.activeElement?.closest?.(row) || $$(row).find((r) => r.matches(":hover"));
}

export function verb(name) {
  const link = $(`.verbs .${name}`, chosen() || document.createElement("i"));
  link?.click();
  return Boolean(link);
}

function textOf(row) {
  const whole = $(".whole", row) || $(".value > .v, .value summary > .v", row);
  if (!whole) return "";
  if (whole.matches(".dump") || $(".dump", whole)) {
    return [...whole.textContent.matchAll(/^(?:[0-9a-f]{4,}  )?((?:[0-9a-f]{2} ?)+)/gm)].map((m) => m[1].trim()).join(" ");
  }
  return whole.textContent;
}

/** Copies the value of a row: a lone one as it is shown, a table, an array and damage as bytes. */
async function copyValue(row) {
  const broken = row.classList.contains("broken");
  if (!broken && !$(".type :is(.tag-F, .tag-A)", row)) {
    if ($(".value .v", row)) copy(textOf(row), $(".v.cut", row) && !$(".whole", row) ? "What is shown of the value" : "Value");
    else tell("This value is not kept");
    return;
  }
  const { s, e } = nodes.find((n) => n.row === row);
  let bytes = onPage(s) && onPage(e - 1) ? bytesOf(s, e - 1).match(/../g) : null;
  const file = $("#download");
  if (!bytes && file) {
    const answer = await fetch(file.href).catch(() => null);
    if (answer?.ok) bytes = Array.from(new Uint8Array(await answer.arrayBuffer()).slice(s, e), (b) => b.toString(16).padStart(2, "0"));
  }
  if (!bytes) {
    tell("Not copied: its bytes are not on this page");
    return;
  }
  // Before the value stands its tag, and before that a field's name.
  if (!broken) bytes = bytes.slice($(".ix", row) ? 1 : 2 + parseInt(bytes[0], 16));
  copy(bytes.join(" "), `${count(bytes.length, "byte")} as hex`);
}

export function copyChosen(what) {
  if (what === "value" && document.activeElement?.closest?.("#hex")) {
    const [a, z] = anchor === null ? [cursor, cursor] : chosenBytes();
    copy(bytesOf(a, z), `${count(z - a + 1, "byte")} as hex`);
    return true;
  }
  const row = chosen();
  if (row && what === "path") copy(row.dataset.path, "Path");
  else if (row) copyValue(row);
  return Boolean(row);
}

// The page scrolls under a pointer that lies still while keys are used: that is no pointing.
let pointer = "";
function moved(event) {
  const before = pointer;
  pointer = `${event.clientX} ${event.clientY}`;
  return pointer !== before;
}

export function start() {
  on("pointerover", "#hex b", (event, run) => moved(event) && show(+run.dataset.o));
  on("pointerover", "#tree tr[data-f]", (event, row) => moved(event) && show(+row.dataset.f));
  document.addEventListener("pointerout", (event) => {
    if (event.target.closest?.("#hex b, #tree tr[data-f]") && !event.relatedTarget?.closest?.("#hex, #tree")) show(pinned);
  });
  // Bytes are selected by dragging, in place of the browser's own selection, which would take the offsets along.
  let held = null;
  on("mousedown", "#hex b", (event, element) => {
    if (event.button) return;
    event.preventDefault();
    $("#hex").focus({ preventScroll: true });
    held = byteAt(element, event);
    moveTo(held, event.shiftKey);
  });
  on("mousemove", "#hex b", (event, element) => {
    if (held === null || !(event.buttons & 1)) return;
    const byte = byteAt(element, event);
    if (byte !== cursor) moveTo(byte, true);
  });
  document.addEventListener("mouseup", () => (held = null));
  document.addEventListener("copy", (event) => {
    if (!document.activeElement?.closest?.("#hex") || !getSelection().isCollapsed) return;
    event.preventDefault();
    copyBytes("hex");
  });
  on("click", "#tree tr[data-f]", (event, row) => {
    if (event.target.closest("a, button, summary") || !getSelection().isCollapsed) return;
    const node = nodes.find((n) => n.row === row);
    if (event.target.closest(".name") && row.hasAttribute("aria-expanded")) fold(node, row.getAttribute("aria-expanded") === "true");
    focusRow(node);
    pinRow(node.s);
  });
  on("focusin", "#tree tr[data-f]", (event, row) => event.target === row && pinRow(+row.dataset.f));
  on("click", ".verbs .copy", (_, button) => copyValue(button.closest("tr")));
  on("click", ".verbs .copypath", (_, button) => copy(button.closest("tr").dataset.path, "Path"));
  on("click", ".copyline", (_, button) => copy(button.previousElementSibling.textContent, "Command"));
  on("click", "#link", (_, button) => copy(new URL(button.dataset.link, location).href, "Link to this message"));
  on("click", ".copycode", () => copy($("pre.code").textContent, "Code"));
  on("click", ".copyas button", (_, button) => copyBytes(button.dataset.as));
  on("click", "#inspector a[hx-get]", (_, link) => (followed = nameOf(link)));
  on("change", "#inspector select", (_, field) => (followed = nameOf(field)));
  on("keydown", "#tree tr[data-f]", (event, row) => {
    if (event.target !== row || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = nodes.find((n) => n.row === row);
    const shown = visible();
    const at = shown.indexOf(node);
    const open = row.getAttribute("aria-expanded");
    switch (event.key) {
      case "ArrowDown": focusRow(shown[at + 1]); break;
      case "ArrowUp": focusRow(shown[at - 1]); break;
      case "Home": focusRow(shown[0]); break;
      case "End": focusRow(shown.at(-1)); break;
      case "ArrowRight":
        if (open === "false") fold(node, false);
        else if (open === "true") focusRow(shown[at + 1]);
        break;
      case "ArrowLeft":
        if (open === "true") fold(node, true);
        else focusRow(shown.slice(0, at).reverse().find((n) => n.level < node.level));
        break;
      case "Enter": {
        const details = $("details", row);
        if (open) fold(node, open === "true");
        else if (details) details.open = !details.open;
        break;
      }
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  on("keydown", "#hex", (event) => {
    if (event.key === "Escape" && anchor !== null) {
      event.preventDefault();
      moveTo(cursor);
    }
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -16, ArrowDown: 16, PageUp: -256, PageDown: 256, Home: -(cursor % 16), End: 15 - (cursor % 16) }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveTo(cursor + by, event.shiftKey);
  });
}
