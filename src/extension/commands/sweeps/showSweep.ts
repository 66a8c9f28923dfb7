import { sweepCommand } from './sweepCommand.ts';

export const showSweep = sweepCommand('Show Sweep', ({ services }, sweep) => services.sweepPages.show(sweep));
