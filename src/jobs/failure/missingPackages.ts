import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../core/files/pathInside.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { NOTEBOOK_PACKAGES, NOTEBOOK_REMEDY } from '../../remote/protocol/notebookPackages.ts';
import type { JobRecord } from '../ledger/record.ts';
import { startedNotebook } from '../selection/script.ts';

const USUAL_LIST = 'requirements.txt';
/** The tools whose lock files only they can change. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['uv.lock', 'uv'],
  ['poetry.lock', 'poetry'],
  ['pdm.lock', 'pdm'],
]);

/** Packages that a job lacked, and how its folder gets them. */
export interface MissingPackages {
  readonly names: readonly string[];
  /** The file of the folder from which the next job installs them, with `/`. It may not exist yet. */
  readonly list: string;
  /** The tool that adds packages to the list; undefined if each of its lines is a package. */
  readonly tool: string | undefined;
}

type FailedJob = Pick<JobRecord, 'folder' | 'script' | 'command' | 'venv'>;

/**
 * The packages of Python that a job says it lacked to run its notebook. Undefined if it says nothing of them, or if its packages come from
 * something that no known tool adds packages to.
 *
 * @param output its last lines. The job can print anything, so they never name the packages.
 */
export function missingPackages(job: FailedJob, output: readonly string[]): MissingPackages | undefined {
  if (startedNotebook(job) === undefined || !output.some((line) => line.includes(NOTEBOOK_REMEDY))) return undefined;
  const list = job.venv?.['requirements'] ?? USUAL_LIST;
  if (typeof list !== 'string' || !pathInside(job.folder, join(job.folder, list))) return undefined;
  const tool = dirname(list) === '.' ? TOOLS.get(list) : undefined;
  // What else has no lines of packages.
  if (tool === undefined && !/^[^.].*\.txt$/.test(basename(list))) return undefined;
  return { names: NOTEBOOK_PACKAGES, list, tool };
}

/** What adds the packages and submits the notebook again, as a line for a shell in the folder. */
export function installLine(
  { script }: Pick<JobRecord, 'script'>,
  { names, list, tool }: MissingPackages,
  platform: NodeJS.Platform = process.platform,
): string {
  const file = shellWord(list);
  // The file may not end with a line feed.
  const lines =
    platform === 'win32' ? `Add-Content ${file} ${names.join(',')}` : `printf '\\n%s' ${names.join(' ')} >> ${file}`;
  const add = tool === undefined ? lines : `${tool} add ${names.join(' ')}`;
  const submit = `farwharf submit --script ${shellWord(script)} --packages ${file}`;
  return platform === 'win32' ? `${add}; ${submit}` : `${add} && ${submit}`;
}

/** A sentence about what is missing. */
export function describeMissing({ names }: MissingPackages): string {
  const all = new Intl.ListFormat(l10n.t('en-GB')).format(names);
  return l10n.t('The Python of the job lacks {0}, which notebooks need.', all);
}
