"""A module that looks like torch with one CUDA device; tests write its source into programs."""

SOURCE = '''
import sys, types

MIB = 1 << 20

class FakeCuda(types.SimpleNamespace):
    """Numbers that a test can predict: device 0 has 1024, 2048 and 4096 MiB; device 1 one MiB more of each."""
    def is_initialized(self): return True
    def is_available(self): return True
    def current_device(self): return 0
    def synchronize(self, device=None): pass
    def _of(self, device, mib): return (mib + (device.index if device is not None else 0)) * MIB
    def memory_allocated(self, device=None): return self._of(as_device(device), 1024)
    def memory_reserved(self, device=None): return self._of(as_device(device), 2048)
    def max_memory_allocated(self, device=None): return self._of(as_device(device), 4096)

class Device:
    def __init__(self, what):
        text = str(what)
        if not text.startswith("cuda") and not text.isdigit():
            raise ValueError("not a CUDA device: " + text)
        digits = "".join(c for c in text if c.isdigit())
        self.index = int(digits) if digits else 0

def as_device(device):
    return device if device is None or isinstance(device, Device) else Device(device)

torch = types.ModuleType("torch")
torch.cuda = FakeCuda()
torch.device = lambda what: as_device(what)
sys.modules["torch"] = torch
'''
