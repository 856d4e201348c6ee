-- The value and the id inside a member of either envelope format, or nil. Mirrors wire/envelope.py.
local function unwrap(member)
  local size = #member
  if size >= 17 and string.byte(member, 1) == 8 and struct.unpack('L', member, 10) == size - 17 then
    return string.sub(member, 18), string.sub(member, 2, 9)
  end
  if size >= 16 and struct.unpack('L', member, 9) == size - 16 then
    return string.sub(member, 17), string.sub(member, 1, 8)
  end
  return nil
end
