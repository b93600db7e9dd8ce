# First the table, then objdump's text.  One line for each row: what was expected, what was found, ok or WRONG.
NR == FNR { rows++; name[rows] = $1; for (i = 2; i <= 7; i++) want[$1, i] = $i; next }
/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); seen[f] = 1; next }
{ i = 0 }
$2 ~ /^(ldar|ldapr)$/ { i = 2 }
$2 == "stlr" { i = 3 }
$2 == "casal" || /R_AARCH64_CALL26.*__aarch64_cas[48]_acq_rel/ { i = 4 }
$2 == "casa" || /R_AARCH64_CALL26.*__aarch64_cas[48]_acq$/ { i = 5 }
$2 == "casl" || /R_AARCH64_CALL26.*__aarch64_cas[48]_rel$/ { i = 6 }
$2 == "dmb" { i = 7 }
i { count[f, i]++ }
END {
	for (r = 1; r <= rows; r++) {
		verdict = seen[name[r]] ? "ok" : "WRONG"
		line = sprintf("%-24s", name[r])
		for (i = 2; i <= 7; i++) {
			found = count[name[r], i] + 0
			w = want[name[r], i]
			if (w ~ /\+$/ ? found < w + 0 : found != w + 0)
				verdict = "WRONG"
			line = line sprintf(" %3s/%d", w, found)
		}
		print line, verdict
	}
}
