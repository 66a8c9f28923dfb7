/** The values of a file of JSON lines. A line that a crash has cut, or damaged, is passed over. */
export function parseLines(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line): readonly unknown[] => {
    if (line === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
