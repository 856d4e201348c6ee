// Fetches a page again, and replaces a part of this one by it. The focus in that part is kept:
// from the keyboard there is no other way back.

const PARTS = "a, button, input, select, textarea, summary, [tabindex]";
const partsOf = (place) => [...place.querySelectorAll(PARTS)];
const nameOf = (each) => [each.tagName, each.id || each.getAttribute("aria-label") || each.getAttribute("href") || each.textContent].join(" ");

// The page at an address, or null if it does not exist now.
export async function pageAt(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

// If the focused part is gone, the focus goes to the container, where no key acts, or with `near` to a neighbour.
// Elements that match `kept` stay unchanged, as the user may be filling them in.
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
