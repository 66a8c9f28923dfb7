import { pathInside } from '../../core/files/pathInside.ts';
import type { ExclusionReason } from '../../workspace/select/selection.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import type { Rate } from './estimate.ts';
import { scriptPath } from '../selection/script.ts';
import { quotePath } from '../selection/scriptSuggestions.ts';

/** What a person or a program fixes before the folder and the service are known. The rest is remembered, set or asked for. */
export interface SubmitIntent {
  /** Script with its parameters, as in a terminal. */
  readonly script?: string | undefined;
  /** Absolute path of a file in the folder to run; `script` wins. */
  readonly file?: string | undefined;
  /** Seconds. */
  readonly maxRuntime?: number | undefined;
  readonly machineClass?: string | undefined;
  readonly project?: string | undefined;
}

/** Paths that a person chose by hand. */
export interface FileChoice {
  /** Paths sent although a rule leaves them out. */
  readonly include: readonly string[];
  /** Paths left out although no rule does so. */
  readonly exclude: readonly string[];
}

/** A submit whose every term is decided, and can still be changed. */
export interface SubmitDraft extends FileChoice {
  readonly script: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly machineClass?: string;
  readonly project?: string;
  /** The Python environment of the job, as the service describes it. */
  readonly venv?: Readonly<Record<string, unknown>>;
}

/** What a person agreed to when they asked not to be asked again. Plain data: it is stored by the editor. */
export interface Agreement {
  readonly host: string;
  readonly bytes: number;
  /** Highest cost in credits; undefined where the price was not known. */
  readonly cost?: number;
  readonly reasons: readonly ExclusionReason[];
  /** Paths that look like secrets, sent or not. */
  readonly secrets: readonly string[];
  /** Findings of other kinds, as `kind path`. */
  readonly findings: readonly string[];
  /** Paths sent or kept by an explicit choice. */
  readonly choices: readonly string[];
}

/** What is remembered of a folder's submits. */
export interface FolderMemory extends Partial<FileChoice> {
  /** The newest first. */
  readonly scripts: readonly string[];
  readonly maxRuntime?: number;
  readonly machineClass?: string;
  readonly project?: string;
  readonly usesRequirements?: boolean;
  /** Present after a person asked not to be asked again. */
  readonly agreement?: Agreement;
}

/** Defaults from the settings; an empty string means none. */
export interface SubmitDefaults {
  readonly maxRuntime: number;
  readonly machineClass: string;
  readonly project: string;
}

/** The environment that installs the packages of the folder's requirements.txt. */
export const REQUIREMENTS_VENV: Readonly<Record<string, unknown>> = { requirements: 'requirements.txt' };

/** The script line that the intent or the last submit names; undefined when a person must choose one. */
export function findScript(
  { script, file }: SubmitIntent,
  { root, scripts: { recent } }: Pick<SelectedFolder, 'root' | 'scripts'>,
  { scripts }: Pick<FolderMemory, 'scripts'>,
): string | undefined {
  if (script !== undefined) return script;
  const path = file === undefined ? undefined : pathInside(root, file);
  // A file that was run before is run with the parameters it had then.
  if (path) return scripts.find((line) => scriptPath(line) === path) ?? quotePath(path);
  const [last] = scripts;
  return last === recent[0] ? last : undefined;
}

/** The first draft of a submit: the intent, then what is remembered, then the defaults. */
export function firstDraft(
  intent: SubmitIntent,
  script: string,
  { memory, defaults, rates }: { memory: FolderMemory; defaults: SubmitDefaults; rates: readonly Rate[] },
): SubmitDraft {
  // A price list of one machine class leaves nothing to choose.
  const onlyClass = rates.length === 1 ? rates[0]?.machineClass : undefined;
  // The class chosen last may not exist on the host chosen since.
  const last = rates.some((rate) => rate.machineClass === memory.machineClass) ? memory.machineClass : undefined;
  const machineClass = intent.machineClass ?? (defaults.machineClass || last || onlyClass);
  const project = intent.project ?? memory.project ?? defaults.project;
  return {
    script,
    maxRuntime: intent.maxRuntime ?? memory.maxRuntime ?? defaults.maxRuntime,
    include: memory.include ?? [],
    exclude: memory.exclude ?? [],
    ...(memory.usesRequirements === true && { venv: REQUIREMENTS_VENV }),
    ...(machineClass && { machineClass }),
    ...(project && { project }),
  };
}

/** What to remember of a draft that was sent, besides its script. */
export function memoryOf(draft: SubmitDraft, agreement: Agreement | undefined): Omit<FolderMemory, 'scripts'> {
  const { script: _, venv, ...terms } = draft;
  return { ...terms, usesRequirements: venv !== undefined, ...(agreement !== undefined && { agreement }) };
}
