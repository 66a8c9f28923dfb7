import { suite } from 'node:test';
import { openThisMachine } from '../support/jobHost.ts';
import { declareMainJob } from '../support/mainJob.ts';

suite('the packed extension in a window', () => declareMainJob(openThisMachine));
