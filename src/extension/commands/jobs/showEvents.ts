import * as l10n from '@vscode/l10n';
import { jobCommand } from './jobCommand.ts';

export const showEvents = jobCommand({
  title: l10n.t('Show Events'),
  run: ({ services }, record) => services.events.show(record),
});
