"""The server object that all features share: session, jobs, settings, and the client's capabilities."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from cyclelens.analyzer.common.escaping import printable
from cyclelens.analyzer.compiling.background import PATIENCE
from cyclelens.analyzer.frontend.files.includes import may_read
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.source import Origin, Severity
from cyclelens.server.background.closed_files import ClosedFiles
from cyclelens.server.background.searches import Searches
from cyclelens.server.background.tasks import Tasks
from cyclelens.server.display import messages
from cyclelens.server.display.costs import InstructionCosts
from cyclelens.server.documents.baselines import Baselines
from cyclelens.server.documents.history import History
from cyclelens.server.documents.machine_files import MachineFiles
from cyclelens.server.documents.measurements import StoredMeasurements
from cyclelens.server.documents.memory import SavedFiles
from cyclelens.server.documents.origins import first_of, is_below, origin_of, place_of
from cyclelens.server.documents.projects import Projects
from cyclelens.server.documents.session import Session, Snapshot, Snapshots
from cyclelens.server.protocol.convert import Converter
from cyclelens.server.protocol.progress import Progress
from cyclelens.server.protocol.protocol import Protocol
from cyclelens.server.settings import DEFAULTS, Settings, resolve
from cyclelens.server.worker_messages.results import FileResult, Job, JobResult
from cyclelens.server.workers import worker
from cyclelens.server.workers.jobs import JobFailure, Jobs
from lsprotocol import types
from msgspec.structs import replace
from pygls.lsp.server import LanguageServer

REMEMBER_SECONDS = 0.2
"""Delay before the state is saved after an answer; a crash within it loses what the answer brought."""


class CyclelensServer(LanguageServer):
    """A language server with stored results. Features register themselves and their result listeners."""

    protocol: Protocol

    def __init__(self, factory: str = worker.REAL_ENGINE) -> None:
        super().__init__("cyclelens", _version(), protocol_cls=Protocol)
        self._session = Session()
        self.baselines = Baselines()
        self.measurements = StoredMeasurements()
        self.history = History()
        self.memory = SavedFiles()
        self.settings = DEFAULTS
        self.settings_known = asyncio.Event()
        """Set once the client has sent its settings; until then nothing is analysed, as the core may be
        wrong."""
        self.shutdown_requested = False
        self.result_listeners: list[Callable[[Snapshot], None]] = []
        """Called with the new snapshot after every analysis, failed ones included."""
        self.close_listeners: list[Callable[[str], object]] = []
        """Called with each document that is closed; features drop what they keep of it."""
        self.jobs = Jobs(self._answered, self._in_trouble, factory=factory)
        self.source_jobs = Jobs(self._answered, self._in_trouble, factory=factory, timeout=PATIENCE + 10)
        """Sources have a worker of their own, so that assembly texts never wait for a compiler."""
        self.closed_files = ClosedFiles(factory)
        self.file_listeners: list[Callable[[], object]] = []
        """Called when files change that the client watches for the server."""
        self.activity = Progress(self)
        self.tasks = Tasks(factory, self.options, self.activity, self._log_error)
        self.searches = Searches(factory, self.options, self._searched, self._log_error)
        self.cost_listeners: list[Callable[[Snapshot], None]] = []
        """Called when costs of findings become known."""
        self.costs = InstructionCosts()
        self.projects = Projects(lambda message: self.tell(types.MessageType.Warning, message))
        self.machine_files = MachineFiles(lambda message: self.tell(types.MessageType.Warning, message))
        self._arrived = asyncio.Event()
        """Set and replaced whenever an answer arrives."""
        self._last_answered = ("", 0)
        """Document and number of the last answered job; ``jobs`` and ``source_jobs`` count separately."""
        self._trouble_reported = False
        self._setting_messages: tuple[str, ...] = ()
        self._complaints: set[str] = set()

    @property
    def session(self) -> Snapshots:
        """The open documents, for reading. Only an ``EditedServer`` opens and changes them."""
        return self._session

    @property
    def converter(self) -> Converter:
        """Conversions into the position encoding agreed with the client."""
        encoding = self.server_capabilities.position_encoding
        return Converter(str(getattr(encoding, "value", encoding) or "utf-16"))

    def analyse(self, snapshot: Snapshot, delay: float | None = None, *, asked: bool = False) -> None:
        """Schedule the analysis of a document after ``delay`` seconds, by default the debounce time; never
        waits.

        :param asked: the user requested it; otherwise a large text is skipped.
        """
        settings = self.settings
        if self._session.is_large(snapshot) and not asked:
            message = messages.large(snapshot.size, self._session.large_size)
            problem = make_problem("file-too-large", message, 0, 0, 0, Severity.INFORMATION)
            self.notify(self._session.put(snapshot.answered(FileResult((), (problem,)))))
            return
        if not self.settings_known.is_set() or (snapshot.language and not settings["sources"]):
            return
        jobs = self.source_jobs if snapshot.language else self.jobs

        self.searches.stop(snapshot.uri)
        delay = settings["debounceMs"] / 1000 if delay is None else delay
        jobs.edited(snapshot.uri, partial(self.analysis_of, snapshot), delay)
        doing = "compiling" if snapshot.language else "analysing"
        self.activity.started(snapshot.uri, doing, lambda: jobs.forget(snapshot.uri), delay)

    def analysis_of(self, snapshot: Snapshot, identifier: int = 0) -> Job:
        """The analysis of a document as it is now."""
        kinds = self.settings.hint_kinds
        return Job(identifier, snapshot.uri, snapshot.revision, snapshot.text, self.options(snapshot), kinds)

    def options(self, snapshot: Snapshot) -> AnalysisOptions:
        """The analysis options from the settings, with the location of this document."""
        settings = self.settings_of(snapshot)
        origin = origin_of(snapshot.uri, self._folders, *settings.places)
        profile, machine_file = (self._named(name, origin, settings) for name in ("profile", "machineFile"))
        source = replace(settings.options.source, origin=origin, profile=profile)
        target = replace(settings.options.target, machine=self.machine_files.machine(machine_file))
        return replace(settings.options, source=source, target=target)

    def _named(self, setting: str, origin: Origin, settings: Settings) -> str:
        """The path of the file that a setting names; empty if it names none, or one that may not be read."""
        path = settings[setting] and first_of(settings[setting], origin.folders)
        if path and not may_read(path, origin) and not self._may_open(path, origin, settings):
            self._complain_once(messages.file_outside(setting, settings[setting]))
            return ""
        return str(path)

    def _may_open(self, path: str, origin: Origin, settings: Settings) -> bool:
        """Whether a file outside the workspace may be opened because a setting names it: only in a trusted
        folder, and not through a link inside the workspace that leads out of it."""
        named_inside = any(is_below(path, folder) for folder in origin.folders)
        return bool(settings["allowExternalPrograms"]) and not named_inside

    def _complain_once(self, message: str) -> None:
        if message not in self._complaints:
            self._complaints.add(message)
            self.tell(types.MessageType.Warning, message)

    def settings_of(self, snapshot: Snapshot) -> Settings:
        """The settings of a document: the editor's combined with those of its project."""
        path, folders = place_of(snapshot.uri, self._folders)
        return self.settings.within(self.projects.settings_for(path, folders))

    @property
    def _folders(self) -> list[str | None]:
        return list(self.workspace.folders) or [self.workspace.root_uri]

    def configure(self, sent: object) -> None:
        """Apply settings as sent: report each wrong one once, and repeat the analyses that they affect."""
        settings, complaints = resolve(sent, registry.names())
        for message in complaints:
            if message not in self._setting_messages:
                self.tell(types.MessageType.Warning, message)
        self._setting_messages = complaints
        known = self.settings_known.is_set()
        self.settings_known.set()
        same = settings.analysis == self.settings.analysis
        self.settings = settings
        self._session.large_size = settings["largeFileLines"]
        self.searches.jobs.timeout = settings["timeoutMs"] / 1000
        self.jobs.timeout = self.tasks.jobs.timeout = self.closed_files.jobs.timeout = (
            settings["timeoutMs"] / 1000
        )
        for snapshot in self.session:
            if known and same:
                self.notify(snapshot)
            else:
                self.searches.again(snapshot.uri)
                self.refresh(snapshot)

    def refresh(self, snapshot: Snapshot) -> None:
        """Repeat the analysis of a document because something other than its text has changed."""
        if self.settings["analyse"] != "manual":
            self.analyse(snapshot, delay=0)

    def use_new_tables(self) -> None:
        """Analyse all documents anew, in workers that read the instruction tables again."""
        for jobs in self._workers:
            jobs.restart()
        for snapshot in self.session:
            self.searches.again(snapshot.uri)
            self.refresh(snapshot)

    @property
    def _workers(self) -> tuple[Jobs, ...]:
        return self.jobs, self.source_jobs, self.searches.jobs, self.tasks.jobs, self.closed_files.jobs

    def close(self) -> None:
        """End the worker processes."""
        for jobs in self._workers:
            jobs.close()

    def tell(self, kind: types.MessageType, message: str) -> None:
        """Show a message to the user and keep it in the log."""
        self.window_show_message(types.ShowMessageParams(type=kind, message=printable(message)))

    def note(self, kind: types.MessageType, message: str) -> None:
        """Write to the client's log only."""
        self.window_log_message(types.LogMessageParams(type=kind, message=message))

    def misunderstood(self, method: str, params: object, reason: str) -> None:
        """Handle an unreadable notification. If it was a change, the server drops the document: its results
        would be about a text other than the one the user sees."""
        document = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = document.get("uri") if isinstance(document, Mapping) else None
        snapshot = self.session.get(uri) if isinstance(uri, str) else None
        if method != types.TEXT_DOCUMENT_DID_CHANGE or snapshot is None:
            self.note(types.MessageType.Warning, messages.unreadable(reason))
            return
        self.forget(snapshot.uri)
        self.tell(
            types.MessageType.Error,
            messages.unreadable_change(snapshot.uri, reason),
        )

    async def detailed(self, uri: str, patience: float) -> Snapshot | None:
        """The present snapshot, with the cards of its instructions if they arrive within ``patience``
        seconds; None if the document is not open."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while (known := self.session.get(uri)) and known.detailed < known.analysed == known.revision:
                    await self._arrived.wait()
        return self.session.get(uri)

    def remember(self, uri: str) -> None:
        """Save the baselines and the history of a document, in case this process is killed."""

        def write() -> None:
            if self.session.get(uri) is not None and not self.shutdown_requested:
                self.memory.write(
                    uri, {"baselines": self.baselines.state(uri), "history": self.history.state(uri)}
                )

        asyncio.get_running_loop().call_later(REMEMBER_SECONDS, write)

    def recall(self, uri: str) -> bool:
        """Restore what a killed server saved of a document; False if nothing was saved."""
        state = self.memory.read(uri)
        if state is None:
            return False
        try:
            self.baselines.restore(uri, state["baselines"])
            self.history.restore(uri, state["history"])
        except (KeyError, TypeError, ValueError):
            # Written by another version of the server.
            self.baselines.forget(uri)
            self.history.forget(uri)
            return False
        return True

    async def answered(self, uri: str, patience: float) -> Snapshot | None:
        """The present snapshot, analysed if that takes at most ``patience`` seconds; None if the document is
        not open."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while (known := self.session.get(uri)) and known.analysed != known.revision:
                    await self._arrived.wait()
        return self.session.get(uri)

    def forget(self, uri: str) -> None:
        """Drop everything about a document that was closed."""
        self.jobs.forget(uri)
        self.source_jobs.forget(uri)
        self.activity.ended(uri)
        self._session.close(uri)
        self.searches.again(uri)
        self.baselines.forget(uri)
        self.measurements.forget(uri)
        self.history.forget(uri)
        self.memory.forget(uri)
        for listener in self.close_listeners:
            listener(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def _log_error(self, message: str) -> None:
        self.note(types.MessageType.Error, message)

    def _answered(self, job: Job, reply: JobResult) -> None:
        self._arrived.set()
        self._arrived = asyncio.Event()
        snapshot = self.session.get(job.uri)
        if snapshot is None or snapshot.revision != job.revision:
            return
        if isinstance(reply.result, FileResult):
            self._trouble_reported = False
            screen = snapshot.screen
            snapshot = self._session.put(snapshot.answered(reply.result))
            if reply.result.pending or reply.result.failed:
                self.notify(snapshot)
                return
            self.baselines.answered(snapshot)
            self.history.answered(snapshot)
            self.remember(snapshot.uri)
            if reply.result.detailed and self.settings_of(snapshot)["advice"]:
                self.searches.begin(snapshot)
            # Results after the first complete answer are mostly requested on demand. For long code, however,
            # the other positions can change the figures and warnings on screen.
            if (job.uri, job.identifier) != self._last_answered:
                for problem in reply.result.problems:
                    if problem.traceback:
                        self._log_error(f"{problem.message}\n{problem.traceback}")
            if (job.uri, job.identifier) != self._last_answered or snapshot.screen != screen:
                self._last_answered = (job.uri, job.identifier)
                self.notify(snapshot)
            return
        self._log_error(f"The analysis failed:\n{reply.error}")
        self.activity.ended(job.uri)
        self._report_trouble("The analysis failed because of an error in Cyclelens; see its log for details.")
        self.notify(self._session.put(snapshot.unanswered()))

    def _searched(self, uri: str, advised: bool) -> None:
        """The search has new results for a document: new rewrites if ``advised``, otherwise only costs."""
        snapshot = self.session.get(uri)
        if snapshot is None or snapshot.analysed != snapshot.revision:
            return
        if advised:
            self.notify(snapshot)
        else:
            for listener in self.cost_listeners:
                listener(snapshot)

    def _in_trouble(self, job: Job | None, trouble: JobFailure) -> None:
        reason = trouble.said("analysis", "analysis process", self.jobs.timeout)
        self._report_trouble(messages.tries_again(reason))
        if job is not None:
            self.activity.ended(job.uri)
        snapshot = self.session.get(job.uri) if job is not None else None
        if snapshot is not None:
            self.notify(self._session.put(snapshot.unanswered()))

    def _report_trouble(self, message: str) -> None:
        """Show the message the first time; until an analysis succeeds again, only log it."""
        if self._trouble_reported:
            self.note(types.MessageType.Error, message)
        else:
            self.tell(types.MessageType.Error, message)
        self._trouble_reported = True

    def notify(self, snapshot: Snapshot) -> None:
        """Tell the features that the results of a document may have changed."""
        if snapshot.analysed == snapshot.revision:
            self.activity.ended(snapshot.uri)
        for listener in self.result_listeners:
            listener(snapshot)


class EditedServer(CyclelensServer):
    """The server for features that open, change and close documents."""

    @property
    def documents(self) -> Session:
        """The open documents, for writing."""
        return self._session


def _version() -> str:
    try:
        return version("cyclelens")
    except PackageNotFoundError:
        return "unknown"
