/** A VS Code that can open a folder, run a test suite in its extension host, and open the same window again. */
export interface Host extends AsyncDisposable {
  /** For people: which VS Code this is. */
  readonly name: string;
  /**
   * Opens a window on a folder, runs the suite in it and closes the window.
   *
   * @returns whether VS Code says that it went well.
   * @throws Error when the suite could not be run.
   */
  runSuite(suite: string, folder: string): Promise<boolean>;
}

/** What all windows of one test run have in common. */
export interface HostOptions {
  /** Folder of the extension's package.json. */
  readonly extension: string;
  /** Folder for settings and window state; empty at first, removed by the caller. */
  readonly userData: string;
  readonly env: NodeJS.ProcessEnv;
  /** Folder for what helps to understand a failure: logs and pictures. */
  readonly evidence: string;
  readonly log: (line: string) => void;
}
