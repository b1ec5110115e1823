"""Every bound, with its reason. Foreign ones cite the vendor's behaviour (semantics §17)."""

from typing import Final

INT32_MAX: Final = 2**31 - 1  # fields of messages: limits of rows and versions
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

# --- names -----------------------------------------------------------------------------------
NAME_BYTES_MAX: Final = 255  # tables, columns, indexes (semantics §17)

# --- tables ----------------------------------------------------------------------------------
KEY_COLUMNS_MAX: Final = 4  # (semantics §17)
INDEX_KEY_COLUMNS_MAX: Final = 4  # listed columns of an index (change §A2)
INDEX_COLUMNS_MAX: Final = 32  # covered columns of an index (change §A2)
INDEXES_MAX: Final = 5  # of a table (change §A2)
INTENTS_MAX: Final = (
    10_000  # under one partition key value; writes wait for them above (change §A10)
)
DEFINED_COLUMNS_MAX: Final = 32  # (semantics §17)
TABLES_PER_INSTANCE_MAX: Final = 64  # (semantics §17); a setting may raise it
CAPACITY_UNITS_MAX: Final = 100_000  # (semantics §17)
MAX_VERSION_OFFSET_DEFAULT: Final = 86_400  # seconds (semantics §1.6)
MAX_VERSION_OFFSET_MAX: Final = INT64_MAX // 1_000_000  # seconds (semantics §1.6)
THROUGHPUT_CHANGE_SECONDS: Final = 120  # between two changes (semantics §2.4)
PARTITIONS_MAX: Final = 10  # pre-split of CreateTable (semantics §2.1)
SPLIT_BYTES_MAX: Final = 64  # one bound of the pre-split (semantics §2.1)
SPLIT_UNIT_BYTES: Final = 100 * 1024 * 1024  # of a split size without a unit (semantics §6)
SPLIT_UNIT_BYTES_MIN: Final = 1024 * 1024  # (semantics §6)
STREAM_HOURS_MAX: Final = 168  # (semantics §17)

# --- rows ------------------------------------------------------------------------------------
KEY_VALUE_BYTES_MAX: Final = 1024  # STRING and BINARY primary key values (semantics §1.1)
VALUE_BYTES_MAX: Final = 2 * 1024 * 1024  # one attribute value (semantics §1.3)
CELLS_PER_CHANGE_MAX: Final = 1024  # attribute cells in one row change (semantics §17)
VERSION_MAX: Final = INT64_MAX // 1000 - 1  # milliseconds (semantics §1.5)
VERSION_BYTES: Final = 8  # of a version that a request names (semantics §4.8, §9)

# --- requests --------------------------------------------------------------------------------
READ_COLUMNS_MAX: Final = 1024  # columns_to_get (semantics §5.2; documents: 128, tests: 1024)
BATCH_GET_ROWS_MAX: Final = 100  # (semantics §5.5)
BATCH_WRITE_ROWS_MAX: Final = 200  # (semantics §4.8)
BATCH_WRITE_BYTES_MAX: Final = 4 * 1024 * 1024  # (semantics §4.8)
RANGE_ROWS_MAX: Final = 5000  # rows scanned for one page of GetRange (semantics §5.6)
RANGE_BYTES_MAX: Final = 4 * 1024 * 1024  # bytes scanned for one page of GetRange (semantics §5.6)
# Cells of one row in one answer are well above the 4 MB of a page, because SDKs without tokens (Go)
# would cut a row short, or ask for its first page for ever.
ROW_PAGE_BYTES_MAX: Final = 16 * 1024 * 1024  # cells of one row; a token leads on (semantics §5.4)
BATCH_GET_BYTES_MAX: Final = 32 * 1024 * 1024  # cells of one BatchGetRow; then rows go on by token
FILTER_NODES_MAX: Final = 32  # composites and leaves at any depth (semantics §5.3)
FILTER_PATTERN_MEMORY_MAX: Final = 1024 * 1024  # of a compiled pattern and its matching states
FILTER_PATTERN_BYTES_MAX: Final = 1024  # a regular expression of a filter; real ones are short
CAPACITY_UNIT_BYTES: Final = 4096  # (semantics §9)

# --- stored rows (ours) ----------------------------------------------------------------------
# A row above either bound is cut into segments by column name, so that an update of one column of
# a row with 100 000 columns rewrites one segment. 64 KiB is what one cheap write of the engine
# underneath carries; 512 cells keep the decoding of a whole row below a millisecond.
WHOLE_ROW_BYTES_MAX: Final = 64 * 1024
WHOLE_ROW_CELLS_MAX: Final = 512
# Segments are smaller, because an update of one column decodes and rewrites all of one; reading a
# whole wide row costs a microsecond more for each.
SEGMENT_BYTES_MAX: Final = 8 * 1024
SEGMENT_CELLS_MAX: Final = 64
# All versions of one column in one row: a segment is never cut inside a column, and is read and
# written whole, so this bounds the memory that one update or one answer can take.
COLUMN_BYTES_MAX: Final = 32 * 1024 * 1024  # sixteen versions of the largest value

# --- typed tables (model §1, §4) -----------------------------------------------------------
TYPED_TABLE_NAME_CHARACTERS_MAX: Final = 256  # (model §1); each component of a child table's name
FIELD_NAME_CHARACTERS_MAX: Final = 64  # (model §1)
INDEX_NAME_CHARACTERS_MAX: Final = 64  # (model §1)
NAMESPACE_CHARACTERS_MAX: Final = 128  # (model §1)
TYPED_KEY_BYTES_MAX: Final = 32_767  # one encoded primary key (model §4)
TYPED_ROW_BYTES_MAX: Final = 16 * 1024 * 1024  # one row; a row is read and written as a whole
TYPE_DEPTH_MAX: Final = 32  # types in types; definitions are walked recursively
VALUE_DEPTH_MAX: Final = 128  # values in values; they are walked recursively
NSON_DEPTH_MAX: Final = VALUE_DEPTH_MAX + 16  # of a message: a value, and the frame around it
TTL_HOURS_MAX: Final = 2**31 - 1  # what four bytes of a row's header hold, from 1970 on
NUMBER_DIGITS_MAX: Final = 10_000  # a NUMBER; arithmetic on longer ones is an attack
NOSQL_KEY_BYTES_MAX: Final = 64  # a primary key over HTTP (nosql-wire §7), as the cloud has it
NOSQL_ROW_BYTES_MAX: Final = 512 * 1024  # a row over HTTP (nosql-wire §7)
NOSQL_REQUEST_BYTES_MAX: Final = 2 * 1024 * 1024  # a request over HTTP (nosql-wire §7)
NOSQL_BATCH_BYTES_MAX: Final = 25 * 1024 * 1024  # a WRITE_MULTIPLE request (nosql-wire §7)
NOSQL_BATCH_OPERATIONS_MAX: Final = 50  # of a WRITE_MULTIPLE request (nosql-wire §7)
NOSQL_KB_MAX: Final = 2048  # read or written by one request (nosql-wire §7)
NOSQL_USAGE_RECORDS_MAX: Final = 42_791  # of one GET_TABLE_USAGE request (nosql-wire §5.5)
PLANS_KEPT_MAX: Final = 1000  # of a store's plans; older ones have done their work
SCRIPT_DEPTH_MAX: Final = 16  # scripts of the shell that load each other; one may load itself

