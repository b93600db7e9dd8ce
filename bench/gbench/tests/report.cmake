# report.cmake - is the JSON report what report.c said?   cmake -DPROGRAM=... -DFILE=... -P report.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} --benchmark_out=${FILE} --benchmark_out_format=json
	RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE said)
if(NOT status EQUAL 0)
	message(FATAL_ERROR "status ${status}: ${said}")
endif()
file(READ ${FILE} json)

# A number as CMake's string(JSON) gives it, e.g. 2.00e+01, must be VALUE to six digits.
function(expect_number row member value)
	string(JSON found ERROR_VARIABLE error GET "${row}" ${member})
	if(error)
		message(FATAL_ERROR "no ${member}: ${error}\n${row}")
	endif()
	# printf rounds both alike.
	execute_process(COMMAND printf "%.6g %.6g" ${found} ${value} OUTPUT_VARIABLE both RESULT_VARIABLE status)
	string(REPLACE " " ";" both "${both}")
	list(GET both 0 a)
	list(GET both 1 b)
	if(NOT status EQUAL 0 OR NOT a STREQUAL b)
		message(FATAL_ERROR "${member} is ${found}, not ${value}\n${row}")
	endif()
endfunction()

function(expect row member value)
	string(JSON found ERROR_VARIABLE error GET "${row}" ${member})
	if(error OR NOT found STREQUAL value)
		message(FATAL_ERROR "${member} is '${found}', not '${value}' ${error}\n${row}")
	endif()
endfunction()

string(JSON found GET "${json}" context subject.malloc)
if(NOT found STREQUAL "allocator|glibc|2.36")
	message(FATAL_ERROR "context: ${found}")
endif()

# everything, batches, give_up, three repetitions and their mean, median, stddev and cv
string(JSON count LENGTH "${json}" benchmarks)
if(NOT count EQUAL 10)
	message(FATAL_ERROR "${count} rows, not 10\n${json}")
endif()

string(JSON row GET "${json}" benchmarks 0)
expect("${row}" name "everything/bytes:64/count:-3/iterations:10/manual_time/threads:4")
expect("${row}" label "a label, \"quoted\"")
expect("${row}" time_unit "ms")
expect("${row}" threads 4)
# Iterations of all threads, and the mean of their times: 5 s / 40.
expect_number("${row}" iterations 40)
expect_number("${row}" real_time 125)
# The sum over the threads is 80; the clock says 5 s.
expect_number("${row}" plain 80)
expect_number("${row}" rate 16)
expect_number("${row}" avg_threads 20)
expect_number("${row}" invariant 3200)
expect_number("${row}" per_iteration 2)
expect_number("${row}" invert 0.0125)
expect_number("${row}" avg_rate 4)
expect_number("${row}" kibi 4096)
expect_number("${row}" items_per_second 80)
expect_number("${row}" bytes_per_second 800)
# Set in teardown: by one thread.
expect_number("${row}" once 1)

# 100 iterations in batches of 7 are 105, for each thread.
string(JSON row GET "${json}" benchmarks 1)
expect("${row}" name "batches/iterations:100/threads:3")
expect_number("${row}" iterations 315)
expect_number("${row}" done 315)

string(JSON row GET "${json}" benchmarks 2)
expect("${row}" name "give_up/iterations:10/threads:2")
expect("${row}" error_occurred ON)
expect("${row}" error_message "no luck")

string(JSON row GET "${json}" benchmarks 3)
expect("${row}" name "repeated/min_time:0.001/repeats:3/process_time/real_time")
string(JSON row GET "${json}" benchmarks 6)
expect("${row}" aggregate_name "mean")

if(NOT printed MATCHES "kibi=4k ")
	message(FATAL_ERROR "4096 is not 4k in the table:\n${printed}")
endif()
# For people, a row that skipped says so too.
if(NOT printed MATCHES "ERROR OCCURRED: 'no luck'")
	message(FATAL_ERROR "the table does not tell why a row was skipped:\n${printed}")
endif()
