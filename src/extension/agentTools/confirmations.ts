import * as z from 'zod';
import { numberField, textField } from '../../core/jsonFields.ts';
import { formatBytes, formatCount, formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
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

const files = z.object({ count: z.number(), first: z.array(z.looseObject({ path: z.string() })) });

/** The question for a tool that changes something. */
export function describeConfirmation(name: AgentToolName, input: unknown, setting: Setting): Confirmation {
  const { service, folder, plan } = setting;
  if (name === 'submit_job') {
    const script = printableLine(textField(input, 'script') ?? '');
    return { title: `Submit ${script} to ${service}?`, message: describePlan(plan) };
  }
  if (name === 'fetch_results') {
    const into = printableLine(textField(input, 'into') ?? folder);
    const job = printableLine(textField(input, 'job_id') ?? '');
    return {
      title: `Download the results of job ${job}?`,
      message: `Files are written into ${into}. Your own files are kept.`,
    };
  }
  const file = printableLine(textField(input, 'file') ?? '');
  return { title: `Run ${file} on this machine?`, message: `This runs code of ${folder} with your rights.` };
}

/** `3 files, 1.2 MB: a.py, b.py, c.py. At most 6 of 312 credits.` */
function describePlan(plan: ToolResult | undefined): string {
  const sent = files.safeParse(plan?.data['files']).data;
  if (plan === undefined || plan.isError || sent === undefined) {
    return `The job could not be checked: ${printableLine(plan?.text ?? 'no answer')}`;
  }
  const names = sent.first.slice(0, SHOWN_FILES).map(({ path }) => printableLine(path));
  const rest = sent.count - names.length;
  const list = names.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const highest = numberField(plan.data, 'max_credits');
  const balance = numberField(plan.data, 'credits');
  const of = balance === undefined ? '' : ` of ${formatCredits(balance)}`;
  const price = highest === undefined ? 'The price is unknown' : `At most ${formatCredits(highest)}${of} credits`;
  const size = formatBytes(numberField(plan.data, 'total_bytes') ?? 0);
  return `${price}. ${formatCount(sent.count, 'file')}, ${size}: ${list}.`;
}
