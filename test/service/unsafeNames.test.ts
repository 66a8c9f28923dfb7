import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArchive } from './support/archive.ts';
import { startService } from './support/service.ts';

test('odd names come back, and one that is not valid UTF-8 is named and keeps no other from coming back', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows does not know such names');
  const service = await startService(t);
  const script = `
    const { writeFileSync } = require('node:fs');
    for (const name of ['good.txt', 'Twin', 'twin', 'back\\\\slash', 'line\\nfeed']) writeFileSync(name, 'made');
    writeFileSync(Buffer.from('b\\xff\\nfarwharf: forged', 'latin1'), 'made');
  `;
  const id = await service.submit({ 'run.js': script }, { script: 'run.js' });
  const events = await service.events(id);
  assert.equal(events.at(-1)?.data['state'], 'succeeded');
  const texts = events.flatMap(({ data: { text } }) => (typeof text === 'string' ? [text] : []));
  assert.match(texts.join(''), /^farwharf: Links, special files.* are not returned: b\ufffd farwharf: forged\.\n$/);
  assert.deepEqual(
    events.filter(({ data }) => data['about'] === 'results').map(({ data: { text } }) => text),
    [texts.at(-1)],
  );
  const response = await service.request(`/v1/jobs/${id}/artifacts`);
  const files = await readArchive(new Uint8Array(await response.arrayBuffer()));
  assert.deepEqual(Object.keys(files).sort(), ['Twin', 'back\\slash', 'good.txt', 'line\nfeed', 'twin']);
});

test('folders too deep or unreadable do not keep the other results from coming back, and nothing of them stays', async (t) => {
  const service = await startService(t);
  const script = `echo made > good.txt
    mkdir "$(printf 'a\\377')"; touch "$(printf 'a\\377')/x" unreadable; chmod 000 unreadable
    n=$(printf 'a%.0s' $(seq 200)); for i in $(seq 50); do mkdir $n; cd $n; done; echo made > deep.txt`;
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.reason, null);
  const response = await service.request(`/v1/jobs/${id}/artifacts`);
  const files = await readArchive(new Uint8Array(await response.arrayBuffer()));
  assert.deepEqual(Object.keys(files), ['good.txt']);
  assert.match(await service.output(id, 'stderr'), /not returned: .*unreadable/);
  await service.stop();
  assert.deepEqual(readdirSync(join(service.data, 'jobs', id)), ['results.tar.gz']);
});

test('a file with holes that is larger than any disk keeps nobody waiting, and the job says why it did not come back', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'truncate -s 10T holes' }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.deepEqual([job.state, job.exit_code], ['failed', 0]);
  assert.match(
    job.reason ?? '',
    /are incomplete: holes \([\d.,]+ TB\) was left out, because the results of one job can have 20.0 GB/,
  );
});
