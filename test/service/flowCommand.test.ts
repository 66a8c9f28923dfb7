import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import { interruptAt, Scratch, until } from './commandLine.ts';
import { COUNTER } from './support/flowChild.ts';

// Its model is a function in the file, so a run costs nothing and needs no key; `calls.txt` says how often it was asked.
const ASKING = `
import { appendFileSync } from 'node:fs';
import { Flow, LLMClient, Node } from 'farwharf/agents';
const model = new LLMClient({ baseUrl: 'http://model.invalid/v1', model: 'm', async fetch(url, init) {
  appendFileSync('calls.txt', '.');
  const { messages } = JSON.parse(init.body);
  const content = 'answer to ' + messages.at(-1).content;
  return Response.json({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 5 } });
} });
class Ask extends Node {
  prep(shared) { return shared.topic; }
  exec(topic) { return model.ask('about ' + topic); }
  post(shared, _, answer) { shared.answer = answer; }
}
class Shout extends Node {
  prep(shared) { return shared.answer; }
  exec(answer) { return answer + '!'; }
  post(shared, _, text) { shared.text = text; }
}
const [ask, shout] = [new Ask(), new Shout()];
export const talk = new Flow({ start: ask, name: 'Talk' }).connect(ask, shout).connect(shout, null);
`;

// Asks twice: the first question has choices, the second a schema.
const REVIEW = `
import * as z from 'zod';
import { Flow, Node, pause } from 'farwharf/agents';
class Review extends Node {
  post(shared) { shared.log = [...(shared.log ?? []), 'asked']; return pause({ question: 'Publish it?', choices: ['yes', 'no'] }); }
  answer(shared, input) {
    shared.log.push(input);
    return input === 'yes' ? pause({ question: 'To whom?', input: z.object({ list: z.array(z.string()).min(1) }) }) : 'stop';
  }
}
class Ask extends Node {
  post() { return pause({ question: 'To whom?', input: z.object({ list: z.array(z.string()).min(1) }) }); }
  answer(shared, { list }) { shared.list = list; }
}
const [review, ask] = [new Review(), new Ask()];
export const flow = new Flow({ start: review, name: 'Publish' }).connect(review, ask, 'stop').connect(ask, null);
`;

const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

