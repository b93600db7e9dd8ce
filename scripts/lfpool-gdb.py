# SPDX-License-Identifier: MIT
# lfpool-gdb.py - the command "lfpool" for gdb: shows pools, caches and holders in a core file or a stopped process.  It calls nothing
# in the process; the library must be built with -g.  docs/debugging.md, "In gdb".
import functools
import os

import gdb

MASK16, MASK24, MASK32 = 0xFFFF, 0xFFFFFF, 0xFFFFFFFF


def number(value):
    """An integer of a field, also of an atomic one."""
    return int(value.cast(gdb.lookup_type("unsigned long long")))


def of_type(name, value):
    return value.cast(gdb.lookup_type("struct " + name).pointer()).dereference()


def is_ours(pc):
    """Is this address in a function of the library?"""
    known, block, function = gdb.lookup_global_symbol("lfpool_acquire"), gdb.block_for_pc(pc), None
    while block and not block.is_global:
        # The outermost, not one that is inlined into it.
        function, block = block.function or function, block.superblock
    if not known or not function:
        return False
    # Paths as the compiler was given them: in a folder with api/calls.c, or in one file with lfpool_acquire().
    file, calls = function.symtab.filename, os.path.join("api", "calls.c")
    return file.startswith(known.symtab.filename[: -len(calls)]) if known.symtab.filename.endswith(calls) else file == known.symtab.filename


def callers(names, pc):
    """The names of functions without the library's, which come first, unless the library left them out."""
    first = next((i for i, name in enumerate(names) if name.startswith("lfpool_")), None)
    if first is None or not is_ours(pc):
        return names
    return names[next((i for i in range(first, len(names)) if not names[i].startswith("lfpool_")), first):]


def pools():
    """Every living pool, of each copy of the library in the process."""
    tables = [s for s in gdb.lookup_static_symbols("places") if str(s.type) == "struct pool_place *"]
    # Once, because the search for a complete type takes milliseconds.
    pointer = gdb.lookup_type("struct lfpool_t").pointer() if tables else None
    for table, count in zip(tables, gdb.lookup_static_symbols("place_count")):
        for i in range(number(count.value())):
            if number(table.value()[i]["pool"]):
                yield table.value()[i]["pool"].cast(pointer).dereference()


