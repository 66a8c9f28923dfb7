import { registerHooks } from 'node:module';
import { join, sep } from 'node:path';
import { Socket } from 'node:net';
import { Recording } from '../../../agents/records/recording.ts';
import { isPaused } from '../../../agents/run/pause.ts';
import { checkResumption } from '../../../agents/run/resumption.ts';
import { installRunHost } from '../../../agents/run/runHost.ts';
import { AppError } from '../../../core/errors.ts';
import { Redactor } from '../../../core/redact.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import type { FlowFailure } from '../protocol/flowOutcome.ts';
import { RESUMED, runFolder } from '../history/runFolder.ts';
import type { ChildMessage, ChildRequest } from '../protocol/runMessage.ts';
import { failureOf, findSyntaxError } from '../loading/flowFailure.ts';
import { runFlowFile } from './fileRun.ts';
import { FlowHost } from './flowHost.ts';
import type { KeyRequests } from './keyRequests.ts';
import { RecordedCompletions } from './recordedCompletions.ts';
import { createResolver } from '../loading/resolver.ts';
import { RunWriter } from './runWriter.ts';
import type { ViewLimits } from '../protocol/stateView.ts';
import { createLoader, findTransforms } from '../loading/typescriptSource.ts';
import { type ExactGraph, graphOfFlow } from '../../graph/exactGraph.ts';
import { findExportedFlow, importedFile } from '../loading/exportedFlow.ts';

// Long enough for work after the flow (a last write, a closing connection), short enough to wait for.
const LINGER_MS = 3_000;
const OWN_RUN_LINGER_MS = 10_000;
// Node's exit status for a promise that can no longer settle.
const UNSETTLED = 13;
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD)$/i;

const WORDS: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  Immediate: 'a timer',
  TCPServerWrap: 'a listening server',
  TCPSocketWrap: 'an open connection',
  TLSWrap: 'an open connection',
  UDPWrap: 'an open socket',
  ProcessWrap: 'a child process',
  FSEventWrap: 'a file watcher',
  StatWatcher: 'a file watcher',
  MessagePort: 'a worker thread',
  Worker: 'a worker thread',
  SignalWrap: 'a signal listener',
};

// The standard streams, which close with the process.
const OWN = new Set(['PipeWrap', 'TTYWrap']);

/** Where the child sends its events and messages. */
export interface Outlet {
  send(message: Exclude<ChildMessage, { type: 'events' }>): void;
  event(event: RunEvent): void;
  /** Returns a promise while the run should wait. */
  readonly pause: Promise<void> | undefined;
  flush(): void;
}

/** The files of the runner itself. */
export interface RuntimeFiles {
  /** The folder of the runner, whose stack frames are not the user's. */
  readonly root: string;
  /** The library for folders without their own. */
  readonly library: string;
  /** The same for zod. */
  readonly schemas: string;
}

interface ChildParts {
  readonly runtime: RuntimeFiles;
  readonly outlet: Outlet;
  /** Its abort stops the flow. */
  readonly stop: AbortSignal;
  /** How much of the shared state is shown. */
  readonly viewLimits?: ViewLimits;
  /** Whether the process is that of a job. */
  readonly isJob?: boolean;
  /** Supplies model keys that are in no variable here. */
  readonly keys?: Pick<KeyRequests, 'ask'>;
}

/** Runs a flow file in this process, which does nothing else. Everything is sent to the outlet; errors set the exit status. */
export async function runChild(
  request: ChildRequest,
  { runtime, outlet, stop, viewLimits, isJob = false, keys }: ChildParts,
): Promise<void> {
  const isOwn = (file: string): boolean =>
    !file.includes(`${sep}node_modules${sep}`) && !file.startsWith(runtime.root + sep);
  const redactor = new Redactor();
  for (const [name, value] of Object.entries(process.env)) {
    if (SECRET_NAME.test(name) && value !== undefined) redactor.add(value);
  }
  const hidden = (key: string | undefined): string | undefined => {
    if (key !== undefined) redactor.add(key);
    return key;
  };
  const clean = (text: string): string => redactor.redact(text);
  const describe = (thrown: unknown, path?: string): FlowFailure => cleaned(failureOf(thrown, isOwn, path), clean);
  const note = (message: string): void => outlet.send({ type: 'note', message: clean(message) });

  process.argv.splice(1, process.argv.length, request.file, ...(request.args ?? []));
  process.on('uncaughtExceptionMonitor', (error) => {
    const isHandled = process.listenerCount('uncaughtException') > 0;
    if (!isHandled) outlet.send({ type: 'threw', error: describe(error) });
  });
  const files = await openFiles(request, note);
  const { resume } = request;
  if (resume !== undefined && request.input === undefined) files?.checkpoint(RESUMED, () => resume);
  process.on('beforeExit', () => {
    if (host.isActive) process.exitCode ??= UNSETTLED;
  });
  process.on('exit', () => {
    files?.flush();
    outlet.flush();
  });
  const host = new FlowHost({
    request,
    files,
    replay: request.replay === undefined ? undefined : await Recording.open(runFolder(request.replay).recording),
    carried: await carriedSteps(request),
    completions: await recordedCompletions(request),
    stop,
    clean,
    viewLimits: request.viewLimits ?? viewLimits,
    emit: (event) => outlet.event(event),
    pause: () => outlet.pause,
    visited: request.isOneVisit === true ? () => outlet.send({ type: 'visited' }) : undefined,
    failureOf: describe,
    modelKey: keys && ((variable) => keys.ask(variable).then(hidden)),
  });
  installRunHost(host);
  const imports = await prepareImports({ runtime, outlet, isJob }, note);
  if (resume?.pause?.input !== undefined) {
    const { createAnswerSchemaLoader } = await import('../loading/answerSchemas.ts'); // loads the parser
    registerHooks({ load: createAnswerSchemaLoader(isOwn) });
  }
  if (request.isOffline === true) closeNetwork();
  try {
    if (request.isGraphOnly === true) outlet.send({ type: 'graph', graphs: await loadGraphs(request) });
    else {
      if (request.resume !== undefined) await checkResumption(request.resume, request.input);
      await runFlowFile(request, host, note);
    }
  } catch (error) {
    if (!isPaused(error) || host.begun === 0) report(error);
  }
  files?.flush();
  outlet.flush();
  endLater(host, note);

  function report(error: unknown): void {
    const failure = describe(error);
    const place = failure.place ?? (error instanceof SyntaxError ? findSyntaxError(imports.lastUrl) : undefined);
    const type = isRefusal(error, host) ? 'refused' : 'threw';
    outlet.send({ type, error: { ...failure, ...(place && { place }) } });
    process.exitCode = 1;
  }
}

