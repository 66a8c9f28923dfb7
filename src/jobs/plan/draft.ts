import { pathInside } from '../../core/files/pathInside.ts';
import { type JobSubmission, statedTerms, termsWith, type TermWith } from '../../remote/protocol/jobTerms.ts';
import type { ExclusionReason } from '../../workspace/select/selection.ts';
import type { BatchTerms } from '../batch/batchTerms.ts';
import type { FileChoice } from '../selection/fileTree.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import type { Rate } from './estimate.ts';
import { commandTitle } from '../../remote/protocol/command.ts';
import { scriptPath, type StartedProgram } from '../selection/script.ts';
import { quotePath } from '../selection/scriptSuggestions.ts';

/** What the caller or a profile fixes in advance. The rest comes from memory, settings or the user. */
export interface SubmitIntent extends Partial<SubmitDraft> {
  /** Absolute path of a file in the folder to run; `script` wins. */
  readonly file?: string | undefined;
}

/** All terms of a submit, which can still be changed. */
export interface SubmitDraft extends FileChoice, JobSubmission {
  /** With its parameters; the title of a command. */
  readonly script: string;
  /** Where the results go, relative to the folder; the folder itself by default. */
  readonly resultsFolder?: string;
  /** The batch script that the job comes from. */
  readonly batch?: BatchTerms;
}

/** What the user agreed to when turning off the question. Plain data, stored by the editor. */
export interface Agreement {
  readonly host: string;
  readonly bytes: number;
  /** Highest cost in credits; undefined if the price was unknown. */
  readonly cost?: number;
  readonly reasons: readonly ExclusionReason[];
  /** Paths that look like secrets, sent or not. */
  readonly secrets: readonly string[];
  /** Findings of other types, as `type path`. */
  readonly findings: readonly string[];
  /** Paths included (`+`) or excluded (`-`) by the user. */
  readonly choices: readonly string[];
  /** Names of the secrets that the job gets; absent in agreements of earlier versions. */
  readonly jobSecrets?: readonly string[];
  /** The same of the volumes that it has. */
  readonly jobVolumes?: readonly string[];
}

/** What is stored about a folder's submits. */
export interface FolderMemory extends Partial<Pick<SubmitDraft, keyof FileChoice | TermWith<'isRemembered'>>> {
  /** The newest first. */
  readonly scripts: readonly string[];
  /** The same of commands. */
  readonly commands?: readonly (readonly string[])[];
  /** Whether the last submit ran the first of the commands. */
  readonly ranCommand?: boolean;
  /** The list of packages that is installed. */
  readonly packages?: string;
  /** Present after the user turned off the question. */
  readonly agreement?: Agreement;
}

/** Defaults from the settings; an empty string means none. */
interface SubmitDefaults {
  readonly maxRuntime: number;
  readonly machineClass: string;
  readonly project: string;
}

/** What decides the terms that nobody fixed. */
export interface UsualTerms {
  readonly memory: FolderMemory;
  readonly defaults: SubmitDefaults;
  /** Of the service. */
  readonly rates: readonly Rate[];
}

/** A draft that installs the packages of a list in the folder; undefined installs none. */
export function withPackages({ venv: before, ...rest }: SubmitDraft, list: string | undefined): SubmitDraft {
  const { requirements: _, ...others } = before ?? {};
  const venv = list === undefined ? others : { ...others, requirements: list };
  return Object.keys(venv).length === 0 ? rest : { ...rest, venv };
}

/** What the intent or the last submit runs; undefined if the user must choose. */
export function findStarted(
  { script, command, file }: SubmitIntent,
  { root, scripts: { recent } }: Pick<SelectedFolder, 'root' | 'scripts'>,
  { scripts, commands = [], ranCommand = false }: Pick<FolderMemory, 'scripts' | 'commands' | 'ranCommand'>,
): StartedProgram | undefined {
  if (command !== undefined) return startedCommand(command);
  if (script !== undefined) return { script };
  const path = file === undefined ? undefined : pathInside(root, file);
  // A file that was submitted before gets its earlier parameters.
  if (path) return { script: scripts.find((line) => scriptPath(line) === path) ?? quotePath(path) };
  const [lastCommand] = commands;
  if (ranCommand && lastCommand !== undefined) return startedCommand(lastCommand);
  const [last] = scripts;
  return last !== undefined && last === recent[0] ? { script: last } : undefined;
}

/** A command with its title. */
export function startedCommand(command: readonly string[]): StartedProgram {
  return { script: commandTitle(command), command };
}

/**
 * The first draft of a submit: the intent, else the stored terms, else the defaults.
 *
 * @param program what runs, unless the intent says that.
 */
export function firstDraft(
  intent: SubmitIntent,
  program: StartedProgram,
  { memory, defaults, rates }: UsualTerms,
): SubmitDraft {
  // With a single machine class there is nothing to choose.
  const onlyClass = rates.length === 1 ? rates[0]?.machineClass : undefined;
  // The last class may not exist on a host that was selected since.
  const last = rates.some((rate) => rate.machineClass === memory.machineClass) ? memory.machineClass : undefined;
  // A batch script asks for a machine itself.
  const usual = intent.batch === undefined ? defaults.machineClass || last || onlyClass : undefined;
  const terms = statedTerms(
    intent,
    { machineClass: usual, venv: memory.packages === undefined ? undefined : { requirements: memory.packages } },
    rememberedTerms({ ...memory, machineClass: undefined }),
    { project: defaults.project },
  );
  const { script: line, command: words, ...others } = terms;
  const { script, command } =
    words !== undefined ? startedCommand(words) : line !== undefined ? { script: line } : program;
  return {
    ...others,
    script,
    ...(command && { command }),
    maxRuntime: terms.maxRuntime ?? defaults.maxRuntime,
    include: intent.include ?? memory.include ?? [],
    exclude: intent.exclude ?? memory.exclude ?? [],
    ...(intent.resultsFolder && { resultsFolder: intent.resultsFolder }),
    ...(intent.batch && { batch: intent.batch }),
  };
}

/** What to store about a draft that was sent, except what it runs. @param before what was stored before. */
export function memoryOf(
  draft: SubmitDraft,
  agreement: Agreement | undefined,
  before: Partial<Pick<SubmitDraft, TermWith<'isRemembered'>>> = {},
): Omit<FolderMemory, 'scripts' | 'commands' | 'ranCommand'> {
  const { include, exclude, venv, batch } = draft;
  const packages = venv?.['requirements'];
  // The terms of a batch script are in the script.
  const inScript = batch === undefined ? [] : (['machineClass', ...termsWith('batch')] as const);
  return {
    include,
    exclude,
    ...rememberedTerms({ ...draft, ...Object.fromEntries(inScript.map((name) => [name, before[name]])) }),
    ...(typeof packages === 'string' && { packages }),
    ...(agreement !== undefined && { agreement }),
  };
}

type RememberedTerms = Partial<Pick<JobSubmission, TermWith<'isRemembered'>>>;

function rememberedTerms(source: RememberedTerms): RememberedTerms {
  const values = termsWith('isRemembered').map((name) => [name, source[name]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
