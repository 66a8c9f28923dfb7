/** What a simulated site is like. What its service costs is not here: that is measured (calibration.ts). */
export const SITE = {
  users: 1_000,
  jobsPerDay: 100_000,
  /** Of all jobs, those that come as sweeps: one user sends so many, over so many connections, each with a pause between. */
  sweepShare: 0.7,
  sweepJobs: 500,
  sweepConnections: 4,
  sweepPauseMs: 50,
  /** Slots of the cluster, one for each job. */
  slots: 2_800,
  archiveMedianBytes: 100e3,
  archiveSigma: 2,
  filesMedian: 30,
  filesSigma: 1,
  resultMedianBytes: 50e3,
  resultSigma: 2.5,
  downloadedShare: 0.3,
  downloadDelayMs: 10 * 60_000,
  /** Between two pieces of output of one job. */
  outputEveryMs: 10_000,
  outputBytes: 80,
  /** Share of users with an open window at the peak. */
  windowShare: 0.6,
  streamsPerWindow: 2,
  requestsPerWindowMinute: 2,
  listsPerWindowMinute: 2,
  clientBytesPerSecond: 12.5e6,
  linkBytesPerSecond: 1.25e9,
  diskBytesPerSecond: 500e6,
  diskBytes: 10e12,
  /** Of each machine that the service or its database runs on. */
  cores: 8,
  /** How long the controller still lists jobs that have ended (MinJobAge). */
  listedMs: 300_000,
  openFiles: 65_536,
} as const;

/** Of the parts that do not exist. Nobody has measured these here. */
export const UNBUILT = {
  /** From a front server to the database and back. */
  roundTripMs: 0.5,
  /** Processor time of the database for each change of a job or piece of output. */
  databaseMsPerChange: 0.2,
  /** A transaction on a disk that another machine has, too. */
  databaseCommitMs: 2,
} as const;

/** Limits of the service as it is, in src/service/http/app.ts and src/service/slurm/slurmExecutor.ts. */
export const LIMITS = { unfinishedJobs: 10_000, uploadsAtOnce: 16, retryMs: 10_000, submitsAtOnce: 4 } as const;

const LUBLIN = 'Lublin and Feitelson 2003';
const OURS = 'assumed';

/** All of it as rows: what, how much, and by whom. */
export const ASSUMPTIONS: readonly (readonly [string, string, string])[] = [
  ['users, jobs a day', `${count(SITE.users)}, ${count(SITE.jobsPerDay)}`, 'the question'],
  [
    'arrivals over the day',
    'gamma(8.17, 3.96) in half hours from 5:30 on; the highest hour has 7.6 % of a day',
    LUBLIN,
  ],
  ['run time of single jobs', 'hyper-gamma of the logarithm: half below 78 s, mean 59 min, at most 45 h', LUBLIN],
  ['run time of jobs of sweeps', 'the short kind of the same: half below 38 s, mean 12 min', LUBLIN],
  [
    'sweeps',
    `${SITE.sweepShare * 100} % of all jobs, ${SITE.sweepJobs} by one user over ${SITE.sweepConnections} connections with ${SITE.sweepPauseMs} ms between`,
    OURS,
  ],
  ['cluster slots', `${count(SITE.slots)}, one for each job, more with more load`, OURS],
  [
    'archives',
    `log-normal, half below ${SITE.archiveMedianBytes / 1e3} KB (sigma ${SITE.archiveSigma}: mean 0.7 MB), half below ${SITE.filesMedian} files`,
    OURS,
  ],
  [
    'results',
    `log-normal, half below ${SITE.resultMedianBytes / 1e3} KB (sigma ${SITE.resultSigma}: mean 1.1 MB); ${SITE.downloadedShare * 100} % are fetched`,
    OURS,
  ],
  ['output of a job', `${SITE.outputBytes} bytes every ${SITE.outputEveryMs / 1000} s`, OURS],
  ['open windows', `${SITE.windowShare * 100} % of users at the peak, otherwise in proportion to arrivals`, OURS],
  [
    'of each window',
    `${SITE.streamsPerWindow} event streams; ${SITE.requestsPerWindowMinute} requests for a job and ${SITE.listsPerWindowMinute} lists a minute`,
    OURS,
  ],
  [
    'machine of the service',
    `${SITE.cores} cores, as fast as the one measured; disk ${SITE.diskBytes / 1e12} TB, ${SITE.diskBytesPerSecond / 1e6} MB/s`,
    OURS,
  ],
  [
    'network',
    `${(SITE.linkBytesPerSecond * 8) / 1e9} Gbit/s for the service, ${(SITE.clientBytesPerSecond * 8) / 1e6} Mbit/s for a user`,
    OURS,
  ],
  ['Slurm', `lists ended jobs for ${SITE.listedMs / 1000} s (its default), as fast as measured`, 'slurm.conf(5)'],
  [
    'PostgreSQL (not built)',
    `${UNBUILT.roundTripMs} ms to it and back, ${UNBUILT.databaseCommitMs} ms for a transaction, ${UNBUILT.databaseMsPerChange} ms of one of ${SITE.cores} cores for a change`,
    OURS,
  ],
];

function count(value: number): string {
  return value.toLocaleString('en-US');
}
