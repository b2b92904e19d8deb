"""One call of a pipeline is one session, named after its class and, where there are several of it, its number.

The tag ``pipeline`` says so: a session of the user's own has none.

Python looks ``pipe(...)`` up in the class. So the object gets a class of its own that is the user's in everything but
the call, and gets the user's back when it is taken off; copies and pickles of it are of the user's class.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import numbers
import weakref
from typing import TYPE_CHECKING, Any, cast

from marey import _core, work_device
from marey.pipelines.identity import pipeline_name
from marey.pipelines.patches import Patches, kind_of, pass_over, values_of
from marey.pipelines.steps import Loop, current

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEY = "_marey_instrumented"
TAGS = {
    "steps": ("num_inference_steps",),
    "height": ("height",),
    "width": ("width",),
    "frames": ("num_frames", "video_length"),
    "guidance": ("guidance_scale",),
}
_kinds: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def is_watched(pipeline: Any) -> bool:  # noqa: ANN401
    """Whether its calls are sessions already."""
    return KEY in getattr(pipeline, "__dict__", {})


def watch(patches: Patches, pipeline: Any, watcher: Any) -> None:  # noqa: ANN401
    """Make each call of this pipeline a session.

    ``watcher.before_generation(name)`` is called before each, and says which models there are. Nothing where the
    pipeline cannot be called, or returns before it has ended.
    """
    kind: Any = kind_of(pipeline)
    call = inspect.getattr_static(kind, "__call__", None)
    is_late = inspect.iscoroutinefunction(call) or inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call)
    if is_watched(pipeline) or not inspect.isfunction(call) or is_late or not hasattr(pipeline, "__dict__"):
        return
    watched = kind if "_marey_made" in values_of(kind) else _kinds.get(kind) or _kinds.setdefault(kind, _watched(kind))
    patches.put(pipeline, KEY, watcher)
    try:
        pipeline.__class__ = watched
    except TypeError as error:
        pass_over(f"calls of {kind.__name__}", error)


def unwatch(pipeline: Any) -> None:  # noqa: ANN401
    """Give it the user's class again, unless somebody has changed the other one in the meantime."""
    watched: Any = kind_of(pipeline)
    made = values_of(watched).get("_marey_made")
    if made is not None and all(values_of(watched).get(key) is value for key, value in made.items()):
        pipeline.__class__ = watched.__mro__[1]


def _watched(kind: Any) -> type:  # noqa: ANN401
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        watcher = values_of(self).get(KEY)
        if watcher is None:
            return kind.__call__(self, *args, **kwargs)
        given = _arguments(kind.__call__, args, kwargs)
        return generate(watcher, self, given, lambda: kind.__call__(self, *args, **kwargs))

    def __reduce_ex__(self: Any, protocol: Any) -> Any:  # noqa: ANN401
        function, arguments, *others = object.__reduce_ex__(self, protocol)
        arguments = tuple(kind if argument is watched else argument for argument in arguments)
        if function is getattr(copyreg, "__newobj__"):  # noqa: B009  # the stubs do not know it
            # Pickle would compare its argument with the class that the object has now; this makes the same object.
            function = object.__new__
        if others and isinstance(others[0], dict):
            state = cast("dict[str, Any]", others[0])
            others[0] = {key: value for key, value in state.items() if key != KEY}
        return function, arguments, *others

    made: dict[str, Any] = {"__call__": functools.update_wrapper(__call__, kind.__call__)}
    if kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__:
        made["__reduce_ex__"] = __reduce_ex__
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    watched: Any = type(kind)(kind.__name__, (kind,), {**names, **made, "__slots__": (), "_marey_made": made})
    return watched


def generate(watcher: Any, pipeline: Any, given: Mapping[str, Any], call: Callable[[], Any]) -> Any:  # noqa: ANN401
    """What ``call`` returns, which makes the pictures of one call of a pipeline, ``given`` these arguments by name."""
    loop, outer = Loop(is_of_generation=True), current.loop
    name = pipeline_name(pipeline)
    tags = {"pipeline": name, **_tags(given)}
    session = _core.process_profiler().session(name, tags)
    with work_device.of(pipeline), session:
        _prepare(watcher, loop, pipeline, name)
        current.loop = loop
        try:
            result = call()
        except BaseException as error:
            loop.end_iteration(is_failed=True)
            # Its text is not recorded: it may hold anything. What is stopped has not failed.
            if isinstance(error, Exception):
                _core.event("generation_failed", pipeline=name, error=type(error).__name__)
            raise
        finally:
            current.loop = outer
        loop.end_denoising()
        # How diffusers says that a callback has stopped the loop.
        if values_of(pipeline).get("_interrupt") is True:
            session.cut_off()
        return result


def _prepare(watcher: Any, loop: Loop, pipeline: Any, name: str) -> None:  # noqa: ANN401
    try:
        loop.is_guided = lambda: bool(getattr(pipeline, "do_classifier_free_guidance", False))
        watcher.before_generation(name)
    except Exception as error:
        pass_over("a generation", error)


def _arguments(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    """What a call is given by name, with the defaults of its signature; a class below it may pass on others."""
    try:
        bound = inspect.signature(call).bind_partial(None, *args, **kwargs)
        bound.apply_defaults()
    except Exception:
        # The call itself will say what is wrong with its arguments.
        return kwargs
    return {**bound.arguments, **kwargs}


def _tags(given: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers only: a prompt is never among them."""
    tags: dict[str, Any] = {}
    for tag, names in TAGS.items():
        for name in names:
            value = given.get(name)
            if isinstance(value, numbers.Real) and kind_of(value) is not bool:
                tags[tag] = value
    return tags
