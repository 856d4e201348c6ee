// Completion of the filter: fields first, operators after a field, then values that occur on the page.

const OPERATORS = ["=", "!=", "<", ">", "<=", ">=", "~", "in"];
const DURATIONS = ["30s", "5m", "1h", "1d"];

// The word before the caret, and the one before that.
function words(text, caret) {
  const before = text.slice(0, caret);
  const word = /("[^"]*|[^\s()]*)$/.exec(before)[0];
  const last = before.slice(0, before.length - word.length).trimEnd().split(/[\s()]+/).pop() ?? "";
  return { word, last, from: caret - word.length };
}

function candidates(input, word, last, fields, values) {
  const isField = fields.some((each) => each.name === last);
  if (OPERATORS.includes(last)) {
    const field = input.value.slice(0, input.selectionStart).trim().split(/\s+/).slice(-2)[0];
    const seen = values[field] ?? (["late", "due"].includes(field) ? DURATIONS : []);
    return seen.map((text) => ({ text, hint: "value" }));
  }
  if (isField) return OPERATORS.map((text) => ({ text, hint: "" }));
  if (last && !["and", "or", "not"].includes(last)) return ["and", "or"].map((text) => ({ text, hint: "" }));
  return fields.map(({ name, hint }) => ({ text: name, hint }));
}

export function suggestions(input, { fields, values }) {
  const list = document.createElement("ul");
  list.className = "suggest";
  list.id = `${input.id}-suggest`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions of the filter");
  list.hidden = true;
  input.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id], ["autocomplete", "off"], ["spellcheck", "false"]]) {
    input.setAttribute(name, value);
  }
  let at = -1;

  function close() {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(text) {
    const { from } = words(input.value, input.selectionStart);
    const rest = input.value.slice(input.selectionStart);
    input.value = `${input.value.slice(0, from)}${text} ${rest.trimStart()}`;
    const caret = from + text.length + 1;
    input.setSelectionRange(caret, caret);
    input.focus();
    show();
  }

  function mark(i) {
    at = i;
    [...list.children].forEach((each, k) => each.setAttribute("aria-selected", String(k === at)));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  }

  function show() {
    const { word, last } = words(input.value, input.selectionStart);
    const found = candidates(input, word, last, fields, values)
      .filter(({ text }) => text !== word && text.toLowerCase().includes(word.toLowerCase()))
      .slice(0, 12);
    list.replaceChildren(...found.map(({ text, hint }, i) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${i}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.append(text);
      if (hint) {
        const beside = document.createElement("span");
        beside.textContent = hint;
        option.append(beside);
      }
      option.addEventListener("mousedown", (event) => { event.preventDefault(); choose(text); });
      return option;
    }));
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(Boolean(found.length)));
    mark(-1);
  }

  input.addEventListener("input", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const count = list.hidden ? 0 : list.children.length;
    if (event.key === "Escape" && count) { event.preventDefault(); close(); }
    else if (event.key === "ArrowDown") { event.preventDefault(); count ? mark((at + 1) % count) : show(); }
    else if (event.key === "ArrowUp" && count) { event.preventDefault(); mark((at - 1 + count) % count); }
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) { event.preventDefault(); choose(list.children[at].firstChild.data); }
  });
}
