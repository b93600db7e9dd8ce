#!/usr/bin/env python3
"""conan.py ROOT OUT [without PATTERN] - runs packaging/conan/conanfile.py with replacements for its imports from Conan: copies the
files that it exports to OUT, configures, builds and installs them there.  This fails if a file that the build reads is not exported.

    without PATTERN   the control: the recipe does not name PATTERN, and the build must fail.
"""
import fnmatch
import pathlib
import shutil
import subprocess
import sys
import types

root, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
missing = sys.argv[4] if len(sys.argv) > 4 else None
source, build, installed = out / "source", out / "build", out / "installed"


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-3000:])
        sys.exit(f"conan.py: with the files that the recipe exports this fails: {' '.join(map(str, command))}")


def copy(_, pattern, src, dst):
    """As Conan's copy(): * of a pattern matches / too.  A pattern that matches no file is an error here."""
    if pattern == missing:
        return
    src = pathlib.Path(src).resolve()
    top = src / pattern.split("*")[0]
    files = [top] if top.is_file() else [file for file in top.rglob("*") if file.is_file()]
    files = [file for file in files if fnmatch.fnmatch(file.relative_to(src).as_posix(), pattern)]
    if not files:
        sys.exit(f"conan.py: the recipe exports {pattern}, which matches no file")
    for file in files:
        to = pathlib.Path(dst, file.relative_to(src))
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, to)


class Toolchain:
    variables = {}

    def __init__(self, _):
        self.cache_variables = Toolchain.variables

    def generate(self):
        pass


class CMake:
    def __init__(self, _):
        pass

    def configure(self):
        options = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in Toolchain.variables.items()]
        # The result is not run, so build it fast: as one file, without optimisation.
        run("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_UNITY_BUILD=ON", f"-DCMAKE_INSTALL_PREFIX={installed}", *options)

    def build(self):
        run("cmake", "--build", build)

    def install(self):
        run("cmake", "--install", build)


stand_ins = {
    "conan": {"ConanFile": object},
    "conan.tools": {},
    "conan.tools.cmake": {"CMake": CMake, "CMakeToolchain": Toolchain, "cmake_layout": lambda _: None},
    "conan.tools.files": {"copy": copy},
}
for name, contents in stand_ins.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(contents)

shutil.rmtree(out, ignore_errors=True)
source.mkdir(parents=True)
recipe = root / "packaging/conan/conanfile.py"
names = {}
exec(compile(recipe.read_text(), str(recipe), "exec"), names)
lfpool = names["Lfpool"]()
lfpool.recipe_folder, lfpool.export_sources_folder, lfpool.cpp_info = str(recipe.parent), str(source), types.SimpleNamespace()
for step in ("export_sources", "layout", "generate", "build", "package", "package_info"):
    getattr(lfpool, step)()
for library in lfpool.cpp_info.libs:
    if not list(installed.glob(f"lib*/**/lib{library}.a")):
        sys.exit(f"conan.py: package_info() names {library}, which was not installed")
print(f"{sum(file.is_file() for file in source.rglob('*'))} files exported, built and installed")
