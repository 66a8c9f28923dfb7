import * as l10n from '@vscode/l10n';
import { saveWholeLog } from '../../logs/saveLog.ts';
import { logCommand } from './logCommand.ts';

export const saveLog = logCommand({
  title: l10n.t('Save Log'),
  run: ({ services }, record) => saveWholeLog(services, record),
});