INDEX_FIELDS_MAX: Final = 16  # paths of one index; each costs every write of a row
INDEX_INTENTS_MAX: Final = 10_000  # of a table whose index is read; each page reads all of them
INDEX_KEYS_PER_ROW_MAX: Final = 10_000  # of one index; one write makes them all
DDL_CHARACTERS_MAX: Final = 256 * 1024  # a thousand columns with comments; parsing takes seconds
DDL_DEPTH_MAX: Final = 64  # parentheses in parentheses; types end at half of it
DDL_LIST_MAX: Final = 1000  # columns, key columns, record fields of one statement
NOSQL_SQL_CHARACTERS_MAX: Final = 64 * 1024  # of a statement; the vendor's cloud takes 10 KB
NOSQL_SQL_DEPTH_MAX: Final = 64  # brackets in brackets, and expressions in each other
NOSQL_CONTINUATION_BYTES_MAX: Final = 1024 * 1024  # of a query: holds a key or what it sorts by
NOSQL_KEY_RANGES_MAX: Final = 4096  # of IN lists over several columns; later columns are filtered
NOSQL_PAGE_BYTES_MAX: Final = 2 * 1024 * 1024  # of results and of rows read, as the vendor has it
NOSQL_VALUES_HELD_MAX: Final = 1_000_000  # in groups and distinct rows: some 200 MB at most
NOSQL_ITEMS_MAX: Final = 1_000_000  # that one expression gives: nested seq_transform multiplies
NOSQL_PATTERN_CHARACTERS_MAX: Final = 1000  # of regex_like, whose time is pattern times text
NOSQL_ROWS_CHANGED_MAX: Final = 10_000  # by one UPDATE, or one step of a DELETE

# --- wire ------------------------------------------------------------------------------------
BODY_BYTES_MAX: Final = 5 * 1024 * 1024  # request body, also after inflating (semantics §17)
REQUEST_FIELDS_MAX: Final = 131_072  # of protobuf; 100 tables with 1,024 columns each have fewer.
# Counting them takes 5 ms compiled and 50 ms plain, and 5 MB hold two million
OWN_BODY_BYTES_MAX: Final = 4096  # of a JSON request to an action of ours: a name of 255 bytes
REPEATED_ROOM: Final = 8  # times a documented bound: who sends somewhat more is told that bound in
# the service's words; decoding so many elements takes at most some 50 ms
HEADERS_BYTES_MAX: Final = 32 * 1024  # common servers allow 8 to 64 KB; SDKs send below 1 KB
HEADERS_COUNT_MAX: Final = 64  # SDKs send below 20
DATE_SKEW_SECONDS_MAX: Final = 15 * 60  # the protocol's window (wire §1.2)
ERROR_MESSAGE_CHARACTERS_MAX: Final = 4096  # names of refused requests may be megabytes long
HINT_BYTES_MAX: Final = 512  # one response header; common proxies allow 4 KB of all together
CREDENTIAL_BYTES_MAX: Final = 256  # access key ids and secrets are tens of bytes
CREDENTIALS_BYTES_MAX: Final = 4 * 1024 * 1024  # the whole file: tens of thousands of keys
SECURITY_TOKEN_BYTES_MAX: Final = 4096  # tokens of the vendor's STS are about 1 KB
API_KEYS_MAX: Final = 256  # each request with one is compared with all: some 40 µs
SCOPED_KEYS_MAX: Final = 32  # derived V4 keys kept for one access key: a few days and regions

