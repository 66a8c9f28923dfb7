import { AppError } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import type { PackageFile } from './packageFile.ts';
import { parseToml, tomlTexts, tomlValue } from './tomlTables.ts';

/** Packages for pip or uv that stand in a file of another format. */
export interface PipRequirements {
  readonly lines: readonly string[];
  /** Whether they are all that is installed, each with its hashes. */
  readonly isLocked: boolean;
  /** The versions of Python that they are for, as in PEP 440; undefined for all. */
  readonly python: string | undefined;
}

const BLOCK_START = '# /// script';
const BLOCK_END = '# ///';

/** Whether a script says which packages it needs (PEP 723). */
export function hasInlinePackages(text: string): boolean {
  return findBlocks(text).length > 0;
}

/** The packages that a script says it needs. @throws AppError `bad-input` unless it does so in one valid block. */
export function inlinePackages({ path, text }: PackageFile): PipRequirements {
  const [block, ...others] = findBlocks(text);
  if (block === undefined) {
    const message = `${path} lists no packages. Add a block "${BLOCK_START}" with its dependencies (PEP 723), or name another file.`;
    throw new AppError('bad-input', message);
  }
  if (others.length > 0)
    throw new AppError('bad-input', `${path} has several blocks "${BLOCK_START}". Merge them, then submit again.`);
  return requirementsOf(path, parseToml({ path, text: block }));
}

/** The TOML of each block (PEP 723, "Specification"), after as many empty lines as are before it, so that errors name the right line. */
function findBlocks(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const blocks: string[] = [];
  for (let start = lines.indexOf(BLOCK_START); start >= 0; ) {
    let end = start + 1;
    let last = -1;
    for (; end < lines.length && /^#(?: |$)/.test(lines[end] ?? ''); end += 1) if (lines[end] === BLOCK_END) last = end;
    if (last >= 0) {
      const content = lines.slice(start + 1, last).map((line) => line.slice(2));
      blocks.push('\n'.repeat(start + 1) + content.join('\n'));
    }
    start = lines.indexOf(BLOCK_START, end);
  }
  return blocks;
}

/** The packages of a pyproject.toml without a lock file. @throws AppError `bad-input` if it lists none in a standard way. */
export function projectPackages(file: PackageFile): PipRequirements {
  const project = tomlValue(parseToml(file), 'project');
  if (tomlValue(project, 'dependencies') === undefined) {
    const remedy = 'Name its lock file, such as uv.lock, or list them in "dependencies" of [project].';
    throw new AppError('bad-input', `${file.path} lists no packages in [project]. ${remedy}`);
  }
  return requirementsOf(file.path, project);
}

function requirementsOf(path: string, table: unknown): PipRequirements {
  const lines = tomlValue(table, 'dependencies') === undefined ? [] : tomlTexts(table, 'dependencies');
  if (lines === undefined || lines.some((line) => /[\r\n\0]/.test(line) || /^\s*-/.test(line))) {
    const message = `"dependencies" of ${path} is not a list of packages, each as in "numpy>=2". Correct it, then submit again.`;
    throw new AppError('bad-input', message);
  }
  return { lines, isLocked: false, python: textField(table, 'requires-python') };
}
