# The library with seeded bugs, one of which `verify_mutant` switches on: controls of the freeze test.
#
# The sources are copied and changed here, at configuration; a text that is not found stops it, so that a control does
# not fade away when the library changes.  Where they are compiled, a file is touched only if it has become another.

set(step_mutants ${CMAKE_CURRENT_BINARY_DIR}/mutants)
set(step_changed ${CMAKE_CURRENT_BINARY_DIR}/mutants.changed)
file(REMOVE_RECURSE ${step_changed})
file(COPY ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include DESTINATION ${step_changed})

# step_mutate(FILE FROM TO): the first occurrence.
function(step_mutate file from to)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
	file(READ ${step_changed}/${file} text)
	string(FIND "${text}" "${from}" place)
	if(place EQUAL -1)
		message(FATAL_ERROR "verify/step/mutants.cmake: ${file} has no longer:\n${from}")
	endif()
	string(LENGTH "${from}" length)
	string(SUBSTRING "${text}" 0 ${place} before)
	math(EXPR place "${place} + ${length}")
	string(SUBSTRING "${text}" ${place} -1 after)
	file(WRITE ${step_changed}/${file} "${before}${to}${after}")
endfunction()

# 1, 2: a magazine out of the depot, a chunk, is not announced.
step_mutate(src/core/depot.h "tagged_set(in_transit, number);\n\t\t/* relaxed: PUT"
	"if (verify_mutant != 1)\n\t\t\ttagged_set(in_transit, number);\n\t\t/* relaxed: PUT")
step_mutate(src/core/depot.h "tagged_set(in_transit, number);\n\t\t/* release, edge SHOW: a thread that sees the chunk"
	"if (verify_mutant != 2)\n\t\t\ttagged_set(in_transit, number);\n\t\t/* release, edge SHOW: a thread that sees the chunk")
# 3: nor is the one that `previous` gives up; 4: that one is not taken by CAS; 5: the announcement ends too early.
step_mutate(src/core/cache.c "tagged_set(&c->in_transit, tagged_number(previous));"
	"if (verify_mutant != 3)\n\t\ttagged_set(&c->in_transit, tagged_number(previous));")
