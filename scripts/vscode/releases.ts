import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A version of code-server on npm, and what its installation needs. */
export interface Release {
  readonly codeServer: string;
  readonly vscode: string;
  /** code-server runs on the one major version of Node.js that it was built for. */
  readonly node: string;
  /**
   * npm packages, with their versions, that replace code-server's own packages of the same name: those that come
   * from a git repository, or that download a binary when they are installed.
   */
  readonly instead: Readonly<Record<string, string>>;
  /** Whether its command line takes `--vscode-option`, which its VS Code needs to run test suites in its extension host. */
  readonly takesVscodeOptions: boolean;
  /**
   * The variable that adds a certificate authority to those that its extension host trusts. On Linux, older versions read the system's
   * store from fixed paths; newer ones leave that to Node.js, for which `SSL_CERT_FILE` is the store.
   */
  readonly authorityVariable: 'NODE_EXTRA_CA_CERTS' | 'SSL_CERT_FILE';
}

/** In the order of their versions. Pinned, so that a test of yesterday's sources has yesterday's result. */
const RELEASES: readonly Release[] = [
  {
    codeServer: '4.105.1',
    vscode: '1.105.1',
    node: '22.19.0', // the version inside the desktop's VS Code 1.105
    instead: { argon2: '0.44.0', '@parcel/watcher': '2.5.1', '@vscode/ripgrep': '1.18.0' },
    takesVscodeOptions: false,
    authorityVariable: 'NODE_EXTRA_CA_CERTS',
  },
  {
    codeServer: '4.139.1',
    vscode: '1.139.1',
    node: '24.21.0',
    instead: {},
    takesVscodeOptions: true,
    authorityVariable: 'SSL_CERT_FILE',
  },
];

/** The environment variable that names the version of code-server to use; the newest that is tested unless set. */
export const RELEASE_VARIABLE = 'FARWHARF_CODE_SERVER';

/** Returns the release of the oldest VS Code that package.json promises. @throws Error when the table has none for it. */
export function oldestRelease(): Release {
  const path = join(import.meta.dirname, '..', '..', 'package.json');
  const { engines } = JSON.parse(readFileSync(path, 'utf8')) as { engines: { vscode: string } };
  const [minor = ''] = /\d+\.\d+/.exec(engines.vscode) ?? [];
  const release = RELEASES.find(({ vscode }) => vscode.startsWith(`${minor}.`));
  if (release === undefined) {
    throw new Error(`engines.vscode is ${engines.vscode}, but scripts/vscode/releases.ts lists no code-server for it.`);
  }
  return release;
}

/** Returns the release of the newest VS Code that is tested. */
export function newestRelease(): Release {
  return RELEASES.at(-1) ?? oldestRelease();
}

/** Returns the release that `FARWHARF_CODE_SERVER` names. @throws Error when the table does not have it. */
export function chosenRelease(): Release {
  const chosen = process.env[RELEASE_VARIABLE];
  if (!chosen) return newestRelease();
  const release = RELEASES.find(({ codeServer }) => codeServer === chosen);
  if (release !== undefined) return release;
  const known = RELEASES.map(({ codeServer }) => codeServer).join(', ');
  throw new Error(`${RELEASE_VARIABLE} is ${chosen}; scripts/vscode/releases.ts lists ${known}.`);
}
