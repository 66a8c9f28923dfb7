import type * as vscode from 'vscode';

const LANGUAGES = new Set(['typescript', 'javascript']);
const LIBRARY = /['"]farwharf\/agents['"]/;

/** Whether a document's language can import others; flows can be spread over several files. */
export function canImport({ languageId }: vscode.TextDocument): boolean {
  return LANGUAGES.has(languageId);
}

/** Whether a document may hold flows: it imports the library. */
export function looksLikeFlow(document: vscode.TextDocument): boolean {
  return canImport(document) && LIBRARY.test(document.getText());
}
