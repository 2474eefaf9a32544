"""The library for other systems: python3 native/build.py PLATFORM..., with `this` for this machine's and `all` for all.

Everything is linked statically but the system's own libraries, by zig's C compiler and its copies of the systems' headers.
The same sources give the same bytes: nothing tells when, where or by whom it was built.
"""
import concurrent.futures
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import sources
from release import BUILD, PLATFORMS, ROOT, Failed, chosen_platforms, library_of, main, run

ZSTD = sources.UNPACKED / "zstd" / "zstd" / "lib"
ZLIB = sources.UNPACKED / "zlib" / "src" / "zlib"
ISAL = sources.UNPACKED / "isa-l" / "isa-l"
AWSLC = sources.UNPACKED / "aws-lc" / "aws-lc"
SQLITE = sources.UNPACKED / "sqlite" / "sqlite3"
XXHASH = sources.UNPACKED / "xxhash" / "deps" / "xxhash"

# zlib's parts for compressing; compress.c has the bound of that.
ZLIB_C = ["deflate.c", "trees.c", "zutil.c", "adler32.c", "crc32.c", "compress.c"]

# ISA-L's parts for CRCs and for inflating; isal_inflate.c stands for what would bring its compressor along.
ISAL_C = ["crc/crc_base.c", "crc/crc64_base.c", "igzip/igzip_inflate.c", "igzip/hufftables_c.c"]
ISAL_X64 = ["igzip/igzip_inflate_multibinary.asm", "igzip/igzip_decode_block_stateless_01.asm",
            "igzip/igzip_decode_block_stateless_04.asm", "igzip/rfc1951_lookup.asm"]
ISAL_ARM64 = ["igzip/aarch64/igzip_decode_huffman_code_block_aarch64.S"]


