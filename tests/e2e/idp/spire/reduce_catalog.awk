# SPDX-License-Identifier: Apache-2.0
# Prints a file of SPIRE's plugin catalog with only the built-in plugins that one machine can use:
# the others bring the clients of every cloud, ten times what is left. Reads the file twice:
#
#   awk -f reduce_catalog.awk FILE FILE
BEGIN {
  split("disk memory jointoken unix", names)
  for (i in names) kept[names[i]]
}

function plugin_of(line) {
  return match(line, /^\t\t[a-z0-9]+\.BuiltIn\(\),$/) ? substr(line, 3, index(line, ".") - 3) : ""
}

# A package that is imported by another name than its folder's has that name before its path.
function imported_as(line, words, count) {
  if (line !~ /^\t([a-z0-9]+ )?"[^"]+"$/) return ""
  count = split(line, words, /[\t "\/]+/)
  return line ~ /^\t"/ ? words[count - 1] : words[2]
}

NR == FNR {
  name = plugin_of($0)
  if (name != "" && !(name in kept)) dropped[name]
  next
}

plugin_of($0) in dropped || imported_as($0) in dropped { next }
{ print }
