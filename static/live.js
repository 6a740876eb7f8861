// The live feed: rows put above the others as they arrive, at the pace this browser paints them.
import { $, announce, count, num, put, root, tell } from "./dom.js";
import { adopt, rove } from "./rows.js";
import { summary } from "./summary.js";
import { moment, times } from "./zone.js";

const maxRows = 600;
const button = $("#live");
const rows = $("#rows");
const scroll = $("#scroll");
const pill = $("#pill");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let socket = null;
let after = 0; // everything up to it is on the page or in waiting: a number, or of several sources a text
let byHand = false;
let waiting = []; // batches that came while paused, oldest first: {html, count, missed}
let fresh = 0; // messages in waiting, shown or not
let attempts = 0;
let timer = 0;
let polls = false; // the explorer answers, but its websocket does not get through
let unsaid = 0;
let heard = Date.now(); // when the explorer last said something
let called = 0; // when it was last called
let offline = false; // the browser says so, and nothing has come since
let told = ""; // what is said while there is news

let held = false; // the pointer is down in the rows
let aiming = 0; // a timer while the mouse moves over them
let pointer = "";

const wide = matchMedia("(min-width: 900px)");

/** Whether the reader is somewhere that new rows would push away. */
function busy() {
  const away = wide.matches ? scroll.scrollTop > 8 : scroll.getBoundingClientRect().top < -40;
  const selection = getSelection();
  return away || rows.contains(document.activeElement) || (!selection.isCollapsed && rows.contains(selection.anchorNode));
}

/** Rows do not move while one is aimed at, nor between press and release: the click would be on another. */
const paused = () => byHand || held || aiming > 0 || busy();

function aim(event) {
  const before = pointer;
  pointer = `${event.clientX} ${event.clientY}`;
  // Where there is no pointing there is no aim, and rows that move under a mouse that lies still are none either.
  if (event.pointerType !== "mouse" || pointer === before) return;
  clearTimeout(aiming);
  aiming = setTimeout(() => {
    aiming = 0;
    draw();
  }, 1000);
  draw();
}

function release() {
  if (!held) return;
  held = false;
  requestAnimationFrame(draw); // after the click
}

/** Whether what the page says of the explorer may no longer be so: it says something at least every 5 s. */
const lost = () => offline || Date.now() - heard > 10000 || (attempts > 0 && !polls);

function draw() {
  const still = paused();
  const dead = lost();
  root.toggleAttribute("data-lost", dead);
  const news = dead ? `No news since ${moment(new Date(heard))}` : told;
  if ($("#news").textContent !== news) $("#news").textContent = news;
  $("#news").hidden = !news;
  button.setAttribute("aria-pressed", String(!still));
  $(".word", button).textContent = dead ? "Reconnecting" : still ? "Paused" : polls ? "Every 5 s" : "Live";
  pill.hidden = !(still && fresh > 0);
  if (!pill.hidden) $("button", pill).textContent = `Paused · ${num(fresh)} new (u)`;
  if (!still && waiting.length) flush();
}

function take(batch) {
  waiting.push(batch);
  fresh += batch.count + batch.missed;
  unsaid += batch.count + batch.missed;
  let kept = 0;
  // What would fall off the end of the page need not wait for it.
  for (let i = waiting.length - 1; i >= 0; i--) {
    kept += waiting[i].count;
    if (kept > maxRows && i > 0) {
      const dropped = waiting.splice(0, i);
      waiting[0].missed += dropped.reduce((n, b) => n + b.count + b.missed, 0);
      break;
    }
  }
  draw();
}

