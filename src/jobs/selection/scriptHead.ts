import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { readStart } from '../../workspace/files/boundedRead.ts';
import { kindOfFile, kindOfProgram, type ScriptKind } from '../../workspace/scripts/scriptKinds.ts';
import { readShebang } from '../../workspace/scripts/shebang.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import type { JobFinding } from './jobFinding.ts';

const MAX_READ_BYTES = 256 * 1024;
const NUL = 0;

/** What decides with which program a job starts its script. */
export interface ScriptHead {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly isExecutable: boolean;
  /** Whether it is text, rather than a program. */
  readonly isText: boolean;
  /** What its first line names; undefined without such a line. */
  readonly program: { readonly name: string; readonly kind: ScriptKind | undefined } | undefined;
  /** Lines that end as on Windows, of those at its start. */
  readonly windowsLines: number;
  readonly lines: number;
}

/** Reads the start of a script, by its path in the folder; undefined if it is not among the files to send, or cannot be read. */
export async function readScriptHead(
  { root, files }: Pick<Selection, 'root' | 'files'>,
  path: string | undefined,
): Promise<ScriptHead | undefined> {
  if (path === undefined) return undefined;
  const file = files.find((each) => each.path === path);
  const start = file && (await readStart(file.source ?? join(root, path), MAX_READ_BYTES));
  if (file === undefined || start === undefined) return undefined;
  const shebang = readShebang(start);
  // In this encoding each byte is one character.
  const text = start.toString('latin1');
  return {
    path,
    isExecutable: (file.mode & 0o111) !== 0,
    isText: !start.includes(NUL),
    program: shebang && { name: shebang.program, kind: kindOfProgram(shebang.program) },
    windowsLines: text.split('\r\n').length - 1,
    lines: text.split('\n').length - 1,
  };
}

/** Whether a shell would read line ends of Windows, which it takes for a part of the last word of each line. */
export function lineEndFindings(start: ScriptHead): readonly JobFinding[] {
  const { path, program, windowsLines, lines } = start;
  const kind = program === undefined ? kindOfFile(path) : program.kind;
  if (kind?.name !== 'shell' || windowsLines === 0) return [];
  // Single ones may be meant, as in the text of a mail.
  const isMeant = 2 * windowsLines < lines;
  const summary = isMeant
    ? l10n.t('Some lines of {0} have the line ends of Windows', path)
    : l10n.t('{0} has the line ends of Windows', path);
  const detail = l10n.t('Shells cannot read them. Save it with LF line ends.');
  return [{ type: 'line-ends', severity: isMeant ? 'warning' : 'error', summary: printableLine(summary), detail }];
}
