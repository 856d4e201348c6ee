-- Searches the envelope list for entries of ours, whose ids grow with the offers.
-- KEYS: envelopes
--
-- Java's ids are random and stand between ours. So a search may miss an entry that a random id misled it about. It may
-- also miss one from before a step back of the clock.

-- In the sample is one entry of so many, and for each that is searched for so many; so few are read around a guess.
local SPARSE, SHARE, CLOSE = 128, 8, 8
local YEAR_US = 31536000 * 1000000

-- When an entry was offered, in us, and its number in that us; nil for one that is none of ours.
local function offered(member, now_us)
  local at = string.byte(member, 1) == 8 and 2 or 1
  if #member < at + 15 or struct.unpack('<I8', member, at + 8) ~= #member - at - 15 then
    return nil
  end
  local high, low = struct.unpack('>I4I4', member, at)
  local us = high * 1048576 + math.floor(low / 4096)
  if us > now_us + YEAR_US or us < now_us - YEAR_US then
    return nil
  end
  return us, low % 4096
end

-- The next entry of ours from a place on, at most 64 behind it: its place, when it was offered.
local function ours_from(place, last, now_us)
  local us, number = offered(redis.call('LINDEX', keys.envelopes, place), now_us)
  if us then
    return place, us, number
  end
  for i, member in ipairs(redis.call('LRANGE', keys.envelopes, place + 1, math.min(place + 64, last))) do
    us, number = offered(member, now_us)
    if us then
      return place + i, us, number
    end
  end
  return nil
end

-- Places of entries of ours from end to end of the list, between which others are searched for.
local function sample_of(count, size, now_us)
  local places, times, numbers = {}, {}, {}
  local step = math.max(SPARSE, math.floor(size / (SHARE * count)))
  for start = 0, size - 1, step do
    local place, us, number = ours_from(start, math.min(start + step, size) - 1, now_us)
    if place then
      places[#places + 1], times[#places + 1], numbers[#places + 1] = place, us, number
    end
  end
  return {places = places, times = times, numbers = numbers, size = size}
end

-- The place of an entry of ours in the list, or nil where it was not found.
local function place_of(member, sample, now_us)
  local us, number = offered(member, now_us)
  if not us then
    return nil
  end
  local low, high = 1, #sample.places
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local found = sample.times[middle]
    if found < us or found == us and sample.numbers[middle] <= number then
      low = middle + 1
    else
      high = middle - 1
    end
  end
  -- Between the sample's entry before it and the one behind. Offers often come evenly: guess first.
  local before, behind = high, low
  low, high = sample.places[before] or 0, (sample.places[behind] or sample.size) - 1
  if before > 0 and sample.places[behind] then
    local span = 4096 * (sample.times[behind] - sample.times[before]) + sample.numbers[behind] - sample.numbers[before]
    local part = 4096 * (us - sample.times[before]) + number - sample.numbers[before]
    local guess = low + (high + 1 - low) * math.max(0, math.min(1, part / math.max(1, span)))
    guess = math.max(low, math.floor(guess + 0.5) - CLOSE / 2)
    for i, found in ipairs(redis.call('LRANGE', keys.envelopes, guess, math.min(guess + CLOSE - 1, high))) do
      if found == member then
        return guess + i - 1
      end
    end
  end
  if high < low then
    -- Older than the first of the list, as after a step back of the clock. LRANGE would read all of it up to -1.
    return nil
  end
  while high - low >= CLOSE do
    local middle = math.floor((low + high) / 2)
    local place, found_us, found_number = ours_from(middle, high, now_us)
    if not place then
      return nil
    elseif found_us < us or found_us == us and found_number <= number then
      low = place
    else
      high = middle - 1
    end
  end
  for i, found in ipairs(redis.call('LRANGE', keys.envelopes, low, high)) do
    if found == member then
      return low + i - 1
    end
  end
  return nil
end
