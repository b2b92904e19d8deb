"""The way of `marey run` into a Python program, before the program's first line.

Python imports `sitecustomize` when it starts. `marey run` puts the folder of this file in front of PYTHONPATH, so this is
the one that is found. It takes its folder off the path again, runs the `sitecustomize` that would have been found without
it, and starts Marey. Whatever goes wrong with that is said once and leaves the program alone.

Any Python below `marey run` may read this, also an old one: no syntax beyond Python 2.7.
"""

import os
import sys

HERE = os.path.dirname(__file__)


def start_marey():
    try:
        own = programs_own()
        if own:
            raise ImportError("the program has a module marey of its own, %s, and Marey leaves it alone" % own)
        import marey

        marey._autostart()
    except KeyboardInterrupt:
        # The program has not begun. Python would say that it cannot start, and end with an exit code.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:  # a panic of the extension module is no Exception
        # Subinterpreters come by here, too; what is recorded is the main one.
        if not (isinstance(error, ImportError) and "subinterpreter" in str(error)):
            say_once(error)


def programs_own():
    """Where the program would find a `marey` that is not this one; None where it would not."""
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("marey", programs_folder() + sys.path)
    if found is None:
        return None
    folder = os.path.dirname(found.origin) if found.origin else next(iter(found.submodule_search_locations))
    is_package = os.path.basename(found.origin or "") == "__init__.py"
    is_ours = is_package and any(name.startswith("_core.") for name in os.listdir(folder))
    return None if is_ours else found.origin or folder


def programs_folder():
    """The folder that Python puts in front of its path for a script, `-m` or `-c`, in a list; it does so only later."""
    if getattr(sys.flags, "safe_path", False):
        return []
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        letters = argument[1:] if argument.startswith("-") and not argument.startswith("--") else ""
        if argument.startswith("-") and not set(letters) & set("cm"):
            # The value of `-W` and `-X`, which may be the next argument.
            if argument in ("-W", "-X", "--check-hash-based-pycs"):
                next(arguments, None)
            continue
        if letters or not argument:
            break
        script = os.path.realpath(argument)
        return [script if os.path.isdir(script) else os.path.dirname(script)]
    return [os.getcwd()]


def say_once(error):
    """One interpreter of the job says it; what it said stays in the folder for `marey run`."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ImportError) and "Marey" not in reason:
        reason += "; install marey for this interpreter"
    line = "%s is not recorded: %s" % (sys.executable or "this Python", reason)
    try:
        mark = os.open(os.path.join(HERE, "refused"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.write(mark, line.encode("utf-8", "replace"))
        os.close(mark)
        sys.stderr.write("marey: " + line + "\n")
    except Exception:
        pass


sys.path[:] = [entry for entry in sys.path if entry != HERE]
sys.path_importer_cache.pop(HERE, None)
# Python looks for the name again, and this time past this file. When there is none, the ImportError is what Python expects.
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401
finally:
    start_marey()
