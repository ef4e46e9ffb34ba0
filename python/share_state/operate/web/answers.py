"""Makes the answer to a request: HTML by a template, or JSON where `?format=json` asks for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, Response

from share_state.errors import ConfigError
from share_state.operate.web import words
from share_state.operate.web.tables import highest_count, in_flight

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["STATIC", "Answers"]

_HERE: Final = Path(__file__).parent
#: Folder with the style sheet, the script and the icon.
STATIC: Final = _HERE / "static"
_FORMATS: Final = ("", "html", "json")


class Answers:
    """Templates, and what all of them show.

    Args:
        cluster: how the cluster is called on the pages.
    """

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._templates = _templates()

    def page(
        self,
        request: Request,
        template: str,
        as_json: Callable[[], dict[str, object]],
        status: int = 200,
        **shown: Any,  # noqa: ANN401  what the template names
    ) -> Response:
        """Answer a request.

        Args:
            request: what is asked.
            template: the name of a template.
            as_json: makes the same for machines.
            status: of the answer.
            shown: what the template shows.

        Raises:
            ConfigError: the request asks for a format that there is not.
        """
        wanted = request.query_params.get("format", "") if status == 200 else _forgiven(request)  # noqa: PLR2004  HTTP's OK
        if wanted not in _FORMATS:
            raise ConfigError(f"format is {wanted!r}; expected html or json", field="format", value=wanted)
        if wanted == "json":
            return JSONResponse(as_json(), status)
        asked = {name: value for name, value in request.query_params.items() if name != "format"}
        path = request.url.path.rpartition("/")[2] or "."
        shown |= {"asked": asked, "path": path, "status": status, "cluster": self._cluster}
        return HTMLResponse(self._templates.get_template(template).render(shown), status)

    @staticmethod
    def chosen(request: Request, field: str, choices: Collection[str]) -> str:
        """Take a value of a request that is one of some.

        Raises:
            ConfigError: it is none of them.
        """
        value = request.query_params.get(field, "")
        if value not in choices:
            expected = ", ".join(choice for choice in choices if choice)
            raise ConfigError(f"{field} is {value[:40]!r}; expected one of {expected}", field=field, value=value)
        return value


@cache
def _templates() -> Environment:
    """Load the templates; each is compiled once a process."""
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        # Names of the cluster are never read as HTML.
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(words.FILTERS)
    functions = {"link": words.link, "span": words.span, "per_minute": words.per_minute}
    templates.globals.update(functions, in_flight=in_flight, highest_count=highest_count)
    return templates


def _forgiven(request: Request) -> str:
    """Take the format that an error is told in: a page, unless JSON was asked for."""
    return "json" if request.query_params.get("format") == "json" else ""
