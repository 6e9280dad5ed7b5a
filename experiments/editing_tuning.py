"""How wide fine-tuning must be let to write a fact, and what it takes along: several
radii of its L-infinity cube.

A cell is one fact of `editing_facts`, written by fine-tuning one down projection on its
sentence, with every entry of the change kept within the radius.
"""

from editing_facts import chosen, known
from editing_known import model
from record import Experiment, main

from rankone.language.edit_metrics import judge
from rankone.language.prompts import continuations
from rankone.language.relations import country_fact
from rankone.language.rewriting import fine_tune

GRID = {"radius": [1e-2], "fact": chosen()[::6]}
OPTIONS = {"layer": 2, "neighbours": 6}


def measure(
    *, radius: float, fact: str, layer: int, neighbours: int, seed: int
) -> dict:
    """What the tuned model answers, and the steps it took."""
    relation, name, target = fact.split(":")
    case = country_fact(name, relation, target, known(relation), count=neighbours)
    rows = continuations(model().tokenizer, [case.request.text], [target])
    delta, steps = fine_tune(model().network, rows, layer=layer, radius=radius)
    return {"answers": judge(model(), case, layer, {"tuned": delta}), "steps": steps}


EXPERIMENT = Experiment(
    "editing_tuning", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