# --- server ----------------------------------------------------------------------------------
CONNECTIONS_MAX: Final = 4096  # each costs about 10 KB idle; descriptors end at 1024 to 1M
DESCRIPTORS_FOR_FILES: Final = 1024  # kept back from connections; the store has at most 512 open
REQUESTS_IN_FLIGHT_MAX: Final = 4096  # accepted and not answered, over all connections
BYTES_IN_FLIGHT_MAX: Final = 256 * 1024 * 1024  # request bodies held at once
UNSENT_BYTES_MAX: Final = 256 * 1024 * 1024  # answers that wait in memory for slow readers
PIPELINE_DEPTH_MAX: Final = 64  # requests of one connection waiting behind the one being answered
TURN_REQUESTS_MAX: Final = 8  # of one connection answered in a row: 8 ms of long pages at most
GROUP_WRITES_MAX: Final = (
    512  # writes sharing one sync: beyond this latency grows, cost does not fall
)
LEASE_SECONDS: Final = 30  # of a shared store: so long nobody looks after it when its holder dies
TRANSACTION_SECONDS_MAX: Final = 60  # on a shared store; distributed engines end one after 5 to 30
ATTEMPT_SECONDS_MAX: Final = 20  # from a first read to a commit; later ends still fall below that
# For how long a node uses a catalogue that it has read: longer than another server takes to replace
# a dead one. A dead node delays one change of the catalogue by as much.
READ_LEASE_SECONDS: Final = 20
READ_LEASE_MARGIN_SECONDS: Final = 2.0  # clocks of machines run up to a tenth faster than others
NODE_LOOK_SECONDS: Final = 0.25  # between two looks at the others: about what CreateTable waits
NODE_BEAT_SECONDS: Final = 1.0  # between two records of a node, each a commit
# Without a beat; then another node keeps the store. A beat may wait for seconds behind writes to a
# part of the store that is being moved.
SILENT_SECONDS: Final = 10
NODE_GONE_SECONDS: Final = 60  # without a beat; then a node's record is removed
NODE_CLOCKS: Final = 5  # beats that tell of a node's clock; one that is late says little
NODE_NOTES_MAX: Final = 500  # keys whose load a node tells of at a beat: some 30 KB
NODE_NOTES_KEPT: Final = 10  # messages of a node that stay, for those who look late
NODE_TAKEN_MAX: Final = 256  # partitions whose throughput a node tells of: some 10 KB
NODE_LAG_NAME_MAX: Final = 256  # characters of a table's or an index's name that a beat tells
NODE_LAG_KINDS_MAX: Final = 8  # a beat tells of what is furthest behind, of so many kinds
WORK_SAMPLES: Final = 10  # beats over which a server's latency and processor time are told
SLOWEST_FACTOR: Final = 2.0  # a server stands out by so many times the figure of the others
SLOWEST_MS_MIN: Final = 10.0  # a slowest server that answers sooner keeps nobody waiting
CLOCK_SKEW_SECONDS_MAX: Final = 5  # leases of 30 s and transactions of 60 s rely on it
ACKNOWLEDGEMENT_SECONDS: Final = 0.02  # between two questions whether all nodes know of a change
CONFLICT_SECONDS_MAX: Final = 10  # a write is tried so long; SDKs ask again after that
OUTCOME_SECONDS_MAX: Final = 10  # it is asked for so long what became of a commit without an answer
# For how long a group waits for a part of a database that is away; most splits and moves of regions
# take one to three seconds.
HOME_SECONDS_MAX: Final = 2
# A group waits so long for all servers of a divided database; slower ones go on behind it. It is a
# few times what a commit takes that waits for nothing.
LATE_SECONDS: Final = 0.1
LATE_WRITES_MAX: Final = 2048  # for one server that is slow; a few groups, then writes are refused
COMMITS_TOGETHER_MAX: Final = 16  # of one group, to as many homes; further commits wait for these
MERGED_COMMITS_MAX: Final = (
    3  # refused commits of several shards; then each shard has one of its own
)
REMOTE_PAGE_ROWS_MAX: Final = 512  # of one read; a round trip costs as much as some hundred rows
BRIEF_READS_MAX: Final = 3  # attempts of one request; the second takes a view that lasts
FIRST_PAGES_BYTES_MAX: Final = (
    16 * 1024 * 1024  # of the ranges that bodies of a group read together
)
READ_ROUNDS_MAX: Final = 3  # of a group, in each of which all its bodies read together
BACK_OFF_SECONDS: Final = 0.002  # before a body runs again; about a round trip and a commit
BACK_OFF_SECONDS_MAX: Final = 0.064  # it doubles; a key that many processes write gets its turns
REPLANS_MAX: Final = (
    16  # in a row, of one operation: each time the catalogue changed at that moment
)
LOCAL_TRANSACTION_SECONDS: Final = 60  # the service's bound, which clients know (change §B3)
LOCAL_TRANSACTION_BYTES_MAX: Final = 4 * 1024 * 1024  # the service's bound on what one writes
LOCAL_TRANSACTION_ROW_BYTES: Final = 1024  # memory of a row write besides its data, about
LOCAL_TRANSACTION_LOOK_SECONDS: Final = 1  # between looks for those that other servers have ended
LOCAL_TRANSACTION_SWEEP_SECONDS: Final = 60  # between passes over those that nobody has ended
LOCAL_TRANSACTION_SWEEP_BYTES: Final = 1024 * 1024  # read in a step of a pass
LOCAL_TRANSACTIONS_MAX: Final = 1000  # open in one instance; each holds a key against all others
LOCAL_TRANSACTIONS_BYTES_MAX: Final = 256 * 1024 * 1024  # of memory, over all that are open
LOOP_GROUP_WRITES_MAX: Final = 128  # committed on the loop: 2 to 4 ms of bodies at most
LOOP_GROUP_BYTES_MAX: Final = 256 * 1024  # where few rows are large
LOOP_WAIT_NS_MAX: Final = 2_000_000  # for the disk; slower ones leave the loop to those who read
ALONE_WAIT_NS_MAX: Final = 1_000_000  # sharing a sync that takes less spares less than it costs
ALONE_PATIENCE_SECONDS: Final = 0.02  # several groups of others; then it shares the next of these
GROUP_BYTES_MAX: Final = 16 * 1024 * 1024  # request bytes behind one group commit
# Processes behind one port (`serve --workers`).
WORKERS_MAX: Final = 64  # each is a server with the memory of one, and tells all others of itself
WORKER_TICK_SECONDS: Final = 0.25  # between two looks of the supervisor, and two beats of a worker
WORKER_SILENT_SECONDS: Final = 2  # without a beat; then others get the new connections
# Without a beat; then a worker is killed. Longer than its read lease, so nobody waits for it any
# more, and as long as SDKs wait for an answer.
WORKER_HUNG_SECONDS: Final = 30
WORKER_START_SECONDS_MAX: Final = 600  # a database may be slow to answer; as systemd's unit has it
STORE_AWAITED_SECONDS_MAX: Final = 600.0  # for what makes a store, such as a master of HBase
STORE_AWAITED_PAUSE_SECONDS: Final = 2.0  # between two attempts, each of which the log tells
WORKER_QUICK_SECONDS: Final = 10  # a worker that ends sooner did not die of what it served
WORKER_QUICK_DEATHS_MAX: Final = 8  # in a row; then something is wrong that no restart mends
WORKER_PAUSE_SECONDS: Final = 0.5  # before a worker that died quickly is replaced; it doubles
WORKER_PAUSE_SECONDS_MAX: Final = 30.0  # a database that was away is soon back
WORKER_SCRAPE_SECONDS: Final = 1.0  # for the others' figures; of those that are late, the last ones
WORKER_PARTING_SECONDS: Final = 1.0  # in which clients that are busy ask once more, and are told
WORKER_STOP_SECONDS_MAX: Final = 40  # for all to drain; systemd's unit waits for 45
WORKER_ACCEPTS_MAX: Final = 64  # connections handed over in one turn of the supervisor's loop
WORKER_THREADS_MIN: Final = 4  # of each worker for requests, where they share those of one server
WORKER_BYTES_MIN: Final = 32 * 1024 * 1024  # of bodies or answers: several of the largest
HEADER_SECONDS_MAX: Final = (
    20  # from a request's first byte to the end of its headers; to the first
)
# byte of all, too: a client connects because it has something to say
HALF_CLOSED_SECONDS_MAX: Final = 1  # a request waits so long for its thread after its client sends
# no more; then it is not begun, for a program that gave up looks like that. Threads are free sooner
BODY_SECONDS_MAX: Final = 60  # from the end of the headers to the end of the body
HANDSHAKE_SECONDS_MAX: Final = 10  # of TLS; real ones take milliseconds, and some distance
HANDSHAKES_MAX: Final = 256  # under way at one time; each is a connection that says nothing yet
IDLE_SECONDS_MAX: Final = 300  # keep-alive without a request; SDK pools expect minutes
STRANGER_SECONDS: Final = (
    1  # without a signed request; then a connection goes where there is no room
)
EXCESS_SECONDS_MAX: Final = (
    1  # for a connection above the bound to ask for a page, such as `/livez`
)
DRAIN_SECONDS_MAX: Final = 30  # SIGTERM: how long running requests may finish
LINGER_BYTES_MAX: Final = 64 * 1024 * 1024  # thrown away after a refusal, so that it can be read
LINGER_SECONDS_MAX: Final = 5  # in which they must arrive
REFUSALS_MAX: Final = (
    256  # connections above their bound: get pages, or are told that there is no room
)
LENGTHY_THREADS_MAX: Final = 2  # more would only take turns with each other and the loop
STATEMENTS_MAX: Final = 4  # of SQL that run at a time: each may hold some 300 MB of values
STATEMENTS_OF_ONE_MAX: Final = 2  # of one key in one instance, so that others find a place
BATCH_THREADS: Final = 1  # a second one only takes the interpreter's lock from the first
BUSY_TURNS: Final = 8  # of the loop while one page is read; pages alone make one or two
LENGTHY_BODY_BYTES: Final = 32 * 1024  # above, a digest takes 50 us and decoding a batch 1 ms
LENGTHY_RANGE_ROWS: Final = 200  # a page above takes a millisecond to join and hash
LOOP_READ_BYTES_MAX: Final = 256 * 1024  # of one read on the loop; with both bounds others keep
LOOP_READ_STEPS_MAX: Final = 1000  # their p99 (bench --only neighbours): records, decoded cells
READ_SLICE_ROWS: Final = 16  # of a batch, read at once; then others are let through
STAGE_REQUESTS_MAX: Final = 64  # run stage by stage together; their answers wait for the last
SHARED_TURN_REQUESTS: Final = (
    32  # while other requests run on threads, which wait for the loop: 4 ms
)
# of the loop without requests on threads, a tenth of a second, until turns are whole again
CALM_TURNS: Final = 16
STAGED_ROW_BYTES_MAX: Final = 64 * 1024  # a larger row is answered at once: 64 of them are 4 MB
STAGED_BYTES_MAX: Final = 1024 * 1024  # of answers that wait to be written with others
DIGEST_SLICE_BYTES: Final = 128 * 1024  # hashed in 0.2 ms; then others are let through
WRITTEN_BYTES_MAX: Final = 512 * 1024  # of an answer in one turn of the loop: 0.3 ms for the system
JOINED_BYTES_MAX: Final = 64 * 1024  # a larger answer is not copied behind its head: two writes
GATHERED_READS_MAX: Final = 1  # under way together, of the keys that came before it: more cost more
GATHERED_PAGES_UNDER_WAY_MAX: Final = 2  # such reads of pages: joining one hides reading the next
GATHERED_PAGES_MAX: Final = 8  # pages in one gathered read, of a megabyte at most
GATHERED_KEYS_MAX: Final = 64  # requests whose keys are in one gathered read, for which all wait
GATHERING_SECONDS_MAX: Final = 0.02  # a read that takes longer does not delay others
BLOCKING_THREADS_MAX: Final = 64  # requests waiting for a store across a network at one time
FLUSH_SECONDS_MAX: Final = 5  # SIGTERM: how long clients may take to read their last answer
HOUSEKEEPING_SECONDS: Final = 10  # between looks for something to clean up
BALANCE_SECONDS: Final = 0.25  # between looks at partitions: units are counted by the second
# The ranges of a database that divides its data: about two seconds are what a split of HBase takes.
RANGE_LOOK_SECONDS: Final = 1.0  # between two comparisons while there is something to change
RANGES_SECONDS: Final = 10.0  # between two while there is not: a person may change ranges
RANGE_PAUSE_SECONDS: Final = 1.0  # after a change has failed; twice as long after each more
RANGE_PAUSE_SECONDS_MAX: Final = 300.0  # what stands in its way is for somebody to see to
RANGE_BUSY_SECONDS_MAX: Final = (
    10.0  # where the database only asks to wait: compactions take so long
)
RANGE_CHANGE_SECONDS_MAX: Final = 600.0  # then a change that does not end is left to itself
RANGE_REPEAT_SECONDS: Final = 3600.0  # before a change that somebody has undone is made again
HOUSEKEEPING_PAUSE_SECONDS: Final = 0.02  # between two steps of it: a step takes about 1 ms
INTENT_LOOK_SECONDS_MAX: Final = 0.1  # between two looks for intents while none is found
FIRST_LOOK_SECONDS: Final = 1.0  # for the first table whose rows leave intents behind
# Writers wait whose table's indexes are further behind: a read of an index that is behind by
# INDEX_INTENTS_MAX rows is refused, which a busy table is in a few seconds.
ENTRY_LAG_PACED_SECONDS: Final = 1.0
ENTRY_PACE_SECONDS_MAX: Final = 1.0  # a writer waits for; drivers wait five for an answer
ENTRY_PACE_LOOK_SECONDS: Final = 0.25  # between two looks at which tables are behind
NODE_BEHIND_MAX: Final = 100  # tables that one beat names
LAG_TOLD_SECONDS: Final = 15  # of an index or stream; after a server died others take that long
STREAM_TRIM_SECONDS: Final = 60  # between two looks for stream records that are too old
CLEAR_STEP_NOTES: Final = 32  # dropped tables whose ranges are removed in one step
SWEEP_STEP_RECORDS: Final = 500  # read in one step of the sweep: about half a millisecond
SWEEP_STEP_BYTES: Final = 256 * 1024  # where records are large
SWEEP_PAUSE_SECONDS: Final = 600  # between two passes over a table whose cells expire
SWEEP_PAUSE_SHARE: Final = 16  # of the time to live: expired data takes a sixteenth more room
SWEEP_NOTES_SECONDS: Final = 30  # between two writes of what was noted; a crash loses those
SWEEP_RENEWAL_HOURS: Final = 24  # a note that a crash lost is found again by then
SWEEP_RENEWAL_HOURS_UNLIKELY: Final = 30 * 24  # where no row is known to expire
WRITE_SECONDS_MAX: Final = 60  # from the check of a version until its row can be read
CLOCK_BACK_SECONDS_MAX: Final = 86_400  # a clock set back by more may give out a number again
CREDENTIALS_LOOK_SECONDS: Final = 0.5  # between looks at the file: a deleted key ends in a second

