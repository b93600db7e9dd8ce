-- SPDX-License-Identifier: MIT
-- trees.lua - binary trees: many tables of two elements, most of them short-lived.

local function make(depth)
  if depth == 0 then
    return {}
  end
  return {make(depth - 1), make(depth - 1)}
end

local function count(tree)
  return tree[1] and 1 + count(tree[1]) + count(tree[2]) or 1
end

local kept, sum = make(15), 0
for depth = 4, 14, 2 do
  for _ = 1, 1 << (16 - depth) do
    sum = sum + count(make(depth))
  end
end
return sum + count(kept)
