import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { joinStreams } from '../../../core/network/joinStreams.ts';
import { type DebugEvent, type DebuggableProcess, parseDebugEvent } from '../../../remote/tunnel/debugChannels.ts';
import { readLine, writeLine } from '../../../remote/tunnel/tunnelProtocol.ts';
import { DEBUG_FOLDER_VARIABLE, PROCESS_SOCKET } from '../debug/debugSockets.ts';
import type { CommandPlace } from './runCommand.ts';

// debugpy takes half a second to load, and much longer on a busy machine.
const ATTACH_MS = 30_000;
const MAX_NAME = 200;
const RANKS = ['RANK', 'SLURM_PROCID'];

/** Answers a client that asks for the processes of a job to which a debugger can be attached. */
export function listDebuggable(
  channel: Duplex,
  { folder, variables }: Pick<CommandPlace, 'folder' | 'variables'>,
): void {
  const processes = socketsIn(variables).flatMap(({ process, language }): DebuggableProcess[] => {
    const state = stateOf(process);
    if (state === undefined) return [];
    const rank = rankOf(process);
    return [{ process, language, name: nameOf(process), ...(rank !== undefined && { rank }), state }];
  });
  finish(channel, { type: 'processes', folder, processes });
}

/** Connects a client to the debugger of a process of the job, until either ends that. */
export async function attachDebugger(
  channel: Duplex,
  process: number,
  { variables }: Pick<CommandPlace, 'variables'>,
): Promise<void> {
  const found = socketsIn(variables).find((each) => each.process === process);
  const state = found && stateOf(process);
  if (found === undefined || state === undefined) {
    const message = 'The job has no such process any more, or no debugger can be attached to it.';
    return finish(channel, { type: 'failed', code: 3, message });
  }
  if (state === 'stopped') {
    const message = 'The process is stopped, because the job waits for a debugger in another one. Attach to that.';
    return finish(channel, { type: 'failed', code: 11, message });
  }
  const socket = connect(found.path);
  channel.once('close', () => socket.destroy());
  socket.on('error', () => {}); // its end is noticed below
  const late = setTimeout(() => socket.destroy(), ATTACH_MS);
  const line = await readLine(socket).catch(() => undefined);
  clearTimeout(late);
  const answer = line === undefined ? undefined : parseDebugEvent(line);
  if (answer?.type === 'attached') {
    channel.write(writeLine(answer));
    joinStreams(channel, socket);
    return;
  }
  socket.destroy();
  const message =
    'The process does not answer. It may have ended, or be busy in code that never lets its debugger run.';
  finish(channel, answer ?? { type: 'failed', code: 1, message });
}

function finish(channel: Duplex, event: DebugEvent): void {
  channel.resume();
  channel.end(writeLine(event));
}

function socketsIn({ [DEBUG_FOLDER_VARIABLE]: folder }: Readonly<Record<string, string>>) {
  if (folder === undefined) return [];
  return namesIn(folder).flatMap((name) => {
    const [, id, language] = PROCESS_SOCKET.exec(name) ?? [];
    if (id === undefined) return [];
    const known = language === 'node' ? 'node' : 'python';
    return [{ process: Number(id), language: known, path: join(folder, name) } as const];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the job has removed it
  }
}

/** Undefined for a process that has ended. */
function stateOf(process: number): DebuggableProcess['state'] | undefined {
  const text = textOf(`/proc/${process}/stat`);
  if (text === undefined) return isAlive(process) ? 'running' : undefined;
  const state = text.slice(text.lastIndexOf(')') + 2)[0];
  if (state === 'Z' || state === 'X') return undefined;
  return state === 'T' ? 'stopped' : 'running';
}

/** On systems without /proc. */
function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

/** The file that a process runs, or else its program. */
function nameOf(process: number): string {
  const words = (textOf(`/proc/${process}/cmdline`) ?? '').split('\0').filter(Boolean);
  const file = words.slice(1).find((word) => !word.startsWith('-')) ?? words[0] ?? '';
  return basename(file).slice(0, MAX_NAME);
}

function rankOf(process: number): number | undefined {
  const variables = (textOf(`/proc/${process}/environ`) ?? '').split('\0');
  const values = RANKS.map((name) => variables.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1));
  const value = values.find((each) => each !== undefined && /^\d{1,6}$/.test(each));
  return value === undefined ? undefined : Number(value);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
