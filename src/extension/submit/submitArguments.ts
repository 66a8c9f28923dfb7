import { AppError } from '../../core/errors.ts';
import type { SubmitIntent } from '../../jobs/submit/draft.ts';

/** What a keybinding, a task or another extension can fix in advance. */
export interface SubmitArguments extends SubmitIntent {
  /** Absolute path of the folder. */
  readonly folder?: string;
  /** The flow to run, where the script is a flow file. */
  readonly flow?: string;
  /** The shared state that the flow starts with. */
  readonly shared?: Readonly<Record<string, unknown>>;
}

const TEXTS = ['folder', 'script', 'file', 'machineClass', 'project', 'flow'] as const;

/**
 * Reads the arguments of a submit command: a file from a menu, or an object such as `{ "script": "train.py --epochs 3" }`.
 *
 * @throws AppError `bad-input` that names the wrong field.
 */
export function readSubmitArguments(argument: unknown): SubmitArguments {
  if (typeof argument !== 'object' || argument === null) return {};
  const fields = argument as Readonly<Record<string, unknown>>;
  // A resource of a menu: VS Code passes a Uri, whose class lies in VS Code.
  if (typeof fields['fsPath'] === 'string' && typeof fields['scheme'] === 'string') return { file: fields['fsPath'] };
  const { maxRuntime } = fields;
  if (maxRuntime !== undefined && !(typeof maxRuntime === 'number' && Number.isFinite(maxRuntime) && maxRuntime >= 1)) {
    throw new AppError(
      'bad-input',
      'Command argument "maxRuntime" is not valid. Enter a number of seconds, at least 1.',
    );
  }
  const texts: Record<string, string> = {};
  for (const name of TEXTS) {
    const value = fields[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value === '')
      throw new AppError('bad-input', `Command argument "${name}" is not valid. Enter text that is not empty.`);
    texts[name] = value;
  }
  const { shared } = fields;
  if (shared !== undefined && !isObject(shared)) {
    throw new AppError('bad-input', 'Command argument "shared" is not valid. Enter an object.');
  }
  return { ...texts, ...(maxRuntime !== undefined && { maxRuntime }), ...(shared !== undefined && { shared }) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The job that a command is about: its id from a row of the view or from an argument; undefined when none was given. */
export function readJobArgument(argument: unknown): string | undefined {
  if (typeof argument === 'string') return argument;
  if (typeof argument !== 'object' || argument === null) return undefined;
  const fields = argument as Readonly<Record<string, unknown>>;
  const id = fields['id'] ?? fields['job'];
  return typeof id === 'string' ? id : undefined;
}
