"""Tries bad inputs on all public functions: which are refused by name, which are
answered, and which leak another error.

The script runs the examples in the docstrings, then those of the library's tests that
name functions not yet called. For every public function or method it keeps the fastest
call that succeeds. Then it replaces one argument at a time by a bad value. An error
that does not name the argument is a leak. An answer to a value that no function accepts
(text, dates, complex numbers) is wrong. No call may change its input. If the function
accepts an array of another shape, but a loss of the caller's own refuses it, the error
of that loss counts as the caller's.

Hypothesis would need a strategy for every argument. jaxtyping's annotations refuse
nothing until a type checker is switched on. Neither reads the text of an error.

    .venv/bin/python tools/bad_inputs.py --most 6000 --seed 0        # all functions: takes minutes
    .venv/bin/python tools/bad_inputs.py tests/memory --record       # functions that these tests call
    .venv/bin/python tools/bad_inputs.py tests/memory --record --new # functions that no record has called yet
    .venv/bin/python tools/bad_inputs.py --most 150 --examples       # functions that the examples call

`--record` stores the counts, and the functions that were called, in
`tests/bad_inputs.json`. Functions that neither this run nor a record has called are
listed. The functions in question are those that the packages export, and those that
pages and experiments import from a module within a package.
"""

import argparse
import ast
import dataclasses
import doctest
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few_tests import FewTests

import rankone
from rankone._annotated import checked
from rankone.precision import double_precision

PARTS = (  # of the package, and folders of its tests
    "checks",
    "data",
    "editing",
    "language",
    "maml",
    "memory",
    "nn",
    "precision",
    "preconditioning",
    "printed",
    "residual",
    "theory",
    "universality",
    "writes",
)
# kinds of values that no function takes as numbers
PLAINLY_BAD = (
    "complex",
    "text",
    "dates",
    "texts",
    "object",
    "nested text",
)
# kinds that are bad whatever the other arguments are, so that the error must name this
# one
ALONE_BAD = (
    *PLAINLY_BAD,
    "ragged",
    "dict",
    "NaN",
    "infinity",
    "nan",
    "inf",
)
# kinds that a function of the caller's may refuse itself
SHAPES = (
    "longer",
    "one axis more",
    "empty",
    "row",
    "pair",
)
_PARTS = filter(inspect.iscode, inspect.unwrap(checked).__code__.co_consts)
# code of the wrapper around each function that is `checked`
CHECKED = next(part for part in _PARTS if part.co_name == "call")
# arguments that cannot be checked: any text may be a path, and parameters have the
# meaning that a loss gives them
NOT_CHECKED = (
    "self",
    "cls",
    "checkpoint",
    "params",
)
# functions that get arguments which others have checked
BEHIND = (
    "accurate_difference",
    "at_least_single",
    "canonical",
    "smallest_pivot",
    "wider",
    # steps of a network's forward pass, called inside the caller's compiled program
    *("Cache", "at_positions", "before_head", "continue_tokens", "embed", "head"),
    *("log_likelihood", "logits", "next_scores", "run", "up_to_layer"),
    "is_layer",  # takes any object
)
NEVER = dict[str, str]()  # public function or method → why nothing calls it here
ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "bad_inputs.json"
HOOK = "tests/checks/test_checks.py::test_these_tests_run_the_package_under_a_type_checker_that_knows_shapes"
# longest call, in seconds, that is repeated with bad inputs; most of a first call's
# time is compilation
SLOWEST = 30.0


