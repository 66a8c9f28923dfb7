import { basename } from 'node:path';
import * as l10n from '@vscode/l10n';
import { formatBytes } from '../../core/text/format.ts';
import type { StartedSubmit } from '../../jobs/submit/startedSubmits.ts';
import type { SubmittedJobs } from '../../jobs/submit/submit.ts';
import type { SubmitOptions, SubmitPhase } from '../../jobs/send/send.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { showCancellable } from '../ui/show.ts';

/**
 * Packs and sends with progress and a Cancel button, and shows the log of the accepted job if `showsLog` is set.
 *
 * @param options.started what a window that closes before the upload leaves, so that the next one can report it.
 */
export async function send<T extends SubmittedJobs>(
  services: SubmitDeps,
  title: string,
  work: (options: SubmitOptions) => Promise<T>,
  { showsLog = true, started }: { readonly showsLog?: boolean; readonly started?: StartedSubmit | undefined } = {},
): Promise<T> {
  const forget = started && (await services.submits.begin(started));
  try {
    const sent = await showCancellable(title, (signal, progress) => {
      let shown = 0;
      let isWhole = false;
      const onPhase = (phase: SubmitPhase): void => {
        if (phase.type === 'recorded') {
          void forget?.();
          return;
        }
        if (phase.type === 'accepted') void services.memory.addSubmitted(phase.record.id);
        if (phase.type === 'whole') {
          isWhole = true;
          services.log.warn('the whole archive is sent', { reason: phase.reason });
        }
        const { message, percent } = phaseText(phase, isWhole);
        progress.report({ message, increment: Math.max(0, percent - shown) });
        shown = Math.max(shown, percent);
      };
      return work({ signal, onPhase });
    });
    if (sent.type === 'job') {
      const { record } = sent;
      services.log.info('job submitted', { id: record.id, jobId: record.jobId, folder: basename(record.folder) });
      if (showsLog) services.jobLog.show(record, { reveal: true });
    }
    return sent;
  } finally {
    await forget?.();
    // After a failure too: a submit with an unknown outcome is in the list.
    await services.store.refresh();
    void services.account.refresh(services.signal);
  }
}

// Packing is local and fast, so it gets the smaller part of the bar.
const PACK_SHARE = 30;

/** @param isWhole whether everything is sent, because the service does not take only what changed. The log of the job says why. */
function phaseText(
  phase: Exclude<SubmitPhase, { readonly type: 'recorded' }>,
  isWhole: boolean,
): { message: string; percent: number } {
  if (phase.type === 'select') return { message: l10n.t('reading the folder'), percent: 0 };
  if (phase.type === 'ask') return { message: l10n.t('connection lost; checking what arrived'), percent: 0 };
  if (phase.type === 'accepted') return { message: l10n.t('accepted'), percent: 100 };
  if (phase.type === 'whole') return { message: l10n.t('sending the whole archive'), percent: PACK_SHARE };
  const { doneBytes, totalBytes } = phase;
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes);
  const amount = l10n.t('{0} of {1}', formatBytes(doneBytes), formatBytes(totalBytes));
  if (phase.type === 'pack') return { message: l10n.t('packed {0}', amount), percent: share * PACK_SHARE };
  const message = isWhole
    ? l10n.t('uploaded {0} of the whole archive; the log says why', amount)
    : l10n.t('uploaded {0}', amount);
  return { message, percent: PACK_SHARE + share * (100 - PACK_SHARE) };
}
