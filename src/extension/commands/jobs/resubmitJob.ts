import * as l10n from '@vscode/l10n';
import { submitAgain } from '../../submit/resubmit.ts';
import { jobCommand } from './jobCommand.ts';

export const resubmitJob = jobCommand({
  title: l10n.t('Submit Again'),
  run: ({ services }, record) => submitAgain(services, record),
});
