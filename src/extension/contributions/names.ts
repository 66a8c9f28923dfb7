/** The names that package.json and the code share. A test compares them; defaults and texts are only in package.json. */

/** The commands of each feature, whose code is loaded when one of them is first run. */
export const FEATURE_COMMANDS = {
  submit: [
    'farwharf.openWalkthrough',
    'farwharf.createSampleFolder',
    'farwharf.openOwnFolder',
    'farwharf.submitWorkspace',
    'farwharf.submitFile',
    'farwharf.submitProfile',
    'farwharf.resubmitJob',
    'farwharf.returnToSubmit',
    'farwharf.openIgnoreRule',
  ],
  jobs: [
    'farwharf.showLog',
    'farwharf.openFullLog',
    'farwharf.findInLog',
    'farwharf.showFirstError',
    'farwharf.saveLog',
    'farwharf.showEvents',
    'farwharf.showJobPage',
    'farwharf.comparePlots',
    'farwharf.compareSubmitted',
    'farwharf.cancelJob',
    'farwharf.copyJobId',
    'farwharf.copyJobLink',
    'farwharf.addJob',
    'farwharf.removeJob',
    'farwharf.pinJob',
    'farwharf.unpinJob',
    'farwharf.filterJobs',
    'farwharf.clearJobFilter',
    'farwharf.groupJobs',
    'farwharf.showMoreJobs',
    'farwharf.refreshJobs',
  ],
  failures: [
    'farwharf.explainFailure',
    'farwharf.askAboutFailure',
    'farwharf.copyFailure',
    'farwharf.installPackages',
    'farwharf.stopFailureAnswer',
  ],
  results: [
    'farwharf.downloadResults',
    'farwharf.browseResults',
    'farwharf.saveResults',
    'farwharf.saveResult',
    'farwharf.compareResult',
    'farwharf.closeResults',
  ],
  inside: ['farwharf.openJobTerminal', 'farwharf.browseRunningJob', 'farwharf.openJobPort'],
  debug: ['farwharf.debugAsJob', 'farwharf.attachDebugger', 'farwharf.extendHold', 'farwharf.giveUpDebugging'],
  sweeps: [
    'farwharf.showSweep',
    'farwharf.downloadSweepResults',
    'farwharf.resumeSweep',
    'farwharf.cancelSweep',
    'farwharf.editSweepJob',
  ],
  account: [
    'farwharf.selectHost',
    'farwharf.connectMachine',
    'farwharf.signIn',
    'farwharf.signOut',
    'farwharf.setBudget',
    'farwharf.setSecret',
    'farwharf.removeSecret',
    'farwharf.openSettings',
    'farwharf.openLog',
  ],
  search: [
    'farwharf.searchFolder',
    'farwharf.clearSearches',
    'farwharf.toggleOtherPlaces',
    'farwharf.askAboutResults',
    'farwharf.askFolder',
    'farwharf.askFollowUp',
    'farwharf.askAgain',
    'farwharf.stopAnswer',
    'farwharf.findRelated',
    'farwharf.rebuildIndex',
    'farwharf.rankByMeaning',
    'farwharf.pauseIndex',
    'farwharf.resumeIndex',
  ],
  agents: ['farwharf.selectModel'],
  flows: [
    'farwharf.newFlow',
    'farwharf.setUpTypes',
    'farwharf.openCanvas',
    'farwharf.readFlowByRunning',
    'farwharf.runFlow',
    'farwharf.debugFlow',
    'farwharf.submitFlow',
    'farwharf.replayFlow',
    'farwharf.stopFlow',
    'farwharf.answerJob',
    'farwharf.openTrace',
    'farwharf.openPrompts',
    'farwharf.tryPrompt',
    'farwharf.showFlowOutput',
  ],
} as const;
export type Feature = keyof typeof FEATURE_COMMANDS;
export type CommandId<F extends Feature = Feature> = (typeof FEATURE_COMMANDS)[F][number];

