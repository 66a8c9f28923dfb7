import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const FLOW = `
import { Flow, Node } from 'farwharf/agents';
class Score extends Node {
  prep(shared) { return shared.prompt; }
  exec(prompt) { return prompt.length; }
  post(shared, prompt, length) {
    console.log('farwharf:metric ' + JSON.stringify({ step: 1, length }));
    console.log('prompt=' + prompt + ' extra=' + shared.extra);
  }
}
const score = new Score();
const flow = new Flow({ start: score }).connect(score, null);
await flow.run({ prompt: process.argv[2], extra: '' });
`;
const PROMPTS = ['be brief', 'Grüße: "a" $HOME `x`'];
const profile = { script: 'score.mts', arguments: ['${matrix:prompt}'], maxRuntime: 60, matrix: { prompt: PROMPTS } };

test('each job of a sweep runs a flow with its own arguments', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'score.mts': FLOW,
    'farwharf.json': JSON.stringify({ profiles: { nightly: profile } }),
  });
  const dry = await scratch.run(['submit', folder, '--profile', 'nightly', '--dry-run', '--json'], { env });
  assert.match(JSON.stringify(jsonLines(dry.stdout)[0]?.['jobs']), /"script":"score\.mts 'be brief'"/, dry.stderr);

  const args = ['submit', folder, '--profile', 'nightly', '--shared', '{"extra":"all"}', '--watch', '--json'];
  const done = await scratch.run(args, { env });
  assert.equal(done.exit, 0, done.stderr);
  const shown = await scratch.run(['sweep', 'show', String(jsonLines(done.stdout).at(-1)?.['sweep_id']), '--json'], {
    env,
  });
  const { jobs } = jsonLines(shown.stdout).at(-1) as unknown as { jobs: { job_id: string; metrics: object }[] };
  assert.deepEqual(
    jobs.map(({ metrics }) => (metrics as { length?: { last: number } }).length?.last),
    PROMPTS.map((prompt) => prompt.length),
  );
  const log = await scratch.run(['watch', jobs[1]?.job_id ?? ''], { env });
  assert.ok(log.stdout.includes(`prompt=${PROMPTS[1]} extra=all`), log.stdout);
});

test('a sweep of different files, one of which is a flow, and a resumed sweep are refused before anything is sent', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const mixed = { script: '${matrix:file}', maxRuntime: 60, matrix: { file: ['plain.mjs', 'score.mts'] } };
  const folder = await scratch.folder('project', {
    'score.mts': FLOW,
    'plain.mjs': '',
    'farwharf.json': JSON.stringify({ profiles: { mixed, nightly: profile } }),
  });
  const refused = await scratch.run(['submit', folder, '--profile', 'mixed'], { env });
  assert.equal(refused.exit, 2);
  assert.match(
    refused.stderr,
    /The jobs of mixed run 2 different files, and score\.mts is a flow\. Nothing was sent\./,
  );
  const resumed = await scratch.run(['submit', folder, '--profile', 'nightly', '--resume', 'last'], { env });
  assert.equal(resumed.exit, 2);
  assert.match(resumed.stderr, /--resume continues one run, and profile nightly has 2 jobs\. Nothing was sent\./);
});

test('a sweep whose first job is refused does not say that jobs keep running', async () => {
  await using scratch = await Scratch.create();
  const { env, data } = await scratch.serve();
  const twice = { script: 'a.sh ${matrix:n}', maxRuntime: 60, matrix: { n: [1, 2] } };
  const folder = await scratch.folder('project', {
    'a.sh': 'true\n',
    'farwharf.json': JSON.stringify({ profiles: { twice } }),
  });
  const limited = await scratch.run(['admin', 'account', 'limits', 'local', '--upload-gb', '0', '--data', data]);
  assert.equal(limited.exit, 0, limited.stderr);
  const refused = await scratch.run(['submit', folder, '--profile', 'twice'], { env });
  assert.equal(refused.exit, 1, refused.stderr);
  assert.match(refused.stderr, /^None of the 2 jobs was sent\.$/m);
});
