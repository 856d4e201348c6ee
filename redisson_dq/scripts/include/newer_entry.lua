-- Finds out whether a newer version wrote a member that unwrap cannot read.
local function is_newer(member)
  local size, id_size = #member, string.byte(member, 1)
  return id_size and id_size > 10 and size >= 9 + id_size and struct.unpack('L', member, 2 + id_size) == size - 9 - id_size
end
