// Rescheduling on the timeline. While it is on, a click selects a bar instead of opening it. Picked bars are dragged, or moved by the
// arrow keys. The form leads to the page that counts their items: nothing is sent before that, and nothing changes there.

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]];
const number = new Intl.NumberFormat("en-US");
const utc = (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");

// Converts a span to the form's format, such as "+90m", and back.
function written(ms) {
  if (!ms) return "";
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0);
  return `${ms < 0 ? "-" : "+"}${Math.abs(ms) / size}${unit}`;
}

function read(text) {
  const found = /^([+-])(\d{1,12})(ms|[smhd])$/.exec(text.trim());
  return found ? Number(found[1] + found[2]) * UNITS.find(([unit]) => unit === found[3])[1] : null;
}

export function moving(section, { span, now }) {
  let isOn = false;
  let picked = null; // the picked span of due times, with the number of its items
  let by = 0;
  let held = null; // the pointer that drags
  let hasDragged = false;

  const bars = () => [...section.querySelectorAll(".plot a[data-from]")];
  const ends = (bar) => [Number(bar.dataset.from), Number(bar.dataset.to)];
  const isPicked = (bar) => picked !== null && ends(bar)[0] >= picked.from && ends(bar)[1] <= picked.to;
  const step = () => Number(section.dataset.stepMs);

  function pick(bar, isMore) {
    const [from, to] = ends(bar);
    const before = isMore && picked ? picked : { from, to };
    picked = { from: Math.min(from, before.from), to: Math.max(to, before.to) };
    picked.count = bars().filter(isPicked).reduce((sum, each) => sum + Number(each.dataset.count), 0);
    draw();
  }

  function move(ms) {
    // No item is due before 1970.
    by = Math.max(ms, -picked.from);
    section.querySelector("#move-by").value = written(by);
    draw();
  }

  function leave() {
    picked = null;
    by = 0;
    section.querySelector("#move-by").value = "";
    draw();
  }

  function turn(on) {
    isOn = on;
    leave();
    if (!on) section.querySelector("#move-items").focus();
  }

  function told() {
    if (!picked) return "Pick a bar: click it, or press Space on it. Shift picks its neighbours too.";
    const items = `${number.format(picked.count)} ${picked.count === 1 ? "item" : "items"} due ${utc(picked.from)} to ${utc(picked.to)} UTC`;
    if (!by) return `${items}. Drag, or press the arrow keys, to move ${picked.count === 1 ? "it" : "them"}.`;
    const past = picked.from + by <= now() ? " That is past: what is due is delivered at once." : "";
    return `${items}, by ${written(by)}: from ${utc(picked.from + by)} on.${past}`;
  }

  // Shows the state in the timeline, which may have been redrawn by the server.
  function draw() {
    const button = section.querySelector("#move-items");
    const form = section.querySelector("#move");
    if (!button || !form) return;
    button.setAttribute("aria-pressed", String(isOn));
    section.classList.toggle("is-moving", isOn);
    form.hidden = !isOn;
    for (const bar of bars()) {
      isOn ? bar.setAttribute("role", "button") : bar.removeAttribute("role");
      isOn ? bar.setAttribute("aria-pressed", String(isPicked(bar))) : bar.removeAttribute("aria-pressed");
    }
    section.querySelector(".ghost")?.remove();
    if (picked) {
      const [from, to] = span();
      const ghost = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      ghost.setAttribute("class", "ghost");
      ghost.setAttribute("x", `${(100 * (picked.from + by - from)) / (to - from)}%`);
      ghost.setAttribute("width", `${(100 * (picked.to - picked.from)) / (to - from)}%`);
      ghost.setAttribute("height", "88%");
      section.querySelector(".moving").append(ghost);
      const due = (ms) => new Date(ms).toISOString();
      form.elements.filter.value = `due >= ${due(picked.from)} and due < ${due(picked.to)}`;
    }
    form.querySelector("button.main").disabled = !picked || !form.elements.when.value.trim();
    const text = isOn ? told() : "";
    const line = form.querySelector("#moved");
    if (line.textContent !== text) line.textContent = text;
  }

  const takes = (event) => { event.preventDefault(); event.stopPropagation(); };

  section.addEventListener("click", (event) => {
    if (event.target.closest("#move-items")) return turn(!isOn);
    if (event.target.closest("[data-leave]")) return picked ? leave() : turn(false);
    const bar = isOn && event.target.closest("a[data-from]");
    if (!bar) return;
    takes(event);
    if (!hasDragged) pick(bar, event.shiftKey);
  }, { capture: true });

  section.addEventListener("pointerdown", (event) => {
    const bar = event.target.closest("a[data-from]");
    if (!isOn || event.button || !(bar || event.target.closest(".ghost"))) return;
    event.stopPropagation();
    if (bar && !isPicked(bar)) { by = 0; pick(bar, event.shiftKey); }
    held = { x: event.clientX, by };
    hasDragged = false;
  }, { capture: true });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [from, to] = span();
    const ms = ((event.clientX - held.x) / section.querySelector(".plot svg").clientWidth) * (to - from);
    const steps = Math.round(ms / step());
    hasDragged ||= steps !== 0;
    if (hasDragged) move(held.by + steps * step());
  });
  for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, () => {
    held = null;
    // The click that ends a drag selects nothing.
    setTimeout(() => { hasDragged = false; }, 0);
  });

  section.addEventListener("keydown", (event) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { takes(event); return picked ? leave() : turn(false); }
    const bar = document.activeElement?.closest("a[data-from]");
    if (!bar || !section.contains(bar)) return;
    const way = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.shiftKey && Math.abs(way) === 1) {
      const next = bars()[bars().indexOf(bar) + way];
      if (!picked) pick(bar, false);
      if (next) { next.focus(); pick(next, true); }
    } else if (way && isPicked(bar)) move(by + way * step());
    else if (event.key === " ") pick(bar, false);
    else if (event.key === "Enter" && isPicked(bar) && by) section.querySelector("#move").requestSubmit();
    else if (event.key === "Enter") pick(bar, false);
    else return;
    takes(event);
  }, { capture: true });

  section.addEventListener("input", (event) => {
    if (event.target.id !== "move-by") return;
    by = read(event.target.value) ?? 0;
    draw();
  });

  return { draw, isOn: () => isOn };
}
