// The histogram, the values of a header and the total: brought up to date, and the histogram's brush.
import { $, on, put } from "./dom.js";
import { names } from "./names.js";
import { times } from "./zone.js";

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
  on("pointerdown", "#chart svg", brush);
  on("click", "#chart svg", (event) => event.preventDefault());
  const url = $("#chart")?.dataset.summary;
  if (url) complete(url);
}
