"""Third-party sources, in assembly or compiled languages, fetched from Debian.

``PACKAGES`` lists the code bases. apt-get puts the sources into a cache folder; the project contains none of
them. A minimal configuration replaces that of each project's own build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from compiled_code import clang, gcc, gcc_intel, rustc
from fetching import CACHE, Source, Unavailable, fetch, fetch_crate, made
from msgspec.structs import replace


def glibc() -> Iterator[Source]:
    """The string and memory routines, several versions each."""
    root = fetch("glibc")
    work = made("glibc")
    (work / "config.h").write_text("#define HAVE_CET 0\n")
    modules = ("testsuite", "LIBS_BEGIN", "libc", "rtld", "libpthread")
    (work / "libc-modules.h").write_text(
        "".join(f"#define MODULE_{name} {number}\n" for number, name in enumerate(modules, 1))
    )
    system = "sysdeps/unix/sysv/linux"
    folders = (
        *(f"{system}/{name}" for name in ("x86_64/64", "x86_64", "x86", "wordsize-64")),
        *("sysdeps/x86_64/nptl", "sysdeps/nptl", system, "sysdeps/unix/x86_64", "sysdeps/unix"),
        *("sysdeps/x86_64/64", "sysdeps/x86_64/multiarch", "sysdeps/x86_64", "sysdeps/x86/include"),
        *("sysdeps/x86", "sysdeps/ieee754", "sysdeps/generic", "include", ""),
    )
    for folder in ("sysdeps/x86_64/multiarch", "sysdeps/x86_64"):
        for path in sorted((root / folder).glob("*.S")):
            if re.match(r"(?:mem|raw|stp|str|wcs|wmem)(?!.*(?:_chk|nonshared))", path.name):
                include = tuple(root / name for name in (folder, *folders))
                # glibc's own build names these headers on the command line.
                target = work / f"{Path(folder).name}-{path.name}"
                headers = '#include "libc-modules.h"\n#include "libc-symbols.h"\n'
                target.write_text(headers + path.read_text(errors="replace"))
                defines = ("MODULE_NAME=libc", "USE_MULTIARCH=1", "__OPTIMIZE__=1")
                yield Source(path.name, target, CACHE, (work, *include), defines)


def openssl() -> Iterator[Source]:
    """Output of the Perl scripts of three ciphers."""
    root = fetch("openssl")
    if shutil.which("perl") is None:
        raise Unavailable("perl is not installed")
    work = made("openssl")
    for script in ("aes/asm/aesni-x86_64", "chacha/asm/chacha-x86_64", "camellia/asm/cmll-x86_64"):
        path = work / f"{Path(script).name}.s"
        if not path.is_file():
            command = ["perl", str(root / "crypto" / f"{script}.pl"), "elf", str(path)]
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"CC": "cc"})
        yield Source(path.name, path, work)


def openblas() -> Iterator[Source]:
    """The matrix kernels for Haswell and Skylake-X."""
    root = fetch("openblas")
    work = made("openblas")
    (work / "config.h").write_text(
        "#define OS_LINUX 1\n#define ARCH_X86_64 1\n#define C_GCC 1\n#define __64BIT__ 1\n#define HASWELL\n"
        "#define L1_DATA_LINESIZE 64\n#define DTB_DEFAULT_ENTRIES 64\n"
    )
    for path in sorted((root / "kernel/x86_64").glob("*.S")):
        if re.search("haswell|skylakex", path.name):
            kind = path.name[0]
            defines = ["ASSEMBLER", "ASMNAME=kernel", "ASMFNAME=kernel_", "NAME=kernel_", "CNAME=kernel"]
            defines += ['CHAR_NAME="kernel_"', 'CHAR_CNAME="kernel"', "F_INTERFACE_GFORT"]
            defines += ["DOUBLE"] if kind in "dz" else []
            defines += ["COMPLEX"] if kind in "cz" else []
            yield Source(path.name, path, root, (work, root, path.parent), tuple(defines))


def gmp() -> Iterator[Source]:
    """The multiple-precision routines, expanded by m4."""
    root = fetch("gmp")
    if shutil.which("m4") is None:
        raise Unavailable("m4 is not installed")
    work = made("gmp")
    (work / "mpn").mkdir(exist_ok=True)
    (work / "config.m4").write_text(_GMP_CONFIGURATION.replace("ROOT", str(root)))
    for folder in ("", "fastavx", "fastsse", "core2", "coreisbr", "coreihwl", "coreibwl"):
        for path in sorted((root / "mpn/x86_64" / folder).glob("*.asm")):
            operations = re.findall(r"MULFUNC_PROLOGUE\(([^)]*)\)", path.read_text(errors="replace"))
            operation = operations[0].split()[0] if operations else path.stem
            name = f"{folder or 'x86_64'}-{path.stem}.s"
            target = work / "mpn" / name
            if not target.is_file():
                done = subprocess.run(
                    [
                        "m4",
                        "-DHAVE_CONFIG_H",
                        "-D__GMP_WITHIN_GMP",
                        f"-DOPERATION_{operation}",
                        "-DPIC",
                        str(path),
                    ],
                    cwd=work / "mpn",
                    capture_output=True,
                    check=False,
                )
                if done.returncode:
                    continue
                target.write_bytes(done.stdout)
            yield Source(name, target, work)


_GMP_CONFIGURATION = """\
changequote(<,>)
ifdef(<__CONFIG_M4_INCLUDED__>,,<
define(<CONFIG_TOP_SRCDIR>,<ROOT>)
define(<WANT_ASSERT>,0)
define(<WANT_PROFILING>,<no>)
define(<M4WRAP_SPURIOUS>,<no>)
define(<TEXT>, <.text>)
define(<DATA>, <.data>)
define(<LABEL_SUFFIX>, <:>)
define(<GLOBL>, <.globl>)
define(<GLOBL_ATTR>, <>)
define(<GSYM_PREFIX>, <>)
define(<RODATA>, <\t.section\t.rodata>)
define(<TYPE>, <.type\t$1,@$2>)
define(<SIZE>, <.size\t$1,$2>)
define(<LSYM_PREFIX>, <.L>)
define(<W32>, <.long>)
define(<ALIGN_LOGARITHMIC>,<no>)
define(<ALIGN_FILL_0x90>,<no>)
define(<HAVE_COFF_TYPE>, <no>)
define(<HAVE_ABI_64>)
define(<GMP_LIMB_BITS>,64)
define(<GMP_NUMB_BITS>,64)
define(<GMP_NAIL_BITS>,0)
define(<HAVE_HOST_CPU_skylake>)
define(<HAVE_DOUBLE_IEEE_little_endian>)
>)
changequote(`,')
include(CONFIG_TOP_SRCDIR`/mpn/asm-defs.m4')
include(CONFIG_TOP_SRCDIR`/mpn/x86_64/x86_64-defs.m4')
define(`__CONFIG_M4_INCLUDED__')
"""


def dav1d() -> Iterator[Source]:
    """The AV1 decoder's kernels, with the macros of x86inc."""
    root = fetch("dav1d")
    work = made("dav1d")
    (work / "config.asm").write_text(
        "%define ARCH_X86_32 0\n%define ARCH_X86_64 1\n%define FORCE_VEX_ENCODING 0\n%define PIC 1\n"
        "%define STACK_ALIGNMENT 16\n%define private_prefix dav1d\n"
    )
    for path in sorted((root / "src/x86").glob("*.asm")):
        yield Source(path.name, path, root, (work, root / "src"))


def x264() -> Iterator[Source]:
    """The H.264 encoder's kernels, with the macros of x86inc."""
    root = fetch("x264")
    defines = ("ARCH_X86_64=1", "PIC", "STACK_ALIGNMENT=64", "HIGH_BIT_DEPTH=0", "BIT_DEPTH=8")
    for path in sorted((root / "common/x86").glob("*.asm")):
        if path.stem not in ("x86inc", "x86util") and not path.stem.endswith("-32"):
            yield Source(
                path.name, path, root, (root / "common/x86", root), (*defines, "private_prefix=x264")
            )


def aom() -> Iterator[Source]:
    """The AV1 codec's kernels, with the default configuration of its build."""
    root = fetch("aom")
    work = made("aom")
    defaults = (root / "build/cmake/aom_config_defaults.cmake").read_text()
    values = dict(re.findall(r"set_aom_(?:detect|config)_var\((\w+)\s+(\d+)", defaults)) | {
        "ARCH_X86_64": "1"
    }
    (work / "config").mkdir(exist_ok=True)
    (work / "config/aom_config.asm").write_text(
        "".join(f"{name} equ {value}\n" for name, value in values.items())
    )
    for folder in ("aom_dsp", "aom_ports", "av1"):
        for path in sorted((root / folder).rglob("*.asm")):
            yield Source(path.name, path, root, (root, work))


def ffmpeg() -> Iterator[Source]:
    """All kernels of the libraries, with the configuration that NASM reads before each of them."""
    root = fetch("ffmpeg")
    work = made("ffmpeg")
    if not (work / "config.asm").is_file():
        options = ["--disable-autodetect", "--disable-doc", "--disable-programs"]
        subprocess.run([root / "configure", *options], cwd=work, check=True, capture_output=True)
    for path in sorted(root.glob("lib*/x86/*.asm")):
        folders = (root, path.parent, work)
        yield Source(f"{path.parts[-3]}-{path.name}", path, root, folders, (), (work / "config.asm",))


def ipsec_mb() -> Iterator[Source]:
    """Intel's kernels for several buffers at once: large files that are mostly macros."""
    root = fetch("intel-ipsec-mb")
    for path in sorted((root / "lib").glob("*/*.asm")):
        yield Source(f"{path.parent.name}-{path.name}", path, root, (root / "lib", root / "lib/include"))


def isa_l() -> Iterator[Source]:
    """Intel's kernels for storage: checksums, compression, erasure codes."""
    root = fetch("libisal")
    defines = ("HAVE_AS_KNOWS_AVX512", "HAVE_AS_KNOWS_SHANI")
    for folder in ("crc", "erasure_code", "igzip", "mem", "raid"):
        for path in sorted((root / folder).glob("*.asm")):
            yield Source(f"{folder}-{path.name}", path, root, (root / "include", path.parent), defines)


def libvpx() -> Iterator[Source]:
    """The VP8 and VP9 codec's kernels, with the configuration of its build."""
    root = fetch("libvpx")
    work = made("libvpx")
    if not (work / "vpx_config.asm").is_file():
        options = ["--target=x86_64-linux-gcc", "--as=nasm", "--enable-pic", "--enable-vp9-highbitdepth"]
        subprocess.run([root / "configure", *options], cwd=work, check=True, capture_output=True)
        values = re.findall(r"#define (\w+) ([01])\b", (work / "vpx_config.h").read_text())
        (work / "vpx_config.asm").write_text("".join(f"{name} equ {value}\n" for name, value in values))
    for folder in ("vp8", "vp9", "vpx_dsp", "vpx_ports"):
        for path in sorted((root / folder).rglob("*.asm")):
            if "/x86" in str(path) or path.parent.name == "vpx_ports":
                yield Source(f"{folder}-{path.name}", path, root, (root, work))


def svt_av1() -> Iterator[Source]:
    """Another AV1 encoder's kernels."""
    root = fetch("svt-av1")
    for path in sorted((root / "Source/Lib").rglob("*.asm")):
        folders = tuple(root / f"Source/Lib/Common/{name}" for name in ("ASM_SSE2", "ASM_AVX2"))
        yield Source(path.name, path, root, (path.parent, *folders), ("UNIX64", "PIC"))


def libjpeg_turbo() -> Iterator[Source]:
    """The JPEG codec's kernels."""
    root = fetch("libjpeg-turbo")
    folders = (root / "simd/nasm", root / "simd/x86_64")
    for path in sorted((root / "simd/x86_64").glob("*.asm")):
        yield Source(path.name, path, root, folders, ("ELF", "__x86_64__", "PIC"))


def zstd() -> Iterator[Source]:
    """The Huffman decoder."""
    root = fetch("libzstd")
    path = root / "lib/decompress/huf_decompress_amd64.S"
    yield Source(path.name, path, root, (path.parent,))


def blake3() -> Iterator[Source]:
    """The hash, for four instruction sets."""
    root = fetch_crate("librust-blake3-dev")
    for path in sorted((root / "c").glob("*_unix.S")):
        yield Source(path.name, path, root, (path.parent,))


def libgcrypt() -> Iterator[Source]:
    """Ciphers, hashes and big-number routines of GnuPG's library, with every optional feature."""
    root = fetch("libgcrypt20")
    work = made("libgcrypt")
    paths = sorted([*root.glob("cipher/*amd64*.S"), *root.glob("mpi/amd64/*.S")])
    asked = "".join(path.read_text() for path in [*paths, *root.glob("cipher/asm-*amd64.h")])
    names = sorted({name for name in re.findall(r"\b(?:HAVE|USE|ENABLE)_\w+", asked) if "WIN64" not in name})
    (work / "config.h").write_text("".join(f"#define {name} 1\n" for name in names))
    (work / "sysdep.h").write_text("#define C_SYMBOL_NAME(name) name\n")
    syntax = (root / "mpi/i386/syntax.h").read_text()
    (work / "asm-syntax.h").write_text(f"#define ELF_SYNTAX\n{syntax}")
    for path in paths:
        yield Source(f"{path.parent.name}-{path.name}", path, root, (work, path.parent, root / "mpi"))


def mpg123() -> Iterator[Source]:
    """The MP3 decoder's kernels."""
    root = fetch("mpg123")
    work = made("mpg123")
    (work / "config.h").write_text("#define ASMALIGN_BALIGN 1\n")
    for path in sorted((root / "src/libmpg123").glob("*.S")):
        if re.search("x86_64|avx", path.name):
            yield Source(path.name, path, root, (work, path.parent, root / "src"))


def libsodium() -> Iterator[Source]:
    """A stream cipher and a curve, generated by a program."""
    root = fetch("libsodium")
    library = root / "src/libsodium"
    for path in sorted(library.rglob("*.S")):
        folders = (path.parent, library / "include/sodium/private", library / "include")
        yield Source(path.name, path, root, folders, ("HAVE_AMD64_ASM=1", "HAVE_AVX_ASM=1"))


def nettle() -> Iterator[Source]:
    """Ciphers and hashes, expanded by m4."""
    root = fetch("nettle")
    if shutil.which("m4") is None:
        raise Unavailable("m4 is not installed")
    work = made("nettle")
    values = {"srcdir": root, "ASM_ELF_STYLE": "yes", "ASM_COFF_STYLE": "no", "ASM_ALIGN_LOG": "no"}
    values |= {"ASM_TYPE_FUNCTION": "@function", "ASM_TYPE_PROGBITS": "@progbits", "W64_ABI": "no"}
    values |= {"ASM_RODATA": ".section .rodata", "ASM_WORDS_BIGENDIAN": "no", "ASM_X86_ENDBR": "endbr64"}
    text = re.sub(r"@(\w+)@", lambda name: str(values.get(name[1], "")), (root / "config.m4.in").read_text())
    (work / "config.m4").write_text(text)
    before = [root / "m4-utils.m4", root / "asm.m4", work / "config.m4", root / "x86_64/machine.m4"]
    for path in sorted((root / "x86_64").rglob("*.asm")):
        target = work / f"{path.parent.name}-{path.stem}.s"
        done = subprocess.run(["m4", *before, path], cwd=work, capture_output=True, check=False)
        if done.returncode == 0:
            target.write_bytes(done.stdout)
            yield Source(target.name, target, work)


def linux() -> Iterator[Source]:
    """The kernel's ciphers and hashes."""
    root = fetch("linux", "arch/x86/crypto", "arch/x86/include", "include")
    work = made("linux")
    crypto = root / "arch/x86/crypto"
    paths = [path for path in sorted(crypto.glob("*.S")) if "_32" not in path.name]
    for script in sorted(crypto.glob("*.pl")):
        target = work / f"{script.stem}.S"
        done = subprocess.run(["perl", script], capture_output=True, check=True)
        target.write_bytes(done.stdout)
        paths.append(target)
    (work / "asm").mkdir(exist_ok=True)
    include = (
        root / "arch/x86/include",
        root / "include",
        root / "arch/x86/include/uapi",
        root / "include/uapi",
    )
    known = tuple(f"CONFIG_AS_{each}" for each in ("AVX512", "SHA1_NI", "SHA256_NI", "GFNI"))
    defines = ("__KERNEL__", "__ASSEMBLY__", "CONFIG_X86_64", "CONFIG_64BIT")
    headers = "#include <linux/kconfig.h>\n"
    for path in paths:
        target = work / f"k-{path.name}"
        target.write_text(headers + path.read_text())
        yield Source(path.name, target, CACHE, (crypto, *include, work), (*defines, *known))


def _files(
    package: str, *patterns: str, include: tuple[str, ...] = (), defines: tuple[str, ...] = ()
) -> Iterator[Source]:
    """Files of a package that need only folders and names."""
    root = fetch(package)
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            folders = (path.parent, *(root / name for name in include))
            yield Source(f"{package}-{path.parent.name}-{path.name}", path, root, folders, defines)


def openh264() -> Iterator[Source]:
    """Cisco's H.264 codec's kernels, with NASM's package for alignments."""
    yield from _files(
        "openh264", "codec/**/x86/*.asm", include=("codec/common/x86",), defines=("UNIX64", "PIC")
    )


def gnutls() -> Iterator[Source]:
    """Ciphers and hashes generated by Perl scripts."""
    yield from _files("gnutls28", "lib/accelerated/x86/elf/*.s")


def boringssl() -> Iterator[Source]:
    """Google's ciphers, hashes and big-number routines, generated by Perl scripts."""
    yield from _files(
        "android-platform-external-boringssl", "**/linux-x86_64/**/*.S", include=("src/include",)
    )


def nss() -> Iterator[Source]:
    """Mozilla's ciphers and big-number routines."""
    yield from _files("nss", *(f"nss/lib/freebl/**/*.{kind}" for kind in ("s", "S", "asm")))


def wolfssl() -> Iterator[Source]:
    """Ciphers, curves and big-number routines, generated by a program."""
    extensions = ("HAVE_INTEL_AVX1", "HAVE_INTEL_AVX2", "WOLFSSL_X86_64_BUILD", "WOLFSSL_SP_X86_64_ASM")
    numbers = ("WOLFSSL_HAVE_SP_RSA", "WOLFSSL_HAVE_SP_DH", "WOLFSSL_HAVE_SP_ECC")
    defines = (*extensions, *numbers, "WOLFSSL_SP_384", "WOLFSSL_SP_521")
    yield from _files("wolfssl", "wolfcrypt/src/*.S", include=("", "wolfssl"), defines=defines)


def x265() -> Iterator[Source]:
    """The H.265 encoder's kernels for eight bits per sample, and those for ten, with the macros of x86inc."""
    usual = ("ARCH_X86_64=1", "PIC", "HAVE_ALIGNED_STACK=1", "X265_NS=x265")
    eight, ten = ("HIGH_BIT_DEPTH=0", "BIT_DEPTH=8"), ("HIGH_BIT_DEPTH=1", "BIT_DEPTH=10")
    for source in _files("x265", "source/common/x86/*.asm", defines=usual):
        yield replace(source, defines=(*usual, *(ten if "16" in source.path.stem else eight)))


def libass() -> Iterator[Source]:
    """The subtitle renderer's kernels, with the macros of x86inc."""
    defines = ("ARCH_X86_64=1", "PIC", "HAVE_ALIGNED_STACK=1", "private_prefix=ass")
    yield from _files("libass", "libass/x86/*.asm", include=("libass",), defines=defines)


def musl() -> Iterator[Source]:
    """A C library's functions."""
    yield from _files("musl", "src/*/x86_64/*.[sS]")


def newlib() -> Iterator[Source]:
    """Another C library's functions on memory, whose registers are names of the C preprocessor."""
    yield from _files("newlib", "newlib/libc/machine/x86_64/*.S")


def nacl() -> Iterator[Source]:
    """The library that libsodium comes from, in Bernstein's own assembly language."""
    yield from _files("nacl", "crypto_*/**/*.s")


PACKAGES: dict[str, Callable[[], Iterator[Source]]] = {
    function.__name__: function
    for function in (
        *(glibc, openssl, openblas, gmp, dav1d, x264, aom, ffmpeg, ipsec_mb, isa_l, libvpx, svt_av1),
        *(
            libjpeg_turbo,
            zstd,
            blake3,
            libgcrypt,
            mpg123,
            libsodium,
            nettle,
            linux,
            openh264,
            gnutls,
            boringssl,
        ),
        *(nss, wolfssl, nacl, x265, libass, musl, newlib, gcc, gcc_intel, clang, rustc),
    )
}
