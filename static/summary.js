// What is counted beside the list: names and values, looked through and moved through; the histogram and
// its brush; the total. All of it is brought up to date.
import { $, $$, on, put } from "./dom.js";
import { times } from "./zone.js";

const lines = () => $$("#names .has, #names .do a").filter((line) => line.offsetParent);

/** Makes one line of the panel, and what can be done with it, the only stop for Tab. */
function roveNames(line = $("#names .has")) {
  for (const link of $$("#names a")) link.tabIndex = link === line || line?.nextElementSibling === link.parentElement ? 0 : -1;
}

/** Leaves the names that hold what is typed. */
function find() {
  const text = $("#find")?.value.toLowerCase() || "";
  for (const line of $$("#names > ul > li")) line.hidden = !$("bdi", line).textContent.toLowerCase().includes(text);
}

/** Puts newly counted names in place. The values of the one that is open have a part of their own. */
function names(html) {
  const values = $("#facet");
  if (!put("#names", html)) return;
  if (values) $("#facet")?.replaceWith(values);
  roveNames();
  find();
}

function startNames() {
  roveNames();
  $("#find")?.addEventListener("input", find);
  on("focusin", "#names a", (_, link) => roveNames(link.closest(".verbs")?.previousElementSibling || link));
  on("keydown", "#names a", (event, link) => {
    const all = lines();
    const at = all.indexOf(link.closest(".verbs")?.previousElementSibling || link);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    (all[to] || link).focus();
  });
}

let brushing = false;

/** Puts in place what was counted since the page was drawn. */
export function summary(counted) {
  if (!brushing && put("#chart", counted.chart)) times($("#chart"));
  names(counted.keys);
  put("#facet", counted.facet);
  put("#total", counted.total);
}

// What took too long for the page comes after it.
async function complete(url) {
  try {
    const answer = await fetch(url);
    if (answer.ok) summary(await answer.json());
  } catch {
    // The page stays as it is, and says that it is not complete.
  }
}

// Dragging over the histogram shows the messages of that time; a click on a bar is a link.
function brush(down, svg) {
  if (down.button) return;
  down.preventDefault();
  const { start, step, n, url } = svg.dataset;
  const box = svg.getBoundingClientRect();
  const at = (event) => Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * n), 0), n - 1);
  const first = at(down);
  let [from, to] = [first, first];
  const band = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  band.setAttribute("class", "brush");
  band.setAttribute("height", 40);
  const mark = () => {
    band.setAttribute("x", from * 8);
    band.setAttribute("width", (to - from + 1) * 8);
  };
  mark();
  svg.prepend(band);
  brushing = true;
  svg.setPointerCapture(down.pointerId);
  svg.onpointermove = (move) => {
    [from, to] = [Math.min(first, at(move)), Math.max(first, at(move))];
    mark();
  };
  const stop = () => {
    svg.onpointermove = svg.onpointerup = svg.onpointercancel = null;
    brushing = false;
    band.remove();
  };
  svg.onpointercancel = stop;
  svg.onpointerup = () => {
    stop();
    const target = new URL(url, location);
    target.searchParams.set("from", new Date(+start + from * step).toISOString());
    target.searchParams.set("to", new Date(+start + (to + 1) * step).toISOString());
    location.assign(target);
  };
}

export function start() {
  startNames();
  on("pointerdown", "#chart svg", brush);
  on("click", "#chart svg", (event) => event.preventDefault());
  const url = $("#chart")?.dataset.summary;
  if (url) complete(url);
}
