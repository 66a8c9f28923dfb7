import * as l10n from '@vscode/l10n';
import { openFirstError } from '../../logs/firstError.ts';
import { logCommand } from './logCommand.ts';

export const showFirstError = logCommand({
  title: l10n.t('Show First Error in Log'),
  run: ({ services }, record) => openFirstError(services, record),
});
