-- SPDX-License-Identifier: MIT
-- closures.lua - closures with upvalues, coroutines, and objects with a metatable.

local point = {}
point.__index = point

function point.new(x, y)
  return setmetatable({x = x, y = y}, point)
end

function point:moved(dx, dy)
  return point.new(self.x + dx, self.y + dy)
end

local function counter(step)
  local value = 0
  return function()
    value = value + step
    return value
  end
end

local sum, counters = 0, {}
for i = 0, 999999 do
  counters[i % 100 + 1] = counter(i % 7)
  sum = sum + counters[i % #counters + 1]()
end
local here = point.new(0, 0)
for i = 1, 1000000 do
  here = here:moved(i % 3, -1)
end
for i = 1, 30000 do
  local numbers = coroutine.wrap(function()
    for j = 1, 3 do
      coroutine.yield(i + j)
    end
  end)
  sum = sum + numbers() + numbers() + numbers()
end
return sum + here.x + here.y