# --- tunnels (change §C2) --------------------------------------------------------------------
TUNNELS_PER_TABLE_MAX: Final = 10  # (change §C2.3)
TUNNEL_PAGE_RECORDS_MAX: Final = 1000  # of one answer (change §C2.3)
TUNNEL_PAGE_BYTES_MAX: Final = 1024 * 1024  # of one answer
TUNNEL_BASE_BYTES: Final = 512 * 1024 * 1024  # of one channel of rows: minutes of one consumer
TUNNEL_BASE_CHANNELS_MAX: Final = 64  # of one tunnel, beside one for each partition
TUNNEL_TIMEOUT_SECONDS: Final = 300  # of a client that names none (change §C2.1)
TUNNEL_TIMEOUT_SECONDS_MIN: Final = 10  # clients send a heartbeat every 5 to 30 seconds
TUNNEL_TIMEOUT_SECONDS_MAX: Final = 3600  # so long nobody consumes what a dead client held
TUNNEL_CLIENT_TAG_BYTES_MAX: Final = 256  # names of machines are shorter
TUNNEL_CHANNELS_MAX: Final = (
    10_000  # of one heartbeat: one for each partition, of which a table has
)
# hundreds, and for those that it had; handling so many takes some 50 ms
TUNNEL_CLIENTS_MAX: Final = 1000  # of one tunnel; each heartbeat reads them all
TUNNEL_START_MARGIN_SECONDS: Final = 300  # before the oldest change goes (change §C2.1)
TUNNEL_END_PATIENCE_SECONDS: Final = 60  # a write that began before the end is readable by then
TUNNEL_TOKEN_CHARACTERS_MAX: Final = 32 * 1024  # a key has 4 KB, the name of a column 255 bytes
TUNNEL_TOKEN_COUNT_MAX: Final = 2**53  # records of a channel; JSON tells such numbers exactly
TUNNEL_TOKEN_TIME_MS_MAX: Final = (2**63 - 1) // 1_000_000  # answers tell times in nanoseconds

