-- Adds the values in ARGV from one on, at most 1,000, all at once, and announces the head when it is one of them. The delays
-- are doubles of seconds, eight bytes each, in one string. Returns members and due times.
-- INCLUDE: add, head, int
local function add_many(envelope, delays, first, now_us)
  local ceil, values, count, head = math.ceil, ARGV, #ARGV - first + 1, 1
  local dues = {struct.unpack('<' .. string.rep('d', count), delays)}
  for i = 1, count do
    -- Rounded as due_of and its callers round. Below a nanosecond it is float noise.
    dues[i] = ceil((now_us + ceil(dues[i] * 1000000 - 0.001)) / 1000)
    if dues[i] < dues[head] then
      head = i
    end
  end
  local wrap, members, scored = wrapper(envelope, now_us)
  repeat
    members, scored = {}, {}
    for i = 1, count do
      local member = wrap(values[first + i - 1])
      members[i] = member
      scored[2 * i - 1], scored[2 * i] = int(dues[i]), member
    end
  until store(envelope, members, scored)
  tell_added(members[head], dues[head], math.floor(now_us / 1000))
  return members, dues
end
