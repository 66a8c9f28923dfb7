import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../random.ts';
import { hostileOutput, markedLines, nestedEvent } from './support/hostileOutput.ts';
import { startService, testConfig } from './support/service.ts';

const PRICED = {
  name: 'priced',
  description: '',
  credits_per_minute: 60,
  cpus: 1,
  memory_gb: 4,
  gpus: 0,
};
const PRINT = `process.stdout.write(require('node:fs').readFileSync('output'))`;

test('a marked line that is nested deeper than JSON can be written does not end the runner, and the job is charged', async (t) => {
  const service = await startService(t, { config: { ...testConfig(), machine_classes: [PRICED] } });
  const output = `begun\n${markedLines(nestedEvent(60_000))}${markedLines(nestedEvent(10), { number: 2 })}ended\n`;
  const id = await service.submit({ 'a.js': PRINT, output }, { script: 'a.js' });
  const job = await service.untilEnd(id);
  assert.deepEqual([job.state, job.exit_code], ['succeeded', 0]);
  assert.ok((job.credits_charged ?? 0) > 0);
  assert.equal(await service.output(id), 'begun\nended\n');
  const flow = (await service.events(id)).filter(({ event }) => event === 'flow');
  assert.deepEqual(
    flow.map(({ data }) => data),
    [JSON.parse(nestedEvent(10))],
  );
});

test('no output that a seed makes ends, blocks or confuses a runner', async (t) => {
  const service = await startService(t);
  for (let seed = 1; seed <= 4; seed += 1) {
    const output = hostileOutput(randomFrom(seed), 60);
    const script = `${PRINT}; process.stdout.write('\\nthe end of it\\n', () => process.exit(7));`;
    const id = await service.submit({ 'a.js': script, output }, { script: 'a.js' });
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code, job.reason], ['failed', 7, null], `seed ${seed}`);
    assert.ok((await service.output(id)).endsWith('\nthe end of it\n'), `seed ${seed}`);
  }
});
