/** The first entry of an environment.yml that pip installs from the folder, or reads from one of its files. */
export function localPackage(text: string): string | undefined {
  return /^\s*-\s*["']?((?:-[erc]\b|--(?:editable|requirement|constraint)\b|\.|\/|file:|[\w.-]+\s*@\s*file:).*?)["']?\s*$/m.exec(
    text,
  )?.[1];
}