class Pool:
    """The library's answers, computed from its structs."""

    def __init__(self, pool):
        self.pool, self.address = pool, number(pool.address)
        self.name = pool["name"].string(errors="replace")
        self.backend = str(pool["backend_kind"]).replace("LFPOOL_BACKEND_", "").lower()
        self.core = pool["core"]
        self.arena, cold = self.core["arena"], self.core["cold"]
        self.capacity = number(cold["counts"]) >> 32
        initial, depot = number(cold["initial"]), self.core["depot"]
        self.slots = number(self.core["magazines"]["slots"])
        shards = [depot["shard"][i] for i in range(number(depot["shards"]))]
        ends = [number(s["before"]) + number(s["carved"]) for s in shards if number(s["carved"])]
        self.used = number(cold["reached"]) or min(max(ends, default=0) * self.slots, initial)
        self.zero, self.stride = number(self.arena["zero"]), number(self.arena["stride"])

    @functools.cached_property
    def active(self):
        return self.used - self.states.count(0)

    @functools.cached_property
    def states(self):
        """Of slots 1 .. used: 0 is free.  One word per granule, starting at the first object's (src/core/arena.h)."""
        if not self.used:
            return []
        face, word = self.arena["face"], gdb.lookup_type("unsigned long").sizeof
        grain, first = number(face["grain"]), number(face["first"])
        places = [((self.zero + slot * self.stride) >> grain) - first for slot in range(1, self.used + 1)]
        words = gdb.selected_inferior().read_memory(number(face["state"]), (places[-1] + 1) * word)
        states = memoryview(words.tobytes()).cast("Q" if word == 8 else "I")
        return [states[place] for place in places]

    def object(self, slot):
        at = self.zero + slot * self.stride
        # In malloc mode it is a pointer.
        return number(gdb.Value(at).cast(gdb.lookup_type("unsigned long").pointer()).dereference()) if self.backend == "malloc" else at

    def slot(self, address):
        """The slot of the object that contains this address; 0: none."""
        if self.backend == "malloc":
            return next((s for s in self.held() if 0 <= address - self.object(s) < number(self.pool["object_size"])), 0)
        slot = (address - self.zero) // self.stride
        return slot if 0 < slot <= number(self.arena["slots"]) else 0

    def held(self):
        return (i + 1 for i, state in enumerate(self.states) if state)

    def place(self, n):
        """The address of magazine n."""
        ms = self.core["magazines"]
        base, index = number(ms["chunk_base"]), n - 1
        first = number(ms["chunks"]) + number(ms["spares"])
        if n > first:
            # The first lot has EXTRA_PER_CACHE * LOT_CACHES, each further one twice as many as the one before.
            lot = ((n - first - 1) // 48 + 1).bit_length() - 1
            base, index = number(ms["extra_lot"][lot]), n - first - 1 - 48 * ((1 << lot) - 1)
        return base + index * number(ms["bytes"])

    def magazine(self, word):
        """The number of objects in the magazine that a tagged word names."""
        n = number(word) & MASK24
        if not n:
            return 0
        m = of_type("lfpool_magazine", gdb.Value(self.place(n)))
        home = 4  # words before the entries
        if not number(m["number"]) and not number(m["bottom"]):
            return self.slots
        count = (number(m["bottom"]) - (number(m["top"]) or home)) & MASK16
        return count if count <= self.slots else 0

    def caches(self):
        """Each cache that was ever used."""
        table, each = self.core["table"], gdb.lookup_type("struct cache").sizeof
        for index in range(number(table["count"])):
            lot = (index // 16 + 1).bit_length() - 1
            at = number(table["lot"][lot]) + (index - 16 * ((1 << lot) - 1)) * each
            cache = of_type("cache", gdb.Value(at))
            if number(cache["born"]):
                yield cache

    def cached(self, cache):
        words = {number(cache[w]) & MASK24 for w in ("current_word", "in_transit")}
        top = number(cache["full"]["head"]) & MASK24
        depth = number(of_type("lfpool_magazine", gdb.Value(self.place(top)))["next"]) >> 32 if top else 0
        return sum(self.magazine(gdb.Value(w)) for w in words) + depth * self.slots

    def owner(self, slot):
        """The record of the debug mode "owner", or None."""
        lifecycle = self.pool["lifecycle"]
        debug = lifecycle["debug"] if number(lifecycle) else None
        records = debug["owners"]["record"] if debug is not None and number(debug) else None
        return records[slot] if records is not None and number(records) else None

    def holder(self, slot):
        record = self.owner(slot)
        if record is None:
            return None
        label, end = record["label"], record["acquired"]
        who = '"%s"' % label.cast(gdb.lookup_type("char").pointer()).string(errors="replace") if number(label) else "thread %d" % number(end["thread"])
        calls = [number(end["frame"][i]) for i in range(number(end["frames"]))]
        frames = [gdb.execute("info symbol %d" % call, to_string=True) for call in calls]
        names = [f.split(" in section")[0].replace(" ", "") for f in frames if not f.startswith("No symbol")]
        # A return address may be the first byte of the next function.
        names = callers(names, calls[0] - 1) if calls else names
        return who + (" at " + " < ".join(names[:4]) if names else "")


def users():
    """For each cache: the threads whose own cache it is."""
    found, selected = {}, gdb.selected_thread()
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        try:
            table = gdb.parse_and_eval("lfpool_thread_.table")
            for i in range(number(table[-1]["pool_id"]) + 1):
                if number(table[i]["pool_id"]) >> 24:
                    found.setdefault(number(table[i]["cache"]), []).append("thread %d (LWP %d)" % (thread.num, thread.ptid[1]))
        except gdb.error:
            pass  # no thread-local variables in this core
    if selected:
        selected.switch()
    return found


class Command(gdb.Command):
    """lfpool               all pools of the process
lfpool NAME          the caches of the pools of this name, with their owners; the holders of objects
lfpool EXPRESSION    the pool, slot and holder of the object at this address; or a pool, by its address"""

    def __init__(self):
        super().__init__("lfpool", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        everything = [Pool(p) for p in pools()]
        if not everything:
            raise gdb.GdbError("no pools: none is alive, or the library was built without -g")
        if not argument:
            return self.table(everything)
        shown = [p for p in everything if p.name == argument.strip('"')]
        if not shown:
            address = int(gdb.parse_and_eval(argument).cast(gdb.lookup_type("unsigned long long")))
            shown = [p for p in everything if p.address == address]
            if not shown:
                return self.object(everything, address)
        for pool in shown:
            self.table([pool])
            self.caches(pool)
            self.holders(pool)

    def table(self, shown):
        print("%-18s %-20s %-8s %8s %10s %8s %8s %7s" % ("pool", "name", "backend", "bytes", "capacity", "active", "cached", "misuses"))
        for p in shown:
            cached = sum(p.cached(c) for c in p.caches())
            print("0x%-16x %-20s %-8s %8d %10d %8d %8d %7d" % (p.address, p.name, p.backend, number(p.pool["object_size"]), p.capacity,
                                                              p.active, cached, number(p.pool["misuses"])))

    def caches(self, pool):
        whose = users()
        for cache in pool.caches():
            at = number(cache.address)
            state = ", ".join(whose.get(at, ["a handle, or a call" if number(cache["claimed"]) else "unused"]))
            print("  cache 0x%x  %5d free  %s" % (at, pool.cached(cache), state))

    def holders(self, pool):
        rows = {}
        for slot in pool.held():
            rows.setdefault(pool.holder(slot), []).append(slot)
        for who, slots in sorted(rows.items(), key=lambda row: -len(row[1])):
            some = " ".join("0x%x" % pool.object(s) for s in slots[:4])
            print("  %5d held by %s: %s%s" % (len(slots), who or 'unknown (LFPOOL_DEBUG=owner records holders)', some, " ..." if len(slots) > 4 else ""))

    def object(self, everything, address):
        for pool in everything:
            slot = pool.slot(address)
            if slot:
                held = slot <= pool.used and pool.states[slot - 1]
                offset = address - pool.object(slot)
                print('0x%x: pool "%s", object 0x%x%s, index %d, %s' % (address, pool.name, pool.object(slot), " + %d" % offset if offset else "", slot - 1,
                      "held by " + (pool.holder(slot) or "unknown") if held else "free" if slot <= pool.used else "never used"))
                return
        raise gdb.GdbError("no pool has this name, and no pool an object at this address")


Command()
