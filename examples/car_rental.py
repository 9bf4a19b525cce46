"""Jack's car rental (Sutton and Barto 2018, example 4.2): a discounted process of 441 states.

Two places rent cars for 10 each; overnight up to five cars move from one to the other, at 2 a car.
Requests and returns are Poisson, with means 3 and 3, and 4 and 2. The discount is .9.

    exactdice solve examples/car_rental.py:CarRental
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import exp, factorial

import exactdice

CARS = 20


def poisson(mean: float) -> list[float]:
    """Give the chances of 0, 1, ..., and of ``CARS`` or more, which is all there can be."""
    law = [exp(-mean) * mean**k / factorial(k) for k in range(CARS)]
    return [*law, 1 - sum(law)]


@cache
def day(cars: int, requests: float, returns: float) -> tuple[list[float], float]:
    """Give the chance of each number of cars after a day, and the mean number of those rented."""
    chances, rented = [0.0] * (CARS + 1), 0.0
    for (asked, p), (back, q) in product(enumerate(poisson(requests)), enumerate(poisson(returns))):
        out = min(cars, asked)
        chances[min(CARS, cars - out + back)] += p * q
        rented += p * q * out
    return chances, rented


class CarRental(exactdice.SimpleGame):
    """The rules: a state is the cars at both places in the evening, an action what moves."""

    gamma = 0.9

    def start(self) -> list[tuple[int, tuple[int, int]]]:
        """Begin with ten cars at each place."""
        return [(1, (10, 10))]

    def actions(self, state: tuple[int, int]) -> range:
        """Move up to five cars from the first place to the second, or back."""
        return range(-min(5, state[1]), min(5, state[0]) + 1)

    def outcomes(
        self, state: tuple[int, int], action: int
    ) -> Iterator[tuple[float, float, tuple[int, int]]]:
        """Rent and take back through the day."""
        first, second = min(CARS, state[0] - action), min(CARS, state[1] + action)
        (here, rented), (there, more) = day(first, 3, 3), day(second, 4, 2)
        reward = 10 * (rented + more) - 2 * abs(action)
        for (one, p), (other, q) in product(enumerate(here), enumerate(there)):
            yield p * q, reward, (one, other)


exactdice.register(CarRental)
