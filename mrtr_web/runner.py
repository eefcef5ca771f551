"""Runs legs outside the request: turn, lease, heartbeat, cancel, drain. What a result means comes in as a callable.

One Runner lives in each serving process, on its event loop. Views are sync and hand a Job over with launch();
a browser that goes away cancels nothing. Database work runs on the runner's own small pool of threads.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import functools
import logging
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.conf import settings

from mrtr_web import about, admission, catalog, ledger, live, measures, relay, telling
from mrtr_web.keeping import Keeper
from mrtr_web.models import Server
from mrtr_web.threads import threaded
from mrtr_web.turns import Turns

log = logging.getLogger(__name__)
Outcome = relay.Reply | relay.RelayError
MARKING = 3.0
"""Seconds for marking all legs that a stopping process leaves."""


@dataclass(frozen=True, slots=True)
class Again:
    """The server asks to be called again: after `pause` seconds claim() gives the next job, if still wanted."""

    pause: float
    claim: "Callable[[], Job | None]"


@dataclass(frozen=True, slots=True, repr=False)
class Job:
    """One leg to be sent. settle() seals and writes the outcome, seal_words() a text on its way to the flow's pages:
    they hold the key, the runner does not."""

    flow: uuid.UUID
    leg: uuid.UUID
    server: Server
    looked: bool
    """Whether the server was read when the leg was claimed, and its person may use it: then it has just been so."""
    person: int
    url: str
    """Of the server, as it was when the leg was claimed: it goes nowhere else."""
    call: relay.Call
    limits: relay.Limits
    settle: Callable[[Outcome], Again | None]
    seal_words: Callable[[str], bytes]


class Runner:
    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[asyncio.Task[None], Job] = {}
        self._idle: set[asyncio.Task[None]] = set()
        self._turns, self._keeper = Turns(), Keeper()
        self._stopping: asyncio.Future[None]

    def start(self) -> None:
        """Take legs from now on, on the running loop. Called by the ASGI lifespan."""
        self._loop = asyncio.get_running_loop()
        self._turns, self._keeper = Turns(), Keeper()
        self._stopping = self._loop.create_future()

    def launch(self, job: Job) -> concurrent.futures.Future[None]:
        """Send a leg, from any thread. The future is done when the flow has moved on."""
        if self._loop is None:
            raise RuntimeError("legs need the ASGI server: start it with `make run` or uvicorn")
        done: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._loop.call_soon_threadsafe(self._spawn, job, done)
        return done

    async def drain(self, limit: float) -> None:
        """No new legs; let those that were sent finish for `limit` seconds, then mark the rest and stop them."""
        self._stopping.set_result(None)
        given_up = [self._tasks[task] for task in self._idle]
        for task in self._idle:
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=limit)
        left = dict(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        await self._abandon(*given_up, *left.values())
        self._loop = None

    def _spawn(self, job: Job, done: concurrent.futures.Future[None]) -> None:
        # An empty context: a request's context would keep its thread-sensitive executor and its person alive.
        context = contextvars.Context()
        context.run(about.take, about.ids())
        task = asyncio.get_running_loop().create_task(self._run(job), context=context)
        self._tasks[task] = job
        task.add_done_callback(functools.partial(self._finished, done), context=context)

    def _finished(self, done: concurrent.futures.Future[None], task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a leg ended with %s", type(error).__name__)
        done.set_result(None)

    async def _run(self, job: Job) -> None:
        following: Job | None = job
        task = asyncio.current_task()
        assert task is not None
        while following is not None:
            self._tasks[task] = following
            about.add(flow=str(following.flow), leg=str(following.leg))
            if self._stopping.done():
                return await self._abandon(following)
            again = await self._leg(following)
            if again is None or self._stopping.done():
                return
            with self._idly():
                await asyncio.sleep(again.pause)
            following = await self._keeper.write(functools.partial(threaded, again.claim), 0, self._stopping)

    @contextlib.contextmanager
    def _idly(self) -> Iterator[None]:
        """Around a wait that shutdown need not wait for: nothing is with a server, and nothing is being written."""
        task = asyncio.current_task()
        assert task is not None
        self._idle.add(task)
        try:
            yield
        finally:
            self._idle.discard(task)

    async def _leg(self, job: Job) -> Again | None:
        """A leg from its place in the queue until its outcome is written, with a heartbeat all the while."""
        moved = asyncio.Event()
        pulse = asyncio.create_task(self._beat(job, moved))
        try:
            with live.hub.listening(job.flow, lambda hint: moved.set() if hint["type"] == "moved" else None):
                outcome = await self._outcome(job, pulse)
            if outcome is None:
                return None
            return await self._keeper.write(lambda: threaded(job.settle, outcome), outcome.size, pulse)
        finally:
            pulse.cancel()
            await asyncio.wait({pulse})

    async def _outcome(self, job: Job, pulse: asyncio.Task[None]) -> Outcome | None:
        """What the exchange brings once its turn has come; None where the leg is no longer wanted."""
        with self._turns.place(job.server.pk, job.person, settings.CONFIG.legs_per_server) as turn:
            looked = job.looked and turn.done()
            with self._idly(), measures.QUEUED.labels(job.server.slug).track_inprogress():
                await asyncio.wait({turn, pulse}, return_when=asyncio.FIRST_COMPLETED)
            if pulse.done():
                return None
            try:
                if job.server.credential_kind == "oauth":
                    await admission.prepare(job.server.pk, job.person)
                    looked = False
                endpoint = await threaded(_depart, job, looked)
                if endpoint is None:
                    return None
            except relay.Unsent as barred:
                return barred
            except Exception as error:  # nothing has been sent, so this can be said for certain
                log.error("a leg could not depart: %s", type(error).__name__)
                return relay.Unsent("database")
            return await self._fly(job, endpoint, pulse)

    async def _fly(self, job: Job, endpoint: relay.Endpoint, pulse: asyncio.Task[None]) -> Outcome | None:
        flight = asyncio.create_task(self._exchange(job, endpoint))
        try:
            await asyncio.wait({flight, pulse}, return_when=asyncio.FIRST_COMPLETED)
            return flight.result() if flight.done() else None
        finally:
            flight.cancel()
            await asyncio.wait({flight})

    async def _exchange(self, job: Job, endpoint: relay.Endpoint) -> Outcome:
        teller = telling.Teller(job.flow, job.leg, job.seal_words)
        send = functools.partial(relay.send, call=job.call, limits=job.limits, on_progress=teller)
        try:
            with measures.under_way(job.server.slug):
                return await admission.attempted(job.server, job.person, endpoint, send, functools.partial(_look, job))
        except relay.RelayError as error:
            return error
        finally:
            teller.close()

    async def _beat(self, job: Job, moved: asyncio.Event) -> None:
        """Returns when the leg is no longer wanted: looks at each beat, and at once where the flow has moved."""
        wanted = True
        while wanted:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(moved.wait(), settings.CONFIG.heartbeat)
            moved.clear()
            try:
                wanted = await threaded(ledger.beat, job.flow, job.leg, settings.CONFIG.lease)
            except Exception as error:  # a lost database must not end the leg: the lease decides
                log.warning("heartbeat failed: %s", type(error).__name__)

    async def _abandon(self, *jobs: Job) -> None:
        """Mark them, within MARKING and until the database fails once: the lease says the same a little later."""
        legs = [(job.flow, job.leg) for job in jobs]
        try:
            async with asyncio.timeout(MARKING):
                await threaded(ledger.abandon_all, legs)
        except Exception as error:
            log.warning("legs could not be marked: %s", type(error).__name__)


def _depart(job: Job, looked: bool) -> relay.Endpoint | None:
    """ledger.depart(), after a last look at what may have changed while the leg waited: where it goes, and with what.

    None where it is no longer wanted. Raises relay.Unsent.
    """
    endpoint = admission.endpoint(job.server, job.person) if looked else _look(job)
    return endpoint if ledger.depart(job.flow, job.leg, settings.CONFIG.lease) else None


def _look(job: Job, *_: object) -> relay.Endpoint:
    """Where the leg goes, and with what. Raises relay.Unsent where it may not be sent any more."""
    try:
        server = catalog.usable(job.person, job.server.pk, job.url)
    except catalog.Barred as barred:
        raise relay.Unsent(barred.why) from None
    return admission.endpoint(server, job.person)


runner = Runner()
"""The runner of this process."""
