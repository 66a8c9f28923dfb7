import * as path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as l10n from '@vscode/l10n';
import { fieldOf, numberField, textField } from '../../core/jsonFields.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import { printableText } from '../../core/text/printable.ts';
import { PYTHON_FRAME } from '../source/sourceReference.ts';
import { type DebugMessage, isObject } from './debugMessages.ts';
import { changeText, type JobSource, type JobSources, localLine, submittedLine } from './jobSources.ts';

/** What an attached debugger may report. Other events are not forwarded: extensions of editors act on events of their own. */
const EVENTS: ReadonlySet<string> = new Set([
  'breakpoint',
  'capabilities',
  'continued',
  'exited',
  'initialized',
  'invalidated',
  'loadedSource',
  'memory',
  'module',
  'output',
  'process',
  'progressEnd',
  'progressStart',
  'progressUpdate',
  'stopped',
  'terminated',
  'thread',
]);
/** What would end the job, or start something. */
const REFUSED_CAPABILITIES = [
  'supportTerminateDebuggee',
  'supportSuspendDebuggee',
  'supportsTerminateRequest',
  'supportsRestartRequest',
];
/** Options of a client that the debugger in the job gets. */
const PASSED_OPTIONS = ['justMyCode', 'showReturnValue', 'stepInTargets', 'variablePresentation', 'django', 'jinja'];
// As no path matches, pydevd gives each source a reference, by which its text can be read, and translates no path.
const NO_MAPPING = [{ localRoot: '/.farwharf-none', remoteRoot: '/.farwharf-none' }];
/** Fields that are sent back as they came, or whose text is a file. */
const EXACT_FIELDS: ReadonlySet<string> = new Set([
  'path',
  'content',
  'memoryReference',
  'adapterData',
  'evaluateName',
]);
const FIELDS_WITH_LINES = ['line', 'endLine', 'column', 'endColumn'];

const READ_TIMEOUT_MS = 10_000;
const MAX_REFERENCES = 10_000;
// Editors keep what is printed. A job's own output is in its log.
const MAX_OUTPUT = 10_000_000;

type Fields = Readonly<Record<string, unknown>>;

interface PendingRequest {
  readonly command: string;
  /** Of the client's request; undefined for one of our own. */
  readonly clientSeq: number | undefined;
  /** Changes the body of a successful response. */
  readonly answer?: ((body: unknown) => Promise<unknown>) | undefined;
  readonly settle?: (message: DebugMessage | undefined) => void;
}

/** A source as a client names it: a file on this machine, or one of the job by a reference. */
interface ClientSource {
  /** The client's own description of it. */
  readonly shown: Fields;
  /** In the job. */
  readonly jobPath: string;
  readonly toJob: (line: number) => number | undefined;
  readonly toClient: (line: number) => number | undefined;
}

interface ProxyOptions {
  readonly sources: JobSources;
  readonly sendToClient: (message: DebugMessage) => void;
  readonly sendToJob: (message: DebugMessage) => void;
}

/**
 * Stands between a debug client (an editor) and the debugger of a running job, both of which speak the debug adapter protocol. Shows the
 * client its own files, with their lines as they are now, in place of the job's. What the job's side sends is not trusted: it can start nothing on
 * this machine, and name no file outside of the folder that was submitted.
 */
export class DebugProxy {
  readonly #sources: JobSources;
  readonly #sendToClient: ProxyOptions['sendToClient'];
  readonly #sendToJob: ProxyOptions['sendToJob'];
  readonly #fromClient = new SerialQueue();
  readonly #fromJob = new SerialQueue();
  readonly #pending = new Map<number, PendingRequest>();
  /** The debugger's references to texts, by path. */
  readonly #references = new Map<string, number>();
  /** The breakpoints of a file of the job, by what the client calls it: a file here, and its text as it was submitted. */
  readonly #breakpoints = new Map<string, Map<string, readonly Fields[]>>();
  readonly #noticed = new Set<string>();
  #clientSeq = 0;
  #jobSeq = 0;
  /** The number of the first line at the client. */
  #firstLine = 1;
  #usesUris = false;
  #outputLength = 0;

  constructor({ sources, sendToClient, sendToJob }: ProxyOptions) {
    this.#sources = sources;
    this.#sendToClient = sendToClient;
    this.#sendToJob = sendToJob;
  }

