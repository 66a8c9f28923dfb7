import { extname } from 'node:path';
import { dirname, join, normalize } from 'node:path/posix';
import { isMachinePath } from './machinePaths.ts';

/** A path that a program may read. */
export interface PathRead {
  /** Starts at 1. */
  readonly line: number;
  /** Where it may be, relative to the folder, the most likely path first. */
  readonly paths: readonly string[];
  /** The path as written, if it is absolute; then `paths` is empty. */
  readonly absolute?: string;
  /** Whether the file is code that the program imports. */
  readonly isImport: boolean;
}

interface Literal {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

// Each expression takes linear time: unclosed constructs extend to the end, and strings are limited.
const PYTHON_TOKENS =
  /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|#[^\n]*|"((?:[^"\\\n]|\\.){0,400})"|'((?:[^'\\\n]|\\.){0,400})'/g;
const JAVASCRIPT_TOKENS =
  /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|"((?:[^"\\\n]|\\.){0,400})"|'((?:[^'\\\n]|\\.){0,400})'|`([^`$\\]{0,400})`/g;
const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+([\w.]*)[ \t]+import[ \t]+\(?([\w \t,]*)|import[ \t]+([\w. \t,]+))/gm;
const JAVASCRIPT_IMPORT = /\b(?:import|from|require[ \t]*\(|import[ \t]*\()[ \t]*$/;
const JAVASCRIPT_SUFFIXES = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '/index.js', '/index.ts'];
const IS_JAVASCRIPT: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']);
const CONTEXT_CHARACTERS = 60;
const MAX_PATH_CHARACTERS = 300;
// A path that the program writes is a result, so it need not be sent.
const WRITE_CALL =
  /(?:save\w*|write\w*|to_\w+|dump\w*|export\w*|mkdir\w*|makedirs|createWriteStream|appendFile\w*)\s*\(\s*$/;
const WRITE_MODE = /^\s*,\s*(?:mode\s*=\s*)?['"][wax]/;
const JOINED = /^\s*[,/]\s*$/;

/**
 * Guesses what a Python, JavaScript or TypeScript program, or a cell of a notebook, reads: the files it imports, and its string literals that look like paths.
 * Nothing is evaluated, so a path that the program composes is missed.
 *
 * @param path of the program, relative to the folder.
 * @param main path of the job's script; Python looks for modules in its folder.
 * @returns empty for other languages.
 */
export function guessReads(source: string, path: string, main: string): readonly PathRead[] {
  const extension = extname(path).toLowerCase();
  const isPython = extension === '.py' || extension === '.ipynb';
  if (!isPython && !IS_JAVASCRIPT.has(extension)) return [];
  const lineOf = lineCounter(source);
  const literals = readLiterals(source, isPython ? PYTHON_TOKENS : JAVASCRIPT_TOKENS);
  const imports = isPython ? pythonImports(source, path, main, lineOf) : [];
  const reads = literals.flatMap((literal, index): PathRead[] => {
    const before = source.slice(Math.max(0, literal.start - CONTEXT_CHARACTERS), literal.start);
    const line = lineOf(literal.start);
    if (!isPython && JAVASCRIPT_IMPORT.test(before)) {
      if (!literal.text.startsWith('.')) return [];
      const target = join(dirname(path), literal.text);
      return [{ line, isImport: true, paths: JAVASCRIPT_SUFFIXES.map((suffix) => target + suffix) }];
    }
    const after = source.slice(literal.end, literal.end + CONTEXT_CHARACTERS);
    if (WRITE_CALL.test(before) || WRITE_MODE.test(after)) return [];
    const texts = joinedTexts(source, literals, index).filter(canBePath);
    const absolute = texts.find(isMachinePath);
    if (absolute !== undefined) return [{ line, isImport: false, paths: [], absolute }];
    const paths = texts.filter(looksLikePath).flatMap((text) => [normalize(text), join(dirname(path), text)]);
    return paths.length === 0 ? [] : [{ line, isImport: false, paths: [...new Set(paths)] }];
  });
  return [...imports, ...reads];
}

function readLiterals(source: string, tokens: RegExp): readonly Literal[] {
  return [...source.matchAll(tokens)].flatMap((match) => {
    const text = match[1] ?? match[2] ?? match[3];
    return text === undefined ? [] : [{ start: match.index, end: match.index + match[0].length, text }];
  });
}

/** The literal alone, and with those after it: `join('data', 'a.csv')` and `Path('data') / 'a.csv'` name `data/a.csv`. */
function joinedTexts(source: string, literals: readonly Literal[], index: number): readonly string[] {
  const texts: string[] = [];
  let joined = '';
  for (let at = index; at < Math.min(literals.length, index + 4); at += 1) {
    const [previous, literal] = [literals[at - 1], literals[at]];
    if (literal === undefined) break;
    if (at > index && !JOINED.test(source.slice(previous?.end, literal.start).replace(/^\)/, ''))) break;
    joined = joined === '' ? literal.text : `${joined}/${literal.text}`;
    texts.unshift(joined);
  }
  return texts;
}

function canBePath(text: string): boolean {
  return text.length <= MAX_PATH_CHARACTERS && !/[{}*?<>|\0\n]/.test(text);
}

function looksLikePath(text: string): boolean {
  return !/^[/~\\]|^\w+:/.test(text) && (text.includes('/') || /\.\w{1,8}$/.test(text));
}

function pythonImports(
  source: string,
  path: string,
  main: string,
  lineOf: (offset: number) => number,
): readonly PathRead[] {
  return [...source.matchAll(PYTHON_IMPORT)].flatMap((match): PathRead[] => {
    const [, from, names = '', modules = ''] = match;
    const line = lineOf(match.index);
    const read = (module: string): PathRead => ({ line, isImport: true, paths: modulePaths(module, path, main) });
    if (from === undefined) return moduleNames(modules).map(read);
    const prefix = from.endsWith('.') ? from : `${from}.`;
    const base = from.replaceAll('.', '') === '' ? [] : [from];
    return [...base, ...moduleNames(names).map((name) => prefix + name)].map(read);
  });
}

/** `a.b as c, d` names `a.b` and `d`. */
function moduleNames(list: string): readonly string[] {
  return list.split(',').flatMap((entry) => entry.trim().split(/\s/)[0] || []);
}

function modulePaths(module: string, path: string, main: string): readonly string[] {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(module) ?? [];
  const inner = name.replaceAll('.', '/');
  const folders =
    dots === '' ? [dirname(main), '.'] : [join(dirname(path), ...Array<string>(dots.length - 1).fill('..'))];
  return [...new Set(folders)].flatMap((folder) => [join(folder, `${inner}.py`), join(folder, inner, '__init__.py')]);
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [...source.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? Infinity) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
