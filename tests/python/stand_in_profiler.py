"""A module that looks like torch with a profiler that fails where a test says; tests write its source into programs."""

SOURCE = '''
import enum, json, os, sys, types

FAILS = os.environ.get("STAND_IN_FAILS", "")

def fail_at(what):
    if what == FAILS:
        raise RuntimeError("stand-in fails at " + what)

class ProfilerAction(enum.Enum):
    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)

class ProfilerActivity(enum.Enum):
    CPU, CUDA, XPU, PrivateUse1 = range(4)

class autograd_profile:
    def _prepare_trace(self): pass

class profile:
    """Counts what is done with it; a trace says which steps it saw."""
    made = []
    def __init__(self, *, activities, schedule, **options):
        fail_at("make")
        self.activities, self.schedule, self.options, self.step_num, self.seen = activities, schedule, options, 0, []
        self.is_running = False
        profile.made.append(self)
    def _note(self):
        if self.schedule(self.step_num) is ProfilerAction.RECORD:
            self.seen.append(self.step_num)
    def start(self):
        fail_at("start")
        assert not any(p.is_running for p in profile.made), "two at once"
        self.is_running = True
        self._note()
    def step(self):
        fail_at("step")
        self.step_num += 1
        self._note()
    def stop(self):
        self.is_running = False
        fail_at("stop")
    def export_chrome_trace(self, path):
        with open(path, "w") as file:
            file.write("{")
            fail_at("export")
            json.dump({"seen": self.seen}, file)

torch = types.ModuleType("torch")
torch.profiler = types.SimpleNamespace(
    ProfilerAction=ProfilerAction, ProfilerActivity=ProfilerActivity, profile=profile,
    supported_activities=lambda: fail_at("activities") or set(ProfilerActivity),
)
torch.autograd = types.SimpleNamespace(
    profiler=types.SimpleNamespace(_is_profiler_enabled=False, profile=autograd_profile),
    _profiler_enabled=lambda: fail_at("enabled") or False,
    _enable_record_function=lambda enabled: None,
)
GPU = os.environ.get("STAND_IN_GPU")
torch.cuda = types.SimpleNamespace(is_available=lambda: GPU == "cuda", is_initialized=lambda: False)
torch.xpu = types.SimpleNamespace(is_available=lambda: GPU == "xpu")
torch.npu = types.SimpleNamespace(is_available=lambda: GPU == "npu")
torch.backends = types.SimpleNamespace(mps=types.SimpleNamespace(is_available=lambda: GPU == "mps"))
torch.distributed = types.SimpleNamespace(is_available=lambda: False)
sys.modules["torch"] = torch
'''
