// Times: the server writes them in the zone of the page; on request they are shown in this computer's.
import { $, $$, root } from "./dom.js";

const pad = (n, width = 2) => String(n).padStart(width, "0");

function clock(t) {
  return `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}.${pad(t.getMilliseconds(), 3)}`;
}

function name(t) {
  const minutes = -t.getTimezoneOffset();
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${rest ? ":" + pad(rest) : ""}`;
}

function full(t) {
  return `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())} ${clock(t)} ${name(t)}`;
}

/** Rewrites the times within an element as the setting wants them. */
export function times(within = document) {
  const local = root.dataset.zone === "local";
  for (const element of $$("td.time time, time.ts, time.axt", within)) {
    if (!local && element.dataset.page === undefined) continue; // as the server wrote it
    element.dataset.page ??= element.textContent;
    const t = new Date(element.dateTime);
    const long = element.dataset.page.length > 14;
    element.textContent = local && !isNaN(t) ? (long ? full(t) : clock(t).slice(0, element.dataset.page.length)) : element.dataset.page;
  }
  const head = within === document && $(".rows .zone");
  if (head) {
    head.dataset.page ??= head.textContent;
    head.textContent = local ? name(new Date()) : head.dataset.page;
  }
}

document.addEventListener("mouseover", (event) => {
  const element = event.target.closest?.("time[datetime]");
  if (!element) return;
  const t = new Date(element.dateTime);
  element.title = `${element.dateTime}\n${full(t)}\n${Math.round((Date.now() - t) / 1000)} s ago`;
});
