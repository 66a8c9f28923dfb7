import { emptyFolder, jobIn, logWith, prepareWorkspace, submit } from '../../support/inside.ts';
import { FIRST_LINE, SCRIPT } from '../../support/workspace.ts';

// Mocha runs the files by name, so this one comes last: the suite of the next window finds its job.
suite('before the window is opened again', () => {
  setup(emptyFolder);

  test('a job is left running', async () => {
    await prepareWorkspace('reopened');
    await submit({ script: SCRIPT });
    await jobIn('running');
    await logWith(FIRST_LINE);
  });
});
