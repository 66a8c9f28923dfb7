import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frozen } from '../../../src/remote/protocol/debugging.ts';
import { type DebugClient, fieldsOf, listOf } from '../../unit/jobs/debug/debugClient.ts';
import type { JobBody, ServiceClient } from './service.ts';

export type DebugJob = JobBody & { readonly frozen: Frozen | null };

export const hasDebugpy = spawnSync('python3', ['-c', 'import debugpy']).status === 0;
export const NO_DEBUGPY = 'NO DEBUGPY: install python3-debugpy to test debugging';

/** Attaches as an editor does. @returns the ID and the reason of the thread that stops. */
export async function start(
  debug: DebugClient,
  breakpoints: Readonly<Record<string, readonly number[]>> = {},
): Promise<{ readonly threadId: unknown; readonly reason: unknown }> {
  await debug.request('initialize', { adapterID: 'test', pathFormat: 'path' });
  const attached = debug.request('attach', { justMyCode: true });
  await debug.event('initialized');
  for (const [path, lines] of Object.entries(breakpoints)) {
    await debug.request('setBreakpoints', { source: { path }, breakpoints: lines.map((line) => ({ line })) });
  }
  await debug.request('configurationDone');
  await attached;
  const { threadId, reason } = await debug.event('stopped');
  return { threadId, reason };
}

/** The lines of a stopped thread, the innermost first, and the variables there. */
export async function framesOf(debug: DebugClient, threadId: unknown) {
  const frames = listOf((await debug.request('stackTrace', { threadId }))['stackFrames']);
  const [scope = {}] = listOf((await debug.request('scopes', { frameId: frames[0]?.['id'] }))['scopes']);
  const { variablesReference } = scope;
  const variables = listOf((await debug.request('variables', { variablesReference }))['variables']);
  return {
    lines: frames.map(({ line }) => line),
    path: fieldsOf(frames[0]?.['source'])['path'],
    variables: Object.fromEntries(variables.map(({ name, value }) => [String(name), value])),
  };
}

export async function untilFrozen(service: ServiceClient, id: string): Promise<Frozen> {
  for (;;) {
    const job = (await service.job(id)) as DebugJob;
    if (job.frozen !== null) return job.frozen;
    assert.equal(job.finished_at, null, `the job has ended: ${job.reason}`);
    await sleep(50);
  }
}
