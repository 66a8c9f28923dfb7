import { openThisMachine } from '../support/jobHost.ts';
import { describeMainJob } from '../support/mainJob.ts';

describeMainJob('the packed extension in a window', openThisMachine);
