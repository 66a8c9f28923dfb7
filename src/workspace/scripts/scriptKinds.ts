import { basename, extname } from 'node:path';

const EXTENSIONS: ReadonlySet<string> = new Set(['.sbatch', '.slurm']);

/** Scripts that are run with the same program, where their first line does not name another. */
export interface ScriptKind {
  readonly name: string;
  /** As in sentences. */
  readonly title: string;
  /** Names of files; `*` at the start stands for any beginning. */
  readonly files: readonly string[];
  /** The names of the programs that run them, the best first. */
  readonly programs: readonly string[];
}

const KINDS = [
  { name: 'python', title: 'Python', files: ['*.py'], programs: ['python3', 'python'] },
  { name: 'shell', title: 'shell', files: ['*.sh', '*.bash'], programs: ['bash', 'sh'] },
  { name: 'javascript', title: 'JavaScript', files: ['*.js', '*.mjs', '*.cjs'], programs: ['node'] },
  { name: 'typescript', title: 'TypeScript', files: ['*.ts', '*.mts', '*.cts'], programs: ['node'] },
  { name: 'r', title: 'R', files: ['*.R', '*.r'], programs: ['Rscript'] },
  { name: 'julia', title: 'Julia', files: ['*.jl'], programs: ['julia'] },
  { name: 'perl', title: 'Perl', files: ['*.pl'], programs: ['perl'] },
  { name: 'ruby', title: 'Ruby', files: ['*.rb'], programs: ['ruby'] },
  {
    name: 'make',
    title: 'make',
    files: ['Makefile', 'makefile', 'GNUmakefile', '*.mk'],
    programs: ['make', 'gmake'],
  },
  { name: 'notebook', title: 'Jupyter', files: ['*.ipynb'], programs: ['python3', 'python'] },
] as const satisfies readonly ScriptKind[];

export type ScriptKindName = (typeof KINDS)[number]['name'];
export const SCRIPT_KINDS: readonly (ScriptKind & { readonly name: ScriptKindName })[] = KINDS;
export const SCRIPT_KIND_NAMES: readonly ScriptKindName[] = KINDS.map(({ name }) => name);
/** By pattern. A folder has many files, and few of them are scripts. */
const KINDS_OF_FILES: ReadonlyMap<string, (typeof SCRIPT_KINDS)[number]> = new Map(
  SCRIPT_KINDS.flatMap((kind) => kind.files.map((pattern) => [pattern, kind])),
);

/** The kind of a script by the name of its file; undefined if its name says nothing. */
export function kindOfFile(path: string): (typeof SCRIPT_KINDS)[number] | undefined {
  const name = basename(path);
  return KINDS_OF_FILES.get(name) ?? KINDS_OF_FILES.get(`*${name.slice(name.lastIndexOf('.'))}`);
}

/** Whether a script is run cell by cell, by its name. */
export function isNotebookFile(path: string): boolean {
  return kindOfFile(path)?.name === 'notebook';
}

/** The kind of the scripts that a program runs, by its name or path: `/usr/bin/Rscript`. That of Python is not notebooks. */
export function kindOfProgram(program: string): (typeof SCRIPT_KINDS)[number] | undefined {
  const name = basename(program);
  return SCRIPT_KINDS.find(({ programs }) => programs.includes(name));
}

/** Whether the name of a file is among patterns, as in `ScriptKind.files`. */
export function matchesFile(patterns: readonly string[], path: string): boolean {
  const name = basename(path);
  return patterns.some((pattern) => (pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern));
}

/** Whether a file is a batch script of Slurm by its name. */
export function isBatchScriptName(path: string): boolean {
  return EXTENSIONS.has(extname(path).toLowerCase());
}
