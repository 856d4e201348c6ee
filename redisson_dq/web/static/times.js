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

// A time that is ahead: until the next figures come, one that has just passed is "now".
export function aheadOf(iso) {
  const text = relative(iso);
  return text.endsWith("ago") ? "now" : text;
}

export function both(iso) {
  const time = new Date(iso);
  const local = time.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
  return `${time.toISOString().replace("T", " ").replace("Z", " UTC")}\n${local} local`;
}

// Sets a text only where it changed, so that screen readers and selections are left in peace.
export function put(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

export function refreshTimes(root = document) {
  for (const each of root.querySelectorAll("time[data-relative]")) {
    put(each, each.dataset.relative === "ahead" ? aheadOf(each.dateTime) : relative(each.dateTime));
    if (!each.title) each.title = both(each.dateTime);
  }
  for (const each of root.querySelectorAll("time[data-local]")) {
    // With the name of its zone: it stands below the same moment in UTC.
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
