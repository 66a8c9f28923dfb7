import * as l10n from '@vscode/l10n';
import { sweepCommand } from './sweepCommand.ts';

export const showSweep = sweepCommand(l10n.t('Show Sweep'), ({ services }, sweep) => services.sweepPages.show(sweep));
