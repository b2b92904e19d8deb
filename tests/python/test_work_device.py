"""GPU time is taken on the device and the stream of the work, and nothing is opened, asked or recorded elsewhere.

The devices are a stand-in that ends a program which breaks a rule of theirs.
"""

from __future__ import annotations

from capture_records import recorded
from device_programs import finished, spans
from interpreter import Interpreter


# device 0   (never used)
# device 1     |------ 50 ------|
def test_work_on_a_device_that_is_not_current_has_its_time_and_the_other_is_left_alone(
    interpreter: Interpreter,
) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(used=(1,))
        gpu.hold(3, device=1)
        marey.start("out")
        with marey.profile_section("denoise"), marey.profile_section("step"):
            gpu.work(50, device=1)
            gpu.hold(7, device=1)
        gpu.pass_time(50)
        marey.stop()
        return [gpu.device, sorted(gpu.contexts)]

    done = finished(interpreter, program)
    assert done.result == [0, [1]]
    assert spans(done) == [("denoise", 1, 0, 50.0), ("step", 1, 0, 50.0)]
    rows = recorded(done)["section_memory"]
    assert [(row["name"], row["device"], row["allocated"]) for row in rows] == [
        ("denoise", 1, [3, 7, 7]),
        ("step", 1, [3, 7, 7]),
    ]


