"""Records the captures in ``data`` anew: ``python tests/goldens/record.py [NAME …]``.

Times in them are those of one run, so all goldens of a capture change with it. Each program runs in the folder
`/tmp/job`, with a `python` that lies there, on a host that is called `studio`: a capture names nothing else of the
machine but its kernel, processor, disks and network interfaces. Takes root, for `unshare`, and the stand-in for
NVIDIA's library (`make test-python` builds it).
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable
from pathlib import Path

DATA = Path(__file__).with_name("data")
STAND_INS = Path(__file__).parents[1] / "python"
FOLDER = Path("/tmp/job")
ON_STUDIO = ["unshare", "--uts", "sh", "-c", 'hostname studio && exec "$@"', "sh"]
PYTHON = str(FOLDER / "venv/bin/python")


def sections() -> None:
    """Sections that nest, fail, call themselves and run beside each other; loops, counters, readings of memory."""
    import asyncio
    import threading
    import time

    import marey

    marey.start("out")
    with marey.profile_section("load_model", dtype="bfloat16", shards=2):
        weights = bytearray(24 << 20)
        time.sleep(0.02)

    @marey.profile_function("halve")
    def halve(n: int) -> None:
        if n > 1:
            halve(n // 2)

    halve(16)
    try:
        with marey.profile_section("fetch", url_kind="s3"):
            raise OSError("no such bucket")
    except OSError:
        pass
    memory = marey.MemoryTracker()
    memory.snapshot("after_load")
    steps = marey.IterationProfiler("denoising_step")
    for step in range(6):
        with steps.iteration(), marey.profile_section("transformer"):
            time.sleep(0.012 if step == 0 else 0.004)
        marey.counter("loss", 1 / (step + 1))
    marey.event("encoded", tokens=77, is_cached=False)

    def decode(part: int) -> None:
        with marey.profile_section("vae_decode", tile=part):
            time.sleep(0.01)

    threads = [threading.Thread(target=decode, args=(part,), name=f"decoder-{part}") for part in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def save(name: str) -> None:
        with marey.profile_section("save", to=name):
            await asyncio.sleep(0.005)

    async def save_all() -> None:
        with marey.profile_section("save_all"):
            await asyncio.gather(save("a.mp4"), save("b.mp4"))

    asyncio.run(save_all())
    weights.clear()
    memory.snapshot("at_the_end")
    marey.get_global_stats().record("upload", 0.25)
    marey.stop()


def generations() -> None:
    """Sessions with tags, one in another and one that fails; steps, models, caches, layers, memory events."""
    import time

    import marey

    profiler = marey.Profiler(
        enabled=True, output_dir="out", real_time_display=False, generate_final_report=False, save_raw_data=False
    )
    profiler.record_model_parameters("dit", 1_300_000_000, "transformer", flops_per_call=2e13, calls_per_step=2)
    profiler.record_model_parameters("vae", 84_000_000, "autoencoder")
    caches = marey.CacheEventRecorder()
    for clip in range(2):
        with profiler.session(f"clip-{clip}", {"seed": 7 + clip, "guidance": 6.5}):
            with profiler.stage("text_encoding", {"tokens": 77}):
                time.sleep(0.006)
            with profiler.session(f"clip-{clip}-denoising"):
                caches.start_chunk(start_frame=0, steps=5)
                for step in range(5):
                    with profiler.stage("inference_step"):
                        time.sleep(0.003)
                    caches.mark_step(step)
                    if step in (2, 4):
                        caches.record_hit("teacache", score=0.08, threshold=0.15, held_bytes=8 << 20)
                    else:
                        caches.record_miss("teacache", score=0.31, threshold=0.15)
                    took = 3.0 if step in (2, 4) else 20.0 + step
                    profiler.record_diffusion_step(
                        step, timestep=1 - step / 5, block_size=4, computation_time_ms=took, guidance_scale=6.5
                    )
                caches.finalize_chunk(end_frame=16)
            with profiler.layer("attention", 9_000_000):
                time.sleep(0.002)
            with profiler.stage("vae_decode"):
                time.sleep(0.008)
            profiler.record_cache_event("hits", 100, 10, None)
            profiler.record_cache_event("eviction", 100, 10, 5)
            profiler.record_memory_event("alloc", 64 << 20, "cuda", "latents")
            profiler.record_memory_event("dealloc", 64 << 20, "cuda", "latents")
            profiler.add_event("clip_written", {"frames": 16})
    try:
        with profiler.session("clip-2", {"seed": 9}):
            raise ValueError
    except ValueError:
        pass
    marey.stop()


def causal() -> None:
    """Blocks of frames that are denoised in turn and delivered as they come, some too late."""
    import time

    import marey

    profiler = marey.Profiler(
        enabled=True, output_dir="out", real_time_display=False, generate_final_report=False, save_raw_data=False
    )
    with profiler.session("stream", {"frames": 21}):
        for block in range(7):
            begun = time.perf_counter()
            for step in range(4):
                with profiler.stage("denoise"):
                    time.sleep(0.002)
                profiler.record_diffusion_step(step, timestep=1 - step / 4, block_size=3)
            with profiler.stage("vae_decode"):
                time.sleep(0.003 + (0.02 if block == 4 else 0))
            took = 1e3 * (time.perf_counter() - begun)
            profiler.record_block_computation(block, 3, computation_time_ms=took, memory_usage_mb=2048 + 96 * block)
            profiler.record_streaming_event(
                3, encoding_time_ms=1.5, network_latency_ms=12 + block, buffer_occupancy=0.5
            )
        profiler.record_dropped_frames(3)
    marey.stop()


def gpu() -> None:
    """Sections whose work a GPU does later, and what its memory held; the GPU is the stand-in of tests/python."""
    import marey
    import stand_in_cuda

    device = stand_in_cuda.install()
    marey.start("out")
    for clip in range(2):
        with marey.session(f"clip-{clip}"):
            with marey.profile_section("text_encoder"):
                device.work(2)
            for _ in range(4):
                with marey.profile_section("transformer"), marey.profile_section("transformer_block"):
                    device.work(10 + clip)
            with marey.profile_section("vae_decode"):
                device.work(7)
        device.pass_time(60)
    marey.stop()


def telemetry() -> None:
    """What samplers read of two GPUs, which are a stand-in's, of the machine and of the process."""
    import time

    import marey

    intervals = {"gpu_monitor_interval": 0.02, "cpu_monitor_interval": 0.05}
    quiet = {"real_time_display": False, "generate_final_report": False, "save_raw_data": False}
    profiler = marey.Profiler(enabled=True, output_dir="out", **intervals, **quiet)
    for clip in range(2):
        with profiler.session(f"clip-{clip}"):
            with profiler.stage("load"):
                held = bytearray(32 << 20)
                time.sleep(0.1)
            with profiler.stage("denoise"):
                until = time.perf_counter() + 0.25
                while time.perf_counter() < until:
                    pass
            del held
    marey.stop()


