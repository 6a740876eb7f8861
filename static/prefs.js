// Runs before the first paint: applies what this browser was told to remember.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem("headerglass") || "{}") || {};
  } catch {
    // Storage that cannot be read leaves the defaults.
  }
  if (kept.theme === "light" || kept.theme === "dark") root.dataset.theme = kept.theme;
  if (kept.density === "compact" || kept.density === "comfortable") root.dataset.density = kept.density;
  if (kept.zone === "local") root.dataset.zone = "local";
  if (kept.keyboard === "off") root.dataset.keyboard = "off";
  if (kept.list > 0) root.style.setProperty("--list", kept.list + "px");
})();
