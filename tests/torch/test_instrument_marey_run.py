"""``marey run`` records a program that knows nothing of Marey, and leaves everything else alone."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

from recorded_pipeline import Recorded, read_capture

from interpreter import environment

EXAMPLES = Path(__file__).parents[2] / "examples" / "diffusers"

PROGRAM = """
import sys
sys.path.insert(0, {examples!r})
from generate import build
import torch
tiny = build("wan", "tiny", seed=0)
tiny.pipe.set_progress_bar_config(disable=True)
frames = tiny.pipe("a red fox", height=32, width=32, num_frames=5, num_inference_steps=3, max_sequence_length=32,
                   generator=torch.Generator().manual_seed(7), output_type="np").frames
print(frames.sum(), type(tiny.pipe).__name__)
"""


def run(folder: Path, program: str, *, under: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, under ``marey run`` or bare."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    bare = environment()
    before = [sys.executable, "-m", "marey", "run", "--quiet", "-o", "out", "--"] if under else []
    done = subprocess.run(
        [*before, sys.executable, "program.py"],
        cwd=folder,
        env={**bare, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def capture(folder: Path) -> Recorded:
    (path,) = {path.resolve() for path in folder.glob("out/*/*.marey")}
    return Recorded(read_capture(path))


def test_a_script_without_a_word_of_marey_is_recorded_stage_by_stage(tmp_path: Path) -> None:
    """With the same output as without; 3 steps, 2 passes each, 2 blocks each."""
    program = PROGRAM.format(examples=str(EXAMPLES))
    recorded, bare = run(tmp_path, program), run(tmp_path, program, under=False)
    assert recorded.stdout == bare.stdout
    found = capture(tmp_path)
    assert {name: count for name, count in found.counts.items() if name != "import"} == {
        "text_encoding": 1,
        "text_encoder": 2,
        "denoising_step": 3,
        "cond_pass": 3,
        "uncond_pass": 3,
        "transformer": 6,
        "transformer_block": 12,
        "scheduler_step": 3,
        "vae_decode": 1,
        "vae_decoder": 2,
    }
    assert found.labels == ["after_text_encoding", "after_denoising", "after_vae_decode"]
    assert [session["name"] for session in found.report["sessions"]] == ["WanPipeline"]


def test_the_environment_alone_does_it_when_the_program_imports_marey(tmp_path: Path) -> None:
    program = "import marey\n" + PROGRAM.format(examples=str(EXAMPLES))
    run(tmp_path, program, under=False, MAREY_ENABLED="1", MAREY_OUTPUT_DIR="out")
    assert capture(tmp_path).counts["transformer"] == 6


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.format(examples=str(EXAMPLES)), MAREY_INSTRUMENT="0")
    assert "MAREY_INSTRUMENT" not in done.stderr
    captures = [Recorded(read_capture(path)) for path in tmp_path.glob("out/*/*.marey")]
    assert [found.counts for found in captures] == [{}] * len(captures)


def test_loading_is_a_section_with_one_in_it_for_each_model(tmp_path: Path) -> None:
    """A pipeline of three models that is saved and loaded again; the scheduler and the tokenizer are none."""
    program = f"""
    import sys
    sys.path.insert(0, {str(EXAMPLES)!r})
    from generate import build
    from diffusers import DiffusionPipeline, AutoencoderKL
    build("sd", "tiny", seed=0).pipe.save_pretrained("saved")
    pipe = DiffusionPipeline.from_pretrained("saved", local_files_only=True)
    AutoencoderKL.from_pretrained("saved/vae", local_files_only=True)
    """
    run(tmp_path, program)
    found = capture(tmp_path)
    # Models are imported where they are loaded.
    assert {path: count for path, count in found.paths.items() if not path.endswith("import")} == {
        "model_load": 2,
        "model_load > load_CLIPTextModel": 1,
        "model_load > load_UNet2DConditionModel": 1,
        "model_load > load_AutoencoderKL": 1,
    }
    assert found.labels == ["after_model_load"] * 2


def test_plain_import_arms_nothing(tmp_path: Path) -> None:
    program = """
    import sys, json, marey
    print(json.dumps([type(finder).__module__ for finder in sys.meta_path if "marey" in type(finder).__module__]))
    print(json.dumps(sorted(name for name in sys.modules if name.startswith("marey.pipeline"))))
    """
    assert [json.loads(line) for line in run(tmp_path, program, under=False).stdout.splitlines()] == [[], []]


def test_armed_without_diffusers_it_imports_nothing(tmp_path: Path) -> None:
    """Neither diffusers nor torch, nor Marey's own part for them."""
    program = """
    import sys, json, http.client
    heavy = {"torch", "numpy", "diffusers", "transformers", "marey.diffusers", "marey.pipelines.patches"}
    print(json.dumps(sorted(heavy & set(sys.modules))))
    """
    assert run(tmp_path, program).stdout == "[]\n"


