import * as l10n from '@vscode/l10n';
import { jobCommand } from './jobCommand.ts';

export const showJobPage = jobCommand({
  title: l10n.t('Show Job Page'),
  run: ({ services }, record) => services.pages.show(record),
});
