import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArchive } from './support/archive.ts';
import { startService } from './support/service.ts';

test('names that a receiver would refuse do not keep the other results from coming back', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows does not know such names');
  const service = await startService(t);
  const script = `
    const { writeFileSync } = require('node:fs');
    for (const name of ['good.txt', 'Twin', 'twin', 'back\\\\slash', 'line\\nfeed']) writeFileSync(name, 'made');
    writeFileSync(Buffer.from([0x62, 0xff]), 'made');
  `;
  const id = await service.submit({ 'run.js': script }, { script: 'run.js' });
  const events = await service.events(id);
  assert.equal(events.at(-1)?.data['state'], 'succeeded');
  const response = await service.request(`/v1/jobs/${id}/artifacts`);
  const files = await readArchive(new Uint8Array(await response.arrayBuffer()));
  assert.deepEqual(Object.keys(files).sort(), ['Twin', 'good.txt']);
});
