// What the other modules share.
export const root = document.documentElement;
export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Listens on the document for events inside elements that match, now or later. */
export function on(type, selector, handle) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest?.(selector);
    if (element) handle(event, element);
  });
}

/** Replaces what a panel holds, unless the reader is in it. */
export function put(selector, html) {
  const panel = $(selector);
  if (!html || !panel || panel.contains(document.activeElement) || panel.matches(":hover")) return false;
  panel.innerHTML = html;
  return true;
}

/** Says something to those who cannot see the page change. */
export function announce(text) {
  const box = $("#announce");
  box.textContent = "";
  requestAnimationFrame(() => (box.textContent = text));
}

let fading = 0;
/** Says what the reader's own doing came to, to everyone. */
export function tell(text) {
  announce(text);
  const toast = $("#toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => (toast.hidden = true), 2500);
}

export function remembered() {
  try {
    return JSON.parse(localStorage.getItem("headerglass") || "{}") || {};
  } catch {
    return {};
  }
}

export function remember(change) {
  try {
    localStorage.setItem("headerglass", JSON.stringify({ ...remembered(), ...change }));
  } catch {
    // The page works without a memory.
  }
}

export const num = (n) => (n < 10000 ? String(n) : n.toLocaleString("en").replaceAll(",", "\u202f"));
export const count = (n, noun) => `${num(n)} ${noun}${n === 1 ? "" : "s"}`;

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Only pages from this machine or over TLS have a clipboard of their own.
    const focused = document.activeElement;
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "vh";
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
    focused?.focus({ preventScroll: true });
  }
  tell(`${what} copied`);
}
