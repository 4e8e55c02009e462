"""Transactions that overlap for certain, on connections of their own. For tests with transaction=True."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, connections, transaction


def at_the_same_time(*actions: Callable[[], Any]) -> list[str]:
    """What became of the actions, each in its transaction, in the order of their ends.

    None commits before all have acted.
    """
    acted = threading.Barrier(len(actions), timeout=20)
    outcomes: list[str] = []

    def run(action: Callable[[], Any]) -> None:
        try:
            with transaction.atomic():
                action()
                acted.wait()
            outcomes.append("committed")
        except IntegrityError:
            outcomes.append("refused")
        except Exception as error:
            outcomes.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[action]) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes
