import * as l10n from '@vscode/l10n';
import { isOver } from '../../../jobs/ledger/record.ts';
import { browseResults as browse } from '../../results/browseResults.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const browseResults = jobCommand({
  title: l10n.t('Browse Results'),
  only: { fits: isOver, none: l10n.t('No job has ended yet. The results of a job are available once it ends.') },
  run: ({ services }, record) => browse(services, record),
});