/** Context keys for `when` clauses and their values. */
export interface Contexts {
  /** The state of the selected host. */
  readonly connection: 'ready' | 'signedOut' | 'refused' | 'unreachable' | 'unusable';
  readonly isRemoteHost: boolean;
  readonly hasJobs: boolean;
  /** Whether results of a folder that is no sample were downloaded. */
  readonly hasOwnResults: boolean;
  /** Whether the Jobs view shows only some of the jobs. */
  readonly jobsFiltered: boolean;
  /** Whether the files of a submit are shown as a tree. */
  readonly reviewingFiles: boolean;
  /** Whether the results of a job are shown as a tree. */
  readonly browsingResults: boolean;
  /** Whether the Search Folder list is open. */
  readonly searchOpen: boolean;
  readonly indexPaused: boolean;
  /** Whether an answer is being written. */
  readonly answering: boolean;
  /** Whether the active editor contains a flow. */
  readonly flowEditor: boolean;
  /** Whether a flow is running in this window. */
  readonly flowRunning: boolean;
}
export const CONTEXTS = [
  'connection',
  'isRemoteHost',
  'hasJobs',
  'hasOwnResults',
  'jobsFiltered',
  'reviewingFiles',
  'browsingResults',
  'searchOpen',
  'indexPaused',
  'answering',
  'flowEditor',
  'flowRunning',
] as const satisfies readonly (keyof Contexts)[];

export interface Settings {
  readonly host: string;
  readonly machineClass: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly project: string;
  readonly confirmSubmit: 'always' | 'untilNew' | 'never';
  readonly saveBeforeSubmit: 'always' | 'ask' | 'never';
  readonly notifyOnFailure: 'submittedHere' | 'all' | 'never';
  /** Seconds. */
  readonly notifyAfter: number;
  /** Checked where it is used. */
  readonly onEnd: Readonly<Record<string, unknown>>;
  readonly downloadResults: 'ask' | 'whenNew' | 'onRequest';
  /** Credits. */
  readonly maxResultSize: number;
  /** Whether the status bar shows what running jobs serve. */
  readonly offerPorts: boolean;
  readonly lowCredits: number;
  /** Seconds; 0 for never. */
  readonly cancelOverBudget: number;
  readonly 'index.enabled': boolean;
  readonly 'index.history': boolean;
  /** Names of environment variables. */
  readonly 'flows.environment': readonly string[];
  readonly 'model.provider': string;
  readonly 'model.name': string;
  readonly 'model.baseUrl': string;
}

/** A `machine` setting is read only from the user's own settings, so no workspace can change it. */
export const SETTING_SCOPES: Readonly<Record<keyof Settings, 'machine' | 'resource'>> = {
  host: 'machine',
  machineClass: 'resource',
  maxRuntime: 'resource',
  project: 'resource',
  confirmSubmit: 'machine',
  saveBeforeSubmit: 'machine',
  notifyOnFailure: 'machine',
  notifyAfter: 'machine',
  onEnd: 'machine',
  downloadResults: 'machine',
  maxResultSize: 'machine',
  offerPorts: 'machine',
  lowCredits: 'machine',
  cancelOverBudget: 'machine',
  'index.enabled': 'resource',
  'index.history': 'resource',
  'flows.environment': 'machine',
  'model.provider': 'machine',
  'model.name': 'machine',
  'model.baseUrl': 'machine',
};

/** The lowest value of each setting that is a number, as in the manifest. VS Code passes lower ones on. */
export const SETTING_MINIMUMS: Readonly<Partial<Record<keyof Settings, number>>> = {
  maxRuntime: 1,
  notifyAfter: 0,
  maxResultSize: 1,
  lowCredits: 0,
  cancelOverBudget: 0,
};

export const JOBS_VIEW = 'farwharf.jobs';
export const INDEX_VIEW = 'farwharf.index';
export const FILES_VIEW = 'farwharf.files';
export const RESULTS_VIEW = 'farwharf.results';

/** The view type of the webview panels that show flows. */
export const CANVAS_TYPE = 'farwharf.canvas';

/** The ID of the MCP server definitions. */
export const MCP_PROVIDER = 'farwharf.tools';

/** The type of the debug sessions of jobs. */
export const DEBUG_TYPE = 'farwharf';

/** The type of the tasks that run jobs. */
export const TASK_TYPE = 'farwharf';
