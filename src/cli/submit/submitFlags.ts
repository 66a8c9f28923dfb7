import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import {
  conflictFlag,
  type Flags,
  type FlagValues,
  jsonFlag,
  listFlag,
  optionalNumberFlag,
  parseJsonObject,
  switchFlag,
  textFlag,
} from '../command/flags.ts';
import { DEFAULT_HOLD, type DebugOptions } from '../../remote/protocol/debugging.ts';
import { DEFAULT_MAX_RUNTIME, JOB_TERMS, termsWith, type TermWith } from '../../remote/protocol/jobTerms.ts';
import { type ClusterOptions, clusterOptions } from '../../remote/protocol/termValues.ts';
import { schemaMessage } from '../../core/text/schemaMessage.ts';
import { environmentFlag } from '../flows/flowFlags.ts';
import type { RunSweepOptions } from '../sweeps/runSweep.ts';
import { parameterFlag } from '../sweeps/parameterFlag.ts';

/** The terms of a submit that neither flags nor a profile choose. */
export const DEFAULT_TERMS = { maxRuntime: DEFAULT_MAX_RUNTIME, machineClass: '', project: '' };

const FLAG_OF_TYPE = {
  text: textFlag,
  number: (spelling: string, description: string) => optionalNumberFlag(spelling, description, { min: 1 }),
  list: (spelling: string, description: string) => listFlag(spelling, description),
};
type TermFlags = {
  readonly [Name in TermWith<'flag'>]: ReturnType<(typeof FLAG_OF_TYPE)[(typeof JOB_TERMS)[Name]['flag']['type']]>;
};

function termFlags(): TermFlags;
function termFlags(): Flags {
  const flags = termsWith('flag').map((name) => {
    const { type, spelling, description } = JOB_TERMS[name].flag;
    return [name, FLAG_OF_TYPE[type](spelling, description)] as const;
  });
  return Object.fromEntries(flags);
}

const { script, maxRuntime, machineClass, project, ...otherTerms } = termFlags();

/** In the order of the help. */
export const SUBMIT_FLAGS = {
  script,
  profile: textFlag('--profile <name>', "job of the folder's farwharf.json; other flags override its values"),
  set: parameterFlag('with --profile: use this value for a parameter of its matrix or its notebook'),
  env: environmentFlag('let the profile read this environment variable'),
  maxRuntime,
  machineClass,
  project,
  packages: textFlag(
    '--packages <file>',
    'install the packages that this file of the folder lists, such as uv.lock, or the script itself',
  ),
  venv: textFlag('--venv <file>', 'JSON file that describes the Python environment'),
  ...otherTerms,
  cluster: listFlag(
    '--cluster <option>',
    'ask the cluster of the service for account=, qos=, constraint=, reservation= or module=NAME, container=IMAGE, or mail at the end',
    readClusterOption,
  ),
  debug: switchFlag('--debug', 'where the job fails, freeze it until a debugger has looked at it (see farwharf debug)'),
  hold: optionalNumberFlag(
    '--hold <minutes>',
    `with --debug: how long the job may be frozen in all (default: ${DEFAULT_HOLD / 60})`,
    { min: 1, max: 1_440 },
  ),
  holdAtLimit: switchFlag('--hold-at-limit', 'with --debug: also freeze the job just before its time limit'),
  include: listFlag('--include <path>', 'send this path, or what this pattern matches, even if a rule leaves it out'),
  exclude: listFlag('--exclude <path>', 'do not send this path, or what this pattern matches'),
  flow: textFlag('--flow <name>', 'flow file: the export to run'),
  shared: textFlag('--shared <json>', 'flow file: initial shared state, as JSON or @FILE'),
  resume: textFlag('--resume <run>', 'flow file: continue this run, a folder with its files or its run ID'),
  from: textFlag('--from <node>', 'with --resume: restart at this node'),
  input: textFlag('--input <json>', 'with --resume: the answer to the question of that run, as JSON'),
  watch: switchFlag('--watch', 'show the log until the job ends'),
  download: switchFlag('--download', 'wait until the job ends, then download the results into the folder'),
  onConflict: conflictFlag(),
  again: switchFlag(
    '--again',
    'send even if the outcome of the last submit is unknown, or a job has continued the run of --resume',
  ),
  rehash: switchFlag(
    '--rehash',
    'read all files again, not only those whose size or times have changed since the last submit',
  ),
  dryRun: switchFlag('--dry-run', 'show what would be sent without sending anything'),
  json: jsonFlag(),
};