# --- delivery tasks (change §D3) -------------------------------------------------------------
DELIVERY_TASKS_PER_TABLE_MAX: Final = 10  # each reads the whole table once, as a tunnel does
DELIVERY_COLUMNS_MAX: Final = 1024  # of one task; a row that is read names as many (semantics §4)
DELIVERY_TEXT_BYTES_MAX: Final = 1024  # of an endpoint or a role, which are kept in the catalogue
DELIVERY_PREFIX_BYTES_MAX: Final = 128  # a file's name repeats it and has 255 bytes
DELIVERY_BUFFER_BYTES_MAX: Final = 64 * 1024 * 1024  # of rows that wait for their file
DELIVERY_BUFFER_ROWS_MAX: Final = 1_000_000  # that wait for their file
DELIVERY_SECONDS: Final = 120  # so long a row waits for its file at most
DELIVERY_RETRY_SECONDS: Final = 60  # after a file could not be written
DELIVERY_PAUSE_SECONDS: Final = 1.0  # between two looks for something to deliver
DELIVERY_STOP_SECONDS_MAX: Final = 20.0  # for the last files of a server that stops
DELIVERY_CLIENT_SECONDS: Final = 300  # so long a server that died holds its channels
DELIVERY_HEARTBEAT_SECONDS: Final = 10  # between two looks for new shards
DELIVERY_DETAIL_CHARACTERS_MAX: Final = 500  # of what a task says of a failure


# --- search indexes: their life (search §1, §7) ----------------------------------------------
JOURNAL_HOURS: Final = 24  # of the keys of written rows; an index that is further behind is rebuilt
JOURNAL_STEP_ROWS: Final = 256  # taken from a journal, or built, before others have their turn
JOURNAL_STEP_BYTES: Final = 1024 * 1024  # where rows are large
JOURNAL_BACKLOG_MAX: Final = 20_000  # rows: a search does two seconds' work at most before it looks
JOURNAL_PACED_ROWS: Final = 128  # wait, then whoever takes them is called and writers wait: 8 ms
JOURNAL_PACED_ROWS_SEARCHED: Final = 64  # while searches come, which take rows, too
JOURNAL_PACE_SECONDS_MAX: Final = 0.25  # a writer waits for; whoever takes rows may have failed
# For how long an answer waits for what other servers tell or move first, which mostly takes less
# than a second.
NOT_YET_SECONDS_MAX: Final = 3.0
NOT_YET_LOOK_SECONDS: Final = 0.05  # between two looks for it: each costs a few round trips
STREAM_WAIT_SECONDS: Final = 1.5  # of them, for records that are on their way to a page
ANSWER_PACE_LOOK_SECONDS: Final = 0.002  # between two looks whether a writer still has to wait
ANSWER_PACE_LOOK_SECONDS_EACH: Final = 50e-6  # at least, for each that waits: a look takes 1 µs
SEARCH_BUILD_ROWS_AT_ONCE: Final = 10_000  # built inside a request (search §1.3); more: beside them
SEARCH_CHECKPOINT_CHANGES: Final = 50_000  # that a start would otherwise apply again: seconds
# between checkpoints with few changes, which would stay in the journal
SEARCH_CHECKPOINT_SECONDS: Final = 300
SEARCH_FOLLOW_ROWS: Final = 64  # taken before those who wait for an index have their turn: 4 ms
SEARCH_PAUSE_SECONDS: Final = 0.1  # between two looks at journals; a look costs one read an index
SEARCH_CHECKPOINT_LOOK_SECONDS: Final = 1  # between two looks for an index to be written down
SEARCH_RETRY_SECONDS: Final = 10  # after files of an index could not be written
SEARCH_TIMEOUT_MS: Final = 10_000  # of a request that names none (search §8)
SEARCH_TIMEOUT_MS_MAX: Final = 60_000  # it holds a thread meanwhile
SEARCH_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024  # of rows: a page is held in memory as a whole
SEARCH_SPLIT_ROWS: Final = 500_000  # of an index for each part of a parallel scan (search §7)
SEARCH_SPLITS_MAX: Final = 32  # of a parallel scan: more parts are not read faster
SEARCH_SESSIONS_MAX: Final = 100  # parallel scans at once; each holds a moment of its index
SEARCH_SESSION_QUERIES_MAX: Final = 64  # results that one session holds
SEARCH_ALIVE_SECONDS: Final = 60  # of a session, from its last request on (search §7)
SEARCH_SESSION_ID_SECONDS: Final = 3600  # ours: so long an id begins parts at any server
SEARCH_POINT_BYTES: Final = 64  # of a key that divides parts: an id of 32 of them has 3 KB
SEARCH_ALIVE_SECONDS_MAX: Final = 24 * 3600  # ours: a session holds a view of its index
SEARCH_SCAN_ROWS_MAX: Final = 2000  # of a page of a parallel scan, and its default (search §7)
SEARCH_COMPARED_ROWS: Final = (
    50_000  # of a table beside its index at once; each time reads all of it
)
SEARCH_COMPARED_BYTES: Final = (
    64 * 1024 * 1024
)  # stored bytes of rows compared at once: a few times as much in memory
SEARCH_DIFFERENCES_NAMED: Final = 10  # keys of rows of each kind that a comparison names

