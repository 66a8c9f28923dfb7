import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { StartedSubmit, StartedSubmits } from '../../jobs/submit/startedSubmits.ts';

interface OfferDeps {
  /** The paths of the folders of this window. */
  readonly folders: () => readonly string[];
  readonly show: (text: string, ...buttons: readonly string[]) => Thenable<string | undefined>;
  readonly run: (command: string, argument: unknown) => Thenable<unknown>;
}

interface InterruptedDeps extends OfferDeps {
  readonly submits: Pick<StartedSubmits, 'takeInterrupted'>;
}

const AGAIN = l10n.t('Submit Again');
const PAUSE_MS = 2_000;

/**
 * Says which submits ended with their window before anything was sent, and offers to submit again. The process of a window that was
 * reloaded stops a little later than the next one starts, so this waits for processes that are packing.
 */
export async function reportInterrupted(
  { submits, folders, show, run }: InterruptedDeps,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): Promise<void> {
  const offer = async ({ folder, name, request }: StartedSubmit): Promise<void> => {
    const text = l10n.t('The window was closed while {0} was being packed, so nothing was submitted.', name);
    if ((await show(text, AGAIN)) !== AGAIN) return;
    // The folder may have changed since, so the user sees what will be sent.
    await run('farwharf.submitWorkspace', { ...request, folder, lookFirst: true });
  };
  for (;;) {
    const { interrupted, hasOthers } = await submits.takeInterrupted(folders());
    for (const submit of interrupted) void offer(submit);
    if (!hasOthers) return;
    await sleep(pauseMs, undefined, { signal, ref: false });
  }
}

/** Says that an upload from a folder of this window did not arrive, as one that closing the window ended, and offers to submit again. */
export async function reportNotArrived(
  { id, folder, script, reason, sweep }: JobRecord,
  { folders, show, run }: OfferDeps,
): Promise<void> {
  // A sweep sends its jobs again by itself.
  if (sweep !== null || !folders().includes(folder)) return;
  if ((await show(`${shownScript(script)}: ${reason ?? ''}`, AGAIN)) === AGAIN) await run('farwharf.resubmitJob', id);
}