/** The flags, the command after them, and what callers other than the command line add. */
export type SubmitFlags = FlagValues<typeof SUBMIT_FLAGS> & {
  readonly command?: readonly string[];
  /** More arguments of what runs, one each. */
  readonly arguments?: readonly string[];
  readonly onSweepWait?: RunSweepOptions['onWait'];
};

/** @throws AppError `bad-input` for a hold time without a debugger. */
export function readDebugOptions({
  debug,
  hold,
  holdAtLimit,
}: Pick<SubmitFlags, 'debug' | 'hold' | 'holdAtLimit'>): DebugOptions | undefined {
  if (debug) return { hold: hold === undefined ? DEFAULT_HOLD : 60 * hold, ...(holdAtLimit && { limit: true }) };
  if (holdAtLimit)
    throw new AppError('bad-input', '--hold-at-limit is when a job with --debug is frozen. Add --debug.');
  if (hold === undefined) return undefined;
  throw new AppError('bad-input', '--hold is how long a job with --debug is frozen. Add --debug.');
}

/** `qos=long`, `module=cuda/12.4` or `mail`. @throws AppError `bad-input` for anything else. */
function readClusterOption(text: string): ClusterOptions {
  if (text === 'mail') return { mail: true };
  const [, name, value = ''] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (name === 'module') return { modules: [value] };
  const option = (['account', 'qos', 'constraint', 'reservation', 'container'] as const).find((each) => each === name);
  if (option !== undefined) return { [option]: value };
  const message = `Invalid value "${text}". Enter for --cluster: account=NAME, qos=NAME, constraint=NAME, reservation=NAME, module=NAME, container=IMAGE or mail.`;
  throw new AppError('bad-input', message);
}

/**
 * The combined options, which override the values of a profile. Modules are added.
 *
 * @throws AppError `bad-input` for a value that no cluster has.
 */
export function readClusterOptions(
  texts: readonly string[] | undefined,
  profile: ClusterOptions = {},
): ClusterOptions | undefined {
  const parts = [profile, ...(texts ?? []).map(readClusterOption)];
  const modules = [...new Set(parts.flatMap((part) => part.modules ?? []))];
  const asked: ClusterOptions = {};
  for (const part of parts) Object.assign(asked, part);
  const { data, error } = clusterOptions.safeParse(
    { ...asked, ...(modules.length > 0 && { modules }) },
    { error: schemaMessage },
  );
  if (data !== undefined) return Object.keys(data).length === 0 ? undefined : data;
  const [issue] = error.issues;
  const message = `Invalid value for --cluster: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`;
  throw new AppError('bad-input', message);
}

/**
 * The absolute path of a folder on the command line.
 *
 * @throws AppError `missing`, `permission` or `bad-input` if the folder does not exist, cannot be read or is a file.
 */
export async function readFolder(argument: string, cwd: string): Promise<string> {
  const folder = resolve(cwd, argument);
  try {
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (systemCode(error) === 'EACCES') {
      const sentence = `${folder} cannot be read: no permission to enter a folder above it. Ask its owner for access.`;
      throw new AppError('permission', sentence, { cause: error });
    }
    throw new AppError('missing', `Folder ${folder} does not exist. Check the path.`, { cause: error });
  }
  throw new AppError('bad-input', `${folder} is a file. Enter the folder that contains it.`);
}

/** The description of a Python environment. @throws AppError `missing` or `bad-input` if the file cannot be read or is not a JSON object. */
export async function readVenv(file: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readNamedFile(resolve(cwd, file), { name: file });
  return parseJsonObject(withoutByteOrderMark(text), file, '{ "requirements": ["numpy"] }');
}
