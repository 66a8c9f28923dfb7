import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJobLink, readJobLink } from '../../../../src/extension/jobs/jobLink.ts';

const JOB = { host: 'https://gpu.example.org', jobId: '7f3a2c1e-0000-4000-8000-000000000001' };

test('a link leads to the job that it was made of', () => {
  const host = 'https://gpu.example.org/team';
  const { protocol, host: extension, pathname, search } = new URL(formatJobLink('vscode-insiders', { ...JOB, host }));
  assert.equal(`${protocol}//${extension}`, 'vscode-insiders://farwharf.farwharf');
  assert.deepEqual(readJobLink({ path: pathname, query: search.slice(1) }), { ...JOB, host });
  assert.deepEqual(readJobLink({ path: '/job', query: 'host=local&id=job-1' }), { host: 'local', jobId: 'job-1' });
});

for (const [what, path, query] of [
  ['another path', '/submit', 'host=local&id=job-1'],
  ['no job', '/job', 'host=local'],
  ['no host', '/job', 'id=job-1'],
  ['a path in place of an ID', '/job', 'host=local&id=../../etc'],
  ['an ID that breaks the line', '/job', 'host=local&id=a%0Ab'],
  ['an ID of 300 characters', '/job', `host=local&id=${'a'.repeat(300)}`],
  ['a host with a password', '/job', 'host=https%3A%2F%2Fme%3Apw%40gpu.example.org&id=job-1'],
  ['an unencrypted service', '/job', 'host=http%3A%2F%2Fgpu.example.org&id=job-1'],
  ['a file as host', '/job', 'host=file%3A%2F%2F%2Fetc&id=job-1'],
  ['a machine that is not connected', '/job', 'host=ssh%3A%2F%2Fnowhere&id=job-1'],
] as const) {
  test(`a link with ${what} is refused`, () => {
    assert.throws(() => readJobLink({ path, query }), { name: 'AppError', code: 'bad-input' });
  });
}
