import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { fieldOf, numberField, textField } from '../../core/jsonFields.ts';
import { formatBytes, formatCredits, plural } from '../../core/text/format.ts';
import { describeHours } from '../../core/text/machineHours.ts';
import { printableLine } from '../../core/text/printable.ts';
import { commandTitle, commandWords } from '../../remote/protocol/command.ts';
import type { AgentToolName } from '../../jobs/agentTools/agentToolNames.ts';
import type { ToolResult } from './toolProcess.ts';

const SHOWN_FILES = 8;

/** What a person confirms before a tool runs. */
export interface Confirmation {
  readonly title: string;
  readonly message: string;
}

interface Setting {
  readonly service: string;
  readonly folder: string;
  /** The result of `preflight_job` for the same arguments. */
  readonly plan: ToolResult | undefined;
}

const jobs = z.object({ count: z.number() });
const files = z.object({ count: z.number(), first: z.array(z.looseObject({ path: z.string() })) });

/** The question for a tool that changes something. */
export function describeConfirmation(name: AgentToolName, input: unknown, setting: Setting): Confirmation {
  const { service, folder, plan } = setting;
  if (name === 'submit_job' || name === 'submit_sweep') {
    const command = commandWords.safeParse(fieldOf(input, 'command')).data;
    const started = textField(input, 'script') ?? textField(input, 'profile') ?? '';
    const program = command === undefined ? printableLine(started) : commandTitle(command);
    return { title: l10n.t('Submit {0} to {1}?', program, service), message: describePlan(plan) };
  }
  if (name === 'fetch_results') {
    const into = printableLine(textField(input, 'into') ?? folder);
    const job = printableLine(textField(input, 'job_id') ?? '');
    return {
      title: l10n.t('Download the results of job {0}?', job),
      message: l10n.t('Files are written into {0}. Your own files are kept.', into),
    };
  }
  if (name === 'cancel_job') {
    const job = printableLine(textField(input, 'job_id') ?? '');
    return { title: l10n.t('Cancel job {0}?', job), message: l10n.t('The time that it ran is charged.') };
  }
  const file = printableLine(textField(input, 'file') ?? '');
  return {
    title: l10n.t('Run {0} on this machine?', file),
    message: l10n.t('This runs code of {0} with your rights.', folder),
  };
}

/** `At most 6 of 312 credits. 3 files, 1.2 MB: a.py, b.py, c.py.`, or without a price `Up to 4 core-hours. …`; of a sweep, how many jobs first. */
function describePlan(plan: ToolResult | undefined): string {
  const filesToSend = files.safeParse(plan?.data['files']).data;
  if (plan === undefined || plan.isError || filesToSend === undefined) {
    return l10n.t('The job could not be checked: {0}', printableLine(plan?.text ?? l10n.t('no answer')));
  }
  const names = filesToSend.first.slice(0, SHOWN_FILES).map(({ path }) => printableLine(path));
  const rest = filesToSend.count - names.length;
  const list = rest > 0 ? l10n.t('{0} and {1} more', names.join(', '), rest) : names.join(', ');
  const highest = numberField(plan.data, 'max_credits');
  const balance = numberField(plan.data, 'credits');
  const core = numberField(plan.data, 'max_core_hours');
  const hours = core === undefined ? '' : describeHours({ core, gpu: numberField(plan.data, 'max_gpu_hours') ?? 0 });
  const price =
    hours !== ''
      ? l10n.t('Up to {0}', hours)
      : highest === undefined
        ? l10n.t('The price is unknown')
        : balance === undefined
          ? l10n.t('At most {0} credits', formatCredits(highest))
          : l10n.t('At most {0} of {1} credits', formatCredits(highest), formatCredits(balance));
  const size = formatBytes(numberField(plan.data, 'total_bytes') ?? 0);
  const packages = textField(plan.data, 'packages');
  const installs =
    packages === undefined ? '' : ` ${l10n.t('Installs packages from {0} first.', printableLine(packages))}`;
  const count = jobs.safeParse(plan.data['jobs']).data?.count;
  const sweep = count === undefined ? '' : `${plural(count, l10n.t('1 job'), l10n.t('{0} jobs'))}. `;
  return `${sweep}${price}. ${plural(filesToSend.count, l10n.t('1 file'), l10n.t('{0} files'))}, ${size}: ${list}.${installs}`;
}
