import { textField } from '../../core/jsonFields.ts';
import { formatCredits } from '../../core/text/format.ts';
import { describeHours, type MachineShare } from '../../core/text/machineHours.ts';
import { printableLine } from '../../core/text/printable.ts';
import { currentPeriods, describeSpending } from '../../jobs/ledger/spending.ts';
import { hasNoCredits, type Rate, readBalance, readRateCard } from '../../jobs/plan/estimate.ts';
import { readVolumes } from '../../jobs/plan/volumeFindings.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

/** The prices, unless no class has one, and the cores and GPUs of classes without a price. */
function columns(rates: readonly Rate[]): readonly RecordColumn<Rate>[] {
  const column = (title: string, cell: (rate: Rate) => string) => ({ title, cell, align: 'right' as const });
  const ofMachine = (part: keyof MachineShare) => (rate: Rate) =>
    rate.creditsPerMinute === null ? String(rate.machine[part]) : '';
  const price = column('CREDITS/MIN', ({ creditsPerMinute: price }) => (price === null ? '' : formatCredits(price)));
  const isAnyUnpriced = rates.some(({ creditsPerMinute }) => creditsPerMinute === null);
  return [
    { title: 'MACHINE', cell: ({ machineClass }) => machineClass ?? 'default' },
    ...(hasNoCredits(rates) ? [] : [price]),
    ...(isAnyUnpriced ? [column('CORES', ofMachine('cpus')), column('GPUS', ofMachine('gpus'))] : []),
    { title: 'DESCRIPTION', cell: ({ description }) => description ?? '', minWidth: 11, dropOrder: 1 },
  ];
}

/**
 * `farwharf me`: credits, plan, rate card, volumes, and what the jobs of this machine were charged. JSON: the service's own account object, and
 * `spent`: `[{ project, today, this_month }]`, and `used`, this month's hours of classes without a price: `[{ machine_class, core_hours, gpu_hours }]`.
 */
export async function printAccount(context: Context): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const account = await (await session.client()).me({ signal });
  const periods = currentPeriods(Date.now());
  const spent = session.ledger.spending(session.host, periods);
  const used = session.ledger.use(session.host, periods);
  const asJson = spent.map(({ project, today, thisMonth }) => ({ project, today, this_month: thisMonth }));
  const usedAsJson = used.map(({ machineClass, hours }) => ({
    machine_class: machineClass,
    core_hours: hours.core,
    gpu_hours: hours.gpu,
  }));
  if (terminal.json({ ...account, spent: asJson, used: usedAsJson })) return;
  const balance = readBalance(account);
  const rates = readRateCard(account);
  const credits = hasNoCredits(rates)
    ? 'Jobs cost no credits'
    : balance === null
      ? 'Credits unknown'
      : `${formatCredits(balance)} credits`;
  const plan = textField(account, 'plan');
  const onPlan = plan === undefined ? '' : `, plan ${printableLine(plan)}`;
  terminal.answer(`${credits}${onPlan} on ${session.hostName}.`);
  const spending = describeSpending(spent);
  if (spending !== undefined) terminal.answer(`Spent by jobs from this machine: ${printableLine(spending)}.`);
  const hours = used
    .map((use) => ({ name: use.machineClass ?? 'default', amount: describeHours(use.hours) }))
    .filter(({ amount }) => amount !== '')
    .map(({ name, amount }) => `${name} ${amount}`);
  if (hours.length > 0) {
    terminal.answer(`Used this month by jobs from this machine: ${printableLine(hours.join('; '))}.`);
  }
  const volumes = readVolumes(account).map(({ name, isWritable }) => (isWritable ? `${name} (read and write)` : name));
  if (volumes.length > 0) terminal.answer(`Volumes: ${printableLine(volumes.join(', '))}.`);
  if (rates.length === 0) return;
  terminal.answer('');
  answerTable(terminal, columns(rates), rates);
}
