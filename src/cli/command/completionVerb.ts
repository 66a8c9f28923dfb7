import { Argument } from 'commander';
import { AppError } from '../../core/errors.ts';
import { defineVerb } from './verb.ts';
import type { Context } from './commandContext.ts';
import { COMPLETION_REQUEST } from './complete.ts';

const SET_UP = `
Set up once, then open a new terminal:
  bash        echo 'source <(farwharf completion bash)' >> ~/.bashrc
  zsh         echo 'source <(farwharf completion zsh)' >> ~/.zshrc
  fish        farwharf completion fish > ~/.config/fish/completions/farwharf.fish
  PowerShell  Add-Content $PROFILE 'farwharf completion powershell | Out-String | Invoke-Expression'`;

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

// The scripts pass the words of the command line on unchanged and never evaluate them, because the user has not run them yet.

// Also works in bash 3.2 of macOS, which has no `compopt` and therefore completes files where nothing is expected. If COMPREPLY is
// empty, bash completes and quotes paths itself.
const BASH = `# Completion of farwharf for bash.
_farwharf() {
  local line paths=none
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) paths=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(farwharf ${COMPLETION_REQUEST} "=\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  case $paths in
    none) compopt +o default 2>/dev/null ;;
    folders) compopt +o default -o dirnames 2>/dev/null ;;
  esac
  return 0
}
complete -o default -F _farwharf farwharf`;

const ZSH = `#compdef farwharf
# Completion of farwharf for zsh.
_farwharf() {
  local line value paths=none
  local -a values
  while IFS= read -r line; do
    case $line in
      :*) paths=\${line#:} ;;
      *)
        value=\${line%%$'\\t'*}
        values+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
        ;;
    esac
  done < <(farwharf ${COMPLETION_REQUEST} "=\${(Q)words[CURRENT]}" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
  (( \${#values} )) && _describe farwharf values
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _farwharf ]]; then
  _farwharf "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _farwharf farwharf
fi`;

const FISH = `# Completion of farwharf for fish.
function __farwharf_complete
    set -l current (commandline --current-token --cut-at-cursor)
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -e words[1]
    for line in (farwharf ${COMPLETION_REQUEST} "=$current" $words 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path $current
            case ':folders'
                __fish_complete_directories $current
            case ':*'
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete --command farwharf --no-files --arguments '(__farwharf_complete)'`;

// If a completer returns nothing, PowerShell completes paths itself.
const POWERSHELL = `# Completion of farwharf for PowerShell.
Register-ArgumentCompleter -Native -CommandName 'farwharf' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    & farwharf ${COMPLETION_REQUEST} "=$wordToComplete" @words 2>$null |
        Where-Object { -not $_.StartsWith(':') } |
        ForEach-Object {
            $value, $description = $_ -split "\`t", 2
            $tip = if ($description) { $description } else { $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $tip)
        }
}`;

const SCRIPTS: Readonly<Record<CompletionShell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

type CompletionShell = (typeof SHELLS)[number];

async function printCompletion({ terminal }: Context, name: string): Promise<void> {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) throw new AppError('bad-input', `Enter one of these shells: ${SHELLS.join(', ')}.`);
  terminal.answerText(completionScript(shell));
}

/** The script that a shell runs at startup to complete `farwharf`. */
export function completionScript(shell: CompletionShell): string {
  return SCRIPTS[shell];
}

export const completionVerb = defineVerb({
  name: 'completion',
  summary: 'print a script that completes commands, flags and job IDs in your shell',
  args: [new Argument('<shell>', 'your shell').choices(SHELLS)],
  flags: {},
  notes: SET_UP,
  examples: [
    ['farwharf completion zsh', 'print the script for zsh'],
    ['farwharf completion fish > ~/.config/fish/completions/farwharf.fish', 'install the script for fish'],
  ],
  load: async () => printCompletion,
});