step_mutate(src/core/cache.c "if (cas_release(&c->previous, &previous, tagged_next(previous, current)))"
	"if (verify_mutant == 4) {\n\t\ttagged_set(&c->previous, c->current->number);\n\t\treturn true;\n\t}
	if (cas_release(&c->previous, &previous, tagged_next(previous, current)))")
step_mutate(src/core/cache.c "work_on(c, number);\n\ttagged_set(&c->in_transit, 0);"
	"if (verify_mutant == 5)\n\t\ttagged_set(&c->in_transit, 0);\n\twork_on(c, number);\n\ttagged_set(&c->in_transit, 0);")
# 6: a cache that is given up does not announce its current magazine.
step_mutate(src/core/cache.c "tagged_set(&c->in_transit, load_relaxed(&given->number));"
	"if (verify_mutant != 6)\n\t\t\t\ttagged_set(&c->in_transit, load_relaxed(&given->number));")
# 7: a robbed magazine is not announced; 8: nobody looks at announcements; 9: a thief waits for them to end.
step_mutate(src/core/steal.c "tagged_set(&c->in_transit, tagged_number(previous));"
	"if (verify_mutant != 7)\n\t\ttagged_set(&c->in_transit, tagged_number(previous));")
step_mutate(src/core/steal.c "(void)collect_magazine(core, load_acquire(&victim->in_transit), s);"
	"while (verify_mutant == 9 && tagged_number(load_acquire(&victim->in_transit)))\n\t\t\tcpu_relax();
		if (verify_mutant != 8)\n\t\t\t(void)collect_magazine(core, load_acquire(&victim->in_transit), s);")
# 10: the inlined hit takes the last object without CAS; 11: the thief takes his so.
step_mutate(include/lfpool/inline.h "LFPOOL_LOAD_RELAXED(&magazine->top), bottom) < 0)"
	"LFPOOL_LOAD_RELAXED(&magazine->top), bottom) < (verify_mutant == 10))")
step_mutate(src/core/magazine.h "if (!cas_release(&m->top, &top, position + 1))\n\t\treturn"
	"if (verify_mutant == 11)\n\t\tstore_release(&m->top, position + 1);
	else if (!cas_release(&m->top, &top, position + 1))\n\t\treturn")
# 12: an object is shown before it is written down.
step_mutate(include/lfpool/inline.h "LFPOOL_STORE_RELAXED(lfpool_entry_at"
	"if (verify_mutant == 12)\n\t\tLFPOOL_STORE_RELEASE(&magazine->bottom, bottom + LFPOOL_PUSHED);
	LFPOOL_LIGHT_BARRIER();\n\tLFPOOL_STORE_RELAXED(lfpool_entry_at")

# 13: the owner takes the last object by a store.
step_mutate(src/core/magazine.h "if (!cas_release(&m->top, &top, top + 1))\n\t\t\tobject"
	"if (verify_mutant == 13)\n\t\t\tstore_release(&m->top, top + 1);
		else if (!cas_release(&m->top, &top, top + 1))\n\t\t\tobject")

# 14: who asks for the pool of an address waits for one that is being created or destroyed.
step_mutate(src/pool/address_map.c "void *address_map_find(const struct address_map *ranges, uintptr_t address)\n{"
	"static _Atomic(uint32_t) writing;\n\nvoid *address_map_find(const struct address_map *ranges, uintptr_t address)\n{
	while (verify_mutant == 14 && load_acquire(&writing))\n\t\tcpu_relax();")
step_mutate(src/pool/address_map.c "range_set(&to->range[place], first"
	"store_release(&writing, 1);\n\trange_set(&to->range[place], first")
step_mutate(src/pool/address_map.c "publish(ranges, head, count + 1);"
	"publish(ranges, head, count + 1);\n\tstore_release(&writing, 0);")
# 15: a slot is put into the quarantine by a store.
step_mutate(src/object/quarantine.h "while (!cas_weak_acq_rel(place, &word, quarantine_changed(word, slot)))"
	"if (verify_mutant == 15)\n\t\tstore_release(place, quarantine_changed(word, slot));
	else while (!cas_weak_acq_rel(place, &word, quarantine_changed(word, slot)))")

# 16: nobody wakes a call that another thread was about to wake; 17: an object is counted before it can be found.
step_mutate(src/core/cells.c "if (cell_phase(word) == GIVEN && !load"
	"if (verify_mutant != 16 && cell_phase(word) == GIVEN && !load")
step_mutate(src/core/cold.c "give_bit(c, slot);\n\tcount(c, 1, 0);"
	"if (verify_mutant == 17)\n\t\tcount(c, 1, 0);\n\tgive_bit(c, slot);\n\tif (verify_mutant != 17)\n\t\tcount(c, 1, 0);")
# 18: a continuation is cancelled by a store; 19: it is given an object so.
step_mutate(src/api/async.c "if (!cas_relaxed(&cell->word, &word, CLAIMED))\n\t\treturn false;"
	"if (verify_mutant != 18 && !cas_relaxed(&cell->word, &word, CLAIMED))\n\t\treturn false;")
step_mutate(src/waiting/waiters.c "if (!cas_release(&cell->word, &word, given))\n\t\treturn false;"
	"if (verify_mutant == 19)\n\t\tstore_release(&cell->word, given);
	else if (!cas_release(&cell->word, &word, given))\n\t\treturn false;")
# 20: a trim gives back what it has borrowed before the bits.
step_mutate(src/core/pages.c "/* O1: the bits first. */"
	"if (verify_mutant == 20 && hold->allowed)\n\t\tcold_allowed_add(c, hold->allowed);")
step_mutate(src/core/pages.c "if (hold->allowed)\n\t\tcold_allowed_add(c, hold->allowed);\n}"
	"if (verify_mutant != 20 && hold->allowed)\n\t\tcold_allowed_add(c, hold->allowed);\n}")

# Of an evicting pool.  21: an update takes the slot while it works.
step_mutate(src/priority/evicting.c "const bool replaced = change(pool, mine, changed.state);"
	"if (verify_mutant == 21 && change(pool, mine, taken(mine)))\n\t\tmine->state = taken(mine);
	const bool replaced = change(pool, mine, changed.state);")
# 22: an update that climbs keeps the others from climbing.
step_mutate(src/priority/tournament.c "void tournament_offer(struct tournament *t, const struct contender *mine)\n{"
	"static _Atomic(uint32_t) climbing;\n
void tournament_offer(struct tournament *t, const struct contender *mine)\n{\n\tuint32_t idle = 0;\n
	while (verify_mutant == 22 && !cas_acquire(&climbing, &idle, 1))\n\t\tidle = 0;")
step_mutate(src/priority/tournament.c
	"if (!settle(t, level, index, mine) || !is_current(t, mine))\n\t\t\treturn;\n\t}"
	"if (!settle(t, level, index, mine) || !is_current(t, mine))\n\t\t\tbreak;\n\t}\n\tstore_release(&climbing, 0);")
# 23: a call that wants the least waits until the root is current; 24: it takes a stale root for no root.  (Who makes it stale
# repairs it, so that this is noticed only when he is stopped.)
step_mutate(src/priority/tournament.c "return first;\n\t\trepair(t, top, 0);"
	"return first;\n\t\tif (verify_mutant == 23)\n\t\t\tcontinue;
		if (verify_mutant == 24)\n\t\t\treturn nobody;\n\t\trepair(t, top, 0);")
step_mutate(src/priority/evicting.c "tell_evicted(pool, &first);"
	"if (verify_mutant == 23 || verify_mutant == 24)\n\t\t\t\ttournament_withdraw(&pool->tournament, first.slot);
			tell_evicted(pool, &first);")
# 25: a publish does not climb.
step_mutate(src/priority/evicting.c "mine.name = name_of(mine.slot, next);\n\ttournament_offer(&pool->tournament, &mine);"
	"mine.name = name_of(mine.slot, next);\n\tif (verify_mutant != 25)
		tournament_offer(&pool->tournament, &mine);")
# 26: a victim is taken by a store; 27: so is a change of priority made.
step_mutate(src/priority/evicting.c "if (change(pool, &first, taken(&first))) {"
	"if (verify_mutant == 26)\n\t\t\tstore_release(&place_of(pool, first.slot)->word, taken(&first));
		if (verify_mutant == 26 || change(pool, &first, taken(&first))) {")
step_mutate(src/priority/evicting.c "const bool replaced = change(pool, mine, changed.state);"
	"if (verify_mutant == 27)\n\t\tstore_release(&place->word, changed.state);
	const bool replaced = verify_mutant == 27 || change(pool, mine, changed.state);")
# 28: a slot is free before its state says so.
step_mutate(src/priority/evicting.c "let_go(pool, first.slot, taken(&first));"
	"if (verify_mutant == 28)\n\t\t\tput_back(pool, first.slot);\n\t\tlet_go(pool, first.slot, taken(&first));")
step_mutate(src/priority/evicting.c "put_back(pool, first.slot);\n\t\treleased++;"
	"if (verify_mutant != 28)\n\t\t\tput_back(pool, first.slot);\n\t\treleased++;")
# 29: what a node names is replaced though it has changed since it was read.
step_mutate(src/priority/tournament.c "const bool swapped = cas_seq_cst(&node->word, &word, tagged_next(word, number));"
	"if (verify_mutant == 29)\n\t\tword = load_seq_cst(&node->word);
	const bool swapped = cas_seq_cst(&node->word, &word, tagged_next(word, number));")
# 30: whether what a node names is current is asked when the children have been looked at.
step_mutate(src/priority/tournament.c
	"const bool current = is_current(t, &named);\n\n\t\tif (current && !goes_before(t, mine, &named))"
	"bool current = is_current(t, &named);\n
		if (verify_mutant != 30 && current && !goes_before(t, mine, &named))")
step_mutate(src/priority/tournament.c "\n\t\tif (current && !goes_before(t, &first, &named))\n\t\t\treturn false;"
	"\n\t\tif (verify_mutant == 30)\n\t\t\tcurrent = is_current(t, &named);
		if (current && verify_mutant == 30 && !goes_before(t, mine, &named))\n\t\t\treturn true;
		if (current && !goes_before(t, &first, &named))\n\t\t\treturn false;")
# 31: a call that asks about a batch waits for one that asks already.
step_mutate(src/retire/retired.c "do {\n\t\tif (shard_phase(word) != BEGUN)"
	"do {\n\t\twhile (verify_mutant == 31 && shard_phase(word) == HELD)\n\t\t\tword = load_relaxed(&shard->word);
		if (shard_phase(word) != BEGUN)")

# In the child of a fork.  32: what a call was given and has not fetched is lost; 33: nobody serves who waits; 34: nor is a
# continuation there that another thread was about to call.
step_mutate(src/waiting/waiters.c "if (cell_phase(word) >= GIVEN)\n\t\t\tpool->backend->put_free"
	"if (verify_mutant != 32 && cell_phase(word) >= GIVEN)\n\t\t\tpool->backend->put_free")
step_mutate(src/api/process.c "if (pool->core)\n\t\t\tresize_serve_if_wanted"
	"if (verify_mutant != 33 && pool->core)\n\t\t\tresize_serve_if_wanted")
step_mutate(src/waiting/waiters.c "serving_begin(&here, pool, cell);" "serving_begin(&here, pool, cell);\n\tif (verify_mutant == 34)\n\t\tcell_vacate(&pool->waiters, cell);")
step_mutate(src/waiting/waiters.c "cell_vacate(&pool->waiters, cell);\n\tthen("
	"if (verify_mutant != 34)\n\t\tcell_vacate(&pool->waiters, cell);\n\tthen(")

file(GLOB_RECURSE step_files RELATIVE ${step_changed} ${step_changed}/*)
foreach(file IN LISTS step_files)
	cmake_path(GET file PARENT_PATH folder)
	file(MAKE_DIRECTORY ${step_mutants}/${folder})
	file(COPY_FILE ${step_changed}/${file} ${step_mutants}/${file} ONLY_IF_DIFFERENT)
endforeach()
list(TRANSFORM LFPOOL_SOURCES PREPEND ${step_mutants}/ OUTPUT_VARIABLE step_mutant_sources)
add_library(verify_step_mutants_lfpool STATIC ${step_mutant_sources})
lfpool_house_rules(verify_step_mutants_lfpool)
target_compile_options(verify_step_mutants_lfpool PUBLIC -include ${CMAKE_CURRENT_SOURCE_DIR}/mutant.h)
target_include_directories(verify_step_mutants_lfpool PUBLIC ${step_mutants}/include PRIVATE ${step_mutants}/src)
target_link_libraries(verify_step_mutants_lfpool PUBLIC Threads::Threads)

step_all_parts(verify_step_mutants_parts verify_step_mutants_lfpool ${step_mutants}/src)
step_program(verify_step_mutants "verify_step_mutants_parts;verify_step_mutants_parts_stop" freeze.c heirs.c)
step_program(verify_step_mutants_pairs "verify_step_mutants_parts;verify_step_mutants_parts_stop" pairs.c)
step_test(control.mutant.13 verify_step_mutants_pairs --mutant 13)

# step_mutant(NUMBER PASS OPERATION): is caught by this pass over this operation.
function(step_mutant number pass operation)
	step_test(control.mutant.${number} verify_step_mutants ${pass} --only ${operation} --mutant ${number})
endfunction()
step_mutant(1 never "acquire, refill full")
step_mutant(2 never "acquire, carve")
step_mutant(3 never "acquire, swap back")
step_mutant(4 hold "acquire, swap back")
step_mutant(5 fork "acquire, swap back")
step_mutant(6 never "cache destroy")
step_mutant(7 never "acquire, rob a previous")
step_mutant(8 never "acquire, swap back")
step_mutant(9 control "acquire, swap back")
step_mutant(10 hold "acquire, steal one")
step_mutant(11 hold "acquire, steal one")
step_mutant(12 give-back "release hit, inlined")
step_mutant(14 control "pool create")
step_mutant(15 hold "release, into quarantine")
step_mutant(16 control "release, to a call that sleeps")
step_mutant(17 control "trim, cools")
step_mutant(18 hold "cancel a continuation")
step_mutant(19 hold "release, to a continuation")
step_mutant(20 control "trim, gives back")
step_mutant(31 control "retire poll")
step_mutant(32 heirs "acquire wait 1 ns")
step_mutant(33 heirs "acquire wait 1 ns")
step_mutant(34 heirs "release, to a continuation")

step_program(verify_step_mutants_evict "verify_step_mutants_parts_evict;verify_step_mutants_parts_stop" evict.c evict_meet.c)

function(step_evict_mutant number pass operation)
	step_test(control.mutant.${number} verify_step_mutants_evict ${pass} --only ${operation} --mutant ${number})
endfunction()
step_evict_mutant(21 never "update, climbs nowhere")
step_evict_mutant(22 control "update, climbs nowhere")
step_evict_mutant(23 control "pin, the least")
step_evict_mutant(24 never "pin, the least")
step_evict_mutant(25 never "publish, climbs to the root")
step_evict_mutant(26 hold "acquire, evicts")
step_evict_mutant(27 give-back "update, climbs nowhere")
step_evict_mutant(28 hold "release the least two")
step_evict_mutant(29 give-back "publish, climbs to the root")
step_evict_mutant(30 meet "update, climbs nowhere")
