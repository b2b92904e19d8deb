"""Decorators with and without parentheses that get a function either way.

``@profile_diffusion_step`` gets what it decorates, ``@profile_diffusion_step(tell)`` a function that tells about calls.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def decorated_or_decorator(given: Any, bare: Callable[[Any], Any], decorator: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """What a decorator returns that may be given a function that tells about calls, from their ``(args, kwargs)``.

    Whatever cannot be called with two arguments, or is a method by its first parameter's name, tells of nothing: it is
    decorated. A lambda, and what calls its parameters ``args`` and ``kwargs``, is not. What is left is both until it is
    called: with one function and nothing else it decorates that, with anything else it computes.

    Args:
        given: A function.
        bare: Makes the decorated function of it.
        decorator: Decorates another one, which it then tells about.
    """
    tells = _tells(given)
    if tells is not None:
        return decorator if tells else bare(given)
    import functools

    computes = bare(given)

    @functools.wraps(given)
    def either(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if len(args) == 1 and not kwargs and _is_function(args[0]):
            return decorator(args[0])
        return computes(*args, **kwargs)

    return either


def _tells(given: Any) -> bool | None:  # noqa: ANN401
    """Whether it is a function of ``(args, kwargs)``; None when that cannot be seen."""
    import inspect

    runs_later = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if not callable(given) or isinstance(given, staticmethod) or any(kind(given) for kind in runs_later):
        return False
    try:
        signature = inspect.signature(given)
        signature.bind((), {})
    except TypeError:
        return False
    except ValueError:  # of a builtin
        return None
    names = [str(parameter).split(":")[0] for parameter in signature.parameters.values()]
    if names[0] in ("self", "cls"):
        return False
    return True if names == ["args", "kwargs"] or getattr(given, "__name__", "") == "<lambda>" else None


def _is_function(value: object) -> bool:
    return hasattr(value, "__qualname__") or isinstance(value, (classmethod, staticmethod, property))
