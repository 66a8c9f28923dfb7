import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readBounded } from '../files/boundedRead.ts';

/** Larger ignore files are not read. */
export const MOST_RULES_BYTES = 4 << 20;
// No path is longer (PATH_MAX), so a longer rule matches none, and its regular expression would be too long for JavaScript.
const LONGEST_RULE = 4096;

interface MarkedPattern {
  readonly pattern: string;
  /** `sub/.gitignore:3` */
  readonly mark: string;
}

/** The rules of a folder and of all its parent folders. */
export class RuleSet {
  readonly patterns: readonly MarkedPattern[];
  readonly hasNegation: boolean;
  readonly #matcher: Ignore | undefined;

  constructor(patterns: readonly MarkedPattern[]) {
    this.patterns = patterns;
    this.hasNegation = patterns.some(({ pattern }) => pattern.startsWith('!'));
    // `ignorecase` is on by default in the package, but off in git.
    this.#matcher =
      patterns.length === 0
        ? undefined
        : ignore({ ignorecase: false }).add(patterns.map(({ pattern, mark }) => ({ pattern: bytesOf(pattern), mark })));
  }

  /** `path` is relative to the rules' base; folders end with `/`. */
  test(path: string): { isIgnored: boolean; isChosen: boolean; rule?: string | undefined; at?: string | undefined } {
    if (this.#matcher === undefined) return { isIgnored: false, isChosen: false };
    const { ignored, unignored, rule } = this.#matcher.test(bytesOf(path));
    return {
      isIgnored: ignored,
      isChosen: unignored,
      rule: originalPattern(rule?.mark),
      at: originalPlace(rule?.mark),
    };
  }
}

/**
 * The ignore files of a tree. All rules that apply in a folder are in one matcher, relative to the tree's base. With one matcher per file,
 * a `!` in one file would not affect rules in another (gitignore(5)).
 */
export class IgnoreRules {
  readonly #base: string;
  readonly #fileName: string;
  readonly #folders = new Map<string, RuleSet>();

  /** `first` are rules of the base that precede all others, such as those in `.git/info/exclude`. */
  constructor(base: string, fileName: string, first: readonly MarkedPattern[] = []) {
    this.#base = base;
    this.#fileName = fileName;
    this.#folders.set('..', new RuleSet(first));
  }

  /** The rules that apply in `folder` (`''` is the base), whose parents must have been entered before. */
  async enter(folder: string, hasFile: boolean): Promise<RuleSet> {
    const cached = this.#folders.get(folder);
    if (cached !== undefined) return cached;
    const above = this.#folders.get(folder === '' ? '..' : parentOf(folder)) ?? new RuleSet([]);
    const folderRules = hasFile
      ? await readRules(join(this.#base, folder, this.#fileName), folder, this.#fileName)
      : [];
    const rules = folderRules.length === 0 ? above : new RuleSet([...above.patterns, ...folderRules]);
    this.#folders.set(folder, rules);
    return rules;
  }
}

/** Reads an ignore file, with patterns relative to the base instead of `folder`. Without rules unless it is a regular file within the size limit. */
export async function readRules(file: string, folder: string, name: string): Promise<MarkedPattern[]> {
  const text = (await readBounded(file, MOST_RULES_BYTES))?.toString() ?? '';
  const place = folder === '' ? name : `${folder}/${name}`;
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line, index) => ({ line: line.replace(/\r$/, ''), number: index + 1 }))
    .filter(({ line }) => line.length <= LONGEST_RULE && !/^(?:#|!?\/? *$)/.test(line))
    .map(({ line, number }) => ({ pattern: rebase(line, folder), mark: `${place}:${number}\n${line}` }));
}

/** A pattern of `folder` with the same meaning relative to the base. */
function rebase(line: string, folder: string): string {
  if (folder === '') return line;
  const sign = line.startsWith('!') ? '!' : '';
  const body = line.slice(sign.length);
  // A slash anywhere except at the end anchors a pattern to its folder.
  const isAnchored = body.trimEnd().slice(0, -1).includes('/');
  const prefix = folder.replace(/[\\*?[]/g, '\\$&');
  return `${sign}/${prefix}/${isAnchored ? body.replace(/^\//, '') : `**/${body}`}`;
}

/** One character per byte, because git matches bytes: `?` is one byte, `[é]` one of two. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function parentOf(folder: string): string {
  return folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
}

function originalPlace(mark: string | undefined): string | undefined {
  return mark?.slice(0, mark.indexOf('\n'));
}

function originalPattern(mark: string | undefined): string | undefined {
  return mark?.slice(mark.indexOf('\n') + 1).trimEnd();
}
