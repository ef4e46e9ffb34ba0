"""The pages that show a view as it is: the overview and a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from share_state.operate.web.json_pages import group_json, overview_json
from share_state.operate.web.shared import common, find_group, of_table
from share_state.operate.web.tables import GROUPS, SHARE_PARTITIONS
from share_state.operate.web.watch import STALE_S

if TYPE_CHECKING:
    from starlette.requests import Request

    from share_state.operate.web.answers import Answers
    from share_state.operate.web.watch import Watch

__all__ = ["Pages"]

#: Members that the page of a group shows; its JSON has all.
_MOST_MEMBERS: Final = 100


class Pages:
    """The pages of one cluster that read nothing but the view.

    Args:
        watch: gives the view.
        answers: makes HTML and JSON.
    """

    def __init__(self, watch: Watch, answers: Answers) -> None:
        self._watch = watch
        self._answers = answers

    def overview(self, request: Request) -> Response:
        """Show every group."""
        snapshot = self._watch.snapshot
        arranged = GROUPS.arrange(list(snapshot.groups.values()), GROUPS.query(request.query_params))
        return self._answers.page(
            request,
            "overview.html",
            lambda: overview_json(snapshot.view, arranged),
            **common(self._watch),
            **of_table(GROUPS, arranged),
            totals=snapshot.totals,
        )

    def group(self, request: Request) -> Response:
        """Show a group and its share partitions."""
        snapshot = self._watch.snapshot
        summary = find_group(snapshot, request)
        arranged = SHARE_PARTITIONS.arrange(summary.group.share_partitions, SHARE_PARTITIONS.query(request.query_params))
        return self._answers.page(
            request,
            "group.html",
            lambda: group_json(snapshot.view, summary, arranged),
            **common(self._watch),
            **of_table(SHARE_PARTITIONS, arranged),
            summary=summary,
            members=(summary.group.members or ())[:_MOST_MEMBERS],
        )

    def healthy(self, _request: Request) -> Response:
        """Say whether the view is kept up to date."""
        age = self._watch.age
        if age < STALE_S:
            return PlainTextResponse("ok\n")
        return PlainTextResponse(f"the last view is {age:.0f} s old\n", 503)

    def error(self, request: Request, error: Exception) -> Response:
        """Show that a request cannot be answered."""
        status, text = (error.status_code, error.detail) if isinstance(error, HTTPException) else (400, str(error))
        return self._answers.page(
            request,
            "error.html",
            lambda: {"error": text, "status": status},
            status=status,
            text=text,
            **common(self._watch),
        )
