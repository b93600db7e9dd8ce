# The corpus and random sequences without a fuzzer: an ordinary unit test of every preset, included by tests/CMakeLists.txt.
set(fuzz ${PROJECT_SOURCE_DIR}/verify/fuzz)
add_executable(lfpool-replay ${fuzz}/replay.c ${fuzz}/model.c ${fuzz}/life.c ${fuzz}/evicting.c ${fuzz}/retiring.c ${fuzz}/waiters.c ${fuzz}/sequence.c)
lfpool_house_rules(lfpool-replay)
target_include_directories(lfpool-replay PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(lfpool-replay PRIVATE lfpool)

file(GLOB corpus CONFIGURE_DEPENDS ${fuzz}/corpus/*)
set_property(GLOBAL PROPERTY LFPOOL_FUZZ_CORPUS ${corpus})
# The seed is fixed, so that a test that fails fails again; the fuzz run is where new sequences come from.
set(fences on)
if(LFPOOL_TEST_REPEATS)
	list(APPEND fences off)
endif()
foreach(fence IN LISTS fences)
	add_test(NAME fuzz.corpus.membarrier_${fence} COMMAND lfpool-replay ${corpus})
	add_test(NAME fuzz.random.membarrier_${fence} COMMAND lfpool-replay --random 1 0 200)
	set_tests_properties(fuzz.corpus.membarrier_${fence} fuzz.random.membarrier_${fence} PROPERTIES
		LABELS "unit;fuzz;verify" TIMEOUT 300
		ENVIRONMENT_MODIFICATION "LFPOOL_BACKEND=unset:;LFPOOL_MEMBARRIER=set:${fence}")
endforeach()