def test_a_rank_of_a_launcher_has_chosen_its_device(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        with marey.profile_section("denoise"):
            gpu.work(3)
        gpu.pass_time(3)
        marey.stop()

    assert spans(finished(interpreter, program, LOCAL_RANK="0")) == [("denoise", 0, 0, 3.0)]


# device 0    |-- 2 --|         |- 1 -|      text_encoder, vae
# device 1    |-- 9 (of others) --|---- 5 ----|      transformer
def test_parts_on_two_devices_each_have_the_time_of_theirs(interpreter: Interpreter) -> None:
    def program():
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        gpu = stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        gpu.work(9, device=1)
        parts = (("text_encoder", 0, 2), ("transformer", 1, 5), ("vae", 0, 1))
        with marey.profile_section("starts watching"):
            pass
        for name, device, ms in parts:
            weights = [Thing(device=Thing(type="cuda", index=device))]
            module = Thing(parameters=lambda weights=weights: iter(weights), buffers=lambda: iter(()))
            with work_device.of(module), marey.profile_section(name):
                gpu.work(ms, device=device)
                with marey.profile_section(f"{name} inside"):
                    pass
        gpu.pass_time(100)
        marey.stop()

    done = finished(interpreter, program)
    assert spans(done) == [
        ("text_encoder", 0, 0, 2.0),
        ("text_encoder inside", 0, 0, 0.0),
        ("transformer", 1, 0, 5.0),
        ("transformer inside", 1, 0, 0.0),
        ("vae", 0, 0, 1.0),
        ("vae inside", 0, 0, 0.0),
    ]


def test_the_device_of_work_is_told_by_hooks_before_weights_and_by_pipelines(interpreter: Interpreter) -> None:
    def program():
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        stand_in_cuda.install(devices=8, used=tuple(range(8)))
        marey.start("out")
        with marey.profile_section("starts watching"):
            pass

        class Module:
            """With weights on the CPU."""

            def __init__(self, **more):
                vars(self).update(more)

            def parameters(self):
                return iter([Thing(device=Thing(type="cpu", index=None))])

            def buffers(self):
                return iter(())

        class Broken:
            @property
            def _execution_device(self):
                raise ValueError

        things = [
            Module(),
            Module(_hf_hook=Thing(execution_device=3)),
            Module(_hf_hook=Thing(execution_device="cuda:4")),
            Module(_hf_hook=Thing(hooks=[Thing(), Thing(execution_device=Thing(type="cuda", index=5))])),
            Module(_diffusers_hook=Thing(hooks={"group_offloading": Thing(group=Thing(onload_device="cuda:6"))})),
            Module(_hf_hook=Thing(execution_device="cuda")),
            Module(_hf_hook=Thing(execution_device="meta")),
            Thing(_execution_device=Thing(type="cuda", index=7)),
            Thing(type="cuda", index=2),
            Thing(type="cuda", index=99),
            Broken(),
            None,
        ]
        told = []
        for thing in things:
            with work_device.of(thing):
                here = marey._core.WorkPlace.here()
                told.append(None if here is None else here.device)
        return told

    told = finished(interpreter, program).result
    assert told == [None, 3, 4, 5, 6, 0, None, 7, 2, None, None, None]


def test_threads_work_on_devices_of_their_own(interpreter: Interpreter) -> None:
    def program():
        import threading
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        gpu = stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        with marey.profile_section("starts watching"):
            pass
        both = threading.Barrier(2)

        def work(device):
            with work_device.of(Thing(type="cuda", index=device)):
                both.wait()
                with marey.profile_section(f"on {device}"):
                    gpu.work(1 + device, device=device)
                both.wait()

        threads = [threading.Thread(target=work, args=(device,)) for device in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gpu.pass_time(10)
        marey.stop()

    assert sorted(spans(finished(interpreter, program))) == [("on 0", 0, 0, 1.0), ("on 1", 1, 0, 2.0)]


def test_a_memory_reading_is_of_the_device_that_is_in_use(interpreter: Interpreter) -> None:
    def program():
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        gpu = stand_in_cuda.install(used=())
        marey.start("out")
        tracker = marey.MemoryTracker()
        tracker.snapshot("none")
        gpu.hold(3 << 20, device=1)
        tracker.snapshot("one")
        gpu.hold(5 << 20, device=0)
        tracker.snapshot("both, nobody says")
        with marey.profile_section("starts watching"):
            pass
        with work_device.of(Thing(type="cuda", index=1)):
            tracker.snapshot("both, somebody says")
        tracker.export_json("log.json")
        marey.stop()

        import json

        return [(row["label"], row["source"], row["allocated_mb"]) for row in json.load(open("log.json"))][1:]

    assert finished(interpreter, program).result == [
        ["one", "cuda:1", 3.0],
        ["both, nobody says", "cuda:0", 5.0],
        ["both, somebody says", "cuda:1", 3.0],
    ]


# stream 0   |------ 20 ------|
# stream 7     |-- 6 --|            the copy
def test_a_copy_on_a_stream_of_its_own_has_the_time_of_that_stream(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda
        from marey import work_device

        gpu = stand_in_cuda.install(devices=1)
        marey.start("out")
        with marey.profile_section("starts watching"):
            gpu.work(20)
        side = stand_in_cuda.Stream(stream_id=7)
        with work_device.on(side), marey.profile_section("onload_transformer"):
            gpu.work(6, stream=7)
        with work_device.on(None), marey.profile_section("current"):
            gpu.work(1)
        with work_device.on(object()), marey.profile_section("not known"):
            pass
        gpu.pass_time(100)
        marey.stop()

    assert spans(finished(interpreter, program)) == [
        ("starts watching", 0, 0, 20.0),
        ("onload_transformer", 0, 7, 6.0),
        ("current", 0, 0, 1.0),
        ("not known", 0, 0, 0.0),
    ]


# of 1     |--------------------------|
# on 7          |---------|
# nobody says                             |---|
def test_what_is_said_ends_with_its_block_whichever_way_it_ends(interpreter: Interpreter) -> None:
    def program():
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        with marey.profile_section("starts watching"):
            pass
        told = []

        def tell():
            here = marey._core.WorkPlace.here()
            told.append(None if here is None else here.device)

        tell()
        with work_device.of(Thing(type="cuda", index=1)):
            tell()
            place = marey._core.WorkPlace.here()
            try:
                with work_device.on(stand_in_cuda.Stream(stream_id=7)):
                    tell()
                    with place:
                        tell()
                    raise ValueError
            except ValueError:
                tell()
        tell()
        marey.stop()
        with work_device.of(Thing(type="cuda", index=1)):
            tell()
        return told

    assert finished(interpreter, program).result == [None, 1, 0, 1, 1, None, None]
