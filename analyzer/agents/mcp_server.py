"""The tools as a server of the Model Context Protocol, by its own SDK (the extra ``agent``)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from anyio import create_memory_object_stream, create_task_group
from cyclelens.analyzer.agents.request import RefusedRequest, file_of, folder_of
from cyclelens.analyzer.agents.tools import Tools, documents, index
from cyclelens.analyzer.common.regular_files import is_plain
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import FileResource
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, ListRootsResult, ToolAnnotations
from pydantic import Field, ValidationError

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

INSTRUCTIONS = """\
Cyclelens simulates x86-64 loops cycle by cycle. A source is an assembly text or the absolute path of a file.
Regions are loops, or what stands between the comments `# cyclelens-begin NAME` and `# cyclelens-end`.
Figures are cycles per iteration with data in the first-level cache and branches predicted, unless the answer
says otherwise; 'at least' means that an instruction has no figures. To make a loop faster: analyze, rewrites
(or your own version), compare, and check, which runs both versions in a sandbox if the user allows it."""

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
Source = Annotated[str, Field(description="an assembly text, or the absolute path of a file")]
RegionName = Annotated[str, Field(description="name of the only region; empty: all")]
Core = Annotated[str, Field(description="a core of the list, such as SKL or ZEN4; empty: this machine's")]


def _roots(source: str, context: Context) -> ListRoots | ListRootsResult:
    """The client's roots, for a source that is a file. They are asked for with each request, so that a change
    holds from the next one on."""
    has = context.client_capabilities
    if file_of(source) is None or has is None or has.roots is None:
        return ListRootsResult(roots=[])
    return ListRoots()


def _roots_of_two(before: str, after: str, context: Context) -> ListRoots | ListRootsResult:
    return _roots(after if file_of(before) is None else before, context)


Roots = Annotated[ListRootsResult, Resolve(_roots)]
RootsOfTwo = Annotated[ListRootsResult, Resolve(_roots_of_two)]


def _refusing(tool: Callable[..., str]) -> Callable[..., str]:
    """The tool, whose refusals are errors of the protocol: their text reaches the agent."""

    @wraps(tool)
    def run(*arguments: object, **named: object) -> str:
        try:
            return tool(*arguments, **named)
        except RefusedRequest as error:
            raise ToolError(str(error)) from None

    return run


def _folders(roots: ListRootsResult) -> list[str]:
    return [folder for root in roots.roots if (folder := folder_of(str(root.uri))) is not None]


class _Server(MCPServer):
    """Answers messages that cannot be read, which the SDK drops: their clients would wait without end."""

    async def run_stdio_async(self) -> None:
        passed, readable = create_memory_object_stream[SessionMessage | Exception]()
        async with stdio_server() as (messages, replies), create_task_group() as group:
            group.start_soon(_sort_out, messages, replies, passed)
            server = self._lowlevel_server
            await server.run(readable, replies, server.create_initialization_options())


async def _sort_out(
    messages: ReadStream[SessionMessage | Exception],
    replies: WriteStream[SessionMessage],
    passed: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Pass on messages that can be read, and answer the other ones. A reply of the client that cannot be read
    fails the request that waits for it."""
    async with passed:
        async for message in messages:
            if not isinstance(message, ValidationError):
                await passed.send(message)
            elif (refusal := refusal_of(message)) is not None:
                error, is_reply = refusal
                await (passed if is_reply else replies).send(SessionMessage(error))


def refusal_of(problem: ValidationError) -> tuple[JSONRPCError, bool] | None:
    """The error for a message that cannot be read, and whether that message is a reply; None for an
    empty line or a notification."""
    first = problem.errors()[0]
    is_json = first["type"] != "json_invalid"
    if not is_json and not first["input"].strip():
        return None
    try:
        message = _content(problem)
    except (ValueError, RecursionError):
        message = None
    identifier, is_reply = None, False
    if isinstance(message, dict):
        if "id" not in message and "method" in message:
            return None
        is_reply = "method" not in message and ("result" in message or "error" in message)
        if type(given := message.get("id")) is int or is_plain(given):
            identifier = given
    said = "is no request" if is_json else "cannot be read"
    error = ErrorData(
        code=INVALID_REQUEST if is_json else PARSE_ERROR, message=f"The message {said}: {first['msg']}"
    )
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=error), is_reply


def _content(problem: ValidationError) -> object:
    """The message as Python reads it, which takes half a character and deeper nesting. Raises ValueError and
    RecursionError."""
    for error in problem.errors():
        if error["type"] == "json_invalid":
            return json.loads(error["input"])
        if error["type"] == "missing":
            return error["input"]
    return None


def server(tools: Tools) -> MCPServer:
    """The server, which has not been started."""
    made = _Server("cyclelens", instructions=INSTRUCTIONS, version=version("cyclelens"), log_level="WARNING")
    tool = made.tool(annotations=_READS, structured_output=False)

    @tool
    @_refusing
    def analyze(
        source: Source, region: RegionName = "", function: str = "", core: Core = "", *, roots: Roots
    ) -> str:
        """Cycles per iteration of each region, what limits it, the critical chain, the costly lines, findings
        such as stalls with their cost, and what the figure assumes."""
        return tools.analyze(source, region=region, function=function, core=core, folders=_folders(roots))

    @tool
    @_refusing
    def compare(before: Source, after: Source, core: Core = "", *, roots: RootsOfTwo) -> str:
        """Figures of two versions of a text, region by region (by name), with the gain per unit of work."""
        return tools.compare(before, after, core=core, folders=_folders(roots))

    @tool
    @_refusing
    def rewrites(
        source: Source,
        region: RegionName = "",
        core: Core = "",
        show: Annotated[
            int, Field(description="number of the rewrite to show as a diff; 0: list them", ge=0)
        ] = 0,
        *,
        roots: Roots,
    ) -> str:
        """Rewrites that make regions faster, simplest first, each simulated. They keep results, but check
        proves it on random inputs."""
        return tools.rewrites(source, region=region, core=core, show=show, folders=_folders(roots))

    @tool
    @_refusing
    def check(
        before: Source,
        after: Source,
        region: Annotated[str, Field(description="name of the region in both versions")],
        times: Annotated[int, Field(description="iterations of before in one of after", ge=1)] = 1,
        *,
        roots: RootsOfTwo,
    ) -> str:
        """Run a region of two versions in a sandbox, on the same random registers and memory, and compare the
        results. Refused unless the user allowed it."""
        return tools.check(before, after, region=region, times=times, folders=_folders(roots))

    @tool
    @_refusing
    def explain(code: Annotated[str, Field(description="the code in brackets behind a finding")]) -> str:
        """What a finding means, when it occurs and how to avoid it."""
        return tools.explain(code)

    @tool
    @_refusing
    def cores() -> str:
        """The cores that can be simulated, and this machine's."""
        return tools.cores()

    @made.resource("cyclelens://diagnostics", mime_type="text/markdown")
    def diagnostics() -> str:
        """The list of the codes of findings and problems, each with a sentence."""
        return index()

    @made.resource("cyclelens://diagnostics/{code}", mime_type="text/markdown")
    def page(code: str) -> str:
        """The page about a diagnostic code."""
        return tools.explain(code)

    for name, path in documents().items():
        made.add_resource(
            FileResource(uri=f"cyclelens://documents/{name}", name=name, path=path, mime_type="text/markdown")
        )
    return made
