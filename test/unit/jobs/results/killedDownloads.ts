import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { tarEntry, tarGz, writeArchive } from '../../workspace/archive/tarBuilder.ts';
import { writeTree } from '../../workspace/temporaryFolder.ts';
import { makeRecord } from '../fixtures.ts';

const PROGRAM = join(import.meta.dirname, 'downloadProcess.ts');
const CALLS = ['link', 'rename', 'mkdir', 'unlink', 'rmdir', 'fsync'];

const LOCAL: Record<string, string> = {};
const RESULTS: Record<string, string> = {};
for (let index = 0; index < 30; index++) {
  LOCAL[`kept/${index}`] = `mine ${index}`;
  LOCAL[`changed/${index % 3}/${index}`] = `old ${index}`;
  RESULTS[`changed/${index % 3}/${index}`] = `new ${index}`;
  RESULTS[`made/${index % 4}/${index}`] = `made ${index}`;
}

export interface KillPoint {
  readonly call: string;
  readonly number: number;
  readonly line?: string;
}

export const canKill = (): boolean => spawnSync('strace', ['-V']).status === 0;

export interface Place {
  readonly home: string;
  readonly folder: string;
  readonly archive: string;
  readonly id: string;
  /** The snapshot once all is written. */
  readonly expected: string;
}

/** A home with one job, whose results are in an archive, and its folder. */
export function makePlace(root: string): Place {
  const [home, folder] = [join(root, 'home'), join(root, 'folder')];
  mkdirSync(home, { recursive: true });
  writeTree(folder, LOCAL);
  const entries = Object.entries(RESULTS).map(([name, body]) => tarEntry({ name, body }));
  const archive = writeArchive(join(root, 'results.tar.gz'), tarGz(...entries));
  const record = makeRecord({ folder, jobId: 'job-1', state: 'succeeded' });
  const ledger = new JobLedger(home);
  ledger.insert(record);
  ledger.dispose();
  const written = new Map(Object.entries(LOCAL));
  Object.entries(RESULTS).forEach(([path, body], index) => {
    written.set(index % 5 === 4 && written.has(path) ? `${path} (job job-1)` : path, body);
  });
  const folders = new Set([...written.keys()].flatMap((path) => [dirname(path), dirname(dirname(path))]));
  folders.delete('.');
  const expected = [...folders, ...[...written].map(([path, body]) => `${path}=${body}`)].sort().join('\n');
  return { home, folder, archive, id: record.id, expected };
}

export interface RunOptions {
  readonly kill?: KillPoint;
  /** Makes the system refuse hard links, as file systems without them do. */
  readonly hasNoLinks?: boolean;
}

/** The command that runs the program to its end, or to the call at which it is killed. */
export function commandOf(
  { home, id, archive }: Pick<Place, 'home' | 'id' | 'archive'>,
  task: 'download' | 'recover',
  { kill, hasNoLinks = false }: RunOptions = {},
): readonly [string, ...string[]] {
  const program = [process.execPath, PROGRAM, task, home, id, archive] as const;
  if (kill === undefined && !hasNoLinks) return [...program];
  const inject = [
    ...(kill ? [`inject=${kill.call}:signal=SIGKILL:when=${kill.number}`] : []),
    ...(hasNoLinks ? ['inject=link:error=EPERM'] : []),
  ].flatMap((expression) => ['-e', expression]);
  const calls = [...(kill ? [kill.call] : []), ...(hasNoLinks ? ['link'] : [])];
  return ['strace', '-f', '-o', '/dev/null', '-e', `trace=${calls.join(',')}`, ...inject, ...program];
}

/** Runs the program so. Gives the signal that ended it. */
export function run(
  place: Pick<Place, 'home' | 'id' | 'archive'>,
  task: 'download' | 'recover',
  options: RunOptions = {},
): string | null {
  const [command, ...argv] = commandOf(place, task, options);
  const { signal, status, stderr } = spawnSync(command, argv, { encoding: 'utf8' });
  if (signal === null) assert.equal(status, 0, stderr);
  return signal;
}

/** Every call by which a download changes something on the disk, in order, with its arguments. */
export function killPoints(place: Place, hasNoLinks = false): KillPoint[] {
  const log = join(place.folder, '..', 'strace.log');
  const inject = hasNoLinks ? ['-e', 'inject=link:error=EPERM'] : [];
  const program = [process.execPath, PROGRAM, 'download', place.home, place.id, place.archive];
  const { status, stderr } = spawnSync(
    'strace',
    ['-f', '-o', log, '-e', `trace=${CALLS.join(',')}`, ...inject, ...program],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stderr);
  assert.equal(snapshot(place.folder), place.expected);
  const lines = readFileSync(log, 'utf8').split('\n');
  const main = lines[0]?.split(' ')[0] ?? '';
  const counts = new Map<string, number>();
  return lines.flatMap((line) => {
    const [, pid, call = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (pid !== main || !CALLS.includes(call)) return [];
    counts.set(call, (counts.get(call) ?? 0) + 1);
    return { call, number: counts.get(call) ?? 0, line };
  });
}

/** The files and folders, with their content. */
export function snapshot(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('.farwharf-'))
    .map((path) =>
      statSync(join(folder, path)).isFile() ? `${path}=${readFileSync(join(folder, path), 'utf8')}` : path,
    )
    .sort()
    .join('\n');
}

/** What an interrupted download leaves: its journals, or, once they are gone, its files in the folder. */
export function leftOvers({ folder, home }: Place): string[] {
  const results = join(home, 'results');
  const journals = existsSync(results) ? readdirSync(results) : [];
  // As long as there is a journal, another process may be changing the folder, which cannot be listed meanwhile.
  if (journals.length > 0) return journals;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.farwharf-'));
}
