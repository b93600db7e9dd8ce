# sites.awk - lists, or weakens, the memory orders of one source file.
#
#   awk -f sites.awk FILE                        one line for each mutant: FILE FUNCTION VERB N WEAKER
#   awk -v site="FUNCTION VERB N WEAKER" ...     the file with that one verb replaced
#
# A site is the N-th use of a verb in a function: adding code elsewhere does not rename it.
BEGIN {
	verbs = "(LFPOOL_(LOAD_ACQUIRE|STORE_RELEASE)|load_acquire|store_release|cas_(weak_)?(acquire|release|acq_rel)|(load|cas)_seq_cst)[(]"
	weaker["load_acquire"] = "load_relaxed"
	weaker["store_release"] = "store_relaxed"
	weaker["load_seq_cst"] = "load_acquire load_relaxed"
	weaker["cas_seq_cst"] = "cas_acq_rel"
	weaker["LFPOOL_LOAD_ACQUIRE"] = "LFPOOL_LOAD_RELAXED"
	weaker["LFPOOL_STORE_RELEASE"] = "LFPOOL_STORE_RELAXED"
	weaker["cas_acquire"] = "cas_relaxed"
	weaker["cas_release"] = "cas_relaxed"
	weaker["cas_weak_release"] = "cas_weak_relaxed"
	weaker["cas_acq_rel"] = "cas_relaxed cas_no_acquire cas_no_release cas_failure_relaxed"
	weaker["cas_weak_acq_rel"] = "cas_weak_relaxed cas_weak_no_acquire cas_weak_no_release cas_weak_failure_relaxed"
}

# A definition begins in the first column; its name stands before the first parenthesis.
/^[a-z][^;]*\(/ && !/^#/ {
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	delete used
}

{
	out = ""
	rest = $0
	while (!/^#/ && !/^ ?\*/ && match(rest, verbs)) {
		verb = substr(rest, RSTART, RLENGTH - 1)
		before = substr(rest, 1, RSTART - 1)
		rest = substr(rest, RSTART + RLENGTH - 1)
		n = ++used[verb]
		count = split(weaker[verb], options, " ")
		replaced = verb
		for (i = 1; i <= count; i++) {
			if (site == "")
				print FILENAME, name, verb, n, options[i]
			else if (site == name " " verb " " n " " options[i]) {
				replaced = options[i]
				done = 1
			}
		}
		out = out before replaced
	}
	if (site != "")
		print out rest
}

END {
	if (site != "" && !done)
		exit 3
}
