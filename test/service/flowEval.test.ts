// `farwharf flow eval` through the built command, with a judge behind a real HTTP server.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import { interruptAt, Scratch } from './commandLine.ts';

const TALK = `import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { Flow, Node } from 'farwharf/agents';
class Ask extends Node {
  prep({ question }) { return question; }
  async exec(question) {
    if (question === 'crash') throw new Error('no harbour');
    while (question === 'wait' && !existsSync('pid')) await new Promise((resolve) => setTimeout(resolve, 10));
    if (question === 'hang') {
      writeFileSync('pid.tmp', String(process.pid));
      renameSync('pid.tmp', 'pid');
      await new Promise(() => setInterval(() => {}, 1000));
    }
    return question.toUpperCase();
  }
  post(shared, _question, answer) { shared.answer = answer; }
}
const ask = new Ask();
export const talk = new Flow({ start: ask, name: 'Talk' }).connect(ask, null);
`;

const CASES = [
  { expect: { answer: { $schema: { type: 'string', maxLength: 10 } } } },
  { name: 'same', shared: { question: 'a' }, expect: { answer: 'A' } },
  { shared: { question: 'b 12' }, expect: { answer: { $matches: '\\d+$' } } },
  { name: 'crash', shared: { question: 'crash' }, expect: { answer: 'CRASH' } },
];
const lines = (rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join('\n');
const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

interface End {
  readonly eval: string;
  readonly cases: number;
  readonly passed: number;
  readonly cost?: number;
  readonly against?: string;
  readonly changes: readonly { readonly name: string; readonly check: string }[];
}
const endOf = (text: string): End => linesOf(text).at(-1) as End;

describe('farwharf flow eval', { concurrency: 2, timeout: 5 * 60_000 }, () => {
  it('prints cases and scores, records each case as a run, and compares with the eval before', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'talk.mjs': TALK, 'cases.jsonl': lines(CASES) });
    const first = await scratch.run(['flow', 'eval', 'talk.mjs', '--data', 'cases.jsonl'], { cwd });
    assert.equal(first.exit, 1, first.stderr);
    assert.match(first.stdout, /^CASE +answer schema +answer +answer matches +TIME\n✔ same +✔ +✔ /);
    assert.match(first.stdout, /✔ line 3 +✔ +✔/);
    assert.match(first.stdout, /✖ crash · run \S+\n {4}failed at Talk\/Ask: no harbour \(.*talk\.mjs:6:\d+\)/);
    assert.match(first.stderr, /2 of 3 cases passed, .* · eval \d/);
    const history = new RunHistory(scratch.home);
    const runs = await history.list(join(cwd, 'talk.mjs'));
    assert.deepEqual(runs.map(({ evalCase }) => evalCase?.name ?? '').toSorted(), ['crash', 'line 3', 'same']);

    await writeFile(
      join(cwd, 'talk.mjs'),
      TALK.replace("if (question === 'crash')", "if (question === 'never')").replace('toUpperCase()', 'toLowerCase()'),
    );
    const second = await scratch.run(['flow', 'eval', 'talk.mjs', '--data', 'cases.jsonl', '--json'], { cwd });
    assert.equal(second.exit, 1);
    const end = endOf(second.stdout);
    assert.equal(linesOf(second.stdout).length, 4);
    assert.deepEqual([end.cases, end.passed], [3, 1]);
    assert.deepEqual(end.changes, [{ name: 'same', check: 'answer', before: 1, after: 0 }]);
    const enough = await scratch.run(['flow', 'eval', 'talk.mjs', '--data', 'cases.jsonl', '--min', '30'], { cwd });
    assert.equal(enough.exit, 0, enough.stdout);
    const against = ['flow', 'eval', 'talk.mjs', '--data', 'cases.jsonl', '--against', end.eval, '--json'];
    const third = endOf((await scratch.run(against, { cwd })).stdout);
    assert.equal(third.against, end.eval);
    assert.deepEqual(third.changes, []);
  });

  it('a judge is asked with the prompt of the file, and its verdict and cost are reported', async (t) => {
    await using scratch = await Scratch.create();
    const prompts: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        const { messages } = JSON.parse(body) as { messages: { content: string }[] };
        prompts.push(messages.at(-1)?.content ?? '');
        const content = JSON.stringify({ score: prompts.length === 1 ? 0.9 : 0.2, reason: 'Because.' });
        const message = { role: 'assistant', content };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const judge = { prompt: 'Is {{answer}} loud?', baseUrl: `http://127.0.0.1:${port}/v1`, model: 'j' };
    const rows = [
      { expect: { answer: { $judge: judge } } },
      { shared: { question: 'a' } },
      { shared: { question: 'b' } },
    ];
    const cwd = await scratch.folder('flows', { 'talk.mjs': TALK, 'cases.jsonl': lines(rows) });
    const flags = ['--data', 'cases.jsonl', '--concurrency', '1'];
    const { exit, stdout, stderr } = await scratch.run(['flow', 'eval', 'talk.mjs', ...flags], { cwd });
    assert.equal(exit, 1, stderr);
    assert.deepEqual(prompts, ['Is <value>A</value> loud?', 'Is <value>B</value> loud?']);
    assert.match(stdout, /✔ line 2 +✔ 0\.90/);
    assert.match(stdout, /✖ line 3 +✖ 0\.20/);
    assert.match(stdout, /answer judge: Because\./);
  });

  it('bad rows, a flow that cannot run and an unknown eval are refused before anything is recorded', async () => {
    await using scratch = await Scratch.create();
    const files = {
      'talk.mjs': TALK,
      'none.mjs': 'export const a = 1;',
      'cases.csv': 'question\na\n',
      'bad.csv': 'question\na,b\n',
    };
    const cwd = await scratch.folder('flows', files);
    const run = (...args: string[]) => scratch.run(['flow', 'eval', ...args], { cwd });
    const bad = await run('talk.mjs', '--data', 'bad.csv');
    assert.equal(bad.exit, 2);
    assert.match(bad.stderr, /bad\.csv:2: it has 2 fields, but the header has 1/);
    const none = await run('none.mjs', '--data', 'cases.csv');
    assert.equal(none.exit, 2);
    assert.match(none.stderr, /exports no flow/);
    const unknown = await run('talk.mjs', '--data', 'cases.csv', '--against', 'x');
    assert.equal(unknown.exit, 2);
    assert.match(unknown.stderr, /has no eval "x"/);
    const history = new RunHistory(scratch.home);
    assert.deepEqual(await history.list(join(cwd, 'talk.mjs')), []);
    assert.deepEqual(await history.list(join(cwd, 'none.mjs')), []);
  });

  it('a case that never ends fails at its limit, and Ctrl+C leaves nothing running', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'talk.mjs': TALK, 'cases.csv': 'question\nhang\n' });
    const args = ['flow', 'eval', 'talk.mjs', '--data', 'cases.csv'];
    const limited = await scratch.run([...args, '--timeout', '1'], { cwd });
    assert.equal(limited.exit, 1);
    assert.match(limited.stdout, /took longer than 1(?:\.0)? s/);
    // On a busy machine the limit may have ended the case before its step began.
    await rm(join(cwd, 'pid'), { force: true });
    await writeFile(join(cwd, 'cases.csv'), 'question\nwait\nhang\n');
    const { exit } = await scratch.run([...args, '--json'], { cwd, onOutput: interruptAt('"name":"line 2"') });
    assert.equal(exit, 130);
    assert.equal(processIdentity(Number(await readFile(join(cwd, 'pid'), 'utf8'))), undefined);
  });

  it('runs of evals do not displace the runs that people started, and are not the last run', async () => {
    await using scratch = await Scratch.create();
    const rows = Array.from({ length: 3 }, (_, index) => ({ shared: { question: `q${index}` } }));
    const cwd = await scratch.folder('flows', { 'talk.mjs': TALK, 'cases.jsonl': lines(rows) });
    await scratch.run(['flow', 'run', 'talk.mjs', '--shared', '{"question":"mine"}'], { cwd });
    await scratch.run(['flow', 'eval', 'talk.mjs', '--data', 'cases.jsonl'], { cwd });
    const history = new RunHistory(scratch.home, { runs: 1, bytes: 1e9 });
    const file = join(cwd, 'talk.mjs');
    assert.deepEqual((await history.find(file, 'last')).shared, { question: 'mine' });
    await history.begin({ file, evalCase: { data: 'd', line: 1, name: 'n' } });
    assert.equal((await history.list(file)).length, 5);
    await history.begin({ file });
    assert.equal((await history.list(file)).filter(({ evalCase }) => evalCase === undefined).length, 1);
  });
});
