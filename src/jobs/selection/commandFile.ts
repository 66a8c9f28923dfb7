import { basename, isAbsolute, join, normalize } from 'node:path/posix';
import { isInside } from '../../remote/protocol/termValues.ts';

/** The file of the folder that a command runs. */
export interface CommandFile {
  /** Where it may be, relative to the folder, the most likely path first. */
  readonly paths: readonly string[];
  /** Whether the command fails without it. A module of Python may be installed, and make has rules of its own. */
  readonly isRequired: boolean;
}

/** A program that runs a file: the first word that is neither an option nor the value of one. */
interface FileProgram {
  readonly names: RegExp;
  /** Options whose value is the next word. */
  readonly valued: readonly string[];
  /** Options after which no file follows: their value is what runs. */
  readonly inline: readonly string[];
  /** Whether `-m` is followed by the name of a module. */
  readonly hasModules?: true;
  /** What may be left out at the end of the path. */
  readonly suffixes?: readonly string[];
}

const FILE_PROGRAMS: readonly FileProgram[] = [
  {
    names: /^(?:python[\d.]*|pypy3?)$/,
    valued: ['-W', '-X', '--check-hash-based-pycs'],
    inline: ['-c', '-'],
    hasModules: true,
    suffixes: ['', '/__main__.py'],
  },
  {
    names: /^(?:node|tsx|ts-node)$/,
    valued: ['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions'],
    inline: ['-e', '--eval', '-p', '--print', '-'],
    suffixes: ['', '.js', '.mjs', '.cjs', '.json', '/index.js'],
  },
  { names: /^Rscript$/, valued: [], inline: ['-e'] },
  {
    names: /^julia$/,
    valued: ['-L', '--load', '-t', '--threads', '-p', '--procs', '-J', '--sysimage', '-C', '--cpu-target'],
    inline: ['-e', '--eval', '-E', '--print', '-'],
  },
  { names: /^(?:ba|da|k|z)?sh$/, valued: ['-o', '+o', '-O'], inline: ['-c', '-s'] },
  { names: /^(?:perl|ruby)$/, valued: ['-I'], inline: ['-e', '-E'] },
];
/** Their options differ from version to version, so a file of Python is found by its name. */
const PYTHON_LAUNCHERS = /^(?:torchrun|deepspeed)$/;
const LAUNCHER_MODULES = /^(?:torch\.distributed\.(?:run|launch)|accelerate\.commands\.launch)$/;
/** Programs that run another one, which follows their own options; the second list only with `run`. */
const WRAPPERS = /^(?:env|nice|nohup|time|timeout|stdbuf|mpirun|mpiexec|srun|xvfb-run)$/;
const RUNNERS = /^(?:uv|poetry|pdm|pipenv|hatch|pixi|conda|mamba|micromamba)$/;
const MAKE = /^g?make$/;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const PYTHON_FILE = /\.pyw?$/;

/** The file of the folder that a command runs; undefined if its program is not known, or runs none. */
export function commandFile(words: readonly string[]): CommandFile | undefined {
  const [program = '', ...args] = words;
  const name = basename(program);
  if (WRAPPERS.test(name)) return wrappedFile(args);
  if (RUNNERS.test(name) && args[0] === 'run') return wrappedFile(args.slice(1));
  if (PYTHON_LAUNCHERS.test(name)) return launchedFile(args);
  if (name === 'accelerate' && args[0] === 'launch') return launchedFile(args.slice(1));
  if (MAKE.test(name)) return makefile(args);
  const known = FILE_PROGRAMS.find(({ names }) => names.test(name));
  if (known !== undefined) return fileOf(known, args);
  return programFile(words);
}

/** The program of a command, if it is a file of the folder that is sent with it. */
export function programFile([program = '']: readonly string[]): CommandFile | undefined {
  // The packages of the job bring these.
  if (!program.includes('/') || /^(?:\.\/)?node_modules\//.test(program)) return undefined;
  return required([program]);
}

function fileOf(
  { valued, inline, hasModules, suffixes = [''] }: FileProgram,
  args: readonly string[],
): CommandFile | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (inline.includes(word)) return undefined;
    if (word === '-m' && hasModules) return moduleFile(args.slice(at + 1));
    const file = word === '--' ? args[at + 1] : word.startsWith('-') ? undefined : word;
    if (file !== undefined) return required(suffixes.map((suffix) => file + suffix));
    if (valued.includes(word)) at += 1;
  }
  return undefined;
}

/** @param args the name of a module of Python, and its arguments. */
function moduleFile([module = '', ...args]: readonly string[]): CommandFile | undefined {
  if (LAUNCHER_MODULES.test(module)) return launchedFile(args);
  if (!/^\w+(?:\.\w+)*$/.test(module)) return undefined;
  const path = module.replaceAll('.', '/');
  return { paths: [`${path}.py`, `${path}/__main__.py`], isRequired: false };
}

function launchedFile(args: readonly string[]): CommandFile | undefined {
  const at = args.findIndex((word) => word === '-m' || word === '--module');
  const script = args.findIndex((word) => PYTHON_FILE.test(word) && !word.startsWith('-'));
  if (at !== -1 && (script === -1 || at < script)) return moduleFile(args.slice(at + 1));
  const file = args[script];
  return file === undefined ? undefined : required([file]);
}

/** The first word that is a program of the kinds above, or a file of Python, which `uv run` runs itself. */
function wrappedFile(args: readonly string[]): CommandFile | undefined {
  for (const [at, word] of args.entries()) {
    if (word === '-m' || word === '--module') return moduleFile(args.slice(at + 1));
    if (word.startsWith('-')) continue;
    const file = PYTHON_FILE.test(word) ? required([word]) : commandFile(args.slice(at));
    if (file !== undefined) return file;
  }
  return undefined;
}

function makefile(args: readonly string[]): CommandFile | undefined {
  const valueOf = (short: string, ...long: readonly string[]): string | undefined => {
    for (const [at, word] of args.entries()) {
      if (word === short || long.includes(word)) return args[at + 1];
      if (word.startsWith(short)) return word.slice(short.length);
      const name = long.find((each) => word.startsWith(`${each}=`));
      if (name !== undefined) return word.slice(name.length + 1);
    }
    return undefined;
  };
  const folder = valueOf('-C', '--directory') ?? '.';
  const file = valueOf('-f', '--file', '--makefile');
  if (file !== undefined) return required([join(folder, file)]);
  return { paths: MAKEFILES.map((name) => normalize(join(folder, name))), isRequired: false };
}

/** Undefined for a path outside of the folder, of which nothing is known. */
function required(paths: readonly string[]): CommandFile | undefined {
  const inside = paths.map((path) => normalize(path)).filter((path) => !isAbsolute(path) && isInside(path));
  return inside.length === 0 ? undefined : { paths: inside, isRequired: true };
}