# --- search: schemas (search §8) -------------------------------------------------------------
SEARCH_INDEXES_MAX: Final = 50  # of a table; ours: each costs every write, and memory of its own
SEARCH_FIELDS_MAX: Final = 1000  # of one index, those below others included
SEARCH_FIELDS_BELOW_MAX: Final = 100  # of one field
SEARCH_NESTED_LEVELS_MAX: Final = 5  # fields below fields (search §8)
SEARCH_VECTOR_FIELDS_MAX: Final = 5  # of one index
SEARCH_VECTOR_DIMENSION_MAX: Final = 4096  # numbers of a vector (search §8)
SEARCH_FUZZY_SPAN_MAX: Final = 6  # max_chars - min_chars: so many substrings begin at a character
SEARCH_REINDEX_SUFFIX: Final = "_reindex"  # of an index that replaces another one (search §1.4)

# --- search: messages ------------------------------------------------------------------------
SEARCH_TREE_NODES_MAX: Final = 1024  # queries, aggregations and group-bys (search §4)
SEARCH_TREE_DEPTH_MAX: Final = 30  # of these within each other; Elasticsearch's for bool queries
SEARCH_REQUEST_FIELDS_MAX: Final = 65_536  # of protobuf; the largest part is 1024 terms per query
SEARCH_ROUTING_VALUES_MAX: Final = (
    1024  # of one request: a hint, which is not followed (search §5.7)
)
SEARCH_UNFOLDED_BYTES_MAX: Final = 32 * 1024 * 1024  # of a tree, whose levels are copied one by one

# --- search indexes: documents and queries (search §8) ----------------------------------------
SEARCH_KEYWORD_BYTES_MAX: Final = 4096  # of one value; a longer one is not indexed (search §2)
SEARCH_FUZZY_KEYWORD_BYTES_MAX: Final = 2048  # of one FUZZY_KEYWORD value (search §2)
SEARCH_TEXT_BYTES_MAX: Final = 2 * 1024 * 1024  # of one TEXT value (search §2)
SEARCH_FUZZY_CHARACTERS_MAX: Final = 1024  # of a text that grams are made of (search §3)
SEARCH_ARRAY_ELEMENTS_MAX: Final = 256  # of an array, and of nested objects (search §2.1)
SEARCH_POSITION_MAX: Final = 2**20 - 1  # of a token; those behind it are dropped (search §11.5)
SEARCH_TEXT_GAP: Final = 100  # positions between two texts of an array, as Elasticsearch has them
SEARCH_DATE_FORMAT_CHARACTERS_MAX: Final = 256  # real ones have thirty; each becomes an expression
SEARCH_QUERY_NODES_MAX: Final = 1024  # of one request (search §4)
SEARCH_QUERY_DEPTH_MAX: Final = 32  # any queries in each other; what is deeper is not a real query
SEARCH_NESTED_DEPTH_MAX: Final = 5  # nested queries in each other (search §4)
SEARCH_TERMS_MAX: Final = 1024  # of a TermsQuery (search §4.1)
SEARCH_PREFIX_BYTES_MAX: Final = 1000  # (search §4.1)
SEARCH_WILDCARD_CHARACTERS_MAX: Final = 32  # (search §4.1)
SEARCH_TOP_K_MAX: Final = 1000  # of a vector query (search §4.8)
SEARCH_FUNCTIONS_MAX: Final = 3  # of a FunctionsScoreQuery (search §4.5)
SEARCH_QUERY_TOKENS_MAX: Final = 1024  # of the text of a query: as many as it may have nodes
SEARCH_POLYGON_POINTS_MAX: Final = 1024  # each costs a pass over all points

# --- search indexes: segments (ours, search §11.5) --------------------------------------------
# Written documents are collected until a segment of them is worth its arrays; a search before that
# looks at small segments, which cost a fraction of a millisecond each.
SEARCH_PENDING_DOCUMENTS_MAX: Final = 1024  # twenty milliseconds that a writer holds others up
SEARCH_PENDING_TOKENS_MAX: Final = 500_000  # tokens of such documents: 4 MB of postings
SEARCH_TAIL_DOCUMENTS: Final = 16  # written last; the segment of them is made anew each time
SEARCH_SMALL_DOCUMENTS: Final = 128  # of an index that is searched: three milliseconds of a search
SEARCH_SMALL_DOCUMENTS_MAX: Final = 4096  # a writer merges by itself where nobody else does
SEARCH_SMALL_SEGMENTS_MAX: Final = 64  # of an index; each costs every search 0.1 ms
SEARCH_ASKED_CHANGES: Final = 1024  # an index is searched, if it was while so many were written
SEARCH_MERGE_FACTOR: Final = 8  # segments of one size become one
SEARCH_SEGMENT_DOCUMENTS_MAX: Final = 2**18  # a merge needs as much memory again as its result
SEARCH_SEGMENTS_MAX: Final = 40  # a writer merges by itself where nobody else does

