import { describeRecovered, type RecoveredDownload } from '../../jobs/results/resultJournals.ts';
import { showWarning } from '../ui/show.ts';

/** Takes back what a window that was killed, or a command, had written of some results, and says so. */
export async function showRecovered(journals: { recover(): Promise<readonly RecoveredDownload[]> }): Promise<void> {
  for (const recovered of await journals.recover()) {
    void showWarning(describeRecovered(recovered));
  }
}
