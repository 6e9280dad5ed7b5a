"""How well constrained fine-tuning writes a fact, and which other answers it changes,
over a sweep of its step size and its bound.

A cell is one fact of `editing_facts`, one step size of Adam and one bound. Fine-tuning
changes one down projection on the fact's sentence, and every entry of the change stays
within the bound. This is the L∞ constraint of Zhu et al. (2020), in the form that Meng
et al. (2022) call FT+L: at most 25 steps of Adam on one matrix. Their rate is 5e-4 and
their bound 5e-5 to 2e-3, by model. Theirs stops at a loss of 0.01 and predicts all
tokens of the answer from the last token of the question; this one stops at 0.05 and
predicts them one after another.
"""

from functools import cache

from editing_facts import chosen, known
from editing_known import model
from record import Experiment, main

from rankone.language.edit_metrics import judge
from rankone.language.prompts import Continuations, continuations
from rankone.language.relations import Fact, country_fact
from rankone.language.rewriting import fine_tune

GRID = {
    "radius": [1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2],
    "rate": [2e-4, 5e-4, 2e-3, 5e-3],
    "fact": chosen()[::3],
}
OPTIONS = {"layer": 2, "neighbours": 6}
# 25 steps of 2e-4 reach no further than 5e-3, and 25 of 5e-4 no further than 1.25e-2. A
# wider bound would give the same result.
IMPOSSIBLE = (
    *({"radius": radius, "rate": 2e-4} for radius in (1e-2, 2e-2, 5e-2)),
    {"radius": 5e-2, "rate": 5e-4},
)


@cache
def _case(fact: str, neighbours: int) -> tuple[Fact, Continuations]:
    relation, name, target = fact.split(":")
    case = country_fact(name, relation, target, known(relation), count=neighbours)
    return case, continuations(model().tokenizer, [case.request.text], [target])


def measure(
    *, radius: float, rate: float, fact: str, layer: int, neighbours: int, seed: int
) -> dict:
    """Answers of the tuned model, and the number of steps of the fine-tuning."""
    case, rows = _case(fact, neighbours)
    delta, steps = fine_tune(
        model().network, rows, layer=layer, radius=radius, rate=rate
    )
    return {"answers": judge(model(), case, layer, {"tuned": delta}), "steps": steps}


EXPERIMENT = Experiment(
    "editing_tuning",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    impossible=IMPOSSIBLE,
)

if __name__ == "__main__":
    main(EXPERIMENT)