class Call(NamedTuple):
    """A call that succeeded: its function, its arguments, its time, and True in
    `double` if it ran in double precision.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    seconds: float = 0.0
    double: bool = False


def modules() -> Iterator[Any]:
    """Every module of the library, whose examples are run."""
    for part in PARTS:
        package = importlib.import_module(f"rankone.{part}")
        yield package
        for entry in pkgutil.iter_modules(getattr(package, "__path__", [])):
            yield importlib.import_module(f"{package.__name__}.{entry.name}")


def public(
    besides: Container[tuple[str, str]] = (),
) -> dict[int, tuple[str, Callable[..., Any]]]:
    """Id of a function's code → its name and the function, for all functions that the
    packages and the modules of `theory` and `printed` export, and for those in
    `besides`, by module and name.

    Of a class that only stores results, and so checks nothing when it is created, only
    the methods count. Protocols are left out, because their methods do nothing.
    """
    functions: dict[int, tuple[str, Callable[..., Any]]] = {}
    exported = [
        m
        for m in modules()
        if m.__name__.count(".") == 1
        or m.__name__.split(".")[1] in ("theory", "printed")
    ]
    things = {
        (name, id(thing)): thing
        for m in modules()
        for name in _names_of(m)
        if m in exported or (m.__name__, name) in besides
        for thing in [getattr(m, name)]
    }
    things = {
        key: thing
        for key, thing in things.items()
        if not getattr(thing, "_is_protocol", False)
    }
    times = Counter(name for name, _ in things)
    for (name, _), thing in things.items():
        if times[name] > 1:
            name = f"{thing.__module__.rpartition('.')[2]}.{name}"
        members = [(name, thing, thing)]
        if inspect.isclass(thing):
            members = [
                (f"{name}.{key}", part, part)
                for key, part in vars(thing).items()
                if not key.startswith("_")
            ]
            constructs = (
                "__post_init__" in vars(thing)
                or not dataclasses.is_dataclass(thing)
                or _has_own_init(thing)
            )
            members += [
                (f"{name}()", getattr(thing, "__init__", None), thing)
            ] * constructs
            members += [
                (
                    f"{name}.__call__",
                    vars(thing).get("__call__"),
                    vars(thing).get("__call__"),
                )
            ]
        for label, member, target in members:
            member = getattr(member, "__func__", member)
            function = inspect.unwrap(member) if member is not None else None
            if inspect.isfunction(function) and str(function.__module__).startswith(
                "rankone"
            ):
                # by id, because code objects of two classes with the same fields are
                # equal
                functions[id(function.__code__)] = (
                    label,
                    target if inspect.isclass(target) else member,
                )
    return functions


def _names_of(module: Any) -> list[str]:
    return [
        name
        for name in getattr(module, "__all__", ())
        if callable(getattr(module, name)) and name not in BEHIND
    ]


def imported() -> set[tuple[str, str]]:
    """Module and name of all that a cell of a page or an experiment imports from a
    module of a part, as in `from rankone.language.spread import spread_edit` or
    `ro.residual.resmem.soft_weights` do.
    """
    cells = [
        re.sub(r"(?m)^(---\n(.*\n)*?---|[:%!].*)$", "", cell)
        for page in sorted(ROOT.glob("book/**/*.md"))
        for cell in re.findall(
            r"(?ms)^```\{code-cell\}[^\n]*\n(.*?)^```", page.read_text("utf-8")
        )
    ]
    scripts = [
        path.read_text("utf-8") for path in sorted(ROOT.glob("experiments/*.py"))
    ]
    uses: set[tuple[str, str]] = set()
    nodes = [node for code in cells + scripts for node in ast.walk(ast.parse(code))]
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            uses.update((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            home, _, name = ast.unparse(node).rpartition(".")
            uses.add((home.replace("ro.", "rankone.", 1), name))
    whole = {f"{home}.{name}" for home, name in uses}
    return uses | {
        (module.__name__, name)
        for module in modules()
        if module.__name__ in whole
        for name in _names_of(module)
    }


def _has_own_init(thing: Any) -> bool:
    """True if a class defines `__init__` itself, rather than getting that of a
    dataclass.
    """
    code = getattr(vars(thing).get("__init__"), "__code__", None)
    return code is not None and code.co_filename != "<string>"


@contextmanager
def watched(
    names: dict[int, tuple[str, Callable[..., Any]]],
) -> Iterator[dict[str, Call]]:
    """Context that records calls. Its value is a dictionary: name of a function → its
    fastest call that succeeded, with the arguments of the caller.
    """
    calls: dict[str, Call] = {}
    takes = {
        code: tuple(inspect.signature(function).parameters)
        for code, (_, function) in names.items()
    }

    def watch(frame: Any, event: str, _: Any) -> Any:
        code = id(_code(frame))
        if code not in names:
            return None
        name, function = names[code]
        arguments = _arguments_in(frame, takes[code])
        if name.endswith("()"):
            # first argument of __init__, whatever its name
            owner = function
            function = type(next(iter(frame.f_locals.values())))
            if inspect.unwrap(function.__init__).__code__ is not frame.f_code:
                return None  # called by a subclass's own __init__
            name = name if function is owner else f"{function.__name__}()"
        if any(
            isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments)
        ):
            return None
        start = perf_counter()
        double = jax.config.read("jax_enable_x64")
        raised = False

        def inside(frame: Any, event: str, value: Any) -> Any:
            nonlocal raised
            raised |= event == "exception"
            # an error also ends a call with the event "return"
            if event == "return" and not (raised and value is None):
                call = Call(function, arguments, perf_counter() - start, double)
                if call.seconds < min(
                    SLOWEST, calls[name].seconds if name in calls else SLOWEST
                ):
                    calls[name] = call
            return inside

        return inside

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield calls
    finally:
        sys.settrace(before)


def _code(frame: Any) -> Any:
    """Code that is called. For a function that is `checked`, and may be compiled, the
    code of the function itself.
    """
    return (
        inspect.unwrap(frame.f_locals["function"]).__code__
        if frame.f_code is CHECKED
        else frame.f_code
    )


def _arguments_in(frame: Any, takes: tuple[str, ...]) -> dict[str, Any]:
    arguments = frame.f_locals
    if frame.f_code is CHECKED:
        with suppress(TypeError):  # the call will be refused
            arguments = (
                arguments["takes"]
                .bind(*arguments["args"], **arguments["kwargs"])
                .arguments
            )
    return {name: arguments[name] for name in takes if name in arguments}


def run_examples() -> None:
    """Run the examples in the docstrings of the library."""
    finder = doctest.DocTestFinder()
    runner = doctest.DocTestRunner(verbose=False)
    for test in (
        test for module in modules() for test in finder.find(module) if test.examples
    ):
        runner.run(test, out=lambda _: None)


def replacements(value: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Bad values of an argument, by kind. Numbers and arrays have more kinds. No value
    needs much memory.
    """
    bad: dict[str, Any] = {
        "text": "no such thing",
        "object": object(),
        "dates": np.array(["2020-01-01"], "datetime64[D]"),
        "texts": np.array(["a", "b"]),
        "ragged": [[1.0, 2.0], [3.0]],
        "nested text": [["a"], ["b"]],
        "dict": {"a": 1},
        "complex": np.ones(np.shape(value) if _is_numbers(value) else (2, 2))
        * (1 + 5j),
    }
    if isinstance(value, str | os.PathLike):
        del bad["text"]  # any text may be valid, or the path of a file
    if not _is_numbers(value):
        return bad
    host = np.asarray(value)
    if host.ndim:
        corrupt = np.array(host, float)
        corrupt.flat[rng.integers(corrupt.size) if corrupt.size else slice(0)] = np.nan
        bad |= {
            "NaN": corrupt,
            "infinity": np.where(np.isnan(corrupt), np.inf, corrupt),
            "empty": host[:0],
        }
        bad |= {
            "one axis more": host[None, None],
            "number": 1.5,
            "None": None,
            "longer": np.concatenate([host] * 2, -1),
        }
    else:
        bad |= {
            "nan": float("nan"),
            "inf": float("inf"),
            "negative": -1,
            "fraction": 0.5,
            "row": np.ones(3),
        }
        bad |= {"nothing": 0, "none": None, "pair": (1, 2)}
    return bad


