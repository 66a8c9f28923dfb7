import type { Duplex } from 'node:stream';
import * as vscode from 'vscode';
import { DebugConnection } from '../../jobs/debug/debugConnection.ts';
import { isObject } from '../../jobs/debug/debugMessages.ts';
import type { JobSources } from '../../jobs/debug/jobSources.ts';

/** A debug session of this window with the debugger of a job. */
export class JobDebugAdapter implements vscode.DebugAdapter {
  readonly #connection: DebugConnection;
  readonly #sent = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
  readonly #leave: () => void;
  readonly onDidSendMessage = this.#sent.event;

  /** @param leave ends what the stream belongs to. */
  constructor(stream: Duplex, sources: JobSources, leave: () => void) {
    this.#leave = leave;
    this.#connection = new DebugConnection(stream, sources, (message) => {
      this.#sent.fire(message);
      return undefined;
    });
    void this.#connection.ended.then(leave);
  }

  handleMessage(message: vscode.DebugProtocolMessage): void {
    if (isObject(message)) void this.#connection.fromClient(message);
  }

  dispose(): void {
    this.#connection[Symbol.dispose]();
    this.#leave();
    this.#sent.dispose();
  }
}
