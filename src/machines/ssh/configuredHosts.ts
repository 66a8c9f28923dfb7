import { homedir } from 'node:os';
import { join } from 'node:path';
import { readBounded } from '../../workspace/files/boundedRead.ts';

const MAX_HOSTS = 500;
const MAX_BYTES = 1e6;

/** The names in the user's `~/.ssh/config` that stand for one machine, in its order. Files that it includes are not read. */
export async function configuredHosts(home = homedir()): Promise<readonly string[]> {
  const config = String((await readBounded(join(home, '.ssh', 'config'), MAX_BYTES)) ?? '');
  const names = config.split('\n').flatMap((line) => {
    const { 1: patterns = '' } = /^\s*Host[\s=]+(.+?)\s*$/i.exec(line) ?? [];
    return patterns.split(/\s+/).filter((pattern) => /^[\w.@:-]+$/.test(pattern) && !pattern.startsWith('-'));
  });
  return [...new Set(names)].slice(0, MAX_HOSTS);
}
