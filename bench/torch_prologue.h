// How PyTorch's programs begin, for /usr/bin/python3: imports, and a line that says which PyTorch and BLAS they run on,
// or "refused" and why. A torch that multiplies with the reference BLAS, which is several times slower than any that
// people use, is refused.
#pragma once

namespace ballast::bench {

inline constexpr const char* kTorchPrologue = R"py(
import sys, time
import ctypes
try:
    import torch
except ImportError:
    print("refused PyTorch is not installed for /usr/bin/python3")
    sys.exit()
from torch import nn
torch.rand(64, 64) @ torch.rand(64, 64)
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
open_blas = sorted(path for path in mapped if "libopenblas" in path)
if open_blas:
    library = ctypes.CDLL(open_blas[0])
    def say(name):
        function = getattr(library, name)
        function.restype = ctypes.c_char_p
        return function().decode()
    blas = " ".join(say("openblas_get_config").split()[:2]) + " (" + say("openblas_get_corename") + ")"
elif torch.backends.mkl.is_available():
    blas = "MKL"
else:
    print("refused PyTorch " + torch.__version__ + " of /usr/bin/python3 multiplies with the reference BLAS; "
          "install libopenblas0-pthread")
    sys.exit()
print("PyTorch " + torch.__version__ + ", " + blas)
)py";

}  // namespace ballast::bench
