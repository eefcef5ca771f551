"""The goals, each with the figure that it is judged by: met, not met, or not measured in this run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.bench.rows import Row

Figures = dict[str, float]


@dataclass(frozen=True)
class Goal:
    """`most`, or else `least`, is what `figure` may be; it raises KeyError where it was not measured."""

    name: str
    figure: Callable[[Figures], float]
    most: float = float("inf")
    least: float = float("-inf")

    @property
    def bound(self) -> str:
        return f"<= {self.most:g}" if self.most != float("inf") else f">= {self.least:g}"


def _of(what: str) -> Callable[[Figures], float]:
    return lambda found: found[what]


GOALS = (
    Goal("a leg through the app / raw SDK call, upstream 0 ms", _of("SQLite: app / raw"), most=2.5),
    Goal("the same, upstream 50 ms", _of("SQLite, upstream 50 ms: app / raw"), most=1.3),
    Goal("a leg through the app / a fresh SDK client", _of("SQLite: app / fresh"), most=0.5),
    Goal("own processor time of a leg (ms)", _of("SQLite: app, processor time"), most=18),
    Goal("legs per second and process, 16 at once", _of("SQLite, 16 at once: app, legs per second"), least=45),
    Goal(
        "processor time of a leg, two processes / one",
        _of("PostgreSQL and Redis: processor time, two processes / one"),
        most=1.1,
    ),
    Goal(
        "sealing and opening 64 kB, part of a leg",
        lambda found: (
            (found["seal a record of 64 kB"] + found["open a record of 64 kB"]) / found["SQLite, state 64 kB: app"]
        ),
        most=0.03,
    ),
    Goal("a leg with 100,000 open flows / with 100", _of("100,000 open flows / 100"), most=1.1),
    Goal("memory of 1,000 more waiting flows (MiB)", _of("memory of a process for 1,000 more waiting flows"), most=2),
    Goal(
        "catalogue of 200 servers of 50 tools, processor time (ms)",
        _of("the catalogue, 200 servers of 50 tools: processor time"),
        most=60,
    ),
    Goal("the same, queries", _of("the catalogue, 200 servers of 50 tools: queries"), most=12),
)


def judged(rows: Iterable[Row]) -> list[Row]:
    found = {row["what"]: row["value"] for row in rows}
    return [_judge(goal, found) for goal in GOALS]


def _judge(goal: Goal, found: Figures) -> Row:
    try:
        value = goal.figure(found)
    except KeyError:
        return {"goal": goal.name, "bound": goal.bound, "value": None, "met": None}
    return {"goal": goal.name, "bound": goal.bound, "value": value, "met": goal.least <= value <= goal.most}


def tell(judged: Iterable[Row]) -> None:
    print("\ngoals")
    for each in judged:
        value = "-" if each["value"] is None else f"{each['value']:.2f}"
        word = {True: "met", False: "NOT MET", None: "not measured"}[each["met"]]
        print(f"{each['goal']:64} {value:>10} {each['bound']:>8}  {word}")