def failed() -> None:
    """A program that an exception ends while it denoises."""
    import marey

    marey.start("out")
    with marey.profile_section("load_model"):
        pass
    with marey.session("clip-0"), marey.profile_section("denoise"):
        raise RuntimeError


def killed() -> None:
    """A program that is killed while it denoises."""
    import os
    import signal

    import marey

    marey.start("out")
    with marey.profile_section("load_model"):
        pass
    for _ in range(50):
        with marey.profile_section("step"):
            pass
    with marey.session("clip-0"), marey.profile_section("denoise"), marey.profile_section("transformer"):
        os.kill(os.getpid(), signal.SIGKILL)


def nothing() -> None:
    """A program that opens no section."""
    import marey

    marey.start("out")
    marey.stop()


def rank() -> None:
    """One of four ranks; the third is slower in all that it does, and the others wait for it."""
    import os
    import time

    import marey

    number = int(os.environ["RANK"])
    marey.start("out")
    for _ in range(5):
        with marey.profile_section("denoise"):
            time.sleep(0.012 if number == 2 else 0.006)
        with marey.profile_section("all_reduce", sync=False):
            time.sleep(0.001 if number == 2 else 0.007)
    marey.stop()


def pair() -> None:
    """What is recorded before and after a change: the decoder takes twice as long after it, a stage is new."""
    import os
    import time

    import marey

    is_after = os.environ["WHICH"] == "candidate"
    marey.start("out")
    with marey.profile_section("text_encoding"):
        time.sleep(0.004)
    for _ in range(12):
        with marey.profile_section("denoise"):
            time.sleep(0.003)
    with marey.profile_section("vae_decode"):
        time.sleep(0.04 if is_after else 0.02)
    if is_after:
        with marey.profile_section("upscale"):
            time.sleep(0.006)
    marey.stop()


