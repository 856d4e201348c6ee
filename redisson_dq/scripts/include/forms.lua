-- Tells what is in a newer form from what is no form of ours (wire/forms.py).

-- What was met and passed over: the name of its key -> its form.
local newer = {}

-- The form of a text that a newer version wrote, or nil. Such a text begins with 'v', its form and a space.
local function newer_form(name, text)
  local form = text and string.match(text, '^v(%d+) ')
  if form then
    newer[name] = form
  end
  return form
end
