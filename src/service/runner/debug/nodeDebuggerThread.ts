import { rmSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldOf, numberField, textField } from '../../../core/jsonFields.ts';
import type { FrozenPlace } from '../../../remote/protocol/debugging.ts';
import { RUNNER_SOCKET } from './debugSockets.ts';
import { InspectorClient, type ShownPause } from './inspectorClient.ts';
import { originalPlace } from './originalPlace.ts';
import { describeError, pathOf, readStackFrames, type StackFrame } from './stackFrames.ts';
import { readTryStatements, type TryStatements } from './tryStatements.ts';

const MAX_TEXT = 1_000;
// For a client that is about to leave.
const LEAVE_MS = 1_000;
/**
 * Each error that is caught stops the main thread for a moment, because V8 takes what Node.js does with the errors of ES modules
 * for catching. A program that throws more often is left to V8's opinion.
 */
const MAX_CAUGHT = 1_000;
/** The function of the main thread that stops at an error which has left all others. */
const UNCAUGHT = 'holdAtUncaught';
/** The stack traces of the error that it has got, and of those that have caused it. */
const STACKS = `((error) => {
  let [text, count] = ['', 0];
  for (; error !== undefined && count < 5; error = error?.cause, count += 1) text += error?.stack + '\\n';
  return text;
})(arguments[0])`;

export interface NodeDebuggerOptions {
  /** The folder of the sockets. */
  readonly folder: string;
  /** The folder of the job. */
  readonly root: string;
  /** The file of the job that the process runs; undefined if it runs something else. */
  readonly script: string | undefined;
  readonly rank: string | undefined;
  /** Whether the main thread waits until a client lets it run. */
  readonly isWaiting: boolean;
  /** The path of this program. */
  readonly file: string;
}

type Paused = Debugger.PausedEventDataType;
type Place = Pick<FrozenPlace, 'file' | 'line'>;

/** The main thread waits until the runner says that the job continues, or a debugger does. */
interface Hold {
  readonly runner: Socket;
  readonly reason: FrozenPlace['reason'];
}

/**
 * Serves the debugger of the main thread to one client after the other, and holds that thread where it fails. It runs beside that
 * thread, so that it runs while that one is stopped.
 */
export class NodeDebuggerThread implements Disposable {
  readonly #options: NodeDebuggerOptions;
  /** Stays connected, so that a stopped thread remains stopped without a client. */
  readonly #session = new Session();
  readonly #server: Server;
  readonly #scripts = new Map<string, Debugger.ScriptParsedEventDataType>();
  readonly #tryStatements = new Map<string, TryStatements>();
  /** Resolves when the main thread may leave its start. */
  readonly released: Promise<void>;
  #setReleased: () => void = () => {};
  #client: InspectorClient | undefined;
  #hold: Hold | undefined;
  /** The job has been held at a failure, and is not held at another one. */
  #isOver = false;
  /** How the current pause is reported to clients; undefined if it is not. */
  #pause: Promise<ShownPause | undefined> | undefined;
  #caught = 0;
  readonly ready: Promise<void>;

  /** @throws the system's error if there is no debugger. */
  constructor(options: NodeDebuggerOptions) {
    this.#options = options;
    this.#session.connectToMainThread();
    this.#session.on('Debugger.scriptParsed', ({ params }) => void this.#scripts.set(params.scriptId, params));
    this.#session.on('Debugger.paused', ({ params }) => this.#onPaused(params));
    this.#session.on('Debugger.resumed', () => this.#onResumed());
    this.#server = createServer((socket) => void this.#serve(socket));
    this.released = new Promise((resolve) => (this.#setReleased = resolve));
    this.ready = this.#start();
  }

  /** Lets the main thread leave its start, if it waits there. */
  release(): void {
    this.#post('Runtime.runIfWaitingForDebugger').catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#client?.[Symbol.dispose]();
    this.#hold?.runner.destroy();
    this.#session.disconnect();
    this.#server.close();
  }

  /** Rejects if the folder cannot have a socket. */
  async #start(): Promise<void> {
    const { folder, isWaiting } = this.#options;
    const path = join(folder, `${process.pid}.node`);
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(path, resolve));
    this.#server.on('error', () => {}); // a connection that could not be accepted
    await this.#post('Debugger.enable');
    // Errors of Node.js itself that it catches itself.
    await this.#post('Debugger.setBlackboxPatterns', { patterns: ['^node:'] });
    await this.#pauseOnExceptions();
    if (isWaiting) this.#startHold('start', { file: '', line: 0 });
  }

