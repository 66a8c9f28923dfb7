import * as l10n from '@vscode/l10n';
import { numberField } from '../../../core/jsonFields.ts';
import { describeParameters } from '../../../jobs/ledger/parameters.ts';
import { submit } from '../../submit/submit.ts';
import { askText } from '../../ui/show.ts';
import { readParameters } from './parameterText.ts';
import { sweepCommand } from './sweepCommand.ts';

/** Submits a job of a sweep again, as a single job with other parameters, from the folder as it is now. */
export const editSweepJob = sweepCommand(l10n.t('Edit and Submit Sweep Job'), async ({ services }, sweep, argument) => {
  const draft = sweep.drafts[numberField(argument, 'index') ?? 0];
  const before = draft?.sweep?.parameters ?? {};
  const text = await askText({
    title: l10n.t('Submit a job of {0}', sweep.name),
    prompt: l10n.t('Change the parameters, and press Enter to look at the job before it is sent.'),
    value: describeParameters(before),
    validateInput: (typed) => {
      const { problem } = readParameters(typed, before);
      return problem;
    },
  });
  if (text === undefined) return undefined;
  const { parameters } = readParameters(text, before);
  return submit(services, { folder: sweep.folder, profile: sweep.name, parameters, lookFirst: true });
});
