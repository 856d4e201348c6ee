// The timeline of due times: dragging and arrow keys move it, Ctrl and the wheel or + and - zoom, "now" moves along.
// The server draws each span. So the picture is the same without a script, and this file needs no scale.

import { pageAt, redraw } from "./drawing.js";
import { moving } from "./moving.js";
import { serverNow } from "./times.js";

const SHORTEST = 10_000;
const LAST = 253_402_300_799_999;

export function timeline(section) {
  let asked = 0;
  let drag = null;
  let wheel = null;
  // The query of the shown span. It is relative if it follows "now".
  let query = { from: section.dataset.from, to: section.dataset.to };

  const plot = () => section.querySelector(".plot");
  const span = () => [Number(section.dataset.fromMs), Number(section.dataset.toMs)];

  // Draws a span. A later call replaces an earlier one. The server does not answer requests that follow too soon.
  async function show(from, to, again = "") {
    const mine = ++asked;
    const url = new URL(section.dataset.url, location.href);
    for (const [name, value] of Object.entries({ from, to, again })) if (value !== "") url.searchParams.set(name, value);
    const drawn = (await pageAt(url))?.getElementById(section.id);
    if (mine !== asked || drag) return;
    if (!drawn) return section.querySelector(".moving").removeAttribute("transform");
    query = { from: String(from), to: String(to) };
    for (const name of ["fromMs", "toMs", "stepMs"]) section.dataset[name] = drawn.dataset[name];
    redraw(section, drawn, { near: true, kept: "#move" });
    mover.draw();
    follow();
  }

  function between(from, to) {
    const length = Math.max(SHORTEST, to - from);
    const start = Math.max(0, Math.min(Math.round(from), LAST - SHORTEST));
    return show(start, Math.min(LAST, Math.round(start + length)));
  }

  function zoom(factor, at = 0.5) {
    const [from, to] = span();
    const middle = from + (to - from) * at;
    return between(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  function shift(part) {
    const [from, to] = span();
    return between(from + (to - from) * part, to + (to - from) * part);
  }

  // The line of "now", and the red background before it.
  function follow() {
    const [from, to] = span();
    const part = ((serverNow() - from) / (to - from)) * 100;
    const x = `${Math.min(100, Math.max(0, part)).toFixed(3)}%`;
    section.querySelector(".past").setAttribute("width", x);
    for (const name of ["x1", "x2"]) section.querySelector(".now").setAttribute(name, x);
    section.querySelector(".now-text").setAttribute("x", x);
    for (const each of section.querySelectorAll(".now, .now-text")) each.classList.toggle("is-out", part < 0 || part > 100);
  }

  const stop = (event) => { event.preventDefault(); event.stopPropagation(); };

  section.addEventListener("dragstart", (event) => event.preventDefault());
  section.addEventListener("pointerdown", (event) => {
    if (event.button || !event.target.closest(".plot svg")) return;
    drag = { x: event.clientX, by: 0 };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.by = event.clientX - drag.x;
    if (Math.abs(drag.by) < 4) return;
    plot().classList.add("is-dragged");
    section.querySelector(".moving").setAttribute("transform", `translate(${drag.by} 0)`);
  });
  window.addEventListener("pointerup", () => {
    if (!drag) return;
    const { by } = drag;
    drag = null;
    if (Math.abs(by) < 4) return;
    // The click that ends a drag opens no bar.
    window.addEventListener("click", stop, { capture: true, once: true });
    setTimeout(() => window.removeEventListener("click", stop, { capture: true }), 0);
    plot().classList.remove("is-dragged");
    shift(-by / plot().querySelector("svg").clientWidth);
  });
  window.addEventListener("pointercancel", () => {
    drag = null;
    plot().classList.remove("is-dragged");
    section.querySelector(".moving").removeAttribute("transform");
  });

  section.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey) || !event.target.closest(".plot")) return;
    event.preventDefault();
    const box = plot().querySelector("svg").getBoundingClientRect();
    clearTimeout(wheel?.timer);
    const factor = (wheel?.factor ?? 1) * (event.deltaY > 0 ? 1.25 : 0.8);
    const timer = setTimeout(() => { wheel = null; zoom(factor, (event.clientX - box.left) / box.width); }, 60);
    wheel = { factor, timer };
  }, { passive: false });

  section.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const bars = [...section.querySelectorAll(".plot svg a")];
    const at = bars.indexOf(document.activeElement);
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (at >= 0 && event.key === "ArrowRight") at + 1 < bars.length ? bars[at + 1].focus() : shift(0.5);
    else if (at >= 0 && event.key === "ArrowLeft") at ? bars[at - 1].focus() : shift(-0.5);
    else return;
    event.preventDefault();
  });

  // The links draw in place, and the address can still be shared.
  section.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-span]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const params = new URL(link.href).searchParams;
    history.replaceState(null, "", link.href.split("#")[0]);
    show(params.get("from") ?? "", params.get("to") ?? "");
  });

  const mover = moving(section, { span, now: serverNow });
  setInterval(() => document.hidden || drag || follow(), 1000);
  follow();
  return { refresh: () => drag || mover.isOn() || section.matches(":hover, :focus-within") || show(query.from, query.to, "1") };
}
