// The filter's input offers the names of headers really seen: a combobox as the ARIA practices describe it.
import { $, num } from "./dom.js";

const input = $("#q");
const box = $("#q-names");
let items = [];
let start = 0; // bytes of the filter before what an item replaces
let at = -1; // the item that Enter takes
let asked = 0;

const bytes = (text) => new TextEncoder().encode(text);

function close() {
  asked++;
  at = -1;
  box.hidden = true;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function point(to) {
  at = to;
  [...box.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
  const option = box.children[at];
  if (!option) return;
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function draw() {
  box.replaceChildren(...items.map((item, i) => {
    const option = document.createElement("li");
    option.id = `q-name-${i}`;
    option.role = "option";
    option.dataset.i = i;
    const name = document.createElement("bdi");
    name.className = "mono";
    name.textContent = item.insert;
    const fact = document.createElement("span");
    fact.className = "m";
    fact.textContent = item.meaning || `in ${num(item.count)}`;
    option.append(name, fact);
    return option;
  }));
  box.hidden = items.length === 0;
  input.setAttribute("aria-expanded", String(!box.hidden));
  input.removeAttribute("aria-activedescendant");
  at = -1;
}

async function ask() {
  const mine = ++asked;
  const cursor = input.selectionStart;
  const url = new URL(input.dataset.complete, location);
  url.searchParams.set("q", input.value);
  url.searchParams.set("at", bytes(input.value.slice(0, cursor)).length);
  try {
    const answer = await fetch(url);
    if (!answer.ok || mine !== asked) return;
    const found = await answer.json();
    if (mine !== asked || document.activeElement !== input) return;
    // A word that is complete has nothing to offer.
    const word = new TextDecoder().decode(bytes(input.value.slice(0, cursor)).slice(found.start));
    items = found.items.length === 1 && found.items[0].insert === word ? [] : found.items;
    start = found.start;
    draw();
  } catch {
    close();
  }
}

function take(i) {
  const cursor = input.selectionStart;
  const before = new TextDecoder().decode(bytes(input.value).slice(0, start));
  const after = input.value.slice(cursor);
  const gap = after.startsWith(" ") ? "" : " ";
  input.value = before + items[i].insert + gap + after;
  input.setSelectionRange(...Array(2).fill(before.length + items[i].insert.length + 1));
  close();
}

export function begin() {
  input.removeAttribute("list"); // which serves where there is no script
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 60);
  });
  if (input.value !== input.defaultValue) ask(); // typed while this came
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const open = !box.hidden;
    switch (event.key) {
      case "ArrowDown":
        if (open) point(at + 1 < items.length ? at + 1 : 0);
        else ask();
        break;
      case "ArrowUp":
        if (!open) return;
        point(at > 0 ? at - 1 : items.length - 1);
        break;
      case "Enter":
      case "Tab":
        if (!open || at < 0) return close();
        take(at);
        break;
      case "Escape":
        if (!open) return;
        close();
        event.stopPropagation();
        break;
      default:
        return;
    }
    event.preventDefault();
  });
  // Before the input loses the focus.
  box.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("li");
    if (!option) return;
    event.preventDefault();
    take(+option.dataset.i);
  });
}
