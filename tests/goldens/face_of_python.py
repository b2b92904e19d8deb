"""What a fresh interpreter says of the Python package; each function is run there from its source."""

from __future__ import annotations


def names() -> list[tuple[str, str, str]]:
    """Public names of `marey` and of its modules for users, with signatures and methods."""
    import importlib
    import inspect
    import re

    def signature(value):
        try:
            found = inspect.signature(value)
        except (TypeError, ValueError):
            return ""
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
        text = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
        return re.sub(r" at 0x[0-9a-f]+", "", text)

    def methods(name, kind):
        ours = [base for base in kind.__mro__ if base.__module__.startswith("marey")]
        # What makes a `with`, a loop or a call of it.
        special = {"__call__", "__len__", "__iter__", "__next__", "__enter__", "__aenter__", "__arrow_c_stream__"}
        for each in sorted({key for base in ours for key in vars(base)}):
            if each in special or not each.startswith("_"):
                raw = inspect.getattr_static(kind, each)
                is_called = callable(raw) or isinstance(raw, (staticmethod, classmethod))
                yield "python", f"{name}.{each}", signature(getattr(kind, each)) if is_called else "an attribute"

    def of_module(module, public):
        for each in public:
            value = getattr(module, each)
            name = f"{module.__name__}.{each}"
            if not inspect.isclass(value):
                yield "python", name, signature(value) if callable(value) else "a value"
                continue
            bases = ", ".join(base.__name__ for base in value.__bases__ if issubclass(base, Exception))
            yield "python", name, f"an exception, {bases}" if bases else f"class {signature(value)}"
            yield from methods(name, value)

    lines = []
    # Those that programs import; scripts/site/reference.py has them, too. The other modules are for these.
    for short in ("", ".cli_args", ".decorators", ".diffusers", ".distributed", ".sinks", ".torch"):
        module = importlib.import_module(f"marey{short}")
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        public = [key for key in getattr(module, "__all__", own) if not key.startswith("_") or key == "__version__"]
        lines += [("python", module.__name__, "a module"), *of_module(module, public)]
    return lines


def flags_of_scripts() -> list[tuple[str, str, str]]:
    """Flags that `marey.cli_args` gives to scripts, with their defaults."""
    import argparse

    from marey import cli_args

    seen, parsers = {}, [cli_args.add_profiling_args(argparse.ArgumentParser())]

    def parse_nothing(parser, _=None):
        parsers.append(parser)
        return argparse.Namespace(profile=False)

    argparse.ArgumentParser.parse_args = parse_nothing
    cli_args.get_args([])
    for name, parser in zip(("add_profiling_args", "get_args"), parsers, strict=True):
        for action in parser._actions[1:]:  # The first one is --help.
            for flag in action.option_strings:
                takes = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else "")
                rest = f"{takes} {action.nargs or ''} default {action.default!r}".split()
                seen.setdefault(flag, ("script", f"{name} {flag}", " ".join(rest)))
    return list(seen.values())


def keys() -> list[tuple[str, str, str]]:
    """Keys of the configuration with their defaults."""
    import marey

    return [("key", f"profiling.{key}", repr(value)) for key, value in marey.ProfilingConfig().to_dict().items()]


def aliases() -> list[str]:
    """Variables of other systems that do what they did there."""
    import os

    import marey.torch

    def is_honoured(name, value, seen):
        before = seen()
        os.environ[name] = value
        return [name] if seen() != before else []

    return [
        *is_honoured("FRAMEPACK_ENABLE_PROFILING", "1", lambda: marey.ProfilingConfig().enabled),
        *is_honoured("CACHE_DIT_TORCH_PROFILER_DIR", "traces", marey.torch.get_profiler_output_dir),
    ]


def columns(folder: str) -> list[tuple[str, str]]:
    """Tables of a recording with the columns that their Arrow schema has, as engines call their types."""
    import ctypes

    import marey

    class Schema(ctypes.Structure):
        pass

    # https://arrow.apache.org/docs/format/CDataInterface.html
    text, number = ctypes.c_char_p, ctypes.c_int64
    children = ctypes.POINTER(ctypes.POINTER(Schema))
    texts = [(name, text) for name in ("format", "name", "metadata")]
    Schema._fields_ = [*texts, ("flags", number), ("n", number), ("children", children)]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.POINTER(Schema), [ctypes.py_object, text]
    types = {b"u": "string", b"l": "bigint", b"g": "double", b"b": "boolean"}
    lines = []
    run = marey.load(folder)
    for kind in run.kinds:
        capsule = run.to_arrow(kind).__arrow_c_schema__()
        schema = pointer(capsule, b"arrow_schema").contents
        fields = [schema.children[place].contents for place in range(schema.n)]
        lines.append((kind, "a table"))
        lines += [(f"{kind}.{field.name.decode()}", types.get(field.format, field.format.decode())) for field in fields]
    return lines


def figures(words: list[str]) -> list[str]:
    """Those of the words that `marey compare --fail-on` takes before a limit; asked in one process, for speed."""
    import os

    import marey

    # What it says of each word is of no interest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(2, 1)
    ask = marey._core.run_command_line
    return [word for word in words if ask(["marey", "compare", "out", "out", "--fail-on", f"{word}>5%"]) < 2]