describe('farwharf flow', { concurrency: 2, timeout: 10 * 60_000 }, () => {
  it('answer continues a run that waits, once, with an answer that is allowed', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'review.mjs': REVIEW });
    const flow = (...args: string[]) => scratch.run(['flow', ...args], { cwd });
    const runs = async () => {
      const { stdout } = await flow('runs', 'review.mjs', '--json');
      return (JSON.parse(stdout) as { runs: { id: string; state: string; question?: string; choices?: string[] }[] })
        .runs;
    };
    const first = await flow('run', 'review.mjs');
    assert.equal(first.exit, 0, first.stderr);
    assert.match(first.stderr, /waits at Publish\/Review: Publish it\? \(yes, no\).*\n.*farwharf flow answer \d+-/);
    const [waiting] = await runs();
    assert.ok(waiting);
    const { id, state, question, choices } = waiting;
    assert.deepEqual(
      { state, question, choices },
      { state: 'waiting', question: 'Publish it?', choices: ['yes', 'no'] },
    );

    const wrong = await flow('answer', id, '--input', '"maybe"');
    assert.equal(wrong.exit, 2);
    assert.match(wrong.stderr, /"maybe" is not one of "yes", "no"/);
    assert.equal((await flow('answer', id, '--input', 'yes')).exit, 2);
    assert.deepEqual(
      (await runs()).map((run) => run.state),
      ['waiting'],
    );

    const second = await flow('answer', id, '--input', '"no"');
    assert.equal(second.exit, 0, second.stderr);
    assert.match(second.stderr, /waits at Publish\/Ask: To whom\?/);
    const [next, before] = await runs();
    assert.deepEqual([next?.state, before?.state], ['waiting', 'answered']);
    assert.equal((await flow('answer', id, '--input', '"no"')).exit, 1);
    assert.equal((await flow('answer', next?.id ?? '', '--input', '{"list":[]}')).exit, 2);
    const last = await flow('answer', next?.id ?? '', '--input', '{"list":["a"]}', '--json');
    assert.equal(last.exit, 0, last.stderr);
    const end = linesOf(last.stdout).at(-1) as { outcome: { type: string; shared: unknown } };
    assert.deepEqual(end.outcome.shared, { log: ['asked', 'no'], list: ['a'] });
    assert.match((await flow('answer', 'nothing', '--input', '1')).stderr, /No run "nothing" on this machine/);
  });

  it('run --node runs one node again and prints what it did beside what was recorded', async () => {
    await using scratch = await Scratch.create();
    const text =
      "import { Flow, Node } from 'farwharf/agents';\nclass Add extends Node { prep(s) { return s.n; } exec(n) { return n + 1; } post(s, _, n) { s.n = n; } }\nconst add = new Add();\nexport const flow = new Flow({ start: add, name: 'Sum' }).connect(add, null);\n";
    const cwd = await scratch.folder('flows', { 'sum.mjs': text });
    const run = (...args: string[]) => scratch.run(['flow', 'run', 'sum.mjs', ...args], { cwd });
    assert.equal((await run('--shared', '{"n":1}')).exit, 0);
    await writeFile(join(cwd, 'sum.mjs'), text.replace('n + 1', 'n + 10'));
    const again = await run('--node', 'Add');
    assert.equal(again.exit, 0, again.stderr);
    assert.match(
      again.stdout,
      /^recorded:\n {2}action default, .*\n {2}output 2\n {2}shared\.n: 1 -> 2\nnow:\n.*\n {2}output 11\n/,
    );
    const [line] = linesOf((await run('--node', 'Add', '--shared', '{"n":5}', '--json')).stdout).slice(-1);
    assert.equal((line as { now: { output: string } }).now.output, '15');
    assert.equal((await run('--node', 'Add', '--replay', 'last')).exit, 2);
  });

  it('run refuses a trace that has no folder before it calls a model', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'talk.mjs': ASKING });
    const run = await scratch.run(['flow', 'run', 'talk.mjs', '--trace', 'no/trace.jsonl'], { cwd });
    assert.equal(run.exit, 2, run.stderr);
    assert.match(
      run.stderr,
      /The folder .*no for the trace does not exist\. Create it, or choose another\. Nothing was run\./,
    );
    assert.equal(existsSync(join(cwd, 'calls.txt')), false);
  });

  it('run keeps the run, replays it free with only edited nodes live, and begins again at a node', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'talk.mjs': ASKING });
    const calls = async (): Promise<number> => (await readFile(join(cwd, 'calls.txt'), 'utf8')).length;
    const first = await scratch.run(['flow', 'run', 'talk.mjs', '--shared', '{"topic":"tides"}'], { cwd });
    assert.equal(first.exit, 0, first.stderr);
    assert.match(first.stderr, /Talk\/Ask -> default, .*1 model call, 15 tokens/);
    assert.match(first.stderr, /done, after .* · run \d+-/);
    assert.equal(await calls(), 1);

    // The input is that of the replayed run. A replay that fails is not the last run.
    const failing = ASKING.replace("return answer + '!'", "throw new Error('no ' + answer)");
    await writeFile(join(cwd, 'talk.mjs'), failing);
    assert.equal((await scratch.run(['flow', 'run', 'talk.mjs', '--replay', 'last'], { cwd })).exit, 1);
    await writeFile(join(cwd, 'talk.mjs'), ASKING);
    const replay = await scratch.run(['flow', 'run', 'talk.mjs', '--replay', 'last'], { cwd });
    assert.match(replay.stderr, /Talk\/Ask -> default, .* recorded\n.*Talk\/Shout -> default, .* recorded/);
    assert.equal(await calls(), 1);

    await writeFile(join(cwd, 'talk.mjs'), ASKING.replace("answer + '!'", "answer + '?'"));
    const args = ['flow', 'run', 'talk.mjs', '--replay', 'last', '--shared', '{"topic":"tides"}', '--json'];
    const edited = await scratch.run(args, { cwd });
    const events = linesOf(edited.stdout) as {
      type: string;
      path?: string;
      reason?: string;
      outcome?: { shared: unknown };
    }[];
    assert.deepEqual(
      events.filter(({ type }) => type === 'live').map(({ path, reason }) => [path, reason]),
      [['Talk/Shout', 'code']],
    );
    const state = { topic: 'tides', answer: 'answer to about tides' };
    assert.deepEqual(events.at(-1)?.outcome?.shared, { ...state, text: 'answer to about tides?' });
    assert.equal(await calls(), 1);

    await writeFile(join(cwd, 'talk.mjs'), ASKING.replace("answer + '!'", "answer + ' again'"));
    // The second time, the last run is one that began there itself.
    for (const _ of [1, 2]) {
      const again = await scratch.run(['flow', 'run', 'talk.mjs', '--from', 'Shout', '--json'], { cwd });
      const outcome = (linesOf(again.stdout) as { outcome?: { shared: unknown } }[]).at(-1)?.outcome;
      assert.deepEqual(outcome?.shared, { ...state, text: 'answer to about tides again' });
      assert.equal(await calls(), 1);
    }

    const runs = await scratch.run(['flow', 'runs', 'talk.mjs'], { cwd });
    assert.equal(runs.stdout.trim().split('\n').length, 7, runs.stdout);
    const unknown = await scratch.run(['flow', 'run', 'talk.mjs', '--from', 'Whisper'], { cwd });
    assert.equal(unknown.exit, 2);
    assert.match(unknown.stderr, /has no step "Whisper". Its steps are at Talk\/Shout/);
  });

  it('pin makes a test that runs offline, shows an edited result as a difference, and is updated', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'talk.mjs': ASKING });
    await scratch.run(['flow', 'run', 'talk.mjs', '--shared', '{"topic":"tides"}'], { cwd });
    const pinned = await scratch.run(['flow', 'pin', 'talk.mjs', '--name', 'tides'], { cwd });
    assert.equal(pinned.stdout, 'talk.tides.flowtest.json\n', pinned.stderr);
    const run = (...flags: string[]) => scratch.run(['flow', 'test', ...flags], { cwd });

    const passed = await run();
    assert.equal(passed.exit, 0, passed.stdout);
    assert.match(passed.stdout, /^✔ talk\.tides\.flowtest\.json/);

    // An edited node runs; what it asks the model as before is answered from the test.
    await writeFile(
      join(cwd, 'talk.mjs'),
      ASKING.replace("model.ask('about ' + topic)", "model.ask('about ' + topic).then((a) => a.toUpperCase())"),
    );
    const failed = await run();
    assert.equal(failed.exit, 1);
    assert.match(failed.stdout, /Talk\/Ask ran live: its code changed/);
    assert.match(failed.stdout, /shared\.answer\n +- "answer to about tides"\n +\+ "ANSWER TO ABOUT TIDES"/);
    assert.equal((await readFile(join(cwd, 'calls.txt'), 'utf8')).length, 1);

    const updated = await run('--update', '--json');
    assert.deepEqual(
      (linesOf(updated.stdout) as { status: string }[]).map(({ status }) => status),
      ['updated'],
    );
    assert.equal((await run()).exit, 0);

    // Another question has no answer in the test, and the network is closed.
    await writeFile(join(cwd, 'talk.mjs'), ASKING.replace("'about '", "'all about '"));
    assert.match((await run()).stdout, /The recording has no reply of .* for this request.*all about tides/);

    // A failure is not accepted.
    const before = await readFile(join(cwd, 'talk.tides.flowtest.json'), 'utf8');
    await writeFile(join(cwd, 'talk.mjs'), ASKING.replace("answer + '!'", 'answer.no.harbour'));
    const refused = await run('--update');
    assert.equal(refused.exit, 1);
    assert.match(refused.stdout, /- no error\n +\+ Cannot read/);
    assert.equal(await readFile(join(cwd, 'talk.tides.flowtest.json'), 'utf8'), before);

    const damages: readonly [string, RegExp][] = [
      [before.slice(0, -20), /it is not valid JSON\. .*position \d+/],
      [before.replace('"version": 1', '"version": 2'), /"version" is not as expected\. .*expected 1/],
    ];
    for (const [text, says] of damages) {
      await writeFile(join(cwd, 'talk.tides.flowtest.json'), text);
      const broken = await run();
      assert.equal(broken.exit, 1);
      assert.match(broken.stdout, says);
      assert.match(
        broken.stdout,
        /talk\.tides\.flowtest\.json cannot be used: .* Restore the file from your version control/,
      );
      assert.doesNotMatch(broken.stderr, /--update/);
    }
  });

  it('a test notes the keys that differ from run to run, and fits in another folder', async () => {
    await using scratch = await Scratch.create();
    const text = ASKING.replace(
      'shared.text = text;',
      'shared.text = text; shared.at = performance.now(); shared.here = import.meta.dirname;',
    );
    const cwd = await scratch.folder('flows', { 'talk.mjs': text });
    await scratch.run(['flow', 'run', 'talk.mjs'], { cwd });
    const pinned = await scratch.run(['flow', 'pin', 'talk.mjs'], { cwd });
    assert.equal(pinned.exit, 0, pinned.stderr);
    const json = await readFile(join(cwd, 'talk.run.flowtest.json'), 'utf8');
    assert.deepEqual((JSON.parse(json) as { ignore: string[] }).ignore, ['at']);
    assert.equal(json.includes(cwd), false);
    const elsewhere = await scratch.folder('elsewhere', { 'talk.mjs': text, 'talk.run.flowtest.json': json });
    const { exit, stdout } = await scratch.run(['flow', 'test', elsewhere], { cwd: scratch.root });
    assert.equal(exit, 0, stdout);
  });

  it('the network is closed in a test', async () => {
    await using scratch = await Scratch.create();
    const file = `import { Flow, Node } from 'farwharf/agents';
class Get extends Node { post(shared) { return fetch('http://127.0.0.1:64999/').catch((error) => { shared.why = String(error.cause?.message); }); } }
export const get = new Flow({ start: new Get() });`;
    const cwd = await scratch.folder('flows', { 'get.mjs': file });
    await scratch.run(['flow', 'run', 'get.mjs'], { cwd });
    await scratch.run(['flow', 'pin', 'get.mjs'], { cwd });
    const test = JSON.parse(await readFile(join(cwd, 'get.run.flowtest.json'), 'utf8')) as { ignore: string[] };
    assert.deepEqual(test.ignore, ['why']);
    await writeFile(join(cwd, 'get.run.flowtest.json'), JSON.stringify({ ...test, ignore: [] }));
    const { stdout } = await scratch.run(['flow', 'test'], { cwd });
    assert.match(stdout, /\+ "The network is closed/);
  });

  it('exit statuses, traces and bad input are as promised', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'counter.mjs': COUNTER,
      'fails.mjs': COUNTER.replace('return count + 1;', "throw new Error('no harbour');"),
      'state.json': '{"goal":1}',
    });
    const run = (...args: string[]) => scratch.run(['flow', 'run', ...args], { cwd });
    const traced = await run('counter.mjs', '--shared', '@state.json', '--trace', 'trace.jsonl');
    assert.equal(traced.exit, 0);
    const trace = linesOf(await readFile(join(cwd, 'trace.jsonl'), 'utf8')) as { type: string }[];
    assert.deepEqual([trace[0]?.type, trace.at(-1)?.type], ['run-start', 'run-end']);
    const failed = await run('fails.mjs');
    assert.equal(failed.exit, 1);
    assert.match(failed.stderr, /failed at Counter\/Add: no harbour \(.*fails\.mjs:\d+:\d+\)/);
    for (const args of [
      ['gone.mjs'],
      ['counter.mjs', '--shared', '[1]'],
      ['counter.mjs', '--shared', '{'],
      ['state.json'],
    ]) {
      assert.equal((await run(...args)).exit, 2, args.join(' '));
    }
    assert.equal((await scratch.run(['flow', 'test'], { cwd })).exit, 2);
  });

  it('Ctrl+C ends the flow and its children, and the run is kept as stopped', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'endless.mjs': `import { Flow, Node } from 'farwharf/agents'; import { spawn } from 'node:child_process';
class Wait extends Node { exec() { const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }); console.log(child.pid); return new Promise(() => setInterval(() => {}, 1000)); } }
export const flow = new Flow({ start: new Wait() });`,
    });
    const { exit, stdout } = await scratch.run(['flow', 'run', 'endless.mjs'], { cwd, onOutput: interruptAt('\n') });
    assert.equal(exit, 130);
    assert.equal(processIdentity(Number(stdout)), undefined);
    const [record] = await new RunHistory(scratch.home).list(join(cwd, 'endless.mjs'));
    assert.deepEqual(record?.outcome, { type: 'stopped' });
  });

  it('a program that runs a flow is listed with it, and takes it along when it is killed', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'endless.mjs': `import { Flow, Node } from 'farwharf/agents';
class Wait extends Node { exec() { console.log(process.pid); return new Promise(() => setInterval(() => {}, 1000)); } }
export const flow = new Flow({ start: new Wait() });`,
    });
    const list = async (flags: readonly string[] = []): Promise<string> =>
      (await scratch.run(['flow', 'runs', 'endless.mjs', ...flags], { cwd })).stdout;
    const listed: string[] = [];
    let isRunning = false;
    const { stdout } = await scratch.run(['flow', 'run', 'endless.mjs'], {
      cwd,
      onOutput: ({ stdout: printed }, interrupt) => {
        if (isRunning || !printed.includes('\n')) return;
        isRunning = true;
        void (async () => {
          listed.push(await list(), await list(['--json']));
          interrupt('SIGKILL');
        })();
      },
    });
    await until(() => processIdentity(Number(stdout)) === undefined);
    assert.match(listed[0] ?? '', / runs now\n/);
    assert.match(listed[1] ?? '', /"state":"running"/);
    assert.match(await list(), /has no recorded end: the program that ran it was terminated/);
    assert.match(await list(['--json']), /"state":"terminated"/);
  });
});

