"""Exact answers and what the table learns are the same to the last bit on every processor."""

import ast
import json
import os
import subprocess
import sys

import pytest
from checkout import ROOT
from digest import enabled_features
from numpy._core._multiarray_umath import __cpu_features__

#: OpenBLAS kernels, and what a processor must have to run them.
KERNELS = {"Prescott": "SSE3", "Sandybridge": "AVX", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}
#: Names that numpy 2.4 gives to groups of features.
GROUPS = {"SSE3": "X86_V2", "AVX": "X86_V3", "AVX2": "X86_V3", "AVX512_SKX": "X86_V4"}


def runs_here(feature):
    return any(__cpu_features__.get(name, False) for name in (feature, GROUPS[feature]))


def imitations():
    """Settings under which numpy and its BLAS compute as on other machines."""
    yield "this machine", {}
    kernels = [kernel for kernel, feature in KERNELS.items() if runs_here(feature)]
    oldest = {"OPENBLAS_CORETYPE": kernels[0]} if kernels else {}
    yield "no vectors", {"NPY_DISABLE_CPU_FEATURES": " ".join(enabled_features()), **oldest}
    for kernel in kernels[1:]:
        yield kernel, {"OPENBLAS_CORETYPE": kernel}


@pytest.mark.slow  # the ban below finds at once what would differ
def test_every_processor_gives_the_same_bits():
    command = [sys.executable, str(ROOT / "tests" / "digest.py")]
    processes = {
        name: subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE)
        for name, variables in imitations()
    }
    found = {name: json.loads(process.communicate()[0]) for name, process in processes.items()}
    assert all(process.returncode == 0 for process in processes.values())
    assert found["no vectors"]["features"] == []
    here = found["this machine"]["digests"]
    assert len(here) > 40
    for name, other in found.items():
        differ = [asked for asked, digest in other["digests"].items() if digest != here[asked]]
        assert not differ, f"as on {name}"


#: Functions that sum in an order of the processor's (BLAS), or whose last bit is the library's.
LIBRARY = {
    *("dot", "vdot", "inner", "matmul", "matvec", "vecmat", "vecdot", "einsum", "tensordot"),
    *("kron", "convolve", "correlate", "linalg", "power", "float_power", "pow"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot", "logaddexp"),
    *("sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arctan2", "arcsin", "arccos"),
}
LEARNER = ROOT / "agents" / "learners" / "q_learning.py"
#: What sizes would take is estimated there, and in functions called ``_check_states``.
ESTIMATES = ROOT / "core" / "sizes.py"
#: Networks compute there; their scores are the core's.
JAX = ROOT / "envs" / "jax"
ROOMS = [ROOT / room for room in ("core", "games", "baselines", "envs")]
EXACT = {path for room in ROOMS for path in room.rglob("*.py") if JAX not in path.parents}
#: Functions whose figures are no exact ones: estimates, and the softmax of networks. Products and
#: sums in fixed point are integers that floats hold exactly, in any order; its tanh is rounded. The
#: error bound of a decision process is proved of its values, however they were found.
OTHERS = {"_check_states", "choose", "grid_actions", "_product", "_tangents"}
OTHERS |= {"_guess", "_guess_in_order", "_sweep", "_missed", "_swept", "solver"}


def library_arithmetic(code, powers=False):
    """List matrix products, functions in ``LIBRARY`` and, if asked, the operator ``**``."""
    tree = ast.parse(code)
    banned = (ast.MatMult, ast.Pow) if powers else ast.MatMult
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = {entry.name for node in imports for entry in node.names} & LIBRARY

    def look(node):
        if isinstance(node, ast.FunctionDef) and node.name in OTHERS:
            return
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, banned):
            yield node.lineno, type(node.op).__name__
        elif isinstance(node, ast.Attribute) and node.attr in LIBRARY:
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name) and node.id in imported:
            yield node.lineno, node.id
        for child in ast.iter_child_nodes(node):
            yield from look(child)

    yield from look(tree)


def test_exact_computation_leaves_nothing_to_the_processor():
    """Powers are of whole numbers and fractions there, but for the learner's."""
    files = [*EXACT - {ESTIMATES}, LEARNER]
    codes = [(path, path.read_text("utf-8")) for path in files]
    found = [(path, *library_arithmetic(code, powers=path == LEARNER)) for path, code in codes]
    assert [each for each in found if each[1:]] == []
    examples = ["a @ b", "a @= b", "np.dot(a, b)", "a.dot(b)", "np.linalg.norm(a)", "a ** b"]
    for code in (*examples, "from math import log\nlog(a)", "math.exp(a)"):
        assert len(list(library_arithmetic(code, powers=True))) == 1, code
