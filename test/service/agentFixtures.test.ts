import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { agentFixtures, AGENT_FIXTURES } from '../unit/flows/agentFixtures.ts';
import { type Finished, jsonLines, Scratch } from './commandLine.ts';
import { startStubModel } from './support/stubModel.ts';

interface End {
  readonly run: string;
  readonly outcome: { readonly type: string; readonly action?: string; readonly shared: Record<string, unknown> };
}

const VARIABLES = ['--env', 'MODEL_URL', '--env', 'MODEL_KEY'];

function endOf({ stdout, stderr }: Finished): End {
  const end = jsonLines(stdout).at(-1) as unknown as End | undefined;
  assert.ok(end?.outcome !== undefined, stderr);
  return end;
}

// One folder with all of them, so that two runs of `flow test` are enough.
describe('agents written from the documentation', { timeout: 10 * 60_000 }, () => {
  let scratch: Scratch;
  let model: Awaited<ReturnType<typeof startStubModel>>;
  let root = '';
  before(async () => {
    scratch = await Scratch.create();
    model = await startStubModel(Object.fromEntries(agentFixtures.map(({ name, replies = [] }) => [name, replies])));
    root = join(scratch.root, 'agents');
    await cp(AGENT_FIXTURES, root, { recursive: true });
  });
  after(async () => {
    await model[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
  });
  const flow = (cwd: string, ...args: string[]): Promise<Finished> =>
    scratch.run(['flow', ...args], { cwd, env: { MODEL_URL: model.url, MODEL_KEY: 'a-key' } });

  describe('each', { concurrency: 2 }, () => {
    for (const { name, file, shared, answers = [], action, result } of agentFixtures) {
      it(`${name} runs, is replayed without a model, and becomes a test`, async () => {
        const cwd = join(root, name);
        const given = shared === undefined ? [] : ['--shared', JSON.stringify(shared)];
        let end = endOf(await flow(cwd, 'run', file, ...given, ...VARIABLES, '--json'));
        for (const answer of answers) {
          assert.equal(end.outcome.type, 'waiting');
          end = endOf(await flow(cwd, 'answer', end.run, '--input', JSON.stringify(answer), '--json'));
        }
        const { outcome } = end;
        assert.deepEqual([outcome.type, outcome.action], ['done', action], JSON.stringify(outcome));
        const part = Object.keys(result).map((key) => [key, outcome.shared[key]]);
        assert.deepEqual(Object.fromEntries(part), result);

        const asked = model.requestsOf(name);
        const replay = await flow(cwd, 'run', file, '--replay', 'last', ...VARIABLES, '--json');
        assert.deepEqual(endOf(replay).outcome, outcome);
        assert.deepEqual(
          jsonLines(replay.stdout).filter(({ type }) => type === 'live'),
          [],
        );
        assert.equal(model.requestsOf(name), asked);

        const pinned = await flow(cwd, 'pin', file, '--run', end.run, ...VARIABLES);
        assert.equal(pinned.exit, 0, pinned.stderr);
      });
    }
  });

  it('their tests pass without a model or a key, and fail after a change of code that a step can reach', async () => {
    const names = agentFixtures.map(({ name, file }) => `${name}/${file.replace(/\.\w+$/, '')}.run.flowtest.json`);
    const passed = await scratch.run(['flow', 'test', '--json'], { cwd: root });
    assert.deepEqual(
      jsonLines(passed.stdout).map(({ test, status }) => [test, status]),
      names.map((test) => [test, 'passed']),
    );
    for (const { name, edit } of agentFixtures) {
      const path = join(root, name, edit.file);
      const text = await readFile(path, 'utf8');
      assert.equal(text.split(edit.find).length, 2, `${name}: ${edit.find}`);
      await writeFile(path, text.replace(edit.find, edit.replace));
    }
    const { stdout } = await scratch.run(['flow', 'test'], { cwd: root });
    const sections = stdout.split('✖ ').slice(1);
    assert.equal(sections.length, names.length, stdout);
    const unexpected = agentFixtures.flatMap(({ red }, index) => {
      const section = sections[index] ?? '';
      return new RegExp(red).test(section) ? [] : [section];
    });
    assert.deepEqual(unexpected, []);
  });
});
