import * as l10n from '@vscode/l10n';
import { logCommand } from './logCommand.ts';

export const openFullLog = logCommand({
  title: l10n.t('Open Full Log'),
  run: ({ services: { logDocuments, signal } }, record) => logDocuments.open(record, undefined, signal),
});
