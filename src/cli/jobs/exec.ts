import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import type { CommandEnd, RunningCommand } from '../../remote/tunnel/jobTunnelClient.ts';
import { JOB_SHELL } from '../../remote/tunnel/jobShell.ts';
import type { ConnectionChange } from '../../remote/tunnel/jobTunnelClient.ts';
import type { ExecHeader, TerminalSize } from '../../remote/tunnel/tunnelProtocol.ts';
import type { Context, InputStream } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import type { Output, StreamName } from '../terminal/output.ts';
import { connectToJob } from './jobConnection.ts';

// Shells exit with this number plus that of the signal that ended a program.
const SIGNAL_BASE = 128;
const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };
const DEFAULT_TERMINAL = 'xterm-256color';

type Command = ExecHeader['command'];

/** `farwharf exec ID -- COMMAND`: returns the exit status of the command. */
export function execInJob(
  context: Context,
  name: string,
  { terminal }: { readonly terminal: boolean },
  [, program, ...args]: readonly string[],
): Promise<number> {
  if (program === undefined || program === '') {
    throw new AppError('bad-input', 'Name a command: farwharf exec ID -- COMMAND');
  }
  return runInJob(context, name, { command: [program, ...args], terminal });
}

/** `farwharf shell ID`: returns the exit status of the shell. */
export function openShell(context: Context, name: string): Promise<number> {
  if (context.stdin().isTTY !== true || !context.terminal.isScreen('stdout')) {
    throw new AppError('bad-input', 'A shell needs a terminal. Run one command with: farwharf exec ID -- COMMAND');
  }
  return runInJob(context, name, { command: JOB_SHELL, terminal: true });
}

async function runInJob(
  context: Context,
  name: string,
  { command, terminal }: { readonly command: Command; readonly terminal: boolean },
): Promise<number> {
  await using session = new Session(context);
  const { jobId } = session.resolveJob(name);
  using tunnel = await connectToJob(session, jobId, context);
  const { stdio } = context.terminal;
  const screen = stdio.stream('stdout');
  const size = (): TerminalSize => ({
    columns: screen.columns || DEFAULT_SIZE.columns,
    rows: screen.rows || DEFAULT_SIZE.rows,
  });
  const running = tunnel.exec(command, terminal ? { ...size(), name: terminalName(context.env) } : undefined);
  const changes = tunnel.onDidChangeConnection((change) => noteChange(change, terminal, context));
  const input = context.stdin();
  const onResize = (): void => running.resize(size());
  if (terminal) screen.on?.('resize', onResize);
  const passing = context.onSignal((signal) => running.signal(signal));
  try {
    let end: CommandEnd;
    {
      using _input = passInput(input, running.stdin, terminal);
      [end] = await Promise.all([running.ended, ...outputsOf(running, stdio)]);
    }
    if (end.failure !== undefined) context.terminal.note(`farwharf: ${end.failure}`);
    return statusOf(end);
  } finally {
    passing.dispose();
    changes.dispose();
    if (terminal) screen.off?.('resize', onResize);
  }
}

/** A terminal in raw mode begins no line by itself. */
function noteChange(change: ConnectionChange, isRaw: boolean, { terminal }: Context): void {
  const text =
    change === 'lost'
      ? 'farwharf: The connection to the job was lost. Trying to continue for up to a minute…'
      : 'farwharf: Connected again; nothing was lost.';
  if (isRaw) void terminal.stdio.writeBytes('stderr', Buffer.from(`\r\n${text}\r\n`));
  else terminal.note(text);
}

/** Sends what is typed or piped, until disposed. A terminal sends each key, Ctrl+C too, to the terminal of the command. */
function passInput(input: InputStream, to: Writable, isTerminal: boolean): Disposable {
  const isRaw = isTerminal && input.isTTY === true;
  if (isRaw) {
    input.setRawMode?.(true);
    // Node.js leaves the screen to begin each new line at its start, which programs for whole screens rely on not happening.
    spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
  }
  to.on('error', () => {}); // the command has ended, or reads no more
  input.pipe(to);
  return {
    [Symbol.dispose]: () => {
      input.unpipe(to);
      input.pause(); // or it would keep this process running
      if (isRaw) input.setRawMode?.(false);
    },
  };
}

function outputsOf({ stdout, stderr }: RunningCommand, output: Output): readonly Promise<void>[] {
  return [copy(stdout, output, 'stdout'), ...(stderr === undefined ? [] : [copy(stderr, output, 'stderr')])];
}

/** Until the end of the stream, or of the tunnel, which the end of the command reports. */
async function copy(from: Readable, output: Output, name: StreamName): Promise<void> {
  try {
    for await (const bytes of from) if (bytes instanceof Uint8Array) await output.writeBytes(name, bytes);
  } catch {
    // The tunnel has ended.
  }
}

function terminalName({ TERM: name = '' }: NodeJS.ProcessEnv): string {
  return /^[\w.+-]{1,64}$/.test(name) ? name : DEFAULT_TERMINAL;
}

function statusOf({ code, signal }: CommandEnd): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return code ?? SIGNAL_BASE + number;
}