def _is_numbers(value: Any) -> bool:
    if isinstance(value, bool | str) or value is None or callable(value):
        return False
    try:
        return np.asarray(value).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def _bytes(value: Any) -> Any:
    leaves = [
        leaf
        for leaf in jax.tree.leaves(value)
        if isinstance(leaf, np.ndarray) and leaf.dtype != object
    ]
    return [leaf.tobytes() for leaf in leaves]


def outcome(call: Call, kind: str, blamed: set[str]) -> tuple[str, str]:
    """Verdict on a call with such an input, and the text of the error.

    Named: the error names one of the arguments that may be blamed. The caller's: a
    function of the caller's own raised it. Leaky: any other error. Answered: there was
    no error; answered wrongly, if the value is plainly bad. Changed: the call changed
    its input.
    """
    function = call.function
    arguments = jax.tree.map(_usable_leaf, call.arguments)
    message = ""
    before = _bytes(arguments)
    quiet = (
        warnings.catch_warnings(),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    )
    try:
        with quiet[0], quiet[1], quiet[2], double_precision(call.double):
            warnings.simplefilter("ignore")
            result = _call(function, arguments)
            jax.block_until_ready(
                [
                    leaf
                    for leaf in jax.tree.leaves(result)
                    if isinstance(leaf, jax.Array)
                ]
            )
        verdict = "answered wrongly" if kind in PLAINLY_BAD else "answered"
    except Exception as error:
        verdict = "leaky"
        message = f"{type(error).__name__}: {error!s:.100}"
        if _names(error, blamed):
            verdict = "named"
        elif kind in SHAPES and _of_the_caller(error):
            verdict = "the caller's"
    return "changed" if _bytes(arguments) != before else verdict, message


