import { resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { describeRunNow, describeUsage, runStateWord } from '../../flows/run/history/describeRun.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import type { RunRecord } from '../../flows/run/history/runRecord.ts';
import type { Context } from '../command/context.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<RunRecord>[] = [
  { title: 'RUN', cell: ({ id }) => id },
  {
    title: 'FLOW',
    cell: ({ name, others = [] }) => [...(name === undefined ? [] : [name]), ...others].join(', '),
    minWidth: 6,
    dropOrder: 3,
  },
  { title: 'STEPS', cell: ({ steps }) => String(steps ?? ''), align: 'right', dropOrder: 2 },
  { title: 'MODELS', cell: ({ usage }) => (usage === undefined ? '' : describeUsage(usage)), dropOrder: 1 },
  { title: 'STARTED', cell: ({ startedAt }) => formatAge(startedAt), dropOrder: 4 },
  { title: 'END', cell: describeRunNow, minWidth: 10 },
];

/** `farwharf flow runs`: the recorded runs of a flow file, the newest first. JSON: `{ runs: [...] }`. */
export async function listFlowRuns({ terminal, cwd, env }: Context, argument: string): Promise<void> {
  const records = await new RunHistory(farwharfHome(env)).list(resolve(cwd, argument));
  if (terminal.json({ runs: records.map((record) => ({ ...record, ...runStateWord(record) })) })) return;
  if (records.length === 0) terminal.note('No recorded runs of this file.');
  else answerTable(terminal, COLUMNS, records);
}
