import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { requireTrust } from '../../workspace/folders.ts';
import { sweepCommand } from './sweepCommand.ts';

/** Sends the jobs of a sweep that were not sent yet. */
export const resumeSweep = sweepCommand(l10n.t('Resume Sweep'), ({ services }, sweep) => {
  requireTrust();
  if (sweep.isCancelled) {
    throw new AppError(
      'conflict',
      printableLine(l10n.t('Sweep {0} was cancelled, so no more of its jobs are sent. Submit it again.', sweep.name)),
    );
  }
  services.sweeps.start(sweep);
});
