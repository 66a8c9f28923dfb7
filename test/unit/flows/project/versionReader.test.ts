import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FlowReader } from '../../../../src/flows/project/flowReader.ts';
import { VersionReader } from '../../../../src/flows/project/versionReader.ts';

const flow = (connections: string): string => `
import { Flow } from 'farwharf/agents';
import { Ask, Write } from './nodes';
const [ask, write] = [new Ask(), new Write()];
export const talk = new Flow({ start: ask })${connections};
`;
const NODES = `
import { Node } from 'farwharf/agents';
export class Ask extends Node { post() { return 'done'; } }
export class Write extends Node {}
`;

let folder = '';
let file = '';
const git = (...argv: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], { encoding: 'utf8' });
const commit = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, 'flows', path), text);
  git('add', '.');
  git('commit', '-qm', name);
  return git('rev-parse', 'HEAD').trim();
};

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-versions-')));
  await mkdir(join(folder, 'flows'));
  file = join(folder, 'flows', 'talk.ts');
  git('init', '-q');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the flow of an old commit is read with the files that it imports, and nothing is checked out', async () => {
  const first = await commit('first version', { 'talk.ts': flow(".connect(ask, null, 'done')"), 'nodes.ts': NODES });
  await commit('connect write', { 'talk.ts': flow(".connect(ask, write, 'done')"), 'nodes.ts': NODES });
  await writeFile(join(folder, 'flows', 'nodes.ts'), NODES.replace("'done'", "'ended'"));
  const before = await readdir(join(folder, '.git'));
  const versions = new VersionReader(new FlowReader());
  assert.deepEqual(
    (await versions.revisions(file)).map(({ subject }) => subject),
    ['connect write', 'first version'],
  );
  const { changes } = await versions.compare(file, first, null);
  assert.deepEqual(
    changes.map(({ kind, node, edge }) => `${kind} ${edge ?? node}`),
    ['changed ask', 'added write', 'changed ask:done'],
  );
  assert.deepEqual((await versions.compare(file, first, first)).changes, []);
  assert.deepEqual(await readdir(join(folder, '.git')), before);
});

test('a file that a revision does not have, and what is no commit, are refused', async () => {
  await commit('nothing', { 'other.ts': '' });
  const first = git('rev-parse', 'HEAD').trim();
  await writeFile(file, flow(''));
  const versions = new VersionReader(new FlowReader());
  assert.deepEqual(await versions.revisions(file), []);
  await assert.rejects(versions.compare(file, first, null), /does not have this file/);
  await assert.rejects(versions.compare(file, '--output=x', null), /full hash of a commit/);
});