it('of a file the newest runs are kept, within a number and a size', async () => {
  await using scratch = await Scratch.create();
  const history = new RunHistory(scratch.home, { runs: 3, bytes: 2_500 });
  const file = join(scratch.root, 'flow.ts');
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const { record, folder } = await history.begin({ file });
    await writeFile(folder.trace, 'x'.repeat(900));
    ids.push(record.id);
  }
  assert.deepEqual(
    (await history.list(file)).map(({ id }) => id),
    ids.toReversed().slice(0, 3),
  );
  await history.delete(file, ids.at(-1) ?? '');
  assert.equal((await history.list(file)).length, 2);
  await assert.rejects(history.find(file, 'nothing'), /has no run "nothing"/);
  assert.equal((await readdir(join(scratch.home, 'flows'))).length, 1);
});

it('runs names all flows that a file has run, and shows steps and models of all', async () => {
  await using scratch = await Scratch.create();
  const text = `${ASKING}export const second = new Flow({ start: shout, name: 'Second' }).connect(shout, null);
    await talk.run({ topic: 'tides' });\nawait second.run({ answer: 'x' });`;
  const cwd = await scratch.folder('flows', { 'both.mjs': text });
  assert.equal((await scratch.run(['flow', 'run', 'both.mjs', '--flow', 'second'], { cwd })).exit, 0);
  const { stdout } = await scratch.run(['flow', 'runs', 'both.mjs', '--json'], { cwd });
  const { runs } = JSON.parse(stdout) as { runs: { name: string; others: string[]; usage: { calls: number } }[] };
  assert.deepEqual(
    runs.map(({ name, others, usage }) => [name, others, usage.calls]),
    [['Second', ['Talk'], 1]],
  );
});

