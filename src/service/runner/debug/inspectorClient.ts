import { type Debugger, Session } from 'node:inspector';
import type { Socket } from 'node:net';
import { fieldOf, numberField, textField, tryParseJson } from '../../../core/jsonFields.ts';
import { readMessageLines } from '../../../remote/tunnel/messageLines.ts';

// How much may wait for a client that reads slowly.
const MAX_WAITING = 64 * 2 ** 20;
/** Other threads of the process, of which one is that of the debugger itself, and what opens ports or files. */
const REFUSED = /^(NodeWorker|NodeTracing|Target|Network)\./;
const NOT_FOUND = -32_601;

/** How a pause is reported to a client, in place of what V8 reports. */
export interface ShownPause {
  readonly reason: string;
  /** The error, as another session knows it. */
  readonly data?: unknown;
  /** Where the innermost frame is shown. */
  readonly top?: Pick<Debugger.CallFrame, 'functionName' | 'location'>;
}

interface ClientHost {
  /** How the current pause is reported to clients; undefined if it is not. */
  readonly pause: () => Promise<ShownPause | undefined>;
  /** Called when the errors that the client wants to stop at have changed. */
  readonly pauseOnExceptions: () => Promise<void>;
  /** Lets a process that waits at its start run. */
  readonly release: () => void;
}

/** A client of the inspector protocol, whose messages are lines of JSON. */
export class InspectorClient implements Disposable {
  readonly #socket: Socket;
  readonly #host: ClientHost;
  readonly #session = new Session();
  #wanted = 'none';
  /** Whether the client knows that the program is paused. */
  #isPaused = false;
  #sending = Promise.resolve();
  readonly closed: Promise<void>;

  constructor(socket: Socket, host: ClientHost) {
    this.#socket = socket;
    this.#host = host;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#session.connectToMainThread();
    this.#session.on('inspectorNotification', (message) => this.#pass(message));
    void this.#read();
  }

  /** Whether the client wants to stop at an error. */
  wants(isUncaught: boolean): boolean {
    return this.#wanted === 'all' || this.#wanted === (isUncaught ? 'uncaught' : 'caught');
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
    this.#socket.destroy();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of readMessageLines(this.#socket)) this.#handle(tryParseJson(line));
    } catch {
      // What is not a message ends the connection.
    } finally {
      this.#socket.destroy();
    }
  }

  #handle(message: unknown): void {
    const [id, method = ''] = [numberField(message, 'id'), textField(message, 'method')];
    if (id === undefined) return;
    const params = fieldOf(message, 'params');
    if (REFUSED.test(method)) {
      this.#send({ id, error: { code: NOT_FOUND, message: `${method} is not available.` } });
    } else if (method === 'Debugger.setPauseOnExceptions') {
      this.#wanted = textField(params, 'state') ?? 'none';
      void this.#host.pauseOnExceptions().then(() => this.#send({ id, result: {} }));
    } else if (method === 'Runtime.runIfWaitingForDebugger') {
      this.#host.release();
      this.#send({ id, result: {} });
    } else {
      this.#session.post(method, typeof params === 'object' && params !== null ? params : {}, (error, result) =>
        this.#send(error === null ? { id, result: result ?? {} } : { id, error }),
      );
    }
  }

  /** Messages keep their order, also those that wait for what is found out about a pause. */
  #pass(message: unknown): void {
    const method = textField(message, 'method');
    const shown = method === 'Debugger.paused' ? this.#host.pause() : undefined;
    const send = async (before: Promise<void>): Promise<void> => {
      await before;
      if (method === 'Debugger.paused') {
        const pause = await shown;
        if (pause === undefined) return;
        this.#isPaused = true;
        // Clients that stop at no errors continue at once where they hear of one, and the job would end.
        const reason = this.#wanted === 'none' ? 'other' : pause.reason;
        this.#send({ method, params: paused(fieldOf(message, 'params'), { ...pause, reason }) });
        return;
      }
      if (method === 'Debugger.resumed') {
        if (!this.#isPaused) return;
        this.#isPaused = false;
      }
      this.#send(message);
    };
    this.#sending = send(this.#sending);
  }

  #send(message: unknown): void {
    if (!this.#socket.writable) return;
    this.#socket.write(`${JSON.stringify(message)}\n`);
    if (this.#socket.writableLength > MAX_WAITING) this.#socket.destroy();
  }
}

function paused(params: unknown, { reason, data, top }: ShownPause): unknown {
  const given: object = typeof params === 'object' && params !== null ? params : {};
  const [first, ...others] = framesIn(params);
  const callFrames = top === undefined ? [first, ...others] : [{ ...first, ...top, url: '' }, ...others];
  const own: unknown = fieldOf(params, 'data') ?? withoutReference(data);
  return { ...given, reason, callFrames, ...(own !== undefined && { data: own }) };
}

function framesIn(params: unknown): readonly object[] {
  const frames: unknown = fieldOf(params, 'callFrames');
  const list: readonly unknown[] = Array.isArray(frames) ? frames : [];
  return list.filter((frame) => typeof frame === 'object' && frame !== null);
}

/** A reference to an object is good for one session. */
function withoutReference(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'objectId'));
}