function flush() {
  if (!waiting.length) return;
  $("#empty")?.remove();
  scroll.classList.remove("bare");
  const before = rows.firstElementChild;
  for (const batch of waiting) {
    if (batch.anew) rows.replaceChildren();
    if (batch.missed) rows.insertAdjacentElement("afterbegin", gap(batch));
    if (batch.html) rows.insertAdjacentHTML("afterbegin", batch.html);
  }
  waiting = [];
  fresh = 0;
  const added = [];
  for (let row = rows.firstElementChild; row && row !== before; row = row.nextElementSibling) added.push(row);
  // Many at once leave no time to fade in.
  if (added.length > 12) for (const row of added) row.classList.remove("new");
  adopt(added);
  const roving = $("a[tabindex='0']", rows);
  while (rows.children.length > maxRows) rows.lastElementChild.remove();
  if (!roving?.isConnected) rove();
  const newest = $("tr[data-seq]", rows);
  let oldest = rows.lastElementChild;
  while (oldest && !oldest.dataset.seq) oldest = oldest.previousElementSibling;
  if (newest) range(oldest.dataset.seq, newest.dataset.seq);
  pill.hidden = true;
}

/** Numbers of one source are told from what only the explorer can compare. */
const cursor = (text) => (/^\d+$/.test(text) ? +text : text);
const upTo = (to) => (typeof to === "string" ? to : Math.max(after, to || 0));

function range(oldest, newest) {
  if (typeof after === "number") $("#shown").textContent = `${num(+oldest)} – ${num(+newest)}`;
  const older = $(".pager [rel=next]");
  if (older) older.href = page(oldest);
}

/** The page of messages before one. */
function page(seq) {
  const url = new URL(button.dataset.page, location);
  url.searchParams.set("before", seq);
  return url.href;
}

function gap(batch) {
  const row = document.createElement("tr");
  row.className = "gap";
  const cell = row.insertCell(); // one: a cell over more columns than are shown would make new ones
  const link = document.createElement("a");
  link.href = page(typeof batch.to === "string" ? batch.to : batch.to + 1);
  link.textContent = `${count(batch.missed, "message")} not shown`;
  link.tabIndex = -1;
  cell.append(link);
  return row;
}

// The acknowledgement waits for the paint: a browser that falls behind is sent less. What took long to paint is
// followed by a rest, so that at least half of the time is left for the reader's own doing.
function acknowledge(to) {
  const ws = socket;
  const begin = performance.now();
  const send = () => ws?.readyState === 1 && ws.send(JSON.stringify({ ack: to }));
  requestAnimationFrame(() => setTimeout(() => {
    const took = performance.now() - begin;
    setTimeout(send, took > 40 ? 3 * took : 0);
  }));
}

/** Notes that the explorer has said something. */
function hear() {
  const dead = lost();
  heard = Date.now();
  offline = false;
  if (dead) draw();
}

// Numbers on this page mean other messages now.
function restarted() {
  sessionStorage.setItem("headerglass-restarted", "1");
  location.reload();
}

function receive(event) {
  hear();
  const message = JSON.parse(event.data);
  switch (message.t) {
    case "rows":
      after = upTo(message.to);
      if (message.html || message.skipped) {
        const html = message.html || "";
        const oldest = typeof after === "number" && parseInt(html.slice(html.lastIndexOf('data-seq="') + 10), 10);
        take({ html, count: message.count || 0, missed: message.skipped || 0, to: oldest ? oldest - 1 : message.to });
      }
      acknowledge(message.ack || message.to);
      break;
    case "gap":
      after = upTo(message.to);
      take({ html: "", count: 0, missed: message.count || 0, to: message.to });
      break;
    case "status":
      status(message);
      break;
    case "reset":
      restarted();
      break;
  }
}

function status(message) {
  const broker = $("#broker");
  if (message.html && broker && !broker.contains(document.activeElement) && !$("#safety")?.matches(":popover-open")) {
    broker.outerHTML = message.html;
    times($("#broker"));
  }
  put("#sources", message.sources);
  summary(message);
}