  #post(method: string, params: object = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, params, (error, result) => (error === null ? resolve(result) : reject(error)));
    });
  }

  /** V8 has one state for all sessions. */
  async #pauseOnExceptions(): Promise<void> {
    const state = this.#client?.wants(false) === true || this.#caught < MAX_CAUGHT ? 'all' : 'uncaught';
    await this.#post('Debugger.setPauseOnExceptions', { state }).catch(() => {});
  }

  #resume(): void {
    this.#post('Debugger.resume').catch(() => {});
  }

  #onPaused(paused: Paused): void {
    const shown = this.#judge(paused).catch(() => undefined);
    this.#pause = shown;
    void this.#resumeUnless(shown);
  }

  /** Resumes where nothing holds the main thread. */
  async #resumeUnless(shown: Promise<ShownPause | undefined>): Promise<void> {
    const isShown = (await shown) !== undefined;
    if (!isShown || (this.#client === undefined && this.#hold === undefined)) this.#resume();
  }

  #onResumed(): void {
    this.#pause = undefined;
    if (this.#hold?.reason === 'start') return;
    this.#hold?.runner.destroy();
    this.#hold = undefined;
  }

  /** Begins to hold the main thread, if it is to be. */
  async #judge(paused: Paused): Promise<ShownPause | undefined> {
    const { reason, data: error } = paused;
    const [top] = paused.callFrames;
    if (top === undefined) return undefined;
    if (this.#isOwn(top)) return this.#judgeUncaught(top);
    if (reason !== 'exception' && reason !== 'promiseRejection') {
      if (this.#client === undefined) this.#startHold('breakpoint', await this.#placeOf(top));
      return { reason };
    }
    const data: unknown = error;
    const isUncaught = fieldOf(data, 'uncaught') === true;
    const place = await this.#failedAt(paused, data, isUncaught);
    if (place !== undefined) {
      this.#startHold('failure', place, data);
      return { reason, data };
    }
    this.#caught += 1;
    if (this.#caught === MAX_CAUGHT) await this.#pauseOnExceptions();
    return this.#client?.wants(isUncaught) === true ? { reason, data } : undefined;
  }

  /** For errors that nothing of the job was running for when they came up, and those that were taken for caught. */
  async #judgeUncaught({ callFrameId }: Debugger.CallFrame): Promise<ShownPause | undefined> {
    if (this.#isOver) return undefined;
    const evaluate = async (expression: string): Promise<unknown> =>
      fieldOf(await this.#post('Debugger.evaluateOnCallFrame', { callFrameId, expression, silent: true }), 'result');
    const data = await evaluate('arguments[0]');
    const frames = readStackFrames(textField(await evaluate(STACKS), 'value'));
    const frame = frames.find(({ url }) => this.#isOfJob(url));
    if (frame === undefined) {
      const { script } = this.#options;
      if (script === undefined) return undefined;
      this.#startHold('failure', { file: script, line: 0 }, data);
      return { reason: 'exception', data };
    }
    const { lineNumber, columnNumber, functionName } = frame;
    this.#startHold('failure', { file: pathOf(frame.url), line: lineNumber + 1 }, data);
    const scriptId = this.#scriptOf(frame)?.scriptId;
    if (scriptId === undefined) return { reason: 'exception', data };
    return { reason: 'exception', data, top: { functionName, location: { scriptId, lineNumber, columnNumber } } };
  }

  /** Where the job fails, if nothing catches the error. */
  async #failedAt({ callFrames, reason }: Paused, data: unknown, isUncaught: boolean): Promise<Place | undefined> {
    if (this.#isOver || this.#hold !== undefined) return undefined;
    const own = callFrames.find(({ location: { scriptId } }) => this.#isOfJob(this.#scripts.get(scriptId)?.url ?? ''));
    if (own === undefined) return undefined;
    if (!isUncaught || reason === 'promiseRejection') {
      const { isCaught, isTopLevel } = await this.#readWayOut(callFrames, data);
      if (isCaught || !(isUncaught || isTopLevel)) return undefined;
    }
    return (await this.#isHandled()) ? undefined : this.#placeOf(own);
  }

  /**
   * What is around the places that an error leaves: whether something of the program may catch it, and whether the outermost one is
   * the top level of an ES module. V8 takes Node.js for catching the errors of those, and what is about to be caught for uncaught.
   */
  async #readWayOut(
    callFrames: Paused['callFrames'],
    data: unknown,
  ): Promise<{ readonly isCaught: boolean; readonly isTopLevel: boolean }> {
    const awaiting = readStackFrames(textField(data, 'description')).filter(({ isAwaiting }) => isAwaiting);
    const places = [
      ...callFrames.map(({ location }) => ({ ...location, script: this.#scripts.get(location.scriptId) })),
      ...awaiting.map((frame) => ({ ...frame, script: this.#scriptOf(frame) })),
    ];
    let isTopLevel = false;
    for (const { script, lineNumber, columnNumber } of places) {
      if (script === undefined || script.url.startsWith('node:')) continue;
      const statements = await this.#tryStatementsOf(script.scriptId);
      const place = statements.at(lineNumber, columnNumber ?? 0);
      if (place.isCaught) return place;
      isTopLevel = place.isTopLevel && script.isModule === true;
    }
    return { isCaught: false, isTopLevel };
  }

  async #tryStatementsOf(scriptId: string): Promise<TryStatements> {
    const known = this.#tryStatements.get(scriptId);
    if (known !== undefined) return known;
    const answer = await this.#post('Debugger.getScriptSource', { scriptId });
    const statements = readTryStatements(textField(answer, 'scriptSource') ?? '');
    this.#tryStatements.set(scriptId, statements);
    return statements;
  }

  /** Whether the program deals with all errors itself. */
  async #isHandled(): Promise<boolean> {
    const expression =
      "process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection') + process.hasUncaughtExceptionCaptureCallback()";
    const answer = await this.#post('Runtime.evaluate', { expression, silent: true }).catch(() => undefined);
    return (numberField(fieldOf(answer, 'result'), 'value') ?? 0) > 0;
  }

  async #placeOf({ location: { scriptId, lineNumber, columnNumber } }: Debugger.CallFrame): Promise<Place> {
    const { url = '', sourceMapURL = '' } = this.#scripts.get(scriptId) ?? {};
    const file = pathOf(url);
    const original = await originalPlace(file, sourceMapURL, { lineNumber, columnNumber: columnNumber ?? 0 });
    return original ?? { file, line: lineNumber + 1 };
  }

  #scriptOf({ url }: StackFrame): Debugger.ScriptParsedEventDataType | undefined {
    return [...this.#scripts.values()].findLast((script) => pathOf(script.url) === pathOf(url));
  }

  #isOwn({ functionName, location: { scriptId } }: Debugger.CallFrame): boolean {
    return functionName === UNCAUGHT && pathOf(this.#scripts.get(scriptId)?.url ?? '') === this.#options.file;
  }

  #isOfJob(url: string): boolean {
    const path = pathOf(url);
    return path.startsWith(this.#options.root + sep) && !path.split(sep).includes('node_modules');
  }

  /** Reports to the runner, which stops the rest of the job. Where it does not answer, the main thread continues at once. */
  #startHold(reason: FrozenPlace['reason'], { file, line }: Place, data?: unknown): void {
    if (this.#hold !== undefined) return;
    const { folder, rank } = this.#options;
    const runner = connect(join(folder, RUNNER_SOCKET));
    const hold: Hold = { runner, reason };
    this.#hold = hold;
    if (reason === 'failure') this.#isOver = true;
    const place: FrozenPlace = {
      process: process.pid,
      language: 'node',
      reason,
      file: file.slice(-MAX_TEXT),
      line,
      ...describeError(data),
      ...(rank !== undefined && { rank: Number(rank) }),
    };
    runner.on('error', () => {}); // it closes
    runner.write(`${JSON.stringify(place)}\n`);
    runner.resume();
    runner.once('close', () => this.#endHold(hold));
  }

  #endHold(hold: Hold): void {
    if (this.#hold !== hold) return;
    this.#hold = undefined;
    if (hold.reason === 'start') this.#setReleased();
    else this.#resume();
  }

  async #serve(socket: Socket): Promise<void> {
    socket.on('error', () => {}); // it closes
    await Promise.race([this.#client?.closed, sleep(LEAVE_MS)]);
    if (this.#client !== undefined) {
      const message = 'A debugger is attached to this process already.';
      socket.end(`${JSON.stringify({ type: 'failed', code: 16, message })}\n`);
      return;
    }
    socket.write(`${JSON.stringify({ type: 'attached', protocol: 'inspector' })}\n`);
    const client = new InspectorClient(socket, {
      pause: () => this.#pause ?? Promise.resolve(undefined),
      pauseOnExceptions: () => this.#pauseOnExceptions(),
      release: () => {
        if (this.#hold?.reason === 'start') this.#hold.runner.destroy();
      },
    });
    this.#client = client;
    await client.closed;
    client[Symbol.dispose]();
    this.#client = undefined;
    if (this.#pause !== undefined && this.#hold === undefined) this.#resume();
    await this.#pauseOnExceptions();
  }
}
