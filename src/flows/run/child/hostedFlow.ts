import type { Recording } from '../../../agents/records/recording.ts';
import type { RunOptions } from '../../../agents/run/runOptions.ts';
import { isPaused } from '../../../agents/run/pause.ts';
import type {
  HostedPart,
  HostedRun,
  HostedStep,
  ModelExchange,
  RunHost,
  StartingRun,
} from '../../../agents/run/runHost.ts';
import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import type { FlowFailure } from '../protocol/flowOutcome.ts';
import type { ChildRequest } from '../protocol/runMessage.ts';
import { stateChanges, type StateChange } from '../protocol/stateChange.ts';
import { isSpecial, type StateObject, type StateView, type ViewLimits, stateViewOf } from '../protocol/stateView.ts';
import type { RecordedCompletions } from './recordedCompletions.ts';
import { type RunWriter, TimeShare } from './runWriter.ts';

const VIEW_PART = 0.2;

// A batch can run a million items at once, and readers of the events copy the state with each change.
const MAX_PARTS = 32;

// A reply arrives in hundreds of pieces. This is often enough for text to grow visibly.
const JOIN_MS = 100;
const MAX_TEXT = 4_000;

/** The collaborators of the host. */
export interface HostParts {
  readonly request: ChildRequest;
  readonly files: RunWriter | undefined;
  readonly replay: Recording | undefined;
  /** What tools did in the run that this one continues. */
  readonly carried: Recording | undefined;
  readonly completions: RecordedCompletions | undefined;
  /** Aborted when the parent stops the run. */
  readonly stop: AbortSignal;
  /** Removes secrets from a text. */
  readonly clean: (text: string) => string;
  /** How much of the shared state is shown; the default if absent. */
  readonly viewLimits: ViewLimits | undefined;
  readonly emit: (event: RunEvent) => void;
  /** Returns a promise while the run should wait for its watchers. */
  readonly pause: () => Promise<void> | undefined;
  /** Called after the first visit, if the run goes no further. */
  readonly visited: (() => void) | undefined;
  readonly failureOf: (thrown: unknown, path: string | undefined) => FlowFailure;
  readonly modelKey: RunHost['modelKey'];
}

type TokenEvent = Extract<TraceEvent, { type: 'token' | 'reasoning' }>;

