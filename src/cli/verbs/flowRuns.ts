import { resolve } from 'node:path';
import { formatDuration } from '../../core/format.ts';
import { farwharfHome } from '../../core/home.ts';
import { printableLine } from '../../core/printable.ts';
import { describeRunEnd, describeUsage } from '../../flows/run/describeRun.ts';
import { RunHistory } from '../../flows/run/runHistory.ts';
import type { RunRecord } from '../../flows/run/runRecord.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { type Column, formatTable } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'run' },
  { title: 'flow', minWidth: 6, dropOrder: 3 },
  { title: 'steps', align: 'right', dropOrder: 2 },
  { title: 'models', dropOrder: 1 },
  { title: 'age', dropOrder: 4 },
  { title: 'end', minWidth: 10 },
];

/** `farwharf flow runs`: the kept runs of a flow file, the newest first. JSON: `{ runs: [...] }`. */
export async function listFlowRuns({ terminal, env }: Context, argument: string): Promise<number> {
  const records = await new RunHistory(farwharfHome(env)).list(resolve(argument));
  terminal.json({ runs: records });
  if (terminal.isJson) return EXIT.done;
  if (records.length === 0) terminal.note('No run of this file is kept.');
  else for (const line of formatTable(COLUMNS, records.map(row), terminal.answerColumns)) terminal.answer(line);
  return EXIT.done;
}

function row({ id, name, steps, usage, startedAt, outcome }: RunRecord): string[] {
  const age = formatDuration(Math.max(0, Date.now() - Date.parse(startedAt)) / 1000);
  return [
    id,
    name ?? '',
    steps === undefined ? '' : String(steps),
    usage === undefined ? '' : describeUsage(usage),
    `${age} ago`,
    describeRunEnd(outcome),
  ].map(printableLine);
}
