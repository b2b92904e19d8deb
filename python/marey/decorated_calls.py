"""What the decorators of ``decorators.py`` do at each call: they measure it, and ask the user's functions about it."""

from __future__ import annotations

from marey import _core, denoising_steps
from marey.functions import function_in, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from marey.functions import Finish

    Record = Callable[[_core.ProfilerCore, _core.Stopwatch, Any], None]


class Decorated:
    """A decorated function: what it is called with, and what there is to say about it.

    Attributes:
        function: As it was given, with its wrapping as a property or a static or class method.
        name: Its own, without module and class.
    """

    def __init__(self, function: Any, decorator: str) -> None:  # noqa: ANN401
        """What is decorated, and the name of the decorator."""
        import inspect

        self.function = function
        inner = function_in(function)
        self.name: str = getattr(function if isinstance(function, type) else inner, "__name__", type(inner).__name__)
        function = inner
        self._long_name = getattr(function, "__qualname__", type(function).__qualname__)
        self._decorator = decorator
        try:
            self._signature = inspect.signature(function)
        except (TypeError, ValueError):  # of a builtin
            self._signature = None
        self._parameters = list(self._signature.parameters.values()) if self._signature else []
        self._has_owner = bool(self._parameters) and self._parameters[0].name in ("self", "cls")

    def profiler(self, args: tuple[Any, ...]) -> _core.ProfilerCore:
        """Whose profiler records a call."""
        return _core.profiler_of(args[0]) if self._has_owner and args else _core.profiler_of()

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments without the object."""
        return args[1:] if self._has_owner else args

    def by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments of a call by name, without the object, and the defaults of those it was not given."""
        if self._signature is None:
            return dict(kwargs), {}
        given = self._signature.bind(*args, **kwargs).arguments
        defaults: dict[str, Any] = {}
        for place, parameter in enumerate(self._parameters):
            if (place == 0 and self._has_owner) or parameter.kind is parameter.VAR_POSITIONAL:
                given.pop(parameter.name, None)
            elif parameter.kind is parameter.VAR_KEYWORD:
                given |= given.pop(parameter.name, {})
            elif parameter.name not in given and parameter.default is not parameter.empty:
                defaults[parameter.name] = parameter.default
        return given, defaults

    def told(self, tell: object, shape: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
        """What a function of the user's tells about a call, from its arguments.

        Args:
            tell: Gets ``(args, kwargs)``, the positional arguments without the object. Or what every call records.
            shape: Makes of what it returns what is recorded, and of None what is when it fails, or there is none;
                default a dict.
        """
        shape = shape or (lambda about: dict(about or {}))
        if not callable(tell):
            always = shape(None) if tell is None else tell
            return lambda *_call: always

        def tells(args: tuple[Any, ...], kwargs: dict[str, Any], _result: object = None) -> Any:  # noqa: ANN401
            return shape(tell(self.arguments(args), kwargs))

        return self.contained(tells, shape(None))

    def contained(self, tell: Callable[..., Any], otherwise: object) -> Callable[..., Any]:
        """A function of the user's; when it fails, that is counted, logged the first time, and it is ``otherwise``.

        What a handler of signals raises meanwhile is the program's, and goes on.
        """
        was_shown = False

        def told(*call: Any) -> Any:  # noqa: ANN401
            nonlocal was_shown
            try:
                return tell(*call)
            except (Exception, SystemExit) as error:
                from marey.signal_handlers import came_from_handler

                if came_from_handler(error):
                    raise
                _core.ProfilerCore.count_unrecorded()
                if not was_shown:
                    was_shown = True
                    self._show(error)
                return otherwise

        return told

    def _show(self, error: BaseException) -> None:
        """Without its text, which may hold a prompt."""
        import logging

        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        line = "" if trace is None else f" in {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        logging.getLogger("marey").warning(
            "%s: the function that tells about %s raised %s%s; what it tells is not recorded",
            self._decorator,
            self._long_name,
            type(error).__name__,
            line,
        )


def event_data(target: Decorated, function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function tells as an event's data: the names of its parameters decide what it gets of a call."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a builtin
        parameters = [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]
    kinds = {parameter.kind for parameter in parameters}
    takes_args, takes_kwargs = inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds
    in_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in in_place]
    only_by_name = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]

    def data(args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> Any:  # noqa: ANN401
        arguments = target.arguments(args)
        if takes_args:
            return function(result, *arguments, **kwargs)
        given, defaults = target.by_name(args, kwargs)
        known = defaults | given
        values: list[Any] = [result] if names else []
        for place, name in enumerate(names[1:]):
            if name not in known and place >= len(arguments):
                break
            values.append(known[name] if name in known else arguments[place])
        named = {name: known[name] for name in only_by_name if name in known}
        if takes_kwargs:
            named |= {name: value for name, value in given.items() if name not in names}
        return function(*values, **named)

    return target.contained(data, {})


def measured(
    target: Decorated, record: Record, about: Callable[..., Any] | None = None, *, is_step: bool = False
) -> Any:  # noqa: ANN401
    """A function of which each call that returns is recorded, with its time by the host's clock.

    Args:
        target: What is measured.
        record: Records a call: with a profiler, its time, and what ``about`` says of it.
        about: Gets the arguments of a call and its result.
        is_step: A call is a denoising step, which windows of torch's profiler count when it has returned.
    """

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_core.Stopwatch, Finish]:
        watch = _core.Stopwatch()
        begun = denoising_steps.begin() if is_step else -1

        def finish(is_failed: bool, result: object) -> None:
            if not is_failed:
                record(target.profiler(args), watch, about and about(args, kwargs, result))
                denoising_steps.end(begun)

        return watch, finish

    return wrap(target.function, begin)


def tellable(
    decorator: str,
    given: Any,  # noqa: ANN401
    record: Record,
    *,
    shape: Callable[[Any], Any] | None = None,
    is_step: bool = False,
) -> Any:  # noqa: ANN401
    """What a decorator returns that may be given a function that tells about calls, or what it decorates.

    What cannot be called with two arguments, or is a method by its first parameter's name, tells of nothing: it is
    decorated. A lambda, and what calls its parameters ``args`` and ``kwargs``, is not. What is left is both until it is
    called: with one function and nothing else it decorates that, with anything else it computes.

    Args:
        decorator: Its name.
        given: A function, or None.
        record: As of ``measured``.
        shape: As of ``Decorated.told``.
        is_step: As of ``measured``.
    """

    def decorated(function: Any, tell: Callable[..., Any] | None) -> Any:  # noqa: ANN401
        target = Decorated(function, decorator)
        return measured(target, record, target.told(tell, shape), is_step=is_step)

    def decorate(function: Any) -> Any:  # noqa: ANN401
        return decorated(function, given)

    if given is None:
        return decorate
    tells = _tells(given)
    if tells is not None:
        return decorate if tells else decorated(given, None)
    import functools

    computes = decorated(given, None)

    @functools.wraps(given)
    def either(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        is_function = len(args) == 1 and (hasattr(args[0], "__qualname__") or hasattr(args[0].__class__, "__get__"))
        if is_function and not kwargs:
            return decorate(args[0])
        return computes(*args, **kwargs)

    return either


def _tells(given: Any) -> bool | None:  # noqa: ANN401
    """Whether it is a function of ``(args, kwargs)``; None when that cannot be seen."""
    import inspect

    runs_later = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if not callable(given) or isinstance(given, (staticmethod, type)) or any(kind(given) for kind in runs_later):
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