// Where something between the browser and the explorer does not pass websockets, the newest page is asked for instead.
async function poll() {
  if (attempts < 2 || document.hidden) return;
  try {
    const answer = await fetch(button.dataset.page, { signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw answer;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const to = cursor($("#live", page).dataset.after);
    if (attempts < 2) return; // the websocket is back
    if ($("#live", page).dataset.run !== button.dataset.run) return restarted();
    if (!polls) tell("Websockets do not get through: new rows come every 5 s");
    polls = true;
    hear();
    const all = [...$("#rows", page).children].filter((row) => row.dataset.seq);
    // Of several sources the page is shown whole: only the explorer knows what is new on it.
    const added = typeof to === "number" ? all.filter((row) => +row.dataset.seq > after) : to === after ? [] : all;
    after = to;
    const [keys, chart, facet, total] = ["#names", "#chart", "#facet", "#total"].map((part) => $(part, page)?.innerHTML);
    status({ html: $("#broker", page)?.outerHTML, keys, chart, facet, total });
    const html = added.map((row) => row.outerHTML).join("");
    if (html) take({ html, count: added.length, missed: 0, anew: added.length === all.length });
  } catch {
    polls = false;
  }
  draw();
}

function connect() {
  clearTimeout(timer);
  if (socket || document.hidden) return;
  const url = new URL(button.dataset.url, location);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const from = after;
  url.searchParams.set("after", from);
  url.searchParams.set("run", button.dataset.run);
  if (calm.matches) url.searchParams.set("slow", "1");
  const ws = new WebSocket(url);
  socket = ws;
  called = Date.now();
  ws.onopen = () => {
    if (from !== after) { // asked for meanwhile: it would come twice
      disconnect();
      connect();
      return;
    }
    attempts = 0;
    polls = false;
    draw();
  };
  ws.onmessage = receive;
  ws.onclose = () => {
    if (socket === ws) retry();
  };
}

function retry() {
  disconnect();
  if (document.hidden) return;
  if (++attempts === 2) poll();
  timer = setTimeout(connect, Math.min(30000, 500 * 2 ** attempts) * (0.5 + Math.random() / 2));
  draw();
}

/** A connection may be dead without an end: a network that is gone, an explorer that stands still. */
function watch() {
  if (socket && Date.now() - Math.max(heard, called) > 20000) retry();
  draw();
}

function disconnect() {
  clearTimeout(timer);
  const ws = socket;
  socket = null;
  ws?.close();
}

export function toggle() {
  if (!button) return;
  if (!button.dataset.url) {
    location.assign(button.dataset.latest);
    return;
  }
  if (!byHand && busy()) {
    showNew();
    return;
  }
  byHand = !byHand;
  announce(byHand ? "Live feed paused" : "Live feed resumed");
  draw();
}

/** Shows what waits; the feed stays paused only if it was paused by hand. */
export function showNew() {
  if (!button?.dataset.url) return;
  if (rows.contains(document.activeElement)) document.activeElement.blur();
  if (rows.contains(getSelection().anchorNode)) getSelection().removeAllRanges();
  flush();
  scroll.scrollTop = 0;
  if (!wide.matches && scroll.getBoundingClientRect().top < 0) scroll.scrollIntoView();
  draw();
}

export function start() {
  if (!button) return;
  button.addEventListener("click", toggle);
  if (!button.dataset.url || !rows || root.dataset.view === "full") return;
  $("button", pill).addEventListener("click", showNew);
  after = cursor(button.dataset.after);
  for (const [target, type] of [[scroll, "scroll"], [document, "scroll"], [document, "selectionchange"], [rows, "focusin"], [rows, "focusout"]]) {
    target.addEventListener(type, () => requestAnimationFrame(draw), { passive: true });
  }
  rows.addEventListener("pointerdown", (event) => {
    held = !event.button;
    draw();
  });
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, release);
  for (const part of [rows, pill]) part.addEventListener("pointermove", aim, { passive: true });
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => event.persisted && connect());
  addEventListener("offline", () => {
    offline = true;
    draw();
  });
  addEventListener("online", () => {
    if (!offline) return;
    disconnect();
    connect();
  });
  if (sessionStorage.getItem("headerglass-restarted")) {
    sessionStorage.removeItem("headerglass-restarted");
    told = `The explorer was started again at ${moment(new Date(button.dataset.run))}`;
  }
  setInterval(watch, 1000);
  setInterval(poll, 5000);
  setInterval(() => {
    if (unsaid) announce(count(unsaid, "new message"));
    unsaid = 0;
  }, 10000);
  connect();
}
