# The schedulers that are made here: scheduler-steal, on the job system of examples/jobs; scheduler-fibers.
lfpool_scheduler(steal LIBRARIES lfpool_job_system)
# AddressSanitizer warns that it does not fully support makecontext().
if(NOT "address" IN_LIST LFPOOL_SANITIZE)
	lfpool_scheduler(fibers SOURCES fibers.c fiber.c LIBRARIES lfpool_job_system)
	# Where a compiler would like best to remember the thread.  (clang's -flto needs a linker plug-in that is not always there.)
	target_compile_options(lfpool_scheduler_fibers PRIVATE -O3 $<$<C_COMPILER_ID:GNU>:-flto>)
	target_link_options(lfpool_scheduler_fibers PRIVATE $<$<C_COMPILER_ID:GNU>:-flto>)
endif()
