import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { ResumableStream } from '../../../core/network/resumableStream.ts';
import { parseSessionRequest, readLine, RESUME_MS, writeLine } from '../../../remote/tunnel/tunnelProtocol.ts';
import { serveTunnel, type TunnelPlace } from './serveTunnel.ts';

const ID_BYTES = 32;
// Each keeps up to 4 MB, and what its client has started, for a minute after a cut.
const MOST_SESSIONS = 64;

interface Session {
  readonly stream: ResumableStream;
  /** Ends it if no connection comes. */
  end: NodeJS.Timeout | undefined;
}

/** Serves the clients of a job, whose connections may break, until disposed, which resolves once nothing of them is left. */
export class TunnelSessions implements AsyncDisposable {
  readonly #place: TunnelPlace;
  readonly #sessions = new Map<string, Session>();
  readonly #served = new Set<Promise<void>>();

  constructor(place: TunnelPlace) {
    this.#place = place;
  }

  /** Begins or continues the session that a connection asks for. */
  async admit(connection: Duplex): Promise<void> {
    connection.on('error', () => {}); // its close follows
    try {
      const request = parseSessionRequest((await readLine(connection)) ?? '');
      const id = request?.type === 'resume' ? request.session : this.#begin();
      const received = request?.type === 'resume' ? request.received : 0;
      const session = request && this.#sessions.get(id ?? '');
      // The client has noticed the end of the connection before.
      session?.stream.detach();
      if (id === undefined || session?.stream.canContinueAfter(received) !== true) {
        connection.end(writeLine({ type: 'gone' }));
        return;
      }
      clearTimeout(session.end);
      connection.write(writeLine({ type: 'session', session: id, received: session.stream.receivedBytes }));
      session.stream.attach(connection, received);
    } catch {
      connection.destroy(); // it has broken, or the line is too long
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stream } of this.#sessions.values()) stream.close();
    await Promise.all(this.#served);
  }

  #begin(): string | undefined {
    if (this.#sessions.size >= MOST_SESSIONS) return undefined;
    const id = randomBytes(ID_BYTES).toString('hex');
    const stream = new ResumableStream();
    const session: Session = { stream, end: undefined };
    stream.on('detach', () => {
      clearTimeout(session.end);
      session.end = setTimeout(() => stream.destroy(), RESUME_MS).unref();
    });
    this.#sessions.set(id, session);
    const serving = serveTunnel(stream, this.#place).finally(() => {
      clearTimeout(session.end);
      stream.close();
      this.#sessions.delete(id);
      this.#served.delete(serving);
    });
    this.#served.add(serving);
    return id;
  }
}
