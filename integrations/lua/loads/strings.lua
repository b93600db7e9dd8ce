-- SPDX-License-Identifier: MIT
-- strings.lua - builds strings of many lengths: by concatenation, from parts, and by gsub.

local sum, words = 0, {}
for i = 1, 200000 do
  words[i % 1000 + 1] = "word " .. i .. ("x"):rep(i % 90)
  if i % 1000 == 0 then
    local text = table.concat(words, ", ")
    sum = sum + #text + #text:gsub("%d+", function(digits) return digits .. "!" end)
  end
end
local line = ""
for i = 1, 6000 do
  line = line .. string.char(97 + i % 26)
end
return sum + #line
