"""Progress on its way: the latest of many values, few times a second, and nothing that a server makes up."""

from mrtr_web.pace import Pace


def test_the_first_value_goes_at_once_and_then_the_latest_after_each_gap() -> None:
    pace: Pace[int] = Pace(0.25)
    assert pace.offer(1, 10.0) == 0
    assert pace.take(10.0) == 1
    assert pace.offer(2, 10.0) == 0.25
    assert [pace.offer(number, 10.0 + number / 100) for number in range(3, 20)] == [None] * 17
    assert pace.take(10.25) == 19
    assert pace.offer(20, 10.375) == 0.125
    assert pace.take(10.5) == 20


def test_after_a_silence_there_is_no_wait() -> None:
    pace: Pace[str] = Pace(0.25)
    pace.offer("a", 0)
    pace.take(0)
    assert pace.offer("b", 60) == 0
