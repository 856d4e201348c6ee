// The doctor's verdicts as marks, as in the server's templates. Texts are never parsed as HTML.

import { put, visible } from "./times.js";

function made(name, className, ...parts) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...parts.map((each) => (typeof each === "string" ? visible(each) : each)));
  return element;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A text as one segment of a path, as in paths.py. So it also stays unchanged in an attribute of the page.
export function segment(text) {
  const plain = (byte) => /[A-Za-z0-9\-_.:@]/.test(String.fromCharCode(byte));
  const bytes = [...new TextEncoder().encode(text)];
  const escaped = (byte) => `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return bytes.map((byte, i) => (plain(byte) && !(i === 0 && byte === 46) ? String.fromCharCode(byte) : escaped(byte))).join("");
}

const remedy = (doctor, check, queue) => `${doctor}#${segment(queue === null ? check : `${check} ${queue}`)}`;

// Replaces the elements of a container unless they are equal: one of them may have the focus.
function putAll(place, elements) {
  const draft = made(place.tagName, "", ...elements);
  const bare = (element) => element.textContent.replace(/\s+/g, "");
  if (bare(draft) !== bare(place)) place.replaceChildren(...draft.childNodes);
}

// The marks below the name of a queue.
export function marks(place, row, doctor) {
  const chips = [];
  if (row.partitions) chips.push(made("span", "chip", `${row.partitions} partitions`));
  if (row.is_paused) chips.push(made("span", "chip warning", "Paused"));
  if (row.check && ["problem", "warning"].includes(row.verdict)) {
    const name = capital(row.check.replaceAll("-", " ")) + (row.findings > 1 ? ` + ${row.findings - 1}` : "");
    const link = made("a", `chip ${row.verdict}`, made("span", "unseen", `${capital(row.verdict)}: `), name);
    link.href = remedy(doctor, row.check, row.name);
    chips.push(link);
  }
  if (row.error) {
    const chip = made("span", "chip problem", row.has_figures ? "Figures are missing" : "No figures");
    chip.title = row.error;
    chips.push(chip);
  }
  putAll(place, chips);
}

// The findings above the figures.
export function findings(place, found, doctor) {
  const told = found.map((each) => {
    const link = made("a", "", "What helps");
    link.href = remedy(doctor, each.check, each.queue);
    return made("div", "finding short", made("p", "", made("span", `chip ${each.severity}`, capital(each.severity)), ` ${each.text}. `, link));
  });
  place.hidden = !told.length;
  putAll(place, told);
}

const SUMMARY = { problem: "The doctor found problems", warning: "The doctor found warnings", ok: "The doctor found nothing" };

// The verdict on all queues.
export function summary(chip, verdict) {
  chip.hidden = !(verdict in SUMMARY);
  chip.className = `chip ${verdict}`;
  put(chip, SUMMARY[verdict] ?? "");
}
