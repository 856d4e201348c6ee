// Times: the server's clock, and texts such as "in 3 h" that stay true while the page is open.

const UNITS = [["y", 31_536_000], ["d", 86_400], ["h", 3600], ["m", 60], ["s", 1]];

// How far Redis's clock is ahead of this machine's, in milliseconds.
let ahead = 0;

export function setServerTime(iso) {
  const time = Date.parse(iso);
  if (!Number.isNaN(time)) ahead = time - Date.now();
}

export function serverNow() {
  return Date.now() + ahead;
}

// A span by its two largest units, as the server writes it: "1d 4h", "5m 10s".
export function span(ms) {
  let left = Math.round(Math.abs(ms) / 1000);
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count || parts.length) parts.push(count ? `${count}${unit}` : "");
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(" ");
}

export function relative(iso) {
  const ms = Date.parse(iso) - serverNow();
  const text = span(ms);
  return !text ? "now" : ms > 0 ? `in ${text}` : `${text} ago`;
}

// A future time: until the next figures arrive, a time that has just passed is shown as "now".
export function aheadOf(iso) {
  const text = relative(iso);
  return text.endsWith("ago") ? "now" : text;
}

export function both(iso) {
  const time = new Date(iso);
  const local = time.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
  return `${time.toISOString().replace("T", " ").replace("Z", " UTC")}\n${local} local`;
}

// Sets a text only if it changed, so that screen readers and selections are not disturbed.
export function put(element, text) {
  const shown = visible(text);
  if (element && element.textContent !== shown) element.textContent = shown;
}

const UNSAFE = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

// A text as in the server's templates: direction marks and invisible characters as escapes.
export function visible(text) {
  return text.replace(UNSAFE, (each) => {
    const hex = each.charCodeAt(0).toString(16);
    return SHORT[each] ?? (hex.length > 2 ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`);
  });
}

export function refreshTimes(root = document) {
  for (const each of root.querySelectorAll("time[data-relative]")) {
    put(each, each.dataset.relative === "ahead" ? aheadOf(each.dateTime) : relative(each.dateTime));
    if (!each.title) each.title = both(each.dateTime);
  }
  for (const each of root.querySelectorAll("time[data-local]")) {
    // With the name of its zone, as it is below the same moment in UTC.
    put(each, new Date(each.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "long" }));
  }
}

export function startClock(element) {
  const tick = () => {
    put(element, `${new Date(serverNow()).toISOString().slice(11, 19)} UTC`);
    refreshTimes();
  };
  tick();
  setInterval(() => document.hidden || tick(), 1000);
}
