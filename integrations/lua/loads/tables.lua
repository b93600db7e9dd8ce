-- SPDX-License-Identifier: MIT
-- tables.lua - arrays and maps that grow element by element, and are dropped at different times.

local sum, kept = 0, {}
for i = 1, 60000 do
  local array, map = {}, {}
  for j = 1, i % 40 do
    array[j] = j
    map["key" .. j % 20] = {name = j}
  end
  kept[i % 500] = {array = array, map = map, number = i}
  sum = sum + #array
end
return sum
