// The behaviour of the pages. Without this script, every page still shows its data.

import { pageAt, redraw } from "./drawing.js";
import { fleet, queue } from "./fleet.js";
import { live } from "./live.js";
import { suggestions } from "./suggest.js";
import { setServerTime, startClock } from "./times.js";
import { timeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);

function theme() {
  const root = document.documentElement;
  $("theme")?.addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("redisson-dq.theme", root.dataset.theme);
  });
}

// Over plain HTTP from another machine, a browser only copies the selection.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function copying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await copy(button.dataset.copy || button.previousElementSibling.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

const HINTS = { id: "id", due: "due < 1h", late: "late > 5m", attempts: "attempts >= 3", size: "bytes", class: "Java class", reason: "text", queue: "partition" };

function filtering() {
  const input = $("words");
  if (!input) return;
  const lines = (name) => input.dataset[name].split("\n").filter(Boolean);
  suggestions(input, {
    fields: lines("fields").map((name) => ({ name, hint: HINTS[name] ?? "field" })),
    values: { class: lines("classes") },
  });
  if (input.dataset.position) {
    input.focus();
    input.setSelectionRange(Number(input.dataset.position), input.value.length);
  }
}

// The rows selected for an action.
function choosing() {
  const all = $("pick-all");
  if (!all) return;
  const boxes = () => [...document.querySelectorAll("td.pick input")];
  const told = () => {
    const count = boxes().filter((each) => each.checked).length;
    for (const each of boxes()) each.closest("tr").classList.toggle("is-picked", each.checked);
    all.checked = count > 0 && count === boxes().length;
    all.indeterminate = count > 0 && !all.checked;
    const text = $("picked");
    if (text) text.textContent = count ? `${count} chosen` : "None chosen";
  };
  // Shift selects all rows from the previously selected one.
  let last = -1;
  document.addEventListener("click", (event) => {
    const at = boxes().indexOf(event.target);
    if (at < 0) return;
    if (event.shiftKey && last >= 0) for (const each of boxes().slice(Math.min(at, last), Math.max(at, last) + 1)) each.checked = event.target.checked;
    last = at;
    told();
  });
  all.addEventListener("change", () => { for (const each of boxes()) each.checked = all.checked; told(); });
  document.addEventListener("change", (event) => event.target.matches("td.pick input") && told());
  told();
}

// A page loaded while Redis was away reloads by itself.
function returning() {
  if ($("looking")) setTimeout(() => location.reload(), 1000);
  if (!$("trouble")?.hasAttribute("data-away")) return;
  setInterval(async () => {
    const answer = document.hidden ? null : await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (answer && answer.status !== 503) location.reload();
  }, 2000);
}

// Shows the progress of a running action. Each request begins after the previous one, so none overtakes another.
async function following() {
  const shown = $("action");
  while (shown?.hasAttribute("data-goes-on")) {
    await new Promise((done) => setTimeout(done, 500));
    const page = await pageAt(location.href);
    const drawn = page?.getElementById("action");
    // An expired session leads to the login.
    if (page && !drawn) return location.reload();
    if (!drawn) continue;
    shown.toggleAttribute("data-goes-on", drawn.hasAttribute("data-goes-on"));
    redraw(shown, drawn);
  }
}

// "/" focuses the filter, wherever the page is scrolled.
function keys() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    const input = $("words") ?? $("filter");
    if (input) { event.preventDefault(); input.focus(); input.select(); }
  });
}

theme();
copying();
filtering();
choosing();
returning();
following();
keys();
setServerTime(document.body.dataset.now);
startClock($("clock"));
const line = $("timeline") && timeline($("timeline"));
if ($("live")) {
  live($("live"), $("away"), $("fleet") ? fleet($("fleet")) : queue($("queue"), line));
}