def _usable_leaf(leaf: Any) -> Any:
    """The leaf, or zeros in place of an array that an earlier call donated."""
    deleted = isinstance(leaf, jax.Array) and leaf.is_deleted()
    return jnp.zeros(leaf.shape, leaf.dtype) if deleted else leaf


def _names(error: Exception, blamed: set[str]) -> bool:
    """True if the error is the package's own, "argument: got …; it must be …", for one
    of these arguments, or names a package to install.
    """
    match = re.match(
        r"(\w+)(\.\w+|\[[^]]*\])*: got .*; it must be ", str(error), re.DOTALL
    )
    is_ours = isinstance(error, ValueError) and match is not None and match[1] in blamed
    return is_ours or (isinstance(error, ImportError) and "pip install " in str(error))


def _blamed(call: Call, argument: str, value: Any, kind: str) -> set[str]:
    """Arguments that an error may name: only the replaced one, or all arguments if the
    bad value may be valid by itself and not fit the others.
    """
    if kind in ALONE_BAD and value is not None:
        return {argument}
    parameters = inspect.signature(call.function).parameters.values()
    options = [
        call.arguments.get(parameter.name, {})
        for parameter in parameters
        if parameter.kind is parameter.VAR_KEYWORD
    ]
    return {parameter.name for parameter in parameters}.union(*options) - {
        "self",
        "cls",
    }


def _of_the_caller(error: Exception) -> bool:
    """True if the error arose in a function that a test passed, and not in the library
    or before it.
    """
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    last = [
        file
        for file in files
        if "site-packages" not in file and not file.startswith(sys.base_prefix)
    ][-1]
    return last != __file__ and not last.startswith(os.path.dirname(rankone.__file__))


def _call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in values:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments += list(values[name])
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= values[name]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = values[name]
        else:
            arguments.append(values[name])
    return function(*arguments, **keywords)


def table(calls: dict[str, Call], most: int, seed: int) -> dict[str, Counter]:
    """Function → number of its bad inputs by verdict. Under "" are the faults, in
    words.
    """
    rng = np.random.default_rng(seed)
    todo = []
    for name, call in sorted(calls.items()):
        for options, argument, value in _arguments(call):
            for kind, bad in replacements(value, rng).items():
                trial = call._replace(
                    arguments=_with(call.arguments, options, argument, bad)
                )
                todo.append(
                    (name, argument, kind, trial, _blamed(call, argument, value, kind))
                )
    sample = sorted(rng.permutation(len(todo))[:most])
    counts: dict[str, Counter] = {}
    for name, argument, kind, call, blamed in (todo[i] for i in sample):
        ended, message = outcome(call, kind, blamed)
        counts.setdefault(name, Counter())[ended] += 1
        if ended in ("leaky", "answered wrongly", "changed"):
            counts.setdefault("", Counter())[
                f"{ended}: {name}({argument}={kind}) {message}".rstrip()
            ] += 1
    return counts


def _arguments(call: Call) -> Iterator[tuple[str, str, Any]]:
    """Name of `**options` or "", name and value of each argument, those in `**options`
    included.
    """
    parameters = inspect.signature(call.function).parameters
    for name, value in call.arguments.items():
        if parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            yield from (
                (name, key, entry)
                for key, entry in value.items()
                if key not in NOT_CHECKED
            )
        elif (
            name not in NOT_CHECKED
            and parameters[name].kind is not inspect.Parameter.VAR_POSITIONAL
        ):
            yield "", name, value


def _with(
    arguments: dict[str, Any], options: str, name: str, bad: Any
) -> dict[str, Any]:
    return arguments | (
        {options: arguments[options] | {name: bad}} if options else {name: bad}
    )


