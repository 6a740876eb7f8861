// The list: opening messages beside it, moving through it, and its width.
import { $, $$, announce, on, remember, root } from "./dom.js";
import { inspect } from "./inspect.js";
import { times } from "./zone.js";

const rows = $("#rows");
const pane = $("#inspector");
const split = matchMedia("(min-width: 600px)");
const beside = matchMedia("(min-width: 900px)"); // the list and the message stand side by side

/** Makes one row's link the only one that Tab stops at. */
export function rove(link) {
  if (!rows) return;
  for (const other of $$("a[tabindex='0']", rows)) other.tabIndex = -1;
  const at = link || $("tr.sel a", rows) || $("a", rows);
  if (at) at.tabIndex = 0;
}

/** Prepares rows that came with the page or after it. */
export function adopt(added) {
  for (const row of added) {
    const link = $("a", row);
    if (link) link.tabIndex = -1;
    times(row);
  }
}

export function current() {
  return document.activeElement?.closest?.("#rows tr") || $("tr.sel", rows || document);
}

/** Replaces what the inspector shows, without a new page where there is room for both. */
export function go(url) {
  if (!window.htmx || !pane || !split.matches || root.dataset.view === "full") {
    location.assign(url);
    return;
  }
  htmx.ajax("GET", url, { target: "#inspector", swap: "innerHTML", push: url });
}

export function open(row) {
  const link = row && $("a", row);
  if (!link) return;
  select(row.dataset.seq);
  link.focus({ preventScroll: true });
  go(link.href);
}

function select(seq) {
  if (!rows) return;
  for (const row of $$("tr.sel", rows)) {
    row.classList.remove("sel");
    $("a", row)?.removeAttribute("aria-current");
  }
  const row = seq && $(`tr[data-seq="${CSS.escape(seq)}"]`, rows);
  if (row) {
    row.classList.add("sel");
    $("a", row)?.setAttribute("aria-current", "true");
    rove($("a", row));
  }
}

let opening;
export function step(by) {
  if (!rows) {
    if (by === 1 || by === -1) $(`#inspector [rel=${by > 0 ? "next" : "prev"}]`)?.click();
    return;
  }
  const all = $$("tr[data-seq]", rows);
  const at = all.indexOf(current());
  const row = by === "first" ? all[0] : by === "last" ? all.at(-1) : all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
  const link = row && $("a", row);
  if (!link) return;
  rove(link);
  const stacked = root.dataset.view === "message" && !beside.matches; // the message it opens is what is looked at
  link.focus({ preventScroll: stacked });
  if (!stacked) row.scrollIntoView({ block: "nearest" });
  if (root.dataset.view === "message" && split.matches) {
    clearTimeout(opening); // so that holding the key down opens only where it stops
    opening = setTimeout(() => open(row), 120);
  }
}

/** Shows the list alone again. */
export function back() {
  const close = $("#close, .alone .turn a");
  if (root.dataset.view === "list" || !close) return;
  if (!rows) {
    location.assign(close.href);
    return;
  }
  history.pushState({ htmx: true }, "", close.href);
  const seq = $("article", pane)?.dataset.seq;
  pane.replaceChildren();
  pane.dataset.seq = "";
  root.dataset.view = "list";
  document.title = document.title.replace(/^#\d+ · /, "");
  select("");
  ($(`tr[data-seq="${seq}"] a`, rows) || $("a[tabindex='0']", rows))?.focus();
}

function arrived() {
  const article = $("article", pane);
  if (root.dataset.view === "list") root.dataset.view = "message";
  const seq = article?.dataset.seq || "";
  if (!seq || seq !== pane.dataset.seq) {
    pane.scrollTop = 0;
    if (!beside.matches) pane.scrollIntoView();
    pane.dataset.seq = seq;
    const rest = document.title.replace(/^#\d+ · /, "");
    document.title = article ? `${article.dataset.title} · ${rest}` : rest;
    if (article) announce(`Message ${seq}`);
  }
  select(seq);
  times(pane);
  inspect();
}

export function start() {
  if (rows) {
    adopt($$("tr", rows));
    rove();
    if (beside.matches) $("tr.sel", rows)?.scrollIntoView({ block: "nearest" });
  }
  if (pane) {
    pane.dataset.seq = $("article", pane)?.dataset.seq || "";
    inspect();
  }
  document.addEventListener("htmx:after:swap", arrived);
  // What is open stays on the screen although the explorer has it no more.
  document.addEventListener("htmx:after:request", (event) => {
    const { response, request } = event.detail.ctx;
    const path = (address) => new URL(address, location).pathname;
    const article = $("article", pane);
    if (response.status !== 410 || !$("#link") || path(request.action) !== path($("#link").dataset.link)) return;
    event.preventDefault();
    import("./lastcopy.js").then((last) => last.keep(article));
  });

  const plain = (event) => !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  // The row that was pressed is the one that is meant, whatever has come under the pointer since.
  let pressed = null;
  on("pointerdown", "#rows", (event) => (pressed = event.target.closest("tr[data-seq]")));
  on("click", "#rows", (event) => {
    const row = event.detail ? pressed : event.target.closest("tr[data-seq]");
    if (!row || !plain(event) || !getSelection().isCollapsed) return;
    event.preventDefault();
    open(row);
  });
  on("focusin", "#rows a", (_, link) => rove(link));
  // Another column, order or header to count is no reason to close the message. The panels may have been drawn
  // before it was opened.
  on("click", "#keys a, .rows thead a", (event, link) => {
    if (!$("#inspector article") || !plain(event)) return;
    const [to, here] = [new URL(link.href), new URL(location)];
    if (to.searchParams.get("q") !== here.searchParams.get("q")) return;
    event.preventDefault();
    for (const name of ["cols", "sort", "facet"]) {
      here.searchParams.delete(name);
      for (const value of to.searchParams.getAll(name)) here.searchParams.append(name, value);
    }
    location.assign(here);
  });
  on("click", "#close", (event) => {
    if (!plain(event) || !rows) return;
    event.preventDefault();
    back();
  });
  on("change", ".dialect select", (_, field) => {
    const form = field.form;
    go(`${form.action}?${new URLSearchParams(new FormData(form))}`);
  });
  on("submit", ".bar", (_, form) => {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });
  addEventListener("pageshow", () => $$(".bar :disabled").forEach((field) => (field.disabled = false)));
  splitter();
}

function splitter() {
  const bar = $("#splitter");
  const list = $("#list");
  if (!bar || !list) return;
  const set = (width) => {
    width = Math.round(Math.min(Math.max(width, 300), innerWidth - 400));
    root.style.setProperty("--list", `${width}px`);
    bar.setAttribute("aria-valuenow", width);
    remember({ list: width });
  };
  bar.setAttribute("aria-valuemin", 300);
  bar.setAttribute("aria-valuemax", innerWidth - 400);
  bar.setAttribute("aria-valuenow", Math.round(list.offsetWidth));
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24, Home: -9999, End: 9999 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(list.offsetWidth + by);
  });
  bar.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    const from = list.offsetWidth - event.clientX;
    bar.onpointermove = (move) => set(from + move.clientX);
    bar.onlostpointercapture = () => (bar.onpointermove = null);
  });
}
