"""The only reader of the instruction tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from sqlite3 import Connection, Error, connect
from typing import TYPE_CHECKING

import cyclelens.data
from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.facts import encoding
from cyclelens.analyzer.facts.encoding import NO_RECORD, Record, Variant, VariantRecords
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts

if TYPE_CHECKING:
    from pathlib import Path

_REMAKE = "rebuild them with `cyclelens data import FILE.xml.xz`"

_DAMAGE = (TypeError, ValueError, LookupError, AttributeError, OverflowError)
"""Exceptions of decoding if the file holds unexpected values."""


class TablesUnavailable(Exception):
    """The instruction tables are missing, damaged, or of another version. The message is for the user."""


def shipped_tables() -> str:
    """Path of the tables that ship with the program."""
    # importlib.resources would cost more than opening the tables, and sqlite needs a real file anyway.
    return os.path.join(os.path.dirname(cyclelens.data.__file__), "instructions.sqlite")


def default_tables() -> str:
    """Path of the tables in use: the user's own if there are any, otherwise the shipped ones."""
    return os.environ.get(OWN_TABLES) or shipped_tables()


class FactsStore:
    """Read-only access to one table file. Caches what it has read; for use from one thread."""

    def __init__(self, connection: Connection, path: str | Path) -> None:
        self._connection = connection
        self._path = path
        rows = self._rows("SELECT name, records FROM microarchitectures ORDER BY position")
        self._microarchitectures: tuple[str, ...] = tuple(name for name, _ in rows)
        self._positions = {name: position for position, name in enumerate(self._microarchitectures)}
        self._record_count = sum(records for _, records in rows)
        self._facts: dict[tuple[str, str], tuple[InstructionFacts, ...]] = {}
        self._variants: dict[str, tuple[Variant, ...]] = {}
        self._operands: dict[int, OperandFacts] = {}
        self._profiles: dict[int, VariantRecords] = {}
        self._records: dict[int, Record] = {}
        self._fusible: dict[int, frozenset[str]] = {0: frozenset()}
        self.caches = Caches()
        """Caches of readers of these tables, valid only for them."""

    @property
    def record_count(self) -> int:
        """Number of records of all microarchitectures."""
        return self._record_count

    def microarchitectures(self) -> tuple[str, ...]:
        """Names of the tables' microarchitectures, in the source's order."""
        return self._microarchitectures

    def forms(self) -> tuple[str, ...]:
        """Names of all encoding forms, alphabetical. Raises ``TablesUnavailable``."""
        try:
            rows = self._connection.execute("SELECT iform FROM forms ORDER BY iform").fetchall()
        except Error as error:
            raise TablesUnavailable(f"{self._path} cannot be read ({error}): {_REMAKE}") from error
        return tuple(iform for (iform,) in rows)

    def candidates(self, microarchitecture: str, iform: str) -> tuple[InstructionFacts, ...]:
        """The records of one form, in the order in which they must be tried; empty if there are none.

        Raises ``TablesUnavailable`` if the tables lack the microarchitecture or are damaged.
        """
        key = microarchitecture, iform
        facts = self._facts.get(key)
        if facts is None:
            try:
                facts = self._facts[key] = self._read(microarchitecture, iform)
            except _DAMAGE as error:
                raise TablesUnavailable(f"{self._path} is damaged: {_REMAKE}") from error
        return facts

    def texts(self, table: str) -> list[str]:
        """All values of ``operands``, ``records`` or ``fusible``, in the order of their numbers from 1."""
        return [text for (text,) in self._rows(f"SELECT value FROM {table} ORDER BY id")]  # type: ignore[misc]

    def variants(self) -> Iterator[tuple[str, Variant, VariantRecords]]:
        """Every variant with its form and its profile."""
        for form in self.forms():
            for variant in self._form(form):
                yield form, variant, self._profile(variant.profile)

    def close(self) -> None:
        """Closes the file; what has been read stays valid."""
        self._connection.close()

    def reopen(self) -> None:
        """Reopens a closed file, for example in a forked process: a connection belongs to one process."""
        self._connection = _connect(self._path)

    def _read(self, microarchitecture: str, iform: str) -> tuple[InstructionFacts, ...]:
        position = self._positions.get(microarchitecture)
        if position is None:
            raise TablesUnavailable(
                f"{self._path} holds no figures for {microarchitecture}, only for "
                + ", ".join(self._microarchitectures)
            )
        facts = []
        for variant in self._form(iform):
            profile = self._profile(variant.profile)
            number = profile.records[position]
            if number == NO_RECORD:
                continue
            record = self._record(number)
            facts.append(
                InstructionFacts(
                    name=variant.name,
                    iform=iform,
                    microarchitecture=microarchitecture,
                    attributes=variant.attributes,
                    operands=tuple(self._operand(operand) for operand in variant.operands),
                    base=record.base,
                    same_register=record.same_register,
                    indexed=record.indexed,
                    latencies=record.latencies,
                    macro_fusible_with=self._fusible_set(record.fusible),
                    locked=variant.locked,
                    category=variant.category,
                    extension=variant.extension,
                    constructed=bool(profile.constructed >> position & 1),
                )
            )
        return tuple(facts)

    def _rows(self, query: str, *values: object) -> list[tuple[str, int]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except Error as error:
            raise TablesUnavailable(f"{self._path} cannot be read ({error}): {_REMAKE}") from error

    def _text(self, table: str, number: int) -> str:
        rows = self._rows(f"SELECT value FROM {table} WHERE id = ?", number)
        return rows[0][0]

    def _form(self, iform: str) -> tuple[Variant, ...]:
        variants = self._variants.get(iform)
        if variants is None:
            rows = self._rows("SELECT variants FROM forms WHERE iform = ?", iform)
            variants = encoding.decode_variants(rows[0][0]) if rows else ()
            self._variants[iform] = variants
        return variants

    def _operand(self, number: int) -> OperandFacts:
        operand = self._operands.get(number)
        if operand is None:
            operand = self._operands[number] = encoding.decode_operand(self._text("operands", number))
        return operand

    def _profile(self, number: int) -> VariantRecords:
        profile = self._profiles.get(number)
        if profile is None:
            profile = self._profiles[number] = encoding.decode_profile(self._text("profiles", number))
        return profile

    def _record(self, number: int) -> Record:
        record = self._records.get(number)
        if record is None:
            record = self._records[number] = encoding.decode_record(self._text("records", number))
        return record

    def _fusible_set(self, number: int) -> frozenset[str]:
        names = self._fusible.get(number)
        if names is None:
            names = self._fusible[number] = frozenset(self._text("fusible", number).split(";"))
        return names


def _connect(path: str | Path) -> Connection:
    name = os.path.realpath(path).replace(os.sep, "/")
    # As sqlite's documentation of URI file names requires, with non-ASCII bytes escaped.
    quoted = "".join(
        chr(byte) if byte < 128 and byte not in b"%?#" else f"%{byte:02x}" for byte in os.fsencode(name)
    )
    # immutable: no locks and no search for a journal; the file is only ever replaced as a whole.
    return connect(f"file:///{quoted.lstrip('/')}?mode=ro&immutable=1", uri=True)


def open_store(path: str | Path | None = None) -> FactsStore:
    """Opens the tables at ``path``, by default the user's own or those that ship with the program.

    Raises ``TablesUnavailable`` if they are missing, damaged, or of another version.
    """
    path = default_tables() if path is None else path
    if not os.path.isfile(path):
        raise TablesUnavailable(f"The instruction tables {path} are missing: {_REMAKE}")
    connection = _connect(path)
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != encoding.APPLICATION_ID:
            raise TablesUnavailable(f"{path} does not hold instruction tables: {_REMAKE}")
        if version != encoding.SCHEMA_VERSION:
            raise TablesUnavailable(
                f"The instruction tables {path} have version {version}, this program needs "
                f"{encoding.SCHEMA_VERSION}: {_REMAKE}"
            )
        return FactsStore(connection, path)
    except (Error, *_DAMAGE) as error:
        connection.close()
        raise TablesUnavailable(f"{path} does not hold instruction tables ({error}): {_REMAKE}") from error
    except TablesUnavailable:
        connection.close()
        raise
