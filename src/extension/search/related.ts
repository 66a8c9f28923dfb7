import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { TextMatches } from '../../retrieval/index/highlights.ts';
import { requireFolder } from './searchFolder.ts';
import { HitPick } from './hitPick.ts';
import type { Search } from './search.ts';
import { label } from '../ui/labels.ts';

const LIMIT = 20;
// The number of lines that are used without a selection and symbols: about one screen.
const LINES_AROUND = 10;
// A language server that is starting in a large folder takes minutes to respond.
const SYMBOLS_WITHIN_MS = 2_000;

/** Lists code similar to the selection, or to the definition at the cursor. */
export async function findRelated(search: Search): Promise<void> {
  requireFolder();
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined)
    throw new AppError('missing', l10n.t('No file is open. Select some code to find what is related.'));
  const { document } = editor;
  const { range, name } = await chosenPart(editor);
  const text = document.getText(range);
  const at = { path: document.uri.fsPath, startLine: range.start.line + 1, endLine: range.end.line + 1 };
  const { index } = search;
  const hits = await index.call((server) => server.related(text, { limit: LIMIT, at }));
  const list = new HitPick({
    title: l10n.t('Related to {0}', name),
    placeholder: l10n.t('Type to narrow the list; Enter opens'),
    buttons: [],
    onButton: () => {},
    onError: search.report,
  });
  const highlight = (texts: readonly string[]): Promise<readonly TextMatches[]> =>
    index.call((server) => server.highlight({ text, prefixes: [] }, texts));
  const rows = await list.rows(hits, highlight, { isLive: false });
  list.replaceRows(
    rows.length > 0
      ? rows
      : [{ label: label`${l10n.t('No related code was found in this folder.')}`, alwaysShow: true }],
  );
  list.pick.show();
  await list.closed;
}

async function chosenPart({ document, selection }: vscode.TextEditor): Promise<{ range: vscode.Range; name: string }> {
  if (!selection.isEmpty) return { range: selection, name: l10n.t('the selection') };
  const symbol = innermost(await symbolsOf(document), selection.active);
  if (symbol !== undefined) return { range: rangeOf(symbol), name: printableLine(symbol.name) };
  const line = selection.active.line;
  const around = new vscode.Range(Math.max(0, line - LINES_AROUND), 0, line + LINES_AROUND, Number.MAX_SAFE_INTEGER);
  return { range: document.validateRange(around), name: l10n.t('line {0}', line + 1) };
}

type AnySymbol = vscode.DocumentSymbol | vscode.SymbolInformation;

/** The symbols of a document; none if its language server does not respond in time. */
async function symbolsOf({ uri }: vscode.TextDocument): Promise<readonly AnySymbol[]> {
  const symbols = vscode.commands.executeCommand<readonly AnySymbol[] | undefined>(
    'vscode.executeDocumentSymbolProvider',
    uri,
  );
  return (await Promise.race([symbols, sleep(SYMBOLS_WITHIN_MS, undefined, { ref: false })])) ?? [];
}

/** The smallest definition of several lines around a position. A single line, such as a variable's, says too little. */
function innermost(symbols: readonly AnySymbol[], place: vscode.Position): AnySymbol | undefined {
  const around = symbols.filter((symbol) => rangeOf(symbol).contains(place) && !rangeOf(symbol).isSingleLine);
  const within = around.flatMap((symbol) => ('children' in symbol ? (innermost(symbol.children, place) ?? []) : []));
  return [...within, ...around].sort((a, b) => lines(a) - lines(b))[0];
}

function rangeOf(symbol: AnySymbol): vscode.Range {
  return 'location' in symbol ? symbol.location.range : symbol.range;
}

function lines(symbol: AnySymbol): number {
  const { start, end } = rangeOf(symbol);
  return end.line - start.line;
}
