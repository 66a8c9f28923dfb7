import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_TOOL_INPUTS, AGENT_TOOL_TEXTS, agentToolSchema } from '../../../../src/jobs/agentTools/agentTools.ts';
import { AGENT_TOOL_NAMES } from '../../../../src/jobs/agentTools/agentToolNames.ts';
import { assertContract } from '../../contract.ts';

test('the names, descriptions and arguments of the tools are those that agents rely on', () => {
  assertContract(
    'agentTools',
    AGENT_TOOL_NAMES.map((name) => ({ name, ...AGENT_TOOL_TEXTS[name], arguments: agentToolSchema(name) })),
  );
});

test('arguments that a tool does not have, and those beyond its limits, are refused', () => {
  const accepts = (name: keyof typeof AGENT_TOOL_INPUTS, input: object): boolean =>
    AGENT_TOOL_INPUTS[name].safeParse(input).success;
  assert.equal(accepts('search_folder', { query: 'x'.repeat(4_000), limit: 50 }), true);
  for (const input of [
    {},
    { query: '' },
    { query: 'x'.repeat(4_001) },
    { query: 'x', limit: 0 },
    { query: 'x', limit: 51 },
    { query: 'x', more: 1 },
  ]) {
    assert.equal(accepts('search_folder', input), false, Object.keys(input).join());
  }
  assert.equal(accepts('submit_job', { script: 'a.py', max_runtime: 2_592_000 }), true);
  assert.equal(accepts('submit_job', { profile: 'train', arguments: ['', 'b c'] }), true);
  for (const input of [
    {},
    { script: 'a', command: ['b'] },
    { command: [''] },
    { command: ['a', '\0'] },
    { command: Array.from({ length: 1_001 }, () => 'a') },
    { script: 'a\nb' },
    { script: 'a', arguments: 'b' },
    { script: 'a', max_runtime: 0 },
    { script: 'a', max_runtime: 2_592_001 },
    { script: 'a', cost: 1 },
  ]) {
    assert.equal(accepts('submit_job', input), false);
  }
  assert.equal(accepts('read_job_log', { job_id: 'j', tail: 1_000 }), true);
  for (const input of [
    { job_id: '' },
    { job_id: 'x'.repeat(257) },
    { job_id: 'j', tail: 0 },
    { job_id: 'j', tail: 1_001 },
  ]) {
    assert.equal(accepts('read_job_log', input), false);
  }
  for (const name of ['get_job', 'wait_for_job', 'cancel_job', 'explain_failure', 'fetch_results'] as const) {
    assert.deepEqual(
      [accepts(name, { job_id: 'j' }), accepts(name, {}), accepts(name, { job_id: 'j', x: 1 })],
      [true, false, false],
    );
  }
  assert.deepEqual(
    [accepts('run_flow', { file: 'a', shared: { b: [1] } }), accepts('run_flow', { file: 'a', shared: [1] })],
    [true, false],
  );
});
