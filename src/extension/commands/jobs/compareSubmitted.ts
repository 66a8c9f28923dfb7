import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { compareJobs, compareSubmitted as compare } from '../../submitted/compareSubmitted.ts';
import { jobsCommand } from './jobCommand.ts';

/** Compares one job with what the user picks, or two jobs with each other. */
export const compareSubmitted = jobsCommand({
  title: l10n.t('Compare Submitted Files'),
  async run({ services }, records) {
    const [first, second] = records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    if (first === undefined) return;
    if (records.length > 2)
      throw new AppError(
        'bad-input',
        l10n.t('{0} jobs are selected. Select two to compare them, or one.', records.length),
      );
    await (second === undefined ? compare(services, first) : compareJobs(services, first, second));
  },
});
