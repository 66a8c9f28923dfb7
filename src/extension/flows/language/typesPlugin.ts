// Runs inside the TypeScript server of the editor, as one of its plugins. The interfaces are the parts of its API that this needs, as
// TypeScript's wiki describes it under "Writing a Language Service Plugin".

interface Resolution {
  readonly resolvedModule?: object | undefined;
}

interface ModuleName {
  readonly text: string;
}

/** The host of a project, whose resolution the plugin extends. */
export interface LanguageServiceHost {
  resolveModuleNameLiterals?:
    | ((names: readonly ModuleName[], ...rest: readonly unknown[]) => readonly Resolution[])
    | undefined;
}

interface PluginInfo<Service> {
  readonly languageService: Service;
  readonly languageServiceHost: LanguageServiceHost;
}

interface Plugin {
  create<Service>(info: PluginInfo<Service>): Service;
}

/**
 * A plugin that finds the declarations of modules where the folder does not have them, so that a flow file has its types before
 * anything is installed. What the folder resolves itself is not changed.
 *
 * @param declarations the absolute path of the declarations of each module.
 */
export function typesPlugin(declarations: Readonly<Record<string, string>>): () => Plugin {
  return () => ({
    create: ({ languageService, languageServiceHost: host }) => {
      const resolve = host.resolveModuleNameLiterals?.bind(host);
      if (resolve !== undefined) {
        host.resolveModuleNameLiterals = (names, ...rest) =>
          resolve(names, ...rest).map((resolution, index) => {
            const name = names[index]?.text ?? '';
            if (resolution.resolvedModule !== undefined || !Object.hasOwn(declarations, name)) return resolution;
            return { ...resolution, resolvedModule: moduleAt(declarations[name] ?? '') };
          });
      }
      return languageService;
    },
  });
}

function moduleAt(path: string): object {
  const extension = /\.d\.[cm]?ts$/.exec(path)?.[0] ?? '.d.ts';
  return { resolvedFileName: path, extension, isExternalLibraryImport: true, resolvedUsingTsExtension: false };
}
