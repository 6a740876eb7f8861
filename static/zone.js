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

/** A time of the day as the page shows it. */
export function moment(t) {
  const page = new URL(location).searchParams.get("tz") || "UTC";
  return t.toLocaleTimeString("en-GB", { timeZone: root.dataset.zone === "local" ? undefined : page });
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

/** How far a moment is from now, as the server says it; "" where that does not change any more. */
function ago(t) {
  const d = Math.round((Date.now() - t) / 1000);
  const a = Math.abs(d);
  if (a < 2) return d < 0 ? "now" : "just now";
  const unit = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].find(([, size]) => a >= 2 * size || size === 1);
  if (a >= 2 * 365 * 86400) return "";
  const text = `${Math.floor(a / unit[1])} ${unit[0]}`;
  return d < 0 ? `in ${text}` : `${text} ago`;
}
setInterval(() => {
  for (const element of $$("time.ago")) element.textContent = ago(new Date(element.dateTime)) || element.textContent;
}, 5000);

document.addEventListener("mouseover", (event) => {
  const element = event.target.closest?.("time[datetime]");
  if (!element) return;
  const t = new Date(element.dateTime);
  element.title = `${element.dateTime}\n${full(t)}\n${ago(t)}`;
});
