import * as l10n from '@vscode/l10n';
import { findLines } from '../../logs/logSearch.ts';
import { logCommand } from './logCommand.ts';

export const findInLog = logCommand({
  title: l10n.t('Find in Log'),
  run: ({ services }, record) => findLines(services, record),
});
