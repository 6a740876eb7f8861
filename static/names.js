// The panel of properties and names: looked through, moved through, and drawn again.
import { $, $$, on, put } from "./dom.js";

const lines = () => $$("#names .has, #names .do a").filter((line) => line.offsetParent);

/** Makes one line of the panel, and what can be done with it, the only stop for Tab. */
export function roveNames(line = $("#names .has")) {
  for (const link of $$("#names a")) link.tabIndex = link === line || line?.nextElementSibling === link.parentElement ? 0 : -1;
}

/** Leaves the names that hold what is typed. */
function find() {
  const text = $("#find")?.value.toLowerCase() || "";
  for (const line of $$("#names > ul > li")) line.hidden = !$("bdi", line).textContent.toLowerCase().includes(text);
}

/** Puts newly counted names in place. The values of the one that is open have a part of their own. */
export function names(html) {
  const values = $("#facet");
  if (!put("#names", html)) return;
  if (values) $("#facet")?.replaceWith(values);
  roveNames();
  find();
}

export function start() {
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
