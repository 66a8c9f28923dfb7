import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import * as l10n from '@vscode/l10n';
import { AppError, messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type DebugMessage, readMessages, writeMessage } from './debugMessages.ts';
import { DebugProxy } from './debugProxy.ts';
import type { JobSources } from './jobSources.ts';

// More than a client has open at once. Later messages can be the texts that earlier ones wait for, so some are read ahead.
const MAX_UNFINISHED = 256;

/** A debug client that is connected to the debugger of a job. */
export class DebugConnection implements Disposable {
  readonly #stream: Duplex;
  readonly #proxy: DebugProxy;
  #isDisposed = false;
  /** Resolves when the debugger has ended, or after `dispose`. The client knows. */
  readonly ended: Promise<void>;

  /**
   * @param stream the debug adapter protocol of the job.
   * @param send passes a message to the client, and waits until the client can take more.
   */
  constructor(stream: Duplex, sources: JobSources, send: (message: DebugMessage) => Promise<void> | undefined) {
    this.#stream = stream;
    let taken: Promise<void> | undefined;
    const proxy = new DebugProxy({
      sources,
      sendToClient: (message) => void (taken = send(message) ?? taken),
      sendToJob: (message) => {
        if (stream.writable) stream.write(writeMessage(message));
      },
    });
    this.#proxy = proxy;
    this.ended = this.#pump(() => taken).then(
      () => this.#end(undefined),
      (error: unknown) => this.#end(error),
    );
  }

  /** Passes on a message of the client. Resolves once that is done. */
  async fromClient(message: DebugMessage): Promise<void> {
    await this.#proxy.fromClient(message);
    if (this.#stream.writableNeedDrain) await untilDrained(this.#stream);
  }

  /** Shows a line of text where the client shows the program's output. */
  notice(text: string): void {
    this.#proxy.notice(text);
  }

  /** Leaves the job, which continues or waits as it would have. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stream.destroy();
  }

  async #pump(taken: () => Promise<void> | undefined): Promise<void> {
    const unfinished = new Set<Promise<void>>();
    for await (const message of readMessages(this.#stream)) {
      const passing = this.#proxy.fromJob(message).finally(() => unfinished.delete(passing));
      unfinished.add(passing);
      if (unfinished.size >= MAX_UNFINISHED) await Promise.race(unfinished);
      await taken();
    }
    await Promise.all(unfinished);
  }

  #end(error: unknown): void {
    this.#proxy.dispose();
    this.#stream.destroy();
    if (this.#isDisposed) return;
    if (error instanceof AppError && error.code === 'corrupt') {
      this.#proxy.notice(l10n.t('The debugger of the job sent something that is not understood. It was disconnected.'));
    } else if (error !== undefined) {
      this.#proxy.notice(
        l10n.t('The connection to the debugger of the job was lost: {0}', printableLine(messageOf(error))),
      );
    }
    this.#proxy.endSession();
  }
}

/** Waits until a stream can take more, or has closed. */
export async function untilDrained(stream: Duplex): Promise<void> {
  const done = new AbortController();
  const { signal } = done;
  await Promise.race(['drain', 'close'].map((event) => once(stream, event, { signal }))).catch(() => {});
  done.abort();
}
