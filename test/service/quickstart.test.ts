import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryExamples } from '../../scripts/trackedFiles.ts';
import { Scratch } from './commandLine.ts';

const ROOT = join(import.meta.dirname, '../..');
const QUICKSTART = join(temporaryExamples(), 'quickstart');
const BUILT = join(ROOT, 'dist', 'cli.mjs');
const RESULTS = ['loss.png', 'metrics.json', 'samples.txt'];

test('the quickstart trains as a job of the built command, and its results come home', async (t) => {
  if (!existsSync(BUILT)) {
    t.skip('dist/ IS NOT BUILT: npm run build');
    return;
  }
  await using scratch = await Scratch.create();
  // On a busy machine little is learned in three seconds; then it trains for longer.
  let trained = await trainFor(scratch, 3);
  while (!hasLearned(trained) && trained.seconds < 60) trained = await trainFor(scratch, 5 * trained.seconds);
  assert.ok(hasLearned(trained), JSON.stringify(trained.metrics));
  const { folder } = trained;
  const picture = await readFile(join(folder, 'loss.png'));
  assert.equal(picture.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [960, 540]);
  assert.match(await readFile(join(folder, 'samples.txt'), 'utf8'), /-- temperature 0\.7 --\n\n\S/);

  const again = await scratch.run(['submit', folder, '--dry-run'], { main: BUILT });
  for (const name of RESULTS) assert.doesNotMatch(again.stdout, new RegExp(name.replace('.', '\\.')));
});

interface Trained {
  readonly seconds: number;
  readonly folder: string;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Trains as a job, on a copy of the example, and gives what came home. */
async function trainFor(scratch: Scratch, seconds: number): Promise<Trained> {
  const folder = join(scratch.root, `quickstart-${seconds}`);
  await cp(QUICKSTART, folder, { recursive: true });
  const args = ['submit', folder, '--script', `train.mjs --seconds ${seconds}`, '--watch', '--download'];
  const done = await scratch.run(args, { main: BUILT });
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stdout, /step +loss +held out/);
  const metrics = JSON.parse(await readFile(join(folder, 'metrics.json'), 'utf8')) as Trained['metrics'];
  return { seconds, folder, metrics };
}

/** Whether the model guesses texts that it has not seen much better than blindly. */
function hasLearned({ metrics: { blind_guess: blind = 0, held_out_loss: heldOut = Infinity } }: Trained): boolean {
  return heldOut < blind - 0.5;
}

test('the training says what is missing when there is no text, or too little', async () => {
  await using scratch = await Scratch.create();
  const train = (folder: string) =>
    spawnSync(process.execPath, [join(QUICKSTART, 'train.mjs'), '--folder', folder], { cwd: folder, encoding: 'utf8' });
  const none = train(await scratch.folder('none', { 'picture.png': '' }));
  assert.equal(none.status, 1);
  assert.match(none.stderr, /^There is no text to learn from: put one or more \.txt files into .*none\.\n$/);
  const little = train(await scratch.folder('little', { 'a.txt': 'a few words' }));
  assert.equal(little.status, 1);
  assert.match(little.stderr, /too little text.*11 characters/);
});
