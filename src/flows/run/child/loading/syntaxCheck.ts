import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SourcePlace } from '../../protocol/outcome.ts';
import { syntaxPlace } from './failure.ts';

const LIMIT_MS = 5_000;

/** The position of a syntax error in a JavaScript module. Only Node's own error report has it, so Node is run to check the file. */
export function findSyntaxError(url: string): SourcePlace | undefined {
  if (!url.startsWith('file:')) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', fileURLToPath(url)], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  return syntaxPlace(stderr);
}
