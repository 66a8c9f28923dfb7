import type { ChildProcess, StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Writable } from 'node:stream';
import { messageOf, systemCode } from '../../../core/errors.ts';
import { findProgram, isAccessible } from '../../../core/processes/findProgram.ts';
import { endProcesses } from '../../../core/processes/processTree.ts';
import {
  type CommandEvent,
  type ExecHeader,
  parseRequest,
  readLine,
  writeLine,
} from '../../../remote/tunnel/tunnelProtocol.ts';
import { SIZES_FD, TERMINAL_PROGRAM } from './terminalProgram.ts';

/** Tags all processes of a command, also those that left its group. */
const COMMAND_VARIABLE = 'FARWHARF_COMMAND_ID';
// After a hang-up, before it is killed.
const HANGUP_GRACE_MS = 1_000;
// What shells exit with.
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** Where the commands of a tunnel run. */
export interface CommandPlace {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Starts a program as a part of the job. @throws the system's error. */
  spawn(
    program: string,
    args: readonly string[],
    options: { cwd: string; env: Readonly<Record<string, string>>; detached: boolean; stdio: StdioOptions },
  ): ChildProcess;
}

/** The channels with the standard streams of a command. */
export interface CommandStreams {
  readonly stdin: Duplex;
  readonly stdout: Duplex;
  /** Undefined with a terminal. */
  readonly stderr: Duplex | undefined;
}

/**
 * Runs a command until it has ended with all that it started, or until its client is gone, which ends them too.
 *
 * @param control carries the signals to the command, and its events.
 */
export async function runCommand(
  control: Duplex,
  header: ExecHeader,
  { stdin, stdout, stderr }: CommandStreams,
  place: CommandPlace,
): Promise<void> {
  // What nobody reads would keep a channel open.
  for (const output of [stdout, stderr]) output?.resume();
  const send = (event: CommandEvent): void => void control.write(writeLine(event));
  const searchPath = place.variables['PATH'] ?? '';
  const program = programOf(header, searchPath);
  if ('failure' in program) {
    return refuse(program.failure);
  }
  const id = randomUUID();
  const { terminal } = header;
  let child: ChildProcess;
  try {
    child = place.spawn(program.file, program.args, {
      cwd: place.folder,
      env: { ...place.variables, ...(terminal && { TERM: terminal.name }), [COMMAND_VARIABLE]: id },
      detached: process.platform !== 'win32',
      stdio: terminal === undefined ? 'pipe' : ['pipe', 'pipe', 'inherit', 'pipe'],
    });
  } catch (error) {
    return fail(error);
  }
  const tree = { group: child.pid, mark: `${COMMAND_VARIABLE}=${id}` };
  const ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
  child.once('exit', (code, signal) => ended.resolve({ code, signal }));
  const isStarted = await new Promise<true | Error>((resolve) => {
    child.once('spawn', () => resolve(true)).once('error', resolve);
  });
  if (isStarted !== true) return fail(isStarted);
  send({ type: 'started' });
  connectInput(stdin, child);
  for (const [output, channel] of [[child.stdout, stdout] as const, [child.stderr, stderr] as const]) {
    if (output !== null && channel !== undefined) output.pipe(channel);
  }
  void obey(control, child);
  const isLost = new Promise<undefined>((resolve) => control.once('close', () => resolve(undefined)));
  const end = await Promise.race([ended.promise, isLost]);
  if (end === undefined) {
    signalGroup(child, 'SIGHUP');
    await endProcesses(tree, HANGUP_GRACE_MS);
    return;
  }
  stdin.resume(); // nobody reads the rest of it
  // What it started ends with it, and with that the output.
  await endProcesses(tree, 0);
  const outputs = [stdout, ...(stderr === undefined ? [] : [stderr])].map((channel) =>
    finished(channel, { readable: false }).catch(() => {}),
  );
  await Promise.race([Promise.all(outputs), isLost]);
  send({ type: 'exit', ...end });
  control.end();
  stdin.end();

  function fail(error: unknown): void {
    refuse(failureOf(header.command[0], error));
  }

  function refuse(failure: Failure): void {
    send({ type: 'failed', ...failure });
    stdin.resume();
    control.resume();
    for (const channel of [control, stdin, stdout, stderr]) channel?.end();
  }
}

interface Failure {
  readonly code: number;
  readonly message: string;
}

/** What to start for a command. With limits, programs that set them start it, and would report its failure as theirs. */
function programOf(
  { command: [name, ...args], terminal }: ExecHeader,
  searchPath: string,
): { readonly file: string; readonly args: readonly string[] } | { readonly failure: Failure } {
  if (terminal !== undefined) {
    const python = findProgram('python3', searchPath);
    if (python === undefined) {
      const message = 'A terminal needs python3 where the job runs, which does not have it. Leave out -t.';
      return { failure: { code: NOT_FOUND, message } };
    }
    const { rows, columns } = terminal;
    return { file: python, args: ['-IS', '-c', TERMINAL_PROGRAM, String(rows), String(columns), name, ...args] };
  }
  if (/[/\\]/.test(name) || process.platform === 'win32') return { file: name, args };
  const file = findProgram(name, searchPath);
  if (file !== undefined) return { file, args };
  const isThere = searchPath.split(delimiter).some((folder) => isAccessible(join(folder, name), constants.F_OK));
  return { failure: failureOf(name, Object.assign(new Error(), { code: isThere ? 'EACCES' : 'ENOENT' })) };
}

function failureOf(name: string, error: unknown): Failure {
  const code = systemCode(error);
  if (code === 'ENOENT') return { code: NOT_FOUND, message: `${name} does not exist where the job runs.` };
  const why = code === 'EACCES' ? 'it is not executable' : messageOf(error);
  return { code: NOT_EXECUTABLE, message: `${name} could not be started: ${why}.` };
}

/** Passes on what the client sends, until the command reads no more. */
function connectInput(channel: Duplex, { stdin }: ChildProcess): void {
  stdin?.on('error', () => channel.resume()); // it was closed
  if (stdin !== null) channel.pipe(stdin);
}

/** Does what the client asks for until its channel ends. */
async function obey(control: Duplex, child: ChildProcess): Promise<void> {
  const sizes = child.stdio[SIZES_FD];
  if (sizes instanceof Writable) sizes.on('error', () => {}); // the command has ended
  try {
    for (let line = await readLine(control); line !== undefined; line = await readLine(control)) {
      const request = parseRequest(line);
      if (request?.type === 'signal') signalGroup(child, request.signal);
      else if (request?.type === 'resize' && sizes instanceof Writable && !sizes.writableNeedDrain) {
        sizes.write(`${request.rows} ${request.columns}\n`);
      }
    }
    // A client that cannot send any more may still read.
  } catch {
    control.destroy(); // the connection was lost, or a line is too long
  }
}

function signalGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has just ended.
  }
}