async function openFiles({ folder }: ChildRequest, note: (message: string) => void): Promise<RunWriter | undefined> {
  if (folder === undefined) return undefined;
  const hasher = await Recording.open(join(folder, 'no-recording'));
  return new RunWriter(folder, hasher, note);
}

/** What tools did in the run that this one continues: it is in the folder of this run before it starts. */
async function carriedSteps({ folder, resume }: ChildRequest): Promise<Recording | undefined> {
  return folder === undefined || resume === undefined ? undefined : Recording.open(runFolder(folder).recording);
}

async function recordedCompletions({ isOffline, replay }: ChildRequest): Promise<RecordedCompletions | undefined> {
  if (isOffline !== true) return undefined;
  return replay === undefined ? new RecordedCompletions([]) : RecordedCompletions.read(runFolder(replay).calls);
}

async function prepareImports(
  { runtime: { library, schemas }, outlet, isJob }: Required<Pick<ChildParts, 'runtime' | 'outlet' | 'isJob'>>,
  note: (message: string) => void,
): Promise<{ readonly lastUrl: string }> {
  const imports = { lastUrl: '', library: '', isTransformed: false };
  const resolve = createResolver({
    library,
    schemas,
    isJob,
    onLibrary: (path) => {
      if (imports.library === path) return;
      imports.library = path;
      outlet.send({ type: 'library', path });
    },
  });
  const load = createLoader({
    onLoad: (url) => (imports.lastUrl = url),
    ...(await findTransforms()),
    onTransform: (file, what) => {
      if (imports.isTransformed) return;
      imports.isTransformed = true;
      note(`${file} uses TypeScript syntax that Node.js cannot run (${what}), so it was transformed.`);
    },
  });
  registerHooks({ resolve, load });
  return imports;
}

/** Whether the error is in the file rather than in its run. */
function isRefusal(error: unknown, host: FlowHost): boolean {
  return host.begun === 0 && (error instanceof AppError || error instanceof SyntaxError);
}

/** Exits the process after a while, even if something still keeps it alive. */
function endLater(host: FlowHost, note: (message: string) => void): void {
  const end = (): void => {
    if (host.isActive) return endLater(host, note);
    note(`The flow has ended but left ${openHandles()} open, so its process was terminated.`);
    process.exit();
  };
  setTimeout(end, host.isFileRunning ? OWN_RUN_LINGER_MS : LINGER_MS).unref();
}

function cleaned(failure: FlowFailure, clean: (text: string) => string): FlowFailure {
  const { message, stack } = failure;
  return { ...failure, message: clean(message), ...(stack !== undefined && { stack: clean(stack) }) };
}

/**
 * Loads a flow file and returns the graphs of the flows that it exports or runs. No flow is run: a call of `run` records its
 * flow and throws.
 *
 * @throws what the file throws before it has created a flow, and AppError if it creates none.
 */
async function loadGraphs({ file, flow }: Pick<ChildRequest, 'file' | 'flow'>): Promise<ExactGraph[]> {
  const visited = new Set<object>();
  installRunHost({
    begin({ unit }) {
      visited.add(unit);
      throw new AppError('refused', 'Flows cannot run here: only the graph was requested.');
    },
  });
  try {
    const exports = await importedFile(file);
    for (const value of Object.values(exports)) {
      if (typeof value === 'object' && value !== null && graphOfFlow(value) !== undefined) visited.add(value);
    }
    if (visited.size === 0) visited.add(await findExportedFlow(exports, flow, file));
  } catch (error) {
    if (visited.size === 0) throw error;
  }
  return [...visited].flatMap((one) => graphOfFlow(one) ?? []);
}

/** Blocks all connections of this process from now on. */
function closeNetwork(): void {
  Socket.prototype.connect = function refuse(this: Socket): Socket {
    const message = 'The network is closed: this run can only use recorded results.';
    this.destroy(new AppError('refused', message));
    return this;
  };
}

/** The open handles that keep this process alive: `a timer, 2 open connections`. */
function openHandles(): string {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) {
    if (OWN.has(type)) continue;
    const word = WORDS[type] ?? type;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, count]) => (count === 1 ? word : `${count} ${word.replace(/^an? /, '')}s`));
  return parts.join(', ') || 'something that Node does not name';
}