# --- search: results (search §5, §6, §8) -----------------------------------------------------
SEARCH_LIMIT_DEFAULT: Final = 10  # rows of a page (search §5.2)
SEARCH_LIMIT_MAX: Final = 1000  # rows of a page (search §5.2)
SEARCH_WINDOW_MAX: Final = 100_000  # offset + limit (search §5.2)
SEARCH_SORTERS_MAX: Final = 32  # each is a pass over all that matches; clients send three
SEARCH_POINTS_MAX: Final = 100  # of one sorter by distance; each is such a pass too
SEARCH_SORT_BYTES_MAX: Final = 64 * 1024  # of a sort in a token, with its nested filters
SEARCH_TOKEN_BYTES_MAX: Final = SEARCH_SORT_BYTES_MAX + 48 * SEARCH_KEYWORD_BYTES_MAX  # as given
# A sort, and a value for each of 32 sorters and of a key: so every token that is given is taken.
SEARCH_TOKEN_DEPTH_MAX: Final = 8 + 3 * SEARCH_QUERY_DEPTH_MAX
# Values within each other in a token: a query is three at most in the query around it.
COLLAPSE_ROUNDS_MAX: Final = 8  # looks for more groups before all that matches is sorted once
INNER_HITS_LIMIT_MAX: Final = 256  # as many documents as one row may have below it (search §8)
AGGREGATIONS_MAX: Final = 100  # of one level (search §6.1)
GROUP_BYS_MAX: Final = 20  # of one level (search §6.1)
BREAKDOWN_NODES_MAX: Final = 1000  # of one request on all levels: each is a pass over what matches
GROUP_BY_LEVELS_MAX: Final = 3  # (search §6.1)
GROUPS_DEFAULT: Final = 10  # of a field and of a composite (search §6.3)
GROUPS_MAX: Final = 2000  # of a field at most, and buckets of a histogram (search §6.3)
GEO_GRID_GROUPS_DEFAULT: Final = 1000  # (search §6.3)
GEO_GRID_GROUPS_MAX: Final = 10_000  # (search §6.3)
GEO_GRID_PRECISION_DEFAULT: Final = 5  # characters of a geohash, 5 km (search §6.3)
GEO_GRID_PRECISION_MAX: Final = 12  # 60 bits; what is stored of a point has 64
GROUPS_TOTAL_MAX: Final = 100_000  # of one request on all levels: an answer of about 10 MB
GROUP_VALUES_TOTAL_MAX: Final = 500_000  # of metrics below all groups: 10 MB more
RANGES_MAX: Final = 100  # of one group-by (search §6.3)
DISTANCE_RANGES_MAX: Final = 10  # (search §6.3)
FILTERS_MAX: Final = 10  # (search §6.3)
COMPOSITE_SOURCES_MAX: Final = 10  # more than columns that anybody groups by
COMPOSITE_COMBINATIONS_MAX: Final = 10_000_000  # of rows with several values: 400 MB of numbers
PERCENTILES_MAX: Final = 100  # of one aggregation: one for each per cent
TOP_ROWS_MAX: Final = 100  # of each group (search §6.2)
TOP_ROWS_TOTAL_MAX: Final = 10_000  # of one request: each is read from the table
HIGHLIGHT_FRAGMENTS_MAX: Final = 1000  # of one text; clients ask for a few
HIGHLIGHT_FRAGMENT_CHARACTERS_MAX: Final = 2 * 1024 * 1024  # the longest value of a row

# --- proxy (ours) ----------------------------------------------------------------------------
PROXY_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024  # of one answer, held whole: pages have 4 MB
PROXY_OTHER_SECONDS_MAX: Final = 10.0  # for a server compared with; clients wait for it
PROXY_HEADER_BYTES_MAX: Final = 64 * 1024  # of an upstream's answer; servers send less than 2 KB
PROXY_ANSWER_SECONDS_MAX: Final = 60.0  # for an upstream to answer; clients wait for less
PROXY_IDLE_SECONDS_MAX: Final = 4.0  # of a connection kept open: servers close theirs after 5 s
PROXY_PENDING_MAX: Final = 256  # requests in hand; beyond, clients wait as they would for a server
PROXY_IDENTIFIERS_MAX: Final = 100_000  # pairs remembered: some 20 MB, older ones are forgotten
PROXY_FACTS_MAX: Final = 10_000  # tables and open transactions remembered of what went by
REPORT_EXAMPLES: Final = 3  # of each action and class of difference: what a person looks at
REPORT_TEXT_CHARACTERS_MAX: Final = 4000  # of one side of an example; a report stays readable
RECORDING_LINE_BYTES_MAX: Final = 128 * 1024 * 1024  # an answer and a request in base64
RECORDING_PART_BYTES: Final = 64 * 1024 * 1024  # of one file of a recording before the next begins
RECORDING_PARTS: Final = 64  # files kept, the oldest goes: 4 GiB
REPLAY_CONCURRENCY_MAX: Final = 256  # requests at a time, as for a proxy

# --- advice (ours) ---------------------------------------------------------------------------
ADVICE_PLACES_MAX: Final = 64  # where a sample of a table begins: split points, evenly spread
ADVICE_SECONDS_COUNTED_MAX: Final = 1_000_000  # seconds with a load in a recording: eleven days

# --- dev mode and test kit (docs/guide/testing.md) -------------------------------------------
COPY_BYTES_MAX: Final = 64 * 1024 * 1024  # records of a copied instance, which stay in memory
COPY_ATTEMPTS_MAX: Final = 10  # to find an instance the same twice, where views are not a moment
RESET_GROUP_BYTES: Final = COPY_BYTES_MAX // 8  # of a copy that is put back; see `REPLANS_MAX`
RESET_SECONDS_MAX: Final = 600  # then what a broken off reset has written is removed
COPIES_MAX: Final = 64  # named snapshots of a server, of all instances
COPIES_BYTES_MAX: Final = 256 * 1024 * 1024  # of all of them together
FAULTS_MAX: Final = 256  # each is asked about for every request
FAULT_DELAY_MS_MAX: Final = 60_000  # longer than any SDK waits for an answer
DEV_BODY_BYTES_MAX: Final = 64 * 1024  # of a request to /_widerow/: a fault is some hundred bytes
DEV_NAME_CHARACTERS_MAX: Final = 255  # of a snapshot, a table or an instance: the longest name

