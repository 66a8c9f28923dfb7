/** Shown when the program is run without arguments. */
export const FIRST_STEPS = `Usage: farwharf <command> [options]

Runs a folder as a job, here or on a service you connect.

First steps:
  farwharf submit --script train.py --watch   run train.py in this folder as a job
  farwharf jobs                               list your jobs
  farwharf me                                 show your credits and the prices
  farwharf search "retry delay"               search this folder by keyword or topic

All commands:  farwharf help
One command:   farwharf help submit`;