class Target:
    """What differs from system to system."""

    def __init__(self, name):
        self.name = name
        self.target = PLATFORMS[name]["target"]
        self.x64 = self.target.startswith("x86_64")
        self.windows = "windows" in self.target
        self.macos = "macos" in self.target
        self.linux = "linux" in self.target
        self.objects = BUILD / "native" / name / "objects"

    def common(self):
        """What every C file is compiled with; and nothing of where that is."""
        own = ["-include", HERE / "glibc.h"] if "gnu.2" in self.target else []
        return [*own, "-target", self.target, "-O2", "-DNDEBUG", "-g0", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden",
                "-ffunction-sections", "-fdata-sections", "-fno-sanitize=undefined",
                f"-ffile-prefix-map={sources.UNPACKED}=.", f"-ffile-prefix-map={ROOT}=."]

    def extension(self):
        files = sorted((ROOT / "ext").glob("*.c"))
        files += sorted(f for part in ("core", "container", "tensor", "sqlite") for f in (ROOT / "ext" / part).glob("*.c"))
        if not self.windows:
            files.remove(ROOT / "ext" / "core" / "sha256_libcrypto.c")
            files.append(HERE / ("sha256_commoncrypto.c" if self.macos else "sha256_awslc.c"))
        if self.x64:
            files.append(HERE / "cpu_model.c")
        headers = BUILD / "include"
        flags = ["-std=c11", f"-I{ROOT / 'ext'}", f"-I{headers}", f"-I{ZSTD}", f"-I{ZLIB}", f"-I{XXHASH}", f"-I{SQLITE}"]
        return [(f, flags) for f in files]

    def zstd(self):
        files = sorted(f for part in ("common", "compress", "decompress") for f in (ZSTD / part).glob("*.c"))
        flags = [f"-I{ZSTD}", "-DZSTD_TRACE=0", "-DZSTD_LEGACY_SUPPORT=0", "-DXXH_NAMESPACE=ZSTD_"]
        if self.x64:
            files += (ZSTD / "decompress").glob("*.S")
        return [(f, flags) for f in files]

    def zlib(self):
        return [(ZLIB / f, []) for f in ZLIB_C]

    def isal(self):
        include = [f"-I{ISAL / part}" for part in ("include", "igzip", "crc")]
        files = [ISAL / f for f in ISAL_C]
        if self.x64:
            assembly = [*sorted((ISAL / "crc").glob("*.asm")), *(ISAL / f for f in ISAL_X64)]
        else:
            include += [f"-I{ISAL / 'crc/aarch64'}", f"-I{ISAL / 'igzip/aarch64'}"]
            files += sorted((ISAL / "crc" / "aarch64").glob("*_dispatcher.c")) + [ISAL / "crc/aarch64/crc64_rocksoft.c"]
            assembly = sorted(f for f in (ISAL / "crc" / "aarch64").glob("*.S") if not f.name.startswith("crc32_common"))
            assembly = [f for f in assembly if f.name != "crc32_mix_default_common.S"] + [ISAL / f for f in ISAL_ARM64]
        stand_in = (HERE / "isal_inflate.c", [*include, f"-I{ZLIB}"])
        return [*((f, include) for f in files), stand_in] + [(f, [*include, "-D__ASSEMBLY__"]) for f in assembly]

    def awslc(self):
        if not self.linux:
            return []
        name = "linux-x86_64/crypto/fipsmodule/sha256-x86_64.S" if self.x64 else "linux-aarch64/crypto/fipsmodule/sha256-armv8.S"
        return [(AWSLC / "generated-src" / name, [f"-I{AWSLC / 'include'}"])]

    def link(self):
        flags = ["-shared", "-s"]
        if self.linux:
            flags += ["-Wl,-z,defs", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,--gc-sections", f"-Wl,--version-script={HERE / 'exports.map'}",
                      "-lm", "-ldl", "-lpthread"]
        if self.windows:
            flags += ["-Wl,--gc-sections", "-lbcrypt"]
        if self.macos:
            flags += ["-Wl,-dead_strip", "-Wl,-install_name,@rpath/ztensor.dylib"]
        return flags

    def assembler(self):
        """Of ISA-L for x86-64, which zig has none for."""
        form = "macho64" if self.macos else "win64" if self.windows else "elf64"
        flags = ["-f", form, "-DHAVE_AS_KNOWS_AVX512", "-DAS_FEATURE_LEVEL=10", f"-I{ISAL / 'include'}/", f"-I{ISAL / 'igzip'}/",
                 f"-I{ISAL / 'crc'}/"]
        return flags + (["--prefix", "_"] if self.macos else [])

    def compile(self, number, file, flags):
        made = self.objects / f"{number:03}-{file.stem}.o"
        if file.suffix == ".asm":
            # Its name would be in the object
            run("nasm", *self.assembler(), "-o", made, file.name, cwd=file.parent)
        else:
            common = self.common() if file.suffix == ".c" else ["-target", self.target]
            run(*ZIG, *common, *flags, "-c", "-o", made, file)
        return made

    def build(self, pool):
        shutil.rmtree(self.objects, ignore_errors=True)
        self.objects.mkdir(parents=True)
        parts = [*self.extension(), *self.zstd(), *self.zlib(), *self.isal(), *self.awslc()]
        objects = list(pool.map(lambda part: self.compile(*part), [(i, *part) for i, part in enumerate(parts)]))
        library = library_of(self.name)
        made = self.objects / library.name
        run(*ZIG, "-target", self.target, *self.link(), "-o", made, *objects)
        made.replace(library)
        shutil.rmtree(self.objects)
        return library


# All that zig keeps is below build/
ZIG = [sources.TOOLS / "bin" / "python", "-m", "ziglang", "cc"]
os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(BUILD / "zig")


def build(*names):
    names = chosen_platforms(names)
    sources.fetch()
    headers = BUILD / "include" / "isa-l"
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(ISAL / "include", headers)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name in names:
            library = Target(name).build(pool)
            print(f"{name}: {library.relative_to(ROOT)}, {library.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main(build)
