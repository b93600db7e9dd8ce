"""lfpool for Conan 2, of the source tree that this recipe lies in.  tests/install/conan.py builds what it exports, without Conan."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Lfpool(ConanFile):
    name = "lfpool"
    version = "0.2.0"
    description = "A thread-safe, lock-free object pool in C11"
    license = "MIT"
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "docs/reference/*", "include/*", "scripts/lfpool-gdb.py", "scripts/reference", "src/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_TESTS", "BUILD_STRESS", "BUILD_BENCH", "BUILD_EXAMPLES", "RCU", "CK"):
            toolchain.cache_variables["LFPOOL_" + part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["lfpool"]
        self.cpp_info.system_libs = ["pthread", "dl"]
