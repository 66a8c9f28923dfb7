// Begins to pack a submit from a folder, says so, and packs until it is killed.
import { StartedSubmits } from '../../../../src/jobs/submit/startedSubmits.ts';

const [home = '', folder = ''] = process.argv.slice(2);
await new StartedSubmits(home).begin({ folder, name: 'train.py', request: { script: 'train.py' } });
process.send?.('packing');
setInterval(() => {}, 1_000);