def both() -> None:
    """One of two programs of a command that ends with a code of its own: the first encodes, the second denoises."""
    import sys
    import time

    import marey

    if sys.argv[1:]:
        with marey.profile_section("text_encoding"):
            time.sleep(0.03)
    else:
        with marey.profile_section("denoise"):
            time.sleep(0.3)


def ready(program: Callable[[], None]) -> dict[str, str]:
    """Puts a program into an empty ``FOLDER``; the variables to run it with."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER / "venv", symlinks=True)
    (FOLDER / "rings").mkdir()
    source = textwrap.dedent(inspect.getsource(program))
    (FOLDER / "pipeline.py").write_text(f"{source}\n{program.__name__}()\n")
    marey = importlib.util.find_spec("marey")
    assert marey is not None
    assert marey.origin is not None
    path = os.pathsep.join([str(Path(marey.origin).parents[1]), str(STAND_INS)])
    rings = {"MAREY_RING_DIR": str(FOLDER / "rings")}
    return {"PYTHONPATH": path, "PATH": os.defpath} | rings


def start(variables: dict[str, str], *command: str) -> subprocess.Popen[bytes]:
    """Starts a command, by itself the program, in ``FOLDER``."""
    command = command or (PYTHON, "pipeline.py")
    return subprocess.Popen([*ON_STUDIO, *command], cwd=FOLDER, env=variables, stderr=subprocess.DEVNULL)


def recorded(variables: dict[str, str]) -> list[Path]:
    """The captures; that of a program that was killed is completed from its ring."""
    clean = [PYTHON, "-m", "marey", "doctor", "--clean", "out"]
    subprocess.run(clean, cwd=FOLDER, env=variables, stdout=subprocess.DEVNULL, check=False)
    return sorted({path.resolve() for path in FOLDER.glob("out/**/*.marey")})


def record(program: Callable[[], None], file: Path, **variables: str) -> None:
    """Records a program, whose one capture goes to a file."""
    variables = ready(program) | variables
    if program is telemetry:
        variables |= two_gpus()
    start(variables).wait()
    (capture,) = recorded(variables)
    file.parent.mkdir(exist_ok=True)
    shutil.copyfile(capture, file)


def two_gpus() -> dict[str, str]:
    """Variables for a program that finds two GPUs, of which one is hotter."""
    from stand_in_nvml import StandInNvml, build

    busy = {
        "nvmlDeviceGetUtilizationRates": "20/5 40/10 90/35",
        "nvmlDeviceGetTotalEnergyConsumption": "5000 9000 14000 23000",
    }
    hot = {"nvmlDeviceGetTemperature": "80 84 88 91", "nvmlDeviceGetPowerUsage": "650000"}
    return StandInNvml(build(), FOLDER / "nvml").environment(**{"GPU-1": busy, "GPU-2": hot})


def record_job(name: str, variables: dict[str, str], running: list[subprocess.Popen[bytes]]) -> None:
    """Keeps what a job's commands record: captures, and what is known of the command."""
    for process in running:
        process.wait()
    recorded(variables)
    shutil.rmtree(DATA / name, ignore_errors=True)
    (DATA / name).mkdir()
    for file in FOLDER.glob(f"out/{name}/*"):
        if file.suffix in (".marey", ".launch"):
            shutil.copyfile(file, DATA / name / file.name)


def main(names: list[str]) -> None:
    """Records what is named, by itself all."""
    sys.path.append(str(STAND_INS))
    for program in (sections, generations, causal, gpu, telemetry, failed, killed, nothing):
        if not names or program.__name__ in names:
            record(program, DATA / f"{program.__name__}.marey")
    if not names or "pair" in names:
        for which in ("baseline", "candidate"):
            for number in range(3):
                record(pair, DATA / which / f"run{number}.marey", WHICH=which)
    if not names or "ranks" in names:
        variables = ready(rank) | {"MAREY_JOB_ID": "ranks", "WORLD_SIZE": "4"}
        places = [{"RANK": number, "LOCAL_RANK": number} for number in "0123"]
        record_job("ranks", variables, [start(variables | place) for place in places])
    if not names or "both" in names:
        variables = ready(both)
        both_programs = f"{PYTHON} pipeline.py first; {PYTHON} pipeline.py; exit 3"
        run = "-m marey run --quiet --output out --job-id both -- sh -c".split()
        record_job("both", variables, [start(variables, PYTHON, *run, both_programs)])
    shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
