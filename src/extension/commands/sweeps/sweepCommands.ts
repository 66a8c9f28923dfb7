import * as l10n from '@vscode/l10n';
import type { Commands } from '../command.ts';
import { cancelSweep } from './cancelSweep.ts';
import { editSweepJob } from './editSweepJob.ts';
import { resumeSweep } from './resumeSweep.ts';
import { sweepCommand } from './sweepCommand.ts';

export const sweepCommands = {
  'farwharf.showSweep': sweepCommand(l10n.t('Show Sweep'), ({ services }, sweep) => services.sweepPages.show(sweep)),
  'farwharf.resumeSweep': resumeSweep,
  'farwharf.cancelSweep': cancelSweep,
  'farwharf.editSweepJob': editSweepJob,
} satisfies Commands;
