// Asks the server for a page again, and puts a part of it into this one. Whoever has the focus in that part keeps it:
// from the keyboard there is no other way back.

const PARTS = "a, button, input, select, textarea, summary, [tabindex]";
const partsOf = (place) => [...place.querySelectorAll(PARTS)];
const nameOf = (each) => [each.tagName, each.id || each.getAttribute("aria-label") || each.getAttribute("href") || each.textContent].join(" ");

// The page at an address, or null where there is none now.
export async function pageAt(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

// The focus of a part that is gone goes to the place, where no key acts, or with `near` to a neighbour of that part.
// What `kept` selects stays as it is, as somebody may be filling it in.
export function redraw(place, drawn, { near = false, kept = "" } = {}) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const parts = partsOf(place);
  const at = parts.indexOf(focused);
  const name = at < 0 ? "" : nameOf(focused);
  const before = parts.slice(0, Math.max(0, at)).filter((each) => nameOf(each) === name).length;
  for (const each of kept ? place.querySelectorAll(kept) : []) drawn.querySelector(kept)?.replaceWith(each);
  place.replaceChildren(...drawn.childNodes);
  if (at < 0) return;
  const now = partsOf(place);
  const alike = now.filter((each) => nameOf(each) === name);
  const next = alike[before] ?? alike[0] ?? (near ? now[Math.min(at, now.length - 1)] : null);
  if (!next) place.tabIndex = -1;
  (next ?? place).focus({ preventScroll: true });
}
