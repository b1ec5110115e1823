"""The requests that are made of regions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from widerow.storage.hbase.encoded import CellPlace, row_changes, single_rows
from widerow.storage.hbase.messages import (
    BinaryComparator,
    ByteArrayComparable,
    Column,
    ColumnValue,
    Comparator,
    Condition,
    CoprocessorServiceCall,
    CoprocessorServiceRequest,
    Filter,
    KeyOnlyFilter,
    MultiRowRangeFilter,
    MutateRequest,
    MutationProto,
    QualifierValue,
    RowRange,
    Scan,
    ScanRequest,
)
from widerow.storage.hbase.regions import Region
from widerow.storage.hbase.rows import FAMILY, RowSpan

__all__ = [
    "RangeRead",
    "change_nothing",
    "close_scanner",
    "mutate_rows",
    "open_pin",
    "prove_scanner",
    "scan_further",
    "scan_range",
    "scan_single_rows",
    "scan_spans",
]

_FILTERS: Final = "org.apache.hadoop.hbase.filter."
_KEYS_ONLY: Final = Filter(
    name=_FILTERS + "KeyOnlyFilter",
    serialized_filter=KeyOnlyFilter(len_as_val=False).SerializeToString(),
)
_NO_COLUMN: Final = b"none"  # the qualifiers of keys are shorter
_NO_ROW: Final = b"0"  # the row for regions without a lower bound; no key is under it
_DELETE: Final = 3
_EQUAL: Final = 2


class RangeRead(NamedTuple):
    """What is asked for of a span: how many rows and bytes at most, and in which order."""

    rows_max: int
    bytes_max: int
    reverse: bool
    keys_only: bool = False


def open_pin(region: Region) -> ScanRequest:
    """Open a scanner that reads nothing: while it is open, its moment of the region is readable."""
    scan = Scan(column=[Column(family=FAMILY)])
    return ScanRequest(region=region.specifier, scan=scan, number_of_rows=0)


def prove_scanner(scanner: int) -> ScanRequest:
    """Fails where the scanner is closed; else the scanner's lease begins anew."""
    return ScanRequest(scanner_id=scanner, renew=True)


def scan_further(scanner: int, rows_max: int) -> ScanRequest:
    """Ask a paused scanner for its next rows, at most `rows_max`."""
    return ScanRequest(
        scanner_id=scanner,
        number_of_rows=rows_max,
        limit_of_rows=rows_max,
        client_handles_heartbeats=True,
    )


def close_scanner(scanner: int) -> ScanRequest:
    """Close a scanner."""
    return ScanRequest(scanner_id=scanner, close_scanner=True, number_of_rows=0)


def scan_single_rows(
    region: Region, places: Sequence[CellPlace], bytes_max: int, read_point: int | None
) -> bytes:
    """A `ScanRequest` of some single rows, as of a moment, or of now.

    Their other columns may come with them.
    """
    return single_rows(region.name, places, bytes_max, read_point)


def scan_range(
    region: Region, span: RowSpan, asked: RangeRead, read_point: int | None
) -> ScanRequest:
    """A span that lies in the region, as of a moment, or of now."""
    first, last = (span.stop, span.start) if asked.reverse else (span.start, span.stop)
    scan = Scan(
        column=[Column(family=FAMILY, qualifier=[span.qualifier])],
        start_row=first,
        stop_row=last,
        include_start_row=not asked.reverse,
        include_stop_row=asked.reverse,
        reversed=asked.reverse,
        mvcc_read_point=read_point,
        max_result_size=asked.bytes_max,
        filter=_KEYS_ONLY if asked.keys_only else None,
    )
    return ScanRequest(
        region=region.specifier,
        scan=scan,
        number_of_rows=asked.rows_max,
        limit_of_rows=asked.rows_max,
        client_handles_heartbeats=True,
    )


def scan_spans(
    region: Region, spans: Sequence[RowSpan], asked: RangeRead, read_point: int | None
) -> ScanRequest:
    """Several spans of one column that lie in the region, in order, as of a moment, or of now."""
    ranges = [
        RowRange(
            start_row=span.start,
            start_row_inclusive=True,
            stop_row=span.stop,
            stop_row_inclusive=False,
        )
        for span in spans
    ]
    listed = MultiRowRangeFilter(row_range_list=ranges).SerializeToString()
    scan = Scan(
        column=[Column(family=FAMILY, qualifier=[spans[0].qualifier])],
        start_row=min(span.start for span in spans),
        stop_row=max(span.stop for span in spans),
        mvcc_read_point=read_point,
        max_result_size=asked.bytes_max,
        filter=Filter(name=_FILTERS + "MultiRowRangeFilter", serialized_filter=listed),
    )
    return ScanRequest(
        region=region.specifier,
        scan=scan,
        number_of_rows=asked.rows_max,
        limit_of_rows=asked.rows_max,
        client_handles_heartbeats=True,
    )


def mutate_rows(
    region: Region,
    conditions: Mapping[bytes, bytes | None],
    puts: Iterable[tuple[bytes, bytes]],
    deletes: Iterable[CellPlace],
    timestamp: int,
) -> CoprocessorServiceRequest:
    """A change of rows of one region: all of it and synced, or nothing where a condition fails.

    `conditions` and `puts` are of keys. `timestamp` decides what of a column is newer.
    """
    call = CoprocessorServiceCall(
        row=region.start,
        service_name="MultiRowMutationService",
        method_name="MutateRows",
        request=row_changes(conditions, puts, deletes, timestamp),
    )
    return CoprocessorServiceRequest(region=region.specifier, call=call)


def change_nothing(region: Region) -> MutateRequest:
    """A removal that changes nothing: of a column that no row has, if it has a value."""
    row = region.start or _NO_ROW
    compared = BinaryComparator(comparable=ByteArrayComparable(value=_NO_COLUMN))
    column = QualifierValue(qualifier=_NO_COLUMN, delete_type=0)
    return MutateRequest(
        region=region.specifier,
        mutation=MutationProto(
            row=row,
            mutate_type=_DELETE,
            column_value=[ColumnValue(family=FAMILY, qualifier_value=[column])],
        ),
        condition=Condition(
            row=row,
            family=FAMILY,
            qualifier=_NO_COLUMN,
            compare_type=_EQUAL,
            comparator=Comparator(
                name=_FILTERS + "BinaryComparator",
                serialized_comparator=compared.SerializeToString(),
            ),
        ),
    )
