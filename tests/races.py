"""Transactions that overlap for certain, on connections of their own. For tests with transaction=True."""

import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, connection, connections, transaction


def at_the_same_time(*actions: Callable[[], Any]) -> list[str]:
    """What became of the actions, each in its transaction, in the order of their ends.

    None is checked before all have acted, and none ends before each could be checked.
    """
    acted = threading.Barrier(len(actions), timeout=20)
    outcomes: list[str] = []

    def run(action: Callable[[], Any]) -> None:
        try:
            with transaction.atomic():
                action()
                acted.wait()
                # What a commit checks, checked now; and time for the others to pass theirs, unless a lock holds them.
                connection.check_constraints()
                time.sleep(0.3)
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


def while_another(changes: Callable[[], Any], this: Callable[[], Any]) -> None:
    """Do `this` from another connection after one has made its changes and before it commits."""

    def elsewhere() -> None:
        try:
            this()
        finally:
            connections.close_all()

    other = threading.Thread(target=elsewhere)
    with transaction.atomic():
        changes()
        other.start()
        other.join(0.5)  # or it waits
    other.join(20)
    assert not other.is_alive()