  /** Passes on a message of the client. Resolves once that is done. */
  fromClient(message: DebugMessage): Promise<void> {
    return this.#fromClient.run(async () => {
      if (message['type'] !== 'request') return;
      try {
        await this.#passRequest(message);
      } catch (error) {
        this.#respond(message, { failure: error instanceof Error ? error.message : String(error) });
      }
    });
  }

  /** Passes on a message of the job's debugger. Resolves once that is done. @throws AppError `corrupt` for one that cannot be. */
  async fromJob(message: DebugMessage): Promise<void> {
    const pending = message['type'] === 'response' ? this.#takePending(message) : undefined;
    // Whoever waits for it blocks the messages after it.
    if (pending?.settle !== undefined) return pending.settle(message);
    return this.#fromJob.run(async () => {
      if (message['type'] === 'event') await this.#passEvent(message);
      else if (message['type'] === 'request') this.#refuse(message);
      else if (pending !== undefined) await this.#passResponse(message, pending);
    });
  }

  /** Shows a line of text where the client shows the program's output. */
  notice(text: string): void {
    this.#toClient({ type: 'event', event: 'output', body: { category: 'important', output: `${text}\n` } });
  }

  /** Tells the client that there is nothing left to debug. */
  endSession(): void {
    this.#toClient({ type: 'event', event: 'terminated' });
  }

  /** Ends what waits for the job, after the connection to it has ended. */
  dispose(): void {
    for (const { settle } of this.#pending.values()) settle?.(undefined);
    this.#pending.clear();
  }

  async #passRequest(message: DebugMessage): Promise<void> {
    const command = textField(message, 'command') ?? '';
    const given = fieldOf(message, 'arguments');
    const args: Fields = isObject(given) ? given : {};
    switch (command) {
      case 'initialize':
        return this.#initialize(message, args);
      case 'launch':
      case 'attach': {
        const passed = Object.fromEntries(PASSED_OPTIONS.flatMap((name) => (name in args ? [[name, args[name]]] : [])));
        const own = { pathMappings: NO_MAPPING, redirectOutput: false, debugOptions: [] };
        return this.#request(message, { justMyCode: true, ...passed, ...own }, { command: 'attach' });
      }
      case 'disconnect':
        return this.#request(message, { restart: false, terminateDebuggee: false });
      case 'terminate':
      case 'restart':
        return this.#respond(message, {
          failure: l10n.t('A debugger does not end the job. Disconnect, or cancel the job.'),
        });
      case 'cancel': {
        const requestId = numberField(args, 'requestId');
        const [seq] = [...this.#pending].find(([, { clientSeq }]) => clientSeq === requestId) ?? [];
        return this.#request(message, { ...args, ...(seq !== undefined && { requestId: seq }) });
      }
      case 'setBreakpoints':
        return this.#setBreakpoints(message, args);
      case 'breakpointLocations':
      case 'gotoTargets':
        return this.#passLocation(message, args);
      case 'evaluate':
        // Its location only helps to find names, and is rarely there.
        return this.#request(message, without(args, ['source', ...FIELDS_WITH_LINES]), {
          answer: this.#withLocation,
        });
      case 'stackTrace':
        return this.#request(message, args, { answer: (body) => this.#mapList(body, 'stackFrames') });
      case 'scopes':
        return this.#request(message, args, { answer: (body) => this.#mapList(body, 'scopes') });
      case 'loadedSources':
        return this.#request(message, args, { answer: this.#mapSources });
      case 'locations':
        return this.#request(message, args, { answer: this.#withLocation });
      case 'exceptionInfo':
        return this.#request(message, args, { answer: this.#mapException });
      default:
        return this.#request(message, args);
    }
  }

  #initialize(message: DebugMessage, args: Fields): void {
    this.#firstLine = args['linesStartAt1'] === false ? 0 : 1;
    this.#usesUris = args['pathFormat'] === 'uri';
    const passed = {
      ...args,
      linesStartAt1: true,
      pathFormat: 'path',
      supportsRunInTerminalRequest: false,
      supportsStartDebuggingRequest: false,
    };
    this.#request(message, passed, { answer: (body) => Promise.resolve(withoutRefused(body)) });
  }

  /** Sends a request on, and remembers what to do with the response. */
  #request(
    message: DebugMessage,
    args: Fields,
    { command, answer }: { readonly command?: string; readonly answer?: PendingRequest['answer'] } = {},
  ): void {
    const asked = textField(message, 'command') ?? '';
    this.#jobSeq += 1;
    this.#pending.set(this.#jobSeq, { command: asked, clientSeq: numberField(message, 'seq') ?? 0, answer });
    this.#sendToJob({ seq: this.#jobSeq, type: 'request', command: command ?? asked, arguments: args });
  }

  #respond(message: DebugMessage, { body, failure }: { readonly body?: Fields; readonly failure?: string }): void {
    this.#toClient({
      type: 'response',
      request_seq: message['seq'],
      command: message['command'],
      success: failure === undefined,
      ...(failure !== undefined && { message: failure }),
      ...(body !== undefined && { body }),
    });
  }

  #toClient(message: DebugMessage): void {
    this.#clientSeq += 1;
    this.#sendToClient({ ...message, seq: this.#clientSeq });
  }

  #takePending(message: DebugMessage): PendingRequest | undefined {
    const seq = numberField(message, 'request_seq') ?? 0;
    const pending = this.#pending.get(seq);
    this.#pending.delete(seq);
    return pending;
  }

  async #passResponse(message: DebugMessage, { command, clientSeq, answer }: PendingRequest): Promise<void> {
    const success = message['success'] === true;
    const body = success && answer !== undefined ? await answer(message['body']) : message['body'];
    this.#toClient({
      type: 'response',
      request_seq: clientSeq,
      command,
      success,
      ...(!success && { message: printableText(textField(message, 'message') ?? l10n.t('The debugger refused it.')) }),
      ...(body !== undefined && { body: cleaned(body) }),
    });
  }

  async #passEvent(message: DebugMessage): Promise<void> {
    const event = textField(message, 'event') ?? '';
    const body = message['body'];
    if (!EVENTS.has(event)) return;
    const passed = await this.#eventBody(event, body);
    if (passed !== undefined) this.#toClient({ type: 'event', event, body: cleaned(passed) });
  }

  async #eventBody(event: string, body: unknown): Promise<unknown> {
    switch (event) {
      case 'output':
        return this.#takesOutput(body) ? this.#withLocation(body) : undefined;
      case 'breakpoint': {
        const [breakpoint] = await this.#mapLocations([fieldOf(body, 'breakpoint')]);
        return isObject(body) ? { ...body, breakpoint } : body;
      }
      case 'loadedSource': {
        const [source] = await this.#mapLocations([{ source: fieldOf(body, 'source') }]);
        return isObject(body) ? { ...body, source: fieldOf(source, 'source') } : body;
      }
      case 'capabilities':
        return isObject(body) ? { ...body, capabilities: withoutRefused(body['capabilities']) } : body;
      // Its data would start the session again.
      case 'terminated':
        return {};
      default:
        return body ?? {};
    }
  }

  #takesOutput(body: unknown): boolean {
    // Telemetry is for the debugger's makers.
    if (fieldOf(body, 'category') === 'telemetry' || this.#outputLength > MAX_OUTPUT) return false;
    this.#outputLength += (textField(body, 'output') ?? '').length;
    if (this.#outputLength > MAX_OUTPUT)
      this.notice(l10n.t('More output is not shown here. It is in the log of the job.'));
    return this.#outputLength <= MAX_OUTPUT;
  }

  /** Requests by which a debugger asks its client to start programs or sessions. */
  #refuse(message: DebugMessage): void {
    this.#jobSeq += 1;
    this.#sendToJob({
      seq: this.#jobSeq,
      type: 'response',
      request_seq: message['seq'],
      command: message['command'],
      success: false,
      message: 'Not supported.',
    });
  }

  async #setBreakpoints(message: DebugMessage, args: Fields): Promise<void> {
    const wanted = listOf(args['breakpoints']) ?? (listOf(args['lines']) ?? []).map((line) => ({ line }));
    const source = await this.#clientSource(args['source']);
    if (source === undefined) {
      const reason = l10n.t('This file was not submitted with the job.');
      return this.#respond(message, { body: { breakpoints: wanted.map(() => unverified(reason)) } });
    }
    const lines = wanted.map((breakpoint) => this.#lineInJob(source, breakpoint));
    const passed = wanted.flatMap((breakpoint, index) => {
      const line = lines[index];
      return line === undefined || !isObject(breakpoint) ? [] : [{ ...breakpoint, line }];
    });
    const perSource = this.#breakpoints.get(source.jobPath) ?? new Map<string, readonly Fields[]>();
    this.#breakpoints.set(source.jobPath, perSource);
    const key = JSON.stringify([source.shown['path'], source.shown['sourceReference']]);
    perSource.set(key, passed);
    // A request replaces all breakpoints of the file.
    const all = [...perSource.values()].flat();
    const start = all.indexOf(passed[0] ?? {});
    const request = {
      source: { name: path.posix.basename(source.jobPath), path: source.jobPath },
      breakpoints: all,
      lines: all.map(({ line }) => line),
      sourceModified: args['sourceModified'],
    };
    const answer = (body: unknown): Promise<unknown> => {
      const set = listOf(fieldOf(body, 'breakpoints')) ?? [];
      let next = start;
      const breakpoints = lines.map((line) => {
        if (line === undefined) return unverified(l10n.t('This line was added after the job was submitted.'));
        const found = set[next];
        next += 1;
        return isObject(found) ? this.#shownIn(source, found) : unverified(l10n.t('The debugger did not set it.'));
      });
      return Promise.resolve({ breakpoints });
    };
    this.#request(message, request, { answer });
  }

  async #passLocation(message: DebugMessage, args: Fields): Promise<void> {
    const source = await this.#clientSource(args['source']);
    const line = source && this.#lineInJob(source, args);
    const list = message['command'] === 'gotoTargets' ? 'targets' : 'breakpoints';
    if (source === undefined || line === undefined) return this.#respond(message, { body: { [list]: [] } });
    const answer = (body: unknown): Promise<unknown> => {
      const found = (listOf(fieldOf(body, list)) ?? []).filter(isObject);
      return Promise.resolve({ [list]: found.map((each) => this.#shownIn(source, each)) });
    };
    const endLine = this.#lineInJob(source, { line: args['endLine'] }) ?? line;
    const place = { source: { path: source.jobPath }, line, ...('endLine' in args && { endLine }) };
    this.#request(message, { ...args, ...place }, { answer });
  }

  #lineInJob(source: ClientSource, location: unknown): number | undefined {
    const line = numberField(location, 'line');
    return line === undefined ? undefined : source.toJob(line + 1 - this.#firstLine);
  }

  /** A location of the debugger in the source in which the client asked for it. */
  #shownIn(source: ClientSource, found: Fields): Fields {
    const line = numberField(found, 'line');
    const mapped = line === undefined ? undefined : source.toClient(line);
    const shown = { ...without(found, ['source', 'line', 'endLine', 'endColumn']) };
    return { ...shown, source: source.shown, ...(mapped !== undefined && { line: mapped - 1 + this.#firstLine }) };
  }

  /** Undefined for a file that was not submitted. */
  async #clientSource(given: unknown): Promise<ClientSource | undefined> {
    const shown = isObject(given) ? given : {};
    const named = textField(shown, 'path');
    if (named === undefined) return undefined;
    const same = (line: number): number => line;
    if ((numberField(shown, 'sourceReference') ?? 0) > 0) return { shown, jobPath: named, toJob: same, toClient: same };
    const file = this.#usesUris ? fileURLToPath(named) : named;
    const source = await this.#sources.ofFile(file, this.#readJobText);
    if (source === undefined) return undefined;
    this.#noticeChange(source);
    const toJob = (line: number): number | undefined => submittedLine(source, line);
    const toClient = (line: number): number | undefined => localLine(source, line);
    return { shown, jobPath: source.jobPath, toJob, toClient };
  }

  async #mapList(body: unknown, name: string): Promise<unknown> {
    if (!isObject(body)) return body;
    return { ...body, [name]: await this.#mapLocations(listOf(body[name]) ?? []) };
  }

  readonly #mapSources = async (body: unknown): Promise<unknown> => {
    const sources = (listOf(fieldOf(body, 'sources')) ?? []).map((source) => ({ source }));
    return { sources: (await this.#mapLocations(sources)).map((each) => each['source']) };
  };

  readonly #withLocation = async (body: unknown): Promise<unknown> => (await this.#mapLocations([body]))[0];

  /** The traceback of an exception names files in its text. */
  readonly #mapException = async (body: unknown): Promise<unknown> => {
    const details = fieldOf(body, 'details');
    if (!isObject(body) || !isObject(details)) return body;
    const text = textField(details, 'stackTrace') ?? '';
    const frames = [...text.matchAll(PYTHON_FRAME)].map(([frame, file = '', line]) => ({ frame, file, line }));
    const found = await this.#ofJob([...frames.map(({ file }) => file), textField(details, 'source') ?? '']);
    let [stackTrace, end] = ['', 0];
    for (const { frame, file, line } of frames) {
      const source = found.get(file);
      const mapped = source && localLine(source, Number(line));
      const start = text.indexOf(frame, end);
      stackTrace += text.slice(end, start);
      stackTrace += mapped === undefined ? frame : `File "${source?.file}", line ${mapped}`;
      end = start + frame.length;
    }
    stackTrace += text.slice(end);
    return { ...body, details: { ...without(details, ['source']), stackTrace } };
  };

  /** What has a source and lines, as the client is to see it. */
  async #mapLocations(given: readonly unknown[]): Promise<readonly Fields[]> {
    const locations = given.map((each) => (isObject(each) ? each : {}));
    const sources = locations.map((location) => location['source']);
    for (const source of sources) this.#noteReference(source);
    const paths = sources.flatMap((source) => textField(source, 'path') ?? []);
    const found = await this.#ofJob(paths);
    return locations.map((location, index) => {
      const source = sources[index];
      if (!isObject(source)) return this.#shifted(location);
      const known = found.get(textField(source, 'path') ?? '');
      if (known === undefined) return this.#shifted({ ...location, source: onlyInJob(source) });
      this.#noticeChange(known);
      const line = numberField(location, 'line');
      const mapped = line === undefined ? undefined : localLine(known, line);
      if (line !== undefined && mapped === undefined)
        return this.#shifted({ ...location, source: asSubmitted(source) });
      const shown = { name: path.basename(known.file), path: this.#shownPath(known.file) };
      if (mapped === line) return this.#shifted({ ...location, source: shown });
      return this.#shifted({ ...without(location, ['endLine', 'endColumn']), line: mapped, source: shown });
    });
  }

  #shifted(location: Fields): Fields {
    if (this.#firstLine === 1) return location;
    const lines = ['line', 'endLine'].flatMap((name) => {
      const line = numberField(location, name);
      return line === undefined ? [] : [[name, line - 1] as const];
    });
    return { ...location, ...Object.fromEntries(lines) };
  }

  #shownPath(file: string): string {
    return this.#usesUris ? pathToFileURL(file).href : file;
  }

  #ofJob(paths: readonly string[]): Promise<ReadonlyMap<string, JobSource>> {
    return this.#sources.ofJob(paths, this.#readJobText);
  }

  #noteReference(source: unknown): void {
    const [file, reference] = [textField(source, 'path'), numberField(source, 'sourceReference') ?? 0];
    if (file !== undefined && reference > 0 && this.#references.size < MAX_REFERENCES)
      this.#references.set(file, reference);
  }

  /** Asks the debugger for a text. Undefined if it has named no reference to it, or does not answer in 10 s. */
  readonly #readJobText = async (jobPath: string): Promise<string | undefined> => {
    const sourceReference = this.#references.get(jobPath);
    if (sourceReference === undefined) return undefined;
    this.#jobSeq += 1;
    const seq = this.#jobSeq;
    const answer = await new Promise<DebugMessage | undefined>((resolve) => {
      const timer = setTimeout(() => {
        this.#pending.delete(seq);
        resolve(undefined);
      }, READ_TIMEOUT_MS);
      const settle = (message: DebugMessage | undefined): void => {
        clearTimeout(timer);
        resolve(message);
      };
      this.#pending.set(seq, { command: 'source', clientSeq: undefined, settle });
      const args = { source: { path: jobPath, sourceReference }, sourceReference };
      this.#sendToJob({ seq, type: 'request', command: 'source', arguments: args });
    });
    return answer?.['success'] === true ? textField(answer['body'], 'content') : undefined;
  };

  /** Says once of each file how it differs from what runs. */
  #noticeChange({ path: name, lines }: JobSource): void {
    if (lines.type === 'same' || this.#noticed.has(name)) return;
    this.#noticed.add(name);
    this.notice(changeText(name, lines.type));
  }
}

/** A line that was deleted here is shown in the text that the job runs. */
function asSubmitted(source: Fields): Fields {
  const name = path.posix.basename(textField(source, 'path') ?? '');
  return { ...onlyInJob(source), name: l10n.t('{0} as submitted', name) };
}

/** A source that this machine does not have. Without a reference, its path would lead to an unrelated file here. */
function onlyInJob(source: Fields): Fields {
  const reference = numberField(source, 'sourceReference') ?? 0;
  return reference > 0 ? without(source, ['sources']) : without(source, ['sources', 'path', 'sourceReference']);
}

function unverified(message: string): Fields {
  return { verified: false, message };
}

function withoutRefused(capabilities: unknown): unknown {
  return isObject(capabilities) ? without(capabilities, REFUSED_CAPABILITIES) : {};
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A value of JSON whose texts are safe to show. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return printableText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, EXACT_FIELDS.has(name) ? each : cleaned(each)]),
  );
}
