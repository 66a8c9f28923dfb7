import { resolve } from 'node:path';
import { formatDuration } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeRunEnd, describeUsage } from '../../flows/run/history/describeRun.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import type { RunRecord } from '../../flows/run/history/runRecord.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { type Column, formatTable } from '../terminal/table.ts';

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
  if (records.length === 0) terminal.note('No recorded runs of this file.');
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
