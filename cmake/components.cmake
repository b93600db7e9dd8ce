# The optional components: deferred release through liburcu (lfpool::rcu) and through ConcurrencyKit (lfpool::ck). Each is built
# if its library is installed; lfpool itself needs neither.  A project that embeds lfpool requests the ones it needs.
option(LFPOOL_RCU "Build the component lfpool-rcu, if liburcu's headers are installed" ${PROJECT_IS_TOP_LEVEL})
option(LFPOOL_CK "Build the component lfpool-ck, if ConcurrencyKit is installed" ${PROJECT_IS_TOP_LEVEL})

# lfpool_component(NAME SOURCE INCLUDE [LIBRARY]): lfpool-NAME, in our programs lfpool::NAME.
function(lfpool_component name source include)
	add_library(lfpool-${name} ${source})
	add_library(lfpool::${name} ALIAS lfpool-${name})
	lfpool_house_rules(lfpool-${name})
	# Their headers are system headers, so that our warnings skip them.
	target_include_directories(lfpool-${name} SYSTEM PRIVATE ${include})
	target_link_libraries(lfpool-${name} PUBLIC lfpool::lfpool PRIVATE ${ARGN})
	lfpool_installed(lfpool-${name})
endfunction()

# The search finds libraries of this machine, not of one that we cross-compile for.
if(LFPOOL_RCU AND NOT CMAKE_CROSSCOMPILING)
	# No library: the program links the flavour, whose struct contains all functions that are called.
	find_path(LFPOOL_URCU_INCLUDE urcu/flavor.h)
	mark_as_advanced(LFPOOL_URCU_INCLUDE)
	if(LFPOOL_URCU_INCLUDE)
		lfpool_component(rcu src/retire/scheme_rcu.c ${LFPOOL_URCU_INCLUDE})
	else()
		message(STATUS "lfpool without lfpool-rcu: urcu/flavor.h is not installed")
	endif()
endif()
if(LFPOOL_CK AND NOT CMAKE_CROSSCOMPILING)
	find_path(LFPOOL_CK_INCLUDE ck_epoch.h)
	find_library(LFPOOL_CK_LIBRARY ck)
	mark_as_advanced(LFPOOL_CK_INCLUDE LFPOOL_CK_LIBRARY)
	if(LFPOOL_CK_INCLUDE AND LFPOOL_CK_LIBRARY)
		# The path is valid on this machine; an installed package finds its own (cmake/lfpool-config.cmake).
		lfpool_component(ck src/retire/scheme_epoch.c ${LFPOOL_CK_INCLUDE}
			$<BUILD_INTERFACE:${LFPOOL_CK_LIBRARY}> $<INSTALL_INTERFACE:lfpool::concurrencykit>)
	else()
		message(STATUS "lfpool without lfpool-ck: ConcurrencyKit is not installed")
	endif()
endif()