it('test runs a node live whose helper has changed, and names the file of the helper', async () => {
  await using scratch = await Scratch.create();
  const text = ASKING.replace("answer + '!'", 'loud(answer)').replace(
    'import { Flow',
    "import { loud } from './lib/shout.mjs';\nimport { Flow",
  );
  const helper = 'export const loud = (text) => text + "!";';
  const cwd = await scratch.folder('flows', { 'talk.mjs': text, 'lib/shout.mjs': helper });
  const run = ['flow', 'run', 'talk.mjs', '--shared', '{"topic":"tides"}'];
  assert.equal((await scratch.run(run, { cwd })).exit, 0);
  assert.equal((await scratch.run(['flow', 'pin', 'talk.mjs'], { cwd })).exit, 0);
  assert.equal((await scratch.run(['flow', 'test'], { cwd })).exit, 0);
  await writeFile(join(cwd, 'lib/shout.mjs'), helper.replace('"!"', '"?"'));
  const failed = await scratch.run(['flow', 'test'], { cwd });
  assert.equal(failed.exit, 1);
  assert.match(failed.stdout, /Talk\/Shout ran live: its code changed \(lib\/shout\.mjs\)/);
  assert.doesNotMatch(failed.stdout, /Talk\/Ask/);
  const replay = await scratch.run(['flow', 'run', 'talk.mjs', '--replay', 'last'], { cwd });
  assert.match(replay.stderr, /Talk\/Shout -> default, .*ran live: its code changed \(lib\/shout\.mjs\)/);
  assert.equal((await scratch.run(['flow', 'test', '--update'], { cwd })).exit, 0);
  assert.equal((await scratch.run(['flow', 'test'], { cwd })).exit, 0);
});