FAKE = """
import sys, os, json, threading, importlib
os.makedirs("fake/diffusers/pipelines", exist_ok=True)
sys.path.insert(0, "fake")
def write(path, text):
    with open(os.path.join("fake", "diffusers", path), "w") as file:
        file.write(text)
write("__init__.py", "")
write("pipelines/__init__.py", "")
"""


def test_a_broken_import_fails_as_it_would_and_can_be_tried_again(tmp_path: Path) -> None:
    """A module that raises, then one without the class that is looked for, then a whole one, then a reload."""
    program = FAKE + textwrap.dedent(
        """
        write("pipelines/pipeline_utils.py", "raise OSError('not whole')")
        try:
            import diffusers.pipelines.pipeline_utils
        except OSError as error:
            print(error, "diffusers.pipelines.pipeline_utils" in sys.modules)
        write("pipelines/pipeline_utils.py", "this = 'has no pipeline'")
        importlib.invalidate_caches()
        import diffusers.pipelines.pipeline_utils as module
        print(module.this)
        write("pipelines/pipeline_utils.py", "class DiffusionPipeline:\\n    def register_modules(self): return 7#####")
        importlib.invalidate_caches()
        importlib.reload(module)
        print(module.DiffusionPipeline().register_modules(), type(module.__loader__).__name__)
        print(type(module.__spec__.loader).__name__, hasattr(module.DiffusionPipeline.register_modules, "__wrapped__"))
        """
    )
    done = run(tmp_path, program)
    assert done.stdout.splitlines() == [
        "not whole False",
        "has no pipeline",
        "7 SourceFileLoader",
        "SourceFileLoader True",
    ]
    assert done.stderr == ""


def test_imports_that_take_long_are_sections(tmp_path: Path) -> None:
    """A package that imports torch, a part of it where it is used, one that fails; and a module that is none of these.

    import    |-- diffusers --|                 |-- diffusers.part --|   |-- diffusers.broken --|
      torch      |--0.2 s--|
    first_use                               |------------------------|
    """
    program = FAKE + textwrap.dedent(
        """
        write("../torch.py", "import time; time.sleep(0.2)")
        write("../small.py", "")
        write("__init__.py", "import torch, small")
        write("part.py", "import time; time.sleep(0.1)")
        write("broken.py", "raise OSError('not whole')")
        import small, diffusers, marey
        with marey.profile_section("first_use"):
            import diffusers.part, torch
        try:
            import diffusers.broken
        except OSError as error:
            print(error)
        specs = [module.__spec__ for module in (torch, diffusers, diffusers.part)]
        print({type(spec.loader).__name__ for spec in specs}, torch.__loader__ is specs[0].loader)
        """
    )
    done = run(tmp_path, program)
    assert done.stdout.splitlines() == ["not whole", "{'SourceFileLoader'} True"]
    found = capture(tmp_path)
    assert found.paths == {"import": 2, "first_use": 1, "first_use > import": 1}
    calls = [call["attributes"]["module"] for call in found.report["section_attributes"]]
    assert calls == ["diffusers", "diffusers.part", "diffusers.broken"]
    at_first, where_used = (row for row in found.report["sections"] if row["name"] == "import")
    assert (at_first["errors"], where_used["errors"]) == (1, 0)
    wall = found.report["session_info"]["duration"]
    assert 0.199 <= at_first["total"] <= wall
    assert 0.099 <= where_used["total"] <= wall


def test_imports_in_many_threads_at_once_all_get_the_one_module(tmp_path: Path) -> None:
    program = FAKE + textwrap.dedent(
        """
        write("pipelines/pipeline_utils.py", "class DiffusionPipeline:\\n    def register_modules(self): return 7")
        found = []
        def look():
            found.append(importlib.import_module("diffusers.pipelines.pipeline_utils"))
        threads = [threading.Thread(target=look) for _ in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(found), len(set(map(id, found))))
        function = found[0].DiffusionPipeline.register_modules
        print(hasattr(function, "__wrapped__"), hasattr(function.__wrapped__, "__wrapped__"))
        """
    )
    assert run(tmp_path, program).stdout.splitlines() == ["16 1", "True False"]


def test_disarmed_classes_are_as_they_were(tmp_path: Path) -> None:
    program = """
    import sys, marey.pipelines.arming as armed
    from diffusers.pipelines.pipeline_utils import DiffusionPipeline
    from diffusers import ModelMixin
    before = DiffusionPipeline.__dict__["register_modules"], ModelMixin.__dict__["from_pretrained"]
    armed.arm()
    armed.arm()
    meanwhile = DiffusionPipeline.__dict__["register_modules"], ModelMixin.__dict__["from_pretrained"]
    armed.disarm()
    after = DiffusionPipeline.__dict__["register_modules"], ModelMixin.__dict__["from_pretrained"]
    print([a is b for a, b in zip(before, meanwhile)], [a is b for a, b in zip(before, after)])
    print(armed._finder in sys.meta_path)
    """
    lines = run(tmp_path, program, under=False).stdout.splitlines()
    assert lines == ["[False, False] [True, True]", "False"]
