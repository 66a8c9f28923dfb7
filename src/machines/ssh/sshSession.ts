import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { AppError, abortReason, systemCode } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { type SshClient, type SshTarget, startSsh } from './sshCommand.ts';
import { MachineUnreachable, sshFailure, shellFailure } from './sshFailure.ts';

// Longer than a second factor takes to arrive and be typed.
const READY_MS = 180_000;
// What a login shell may print before our script starts.
const MAX_NOISE = 256 * 1024;
const MAX_NOISE_TOTAL = 64_000_000;
const MAX_STDERR = 16 * 1024;
const MAX_OUTPUT = 1024 * 1024;
// After the end of its output, ssh exits at once, unless a process on the machine holds the session.
const EXIT_MS = 10_000;
// A jump host whose connection is shared keeps the pipe open.
const LAST_WORDS_MS = 1_000;
// The exit status of ssh for its own errors; others are those of the machine's shell (ssh(1), EXIT STATUS).
const SSH_FAILED = 255;

// What the scripts do after their line takes less. A machine may also keep the session open.
const END_MS = 30_000;

/** A script that runs on the machine and has printed the line that starts with its nonce. */
export interface SshSession {
  /** The rest of that line. */
  readonly line: string;
  readonly child: ChildProcessWithoutNullStreams;
  readonly stderr: () => string;
}

export interface SshCall {
  readonly client: SshClient;
  readonly target: SshTarget;
  /** The name of the machine in messages. */
  readonly machine: string;
  readonly signal?: AbortSignal | undefined;
  /** Time limit until the script has started, including questions to the user; default: three minutes. */
  readonly readyMs?: number;
}

/** A word that no login shell prints by chance. */
export function newNonce(): string {
  return `farwharf-${randomBytes(12).toString('hex')}`;
}

/**
 * Runs a script and waits for the line `NONCE …`, whatever the login shell prints before. What follows can be read from `child.stdout`.
 *
 * @throws AppError or `MachineUnreachable` of `sshFailure`, AppError `missing` without an ssh program, `limit` if a startup file waits for
 *   input; the signal's reason on abort.
 */
export async function openSession(call: SshCall, nonce: string, script: string): Promise<SshSession> {
  const { client, target, machine, signal, readyMs = READY_MS } = call;
  signal?.throwIfAborted();
  const child = startSsh(client, target, script);
  child.stdin.on('error', () => {}); // reported by the exit of ssh
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-MAX_STDERR)));
  const onAbort = (): void => endSession(child);
  signal?.addEventListener('abort', onAbort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endSession(child);
  }, readyMs);
  try {
    const line = await readLine(child, nonce, machine);
    if (line !== undefined) return { line, child, stderr: () => output };
    await exitOf(child);
    if (signal?.aborted === true) throw abortReason(signal);
    if (isLate) throw notReady(machine, readyMs);
    const { exitCode } = child;
    const isOfShell = exitCode !== null && exitCode !== SSH_FAILED;
    throw isOfShell ? shellFailure(machine, output, exitCode) : sshFailure(machine, output);
  } catch (error) {
    endSession(child);
    if (systemCode(error) === 'ENOENT') {
      const program = client.env['FARWHARF_SSH'] || 'ssh';
      throw new AppError(
        'missing',
        `The program ${program} was not found. Install OpenSSH, or name it with FARWHARF_SSH.`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Waits until ssh has exited and what it printed about that was read, which can take longer on a busy machine. */
export async function exitOf(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    await once(child, 'exit', { signal: AbortSignal.timeout(EXIT_MS) }).catch(() => {});
  }
  if (child.stderr.closed) return;
  await once(child.stderr, 'close', { signal: AbortSignal.timeout(LAST_WORDS_MS) }).catch(() => {});
}

/**
 * Ends a session and closes its streams. A connection that is shared keeps them open for as long as any process on the machine has them,
 * such as one that a startup file left in the background, and they would keep this process alive.
 */
export function endSession(child: ChildProcessWithoutNullStreams): void {
  child.kill();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

/**
 * Reads what a session prints until `mark` is among it. The session is left to its caller.
 *
 * @returns what was read, without the mark if the session has ended before, printed more than a megabyte, or the signal was aborted.
 */
export async function outputUntil(
  child: ChildProcessWithoutNullStreams,
  mark: string,
  signal?: AbortSignal,
): Promise<string> {
  const onAbort = (): void => endSession(child);
  signal?.addEventListener('abort', onAbort, { once: true });
  let output = '';
  try {
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      output += String(chunk);
      if (output.includes(mark) || output.length > MAX_OUTPUT) break;
    }
  } catch {
    // The session has broken: what was read counts.
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
  return output;
}

/** The line of the nonce; undefined if the output ends without it. @throws `MachineUnreachable` if the output seems to have no end. */
async function readLine(
  child: ChildProcessWithoutNullStreams,
  nonce: string,
  machine: string,
): Promise<string | undefined> {
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const { stdout } = child;
  const find = async (): Promise<string | undefined> => {
    let text = Buffer.alloc(0);
    for (let total = 0; ; ) {
      const chunk = await nextChunk(stdout);
      if (chunk === undefined) return undefined;
      total += chunk.length;
      if (total > MAX_NOISE_TOTAL) throw tooMuchNoise(machine);
      text = Buffer.concat([text, chunk]);
      const start = text.indexOf(`${nonce} `);
      const end = start === -1 ? -1 : text.indexOf('\n', start);
      if (end !== -1) {
        stdout.unshift(text.subarray(end + 1));
        return text.toString('utf8', start + nonce.length + 1, end);
      }
      if (text.length > MAX_NOISE) text = text.subarray(-nonce.length);
    }
  };
  return Promise.race([find(), failed]);
}

async function nextChunk(stream: Readable): Promise<Buffer | undefined> {
  for (;;) {
    const chunk: unknown = stream.read();
    if (Buffer.isBuffer(chunk)) return chunk;
    if (stream.readableEnded || stream.destroyed) return undefined;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const name of ['readable', 'end', 'close']) stream.off(name, done);
        resolve();
      };
      for (const name of ['readable', 'end', 'close']) stream.once(name, done);
    });
  }
}

function tooMuchNoise(machine: string): MachineUnreachable {
  return new MachineUnreachable(
    `${machine} printed more than ${formatBytes(MAX_NOISE_TOTAL)} before it started a command. A startup file of your login shell there may print without end: check that \`ssh ${machine} true\` returns at once.`,
  );
}

function notReady(machine: string, readyMs: number): MachineUnreachable {
  return new MachineUnreachable(
    `${machine} accepted the connection but did not start a command within ${readyMs / 1000} s. A startup file of your login shell there may wait for input: check that \`ssh ${machine} true\` returns at once.`,
  );
}

/**
 * Runs a script to its end, and returns the line of its nonce, after which it has `endMs` left.
 *
 * @throws as `openSession`; the signal's reason on abort.
 */
export async function runToEnd(
  call: SshCall,
  scriptOf: (nonce: string) => string,
  endMs: number = END_MS,
): Promise<string> {
  const nonce = newNonce();
  const { child, line } = await openSession(call, nonce, scriptOf(nonce));
  child.stdin.end();
  child.stdout.resume();
  const limit = AbortSignal.timeout(endMs);
  try {
    if (child.exitCode !== null || child.signalCode !== null) return line;
    await once(child, 'exit', { signal: call.signal === undefined ? limit : AbortSignal.any([limit, call.signal]) });
  } catch {
    call.signal?.throwIfAborted();
  } finally {
    endSession(child);
  }
  return line;
}
