-- Refuses a call that cannot go on without a text in a newer form.

-- form: that of the text, or nil where this version knows it. Called before the first write. The client's error names the
-- key (connecting/explaining.py).
local function refuse_newer(name, form)
  if form then
    error('NEWERFORM ' .. name .. ' ' .. form)
  end
end
