import * as l10n from '@vscode/l10n';
import { formatCredits } from './format.ts';

/** What a job has of its machine. */
export interface MachineShare {
  readonly cpus: number;
  readonly gpus: number;
}

/** The use of machines: cores and GPUs, each multiplied by the hours that a job has them. */
export interface MachineHours {
  readonly core: number;
  readonly gpu: number;
}

export const NO_HOURS: MachineHours = { core: 0, gpu: 0 };

/** The use of a machine for so many seconds. */
export function hoursOf({ cpus, gpus }: MachineShare, seconds: number): MachineHours {
  return { core: (cpus * seconds) / 3600, gpu: (gpus * seconds) / 3600 };
}

export function addHours(one: MachineHours, other: MachineHours): MachineHours {
  return { core: one.core + other.core, gpu: one.gpu + other.gpu };
}

/** `4 core-hours, 1 GPU-hour`; an amount that would be 0 is left out. */
export function describeHours({ core, gpu }: MachineHours): string {
  const [cores, gpus] = [formatCredits(core), formatCredits(gpu)];
  return [
    core > 0 && cores !== '0' ? (cores === '1' ? l10n.t('1 core-hour') : l10n.t('{0} core-hours', cores)) : '',
    gpu > 0 && gpus !== '0' ? (gpus === '1' ? l10n.t('1 GPU-hour') : l10n.t('{0} GPU-hours', gpus)) : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}
