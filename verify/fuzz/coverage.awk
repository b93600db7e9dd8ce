# Reads llvm-cov's lcov export; prints lines and covered lines of each file, and of the core; fails below the floor.
/^SF:/ { file = substr($0, 4); sub(root, "", file) }
/^DA:/ {
	split(substr($0, 4), part, ",")
	lines[file]++
	if (part[2] + 0 > 0)
		covered[file]++
	else
		missed[file] = missed[file] " " part[1]
}
END {
	printf "%-28s %6s %8s %7s  %s\n", "file", "lines", "covered", "", "not covered"
	for (file in lines) {
		in_core = file ~ "^(" core ")$"
		printf "%-28s %6d %8d %6.1f%% %s%s\n", file, lines[file], covered[file], 100 * covered[file] / lines[file],
			in_core ? "*" : " ", in_core ? missed[file] : "" | "sort"
		if (in_core) {
			core_files++
			core_lines += lines[file]
			core_covered += covered[file]
		}
	}
	close("sort")
	share = core_lines ? 100 * core_covered / core_lines : 0
	printf "core (*): %d files, %d of %d lines, %.1f%%, floor %d%%\n", core_files, core_covered, core_lines, share, floor
	exit !(core_files == 12 && share >= floor)
}
