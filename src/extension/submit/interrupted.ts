import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { StartedSubmit, StartedSubmits } from '../../jobs/submit/startedSubmits.ts';

interface InterruptedDeps {
  readonly submits: Pick<StartedSubmits, 'takeInterrupted'>;
  /** The paths of the folders of this window. */
  readonly folders: () => readonly string[];
  readonly show: (text: string, ...buttons: readonly string[]) => Thenable<string | undefined>;
  readonly run: (command: string, argument: unknown) => Thenable<unknown>;
}

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
    const again = l10n.t('Submit Again');
    const text = l10n.t('The window was closed while {0} was being packed, so nothing was submitted.', name);
    if ((await show(text, again)) !== again) return;
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
