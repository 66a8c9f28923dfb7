import type { KeyAccess } from '../graph/graph.ts';
import { libraryOf } from '../interpreter/members.ts';
import type { LibraryName } from '../interpreter/library.ts';
import type { Instance, Value } from '../interpreter/values.ts';

interface LibraryKeys {
  readonly reads: readonly KeyAccess[];
  readonly writes: readonly KeyAccess[];
}

type KeyOptions = readonly (readonly [option: string, fallback: string])[];

const KEY_OPTIONS: Partial<Record<LibraryName, { readonly reads: KeyOptions; readonly writes: KeyOptions }>> = {
  RAGNode: {
    reads: [['queryKey', 'query']],
    writes: [
      ['contextKey', 'rag_context'],
      ['chunksKey', 'rag_chunks'],
    ],
  },
  ToolNode: { reads: [['inputKey', 'messages']], writes: [['outputKey', 'answer']] },
};

/** The keys that the hooks of the library's own nodes read and write. */
export function libraryKeys(instance: Instance): LibraryKeys {
  const library = libraryOf(instance.class);
  const { reads = [], writes = [] } = (library === undefined ? undefined : KEY_OPTIONS[library]) ?? {};
  const accessOf =
    (hook: KeyAccess['hook']) =>
    ([option, fallback]: KeyOptions[number]): KeyAccess => {
      const value = optionOf(instance, option);
      const literal = value?.type === 'literal' ? value : undefined;
      const { file, node } = literal?.origin ?? { file: instance.file, node: instance.creation };
      const key = String(literal?.value ?? fallback);
      return { key, path: [key], hook, range: file.range(node), isGuarded: false, isOwn: false };
    };
  return { reads: reads.map(accessOf('prep')), writes: writes.map(accessOf('post')) };
}

/** An option of the library's constructor. */
export function optionOf({ options }: Instance, name: string): Value | undefined {
  return options.type === 'object' ? options.fields.get(name) : undefined;
}