# --- pages for people ------------------------------------------------------------------------
PAGE_REQUESTS_MAX: Final = 64  # for pages that wait for their thread; a person opens a few
PAGE_LOOP_SECONDS_MAX: Final = 5.0  # for which a page waits until the loop has answered it
REQUEST_SAMPLE_SECONDS: Final = 2.0  # between two looks at the counters of requests
REQUEST_SAMPLES_MAX: Final = 300  # kept looks: ten minutes
NOTICED_REQUESTS_MAX: Final = 100  # slow and refused requests that are kept, of either the last
NOTICED_BODY_BYTES_MAX: Final = 4096  # of a body that is kept with one, to tell its tables
SLOW_REQUEST_MS: Final = 100  # a request is slow from here on: a hundred lone syncs
CONSOLE_BODY_BYTES_MAX: Final = 1024 * 1024  # of a form; a row that is larger is no person's work
CONSOLE_FIELDS_MAX: Final = 2000  # of a form: four hundred columns of a row with five fields each
CONSOLE_ROWS_MAX: Final = 100  # of one page of the console
CONSOLE_ROWS_DEFAULT: Final = 25  # what a screen shows
CONSOLE_COLUMNS_MAX: Final = 100  # attribute columns of one row on a page; the others on the next
CONSOLE_VALUE_CHARACTERS_MAX: Final = 2000  # of a value; longer ones are shown shortened
CONSOLE_IMPORT_BYTES_MAX: Final = 4 * 1024 * 1024  # of a file; `widerow import` has no bound
CONSOLE_IMPORT_ROWS_MAX: Final = 20_000  # of it: they are written while other pages wait
CONSOLE_IMPORT_ERRORS_MAX: Final = 10  # unreadable lines of a file that a page tells
CONSOLE_DOWNLOAD_ROWS_MAX: Final = 10_000  # of one download; `widerow export` has no bound
CONSOLE_DOWNLOAD_SCANNED_MAX: Final = 100_000  # rows that are looked at for it
CONSOLE_DOWNLOAD_BYTES_MAX: Final = 8 * 1024 * 1024  # of its rows: an answer is made in memory
CONSOLE_SQL_ROWS_MAX: Final = 500  # of a result on a page; a download has all of them
CONSOLE_QUERY_SECONDS_MAX: Final = 30  # of a statement over typed tables: other pages wait for it
CONSOLE_TABLES_MAX: Final = 100  # of one page of the overview
CONSOLE_PARTITIONS_MAX: Final = 100  # rows of a table of partitions; a table may have a thousand
CONSOLE_SESSION_SECONDS: Final = 8 * 3600  # a working day
CONSOLE_ENDED_SESSIONS_MAX: Final = 4096  # sessions that are remembered as ended before their time
CONSOLE_HEAT_COLUMNS_MAX: Final = 120  # of time in a heat map: as many as a screen tells apart
CONSOLE_HEAT_ROWS_MAX: Final = 40  # of keys in a heat map: as many as a screen tells apart
CONSOLE_HOT_KEYS_MAX: Final = 12  # busiest key values that are listed under it

# --- SQL (sql §11) ---------------------------------------------------------------------------
SQL_STATEMENT_BYTES_MAX: Final = 1024 * 1024  # of a statement's text
SQL_TOKENS_MAX: Final = 100_000  # words of a statement: 200 rows of 300 columns to insert
SQL_DEPTH_MAX: Final = 100  # expressions in each other, and queries in each other
SQL_TABLES_MAX: Final = 32  # tables and queries behind all FROMs of a statement
SQL_COLUMNS_MAX: Final = 1024  # of a result: as many as a row may have
SQL_ROWS_READ_MAX: Final = 100_000  # rows that a statement may read of tables
SQL_BYTES_READ_MAX: Final = 128 * 1024 * 1024  # and their bytes
SQL_VALUES_HELD_MAX: Final = 4_000_000  # values in sorts, groups and joins: some 300 MB at most
SQL_SECONDS_MAX: Final = 30  # for which a statement runs

# --- timeseries tables (timeseries §2-§7) ---------------------------------------------------------

SERIES_POINTS_MAX: Final = 200  # of one put (timeseries §2)
SERIES_POINT_BYTES_MAX: Final = 4 * 1024 * 1024  # of all points of one put (timeseries §2)
SERIES_FIELDS_MAX: Final = 1024  # of one point (timeseries §2)
SERIES_FIELD_BYTES_MAX: Final = 2 * 1024 * 1024  # of a text or bytes (timeseries §2)
SERIES_PAGE_POINTS_MAX: Final = 5000  # of one answer (timeseries §5, §7)
SERIES_PAGE_BYTES_MAX: Final = 4 * 1024 * 1024  # of one answer, as stored (timeseries §5)
SERIES_TEXT_BYTES_MAX: Final = (
    1024  # of tags, or attributes, as a text: of a key column (timeseries §2)
)
SERIES_METAS_MAX: Final = 1000  # of one answer (timeseries §2)
SERIES_META_CHANGES_MAX: Final = 200  # of one request (timeseries §6)
SERIES_CONDITION_DEPTH_MAX: Final = 32  # conditions of metas in each other
SERIES_SCAN_RECORDS_MAX: Final = 50_000  # looked at for a page of points or metas
SERIES_TOTAL_RECORDS_MAX: Final = 1_000_000  # counted for the total of a query of metas
SERIES_SPLITS_MAX: Final = 256  # of one scan (timeseries §7)
SERIES_KEY_COLUMNS_MAX: Final = 6  # of a table (timeseries §2)
SERIES_FIELD_KEYS_MAX: Final = 4  # of a table (timeseries §2)
SERIES_INDEXES_MAX: Final = (
    10  # analytical stores and last-point indexes of a table (timeseries §1)
)
SERIES_META_REFRESH_SECONDS: Final = 3600  # of points before a meta's update time is written again
SERIES_KNOWN_MAX: Final = 16384  # encoded keys kept in memory, about a kilobyte each
SERIES_NEWEST_MAX: Final = 65536  # newest times kept in memory, about 150 bytes each
POINT_LAYOUT_FIELDS_MAX: Final = 65_536  # of layouts kept in memory, some 20 MB at most
SERIES_LAYOUTS_MAX: Final = (
    64  # with a number in the record of a series; others stand in each point
)
SERIES_LAYOUT_BYTES_MAX: Final = 16 * 1024  # of a series record, which each put of it reads
SERIES_TAGS_MAX: Final = 170  # of a series: their text has 1024 bytes (timeseries §2)
SERIES_CONDITIONS_MAX: Final = 1000  # on metas, of one query
