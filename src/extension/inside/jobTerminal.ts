import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isAbort } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { TerminalGuard } from '../../core/text/terminalGuard.ts';
import { JOB_SHELL } from '../../remote/tunnel/jobShell.ts';
import type { RunningCommand } from '../../remote/tunnel/jobTunnelClient.ts';
import type { TerminalSize } from '../../remote/tunnel/tunnelProtocol.ts';
import { explain } from '../ui/errorText.ts';
import type { SharedTunnel } from './jobTunnels.ts';

const NAME = 'xterm-256color';
const UNSHOWN_SIZE: TerminalSize = { columns: 80, rows: 24 };
// At most 64 KB every 16 ms, 4 MB/s: VS Code takes what a terminal of an extension prints without limit, and keeps it until it is drawn.
const BATCH_CHARACTERS = 64 * 1024;
const BATCH_MS = 16;
// What is typed before there is a shell.
const MAX_TYPED = 1024 * 1024;
const ERASE_LINE = '\r\x1b[K';
// Undoes what a program has set that was ended before it could: the other screen (1049 would move the cursor too), a hidden cursor, modes for
// pasting, mouse and focus, colours.
const RESET = '\x1b[?1047l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[!p\x1b[0m';

interface JobTerminalDeps {
  /** The name of the job and where it runs, in a sentence. */
  readonly job: string;
  connect(): Promise<SharedTunnel>;
  /** Whether this takes the place of a terminal whose shell was ended by a reload of the window. */
  readonly isReloaded: boolean;
}

/** A shell in a running job, for a terminal of VS Code. If something else than `exit` ends it, Enter starts another one. */
export class JobTerminal implements vscode.Pseudoterminal {
  readonly #deps: JobTerminalDeps;
  readonly #written = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<void>();
  readonly #closing = new AbortController();
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;
  #size = UNSHOWN_SIZE;
  #shell: RunningCommand | undefined;
  #isStarting = false;
  /** How the job ended; undefined while it runs. */
  #outcome: string | undefined;
  #typed = '';

  constructor(deps: JobTerminalDeps) {
    this.#deps = deps;
  }

  open(size: vscode.TerminalDimensions | undefined): void {
    if (size !== undefined) this.#size = size;
    if (this.#deps.isReloaded) this.#sayEnded(l10n.t('Reloading the window ended this shell.'));
    else void this.#run();
  }

  setDimensions(size: vscode.TerminalDimensions): void {
    this.#size = size;
    this.#shell?.resize(size);
  }

  handleInput(text: string): void {
    if (this.#shell !== undefined) this.#shell.stdin.write(text);
    else if (this.#isStarting) this.#typed = (this.#typed + text).slice(0, MAX_TYPED);
    else if (text === '\r' && this.#outcome !== undefined) this.#closed.fire();
    else if (text === '\r') void this.#run();
  }

  /** Says how the job ended. */
  jobEnded(outcome: string): void {
    this.#outcome = outcome;
    if (this.#shell === undefined && !this.#isStarting) this.#sayEnded('');
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    this.#isStarting = true;
    this.#write(note(l10n.t('Connecting to {0}', this.#deps.job)));
    try {
      using tunnel = await this.#deps.connect();
      this.#closing.signal.throwIfAborted();
      const shell = tunnel.client.exec(JOB_SHELL, { ...this.#size, name: NAME });
      using _closing = onAbort(this.#closing.signal, () => shell.signal('SIGHUP'));
      shell.stdin.on('error', () => {}); // the shell has ended, or reads no more
      shell.stdin.write(this.#typed);
      [this.#shell, this.#typed] = [shell, ''];
      this.#write(ERASE_LINE);
      const [{ failure }] = await Promise.all([shell.ended, this.#show(shell)]);
      if (failure === undefined) this.#closed.fire();
      else this.#sayEnded(failure);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#sayEnded(isAbort(error) ? l10n.t('The connection to the job was closed.') : explain(error).sentence);
    } finally {
      this.#shell = undefined;
      this.#isStarting = false;
    }
  }

  async #show({ stdout }: RunningCommand): Promise<void> {
    const decoder = new TextDecoder();
    const guard = new TerminalGuard();
    let written = 0;
    try {
      for await (const bytes of stdout) {
        if (!(bytes instanceof Uint8Array)) continue;
        const text = guard.push(decoder.decode(bytes, { stream: true }));
        this.#write(text);
        written += text.length;
        if (written < BATCH_CHARACTERS) continue;
        written = 0;
        await sleep(BATCH_MS);
      }
    } catch {
      // The tunnel has ended, which the end of the shell reports.
    }
  }

  #sayEnded(reason: string): void {
    const next =
      this.#outcome === undefined
        ? [l10n.t('Press Enter to open a new shell.')]
        : [this.#outcome, l10n.t('Press Enter to close this terminal.')];
    const lines = [reason, ...next].filter((line) => line !== '');
    this.#write(`${RESET}\r\n${lines.map((line) => `${note(line)}\r\n`).join('')}`);
  }

  #write(text: string): void {
    if (text !== '' && !this.#closing.signal.aborted) this.#written.fire(text);
  }
}

/** A line of our own between those of the job. */
function note(text: string): string {
  return `\x1b[3m${printableLine(text)}\x1b[0m`;
}

function onAbort(signal: AbortSignal, listener: () => void): Disposable {
  signal.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
}
