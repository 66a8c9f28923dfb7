import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Pair, firstSentence, hasComments } from './commentPairs.ts';

const MOST_COMMITS = 12_000;
const MOST_FILES = 3;
const MOST_CODE_CHARACTERS = 1500;
const LEAST_CODE_CHARACTERS = 40;
const MOST_LINE = 2000;
const COMMIT = '\u0001';
// "fix(api): ", "[Form] ", "KAFKA-123: ", "(#12)"
const REFERENCES = /^\w+(?:\([^)]*\))?!?:\s*|^\[[^\]]*\]\s*|[A-Z]+-\d+[:;]?\s*|\(?#\d+\)?/g;
const SAYS_NOTHING = /^(?:merge|bump|release|revert|typo|update changelog)/i;

/** The subjects of a repository's newest commits, with the lines that they added to each of the first files. */
export async function* commitPairs(folder: string, extensions: readonly string[]): AsyncGenerator<Pair, void> {
  const format = `--format=${COMMIT}%s`;
  const log = ['log', '--no-merges', '--no-renames', `--max-count=${MOST_COMMITS}`, format, '-p', '-U3'];
  const patterns = extensions.map((extension) => `*${extension}`);
  const git = spawn('git', ['-C', folder, ...log, '--', ...patterns], { stdio: ['ignore', 'pipe', 'inherit'] });
  let about: string | undefined;
  let path = '';
  let files = 0;
  let code = '';
  const isWanted = (): boolean => about !== undefined && files < MOST_FILES && hasComments(path);
  function* finished(): Generator<Pair, void> {
    if (about !== undefined && isWanted() && code.length > LEAST_CODE_CHARACTERS) {
      files += 1;
      yield { about, code: `${path}\n${code}` };
    }
    code = '';
  }
  for await (const line of createInterface({ input: git.stdout, crlfDelay: Infinity })) {
    if (line.startsWith(COMMIT)) {
      yield* finished();
      const subject = line.slice(COMMIT.length).replaceAll(REFERENCES, '');
      about = SAYS_NOTHING.test(subject) ? undefined : firstSentence(subject);
      files = 0;
      path = '';
    } else if (line.startsWith('diff --git ')) {
      yield* finished();
      path = '';
    } else if (line.startsWith('+++ b/')) path = line.slice('+++ b/'.length);
    else if (isWanted() && code.length < MOST_CODE_CHARACTERS && line.length < MOST_LINE) {
      // The heading of a part names the function that it is in.
      if (line.startsWith('@@')) code += `${line.split('@@')[2] ?? ''}\n`;
      else if (/^[+ ]/.test(line)) code += `${line.slice(1).trim()}\n`;
    }
  }
  yield* finished();
}
