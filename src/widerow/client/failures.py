"""How a request ends that is not answered as asked."""

from widerow.errors import WiderowError

__all__ = [
    "OutcomeUnclear",
    "Refused",
    "RequestFailed",
    "Stopped",
    "Unreachable",
    "no_answer_words",
]


class RequestFailed(WiderowError):
    """A request has no answer that can be used; the message says why and what to do."""


class Unreachable(RequestFailed):
    """Nobody answers at the endpoint, or only with errors that pass, for longer than is waited."""


class Stopped(RequestFailed):
    """Another thread ended the work while this one waited."""


class OutcomeUnclear(RequestFailed):
    """A request was sent once and not answered: nobody here knows whether it took effect."""


class Refused(RequestFailed):
    """The server's answer is an error that repeating does not help.

    `code` and `message` are the vendor's; `hint` is widerow's, and empty from other servers.
    `request_id` names the request in the server's log; it is empty for the error of one row.
    """

    def __init__(self, code: str, message: str, hint: str = "", request_id: str = "") -> None:
        """The error of an answer."""
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))
        self.code = code
        self.message = message
        self.hint = hint
        self.request_id = request_id


def no_answer_words(url: str, error: Exception) -> str:
    """What to say of an endpoint that gave no answer but `error`: what is wrong and what to do."""
    if isinstance(error, ConnectionRefusedError):
        return (
            f"nothing listens at {url}; start a server there (`widerow serve`), or name another "
            "one with --endpoint"
        )
    return f"nobody answers at {url} ({str(error) or type(error).__name__}); is it the --endpoint?"
