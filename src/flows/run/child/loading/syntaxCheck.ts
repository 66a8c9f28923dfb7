import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SourcePlace } from '../../protocol/runEvent.ts';
import { syntaxPlace } from './failure.ts';

const LIMIT_MS = 5_000;

/** Where a JavaScript module does not parse. Node tells it only when it is the one to report the error, so it is asked to. */
export function findSyntaxError(url: string): SourcePlace | undefined {
  if (!url.startsWith('file:')) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', fileURLToPath(url)], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  return syntaxPlace(stderr);
}
