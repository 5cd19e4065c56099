"""The user's consent to a change, by a question or, where the client cannot ask, by an argument."""

from dowse.mcp.reply_budget import Reply
from dowse.mcp.tools import Call

HOW_TO_CONFIRM = "Nothing was changed. To confirm, call again with confirm: true."


async def ask_consent(call: Call, question: str, *, needs_argument: bool = True) -> Reply | None:
    """Ask the user, and return None for a yes, else the reply that nothing was changed.

    A client that cannot ask has to pass `confirm: true`, unless the call itself counts as consent.
    """
    if call.can_ask:
        return {"status": "cancelled"} if await call.ask("confirm", question) is None else None
    if needs_argument and not call.arguments["confirm"]:
        return {"status": "cancelled", "question": question, "message": HOW_TO_CONFIRM}
    return None
