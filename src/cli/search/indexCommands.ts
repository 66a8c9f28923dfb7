import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';
import { wholeNumber } from '../grammar/optionValues.ts';

/** Adds `farwharf index` and `farwharf search`. */
export function addIndexVerbs(program: Command, runs: Runs): Command {
  program
    .command('index')
    .argument('[folder]', 'folder to index (default: the current one)')
    .description("bring a folder's search index up to date")
    .option('--meaning <who>', 'rank by meaning too, with vectors from `local` or from a service such as openai')
    .option('--no-meaning', 'rank by words alone again, and remove the vectors')
    .option('--model <name>', 'the embedding model (default: a small one)')
    .option('--model-path <dir>', 'the folder that a local model lies in; nothing is fetched then')
    .option('--base-url <url>', 'the address of an embeddings service that speaks as OpenAI does')
    .option('--yes', 'install, fetch and send what that takes without asking')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf index', 'index the current folder, or bring its index up to date'],
        ['farwharf index project --meaning local', 'index a folder for semantic search with a model on this machine'],
      ),
    )
    .action(runs(async () => (await import('./indexFolder.ts')).indexFolder));
  program
    .command('search')
    .argument('<query>', 'words to look for')
    .description('search a folder by keyword or topic')
    .option('--folder <dir>', 'folder to search', '.')
    .option('--top-k <n>', 'how many results', wholeNumber('--top-k', { min: 1 }), 10)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ["farwharf search 'retry delay'", 'search the current folder'],
        [
          'farwharf search \'path:src "dead letter"\' --folder project --top-k 3',
          'search for a phrase below src, and show three results',
        ],
      ),
    )
    .action(runs(async () => (await import('./search.ts')).search));
  return program;
}
