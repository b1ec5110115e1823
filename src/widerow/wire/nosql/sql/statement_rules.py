"""The rules of statements, each with the text that the vendor's users know (ddl §3)."""

from collections.abc import Mapping

from widerow.errors import AnyRule, Detail

__all__ = ["StatementRule"]


class StatementRule(AnyRule):
    """A rule of a statement as a whole; the value is the text of the error."""

    SYNTAX = "{text}"
    STATEMENT = (
        "Table, index and unquoted field names may contain only alphanumeric values plus the "
        "character \"_\". Error: at ({line}, {column}) {fault} input '{word}' expecting {{ALTER, "
        "CREATE, DECLARE, DELETE, DESC, DESCRIBE, DROP, GRANT, INSERT, REVOKE, SELECT, SET, SHOW, "
        "UPDATE, UPSERT}}, at line {line}:{column}\nrule stack: [parse, statement]"
    )
    NAME = "{text} "

    # What a query is made of
    DUPLICATE_COLUMN = "Duplicate column name in SELECT clause: {name}"
    FIELD_TWICE = "Field {name} exists already"
    GROUP_STAR = "Error: select * is not allowed together with group by"
    GROUPING = (
        "Invalid expression in SELECT or ORDER-BY clause. When a SELECT expression includes "
        "grouping, expressions in the SELECT and ORDER-BY clauses must reference grouping "
        "expressions, aggregate functions or external variable only."
    )
    AGGREGATE_PLACE = "Aggregate functions can appear in the SELECT or ORDER BY clauses only"
    AGGREGATE_NESTED = "Aggregate functions cannot be nested"
    AGGREGATE_INPUT = "Invalid input type for the {name} aggregate function:\n{type}"
    AGGREGATE_INSIDE = (
        "Cannot execute this kind of query in a proxy-based environment (because it uses a "
        "{operation} operation)"
    )
    SEVERAL_ITEMS = "Result set with more than one item cannot be promoted  to type Any?"
    SORT_ATOMIC = "Sort expression does not return a single atomic  value"
    NOT_CONSTANT = "Error: {clause} expression is not constant"
    NEGATIVE = "{clause} can not be a negative number"
    COUNT_TYPE = "Cannot promote item {value}\nof type :\n{type}\nto type :\nLong"
    HINT_TABLE = (
        "Table name specified in hint doesn't match the table in the FROM statement: {table}"
    )

    # Tables of a query
    TABLE_NOT_FOUND = "Table not found: {table}"
    NAMESPACES = "Namespaces are not supported"
    NESTED_MISSING = "Table {table} does not exist"
    NOT_ANCESTOR = "Table {table} is not an ancestor of target table {target}"
    NOT_DESCENDANT = "Table {table} is not a descendant of target table {target}"
    UNRELATED = "Table {table} is neither ancestor nor descendant of the target table {target}"
    JOIN_PREDICATE = "Error: A join predicate is missing from ON clause of table {table} : {text}"
    STATEMENT_OF_TABLES = (
        "The query and prepare methods can not be used for DDL statements, use TableRequest instead"
    )

    # Expressions
    CAST = "Cannot cast value \n{value}\nof type \n{given}\nto type \n{type}{text}"
    CAST_EMPTY = (
        "Error: The input to a cast expression returned an empty result, but the target type "
        "requires {number} item. Target type:\n{type}"
    )
    CAST_SEVERAL = (
        "Error: The input to a cast expression returned more than one items, but the target type "
        "requires exactly one item. Target type:\n{type}"
    )
    PROMOTE_TYPE = "Cannot promote type :\n{type}\nto type :\nBoolean?"
    PROMOTE = "Cannot promote item {value}\nof type :\n{type}\nto type :\nBoolean?"
    ARITHMETIC_TYPE = (
        "Operand in arithmetic operation has illegal type\nOperand : {operand} type :\n{type}"
    )
    ARITHMETIC_UNARY = (
        "Operand in unary arithmetic operation has illegal type.\nOperand type :\n{type}"
    )
    ARITHMETIC_SEVERAL = "Operand in arithmetic operation returns more than one items."
    ARITHMETIC = "Arithmetic exception in query: {text}"
    OPERAND_SEVERAL = (
        "The {side} operand of comparison operator {operator} is a sequence with more than one "
        "items. Comparison operators cannot operate on sequences of more than one items."
    )
    IN_SEVERAL = (
        "An expression on the left-hand-side of an IN operator returns a sequence with more than "
        "one items."
    )
    IN_TYPES = (
        "Type mismatch in IN operator.\nLHS type: {left} RHS type: ARRAY\n"
        "LHS val = {value} RHS val = {array}"
    )
    STEP_PREDICATE = (
        "Predicate expression in filter step has invalid type:\nExpected type is integer, long, or "
        "boolean. Actual type is\n{type}"
    )
    STEP_CONSTANT = (
        "Predicate expression in filter step has invalid type.\nExpected type is integer, long, or "
        "boolean. Actual type is\n{type}"
    )
    STEP_BOUNDARY = (
        "Boundary const in slice step has invalid type.\nExpected long or integer type. "
        "Actual type is: \n{type}"
    )
    NAME_STEP = "The name of a field must be a single text"
    FUNCTION = "{text}"
    NO_INDEX = "Table {table} does not hae an index named {name}"
    NO_FUNCTION = "Error: Could not find function with name {name}"
    NO_ARITY = "Could not find function with name {name} and arity {count}"
    NO_COLUMN_ANYWHERE = "No table in the FROM clause has a column named {name}"
    NO_COLUMN_OF_ALIAS = "Table {table} has no column named {name}"
    NO_ALIAS = "No table in the FROM clause has an alias named {name}"
    NO_FIELD = "There is no field named {name} in type {type}"
    AMBIGUOUS = (
        "The reference to column {name} is ambiguous because more than one table has a column "
        "with this name"
    )
    UNKNOWN_VARIABLE = " Unknown variable {name}"
    COLUMN_STEP = (
        "The input to a path expression cannot be a direct column reference. Use a table alias to "
        "access the column"
    )
    ROW_ARGUMENT = "The argument to the {name} function must be a row variable"

    # Variables
    DECLARED_TWICE = "Duplicate declaration for variable {name}"
    VARIABLES_UNBOUND = "The query contains external variables, none of which has been bound."
    VARIABLE_UNBOUND = "Variable {name} has not been bound"
    VARIABLE_UNKNOWN = "The query doesn't contain the variable: {name}"
    VARIABLE_POSITION = "There is no external variable at position {position}"
    VARIABLE_VALUE = "Failed to create Field Value for variable '{name}': {text}"

    # Rows that are written
    TOO_MANY_VALUES = (
        "Insert statements contains more VALUES expressions than the number of specified columns"
    )
    VALUES_COUNT = "The number of VALUES expressions is not equal to the number of table columns"
    KEY_WITHOUT_VALUE = "No value specified for primary key column {name}"
    KEY_DEFAULT = "There is no default value for primary-key column {name}"
    NO_COLUMN = "Table {table} does not have a column named {name}"
    ALIAS_PLACE = "Table alias {name} cannot be referenced at this location"
    IDENTITY_DEFAULT = "Generated always identity column must use DEFAULT construct."
    TTL_TYPE = "Cannot promote item {value}\nof type :\n{type}\nto type :\nNumber?"
    SHARD_KEY_INCOMPLETE = "Error: A complete shard key must be specified in the WHERE clause."
    RETURNING_KEY = (
        "Error: RETURNING clause is not supported unless the complete primary key is specified in "
        "the WHERE clause."
    )
    UPDATE_KEY = "Cannot update a primary key column"
    UPDATE_TARGET = (
        "Target expression in update clause is not a path expression over a row of table {table}"
    )
    UPDATE_NULL = '{clause} operation failed. Cause: Field "{name}" is not nullable'
    ADD_POSITION = (
        "ADD operation failed. Cause: The position expression does not return a numeric item"
    )
    REMOVE_FIELD = "Cannot remove fields from records."
    MERGE_TARGET = (
        "The target expression of the JSON MERGE PATCH clause does not return json values"
    )
    TABLE_CHANGED = "The table was changed meanwhile: {table}. Prepare the statement again."

    # Bounds of this server
    CONTINUATION = "The continuation key is not one of this statement"
    ITEMS = "An expression gives more than {limit} items"
    TEXT_LENGTH = "The statement has {size} characters, a statement holds at most {limit}"
    GROUPS_HELD = (
        "The query needs more than {limit} values in memory for its groups or distinct rows: read "
        "fewer rows, or group by fewer values"
    )
    ROWS_CHANGED = (
        "The statement changes more than {limit} rows of one shard key: name fewer rows in WHERE"
    )

    def told(self, details: Mapping[str, Detail]) -> str:
        """The text of the error, with the place in the statement where one is known."""
        text = str(self.value).format_map(details)
        line, column = details.get("line"), details.get("column")
        return (
            text
            if line is None or self is StatementRule.STATEMENT
            else f"Error: at ({line}, {column}) {text}"
        )
