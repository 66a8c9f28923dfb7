import { Argument } from 'commander';
import { defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, optionalTextFlag, numberFlag, switchFlag, textFlag, textFlagOr } from '../grammar/flags.ts';

/** `farwharf index` and `farwharf search`. */
export function searchVerbs(): readonly Verb[] {
  return [
    defineVerb({
      name: 'index',
      summary: "bring a folder's search index up to date",
      args: [new Argument('[folder]', 'folder to index (default: the current one)')],
      flags: {
        meaning: optionalTextFlag(
          '--meaning <who>',
          'rank by meaning too, with vectors from `local` or from a service such as openai',
          'rank by words alone again, and remove the vectors',
        ),
        model: textFlag('--model <name>', 'the embedding model (default: a small one)'),
        modelPath: textFlag('--model-path <dir>', 'the folder that a local model lies in; nothing is fetched then'),
        baseUrl: textFlag('--base-url <url>', 'the address of an embeddings service that speaks as OpenAI does'),
        yes: switchFlag('--yes', 'install, fetch and send what that takes without asking'),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf index', 'index the current folder, or bring its index up to date'],
        ['farwharf index project --meaning local', 'index a folder for semantic search with a model on this machine'],
      ],
      load: async () => (await import('./indexFolder.ts')).indexFolder,
    }),
    defineVerb({
      name: 'search',
      summary: 'search a folder by keyword or topic',
      args: [new Argument('<query>', 'words to look for')],
      flags: {
        folder: textFlagOr('--folder <dir>', 'folder to search', '.'),
        topK: numberFlag('--top-k <n>', 'how many results', { min: 1, fallback: 10 }),
        json: jsonFlag(),
      },
      examples: [
        ["farwharf search 'retry delay'", 'search the current folder'],
        [
          'farwharf search \'path:src "dead letter"\' --folder project --top-k 3',
          'search for a phrase below src, and show three results',
        ],
      ],
      load: async () => (await import('./search.ts')).search,
    }),
  ];
}
