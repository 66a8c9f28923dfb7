// A process of its own that brings results into a folder, or takes back what another one left; to be killed meanwhile. It
// prints a line when it begins to write, and one when the results are there.
import { copyFileSync, writeSync } from 'node:fs';
import { directArchiver } from '../../../../src/jobs/archives/archiver.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { downloadResults } from '../../../../src/jobs/results/resultDownload.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';

const [task = '', home = '', id = '', archive = ''] = process.argv.slice(2);
const print = (line: string): unknown => writeSync(1, `${line}\n`);
const journals = new ResultJournals(home);
if (task === 'recover') await journals.recover();
else {
  const ledger = new JobLedger(home);
  const service = {
    downloadArtifacts: async (_: string, dest: string): Promise<string> => {
      copyFileSync(archive, dest);
      return dest;
    },
  };
  await downloadResults({ service, archiver: directArchiver, ledger: directLedger(ledger), home, journals }, id, {
    // Also where the person agreed to everything.
    onPhase: ({ type }) => type === 'write' && print(type),
    decide: (plan) => new Map(plan.map(({ path }, index) => [path, index % 5 === 4 ? 'keep-both' : 'write'])),
  });
  print('done');
  ledger.dispose();
}
