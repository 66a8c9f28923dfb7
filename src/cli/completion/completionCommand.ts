import { Argument, type Command } from 'commander';
import { SHELLS } from './shellScripts.ts';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';

const SET_UP = `
Set-up, once, and then a new terminal:
  bash        echo 'source <(farwharf completion bash)' >> ~/.bashrc
  zsh         echo 'source <(farwharf completion zsh)' >> ~/.zshrc
  fish        farwharf completion fish > ~/.config/fish/completions/farwharf.fish
  PowerShell  Add-Content $PROFILE 'farwharf completion powershell | Out-String | Invoke-Expression'`;

/** Adds `farwharf completion`. */
export function addCompletion(program: Command, runs: Runs): Command {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that you use').choices(SHELLS))
    .description('print the script that completes commands, flags and job IDs in a shell')
    .addHelpText('after', SET_UP)
    .addHelpText(
      'after',
      examples(
        ['farwharf completion zsh', 'print the script for zsh'],
        [
          'farwharf completion fish > ~/.config/fish/completions/farwharf.fish',
          'keep the one for fish where it is found',
        ],
      ),
    )
    .action(runs(async () => (await import('./completion.ts')).printCompletion));
  return program;
}
