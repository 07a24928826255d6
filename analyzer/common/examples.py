"""Examples for the help of each subcommand."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "analyze": (
        "cyclelens analyze kernel.s",
        "cyclelens analyze kernel.s --region dot --arch SKL,ZEN5",
        "cyclelens analyze dot.o --function dot",
        "cyclelens analyze kernel.s --trace --format html > page.html",
    ),
    "cc": (
        "cyclelens cc -- gcc -O3 -c dot.c",
        "cyclelens cc --function dot --watch -- clang -O2 -c dot.c",
    ),
    "annotate": ("cyclelens annotate perf.data", "cyclelens annotate script.txt --program ./a.out --most 5"),
    "rewrite": ("cyclelens rewrite kernel.s --region dot", "cyclelens rewrite kernel.s --diff 1"),
    "check": (
        "cyclelens check kernel.s --max-cycles dot=4.0",
        "cyclelens check kernel.s --baseline base.json --tolerance 2%",
    ),
    "compare": (
        "cyclelens compare kernel.s --region dot",
        "cyclelens compare kernel.s --region dot --alignments",
        "cyclelens compare kernel.s --git HEAD~1",
        "cyclelens compare old.o new.o",
    ),
    "whatif": (
        "cyclelens whatif kernel.s --region dot",
        "cyclelens whatif kernel.s --region dot --split ymm0=4",
    ),
    "characterize": (
        "cyclelens characterize --forms 'VPADD.*' --output mine.xml",
        "cyclelens characterize --missing kernel.s --data own.sqlite",
        "cyclelens characterize --compare SKL mine.xml",
    ),
    "sweep": (
        "cyclelens sweep kernel.s --resource rs,rob --scale 0.5..2.0",
        "cyclelens sweep kernel.s --load-latency 4..40 --plot latency.svg",
        "cyclelens sweep kernel.s --store-latency 1..80",
    ),
    "predict": (
        "cyclelens predict --arch SKL --mode loop < blocks.txt > figures.csv",
        "cyclelens predict --arch SKL --mode unroll --input blocks.parquet --output figures.parquet",
    ),
    "corpus": ("cyclelens corpus extract /bin/ls > blocks.csv",),
    "corpus extract": (
        "cyclelens corpus extract /bin/ls /bin/gzip > blocks.csv",
        "cyclelens corpus extract a.out --profile perf.txt --output blocks.csv",
    ),
    "measure": (
        "cyclelens measure kernel.s --region dot",
        "cyclelens measure --blocks --mode unroll < blocks.txt",
    ),
    "serve": ("cyclelens serve --open",),
    "mca": ("cyclelens mca -mcpu=skylake kernel.s", "cyclelens mca -mcpu=znver4 -timeline < kernel.s"),
    "mcp": ("cyclelens mcp --folder src", "cyclelens mcp --folder src --allow-run"),
    "data": (
        "cyclelens data import instructions.xml",
        "cyclelens data import --merge --output own.sqlite my.xml",
    ),
    "data import": ("cyclelens data import instructions.xml --output tables.sqlite",),
    "bug-report": (
        "cyclelens bug-report kernel.s -- analyze kernel.s --arch SKL",
        "cyclelens bug-report --log lsp.log",
    ),
    "arch": ("cyclelens arch list", "cyclelens arch show SKL"),
    "arch list": ("cyclelens arch list",),
    "arch show": ("cyclelens arch show SKL --format json",),
    "completion": (
        "cyclelens completion bash > ~/.local/share/bash-completion/completions/cyclelens",
        'cyclelens completion zsh > "${fpath[1]}/_cyclelens"',
        "cyclelens completion fish > ~/.config/fish/completions/cyclelens.fish",
    ),
    "evaluate": ("cyclelens evaluate --against measured.csv --arch SKL --mode loop",),
    "lsp": ("cyclelens lsp",),
}
"""Example command lines by subcommand."""


def help_text(prog: str) -> str:
    """The examples of a parser, as a part of its help; empty for one that has none."""
    lines = EXAMPLES.get(prog.removeprefix("cyclelens "), ())
    return "".join(["\nexamples:\n", *(f"  {line}\n" for line in lines)]) if lines else ""
