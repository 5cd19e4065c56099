"""Questions to the user of a client, in both revisions of the protocol.

Up to revision 2025-11-25 the server sends a request of its own and waits. Since 2026-07-28 the call ends with the
question, and the client calls again with the answer and the sealed state that the server gave it.
"""

import json
from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import is_version_at_least

from dowse.errors import ConfirmationNeeded
from dowse.mcp.tools import Schema

_ROUNDS_REVISION = "2026-07-28"


class Elicitation:
    """The questions of one call, with the answers of its earlier rounds."""

    def __init__(self, session: Any, request_id: Any, params: CallToolRequestParams) -> None:
        self._session = session
        self._request_id = request_id
        self._params = params
        self._rounds: dict[str, dict[str, Any]] = json.loads(params.request_state or "{}")

    @property
    def can_ask(self) -> bool:
        """Whether the client can show forms to its user."""
        capabilities = self._session.client_capabilities
        elicitation = capabilities.elicitation if capabilities else None
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    async def ask(self, key: str, question: str, fields: Mapping[str, Schema]) -> dict[str, Any] | None:
        """Return the content of an accepted answer; None for any other answer."""
        schema: Schema = {"type": "object", "properties": dict(fields), "required": list(fields)}
        if is_version_at_least(self._session.protocol_version, _ROUNDS_REVISION):
            return self._answer_from_rounds(key, question, schema)
        try:
            result = await self._session.elicit_form(question, schema, related_request_id=self._request_id)
        except MCPError:
            return None
        return _accepted_content(result)

    def _answer_from_rounds(self, key: str, question: str, schema: Schema) -> dict[str, Any] | None:
        known = self._rounds.get(key)
        if known and known["question"] == question:  # an answer counts for its own question alone
            if "answer" not in known:
                known["answer"] = _accepted_content((self._params.input_responses or {}).get(key))
            answer: dict[str, Any] | None = known["answer"]
            return answer
        self._rounds[key] = {"question": question}
        form = ElicitRequestFormParams(message=question, requested_schema=schema)
        raise ConfirmationNeeded(
            InputRequiredResult(
                input_requests={key: ElicitRequest(params=form)}, request_state=json.dumps(self._rounds)
            )
        )


def _accepted_content(result: object) -> dict[str, Any] | None:
    if not isinstance(result, ElicitResult) or result.action != "accept":
        return None
    content = dict(result.content or {})
    return None if any(value is False for value in content.values()) else content
