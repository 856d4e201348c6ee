-- The value and the id inside a member of either envelope format, or nil. Mirrors wire/envelope.py. An id of nine bytes
-- is that of a lean entry, one of ten bytes that of a lease. Both are only in the zset.
local function unwrap(member)
  local size, id_size = #member, string.byte(member, 1)
  if id_size and id_size >= 8 and id_size <= 10 then
    if size >= 9 + id_size and struct.unpack('L', member, 2 + id_size) == size - 9 - id_size then
      return string.sub(member, 10 + id_size), string.sub(member, 2, 1 + id_size)
    end
  end
  if size >= 16 and struct.unpack('L', member, 9) == size - 16 then
    return string.sub(member, 17), string.sub(member, 1, 8)
  end
  return nil
end
