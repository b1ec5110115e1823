"""The words of a statement as a parser takes them, one after another."""

from widerow.limits import NOSQL_SQL_DEPTH_MAX
from widerow.wire.nosql.sql.lexis import END_KIND, TextPlace, Word, cut_statement, syntax_fault

__all__ = ["WordCursor"]


class WordCursor:
    """A cursor over the words of a statement; `at` may be put back."""

    def __init__(self, statement: str) -> None:
        """The words of a statement. Raises `InvalidRequest` as `cut`."""
        self._words = cut_statement(statement)
        self.at = 0
        self._depth = 0
        self.parameters = 0

    @property
    def next(self) -> Word:
        """The next word."""
        return self._words[self.at]

    @property
    def place(self) -> TextPlace:
        """Where the next word begins."""
        return self._words[self.at].place

    def ahead(self, count: int) -> Word:
        """A word further on; behind the end, the end."""
        return self._words[min(self.at + count, len(self._words) - 1)]

    def take(self) -> Word:
        """The next word, which is passed."""
        word = self._words[self.at]
        if word.kind != END_KIND:
            self.at += 1
        return word

    def takes(self, *keywords: str) -> bool:
        """Pass these keywords if they come next, one after another."""
        if all(self.ahead(at).is_word(keyword) for at, keyword in enumerate(keywords)):
            self.at += len(keywords)
            return True
        return False

    def takes_sign(self, *signs: str) -> str:
        """Pass one of these signs if it comes next; the sign, or ""."""
        if self.next.is_sign(*signs):
            return self.take().text
        return ""

    def need(self, *keywords: str) -> TextPlace:
        """Pass these keywords. Raises `InvalidRequest` for anything else."""
        place = self.place
        if not self.takes(*keywords):
            raise self.unexpected(" ".join(keywords))
        return place

    def need_sign(self, sign: str) -> TextPlace:
        """Pass a sign. Raises `InvalidRequest` for anything else."""
        place = self.place
        if not self.takes_sign(sign):
            raise self.unexpected(f"'{sign}'")
        return place

    def name(self) -> str:
        """Pass a name, which may be a keyword."""
        if self.next.kind != "name":
            raise self.unexpected("ID")
        return self.take().text

    def unexpected(self, expected: str) -> Exception:
        """The error of a word that nothing begins with."""
        word = self.next
        return syntax_fault(
            word.place, f"mismatched input '{word.text[:100]}' expecting {expected}"
        )

    def deeper(self) -> None:
        """Begin an expression in another one. Raises `InvalidRequest` for too many."""
        self._depth += 1
        if self._depth > NOSQL_SQL_DEPTH_MAX:
            raise syntax_fault(
                self.place, f"expressions are nested deeper than {NOSQL_SQL_DEPTH_MAX}"
            )

    def back(self) -> None:
        """End it."""
        self._depth -= 1