/** One run of a flow: reports its events, stores its results, and replays an earlier run. */
export class HostedFlow implements HostedRun {
  readonly options: RunOptions;
  readonly #parts: HostParts;
  readonly #run: number;
  readonly #onEnd: () => void;
  readonly #isInner: boolean;
  readonly #timeShare = new TimeShare(VIEW_PART);
  readonly #name: string;
  readonly #shared: unknown;
  // Shown but not recorded: the whole reply is in the file of model calls.
  readonly #tokens = new TokenJoiner((event) =>
    this.#parts.emit({ run: this.#run, ...event, text: this.#parts.clean(event.text) }),
  );
  /** The shared state as it was reported last. */
  #view: StateView;
  readonly #partStates = new PartStates();
  /** Steps since then whose changes were not reported, because that took too much of the run's time. */
  #skipped = 0;
  #failedPath: string | undefined;

  constructor(
    parts: HostParts,
    run: number,
    { name, shared, options, isInner }: Omit<StartingRun, 'unit'>,
    onEnd: () => void,
  ) {
    this.#parts = parts;
    this.#run = run;
    this.#onEnd = onEnd;
    this.#isInner = isInner === true;
    this.#name = name;
    this.#shared = shared;
    this.#view = this.#viewOf(options.resume?.shared ?? shared);
    this.options = this.#hosted(options);
    this.#emit({
      type: 'run-start',
      run,
      name,
      startedAt: Date.now(),
      state: this.#view,
      resumedAfter: options.resume?.path,
      ...(this.#isInner && { isInner }),
    });
  }

  stepped(step: HostedStep): Promise<void> | undefined {
    const { files, pause, visited } = this.#parts;
    if (visited !== undefined) {
      this.#tokens.flush();
      this.#reportChanges(step);
      files?.flush();
      visited();
      return new Promise(() => {}); // the process is stopped
    }
    if (this.#timeShare.hasRoom || step.checkpoint === undefined)
      this.#timeShare.spend(() => this.#reportChanges(step));
    else this.#skipped += 1;
    // An inner run cannot be continued: the hook that started it runs again.
    if (step.checkpoint !== undefined && !this.#isInner) files?.checkpoint(this.#run, step.checkpoint);
    return pause();
  }

  ended({ at, action, failure }: Parameters<HostedRun['ended']>[0]): void {
    this.#tokens.flush();
    if (failure !== undefined)
      this.#reportChanges({ path: this.#failedPath ?? '', visit: 1, at, shared: this.#shared, part: undefined });
    this.#emit({
      type: 'run-end',
      run: this.#run,
      at,
      action: typeof action === 'string' ? action : undefined,
      ...(failure !== undefined && this.#endOf(failure.error)),
    });
    this.#onEnd();
  }

  /** The end of a run that waits or has failed. A pause of another run that a hook started counts as a failure here. */
  #endOf(error: unknown): Pick<Extract<RunEvent, { type: 'run-end' }>, 'error' | 'pause'> {
    if (!isPaused(error) || error.checkpoint.position[0]?.node !== this.#name) {
      return { error: this.#parts.failureOf(error, this.#failedPath) };
    }
    const { path, pause } = error.checkpoint;
    this.#parts.files?.waiting(error.checkpoint);
    const { clean } = this.#parts;
    return { pause: { ...pause, question: clean(error.question), path } };
  }

  findCompletion(provider: string, request: ModelExchange['request']): unknown {
    return this.#parts.completions?.find(provider, request);
  }

  modelCalled(exchange: ModelExchange): void {
    this.#parts.files?.call(this.#run, exchange);
  }

  #hosted(options: RunOptions): RunOptions {
    const { stop, files } = this.#parts;
    const { replay, carried } = this.#parts;
    return {
      ...options,
      signal: options.signal === undefined ? stop : AbortSignal.any([options.signal, stop]),
      onEvent: (event) => {
        this.#report(event);
        options.onEvent?.(event);
      },
      ...((files !== undefined || options.record !== undefined) && {
        record: {
          keep: (call, result) => {
            files?.result(call, result);
            options.record?.keep(call, result);
          },
          keepStep: (place, step) => {
            files?.step(place, step);
            options.record?.keepStep?.(place, step);
          },
        },
      }),
      ...((replay !== undefined || carried !== undefined || options.replay !== undefined) && {
        replay: {
          find: (call) => options.replay?.find(call) ?? this.#find(replay, call),
          steps: (place) => [
            ...(options.replay?.steps?.(place) ?? []),
            ...(replay?.steps(place) ?? []),
            ...(carried?.steps(place) ?? []),
          ],
        },
      }),
    };
  }

  #find(replay: Recording | undefined, call: Parameters<Recording['find']>[0]): ReturnType<Recording['find']> {
    if (replay === undefined) return undefined;
    const { path, visit, item } = call;
    const stale = this.#parts.request.stale?.[path.replaceAll(/(?:#\d+)?(?:\[\d+\])?(?=\/)/g, '')];
    if (stale !== undefined) {
      this.#emit({ type: 'live', run: this.#run, path, visit, item, reason: 'code', files: stale });
      return undefined;
    }
    try {
      const recorded = replay.find(call);
      if (recorded === undefined) {
        this.#emit({ type: 'live', run: this.#run, path, visit, item, reason: replay.whyMissing(call) });
      }
      return recorded;
    } catch {
      // The result of prep is not plain data, so nothing was recorded for it.
      this.#emit({ type: 'live', run: this.#run, path, visit, item, reason: 'new' });
      return undefined;
    }
  }

  #report(event: TraceEvent): void {
    if (event.type === 'error') this.#failedPath ??= event.path;
    const { clean } = this.#parts;
    if (event.type === 'token' || event.type === 'reasoning') {
      this.#tokens.push(event);
      return;
    }
    this.#tokens.flush();
    if (event.type === 'emit') {
      this.#emit({ run: this.#run, ...event, data: this.#viewOf(event.data) });
      return;
    }
    if (event.type === 'tool') {
      const { error, ...tool } = event;
      this.#emit({ run: this.#run, ...tool, ...(error !== undefined && { error: clean(error) }) });
      return;
    }
    // Messages can contain what must not leave the process.
    if (event.type !== 'warning' && 'message' in event)
      this.#emit({ run: this.#run, ...event, message: clean(event.message) });
    else this.#emit({ run: this.#run, ...event });
  }

  #reportChanges({ path, visit, at, shared, part }: Omit<HostedStep, 'checkpoint'>): void {
    const state = this.#viewOf(shared);
    const changes =
      part === undefined
        ? [...this.#partStates.clear(), ...stateChanges(this.#view, state)]
        : this.#partStates.changes(this.#view, part, state);
    if (part === undefined) this.#view = state;
    const skipped = this.#skipped;
    this.#skipped = 0;
    if (changes.length === 0 && skipped === 0) return;
    this.#emit({ type: 'state', run: this.#run, path, visit, at, changes, ...(skipped > 0 && { skipped }) });
  }

  #viewOf(shared: unknown): StateView {
    const { clean, viewLimits: limits } = this.#parts;
    return stateViewOf(shared, { clean, ...(limits && { limits }) });
  }

  #emit(event: RunEvent): void {
    this.#parts.files?.event(event);
    this.#parts.emit(event);
  }
}

