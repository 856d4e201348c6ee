-- Makes room in a bounded queue for values that have left it.
-- INCLUDE: change_room, announce
local function make_room(count)
  local room = count > 0 and change_room(count)
  if room then
    announce(keys.capacity_channel, room)
  end
end
