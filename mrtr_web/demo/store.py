"""What the demo server must remember beyond its sealed state: payments, and vouchers that were used. One SQLite file.

Processes with one key share one file. Nothing is written for a flow before it needs it, and each table forgets its
oldest rows, so that flows which people abandon leave nothing to grow.
"""

import secrets
import sqlite3
from dataclasses import dataclass

MOST = 10_000
"""So many rows of a kind are remembered; the oldest is forgotten first."""

_TABLES = """
create table if not exists payments (
    id text primary key, amount integer not null, purpose text not null, paid integer not null default 0);
create table if not exists used (voucher text primary key);
"""


@dataclass(frozen=True, slots=True)
class Payment:
    amount: int
    purpose: str
    paid: bool


class Store:
    """Every call is one statement or one transaction, so that two processes agree."""

    def __init__(self, path: str = ":memory:") -> None:
        # autocommit, and any thread: the demo runs on one loop, but starts and stops elsewhere
        self._database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self._database.executescript(_TABLES)

    def open_payment(self, amount: int, purpose: str) -> str:
        """Under an id that cannot be guessed."""
        payment_id = secrets.token_urlsafe(24)
        self._database.execute("insert into payments values (?, ?, ?, 0)", (payment_id, amount, purpose))
        self._forget("payments")
        return payment_id

    def payment(self, payment_id: str) -> Payment | None:
        row = self._database.execute(
            "select amount, purpose, paid from payments where id = ?", (payment_id,)
        ).fetchone()
        return Payment(row[0], row[1], bool(row[2])) if row else None

    def pay(self, payment_id: str) -> None:
        self._database.execute("update payments set paid = 1 where id = ?", (payment_id,))

    def use(self, voucher: str) -> bool:
        """Use a voucher up. False where it was used before, whoever comes first."""
        done = self._database.execute("insert or ignore into used values (?)", (voucher,))
        self._forget("used")
        return done.rowcount == 1

    def rows(self) -> int:
        """How much is remembered."""
        counts = "select (select count(*) from payments) + (select count(*) from used)"
        total: int = self._database.execute(counts).fetchone()[0]
        return total

    def _forget(self, table: str) -> None:
        self._database.execute(
            f"delete from {table} where rowid <= (select max(rowid) from {table}) - ?",  # a name of ours  # nosec B608
            (MOST,),
        )
