import { fieldOf, numberField, textField, tryParseJson } from '../../core/jsonFields.ts';

const MAX_PROCESSES = 1_000;

/**
 * A debugger for a process, whose protocol the channel carries after a line with a `DebugEvent`. Without a process, the line lists those
 * to which one can be attached.
 */
export interface DebugHeader {
  readonly type: 'debug';
  readonly process?: number;
}

/** A process of a job to which a debugger can be attached. */
export interface DebuggableProcess {
  /** Its ID, as the job sees it. */
  readonly process: number;
  readonly language: 'python' | 'node';
  /** What it runs. */
  readonly name: string;
  readonly rank?: number;
  /** `stopped`: it waits because another one is frozen. */
  readonly state: 'running' | 'stopped';
}

/** The answer to the header of a debugger. */
export type DebugEvent =
  | {
      readonly type: 'processes';
      /** The folder of the job, as the job sees it. */
      readonly folder: string;
      readonly processes: readonly DebuggableProcess[];
    }
  /** `dap`: the debug adapter protocol; `inspector`: that of V8, each message as a line of JSON. */
  | { readonly type: 'attached'; readonly protocol: 'dap' | 'inspector' }
  /** `code`: 3 no such process, 11 it is stopped, 16 it has a debugger, 127 the debugger is not installed. */
  | { readonly type: 'failed'; readonly code: number; readonly message: string };

/** @returns undefined for anything else. */
export function parseDebugHeader(value: unknown): DebugHeader | undefined {
  if (fieldOf(value, 'type') !== 'debug') return undefined;
  const process = fieldOf(value, 'process');
  if (process === undefined) return { type: 'debug' };
  return isProcessId(process) ? { type: 'debug', process } : undefined;
}

/** @returns undefined for anything else. */
export function parseDebugEvent(line: string): DebugEvent | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'failed') {
    return { type, code: numberField(value, 'code') ?? 1, message: textField(value, 'message') ?? 'unknown reason' };
  }
  if (type === 'attached') {
    const protocol = fieldOf(value, 'protocol');
    return protocol === 'dap' || protocol === 'inspector' ? { type, protocol } : undefined;
  }
  const folder = textField(value, 'folder');
  const list = fieldOf(value, 'processes');
  if (type !== 'processes' || folder === undefined || !Array.isArray(list)) return undefined;
  return { type, folder, processes: list.slice(0, MAX_PROCESSES).flatMap((each) => debuggableProcess(each) ?? []) };
}

function debuggableProcess(value: unknown): DebuggableProcess | undefined {
  const process = fieldOf(value, 'process');
  const language = fieldOf(value, 'language');
  if (!isProcessId(process) || (language !== 'python' && language !== 'node')) return undefined;
  const rank = numberField(value, 'rank');
  const state = fieldOf(value, 'state') === 'stopped' ? 'stopped' : 'running';
  return { process, language, name: textField(value, 'name') ?? '', ...(rank !== undefined && { rank }), state };
}

function isProcessId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
