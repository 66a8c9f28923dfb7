import { formatDuration, formatMeasured } from '../../core/text/format.ts';
import { elapsedSeconds } from '../../jobs/ledger/record.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { metricNames, rankRows, type SweepRow, sweepRows } from '../../jobs/sweeps/sweepTable.ts';
import { costColumns, rowCost } from '../command/costColumns.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import type { Context } from '../command/commandContext.ts';
import { shortSweepId } from './shortSweepId.ts';
import { sweepAsJson } from './sweepJson.ts';
import { openSweep, readSweepJobs } from './sweepJobs.ts';

const SHOWN_METRICS = 8;

interface ShowFlags {
  readonly by?: string;
  readonly highest: boolean;
}

/** `farwharf sweep show ID`: a row for each job. JSON: the sweep with its jobs in the order of the matrix. */
export async function showSweep(context: Context, name: string, { by, highest }: ShowFlags): Promise<void> {
  const { terminal } = context;
  const openedSweep = await openSweep(context, name);
  await using session = openedSweep.session;
  const { sweep } = openedSweep;
  const { records, metricsOf } = await readSweepJobs(session, context, sweep);
  if (terminal.json(sweepAsJson(sweep, records, metricsOf))) return;
  const rows = sweepRows(sweep, records, metricsOf);
  const rankedRows = by === undefined ? rows : rankRows(rows, { metric: by, isHighest: highest });
  const counts = countJobs(sweep.drafts.length, records, Date.now());
  terminal.note(`${sweep.name}: ${describeCounts(counts)}${sweep.isCancelled ? ' · cancelled' : ''}`);
  answerTable(terminal, columnsFor(rows, by, Date.now()), rankedRows);
  if (counts.unsent > 0 && !sweep.isCancelled) {
    terminal.note(`  send the others:  farwharf sweep resume ${shortSweepId(sweep)}`);
  }
}

function columnsFor(rows: readonly SweepRow[], by: string | undefined, now: number): readonly RecordColumn<SweepRow>[] {
  const text = (value: number | null | undefined, format: (value: number) => string): string =>
    value === null || value === undefined ? '' : format(value);
  const names = metricNames(rows).filter((name) => name !== by);
  const metrics = [...(by === undefined ? [] : [by]), ...names].slice(0, SHOWN_METRICS);
  return [
    ...Object.keys(rows[0]?.parameters ?? {}).map((name) => ({
      title: name,
      cell: ({ parameters }: SweepRow) => String(parameters[name] ?? ''),
      minWidth: 6,
    })),
    ...metrics.map((name, index) => ({
      title: name,
      cell: ({ metrics: of }: SweepRow) => text(of.get(name)?.last, formatMeasured),
      align: 'right' as const,
      ...(index > 0 && { dropOrder: SHOWN_METRICS - index }),
    })),
    { title: 'STATE', cell: ({ record }) => record?.state ?? 'not sent' },
    {
      title: 'TIME',
      cell: ({ record }) => text(record && elapsedSeconds(record, now), formatDuration),
      align: 'right',
      dropOrder: SHOWN_METRICS + 1,
    },
    ...costColumns(rows, ({ record }) => record && rowCost(record, now), SHOWN_METRICS),
    { title: 'ID', cell: ({ record }) => record?.jobId ?? '' },
  ];
}
