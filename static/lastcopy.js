// A message that is open here and no longer kept by the explorer: what this tab has of it.
import { $, announce } from "./dom.js";
import { shownBytes } from "./inspect.js";

function file(name, content) {
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(new Blob([content])), download: name, textContent: name });
  return link;
}

/** Says so above the message, with files of what is shown. */
export function keep(article) {
  if ($(".lastcopy", article)) return;
  const seq = article.dataset.seq.replace(/.*\//, "");
  const bytes = shownBytes();
  const whole = bytes.length > 3 && new DataView(bytes.buffer).getUint32(0) + 4 === bytes.length;
  const note = document.createElement("p");
  note.className = "lastcopy";
  note.append("Evicted: this is the last copy. What this tab has of it: ", file(`message-${seq}.txt`, article.innerText));
  if (bytes.length) note.append(", ", file(`headers-${seq}${whole ? "" : "-part"}.bin`, bytes));
  article.prepend(note);
  announce("Evicted: this is the last copy");
}
