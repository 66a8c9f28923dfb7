import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryExamples } from '../../scripts/trackedFiles.ts';
import { FlowJob } from '../../src/flows/run/start/flowJob.ts';
import type { RunEvent } from '../../src/flows/run/protocol/runEvent.ts';
import { readEvents } from '../../src/flows/run/history/runFiles.ts';
import { runFolder } from '../../src/flows/run/history/runFolder.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import { timelinesOf } from '../../src/flows/run/protocol/runTimeline.ts';
import { type Finished, Scratch } from './commandLine.ts';
import { built } from './support/built.ts';
import { COUNTER } from './support/flowChild.ts';

interface Event {
  readonly event?: string;
  readonly data?: { readonly text?: string } & Record<string, unknown>;
}

describe('a flow as a job', { timeout: 10 * 60_000 }, () => {
  let scratch: Scratch;
  let main: string;

  before(async () => {
    scratch = await Scratch.create();
    main = built('cli.mjs');
  });
  after(() => scratch[Symbol.asyncDispose]());

  const submit = async (cwd: string, ...flags: string[]): Promise<Finished & { events: Event[] }> => {
    const finished = await scratch.run(['submit', '--watch', '--json', ...flags], { cwd, main });
    const lines = finished.stdout.trim().split('\n');
    return { ...finished, events: lines.map((line) => JSON.parse(line) as Event) };
  };
  const flowEvents = (events: readonly Event[]): RunEvent[] =>
    events.flatMap(({ event, data }) => (event === 'flow' ? [data as unknown as RunEvent] : []));
  const logOf = (events: readonly Event[]): string =>
    events.map(({ event, data }) => (event === 'log' ? (data?.text ?? '') : '')).join('');

  it('runs without the library being installed there, and its steps come as flow events and not in the log', async () => {
    const text = COUNTER.replace('return count + 1;', "console.log('counting'); return count + 1;");
    const cwd = await scratch.folder('counter', { 'counter.mjs': text });
    const { exit, events, stderr } = await submit(cwd, '--script', 'counter.mjs', '--shared', '{"goal":2}');
    assert.equal(exit, 0, stderr + logOf(events));
    const [timeline] = timelinesOf(flowEvents(events));
    assert.deepEqual(
      timeline?.steps.filter(({ type }) => type === 'node').map(({ path, action }) => `${path} ${action}`),
      ['Counter/Add again', 'Counter/Add enough', 'Counter/Tell undefined'],
    );
    assert.deepEqual(timeline?.stateAfter(2), { goal: 2, count: 2, text: 'counted to 2' });
    assert.equal(logOf(events), 'counting\ncounting\nfarwharf: counter.mjs: done\n');
  });

  it('says how a package that is missing there gets there', async () => {
    const cwd = await scratch.folder('packages', { 'counter.mjs': `import 'left-out';\n${COUNTER}` });
    const { exit, events } = await submit(cwd, '--script', 'counter.mjs');
    assert.equal(exit, 1);
    assert.match(
      logOf(events),
      /the package "left-out", which is not installed on the machine of this job\. Install it in the folder and send it along \(--include node_modules\)/,
    );
  });

  it('continues with edited code where a failed job stopped, and repeats no call of a tool', async () => {
    const agent = `
import { LLMClient, tool } from 'farwharf/agents';
import * as z from 'zod';
const mail = tool({ name: 'mail', description: 'Mails.', input: z.object({}), run: () => console.log('mailed') });
const calls = [{ id: 'c', type: 'function', function: { name: 'mail', arguments: '{}' } }];
const model = new LLMClient({
  baseUrl: 'http://model.invalid/v1',
  model: 'm',
  fetch: async (_url, { body }) => {
    const isDone = JSON.parse(body).messages.length > 1;
    const message = { role: 'assistant', content: isDone ? 'Done.' : null, ...(!isDone && { tool_calls: calls }) };
    return Response.json({ choices: [{ index: 0, finish_reason: 'stop', message }] });
  },
});
`;
    const toolLoop = "await model.runTools([{ role: 'user', content: 'x' }], [mail]);";
    const withAgent = `${agent}${COUNTER}`.replace(
      /exec\(count\) \{(?=\s*return 'counted)/,
      `async exec(count) { ${toolLoop}`,
    );
    const text = withAgent.replace("return 'counted to ' + count;", "throw new Error('no harbour');");
    const cwd = await scratch.folder('resume', { 'counter.mjs': text });
    const failed = await submit(cwd, '--script', 'counter.mjs', '--shared', '{"goal":3}', '--download');
    assert.equal(failed.exit, 1);
    assert.match(logOf(failed.events), /failed at Counter\/Tell: no harbour/);
    assert.match(logOf(failed.events), /^mailed$/m);
    const runs = join(cwd, 'artifacts/farwharf-flow/counter.mjs');
    const run = join(runs, (await readdir(runs))[0] ?? '');
    const record = JSON.parse(await readFile(join(run, 'run.json'), 'utf8')) as { outcome: { type: string } };
    assert.equal(record.outcome.type, 'failed');
    const history = new RunHistory(scratch.home);
    const adopted = await history.adopt(join(cwd, 'counter.mjs'), runFolder(run));
    assert.equal((await history.find(join(cwd, 'counter.mjs'), 'last')).id, adopted.id);
    assert.match(adopted.job ?? '', /./);

    await writeFile(join(cwd, 'counter.mjs'), withAgent);
    const resumed = await submit(cwd, '--script', 'counter.mjs', '--resume', 'artifacts/farwharf-flow');
    assert.equal(resumed.exit, 0, logOf(resumed.events));
    assert.doesNotMatch(logOf(resumed.events), /mailed/);
    const [timeline] = timelinesOf(flowEvents(resumed.events));
    assert.deepEqual(
      timeline?.steps.filter(({ type }) => type === 'node').map(({ path }) => path),
      ['Counter/Tell'],
    );
    assert.equal(timeline?.start.resumedAfter, 'Counter/Add');
    assert.deepEqual(timeline?.stateAfter(0), { goal: 3, count: 3, text: 'counted to 3' });

    // The work of that job is not repeated unless that is asked for.
    const { job_id: jobId } = resumed.events.find((event) => 'job_id' in event) as { job_id?: string };
    const again = ['submit', '--script', 'counter.mjs', '--resume', 'artifacts/farwharf-flow'];
    const refused = await scratch.run(again, { cwd, main });
    assert.equal(refused.exit, 1, refused.stderr);
    assert.match(
      refused.stderr,
      new RegExp(`was continued by job ${jobId}.*farwharf download --into DIR ${jobId} and`),
    );
    assert.equal((await scratch.run([...again, '--dry-run', '--again'], { cwd, main })).exit, 0);
    assert.equal((await scratch.run([...again, '--dry-run', '--from', 'Add'], { cwd, main })).exit, 0);
  });

  it('a job that waits for an answer has ended, its record has the question, and a new job continues with the answer', async () => {
    const text = `
import { Flow, Node, pause } from 'farwharf/agents';
class Review extends Node {
  post(shared) { shared.text = 'draft'; return pause({ question: 'Publish it?', choices: ['yes', 'no'] }); }
  answer(shared, input) { shared.published = input; }
}
const review = new Review();
export const flow = new Flow({ start: review, name: 'Publish' }).connect(review, null);
`;
    const cwd = await scratch.folder('asking', { 'review.mjs': text });
    const asked = await submit(cwd, '--script', 'review.mjs', '--download');
    assert.equal(asked.exit, 0, asked.stderr + logOf(asked.events));
    const { stdout } = await scratch.run(['jobs', '--json'], { cwd, main });
    const { jobs } = JSON.parse(stdout) as { jobs: { state: string; waiting: { question: string } | null }[] };
    assert.deepEqual([jobs[0]?.state, jobs[0]?.waiting?.question], ['succeeded', 'Publish it?']);
    assert.match((await scratch.run(['jobs'], { cwd, main })).stdout, /^waiting +review\.mjs/m);
    const resume = ['--script', 'review.mjs', '--resume', 'artifacts/farwharf-flow'];
    const wrong = await scratch.run(['submit', ...resume, '--input', '"maybe"'], { cwd, main });
    assert.equal(wrong.exit, 2);
    assert.match(wrong.stderr, /"maybe" is not one of "yes", "no"/);
    const answered = await submit(cwd, ...resume, '--input', '"yes"');
    assert.equal(answered.exit, 0, answered.stderr + logOf(answered.events));
    const [timeline] = timelinesOf(flowEvents(answered.events));
    assert.deepEqual(timeline?.stateAfter(timeline.steps.length - 1), { text: 'draft', published: 'yes' });
  });

  it('the runs of several jobs come home beside each other, and each job records its own alone', async () => {
    const other = COUNTER.replaceAll('counted to', 'other: counted to');
    const cwd = await scratch.folder('several', { 'counter.mjs': COUNTER, 'flows/other.mjs': other });
    const shared = ['--shared', '{"goal":2}', '--download'];
    for (const script of ['counter.mjs', 'flows/other.mjs', 'counter.mjs']) {
      const { exit, events, stderr } = await submit(cwd, '--script', script, ...shared);
      assert.equal(exit, 0, stderr + logOf(events));
    }
    const runs = join(cwd, 'artifacts/farwharf-flow');
    const records = globSync('**/run.json', { cwd: runs });
    assert.deepEqual(records.map((path) => dirname(dirname(path))).toSorted(), [
      'counter.mjs',
      'counter.mjs',
      'flows/other.mjs',
    ]);
    for (const path of records) {
      const [timeline, ...rest] = timelinesOf(await readEvents(runFolder(join(runs, dirname(path)))));
      assert.deepEqual([timeline?.steps.filter(({ type }) => type === 'node').length, rest.length], [3, 0]);
    }
    const resumed = await submit(
      cwd,
      '--script',
      'flows/other.mjs',
      '--resume',
      'artifacts/farwharf-flow',
      '--from',
      'Tell',
    );
    assert.equal(resumed.exit, 0, logOf(resumed.events));
    const [timeline] = timelinesOf(flowEvents(resumed.events));
    assert.deepEqual(timeline?.stateAfter(0), { goal: 2, count: 2, text: 'other: counted to 2' });
  });

  it('on a machine without Node, or with one that is too old, the start script says so', async () => {
    const cwd = await scratch.folder('bare', { 'counter.mjs': COUNTER });
    const runner = built('flowRunner.mjs');
    await using job = await FlowJob.prepare({ file: 'counter.mjs', runner });
    for (const { path, source } of job.files) {
      if (source === undefined) continue;
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await copyFile(source, join(cwd, path));
    }
    const start = (env: Record<string, string>): string => {
      const { status, stderr } = spawnSync('sh', ['-c', job.script], {
        cwd,
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      assert.ok(status === 127 || status === 1, stderr);
      return stderr;
    };
    assert.match(start({ FARWHARF_NODE: 'no-such-node' }), /Node\.js was not found on the machine.*install it there/);
    await writeFile(join(cwd, 'old-node'), '#!/bin/sh\nexec "$REAL_NODE" --import "$OLD" "$@"\n', { mode: 0o755 });
    const OLD = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '18.0.0' })";
    const tooOld = start({ FARWHARF_NODE: join(cwd, 'old-node'), REAL_NODE: process.execPath, OLD });
    assert.match(tooOld, /Flows need Node 22\.18 or newer, and .* is 18\.0\.0/);
  });

  it('the research example runs as a job, with the zod that it imports', async () => {
    const cwd = join(scratch.root, 'research');
    await cp(join(temporaryExamples(), 'agents'), cwd, { recursive: true });
    const { exit, events } = await submit(cwd, '--script', 'research.mts');
    assert.equal(exit, 0, logOf(events));
    const [timeline] = timelinesOf(flowEvents(events));
    assert.equal(timeline?.steps.filter(({ type }) => type === 'node').length, 8);
    assert.match(logOf(events), /looking up: lens of a lighthouse\n/);
  });

  it('people see the steps of a job as those of a run here', async () => {
    const cwd = await scratch.folder('shown', { 'counter.mjs': COUNTER });
    const { exit, stdout, stderr } = await scratch.run(['submit', '--watch', '--script', 'counter.mjs'], { cwd, main });
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /\n {2}Counter\/Add -> again, (?:<1|[\d.]+) ms\n[^]*\n {2}Counter\/Tell -> default, /);
    assert.equal(stdout, '');
  });

  it('a loop of very many steps does not bury the log of the job', async () => {
    const cwd = await scratch.folder('many', { 'counter.mjs': COUNTER });
    const { exit, events } = await submit(cwd, '--script', 'counter.mjs', '--shared', '{"goal":20000}');
    assert.equal(exit, 0, logOf(events));
    const reported = flowEvents(events);
    assert.ok(JSON.stringify(reported).length < 10e6);
    assert.equal(reported.at(-1)?.type, 'run-end');
    assert.match(logOf(events), /Too many steps for the log/);
  });

  it('a script that is no flow is sent as it is, and a dry run lists the runtime of one that is', async () => {
    const cwd = await scratch.folder('plain', { 'plain.mjs': 'console.log(1);', 'counter.mjs': COUNTER });
    const list = async (script: string): Promise<readonly string[]> => {
      const { stdout } = await scratch.run(['submit', '--dry-run', '--json', '--script', script], { cwd, main });
      return (JSON.parse(stdout) as { files: { path: string }[] }).files.map(({ path }) => path);
    };
    assert.deepEqual(await list('plain.mjs'), ['counter.mjs', 'plain.mjs']);
    const files = await list('counter.mjs');
    for (const path of [
      '.farwharf/agents.mjs',
      '.farwharf/flow.json',
      '.farwharf/counter.mjs.sh',
      '.farwharf/flowRunner.mjs',
    ]) {
      assert.ok(files.includes(path), path);
    }
  });
});
