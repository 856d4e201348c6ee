-- Distinguishes a newer form from one that is none of ours (wire/forms.py).

-- Newer forms that were met and passed over: the name of the key -> the form.
local newer = {}

-- The form of a text that a newer version wrote, or nil. Such a text begins with 'v', its form and a space.
local function newer_form(name, text)
  local form = text and string.match(text, '^v(%d+) ')
  if form and #form < 10 then
    newer[name] = form
    return form
  end
  return nil
end
