#!/usr/bin/env python3
"""packaging.py ROOT - checks the files for package managers and CI without running them: the syntax is valid, version and sources are
those of CMakeLists.txt, the workflow has the steps of scripts/check, and each file that debian/ names exists.  conan.py runs the Conan
recipe; debian_package builds the Debian packages."""
import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

root = pathlib.Path(sys.argv[1])
lists = (root / "CMakeLists.txt").read_text()
VERSION = re.search(r"^project\(lfpool VERSION ([0-9.]+)", lists, re.MULTILINE)[1]
SOURCES = " ".join(re.findall(r"^set\(LFPOOL_(?:EMBEDDED|OTHER)_SOURCES\s([^)]*)\)", lists, re.MULTILINE)).split()
script = (root / "scripts/check").read_text()
STEPS = re.search(r"^all_presets=\((.*)\)", script, re.MULTILINE)[1].split()
STEPS += [rung.parent.name for rung in root.glob("verify/*/CMakeLists.txt")]


def same(what, found, expected):
    if found != expected:
        raise ValueError(f"{what}: {found}, not {expected}")


def names(patterns, exclude=()):
    return {path.relative_to(root).as_posix() for pattern in patterns for path in root.glob(pattern)} - (names(exclude) if exclude else set())


def bazel(text):
    """These files use only the part of Starlark that is also Python."""
    rules = []
    words = {"load": lambda *_: None, "glob": names, "__builtins__": {}}
    words |= {rule: lambda **rule: rules.append(rule) for rule in ("cc_library", "bazel_dep", "module")}
    exec(compile(text, "bazel", "exec"), words)
    if "version" in rules[0]:
        same("version", rules[0]["version"], VERSION)
    else:
        same("sources", rules[0]["srcs"], set(SOURCES))


def cmake(text):
    """Runs the port with empty replacements for vcpkg's functions."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "portfile.cmake")
        known = "vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright"
        stubs = "".join(f"function({name})\nendfunction()\n" for name in known.split())
        here = f"set(CURRENT_PORT_DIR {root}/packaging/vcpkg/lfpool)\nset(CURRENT_PACKAGES_DIR {folder}/packages)\n"
        check = f'if(NOT SOURCE_PATH STREQUAL "{root.resolve()}")\nmessage(FATAL_ERROR "${{SOURCE_PATH}}")\nendif()\n'
        file.write_text(stubs + here + text + check)
        subprocess.run(["cmake", "-P", file], check=True, capture_output=True)


def python(text):
    ast.parse(text)
    same("version", re.search(r'^    version = "(.*)"', text, re.MULTILINE)[1], VERSION)


def workflow(text):
    jobs = yaml.safe_load(text)["jobs"]
    steps = " ".join(jobs["check"]["strategy"]["matrix"]["steps"]).split()
    same("steps", sorted(steps), sorted(STEPS))


def debian_rules(text):
    """debian/rules compiles tests/*/test_NAME.c for each NAME of a list: exactly one file must exist for each."""
    listed = re.search(r"^tests = (.*)$", text, re.MULTILINE)[1].split()
    same("tests", {name: len(names([f"tests/*/test_{name}.c"])) for name in listed}, dict.fromkeys(listed, 1))
    same("the loop over tests", "tests/*/test_$$test.c" in text, True)


def debian_files(text):
    """The named files exist in the source tree.  (debian_package checks installed files, those of debian/*.install.)"""
    same("files", {name: len(names([name])) > 0 for name in text.split()}, dict.fromkeys(text.split(), True))


def says(pattern):
    return lambda text: same("version", re.search(pattern, text)[1], VERSION)


CHECKS = {
    "BUILD.bazel": bazel,
    "MODULE.bazel": bazel,
    "packaging/vcpkg/lfpool/vcpkg.json": lambda text: same("version", json.loads(text)["version"], VERSION),
    "packaging/vcpkg/lfpool/portfile.cmake": cmake,
    "packaging/conan/conanfile.py": python,
    ".github/workflows/check.yml": workflow,
    "meson.build": says(r"version: '([0-9.]+)'"),
    "debian/rules": debian_rules,
    "debian/liblfpool-dev.docs": debian_files,
    "debian/liblfpool-dev.examples": debian_files,
    "debian/changelog": says(r"^lfpool \(([0-9.]+)\)"),
    "CHANGELOG.md": says(r"\n## ([0-9.]+)"),
}
for name, check in CHECKS.items():
    check((root / name).read_text())
print(f"{len(CHECKS)} files")
