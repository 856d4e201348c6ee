-- Takes entries out of the envelope list, those at its front without a look at the others.
-- KEYS: envelopes
-- INCLUDE: cut

-- Takes the entries at these places out, and these members wherever they are.
local function close_up(places, members)
  local is_gone, behind, front = {}, {}, 0
  for _, place in ipairs(places) do
    is_gone[place] = true
  end
  while is_gone[front] do
    front = front + 1
  end
  if front > 0 then
    redis.call('LTRIM', keys.envelopes, front, -1)
  end
  for _, place in ipairs(places) do
    if place >= front then
      behind[#behind + 1] = place - front
    end
  end
  cut(behind, members)
end
