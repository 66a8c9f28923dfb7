import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const MAX_HOSTS = 500;

/** The names in the user's `~/.ssh/config` that stand for one machine, in its order. Files that it includes are not read. */
export async function configuredHosts(home = homedir()): Promise<readonly string[]> {
  const config = await readFile(join(home, '.ssh', 'config'), 'utf8').catch(() => '');
  const names = config.split('\n').flatMap((line) => {
    const { 1: patterns = '' } = /^\s*Host[\s=]+(.+?)\s*$/i.exec(line) ?? [];
    return patterns.split(/\s+/).filter((pattern) => /^[\w.@:-]+$/.test(pattern) && !pattern.startsWith('-'));
  });
  return [...new Set(names)].slice(0, MAX_HOSTS);
}