/** The states of items and branches in progress, which are shown beside the shared state, each under its path. */
export class PartStates {
  readonly #parts = new Map<string, StateView>();

  /** The changes of a step of a part, and the removal of parts that ended before. */
  changes(shared: StateView, { path, previous }: HostedPart, state: StateView): readonly StateChange[] {
    const changes: StateChange[] = [];
    for (const partName of this.#parts.keys()) {
      // Ended items, and everything that ran inside them or inside this one.
      if (partName === previous || isBelow(partName, previous) || isBelow(partName, path))
        changes.push(this.#remove(partName));
    }
    const before = this.#parts.get(path);
    if (before === undefined && this.#parts.size >= MAX_PARTS) return changes;
    const partState = ownPart(shared, state);
    this.#parts.set(path, partState);
    if (before === undefined) changes.push({ op: 'set', path: [path], value: partState });
    else
      for (const change of stateChanges(before, partState)) changes.push({ ...change, path: [path, ...change.path] });
    return changes;
  }

  /** The removal of all parts: they have ended. */
  clear(): readonly StateChange[] {
    return [...this.#parts.keys()].map((partName) => this.#remove(partName));
  }

  #remove(path: string): StateChange {
    this.#parts.delete(path);
    return { op: 'remove', path: [path] };
  }
}

function isBelow(path: string, outer: string | undefined): boolean {
  return outer !== undefined && path.startsWith(`${outer}/`);
}

/** The keys that a part does not have from the shared state. */
function ownPart(shared: StateView, state: StateView): StateView {
  if (!isObject(shared) || !isObject(state)) return state;
  const isOwn = ([key, value]: [string, StateView]): boolean =>
    !Object.hasOwn(shared, key) || stateChanges(shared[key] ?? null, value).length > 0;
  return Object.fromEntries(Object.entries(state).filter(isOwn));
}

function isObject(view: StateView): view is StateObject {
  return typeof view === 'object' && view !== null && !Array.isArray(view) && !isSpecial(view);
}

/** Joins the pieces of a streamed reply, so that there is an event for each tenth of a second instead of for each token. */
class TokenJoiner {
  readonly #emit: (event: TokenEvent) => void;
  #joined: TokenEvent | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (event: TokenEvent) => void) {
    this.#emit = emit;
  }

  push(event: TokenEvent): void {
    const joinedRun = this.#joined;
    const isSame = joinedRun?.type === event.type && joinedRun.path === event.path && joinedRun.visit === event.visit;
    if (isSame && joinedRun.text.length < MAX_TEXT) {
      this.#joined = { ...joinedRun, text: joinedRun.text + event.text };
      return;
    }
    this.flush();
    this.#joined = event;
    this.#timer = setTimeout(() => this.flush(), JOIN_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    const joined = this.#joined;
    this.#joined = undefined;
    if (joined !== undefined) this.#emit(joined);
  }
}