def missing(
    names: dict[int, tuple[str, Callable[..., Any]]], called: Iterable[str]
) -> set[str]:
    """Functions that take arguments, and that are not among those called."""
    return {
        name
        for name, function in names.values()
        if set(inspect.signature(function).parameters) - {"self"}
    } - set(called)


def recorded() -> dict[str, Any]:
    """Part of the library → the verdicts on its bad inputs, and the functions that its
    tests called, when it was last recorded.
    """
    return json.loads(RECORD.read_text("utf-8")) if RECORD.is_file() else {}


def without_a_call() -> set[str]:
    """Functions that no record names, and whose module has no example with their
    name.
    """
    names = public(imported())
    known = {name for part in recorded().values() for name in part["functions"]}
    return {
        name
        for name in missing(names, {*known, *NEVER})
        for function in [dict(names.values())[name]]
        if not re.search(
            rf"^ *(>>>|\.\.\.) .*\b{name.removesuffix('()').rpartition('.')[2]}\(",
            inspect.getsource(sys.modules[function.__module__]),
            re.M,
        )
    }


def record(
    tests: list[str], ended: Counter, functions: Iterable[str], *, more: bool
) -> None:
    """Store the counts of one part beside those of other existing parts. `more` adds
    them to the part's recorded counts.
    """
    part = " ".join(Path(test).name for test in tests)
    if more and part in recorded():
        ended = ended + Counter(recorded()[part]["inputs"])
        functions = {*functions, *recorded()[part]["functions"]}
    others = {
        name: counts
        for name, counts in recorded().items()
        if name in ("all", "examples") or set(name.split()) <= {*PARTS}
    }
    counts = others | {
        part: {"inputs": dict(sorted(ended.items())), "functions": sorted(functions)}
    }
    RECORD.write_text(
        json.dumps(dict(sorted(counts.items())), indent=1) + "\n", "utf-8"
    )


def words(labels: set[str]) -> set[str]:
    """The names by which tests call functions: the name of a class, the last name of a
    method.
    """
    return {
        label.removesuffix(".__call__").removesuffix("()").rpartition(".")[2]
        for label in labels
    }


def main() -> None:
    """Print the faults and the counts. Fail if there is a leak, a wrong answer, a
    changed input, or a function that was never called.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--most", type=int, default=6000, help="number of inputs, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--examples",
        action="store_true",
        help="only of what the examples call, not the tests",
    )
    parser.add_argument(
        "--record", action="store_true", help="try all inputs, and keep the counts"
    )
    parser.add_argument(
        "--new", action="store_true", help="only what no record has called yet"
    )
    parser.add_argument(
        "tests", nargs="*", help="instead of the examples and all tests of the library"
    )
    args = parser.parse_args()
    every = [folder for part in PARTS if os.path.isdir(folder := f"tests/{part}")]
    names = public(imported())
    if args.new:
        known = {name for part in recorded().values() for name in part["functions"]}
        new = missing(names, known)
        names = {code: pair for code, pair in names.items() if pair[0] in new}
    with watched(names) as calls:
        if not args.tests:
            run_examples()
        if not args.examples:
            few = FewTests(lambda: words(missing(names, calls)))
            # The package is imported before the tests could put a type checker around
            # it.
            options = [
                "-q",
                "-p",
                "no:cacheprovider",
                "-W",
                "ignore",
                f"--deselect={HOOK}",
            ]
            pytest.main([*options, *(args.tests or every)], plugins=[few])
    counts = table(calls, sys.maxsize if args.record else args.most, args.seed)
    faults = counts.pop("", Counter())
    total: Counter = sum(counts.values(), Counter())
    if args.record:
        part = args.tests or ["examples" if args.examples else "all"]
        record(part, total, calls, more=args.new)
    print("\n".join(sorted(faults)))
    never = missing(
        names,
        {
            *calls,
            *NEVER,
            *(name for part in recorded().values() for name in part["functions"]),
        },
    )
    print("never called:", ", ".join(sorted(never)) or "none")
    print(
        f"{len(counts)} functions and methods, {sum(total.values())} inputs:",
        dict(total),
    )
    sys.exit(bool(faults or never))


if __name__ == "__main__":
    print(rankone.__version__)
    main()
