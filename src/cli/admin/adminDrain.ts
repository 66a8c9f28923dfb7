import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import type { Admin } from '../../service/admin/adminClient.ts';
import type { DrainState } from '../../service/admin/serviceOperations.ts';
import { adminCommand } from './dataFolder.ts';
import type { Context } from '../command/commandContext.ts';
import type { AdminFlags, DrainFlags } from './adminFlags.ts';
import { findAdmin } from './adminService.ts';

const POLL_MS = 1_000;

/**
 * `farwharf admin drain`: the service accepts and starts no more jobs. JSON: `{ drained_at, reason, active_jobs, waiting_jobs }`, with
 * `--wait` at the end.
 */
export async function drain(context: Context, _: string, flags: DrainFlags): Promise<void> {
  const { terminal } = context;
  using admin = await findAdmin(context, flags);
  if (flags.wait && !admin.isServiceRunning) {
    throw new AppError(
      'conflict',
      'The service is not running, so nothing follows its jobs to their end. Start it, or leave out --wait.',
    );
  }
  const state = await admin.call('service.drain', { reason: flags.reason });
  if (!flags.wait || !terminal.isJson) {
    const next = admin.isServiceRunning ? 'The service' : 'The service is not running. Once started, it';
    if (!terminal.json(state)) terminal.answer(`${next} accepts and starts no jobs. ${describeJobs(state)}`);
  }
  if (flags.wait) await untilIdle(context, admin, state);
  else terminal.note(`Undo:  ${adminCommand('resume', flags)}`);
}

/** `farwharf admin resume`. JSON: as `drain`. */
export async function resume(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  using admin = await findAdmin(context, flags);
  const { drained_at: before } = await admin.call('service.drained', {});
  const state = await admin.call('service.resume', {});
  if (terminal.json(state)) return;
  if (before === null) terminal.answer('The service was not drained.');
  else terminal.answer(`The service accepts and starts jobs again. ${describeJobs(state)}`);
}

/** Waits until the executor has no job. @throws AppError `conflict` if the service is resumed meanwhile. */
async function untilIdle({ terminal, signal }: Context, admin: Admin, first: DrainState): Promise<void> {
  let state = first;
  while (state.active_jobs > 0) {
    await sleep(POLL_MS, undefined, { signal });
    const now = await admin.call('service.drained', {});
    if (now.drained_at === null) throw new AppError('conflict', 'The service was resumed while its jobs finished.');
    if (now.active_jobs !== state.active_jobs && now.active_jobs > 0) terminal.note(describeJobs(now));
    state = now;
  }
  if (!terminal.json(state)) terminal.answer('No job runs any more.');
}

function describeJobs({ active_jobs: active, waiting_jobs: waiting }: DrainState): string {
  return `${formatCount(active, 'job')} running, ${waiting.toLocaleString('en-US')} waiting.`;
}
