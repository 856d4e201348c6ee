// The live stream: one connection per tab, closed while the tab is hidden or paused.

import { put, serverNow, setServerTime, span } from "./times.js";

const PAUSED = "redisson-dq.paused";

export function live(button, banner, { onSnapshot, onDoctor }) {
  let source = null;
  let [awaySince, missed] = [0, ""];
  let isPaused = sessionStorage.getItem(PAUSED) === "yes";

  function tell() {
    const state = isPaused ? "paused" : awaySince ? "away" : source ? "live" : "paused";
    button.dataset.state = state;
    put(button.querySelector("#live-text"), { live: "Live", away: "Away", paused: "Paused" }[state]);
    button.setAttribute("aria-label", isPaused ? "Live update is paused. Go on" : "Live update. Pause it");
  }

  function away(name, text) {
    if (!awaySince) awaySince = Date.now();
    missed = name;
    banner.classList.remove("good");
    put(banner, `${text} Trying again.`);
    banner.hidden = false;
    tell();
  }

  function back() {
    if (!awaySince) return;
    const text = span(Date.now() - awaySince);
    awaySince = 0;
    banner.classList.add("good");
    put(banner, `${missed} is back. It was away for ${text || "a moment"}.`);
    setTimeout(() => { if (!awaySince) banner.hidden = true; }, 6000);
    tell();
  }

  function open() {
    if (source || isPaused || document.hidden) return tell();
    source = new EventSource(button.dataset.url);
    source.addEventListener("snapshot", (event) => {
      const told = JSON.parse(event.data);
      if (told.now) setServerTime(told.now);
      back();
      onSnapshot(told);
      tell();
    });
    source.addEventListener("doctor", (event) => onDoctor(JSON.parse(event.data)));
    source.addEventListener("trouble", (event) => away("Redis", JSON.parse(event.data).text));
    source.addEventListener("error", () => {
      if (document.hidden) return;
      away("The dashboard", "The dashboard does not answer.");
      // If the server answers with an error, the stream ends for good.
      if (source?.readyState === EventSource.CLOSED) { close(); setTimeout(reopen, 3000); }
    });
    tell();
  }

  // If the session has expired or the right was withdrawn, the page itself says so.
  async function reopen() {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (answer?.redirected || [401, 403].includes(answer?.status)) location.reload();
    else open();
  }

  function close() {
    source?.close();
    source = null;
    tell();
  }

  button.addEventListener("click", () => {
    isPaused = !isPaused;
    sessionStorage.setItem(PAUSED, isPaused ? "yes" : "no");
    if (!isPaused) return open();
    // No retry is pending now.
    awaySince = 0;
    banner.hidden = true;
    close();
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
  return { serverNow };
}
