// Updates the page with the rows of a snapshot and the doctor's verdicts. Rows keep their places, to avoid clicks on a wrong one.

import { pageAt, redraw } from "./drawing.js";
import { aheadOf, put, span } from "./times.js";
import { findings, marks, segment, summary } from "./verdicts.js";

const FIGURES = { waiting: "waiting", overdue: "overdue", ready: "ready", in_flight: "in-flight", dead: "dead", quarantined: "quarantined", undecodable: "undecodable", recurring: "recurring" };
const number = new Intl.NumberFormat("en-US");
const counted = (count) => (count === null || count === undefined ? "?" : number.format(count));

const changed = [];

function news(element, text) {
  if (!element || element.textContent === text) return;
  element.textContent = text;
  changed.push(element);
}

// Restarts the animation of everything that has changed. The page is laid out once for all figures.
function move() {
  for (const each of changed) each.classList.remove("is-news");
  void document.body.offsetWidth;
  for (const each of changed.splice(0)) each.classList.add("is-news");
}

function nextDue(cell, row) {
  const under = cell.querySelector(".under");
  if (!row.next_due || row.overdue) return put(under, "");
  let time = under.querySelector("time");
  if (!time) {
    time = document.createElement("time");
    time.dataset.relative = "ahead";
    under.replaceChildren("next ", time);
  }
  if (time.dateTime !== row.next_due) { time.dateTime = row.next_due; time.removeAttribute("title"); }
  put(time, aheadOf(row.next_due));
}

// The same bars as in the server's template.
function bars(cell, points) {
  const most = Math.max(0, ...points.filter((each) => each !== null));
  const path = points.map((each, i) => (each ? `M${2 * i + 1} 25v-${Math.max(1, (24 * each) / most).toFixed(1)}` : "")).join("");
  cell.querySelector(".bars").setAttribute("d", path);
}

function show(tr, row, doctor) {
  marks(tr.querySelector(".marks"), row, doctor);
  const cell = (name) => tr.querySelector(`[data-cell="${name}"]`);
  for (const name of ["waiting", "overdue", "ready", "in_flight", "dead"]) {
    news(cell(name).querySelector(".n"), counted(row.has_figures ? row[name] : null));
    cell(name).classList.toggle("zero", !row[name]);
  }
  nextDue(cell("waiting"), row);
  put(cell("overdue").querySelector(".under"), row.overdue ? `by ${span(row.late_by * 1000) || "less than 1s"}` : "");
  put(cell("left").querySelector(".n"), row.left_last_minute === null ? "–" : `${counted(row.left_last_minute)}/min`);
  put(cell("late").querySelector(".n"), row.overdue ? span(row.late_by * 1000) || "1s" : row.has_figures ? "on time" : "?");
  bars(cell("left"), row.series.left);
  bars(cell("late"), row.series.late);
  put(cell("movers").querySelector(".n"), counted(row.movers));
  put(cell("movers").querySelector(".under"), row.mover);
}

function figure(root, name, count, text) {
  const found = root.querySelector(`[data-figure="${FIGURES[name]}"]`);
  if (!found) return;
  news(found.querySelector(".count"), counted(count));
  found.classList.toggle("is-zero", !count);
  if (text !== undefined) put(found.querySelector(".beside"), text);
}

// The page of all queues. Its rows and totals are fetched again when queues were added or removed.
export function fleet(root) {
  const rows = new Map([...root.querySelectorAll("tr[data-queue]")].map((tr) => [tr.dataset.queue, tr]));
  const known = new Map();
  const isPart = location.search !== "";
  let [isAsking, isOld] = [false, false];
  // Rows only move while the user is not about to use one. A lifted finger leaves no pointer there.
  const used = matchMedia("(hover: hover)").matches ? ":hover, :focus-within" : ":focus-within";
  const isUsed = () => root.querySelector("tbody")?.matches(used);

  // Hundreds of queues may appear at once: the page is updated every few seconds, when allowed.
  async function again() {
    isOld = true;
    if (isAsking) return;
    isAsking = true;
    const page = isUsed() ? null : await pageAt(location.href);
    const drawn = page?.getElementById(root.id);
    if (drawn && !isUsed()) {
      redraw(root, drawn);
      put(document.getElementById("shown"), page.getElementById("shown")?.textContent.trim() ?? "");
      rows.clear();
      for (const tr of root.querySelectorAll("tr[data-queue]")) rows.set(tr.dataset.queue, tr);
      isOld = false;
    }
    setTimeout(() => { isAsking = false; if (isOld) again(); }, 3000);
  }

  const onDoctor = (told) => {
    const chip = document.getElementById("verdict");
    // The first verdict moves the problems to the top. Later ones leave all rows in place.
    if (chip.hidden && !isPart) again();
    findings(root.querySelector("#findings"), told.findings, root.dataset.doctor);
    summary(chip, told.verdict);
  };

  return { onDoctor, onSnapshot(told) {
    for (const row of told.rows) {
      known.set(row.name, row);
      const tr = rows.get(segment(row.name));
      if (tr) show(tr, row, root.dataset.doctor);
    }
    for (const name of told.gone) known.delete(name);
    const chip = document.getElementById("missing");
    [chip.hidden, chip.title] = [!told.missing, told.missing];
    for (const name of ["waiting", "overdue", "ready", "in_flight", "dead"]) {
      figure(root, name, [...known.values()].reduce((sum, row) => sum + row[name], 0));
    }
    move();
    const hasNews = told.gone.some((name) => rows.has(segment(name))) || (!isPart && known.size <= 100 && told.rows.some((row) => !rows.has(segment(row.name))));
    if (hasNews) again();
  } };
}

// The page of one queue: its figures, and the timeline when they have changed.
export function queue(root, line) {
  let drawn = Date.now();
  const onDoctor = (told) => findings(root.querySelector("#findings"), told.findings, root.dataset.doctor);
  return { onDoctor, onSnapshot(told) {
    for (const row of told.rows) {
      if (segment(row.name) !== root.dataset.queue || !row.has_figures) continue;
      document.getElementById("paused").hidden = !row.is_paused;
      for (const form of document.querySelectorAll("form[data-when-paused]")) form.hidden = (form.dataset.whenPaused === "yes") !== row.is_paused;
      for (const name of Object.keys(FIGURES)) figure(root, name, row[name]);
      figure(root, "overdue", row.overdue, row.overdue ? `oldest ${span(row.late_by * 1000) || "less than 1s"}` : "");
      const beside = root.querySelector('[data-figure="waiting"] .beside');
      if (beside) nextDue({ querySelector: () => beside }, row);
      move();
      if (Date.now() - drawn > 2000) { drawn = Date.now(); line?.refresh(); }
    }
  } };
}
