import { execFileSync } from 'node:child_process';
import * as z from 'zod';

const MOST_OUTPUT = 1 << 30;
// What only has a meaning inside of its definition, or defines nothing.
const MINOR =
  /^(?:field|member|local|parameter|variable|property|enumerator|alias|package|import|header|namespace|unknown|label|constant|const|macro|externvar|prototype|module|section|subsection|id|anchor|accessor|enumConstant|methodSpec|anonMember|var|functionVar|using|target|setter|getter|singleton_attribute|attribute|symbol|register|data|key|selector|signal|constructor|fd|file|talias|define|event|val|globalVar|nettype|test|protocolmethod|library|heredoc|script|include|generator|unittest|heading1|heading2|heading3|class-attr|title|tag|global)$/;
const UNNAMED = /^__anon|^AnonymousFunction|^<lambda>|=$/;
const Tag = z.looseObject({
  name: z.string(),
  path: z.string(),
  kind: z.string(),
  line: z.number(),
  language: z.string(),
});

// What defines nothing, or nothing that is seen outside of its definition.
const NO_DEFINITION = /^(?:local|parameter|import|package|header|unknown|label|using|include)$/;

/** A definition that universal-ctags sees. */
export interface Tag extends z.output<typeof Tag> {
  /** Whether it has a meaning by itself, unlike a field. */
  readonly isOwn: boolean;
}

/** The definitions of a folder that have a name, in the order of their files. */
export function readTags(folder: string): readonly Tag[] {
  const output = execFileSync(
    'ctags',
    ['-R', '--output-format=json', '--fields=+nlK', '--exclude=node_modules', '--exclude=.git', '-f', '-', '.'],
    { cwd: folder, maxBuffer: MOST_OUTPUT, encoding: 'utf8' },
  );
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Tag.parse({ line: 0, language: '', ...z.looseObject({}).parse(JSON.parse(line)) }))
    .filter(
      ({ name, kind, line }) => !NO_DEFINITION.test(kind) && !UNNAMED.test(name) && !name.includes('::') && line > 0,
    )
    .map((tag) => ({ ...tag, path: tag.path.replace(/^\.\//, ''), isOwn: !MINOR.test(tag.kind) }));
}
