import type * as vscode from 'vscode';

const LANGUAGES = ['typescript', 'javascript'];
const LIBRARY = /['"]farwharf\/agents['"]/;

/** The documents that may contain flows, for registrations by language. */
export const FLOW_SELECTOR: vscode.DocumentSelector = LANGUAGES.map((language) => ({ language }));

/** Whether a document's language has imports; flows can span several files. */
export function canImport({ languageId }: vscode.TextDocument): boolean {
  return LANGUAGES.includes(languageId);
}

/** Whether a document may contain flows: it imports the library. */
export function looksLikeFlow(document: vscode.TextDocument): boolean {
  return canImport(document) && LIBRARY.test(document.getText());
}
