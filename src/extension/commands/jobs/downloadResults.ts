import * as z from 'zod';
import { isOver } from '../../../jobs/ledger/record.ts';
import { download } from '../../results/results.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { withArgument } from '../command.ts';
import { findOrPickJob } from './jobCommand.ts';

const QUESTION = { title: 'Download Results', fits: isOver };
const keepBothArgument = z.object({ keepBoth: z.literal(true) });

export const downloadResults = withArgument(
  (argument) => ({ job: readJobArgument(argument), keepBoth: keepBothArgument.safeParse(argument).success }),
  async ({ services }, { job, keepBoth }) => {
    const record = await findOrPickJob(services, job, QUESTION);
    return record === undefined ? undefined : download(services, record, { keepBoth });
  },
);
