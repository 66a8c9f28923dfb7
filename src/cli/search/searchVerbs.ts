import { Argument } from 'commander';
import { defineVerb, type Verb } from '../command/verb.ts';
import {
  jsonFlag,
  numberFlag,
  optionalNumberFlag,
  optionalTextFlag,
  switchFlag,
  textFlag,
  textFlagOr,
} from '../command/flags.ts';

/** `farwharf index` and `farwharf search`. */
export const searchVerbs: readonly Verb[] = [
  defineVerb({
    name: 'index',
    summary: "bring a folder's search index up to date",
    args: [new Argument('[folder]', 'folder to index (default: the current one)')],
    flags: {
      meaning: optionalTextFlag(
        '--meaning <provider>',
        'add semantic ranking, with embeddings from `local` or a service such as openai',
        'use keyword ranking only, and remove the embeddings',
      ),
      model: textFlag('--model <name>', 'embedding model (default: a small one)'),
      modelPath: textFlag('--model-path <dir>', 'folder with a local model; nothing is downloaded'),
      baseUrl: textFlag('--base-url <url>', 'URL of an embeddings service with the OpenAI API'),
      yes: switchFlag('--yes', 'install, download and send without asking'),
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
      topK: numberFlag('--top-k <n>', 'maximum number of results', { min: 1, fallback: 10 }),
      places: switchFlag('--places', 'list each matching place, instead of one result per file'),
      history: switchFlag('--no-history', 'rank without the messages of past commits'),
      explain: switchFlag('--explain', 'show how each result got its rank'),
      maxTokens: optionalNumberFlag(
        '--max-tokens <n>',
        'print whole definitions that together fit this many tokens of a language model, by estimate',
        { min: 1 },
      ),
      json: jsonFlag(),
    },
    examples: [
      ["farwharf search 'retry delay'", 'search the current folder'],
      ['farwharf search \'path:src "dead letter"\' --folder project --top-k 3', 'find a phrase in src'],
      ["farwharf search 'retry delay' --max-tokens 2000 --json", 'the context for a language model'],
    ],
    load: async () => (await import('./search.ts')).search,
  }),
];
