import * as l10n from '@vscode/l10n';
import { jobCommand } from './jobCommand.ts';

export const showLog = jobCommand({
  title: l10n.t('Show Log'),
  run: ({ services }, record) => services.jobLog.show(record, { reveal: true }),
});
